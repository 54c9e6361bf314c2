// Elementwise ops on runs of elements: what evaluates arrays, scalar functions and reducers alike.
#pragma once
#include <array>
#include <optional>

#include "ir/instruction.h"
#include "ir/support/result.h"

namespace hlo {

/// Numbers a kernel may depend on besides its elements.
struct KernelParam {
  int bits = 0;           // width of an integer type narrower than its storage, else the type's width
  int exponent_bits = 0;  // reduce-precision
  int mantissa_bits = 0;
  ElementType from = ElementType::Pred;  // conversions, reduce-precision: types the function is not
  ElementType to = ElementType::Pred;    // specialised for
};

/// Computes out[i] from in[k][i] for 0 <= i < n. `out` may be one of the inputs if the elements are
/// equally wide; otherwise nothing overlaps.
using KernelFn = void (*)(void* out, const void* const* in, int64_t n, const KernelParam& param);

/// An elementwise op for given element types, ready to run. Narrow floats are widened, computed and
/// rounded once, block by block (ops-elementwise §1.4).
class Kernel {
 public:
  static constexpr int kMaxOperands = 3;
  static constexpr int64_t kBlock = 512;  // elements that pass through the cache at once

  /// `in`: one pointer per operand; elements in unpacked storage. Aliasing as for KernelFn.
  void Run(void* out, const void* const* in, int64_t n) const;
  [[nodiscard]] int operand_count() const { return operand_count_; }
  [[nodiscard]] ElementType result_type() const { return result_type_; }
  /// Whether an element costs tens of nanoseconds rather than one; for splitting work.
  [[nodiscard]] bool is_expensive() const { return expensive_; }

 private:
  friend class KernelFinder;
  enum class Widening : uint8_t { None, Float, Double };
  /// n <= kBlock.
  void RunBlock(void* out, const void* const* in, int64_t n) const;

  KernelFn fn_ = nullptr;
  KernelParam param_;
  int operand_count_ = 0;
  std::array<ElementType, kMaxOperands> operand_types_{};
  ElementType result_type_ = ElementType::Pred;
  Widening widening_ = Widening::None;
  std::array<bool, kMaxOperands> widen_operand_{};
  bool narrow_result_ = false;
  bool wrap_result_ = false;  // bring an integer narrower than a byte back into its range
  bool swap_ = false;         // compare GT and GE as LT and LE of exchanged operands
  bool flush_ = false;        // FlushToZero around the op (E8M0)
  bool expensive_ = false;
};

/// Functions of F32, F64, C64 or C128 that take the place of the evaluator's; null where it has none.
using FloatFunctions = KernelFn (*)(OpKind kind, ElementType type);

/// The kernel of an op for these operand and result types. `attrs` of compare and reduce-precision
/// matter. Nothing if the op is not elementwise or not defined for the types.
std::optional<Kernel> FindKernel(OpKind kind, llvm::ArrayRef<ElementType> operands, ElementType result,
                                 const Attrs& attrs = {}, FloatFunctions functions = nullptr);
/// The kernel of an elementwise instruction (of arrays).
std::optional<Kernel> FindKernel(const Instruction& inst);

}  // namespace hlo

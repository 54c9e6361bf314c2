// How instructions with dynamic dimensions work on static arrays, by opcode.
#pragma once
#include "passes/rewrite/expr.h"

namespace hlo {

/// An array of the bounds, and the run-time size of each dimension: an s32 scalar, or the bound as a number
/// where the dimension is static. What lies beyond the sizes is arbitrary.
struct Sized {
  Expr data;
  llvm::SmallVector<Expr, 4> sizes;
};
using SizedList = llvm::SmallVector<Sized, 2>;

/// An instruction with its operands made static.
struct DynamicOp {
  Maker& make;
  Instruction* inst;
  SizedList operands;

  [[nodiscard]] Expr Scalar(int64_t value) const { return {make, make.ScalarInt(ElementType::S32, value)}; }
  /// A size as a value.
  [[nodiscard]] Expr Value(const Expr& size) const { return size.is_number() ? Scalar(size.number()) : size; }
  /// The smaller size; a dynamic one rather than a static one.
  [[nodiscard]] static Expr Smaller(const Expr& a, const Expr& b) {
    return a.is_number() ? b : b.is_number() ? a : Min(a, b);
  }
  /// The same instruction on other operands, without dynamic dimensions.
  [[nodiscard]] Expr Clone(llvm::ArrayRef<Instruction*> values) const;
  [[nodiscard]] Expr Clone() const;  // on the operands' data
};

/// The results (of a tuple: one per element); nothing if the instruction has to stay dynamic, in which case
/// nothing was made.
using DynamicRule = std::optional<SizedList> (*)(const DynamicOp& op);
/// Null if the opcode's instructions stay dynamic.
DynamicRule FindDynamicRule(const Instruction& inst);

/// The data with `value`, a scalar, beyond the sizes of some dimensions.
Expr Filled(const Sized& x, llvm::ArrayRef<int64_t> dimensions, const Expr& value);

// Rules that are long, in dynamic_padder_reshape.cc.
std::optional<SizedList> PadReshape(const DynamicOp& op);
std::optional<SizedList> PadDynamicReshape(const DynamicOp& op);

}  // namespace hlo

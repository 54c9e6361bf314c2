// Small called computations compiled to programs that run over blocks of elements: the bodies of map,
// reduce, reduce-window, scatter, select-and-scatter, sort and fusions without an interpreter call each.
#pragma once
#include <memory>
#include <new>
#include <optional>
#include <vector>

#include "ir/computation.h"
#include "ir/eval/kernel.h"
#include "ir/literal.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace hlo {

/// A computation from scalars to scalars, or tuples of scalars, that consists of elementwise ops,
/// constants, tuples and calls (call, fusion, map) of such computations. Immutable: any number of
/// threads may run it at once, each with its own ScalarRunner.
class ScalarFunction {
 public:
  /// Null if the computation contains anything else (control flow, random numbers, arrays, …).
  static std::shared_ptr<const ScalarFunction> Compile(const Computation& computation);

  /// Leaves of the parameters, in order of parameters and depth-first within tuples.
  [[nodiscard]] llvm::ArrayRef<ElementType> parameter_types() const { return parameter_types_; }
  /// Leaves of the result, depth-first.
  [[nodiscard]] llvm::ArrayRef<ElementType> result_types() const { return result_types_; }

  /// The number of the parameter leaf that result leaf `r` is a copy of.
  [[nodiscard]] std::optional<int> ResultParameter(int r) const;
  /// A function of two parameters that is one binary op of both, all of one type.
  struct BinaryOp {
    OpKind kind;
    bool swapped;  // op(p1, p0); never for commutative ops
  };
  [[nodiscard]] std::optional<BinaryOp> AsBinaryOp() const;

 private:
  friend class ScalarRunner;
  friend class ScalarCompiler;
  /// The parameter that `slot` is, be it after one conversion.
  [[nodiscard]] std::optional<int> WidenedParameter(int slot) const;

  struct Step {
    Kernel kernel;
    OpKind kind = OpKind::Copy;
    std::array<int, Kernel::kMaxOperands> in{};
    int out = 0;
  };
  struct Constant {
    int slot;
    int width;  // bytes
    std::array<uint8_t, 16> value;
  };

  // Slots: 0 … parameters-1 are the arguments, then constants and temporaries.
  std::vector<ElementType> parameter_types_;
  std::vector<ElementType> result_types_;
  std::vector<int> results_;
  std::vector<ElementType> slot_types_;
  std::vector<Constant> constants_;
  std::vector<Step> steps_;
  std::vector<int64_t> slot_offset_;  // of temporaries and constants in the scratch memory; -1: argument
  int64_t scratch_bytes_ = 0;
};

/// Scratch memory to run one function on one thread.
class ScalarRunner {
 public:
  explicit ScalarRunner(const ScalarFunction& function);

  /// One argument: elements in unpacked storage, or one element for all positions.
  struct Argument {
    const void* data = nullptr;
    bool uniform = false;
  };
  /// Applies the function to elements 0 … n-1. `results`: one buffer per result leaf. A result buffer
  /// may be an argument's (same position, same element width), but not overlap it otherwise.
  void Run(llvm::ArrayRef<Argument> arguments, llvm::ArrayRef<void*> results, int64_t n);
  /// For n = 1 and the like: all arguments are element arrays.
  void Run(llvm::ArrayRef<const void*> arguments, llvm::ArrayRef<void*> results, int64_t n);

 private:
  void RunBlock(llvm::ArrayRef<void*> results, int64_t begin, int64_t n);
  void StoreResults(llvm::function_ref<const void*(int)> slot, llvm::function_ref<uint8_t*(size_t)> result,
                    int64_t n);
  struct FreeAligned {
    void operator()(uint8_t* p) const { ::operator delete[](p, std::align_val_t(64)); }
  };

  const ScalarFunction& function_;
  std::unique_ptr<uint8_t[], FreeAligned> scratch_;
  llvm::SmallVector<uint8_t*, 16> slots_;
  llvm::SmallVector<Argument, 8> arguments_;
  std::vector<llvm::SmallVector<uint8_t, 0>> uniform_;  // a block of each uniform argument
  int64_t constants_filled_ = 0;
};

}  // namespace hlo

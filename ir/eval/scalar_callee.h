// Called scalar computations (reducers, comparators, map bodies) as ops use them: compiled where
// possible, else run element by element through the interpreter.
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "ir/eval/eval.h"
#include "ir/eval/scalar_function.h"

namespace hlo {

/// A called computation of scalars. Immutable; threads share it, each with its own ScalarCaller.
class ScalarCallee {
 public:
  ScalarCallee(EvalContext& context, const Computation& computation);

  /// Null if it has to be interpreted; then it must run on the calling thread only.
  [[nodiscard]] const ScalarFunction* function() const { return function_.get(); }
  [[nodiscard]] bool is_parallel() const { return function_ != nullptr; }
  [[nodiscard]] llvm::ArrayRef<ElementType> parameter_types() const { return parameter_types_; }
  [[nodiscard]] llvm::ArrayRef<ElementType> result_types() const { return result_types_; }
  /// The op, if the computation is f(a, b) = a op b for a commutative or any other single op.
  [[nodiscard]] std::optional<OpKind> SingleOp() const;

 private:
  friend class ScalarCaller;
  EvalContext& context_;
  const Computation& computation_;
  std::shared_ptr<const ScalarFunction> function_;
  std::vector<ElementType> parameter_types_, result_types_;
};

/// Applies a ScalarCallee; one per thread.
class ScalarCaller {
 public:
  explicit ScalarCaller(const ScalarCallee& callee);
  /// results[r][i] = callee(arguments[…][i]) for i < n, elements in unpacked storage. Result r may be
  /// stored over an argument of the same type.
  Status Run(llvm::ArrayRef<const void*> arguments, llvm::ArrayRef<void*> results, int64_t n);

 private:
  Status Interpret(llvm::ArrayRef<const void*> arguments, llvm::ArrayRef<void*> results, int64_t n);

  const ScalarCallee& callee_;
  std::optional<ScalarRunner> runner_;
};

/// Calls body(b, e) for pieces of [begin, end), in parallel if the callee allows; the error of the first
/// failing piece (in order), or of an interrupt, comes back.
Status ForEachPiece(const ScalarCallee& callee, int64_t begin, int64_t end, int64_t grain,
                    llvm::function_ref<Status(int64_t, int64_t)> body);

/// The elements converted to `type` (a parameter's); the literal itself if it has that type.
Literal WithElementType(const Literal& literal, ElementType type);

/// The literal without padding: run-time sizes become static. `value` spread out into a shape with
/// bounds, its sizes becoming run-time sizes of the dynamic dimensions (tuples: each part).
Literal ToBounded(const Literal& value, const Shape& bounded);
/// True if any operand has run-time sizes.
bool AnyDynamic(llvm::ArrayRef<Literal> operands);
void MakeAllStatic(llvm::MutableArrayRef<Literal> operands);
/// The literal without padding but in the dimensions `kept`, whose sizes other operands share: these stay
/// whole, with zeros behind their run-time size.
Literal ToStaticBut(const Literal& literal, llvm::ArrayRef<int64_t> kept);
/// The same in all dimensions.
Literal ZeroPadding(const Literal& literal);
/// The same of arrays with equal bounds that are gone through side by side: all get the smallest sizes.
void MakeCommonStatic(llvm::MutableArrayRef<Literal> arrays);
/// The same, but they get the largest sizes, with these scalars where they end before.
void PadToCommonSizes(llvm::MutableArrayRef<Literal> arrays, llvm::ArrayRef<Literal> padding);

}  // namespace hlo

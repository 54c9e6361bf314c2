// Formulas over instructions: arithmetic operators that make instructions.
#pragma once
#include <type_traits>

#include "passes/rewrite/maker.h"

namespace hlo {

/// An instruction, or a number that takes type and dimensions from what it is combined with. Scalars
/// combined with arrays are broadcast; element types must agree. What changes nothing (x + 0, x · 1 of
/// integers) makes no instruction; sums, products and quotients of integer numbers are numbers. All parts of
/// a formula must come from one Maker.
class Expr {
 public:
  Expr() = default;
  Expr(Maker& make, Instruction* inst) : make_(&make), inst_(inst) {}
  template <class T>
    requires std::is_arithmetic_v<T>
  Expr(T number) {  // NOLINT: numbers stand in formulas
    if constexpr (std::is_integral_v<T>) {
      integer_ = static_cast<int64_t>(number);
      is_integer_ = true;
    }
    number_ = static_cast<double>(number);
  }

  operator Instruction*() const { return inst_; }  // NOLINT: an Expr is its value
  [[nodiscard]] Instruction* inst() const { return inst_; }
  [[nodiscard]] Maker& make() const { return *make_; }
  [[nodiscard]] const Shape& shape() const { return inst_->shape(); }
  [[nodiscard]] ElementType type() const { return inst_->shape().element_type(); }
  [[nodiscard]] int64_t dim(int64_t i) const { return inst_->shape().dim(i); }

  // Of a value, not of a number.
  [[nodiscard]] Expr Unary(OpKind kind) const { return {*make_, make_->Unary(kind, inst_)}; }
  [[nodiscard]] Expr To(ElementType type) const { return {*make_, make_->Convert(inst_, type)}; }
  [[nodiscard]] Expr As(ElementType type) const;  // bitcast-convert, equal widths
  [[nodiscard]] Expr Reshape(llvm::ArrayRef<int64_t> dims) const;
  [[nodiscard]] Expr Broadcast(llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<int64_t> dimensions) const;
  [[nodiscard]] Expr Transpose(llvm::ArrayRef<int64_t> permutation) const;
  /// One dimension cut to [start, limit).
  [[nodiscard]] Expr Slice(int64_t dimension, int64_t start, int64_t limit, int64_t stride = 1) const;
  /// Reduction by one opcode from `init`.
  [[nodiscard]] Expr Reduce(OpKind by, double init, llvm::ArrayRef<int64_t> dimensions) const;
  /// Element `index` of a tuple.
  [[nodiscard]] Expr Gte(int64_t index) const { return {*make_, make_->Gte(inst_, index)}; }

  /// The value of a number in the shape of `like`, or itself, broadcast to its dimensions if scalar.
  [[nodiscard]] Expr Like(const Expr& like) const;
  [[nodiscard]] bool is_number() const { return inst_ == nullptr; }
  [[nodiscard]] bool is_integer() const { return is_integer_; }
  /// Of an integer.
  [[nodiscard]] int64_t number() const { return integer_; }

 private:
  Maker* make_ = nullptr;
  Instruction* inst_ = nullptr;
  double number_ = 0;
  int64_t integer_ = 0;
  bool is_integer_ = false;
};

Expr Binary(OpKind kind, const Expr& x, const Expr& y);
Expr Compare(Direction direction, const Expr& x, const Expr& y,
             std::optional<CompareType> type = std::nullopt);
/// One of x and y is a value.
Expr Select(const Expr& p, const Expr& x, const Expr& y);
/// x, but at least `low` and at most `high`; both broadcast if they are scalars.
Expr Clamp(const Expr& low, const Expr& x, const Expr& high);
Expr IotaOf(Maker& make, ElementType type, llvm::ArrayRef<int64_t> dims, int64_t dimension);
Expr FullOf(Maker& make, ElementType type, llvm::ArrayRef<int64_t> dims, double value);
Expr Concat(llvm::ArrayRef<Expr> xs, int64_t dimension);
/// Start indices may be scalars of one integer type or numbers (then s32).
Expr DynamicSliceOf(const Expr& x, llvm::ArrayRef<Expr> starts, llvm::ArrayRef<int64_t> sizes);
Expr DynamicUpdateOf(const Expr& x, const Expr& update, llvm::ArrayRef<Expr> starts);
/// Product over the last dimension of x and the one before it of y (`y_transposed`: the last), all leading
/// dimensions being batch dimensions; highest precision.
Expr MatMul(const Expr& x, const Expr& y, bool x_transposed = false, bool y_transposed = false);
/// The scalar e with op(e, x) = x for every x; op is one of those ReducerOp knows. Nothing for maxima and
/// minima of types without infinities.
std::optional<Expr> IdentityOf(Maker& make, OpKind op, ElementType type);
/// Complex conjugate; real values as they are.
Expr Conj(const Expr& x);

// Operators; shifts to the right are logical.
#define HLO_EXPR_BINARY(Operator, Kind)                                                              \
  inline Expr operator Operator(const Expr& x, const Expr& y) { return Binary(OpKind::Kind, x, y); } \
  template <class T>                                                                                 \
    requires std::is_arithmetic_v<T>                                                                 \
  Expr operator Operator(const Expr& x, T y) {                                                       \
    return Binary(OpKind::Kind, x, Expr(y));                                                         \
  }                                                                                                  \
  template <class T>                                                                                 \
    requires std::is_arithmetic_v<T>                                                                 \
  Expr operator Operator(T x, const Expr& y) {                                                       \
    return Binary(OpKind::Kind, Expr(x), y);                                                         \
  }
HLO_EXPR_BINARY(+, Add)
HLO_EXPR_BINARY(-, Subtract)
HLO_EXPR_BINARY(*, Multiply)
HLO_EXPR_BINARY(/, Divide)
HLO_EXPR_BINARY(%, Remainder)
HLO_EXPR_BINARY(&, And)
HLO_EXPR_BINARY(|, Or)
HLO_EXPR_BINARY(^, Xor)
HLO_EXPR_BINARY(<<, ShiftLeft)
HLO_EXPR_BINARY(>>, ShiftRightLogical)
#undef HLO_EXPR_BINARY
inline Expr Eq(const Expr& x, const Expr& y) { return Compare(Direction::EQ, x, y); }
inline Expr Ne(const Expr& x, const Expr& y) { return Compare(Direction::NE, x, y); }
inline Expr Lt(const Expr& x, const Expr& y) { return Compare(Direction::LT, x, y); }
inline Expr Le(const Expr& x, const Expr& y) { return Compare(Direction::LE, x, y); }
inline Expr Gt(const Expr& x, const Expr& y) { return Compare(Direction::GT, x, y); }
inline Expr Ge(const Expr& x, const Expr& y) { return Compare(Direction::GE, x, y); }
inline Expr Not(const Expr& x) { return x.Unary(OpKind::Not); }
inline Expr Neg(const Expr& x) { return x.Unary(OpKind::Negate); }
inline Expr Max(const Expr& x, const Expr& y) { return Binary(OpKind::Maximum, x, y); }
inline Expr Min(const Expr& x, const Expr& y) { return Binary(OpKind::Minimum, x, y); }

/// The body of a loop: state after the step from the state before it; `make` makes the instructions of the
/// body. Shapes must not change.
using LoopStep = llvm::function_ref<llvm::SmallVector<Expr, 6>(Maker& make, llvm::ArrayRef<Expr> state)>;
/// The condition: a scalar pred.
using LoopTest = llvm::function_ref<Expr(Maker& make, llvm::ArrayRef<Expr> state)>;
/// A while loop over a tuple of values; the values after it. `name` is a stem for its computations.
llvm::SmallVector<Expr, 6> WhileLoop(Maker& make, llvm::StringRef name, llvm::ArrayRef<Expr> init,
                                     LoopTest condition, LoopStep step);
/// A loop with a counter i = 0, 1, … < trips of type s32 (s64 if it needs that), which the step finds as
/// `i` in front of the state; the state after it.
llvm::SmallVector<Expr, 6> CountedLoop(
    Maker& make, llvm::StringRef name, int64_t trips, llvm::ArrayRef<Expr> init,
    llvm::function_ref<llvm::SmallVector<Expr, 6>(Maker& make, const Expr& i, llvm::ArrayRef<Expr> state)>
        step);

}  // namespace hlo

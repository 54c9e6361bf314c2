#include "passes/rewrite/expr.h"

#include <cassert>
#include <limits>

#include "ir/by_op_kind.h"
#include "passes/rewrite/edit.h"

namespace hlo {
namespace {

Shape ArrayOf(ElementType type, llvm::ArrayRef<int64_t> dims) {
  return Shape::ArrayWithDefaultLayout(type, dims);
}

Dims IotaDims(int64_t n) {
  Dims dims;
  for (int64_t i = 0; i < n; ++i) dims.push_back(i);
  return dims;
}

/// Scalars as large as the other operand, numbers as values.
std::pair<Expr, Expr> Matched(const Expr& x, const Expr& y) {
  assert(!x.is_number() || !y.is_number());
  const bool to_y = x.is_number() || (!y.is_number() && x.shape().rank() == 0);
  return to_y ? std::pair(x.Like(y), y) : std::pair(x, y.Like(x));
}

/// x op number is x for every x of the type.
bool IsNeutral(OpKind kind, ElementType type, const Expr& number) {
  static constexpr ByOpKind<std::optional<int64_t>> kNeutral({
      {OpKind::Multiply, 1},
      {OpKind::Divide, 1},
      {OpKind::Add, 0},
      {OpKind::Subtract, 0},
      {OpKind::Or, 0},
      {OpKind::Xor, 0},
      {OpKind::ShiftLeft, 0},
      {OpKind::ShiftRightLogical, 0},
  });
  return number.is_integer() && IsIntegral(type) && kNeutral[kind] == number.number();
}

/// Sizes that are all known; they were checked to be small, and nobody divides by zero.
Expr OfNumbers(OpKind kind, const Expr& a, const Expr& b) {
  const int64_t x = a.number(), y = b.number();
  assert(a.is_integer() && b.is_integer() && (kind != OpKind::Divide || y != 0));
  switch (kind) {
    case OpKind::Add: return x + y;
    case OpKind::Subtract: return x - y;
    case OpKind::Multiply: return x * y;
    case OpKind::Divide: return x / y;
    default: llvm_unreachable("one operand has to be a value");
  }
}

llvm::SmallVector<Instruction*, 4> Starts(Maker& make, llvm::ArrayRef<Expr> starts) {
  ElementType type = ElementType::S32;
  for (const Expr& s : starts)
    if (!s.is_number()) type = s.type();
  const Expr like(make, make.ScalarInt(type, 0));
  llvm::SmallVector<Instruction*, 4> indices;
  for (const Expr& s : starts) indices.push_back(s.Like(like));
  return indices;
}

}  // namespace

Expr Expr::As(ElementType type) const {
  return type == this->type() ? *this
                              : Expr(*make_, make_->BitcastConvert(inst_, shape().WithElementType(type)));
}

Expr Expr::Reshape(llvm::ArrayRef<int64_t> dims) const {
  return shape().dims() == dims ? *this : Expr(*make_, make_->Reshape(inst_, dims));
}

Expr Expr::Broadcast(llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<int64_t> dimensions) const {
  return {*make_, make_->Broadcast(inst_, ArrayOf(type(), dims), dimensions)};
}

Expr Expr::Transpose(llvm::ArrayRef<int64_t> permutation) const {
  return llvm::ArrayRef<int64_t>(IotaDims(shape().rank())) == permutation
             ? *this
             : Expr(*make_, make_->Transpose(inst_, permutation));
}

Expr Expr::Slice(int64_t dimension, int64_t start, int64_t limit, int64_t stride) const {
  if (start == 0 && limit == dim(dimension) && stride == 1) return *this;
  return {*make_, make_->SliceDim(inst_, dimension, start, limit, stride)};
}

Expr Expr::Reduce(OpKind by, double init, llvm::ArrayRef<int64_t> dimensions) const {
  return {*make_, make_->Reduce(inst_, make_->Scalar(type(), init), dimensions, by)};
}

Expr Expr::Like(const Expr& like) const {
  Maker& make = like.make();
  if (is_number()) {
    Instruction* scalar =
        is_integer_ ? make.ScalarInt(like.type(), integer_) : make.Scalar(like.type(), number_);
    return {make, make.Splat(ArrayOf(like.type(), like.shape().dims()), scalar)};
  }
  if (shape().rank() != 0) return *this;
  return {make, make.Splat(ArrayOf(type(), like.shape().dims()), inst_)};
}

Expr Binary(OpKind kind, const Expr& x, const Expr& y) {
  if (x.is_number() && y.is_number()) return OfNumbers(kind, x, y);
  if (y.is_number() && !x.is_number() && IsNeutral(kind, x.type(), y)) return x;
  if (x.is_number() && Info(kind).Is(kCommutative) && IsNeutral(kind, y.type(), x)) return y;
  const auto [a, b] = Matched(x, y);
  return {a.make(), a.make().Binary(kind, a, b)};
}

Expr Compare(Direction direction, const Expr& x, const Expr& y, std::optional<CompareType> type) {
  const auto [a, b] = Matched(x, y);
  return {a.make(), a.make().Compare(direction, a, b, type)};
}

Expr Select(const Expr& p, const Expr& x, const Expr& y) {
  auto [a, b] = Matched(x, y);
  a = a.Like(p);
  b = b.Like(p);
  return {p.make(), p.make().Select(p.Like(a), a, b)};
}

Expr Clamp(const Expr& low, const Expr& x, const Expr& high) {
  return {x.make(), x.make().Add(OpKind::Clamp, {low.Like(x), x, high.Like(x)})};
}

Expr IotaOf(Maker& make, ElementType type, llvm::ArrayRef<int64_t> dims, int64_t dimension) {
  return {make, make.Iota(ArrayOf(type, dims), dimension)};
}

Expr FullOf(Maker& make, ElementType type, llvm::ArrayRef<int64_t> dims, double value) {
  return {make, make.Full(ArrayOf(type, dims), value)};
}

Expr Concat(llvm::ArrayRef<Expr> xs, int64_t dimension) {
  if (xs.size() == 1) return xs[0];
  llvm::SmallVector<Instruction*, 4> parts;
  for (const Expr& x : xs) parts.push_back(x);
  return {xs[0].make(), xs[0].make().Concatenate(parts, dimension)};
}

Expr DynamicSliceOf(const Expr& x, llvm::ArrayRef<Expr> starts, llvm::ArrayRef<int64_t> sizes) {
  return {x.make(), x.make().DynamicSlice(x, Starts(x.make(), starts), sizes)};
}

Expr DynamicUpdateOf(const Expr& x, const Expr& update, llvm::ArrayRef<Expr> starts) {
  return {x.make(), x.make().DynamicUpdateSlice(x, update, Starts(x.make(), starts))};
}

Expr MatMul(const Expr& x, const Expr& y, bool x_transposed, bool y_transposed) {
  const int64_t rank = x.shape().rank();
  DotAttrs attrs;
  attrs.lhs_batch_dims = attrs.rhs_batch_dims = IotaDims(rank - 2);
  attrs.lhs_contracting_dims = {x_transposed ? rank - 2 : rank - 1};
  attrs.rhs_contracting_dims = {y_transposed ? rank - 1 : rank - 2};
  if (IsFloat(x.type()) || IsComplex(x.type()))
    attrs.operand_precision = {Precision::Highest, Precision::Highest};
  return {x.make(), x.make().Dot(x, y, std::move(attrs))};
}

std::optional<Expr> IdentityOf(Maker& make, OpKind op, ElementType type) {
  const TypeInfo& info = Info(type);
  const bool largest = op == OpKind::Minimum;
  if (op != OpKind::Minimum && op != OpKind::Maximum) {
    if (op == OpKind::And) return Expr(make, IsPred(type) ? make.Scalar(type, 1) : make.ScalarInt(type, -1));
    return Expr(make, make.Scalar(type, op == OpKind::Multiply ? 1 : 0));
  }
  if (IsFloat(type)) {
    if (info.special != FloatSpecial::Ieee) return std::nullopt;
    const double infinity = std::numeric_limits<double>::infinity();
    return Expr(make, make.Scalar(type, largest ? infinity : -infinity));
  }
  if (IsPred(type)) return Expr(make, make.Scalar(type, largest));
  if (!IsIntegral(type)) return std::nullopt;
  const auto smallest = IsSigned(type) ? static_cast<int64_t>(~uint64_t{0} << (info.bits - 1)) : 0;
  return Expr(make, make.ScalarInt(type, largest ? ~smallest : smallest));
}

Expr Conj(const Expr& x) {
  if (!IsComplex(x.type())) return x;
  return Binary(OpKind::Complex, x.Unary(OpKind::Real), Neg(x.Unary(OpKind::Imag)));
}

llvm::SmallVector<Expr, 6> WhileLoop(Maker& make, llvm::StringRef name, llvm::ArrayRef<Expr> init,
                                     LoopTest condition, LoopStep step) {
  llvm::SmallVector<Instruction*, 6> values(init.begin(), init.end());
  Instruction* tuple = make.Tuple(values);
  const auto computation = [&](llvm::StringRef suffix, auto fill) {
    Computation* c = NewComputation(make.module(), (name + suffix).str());
    c->set_execution_thread(make.computation().execution_thread());
    Maker inside(*c, tuple);
    const Expr state(inside, inside.Parameter(0, tuple->shape(), "state"));
    llvm::SmallVector<Expr, 6> elements;
    for (size_t i = 0; i < init.size(); ++i) elements.push_back(state.Gte(static_cast<int64_t>(i)));
    c->set_root(fill(inside, elements));
    for (const Expr& unused : elements) RemoveIfDead(unused);
    return c;
  };
  Computation* test = computation(
      "_condition",
      [&](Maker& inside, llvm::ArrayRef<Expr> state) -> Instruction* { return condition(inside, state); });
  Computation* body = computation("_body", [&](Maker& inside, llvm::ArrayRef<Expr> state) {
    const auto next = step(inside, state);
    assert(next.size() == init.size());
    llvm::SmallVector<Instruction*, 6> next_values(next.begin(), next.end());
    return inside.Tuple(next_values);
  });
  const Expr loop(make, make.While(test, body, tuple));
  llvm::SmallVector<Expr, 6> results;
  for (size_t i = 0; i < init.size(); ++i) results.push_back(loop.Gte(static_cast<int64_t>(i)));
  return results;
}

llvm::SmallVector<Expr, 6> CountedLoop(
    Maker& make, llvm::StringRef name, int64_t trips, llvm::ArrayRef<Expr> init,
    llvm::function_ref<llvm::SmallVector<Expr, 6>(Maker& make, const Expr& i, llvm::ArrayRef<Expr> state)>
        step) {
  const ElementType counter = trips > INT32_MAX ? ElementType::S64 : ElementType::S32;
  llvm::SmallVector<Expr, 6> state = {Expr(make, make.ScalarInt(counter, 0))};
  state.append(init.begin(), init.end());
  auto results = WhileLoop(
      make, name, state, [&](Maker&, llvm::ArrayRef<Expr> s) { return Lt(s[0], trips); },
      [&](Maker& inside, llvm::ArrayRef<Expr> s) {
        auto next = step(inside, s[0], s.drop_front());
        next.insert(next.begin(), s[0] + 1);
        return next;
      });
  RemoveIfDead(results.front());
  results.erase(results.begin());
  return results;
}

}  // namespace hlo

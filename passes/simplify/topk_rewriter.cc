// topk-rewriter: sorts of which only the first elements are read as custom-call "TopK" (passes.md §4.10).
//
// Requires nothing. Preserves flat-calls, layouts, fusions.
// Changes: a descending sort of an array, alone or with the positions along the sorted dimension, which is
// the first or last one and of which all users read the first k elements, becomes custom-call "TopK" on a
// matrix, which takes floats in total order. Left alone: types other than those in `types`, comparators in
// another order, those not in total order where floats are strict.
#include "passes/analysis/value_facts.h"
#include "passes/pass.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/expr.h"

namespace hlo {
namespace {

struct TopkRewriterOptions {
  std::vector<std::string> types = {"f32"};  // for which there is an implementation of the call
  static llvm::ArrayRef<PassOptionRow> Rows();
};

constexpr PassOptionRow kRows[] = {
    PassOption<&TopkRewriterOptions::types>("types", "element types with an implementation"),
};

/// The value under conversions to wider floats, which keep the order, and copies.
const Instruction* Unwidened(const Instruction* value) {
  for (;;) {
    const bool widens =
        value->kind() == OpKind::Convert && IsFloat(value->shape().element_type()) &&
        IsFloat(value->operand(0)->shape().element_type()) &&
        Info(value->shape().element_type()).bits > Info(value->operand(0)->shape().element_type()).bits;
    if (!widens && value->kind() != OpKind::Copy) return value;
    value = value->operand(0);
  }
}

/// The bits of a float as an integer of the sign asked for; null if that is not what it is.
const Instruction* FloatOfBits(const Instruction& bits, bool is_signed) {
  const ElementType type = bits.shape().element_type();
  if (bits.kind() != OpKind::BitcastConvert || !IsIntegral(type) || IsSigned(type) != is_signed)
    return nullptr;
  return IsFloat(bits.operand(0)->shape().element_type()) ? bits.operand(0) : nullptr;
}

/// The integer behind conversions that keep it.
std::optional<int64_t> IntegerOf(const Instruction& inst) {
  const Instruction* at = &inst;
  while ((at->kind() == OpKind::Convert || at->kind() == OpKind::BitcastConvert) &&
         IsIntegral(at->shape().element_type()) && IsIntegral(at->operand(0)->shape().element_type()) &&
         Info(at->shape().element_type()).bits == Info(at->operand(0)->shape().element_type()).bits)
    at = at->operand(0);
  return ScalarIntValue(*at);
}

/// The float x of select(bits(x) < 0, max - bits(x), bits(x)): integers in the total order of floats. The
/// difference may be taken of unsigned numbers, or without borrows (max ^ bits).
const Instruction* FloatOfKey(const Instruction& key) {
  if (key.kind() != OpKind::Select || key.operand(0)->kind() != OpKind::Compare) return nullptr;
  const Instruction &test = *key.operand(0), *flipped = key.operand(1), &bits = *key.operand(2);
  const Instruction* x = FloatOfBits(bits, /*is_signed=*/true);
  if (!x || test.attr<CompareAttrs>().direction != Direction::LT || test.operand(0) != &bits ||
      IntegerOf(*test.operand(1)) != 0)
    return nullptr;
  const bool is_signed = flipped->kind() != OpKind::BitcastConvert;
  if (!is_signed) flipped = flipped->operand(0);
  const bool no_borrows = flipped->kind() == OpKind::Xor;
  if (flipped->kind() != OpKind::Subtract && !no_borrows) return nullptr;
  const Instruction *max = flipped->operand(0), *from = flipped->operand(1);
  if (no_borrows && FloatOfBits(*max, is_signed)) std::swap(max, from);
  const int width = Info(bits.shape().element_type()).bits;
  const bool flips =
      FloatOfBits(*from, is_signed) == x && IntegerOf(*max) == int64_t(~uint64_t{0} >> (65 - width));
  return flips ? x : nullptr;
}

/// What the sort's comparator compares: parameters 0 and 1, the greater one first; where floats are to be
/// `exact`, in total order, which tells zeros apart and knows where NaN belong.
bool IsDescending(const Computation& comparator, bool exact) {
  const Instruction* root = comparator.root();
  if (root->kind() != OpKind::Compare) return false;
  const auto& attrs = root->attr<CompareAttrs>();
  const Instruction *left = FloatOfKey(*root->operand(0)), *right = FloatOfKey(*root->operand(1));
  const bool by_key = left && right;
  left = Unwidened(by_key ? left : root->operand(0));
  right = Unwidened(by_key ? right : root->operand(1));
  const bool forward = left == comparator.parameter(0) && right == comparator.parameter(1);
  const bool backward = left == comparator.parameter(1) && right == comparator.parameter(0);
  const bool total =
      by_key || !IsFloat(root->operand(0)->shape().element_type()) || attrs.type == CompareType::TotalOrder;
  return (total || !exact) &&
         ((forward && attrs.direction == Direction::GT) || (backward && attrs.direction == Direction::LT));
}

/// The k of a slice that takes the first k elements along `dimension` and all along the others; -1 for
/// others.
int64_t PrefixLength(const Instruction& user, int64_t dimension) {
  if (user.kind() != OpKind::Slice) return -1;
  const Shape& shape = user.operand(0)->shape();
  const auto& ranges = user.attr<SliceAttrs>().slice;
  for (int64_t d = 0; d < shape.rank(); ++d) {
    const SliceRange& r = ranges[static_cast<size_t>(d)];
    if (r.start != 0 || r.stride != 1 || (d != dimension && r.limit != shape.dim(d))) return -1;
  }
  return ranges[static_cast<size_t>(dimension)].limit;
}

/// The slices that read the sort, with the element they read; all of one length k.
struct Readers {
  int64_t k = -1;
  llvm::SmallVector<std::pair<int64_t, Instruction*>, 4> slices;
};

std::optional<Readers> FindReaders(const Instruction& sort, int64_t dimension) {
  Readers readers;
  const auto add = [&](const Instruction& value, int64_t element) {
    for (Instruction* user : value.users()) {
      const int64_t k = PrefixLength(*user, dimension);
      if (k < 0 || (readers.k >= 0 && k != readers.k)) return false;
      readers.k = k;
      readers.slices.emplace_back(element, user);
    }
    return !value.IsRoot();
  };
  if (sort.shape().IsArray()) {
    if (!add(sort, 0)) return std::nullopt;
  } else {
    for (const Instruction* user : sort.users())
      if (user->kind() != OpKind::GetTupleElement || !add(*user, user->attr<GetTupleElementAttrs>().index))
        return std::nullopt;
    if (sort.IsRoot()) return std::nullopt;
  }
  return readers.slices.empty() ? std::nullopt : std::optional(readers);
}

bool Matches(const Instruction& inst, const TopkRewriterOptions& options, bool exact) {
  if (inst.kind() != OpKind::Sort || !HasStaticShapes(inst) || inst.operand_count() > 2) return false;
  const Shape& x = inst.operand(0)->shape();
  const int64_t d = inst.attr<SortAttrs>().dimensions[0];
  if (!llvm::is_contained(options.types, ToString(x.element_type()).str()) ||
      !IsDescending(*inst.callee(), exact) || (d != 0 && d != x.rank() - 1) || x.ElementCount() == 0)
    return false;
  if (inst.operand_count() == 2) {
    const Instruction& second = *inst.operand(1);
    if (second.kind() != OpKind::Iota || second.shape().element_type() != ElementType::S32 ||
        second.attr<IotaAttrs>().iota_dimension != d)
      return false;
  }
  return FindReaders(inst, d).has_value();
}

Computation* GreaterFirst(Maker& at, ElementType type) {
  Computation* made = NewComputation(at.module(), "topk_comparator");
  made->set_execution_thread(at.computation().execution_thread());
  Maker make(*made);
  const Shape scalar = Shape::ArrayWithDefaultLayout(type, {});
  Instruction* x = make.Parameter(0, scalar, "x");
  Instruction* y = make.Parameter(1, scalar, "y");
  const auto how = IsFloat(type) ? std::optional(CompareType::TotalOrder) : std::nullopt;
  made->set_root(make.Compare(Direction::GT, x, y, how));
  return made;
}

/// Replaces the readers; the sort is left without users.
void Rewrite(Instruction* sort) {
  Maker make(sort);
  const int64_t d = sort->attr<SortAttrs>().dimensions[0];
  const Readers readers = *FindReaders(*sort, d);
  const Expr x(make, sort->operand(0));
  const int64_t rank = x.shape().rank(), n = x.dim(d), k = readers.k;
  // The sorted dimension comes last, all others become one.
  Dims order, back;
  for (int64_t i = 0; i < rank; ++i)
    if (i != d) order.push_back(i);
  order.push_back(d);
  for (int64_t i = 0; i < rank; ++i) back.push_back(i == d ? rank - 1 : i < d ? i : i - 1);
  Dims moved;
  for (const int64_t i : order) moved.push_back(x.dim(i));
  moved.back() = k;
  const int64_t batch = x.shape().ElementCount() / n;
  const Expr flat = x.Transpose(order).Reshape(rank == 1 ? Dims{n} : Dims{batch, n});
  const Dims result_dims = rank == 1 ? Dims{k} : Dims{batch, k};
  CustomCallAttrs attrs;
  attrs.custom_call_target = "TopK";
  const Shape shape = Shape::MakeTuple({Shape::ArrayWithDefaultLayout(x.type(), result_dims),
                                        Shape::ArrayWithDefaultLayout(ElementType::S32, result_dims)});
  const Expr call(make, make.AddWithShape(OpKind::CustomCall, shape, {flat}, std::move(attrs),
                                          {GreaterFirst(make, x.type())}));
  for (const auto& [element, slice] : readers.slices)
    ReplaceWith(slice, call.Gte(element).Reshape(moved).Transpose(back));
}

llvm::ArrayRef<PassOptionRow> TopkRewriterOptions::Rows() { return kRows; }

Result<bool> RunTopkRewriter(Module& module, const TopkRewriterOptions& options, PassContext& context) {
  for (const std::string& name : options.types)
    if (!ParseElementType(name))
      return Error("usage-pass-option", {},
                   "option 'types' of pass 'topk-rewriter': found '{0}', expected element types", name);
  bool changed = false;
  std::vector<Instruction*> found;
  for (Computation* c : context.Computations(module))
    for (Instruction* inst : c->instructions())
      if (Matches(*inst, options, context.policy().strict_fp)) found.push_back(inst);
  for (Instruction* sort : found) {
    if (!context.TakeRewrite()) break;
    const Readers readers = *FindReaders(*sort, sort->attr<SortAttrs>().dimensions[0]);
    Rewrite(sort);
    for (const auto& [element, slice] : readers.slices) RemoveIfDead(slice);
    changed = true;
  }
  return changed;
}

}  // namespace

HLO_DEFINE_PASS(TopkRewriter, TopkRewriterOptions);

}  // namespace hlo

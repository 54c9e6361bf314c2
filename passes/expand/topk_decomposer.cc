// topk-decomposer: top-k as sort and slice (passes.md §4.10).
//
// Requires nothing. Preserves flat-calls, layouts, fusions.
// Changes: topk, and custom-call "TopK" of this form, become a sort of values and positions in total order
// and slices of the first k. As an option, top-k of bf16 along at most 2^16 elements sorts single s32 keys
// that hold value and position, which XLA's own pass leaves to whoever makes the top-k. Left alone: dynamic
// shapes.
#include "passes/pass.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/expr.h"

namespace hlo {
namespace {

struct TopkDecomposerOptions {
  bool packs_bf16 = false;
  static llvm::ArrayRef<PassOptionRow> Rows();
};

constexpr PassOptionRow kRows[] = {
    PassOption<&TopkDecomposerOptions::packs_bf16>(
        "packs_bf16", "bf16 and its position are sorted as one s32: more instructions, fewer bytes"),
};

struct TopK {
  int64_t k;
  bool largest, stable;
  const Computation* comparator;  // of custom-calls that have one; null: by total order
};

std::optional<TopK> Match(const Instruction& inst) {
  if (!HasStaticShapes(inst) || inst.operand_count() == 0 || !inst.operand(0)->shape().IsArray() ||
      IsComplex(inst.operand(0)->shape().element_type()))
    return std::nullopt;
  if (const auto* attrs = inst.attrs().GetIf<TopKAttrs>())
    return TopK{attrs->k, attrs->largest, attrs->is_stable.value_or(true), nullptr};
  const auto* call = inst.attrs().GetIf<CustomCallAttrs>();
  if (!call || call->custom_call_target != "TopK" || inst.operand_count() != 1) return std::nullopt;
  const Shape& x = inst.operand(0)->shape();
  const Shape& shape = inst.shape();
  if (!x.IsArray() || x.rank() == 0 || !shape.IsTuple() || shape.tuple_size() != 2) return std::nullopt;
  const Shape &values = shape.tuple_shape(0), &indices = shape.tuple_shape(1);
  if (!values.IsArray() || !indices.IsArray() || values.rank() != x.rank() || !SameDims(values, indices) ||
      values.element_type() != x.element_type() || indices.element_type() != ElementType::S32 ||
      values.dims().drop_back() != x.dims().drop_back() || values.dims().back() > x.dims().back())
    return std::nullopt;
  const Computation* comparator = inst.callees().empty() ? nullptr : inst.callee();
  if (comparator && comparator->parameters().size() != 2) return std::nullopt;
  const bool stable = !inst.extras().backend_config.contains("is_stable = false");
  return TopK{values.dims().back(), true, stable, comparator};
}

/// Compares the values and ignores the positions.
Computation* Comparator(Maker& at, const TopK& topk, ElementType type, bool positions) {
  Computation* made = NewComputation(at.module(), "topk_comparator");
  made->set_execution_thread(at.computation().execution_thread());
  Maker make(*made);
  const Shape value = Shape::ArrayWithDefaultLayout(type, {});
  const Shape position = Shape::ArrayWithDefaultLayout(ElementType::S32, {});
  Instruction* x = make.Parameter(0, value, "x");
  Instruction* y = make.Parameter(1, value, "y");
  if (positions) {
    make.Parameter(2, position, "x_position");
    make.Parameter(3, position, "y_position");
  }
  if (topk.comparator) {
    made->set_root(InlineBody(x, *topk.comparator, {x, y}));
  } else {
    const auto how = IsFloat(type) ? std::optional(CompareType::TotalOrder) : std::nullopt;
    made->set_root(make.Compare(topk.largest ? Direction::GT : Direction::LT, x, y, how));
  }
  return made;
}

SortAttrs AlongLast(const Expr& x, bool stable) {
  SortAttrs attrs;
  attrs.dimensions = {x.shape().rank() - 1};
  attrs.is_stable = stable;
  return attrs;
}

/// Nobody reads the positions.
bool OnlyValuesRead(const Instruction& inst) {
  return !inst.IsRoot() && llvm::all_of(inst.users(), [](const Instruction* user) {
    return user->kind() == OpKind::GetTupleElement && user->attr<GetTupleElementAttrs>().index == 0;
  });
}

/// The values alone, in place of whatever reads them; `inst` goes with its last user.
void SortValues(Instruction* inst, const Expr& x, const TopK& topk) {
  Maker& make = x.make();
  const int64_t last = x.shape().rank() - 1;
  const Expr sorted(make, make.Add(OpKind::Sort, {x}, AlongLast(x, topk.stable),
                                   {Comparator(make, topk, x.type(), /*positions=*/false)}));
  Instruction* values = sorted.Slice(last, 0, topk.k);
  const Shape& shape = inst->shape().tuple_shape(0);
  if (values->shape() != shape) values = make.AddWithShape(OpKind::Copy, shape, {values});
  const llvm::SmallVector<Instruction*, 2> users(inst->users().begin(), inst->users().end());
  for (Instruction* user : users) ReplaceAndRemove(user, values);
}

Instruction* BySort(Maker& make, const Expr& x, const TopK& topk) {
  const int64_t last = x.shape().rank() - 1;
  const Expr positions = IotaOf(make, ElementType::S32, x.shape().dims(), last);
  const Expr sorted(make, make.Add(OpKind::Sort, {x, positions}, AlongLast(x, topk.stable),
                                   {Comparator(make, topk, x.type(), /*positions=*/true)}));
  return make.Tuple({sorted.Gte(0).Slice(last, 0, topk.k), sorted.Gte(1).Slice(last, 0, topk.k)});
}

/// Keys whose upper half orders as the bf16 value and whose lower half breaks ties by position.
Instruction* ByPackedKeys(Maker& make, const Expr& x, const TopK& topk) {
  constexpr ElementType kS32 = ElementType::S32;
  constexpr int64_t kUpper = ~int64_t{0xFFFF}, kMagnitude = 0x7FFF0000;
  const int64_t last = x.shape().rank() - 1;
  const auto flip = [&](const Expr& upper) { return Select(Lt(upper, 0), upper ^ kMagnitude, upper); };
  const Expr position = IotaOf(make, kS32, x.shape().dims(), last);
  const Expr value = flip(x.As(ElementType::U16).To(kS32) << 16);
  const Expr keys = value | (topk.largest ? 0xFFFF - position : position);
  Computation* made = NewComputation(make.module(), "topk_comparator");
  made->set_execution_thread(make.computation().execution_thread());
  Maker inside(*made);
  const Shape scalar = Shape::ArrayWithDefaultLayout(kS32, {});
  Instruction* a = inside.Parameter(0, scalar, "x");
  Instruction* b = inside.Parameter(1, scalar, "y");
  made->set_root(inside.Compare(topk.largest ? Direction::GT : Direction::LT, a, b));
  const Expr sorted =
      Expr(make, make.Add(OpKind::Sort, {keys}, AlongLast(x, false), {made})).Slice(last, 0, topk.k);
  const Expr low = sorted & 0xFFFF;
  const Expr bits = (flip(sorted & kUpper) >> 16).To(ElementType::U16);
  return make.Tuple({bits.As(ElementType::BF16), topk.largest ? 0xFFFF - low : low});
}

llvm::ArrayRef<PassOptionRow> TopkDecomposerOptions::Rows() { return kRows; }

Result<bool> RunTopkDecomposer(Module& module, const TopkDecomposerOptions& options, PassContext& context) {
  return ExpandMatches(
      module, context, [](const Instruction& inst) { return Match(inst).has_value(); },
      [&](Instruction* inst) -> Result<Instruction*> {
        const TopK topk = *Match(*inst);
        Maker make(inst);
        const Expr x(make, inst->operand(0));
        if (!inst->users().empty() && OnlyValuesRead(*inst)) {
          SortValues(inst, x, topk);
          return inst;
        }
        const bool packed = options.packs_bf16 && x.type() == ElementType::BF16 &&
                            x.shape().dims().back() <= 0x10000 && !topk.comparator;
        return packed ? ByPackedKeys(make, x, topk) : BySort(make, x, topk);
      });
}

}  // namespace

HLO_DEFINE_PASS(TopkDecomposer, TopkDecomposerOptions);

}  // namespace hlo

// stable-sort-expander: makes the position part of what is sorted (passes.md §4.10).
//
// Requires nothing. Preserves flat-calls, layouts, fusions.
// Changes: a sort with is_stable=true becomes one without, whose comparator decides between elements that
// stand in either order by an s32 iota along the dimension: an operand that is one, or one more operand.
#include "passes/pass.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/expr.h"

namespace hlo {
namespace {

/// The operand that tells positions along `dimension`; -1 if there is none.
int64_t FindIota(const Instruction& sort, int64_t dimension) {
  for (int64_t i = 0; i < sort.operand_count(); ++i) {
    const Instruction& operand = *sort.operand(i);
    if (operand.kind() == OpKind::Iota && operand.shape().element_type() == ElementType::S32 &&
        operand.attr<IotaAttrs>().iota_dimension == dimension)
      return i;
  }
  return -1;
}

/// `before(a, b)`, or position(a) < position(b) where neither or both of a, b stand before the other.
Computation* WithTieBreaker(const Computation& before, int64_t iota, const Shape& iota_element) {
  Computation* made = NewComputation(*before.module(), before.name());
  made->set_execution_thread(before.execution_thread());
  Maker make(*made, before.root());
  llvm::SmallVector<Instruction*, 8> forward;
  for (const Instruction* p : before.parameters())
    forward.push_back(make.Parameter(static_cast<int64_t>(forward.size()), p->shape(), p->name()));
  const auto old_count = forward.size();
  while (forward.size() <= static_cast<size_t>(2 * iota + 1))
    forward.push_back(make.Parameter(static_cast<int64_t>(forward.size()), iota_element, "position"));
  llvm::SmallVector<Instruction*, 8> backward;
  for (size_t i = 0; i < old_count; ++i) backward.push_back(forward[i ^ 1]);
  const Expr ab(make, InlineBody(forward[0], before, llvm::ArrayRef(forward).take_front(old_count)));
  const Expr ba(make, InlineBody(forward[0], before, backward));
  const Expr earlier = Lt(Expr(make, forward[static_cast<size_t>(2 * iota)]),
                          Expr(make, forward[static_cast<size_t>(2 * iota + 1)]));
  made->set_root(Select(Eq(ab, ba), earlier, ab));
  return made;
}

Result<Instruction*> MakeUnstable(Instruction* sort) {
  Maker make(sort);
  const int64_t count = sort->operand_count(), dimension = sort->attr<SortAttrs>().dimensions[0];
  llvm::SmallVector<Instruction*, 4> operands(sort->operands().begin(), sort->operands().end());
  int64_t iota = FindIota(*sort, dimension);
  if (iota < 0) {
    iota = count;
    const Shape& shape = operands[0]->shape();
    const ElementType type = shape.dim(dimension) > INT32_MAX ? ElementType::S64 : ElementType::S32;
    operands.push_back(make.Iota(shape.WithElementType(type), dimension));
  }
  SortAttrs attrs = sort->attr<SortAttrs>();
  attrs.is_stable = false;
  const Shape position =
      Shape::ArrayWithDefaultLayout(operands[static_cast<size_t>(iota)]->shape().element_type(), {});
  Computation* comparator = WithTieBreaker(*sort->callee(), iota, position);
  const Expr sorted(make, make.Add(OpKind::Sort, operands, std::move(attrs), {comparator}));
  if (static_cast<int64_t>(operands.size()) == count) return sorted.inst();
  if (count == 1) return sorted.Gte(0).inst();
  llvm::SmallVector<Instruction*, 4> results;
  for (int64_t i = 0; i < count; ++i) results.push_back(sorted.Gte(i));
  return make.Tuple(results);
}

Result<bool> RunStableSortExpander(Module& module, const NoPassOptions&, PassContext& context) {
  return ExpandMatches(
      module, context,
      [](const Instruction& inst) {
        return inst.kind() == OpKind::Sort && inst.attr<SortAttrs>().is_stable && HasStaticShapes(inst);
      },
      MakeUnstable);
}

}  // namespace

HLO_DEFINE_PASS(StableSortExpander, NoPassOptions);

}  // namespace hlo

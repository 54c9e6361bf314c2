// memory-space-propagation: fused computations say in which memory their arguments and results lie (passes.md
// §2.5).
//
// Requires nothing. Preserves everything.
// Changes: the memory space in the layouts of parameters and results of fused computations becomes that of
// the fusion's operands and of the fusion, and so do those of tuples, their elements and bitcasts that only
// hand these on. Fusions within fusions take theirs from what is around them. Left alone: computations whose
// fusions differ in that, and results that are parameters handed on.
#include "passes/pass.h"
#include "passes/rewrite/memory_spaces.h"

namespace hlo {
namespace {

using Index = llvm::ArrayRef<int64_t>;

ShapeIndex Below(int64_t first, Index rest) {
  ShapeIndex index = {first};
  index.append(rest.begin(), rest.end());
  return index;
}

/// Sets memory spaces of parts; remembers whether one was another before.
class Spaces {
 public:
  explicit Spaces(PassContext& context) : context_(context) {}

  /// The part of the value, and what its readers hand on of it.
  void SetReaders(Instruction* inst, Index index, int64_t space) {
    std::vector<std::pair<Instruction*, ShapeIndex>> todo = {{inst, ShapeIndex(index.begin(), index.end())}};
    while (!todo.empty()) {
      const auto [value, part] = std::move(todo.back());
      todo.pop_back();
      if (!Set(value, part, space)) continue;
      for (Instruction* user : value->users()) {
        if (user->kind() == OpKind::Bitcast) todo.emplace_back(user, ShapeIndex());
        if (const auto* read = user->attrs().GetIf<GetTupleElementAttrs>())
          if (!part.empty() && read->index == part.front())
            todo.emplace_back(user, ShapeIndex(part.begin() + 1, part.end()));
        if (user->kind() != OpKind::Tuple) continue;
        for (int64_t i = 0; i < user->operand_count(); ++i)
          if (user->operand(i) == value) todo.emplace_back(user, Below(i, part));
      }
    }
  }
  /// The part of the value, and what it was taken from.
  void SetSources(Instruction* inst, Index index, int64_t space) {
    Instruction* const maker = MakerOf(inst, index);
    if (maker && maker->kind() != OpKind::Parameter) Descend(inst, index, space);
  }
  [[nodiscard]] bool changed() const { return changed_; }

 private:
  /// The operand that the part is, and which part of it; null: the instruction makes it.
  static Instruction* Source(const Instruction* inst, ShapeIndex& index) {
    if (inst->kind() == OpKind::Bitcast) return inst->operand(0);
    if (inst->kind() == OpKind::Tuple && !index.empty()) {
      const int64_t i = index.front();
      index.erase(index.begin());
      return inst->operand(i);
    }
    if (const auto* read = inst->attrs().GetIf<GetTupleElementAttrs>()) {
      index.insert(index.begin(), read->index);
      return inst->operand(0);
    }
    return nullptr;
  }
  static Instruction* MakerOf(Instruction* inst, Index part) {
    ShapeIndex index(part.begin(), part.end());
    for (Instruction* from = Source(inst, index); from; from = Source(inst, index)) inst = from;
    return inst;
  }
  void Descend(Instruction* inst, Index part, int64_t space) {
    ShapeIndex index(part.begin(), part.end());
    for (; inst; inst = Source(inst, index)) SetReaders(inst, index, space);
  }
  bool Set(Instruction* inst, Index index, int64_t space) {
    const Shape* part = inst->shape().Subshape(index);
    if (!part || !part->has_layout() || SpaceOf(*part) == space) return false;
    if (!allowed_) allowed_ = context_.TakeRewrite();
    if (!*allowed_) return false;
    inst->set_shape(WithSpace(inst->shape(), index, space));
    return changed_ = true;
  }

  PassContext& context_;
  std::optional<bool> allowed_;  // one rewrite for all parts
  bool changed_ = false;
};

/// All fusions of the computation have their arguments and results in the same spaces.
bool CallersAgree(const Computation& fused) {
  const Instruction& first = *fused.callers().front();
  return llvm::all_of(fused.callers(), [&](const Instruction* other) {
    bool same = other->kind() == OpKind::Fusion;
    const auto compare = [&](const Shape& a, const Shape& b) {
      ForEachLeaf(
          a, [&](const ShapeIndex& index, const Shape& leaf) { same &= SpaceOf(leaf) == SpaceOf(b, index); });
    };
    for (int64_t i = 0; same && i < first.operand_count(); ++i)
      compare(first.operand(i)->shape(), other->operand(i)->shape());
    if (same) compare(first.shape(), other->shape());
    return same;
  });
}

bool Propagate(const Computation& fused, PassContext& context) {
  const Instruction& fusion = *fused.callers().front();
  Spaces spaces(context);
  for (int64_t i = 0; i < fusion.operand_count(); ++i)
    ForEachLeaf(fusion.operand(i)->shape(), [&](const ShapeIndex& index, const Shape& leaf) {
      spaces.SetReaders(fused.parameter(i), index, SpaceOf(leaf));
    });
  ForEachLeaf(fusion.shape(), [&](const ShapeIndex& index, const Shape& leaf) {
    spaces.SetSources(fused.root(), index, SpaceOf(leaf));
  });
  return spaces.changed();
}

Result<bool> RunMemorySpacePropagation(Module& module, const NoPassOptions&, PassContext& context) {
  bool changed = false;
  const std::vector<Computation*> all = context.Computations(module, /*with_fusions=*/true);
  for (const Computation* c : llvm::reverse(all))  // callers first
    if (c->IsFusion() && CallersAgree(*c)) changed |= Propagate(*c, context);
  return changed;
}

}  // namespace

HLO_DEFINE_PASS(MemorySpacePropagation, NoPassOptions);

}  // namespace hlo

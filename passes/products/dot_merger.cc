// dot-merger: dots that share an operand become one (passes.md §4.9).
//
// Requires nothing. Preserves flat-calls, canonical-dots, fusions.
// Changes: of dots with one operand in common, the same dimension numbers, types and precision, the other
// operands are concatenated along their free dimension, and the results are slices of one dot. Only dots are
// merged that have equally many dots on their longest way from the parameters, so none depends on another.
// Left alone: operands with other than one free dimension, control edges, all but one member of a group that
// is over the size limit.
#include <map>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "passes/analysis/side_effects.h"
#include "passes/pass.h"
#include "passes/rewrite/dots.h"
#include "passes/rewrite/edit.h"

namespace hlo {
namespace {

struct DotMergerOptions {
  int64_t max_size_to_merge = INT64_MAX;  // bytes of operands and result
  static llvm::ArrayRef<PassOptionRow> Rows();
};

constexpr PassOptionRow kRows[] = {
    PassOption<&DotMergerOptions::max_size_to_merge>(
        "max_size_to_merge", "bytes of operands and result beyond which a dot merges with smaller ones only"),
};

/// Finds groups of dots and merges them.
class Merger {
 public:
  Merger(Computation& computation, const DotMergerOptions& options, PassContext& context)
      : computation_(computation), options_(options), context_(context) {}
  bool Run() {
    if (llvm::none_of(computation_.instructions(),
                      [](const Instruction* i) { return i->kind() == OpKind::Dot; }))
      return false;
    CollectLevels();
    bool changed = false;
    for (const int64_t side : {0, 1}) {
      for (const std::vector<Instruction*>& group : Groups(side)) changed |= Merge(group, side);
    }
    return changed;
  }

 private:
  /// Dots on the longest way to every dot.
  void CollectLevels() {
    llvm::DenseMap<const Instruction*, int64_t> levels;
    for (Instruction* inst : computation_.PostOrder()) {
      int64_t level = 0;
      for (const Instruction* o : inst->operands()) level = std::max(level, levels.lookup(o));
      for (const Instruction* p : inst->extras().control_predecessors)
        level = std::max(level, levels.lookup(p));
      if (inst->kind() == OpKind::Dot) dots_.emplace_back(inst, ++level);
      levels[inst] = level;
    }
  }

  /// Groups that share operand `side`, in order of their first member.
  std::vector<std::vector<Instruction*>> Groups(int64_t side) {
    std::map<std::pair<const Instruction*, int64_t>, llvm::SmallVector<size_t, 2>> by_operand;
    std::vector<std::vector<Instruction*>> groups;
    for (const auto& [dot, level] : dots_) {
      if (merged_.contains(dot) || !IsCandidate(*dot, side)) continue;
      auto& places = by_operand[{dot->operand(side), level}];
      const auto* place = llvm::find_if(places, [&](size_t at) { return Fits(groups[at], *dot, side); });
      if (place != places.end()) {
        groups[*place].push_back(dot);
        continue;
      }
      places.push_back(groups.size());
      groups.push_back({dot});
    }
    return groups;
  }

  [[nodiscard]] static bool IsCandidate(const Instruction& dot, int64_t side) {
    return HasStaticArrays(dot) && !HasControlEdges(dot) && !IsDead(dot) &&
           RolesOf(dot, 1 - side).free.size() == 1 && dot.operand(0) != dot.operand(1);
  }

  [[nodiscard]] bool Fits(const std::vector<Instruction*>& group, const Instruction& dot,
                          int64_t side) const {
    const Instruction& first = *group[0];
    const Shape &x = first.operand(1 - side)->shape(), &y = dot.operand(1 - side)->shape();
    const bool same = first.attrs() == dot.attrs() && x.element_type() == y.element_type() &&
                      x.rank() == y.rank() && first.shape().element_type() == dot.shape().element_type() &&
                      first.extras().backend_config == dot.extras().backend_config &&
                      first.extras().frontend_attributes == dot.extras().frontend_attributes &&
                      !first.extras().sharding && !dot.extras().sharding;
    return same && (!IsLarge(dot) || llvm::none_of(group, [&](const Instruction* i) { return IsLarge(*i); }));
  }

  [[nodiscard]] bool IsLarge(const Instruction& dot) const {
    return ByteSize(dot.shape()) + ByteSize(dot.operand(0)->shape()) + ByteSize(dot.operand(1)->shape()) >
           options_.max_size_to_merge;
  }

  bool Merge(const std::vector<Instruction*>& group, int64_t side) {
    if (group.size() < 2 || !context_.TakeRewrite()) return false;
    const Instruction& first = *group[0];
    const int64_t free = RolesOf(first, 1 - side).free[0];
    // The free dimension of the left operand comes right after the batch, that of the right one last.
    const int64_t along = side == 1 ? static_cast<int64_t>(first.attr<DotAttrs>().lhs_batch_dims.size())
                                    : first.shape().rank() - 1;
    Maker make(group.back());
    llvm::SmallVector<Instruction*, 4> others;
    for (const Instruction* dot : group) others.push_back(dot->operand(1 - side));
    Instruction* other = make.Concatenate(others, free);
    Instruction* shared = first.operand(side);
    Instruction* all = MakeDotLike(make, first, side == 0 ? shared : other, side == 0 ? other : shared,
                                   first.attr<DotAttrs>());
    int64_t start = 0;
    for (Instruction* dot : group) {
      const int64_t size = dot->shape().dim(along);
      ReplaceAndRemove(dot, make.SliceDim(all, along, start, start + size));
      start += size;
      merged_.insert(dot);
    }
    return true;
  }

  Computation& computation_;
  const DotMergerOptions& options_;
  PassContext& context_;
  std::vector<std::pair<Instruction*, int64_t>> dots_;  // with their levels, in post-order
  llvm::DenseSet<const Instruction*> merged_;           // gone
};

llvm::ArrayRef<PassOptionRow> DotMergerOptions::Rows() { return kRows; }

Result<bool> RunDotMerger(Module& module, const DotMergerOptions& options, PassContext& context) {
  bool changed = false;
  for (Computation* c : context.Computations(module)) changed |= Merger(*c, options, context).Run();
  return changed;
}

}  // namespace

HLO_DEFINE_PASS(DotMerger, DotMergerOptions);

}  // namespace hlo

// loop-schedule-linearizer: loops read what they carry before they make it anew (passes.md §2.4).
//
// Requires nothing. Preserves everything but the schedule.
// Changes: in the body of a loop over a tuple, what reads an element is run before what computes the element
// for the next iteration, by control edges where nothing else says so; both can share a buffer then without a
// copy. Left alone: elements that pass through, readers that need the new value.
#include "llvm/ADT/DenseSet.h"
#include "passes/analysis/reachability.h"
#include "passes/pass.h"
#include "passes/rewrite/loop_edit.h"

namespace hlo {
namespace {

/// Nodes that are searched before all dependences are looked at again.
constexpr size_t kMostSearched = 1024;

/// What depends on what in a body, whose control edges become more.
class Dependences {
 public:
  explicit Dependences(const Computation& body) : body_(body) {}

  bool Reaches(const Instruction& earlier, const Instruction& later) {
    if (!known_) known_.emplace(body_);
    if (known_->Reaches(earlier, later)) return true;
    if (!outdated_) return false;
    if (const auto found = Search(earlier, later)) return *found;
    known_.emplace(body_);
    outdated_ = false;
    return known_->Reaches(earlier, later);
  }
  void AddEdge(Instruction& earlier, Instruction& later) {
    later.AddControlPredecessor(&earlier);
    outdated_ = true;
  }

 private:
  /// Nothing if that takes too long.
  static std::optional<bool> Search(const Instruction& earlier, const Instruction& later) {
    llvm::SmallDenseSet<const Instruction*, 16> seen = {&earlier};
    llvm::SmallVector<const Instruction*, 16> stack = {&earlier};
    while (!stack.empty()) {
      const Instruction* at = stack.pop_back_val();
      if (at == &later) return true;
      if (at->users().size() + seen.size() > kMostSearched) return std::nullopt;
      for (const auto next : {at->users(), llvm::ArrayRef<Instruction*>(at->extras().control_successors)})
        for (const Instruction* i : next)
          if (seen.insert(i).second) stack.push_back(i);
    }
    return false;
  }

  const Computation& body_;
  std::optional<Reachability> known_;  // it stays so, but there may be more
  bool outdated_ = false;
};

bool IsElement(const Instruction& value, const Instruction& parameter) {
  return value.kind() == OpKind::GetTupleElement && value.operand(0) == &parameter;
}

Result<bool> Linearize(Computation& body, PassContext& context) {
  const Instruction* root = body.root();
  if (body.parameters().size() != 1 || root->kind() != OpKind::Tuple) return false;
  bool changed = false;
  Dependences dependences(body);
  const auto elements = ReadsByElement(*body.parameter(0));
  for (int64_t i = 0; i < root->operand_count(); ++i) {
    HLO_CHECK_OK(context.CheckInterrupt());
    Instruction* made = root->operand(i);
    // Constants and the like are made without reading anything; their copies are cheap to place.
    if (made->operands().empty() || IsElement(*made, *body.parameter(0))) continue;
    for (const Instruction* element : elements[static_cast<size_t>(i)])
      for (Instruction* reader : element->users()) {
        // Tuples and such are read where these are read.
        if (reader == made || reader->info().category == OpCategory::Tuple) continue;
        if (dependences.Reaches(*reader, *made) || dependences.Reaches(*made, *reader)) continue;
        if (!context.TakeRewrite()) return changed;
        dependences.AddEdge(*reader, *made);
        changed = true;
      }
  }
  return changed;
}

Result<bool> RunLoopScheduleLinearizer(Module& module, const NoPassOptions&, PassContext& context) {
  bool changed = false;
  for (Computation* c : context.Computations(module)) {
    const bool is_body = llvm::any_of(c->callers(), [&](const Instruction* caller) {
      return caller->kind() == OpKind::While && caller->callee(0) == c;
    });
    if (!is_body) continue;
    HLO_TRY(const bool linearized, Linearize(*c, context));
    changed |= linearized;
  }
  return changed;
}

}  // namespace

HLO_DEFINE_PASS(LoopScheduleLinearizer, NoPassOptions);

}  // namespace hlo

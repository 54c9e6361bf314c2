// loop-schedule-linearizer: loops read what they carry before they make it anew (passes.md §2.4).
//
// Requires nothing. Preserves everything but the schedule.
// Changes: in the body of a loop over a tuple, what reads an element is run before what computes the element
// for the next iteration, by control edges where nothing else says so; both can share a buffer then without a
// copy. Left alone: elements that pass through, readers that need the new value.
#include "passes/analysis/reachability.h"
#include "passes/pass.h"

namespace hlo {
namespace {

/// What reads element `i` of the body's parameter, tuples and such by what reads these.
llvm::SmallVector<Instruction*, 4> ReadersOf(const Computation& body, int64_t i) {
  llvm::SmallVector<Instruction*, 4> readers;
  for (const Instruction* element : body.parameter(0)->users())
    if (element->kind() == OpKind::GetTupleElement && element->attr<GetTupleElementAttrs>().index == i)
      for (Instruction* reader : element->users())
        if (reader->info().category != OpCategory::Tuple) readers.push_back(reader);
  return readers;
}

bool IsElement(const Instruction& value, const Instruction& parameter) {
  return value.kind() == OpKind::GetTupleElement && value.operand(0) == &parameter;
}

Result<bool> Linearize(Computation& body, PassContext& context) {
  const Instruction* root = body.root();
  if (body.parameters().size() != 1 || root->kind() != OpKind::Tuple) return false;
  bool changed = false;
  std::optional<Reachability> reach;
  for (int64_t i = 0; i < root->operand_count(); ++i) {
    HLO_CHECK_OK(context.CheckInterrupt());
    Instruction* made = root->operand(i);
    // Constants and the like are made without reading anything; their copies are cheap to place.
    if (made->operands().empty() || IsElement(*made, *body.parameter(0))) continue;
    bool added = false;
    for (Instruction* reader : ReadersOf(body, i)) {
      if (reader == made) continue;
      if (!reach) reach.emplace(body);
      // Edges into `made` alone: what it reaches has not changed since.
      if (reach->Reaches(*reader, *made) || reach->Reaches(*made, *reader)) continue;
      if (!context.TakeRewrite()) return changed;
      made->AddControlPredecessor(reader);
      changed = added = true;
    }
    if (added) reach.reset();
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

// Changing what while loops carry.
#pragma once
#include <optional>
#include <string>

#include "passes/analysis/loop_facts.h"
#include "passes/rewrite/context.h"

namespace hlo {

/// Calls `change` with the while loops of the module, inner ones first; true if one of the calls changed
/// something. Loops that a call makes are not visited.
Result<bool> ForEachLoop(Module& module, const PassContext& context,
                         llvm::function_ref<bool(Instruction* loop)> change);

/// The loop alone owns its computations, reads its state element by element, and nothing else says how the
/// state is made up (shardings): elements may come and go.
bool MayReshapeLoop(const TupleLoop& loop);

/// What becomes of an element of a loop's state.
struct LoopElementEdit {
  bool keep = true;
  // For elements that go: what reads of the final value read instead, where there are any.
  int64_t same_as = -1;            // another element, which is kept
  Instruction* outside = nullptr;  // a value outside the loop
};
/// Drops elements that body and condition do not need: whatever reads them inside must be dead once the
/// body no longer returns them. One edit per element. Requires MayReshapeLoop().
void DropLoopElements(const TupleLoop& loop, llvm::ArrayRef<LoopElementEdit> edits);
/// Adds elements that keep the given values; their reads in the body. Requires MayReshapeLoop().
llvm::SmallVector<Instruction*, 4> AddLoopInvariants(const TupleLoop& loop,
                                                     llvm::ArrayRef<Instruction*> values);
/// Adds one element; `update` makes its next value from its present one, in the body, which is returned.
Instruction* AddLoopElement(const TupleLoop& loop, Instruction* init,
                            llvm::function_ref<Instruction*(Instruction*)> update);
/// By element of a tuple-shaped value: what reads it by get-tuple-element.
std::vector<llvm::SmallVector<Instruction*, 2>> ReadsByElement(const Instruction& tuple);

/// A backend config with the count noted as while-loop-trip-count-annotator does; nothing if it is no JSON
/// object.
std::optional<std::string> WithTripCount(llvm::StringRef config, const LoopCount& counted);
/// What is noted of the loop; nothing if that is no count, or less than 0.
std::optional<LoopCount> NotedTripCount(const Instruction& loop);
/// Notes this count in place of another; configs that are no JSON objects stay.
void NoteTripCount(Instruction& loop, const LoopCount& counted);

}  // namespace hlo

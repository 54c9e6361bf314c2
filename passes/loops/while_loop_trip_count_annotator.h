// while-loop-trip-count-annotator: notes how often loops run (passes.md §4.5).
//
// Requires nothing. Preserves everything.
// Changes: the backend config of a while loop with known trip count gets `known_trip_count`, and where they
// are known `known_init_step` and `known_induction_variable`; what else it says stays. Without
// `keep_unproven` counts that others noted go where this pass finds none: who runs a loop by its count has to
// be sure of it. Passes that run later must not change those loops' trips. Left alone: backend configs that
// are no JSON objects.
#pragma once
#include "passes/pass.h"

namespace hlo {

struct WhileLoopTripCountAnnotatorOptions {
  bool keep_unproven = true;
  static llvm::ArrayRef<PassOptionRow> Rows() {
    static constexpr PassOptionRow kRows[] = {PassOption<&WhileLoopTripCountAnnotatorOptions::keep_unproven>(
        "keep_unproven", "leave counts that others noted, where this pass finds none")};
    return kRows;
  }
};

Result<bool> RunWhileLoopTripCountAnnotator(Module& module, const WhileLoopTripCountAnnotatorOptions& options,
                                            PassContext& context);
/// Notes the trip count of one loop, if it is known; true if that changed its config.
bool AnnotateTripCount(Instruction& loop, bool keep_unproven = true);

}  // namespace hlo

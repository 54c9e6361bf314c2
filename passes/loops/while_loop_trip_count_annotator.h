// while-loop-trip-count-annotator: notes how often loops run (passes.md §4.5).
//
// Requires nothing. Preserves everything.
// Changes: the backend config of a while loop with known trip count gets `known_trip_count`, and where they
// are known `known_init_step` and `known_induction_variable`; what else it says stays. Passes that run later
// must not change those loops' trips. Left alone: backend configs that are no JSON objects.
#pragma once
#include "passes/pass.h"

namespace hlo {

Result<bool> RunWhileLoopTripCountAnnotator(Module& module, const NoPassOptions& options,
                                            PassContext& context);
/// Notes the trip count of one loop, if it is known; true if that changed its config.
bool AnnotateTripCount(Instruction& loop);

}  // namespace hlo

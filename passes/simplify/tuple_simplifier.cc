// tuple-simplifier: removes tuples that are made only to be taken apart, and the reverse (passes.md §4.4).
//
// Requires nothing. Preserves everything but the schedule.
// Changes: an element read from a `tuple` becomes the element; a `tuple` of all elements of a value of the
// same shape becomes that value. Left alone: bodies of fusions, instructions with control edges.
#include "passes/pass.h"
#include "passes/rewrite/tuples.h"

namespace hlo {
namespace {

struct TupleSimplifierOptions {
  bool exclude_entry_computation = false;
  static llvm::ArrayRef<PassOptionRow> Rows();
};

constexpr PassOptionRow kRows[] = {
    PassOption<&TupleSimplifierOptions::exclude_entry_computation>("exclude_entry_computation",
                                                                   "leave the entry computation alone"),
};

llvm::ArrayRef<PassOptionRow> TupleSimplifierOptions::Rows() { return kRows; }

Result<bool> RunTupleSimplifier(Module& module, const TupleSimplifierOptions& options, PassContext& context) {
  return SimplifyTuples(module, context, options.exclude_entry_computation);
}

}  // namespace

HLO_DEFINE_PASS(TupleSimplifier, TupleSimplifierOptions);

}  // namespace hlo

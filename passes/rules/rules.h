// The rule tables of algsimp, one per family; each lies in the .cc named like it.
#pragma once
#include "passes/rewrite/driver.h"
#include "passes/rules/options.h"

namespace hlo {

llvm::ArrayRef<Rule> ArithmeticRules();   // passes.md §3.1
llvm::ArrayRef<Rule> LogicRules();        // §3.2: min/max, logic, compare, select, type conversion
llvm::ArrayRef<Rule> StructureRules();    // §3.3: constants, tuples, control, custom calls, collectives
llvm::ArrayRef<Rule> ReshapeRules();      // §3.4: broadcast, reshape, transpose, copy, bitcast, reverse
llvm::ArrayRef<Rule> SliceRules();        // §3.5: concatenate, slices, pad, gather, scatter, sort
llvm::ArrayRef<Rule> ReductionRules();    // §3.6: reduce, reduce-window
llvm::ArrayRef<Rule> ContractionRules();  // §3.6: dot, convolution

/// All of them, indexed.
const RuleIndex& AlgsimpRules();

/// The options of the running pass, for guards and replacements.
inline const AlgsimpOptions& Options(const Match& m) { return m.options<AlgsimpOptions>(); }

}  // namespace hlo

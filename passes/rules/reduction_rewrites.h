// Replacements of the rules on reduce and reduce-window; passes.md §3.6 says what each does.
#pragma once
#include "passes/rules/rules.h"

namespace hlo {

// Of both; variadic too.
Instruction* ReductionOfNothing(Match& m);
Instruction* UnwrapSingleReduction(Match& m);

// reduce. B is bound to the operand, A to the operand's operand.
bool ReducesSizeOneToIdentity(const Match& m);
Instruction* ReduceOfSizeOne(Match& m);
Instruction* ReduceOfSizeOneFolded(Match& m);
Instruction* ReduceOfNegate(Match& m);
Instruction* ReduceOfKnownPattern(Match& m);
Instruction* ReduceOfDotFree(Match& m);
Instruction* ReduceOfDotBatch(Match& m);
bool KeepsReducedOrder(const Match& m);
bool HasReducerOp(const Match& m);
Instruction* ReduceOfTranspose(Match& m);
Instruction* ReduceOfReduce(Match& m);
Instruction* ReduceOfMergingReshape(Match& m);
Instruction* ReduceOfOtherReshape(Match& m);
Instruction* ReduceOfConcatenate(Match& m);
Instruction* ReduceBesideArgReduce(Match& m);
Instruction* ReduceOfScalarSplat(Match& m);
Instruction* ReduceOfBroadcastDims(Match& m);
Instruction* SumOfAddedDims(Match& m);

// reduce-window.
bool WindowStartsFromIdentity(const Match& m);
Instruction* WindowOfSizeOne(Match& m);
Instruction* WindowOfSizeOneFolded(Match& m);
Instruction* PrefixSumOfConstant(Match& m);
Instruction* WindowOfWholeDims(Match& m);
Instruction* WindowOfPad(Match& m);
Instruction* WindowOfConvertedPad(Match& m);
Instruction* WindowOfSingleElement(Match& m);

}  // namespace hlo

// Replacements and guards of the rules on constants, tuples, control, custom calls and collectives
// (passes.md §3.3).
#pragma once
#include "passes/rules/rules.h"

namespace hlo {

Instruction* TupleOfConstants(Match& m);  // a constant tuple
Instruction* ConstantToSplat(Match& m);   // a constant
Instruction* ConstantToIota(Match& m);
Instruction* ConstantToScaledIota(Match& m);
Instruction* ElementOfTuple(Match& m);  // get-tuple-element of the tuple A
Instruction* IotaToZero(Match& m);
Instruction* MapToOperand(Match& m);
Instruction* MapToConstant(Match& m);
Instruction* MapToOp(Match& m);
Instruction* DropBarredElements(Match& m);  // optimization-barrier of the tuple A
Instruction* ConditionalOnPred(Match& m);   // conditional on convert(A)
Instruction* UndoPadding(Match& m);         // a custom call
Instruction* ConstrainLayout(Match& m);     // a custom call
Instruction* SplatOfShape(Match& m);        // A is a splat: one of the root's shape
Instruction* ExtremeOfSplat(Match& m);      // the minimum or maximum over devices of the splat A
Instruction* SumOfSplat(Match& m);          // the sum over devices of the splat A

bool RootIsTuple(const Match& m);
bool NoSideEffect(const Match& m);

}  // namespace hlo

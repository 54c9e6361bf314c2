// Replacements of the arithmetic rules that are no plain patterns (passes.md §3.1).
#pragma once
#include "passes/rules/rules.h"

namespace hlo {

/// `kind` of two constants: of scalars, broadcast, if both are splats. Null if they are neither both splats
/// nor both constants.
Instruction* OfConstants(Match& m, OpKind kind, Instruction* x, Instruction* y);
/// `kind` of one constant, below its broadcast if it is one.
Instruction* OfConstant(Match& m, OpKind kind, Instruction* x);

Instruction* ConstantToRight(Match& m);      // c + A
Instruction* SumOfConstants(Match& m);       // (A + B) + C
Instruction* ConstantMinus(Match& m);        // (B - A) + C
Instruction* AddIntoUpdate(Match& m);        // A + dus(0, …), B the dus
Instruction* PlusNegated(Match& m);          // A - B
Instruction* ProductOfConstants(Match& m);   // (A * B) * C
Instruction* ProductsOfConstants(Match& m);  // (A * C) * (B * D)
Instruction* ScaleSmaller(Match& m);         // (A * C) * bc(B), D the broadcast
Instruction* TimesReciprocal(Match& m);      // A / B
Instruction* TimesExactReciprocal(Match& m);
Instruction* TimesSmallReciprocal(Match& m);  // A / bc(B), C the broadcast
Instruction* PredByScalar(Match& m);          // convert(A) / bc(B)
Instruction* DivideByShift(Match& m);         // A / 2^k
Instruction* RemainderByMask(Match& m);       // A % 2^k
Instruction* PowerOfLog(Match& m);            // log(A ^ B)
Instruction* ScaleKernel(Match& m);           // (conv + B) * bc(C): A the convolution, D the broadcast
Instruction* MergeScatters(Match& m);         // scatter A + scatter B
Instruction* NestScatters(Match& m);          // scatter A + scatter B
Instruction* AddToScattered(Match& m);        // scatter A + B

bool IsExactFactor(const Match& m);       // multiplying by C and adding commute, or the options say so
bool FitsRemainder(const Match& m);       // iota A stays below the splat B
bool FitsRemainderOfSum(const Match& m);  // iota A plus the splat B does not overflow
bool NotIntegral(const Match& m);
bool RealNumbers(const Match& m);  // neither the root nor its operands are complex
bool ComplexNumbers(const Match& m);

}  // namespace hlo

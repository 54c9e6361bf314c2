// Replacements and guards of the rules of logic, compares, selects and conversions (passes.md §3.2).
#pragma once
#include "passes/rules/rules.h"

namespace hlo {

Instruction* ClampBetween(Match& m);        // max(B, min(A, C)) and the like, B the lower bound
Instruction* MaximumInside(Match& m);       // max(f(A), f(B))
Instruction* SmallerBound(Match& m);        // (A < B) and (A < C), P and Q the compares
Instruction* FlippedCompare(Match& m);      // max(A, B) > A
Instruction* CompareWithMinimum(Match& m);  // A > min(A, B)
Instruction* SelectIntoUpdate(Match& m);    // select(P, A, B), B a dus into A, or the other way round
Instruction* ConvertConstant(Match& m);     // convert(constant A)
Instruction* OperateNarrow(Match& m);       // convert(op(convert A, convert B)), C the op
Instruction* BitcastConvertOnce(Match& m);  // bitcast-convert(B), B = bitcast-convert(A)
Instruction* ConcatenateUnconverted(
    Match& m);                              // bitcast-convert(concatenate(bitcast-convert ...)), A the latter
Instruction* BroadcastConverted(Match& m);  // bitcast-convert(B), B a broadcast of A
Instruction* BitcastInstead(Match& m);      // bitcast-convert(A)

bool MinMaxPropagateNan(const Match& m);  // of floats; others always
bool UnsignedOperands(const Match& m);    // of a compare; pred counts
bool OrderedOperands(const Match& m);     // of a compare: no floats or complex numbers
bool PredOperands(const Match& m);
bool PredRoot(const Match& m);
bool BoundedClamp(const Match& m);       // the lower bound B is below C, both constant; B is not subnormal
bool CoversDeviceIds(const Match& m);    // clamp(0, A, B)
bool WidensExactly(const Match& m);      // B = convert(A) represents every value of A
bool KeepsOwnPrecision(const Match& m);  // reduce-precision to what the type has
bool FoldsConverts(const Match& m);

}  // namespace hlo

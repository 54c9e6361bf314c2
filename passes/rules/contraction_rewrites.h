// Replacements of the rules on dot and convolution; passes.md §3.6 says what each does.
#pragma once
#include "passes/rules/rules.h"

namespace hlo {

// dot.
Instruction* DotOfNothing(Match& m);
Instruction* DotAsProduct(Match& m);
Instruction* DotReassociated(Match& m);  // A, B: operands of the inner dot P
Instruction* DotOfReverse(Match& m);
Instruction* DotOfPad(Match& m);
Instruction* DotOfBroadcast(Match& m);
Instruction* DotAsReduce(Match& m);
Instruction* DotOfMergedTranspose(Match& m);
Instruction* DotOfConcatenate(Match& m);
Instruction* DotOfDynamicSlice(Match& m);
Instruction* DotWithoutSizeOne(Match& m);
Instruction* DotOfTransposes(Match& m);
Instruction* DotWithParameterRight(Match& m);

// convolution.
Instruction* ProductMovesScale(Match& m);  // also of dot
Instruction* ScaleMovesIntoProduct(Match& m);
Instruction* ConvolutionOfNothing(Match& m);
Instruction* ConvolutionOfPad(Match& m);
Instruction* ConvolutionByDilatedKernel(Match& m);
Instruction* ConvolutionSwapped(Match& m);
Instruction* ConvolutionAsDot(Match& m);
Instruction* DepthwiseConvolutionAsProduct(Match& m);

}  // namespace hlo

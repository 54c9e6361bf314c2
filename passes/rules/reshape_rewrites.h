// Replacement functions of the rules about broadcast, reshape, transpose, copy, bitcast and reverse; each
// stands for the rule ids behind it.
#pragma once
#include "passes/rules/movement.h"

namespace hlo {

// broadcast_rewrites.cc
Instruction* BroadcastToReshape(Match& m);        // bc.1
Instruction* BroadcastToTranspose(Match& m);      // bc.2
Instruction* BroadcastOfInsertedOnes(Match& m);   // bc.3
bool AllOperandsBroadcast(const Instruction& f);  // bc.4
Instruction* SinkBroadcasts(Match& m);            // bc.4
Instruction* MoveSplat(Match& m);                 // bc.5
Instruction* BroadcastOfIota(Match& m);           // bc.6
Instruction* BroadcastOfBroadcast(Match& m);      // bc.7
Instruction* BroadcastWithoutOnes(Match& m);      // bc.8

// reshape_rewrites.cc
Instruction* EmptyConstant(Match& m);                // rs.1
Instruction* ReshapeOfReshape(Match& m);             // rs.3
Instruction* RngOfRootShape(Match& m);               // rs.4, tr.5
Instruction* CancelRearrangements(Match& m);         // rs.5
Instruction* HoistTransposeOfReshape(Match& m);      // rs.6
Instruction* ReshapeOfBroadcast(Match& m);           // rs.8
Instruction* ReshapeOfIota(Match& m);                // rs.9
Instruction* ReshapeOfDynamicUpdateSlice(Match& m);  // rs.10

// transpose_rewrites.cc
Instruction* TransposeOfTranspose(Match& m);      // tr.2
Instruction* TransposeOfDot(Match& m);            // tr.3
Instruction* TransposeToReshape(Match& m);        // tr.4
Instruction* TransposeToBitcast(Match& m);        // tr.6
Instruction* SpaceToDepth(Match& m);              // tr.7
Instruction* TransposeOfBroadcast(Match& m);      // tr.8
Instruction* TransposeOfScatter(Match& m);        // tr.9
Instruction* ReverseOfReverse(Match& m);          // rev.2
Instruction* ReverseOfBinaryWithSplat(Match& m);  // rev.3
Instruction* ReverseOfInsertedOnes(Match& m);     // rev.4

// copy_rewrites.cc
Instruction* ChainToBitcast(Match& m);           // rs.11, copy.3
Instruction* ReshapeOfCopy(Match& m);            // rs.7
Instruction* CopyOfBitcastReshape(Match& m);     // copy.4
Instruction* CopyOfBitcastOfCopy(Match& m);      // copy.5
Instruction* CopyOfReshape(Match& m);            // copy.6
Instruction* BitcastOfUnaryOfBitcast(Match& m);  // bit.1
Instruction* BitcastOfBitcast(Match& m);         // bit.2
Instruction* BitcastOfBroadcast(Match& m);       // bit.4

}  // namespace hlo

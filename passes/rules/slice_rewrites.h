// Replacement functions of the rules about concatenate, slices, pad, gather, scatter and sort; each stands
// for the rule ids behind it.
#pragma once
#include "passes/rules/movement.h"

namespace hlo {

// concatenate_rewrites.cc
Instruction* ConcatenateOne(Match& m);           // cat.1
Instruction* ConcatenateWithoutEmpty(Match& m);  // cat.2
Instruction* FlattenConcatenate(Match& m);       // cat.3
Instruction* JoinAdjacentSlices(Match& m);       // cat.4
Instruction* ConcatenateWithSplat(Match& m);     // cat.5
Instruction* ConcatenateCopies(Match& m);        // cat.6
Instruction* ConcatenateSplats(Match& m);        // cat.7
Instruction* SliceOfConcatenate(Match& m);       // sl.8, sl.10, sl.11

// slice_rewrites.cc
bool IsUnstrided(const Instruction& slice);
Instruction* SliceOfPadding(Match& m);      // sl.2
Instruction* SliceInsidePad(Match& m);      // sl.3, sl.4
Instruction* SliceOfSlice(Match& m);        // sl.5
Instruction* SliceOfBroadcast(Match& m);    // sl.6, sl.7
Instruction* SliceOfDot(Match& m);          // sl.9
Instruction* SliceOfPrefixSums(Match& m);   // sl.12
Instruction* SliceOfReshape(Match& m);      // sl.13
Instruction* SliceOfReverse(Match& m);      // sl.14
Instruction* SliceWithoutStride(Match& m);  // sl.15

// dynamic_slice_rewrites.cc
Instruction* ZeroFullSizeIndices(Match& m);         // ds.3, dus.3
Instruction* DynamicSliceOfBroadcast(Match& m);     // ds.4
Instruction* DynamicSliceOfReshape(Match& m);       // ds.5
Instruction* DynamicSliceOfTranspose(Match& m);     // ds.6
Instruction* DynamicSliceToSlice(Match& m);         // ds.7
Instruction* DynamicSliceOfIota(Match& m);          // ds.8
Instruction* DynamicSliceOfDynamicSlice(Match& m);  // ds.9
Instruction* UpdateOfSplat(Match& m);               // dus.1
Instruction* UpdateOfUpdatedSlice(Match& m);        // dus.5

// pad_rewrites.cc
Instruction* PadOfNothing(Match& m);        // pad.1
Instruction* PadWithoutHoles(Match& m);     // pad.2
Instruction* PadOfBroadcast(Match& m);      // pad.4
Instruction* PadWithoutNegative(Match& m);  // pad.5

// gather_rewrites.cc
Instruction* GatherFromNothing(Match& m);     // gat.1
Instruction* GatherFromOneElement(Match& m);  // gat.2
Instruction* GatherToSelects(Match& m);       // gat.3
Instruction* GatherOfPad(Match& m);           // gat.4
Instruction* GatherOfReshapedPad(Match& m);   // gat.5
Instruction* ScatterOfNothing(Match& m);      // scat.1
Instruction* ScatterOfWholeWindow(Match& m);  // scat.2
Instruction* ScatterOfOneWindow(Match& m);    // scat.2b
Instruction* SortOfNothing(Match& m);         // sort.1

}  // namespace hlo

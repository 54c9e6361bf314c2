// Loops of routines, when their kernels have become part of them.
#pragma once

namespace llvm {
class Function;
class FunctionCallee;
class Module;
class TargetMachine;
}  // namespace llvm

namespace hlo::codegen {

/// What stands at the end of each round of a loop: `void poll()`, which touches nothing that anybody else
/// does.
llvm::FunctionCallee PollMarker(llvm::Module& module);

/// Tests at the end of loops instead of at their beginning, which tells where counters lie: what bounds an
/// index within an array goes where a counter never leaves it.
void TurnLoops(llvm::Function& routine, const llvm::TargetMachine& target);

/// Writes short loops out a few times, one test for all where their number of rounds is known. To be called
/// when nothing else is to be made of the loops.
void UnrollShortLoops(llvm::Function& routine, const llvm::TargetMachine& target);

/// Attribute of routines that are never asked to stop: their markers just go.
inline constexpr const char* kNoPolls = "hlo-no-polls";

/// Puts code in the place of markers: a count of rounds, and now and then a call of `poll` in the
/// kernel::RoutineHost that the third argument points to, with the second as its argument; other than 0 ends
/// the routine.
void ExpandPolls(llvm::Function& routine);

}  // namespace hlo::codegen

// Changes to modules that many passes make.
#pragma once
#include "ir/module.h"

namespace hlo {

/// Somebody reads the bytes of the value as they lie.
bool LayoutIsObserved(const Instruction& inst);
/// Moves the control edges of `from` to `to`. What `to` cannot wait for, as that depends on it, is waited for
/// by those that waited for `from`.
void MoveControlEdges(Instruction& from, Instruction& to);
/// `by` takes the place of `old`: uses, root, control edges; sharding and frontend attributes too if `by` has
/// none. `old` stays, unused.
void ReplaceWith(Instruction* old, Instruction* by);
/// Removes the instruction if it is dead (passes/analysis/side_effects.h) and then its operands likewise.
/// Calls `on_remove` before each removal.
void RemoveIfDead(Instruction* inst, llvm::function_ref<void(Instruction*)> on_remove = nullptr);
/// ReplaceWith, then RemoveIfDead(old).
void ReplaceAndRemove(Instruction* old, Instruction* by);

/// A copy in the same module under a unique name, its instructions too; callees are shared.
Computation* CloneComputation(const Computation& from, llvm::StringRef name = "");
/// A copy of an instruction with other operands, next to it or in `to`, under a unique name.
Instruction* CloneWith(const Instruction& from, Computation& to, llvm::ArrayRef<Instruction*> operands);
/// Copies the body before `at`, `arguments` standing for its parameters. The copy of the root; an argument if
/// the root is a parameter. Callees are shared. `on_copy` sees every pair (original, copy).
Instruction* InlineBody(Instruction* at, const Computation& body, llvm::ArrayRef<Instruction*> arguments,
                        llvm::function_ref<void(const Instruction*, Instruction*)> on_copy = nullptr);
/// Replaces a call (or another instruction that applies its callee to its operands once) by the body.
Instruction* InlineCall(Instruction* call,
                        llvm::function_ref<void(const Instruction*, Instruction*)> on_copy = nullptr);
/// Deletes the computations that the entry does not reach; how many.
int64_t RemoveUnreachableComputations(Module& module);

/// The order of a scheduled computation after its instructions changed: what was there keeps its order, new
/// instructions stand right before their first user. `before` is the old schedule (its instructions may be
/// gone: pointers are compared, not followed).
std::vector<Instruction*> RepairedSchedule(const Computation& computation,
                                           llvm::ArrayRef<const Instruction*> before);

}  // namespace hlo

// Walking over the statements of kernels.
#pragma once
#include "backends/kernel/kernel.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace hlo::kernel {

/// Calls `f` for each statement of the region and of those below, a loop before what is in it.
void ForEachStmt(Region& region, llvm::function_ref<void(Stmt&)> f);
void ForEachStmt(const Region& region, llvm::function_ref<void(const Stmt&)> f);
/// The one value that a statement computes; -1 for those that compute none or several, or do more.
ValueId ResultOf(const Stmt& stmt);
/// Calls `f` for each value that the statement itself reads, yields of its regions included; what is in these
/// does not count.
void ForEachUse(const Stmt& stmt, llvm::function_ref<void(ValueId)> f);
/// Whether the kernel writes each element of the buffer and reads none. Before a schedule is applied.
bool Defines(const Kernel& kernel, BufferId buffer);
/// The array that a statement reads or writes an element of, and which element; -1 and null if it does not.
BufferId BufferOf(const Stmt& stmt);
Address* PlaceOf(Stmt& stmt);
const Address* PlaceOf(const Stmt& stmt);
/// Calls `f` for each array that a statement of matrices or a copy uses, and where; not for others.
void ForEachMatrixPlace(Stmt& stmt, llvm::function_ref<void(BufferId, Address&)> f);
/// Calls `f` for each address of the region and of those below.
void ForEachAddress(Region& region, llvm::function_ref<void(Address&)> f);

}  // namespace hlo::kernel

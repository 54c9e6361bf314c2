// Collectives as passes see them: what they reduce by, among whom.
#pragma once
#include "ir/infer/groups.h"
#include "passes/rewrite/maker.h"

namespace hlo {

/// The operation of an all-reduce or reduce-scatter; nothing for others, and where it is more than one
/// operation.
std::optional<OpKind> CollectiveOp(const Instruction& inst);

/// An all-reduce, reduce-scatter or all-gather that passes may move or replace: of one array, no control
/// edges, layout unconstrained.
bool IsPlainCollective(const Instruction& inst);

/// Both exchange among the same devices, groups written the same way.
bool SameGroups(const Instruction& a, const Instruction& b);

/// The groups as lists; one of all devices where none are written. Nothing if their number is unknown.
std::optional<std::vector<Dims>> GroupLists(const Instruction& inst);

/// The devices of every group in the order of its members, a device being replica · partitions + partition.
/// Nothing if groups are unknown, do not take in all devices, or differ in size.
std::optional<std::vector<Dims>> DeviceGroups(const Instruction& inst);
/// Groups in which everybody gets the result of two reductions, one after the other; nothing if there are
/// none.
std::optional<std::vector<Dims>> ComposedGroups(const std::vector<Dims>& inner,
                                                const std::vector<Dims>& outer);
/// A scalar: the number of the device among the members of its group. DeviceGroups must be known.
Instruction* MemberIndex(Maker& make, const Instruction& inst);
/// The scalar is, on every device, its number among the members of its group times `size`.
bool IsMemberOffset(const Instruction& scalar, const Instruction& inst, int64_t size);

/// A channel that no instruction of the module uses.
int64_t NextChannelId(const Module& module);

/// The same collective of other operands, with its backend config and frontend attributes.
Instruction* CollectiveLike(Maker& make, const Instruction& like, const Shape& shape,
                            llvm::ArrayRef<Instruction*> operands);

}  // namespace hlo

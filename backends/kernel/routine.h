// Routines: loops and branches around kernels, compiled into one function.
#pragma once
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "backends/kernel/kernel.h"

namespace hlo::kernel {

using SlotId = int32_t;  // s0, s1, …: position among the routine's slots

/// Bytes that the steps of a routine work on.
struct Slot {
  int64_t size = 0;
  /// A scalar or small array that shares no byte with another slot, so that it may stay in registers while
  /// the routine runs: it is read from memory before and written back after, if the routine writes it and
  /// somebody may read it then.
  bool scalar = false;
  bool written = false;
  /// Scalar and for the routine alone: nothing of it lies in memory. Such slots come last.
  bool local = false;
  /// Scalar and not written: what it always holds, if that is known, in 1, 2, 4 or 8 bytes.
  std::optional<uint64_t> constant = {};
  bool operator==(const Slot&) const = default;
};

/// Of the first so many buffers of a call a mask says whether they are written as a whole (Defines() in
/// visit.h).
inline constexpr size_t kDefinedBits = 64;

struct RoutineStep;
using RoutineBody = std::vector<RoutineStep>;

/// Steps in a row of one function: what LLVM does to a block takes time with the square of its length. More
/// are divided among functions, where nothing polls; no slot of such a routine may be scalar.
inline constexpr size_t kMostSteps = 1024;

/// call k7(s0, s1): a kernel as a whole; one slot per buffer.
struct CallStep {
  int32_t kernel;
  llvm::SmallVector<SlotId, 4> slots;
  int64_t extent;                            // of the kernel's parallel loops
  llvm::SmallVector<int64_t, 4> bytes = {};  // of the buffers; only SplitSlots() reads them
  uint64_t defined = 0;  // bit i: buffer i is written as a whole and not read (Defines() in visit.h)
};
/// host 2(s0, s1): a function of whoever runs the routine, by number; the rest is as in CallStep.
struct HostStep {
  int32_t number;
  llvm::SmallVector<SlotId, 4> slots;
  llvm::SmallVector<int64_t, 4> bytes = {};
  uint64_t defined = 0;
};
/// copy s1 = s0: their first bytes; they may be the same slot, which does nothing, or share bytes.
struct CopyStep {
  SlotId from, to;
  int64_t bytes;
};
/// while s3 { condition } do { body }: as long as the pred s3 is true after the condition.
struct WhileStep {
  SlotId predicate;
  RoutineBody condition, body;
};
/// branch s2 { … } { … }: by a pred the first branch if it is true, by an s32 the branch with that number and
/// the last if there is none.
struct BranchStep {
  SlotId selector;
  bool by_predicate;
  std::vector<RoutineBody> branches;
};

struct RoutineStep {
  std::variant<CallStep, HostStep, CopyStep, WhileStep, BranchStep> step;
};

/// What a routine may call of whoever runs it. `poll` says whether to stop; host steps call the function of
/// their number with `what` and the pointers of their slots.
struct HostCall {
  void (*run)(const void* what, void* const* arrays);
  const void* what;
};
struct RoutineHost {
  int64_t (*poll)(void* context);
  const HostCall* calls;
};

struct Routine {
  std::vector<Slot> slots;
  RoutineBody body;
  bool polls = true;  // false: nobody can stop it, and it needs no host
};

/// Gives each value that comes and goes in a scalar slot a slot of its own, so that a register holds numbers
/// of one type: memory plans put a counter where a float was. Values that the routine finds in memory or
/// leaves there keep theirs; the others' slots are local.
void SplitSlots(Routine& routine);

/// One step per line; kernels by number.
std::string ToString(const Routine& routine);
/// Calls `visit` with every mention of a slot.
void ForEachSlot(RoutineBody& body, llvm::function_ref<void(SlotId&)> visit);
/// Calls `visit` with every call of a kernel.
void ForEachCall(const RoutineBody& body, llvm::function_ref<void(const CallStep&)> visit);

}  // namespace hlo::kernel

// Which steps of a program run beside others.
#pragma once
#include <vector>

#include "backends/compile/program.h"
#include "backends/gpu/target/target.h"
#include "llvm/ADT/DenseMap.h"

namespace hlo::gpu {

enum class SideStreams : uint8_t {
  Off,   // all steps run one after the other
  Auto,  // those that take long enough run beside what does not need them, as far as is known
  All    // all that can do
};

/// Where a step is asked for. Events are numbers of the program.
struct StepPlace {
  int32_t stream = 0;                   // 0: the first one, of which the host reads and writes
  int32_t event = -1;                   // recorded behind it; -1: none
  llvm::SmallVector<int32_t, 2> waits;  // events before it
};
/// Other streams than the first do nothing before a sequence begins, nor after it ends.
struct SequenceStreams {
  int32_t start = -1;                   // an event that the first stream records before all steps; -1: none
  std::vector<StepPlace> steps;         // as the sequence has them
  llvm::SmallVector<int32_t, 2> joins;  // events that the first stream waits for behind all steps
};
struct StreamPlan {
  static constexpr int32_t kStreams = 4;
  llvm::DenseMap<const compile::Sequence*, SequenceStreams> sequences;  // of others all is on the first
  int32_t streams = 1, events = 0;                                      // that a run needs
};

/// Steps of a sequence run in any order that keeps reads and writes of the same bytes in theirs. Loops and
/// branches run alone.
StreamPlan PlanStreams(const compile::Program& program, const Target& target, SideStreams side);

}  // namespace hlo::gpu

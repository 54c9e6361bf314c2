// Collectives between GPUs as NVIDIA's library takes them.
#pragma once
#include <vector>

#include "backends/gpu/libraries/library.h"
#include "backends/gpu/libraries/nccl_api.h"
#include "ir/attrs.h"

namespace hlo::gpu {

/// What is sent of an array: all of it, or to each member so much.
struct CollectivePart {
  NcclType type = NcclType::U8;
  int64_t count = 0;  // of these
  int64_t bytes = 0;
};

/// An operation of several members, one for each part; data are moved as bytes.
struct LibraryCollective {
  OpKind kind = OpKind::AllReduce;
  NcclReduction reduction = NcclReduction::Sum;
  std::vector<CollectivePart> parts;
  std::vector<Dims> pairs;  // of a permutation: from which rank to which
  bool apart = false;       // all-to-all: each operand goes to another member, as a whole
};

bool IsLibraryCollective(const Instruction& inst);
/// Declines what the library does not do, or not to arrays that lie so.
Result<LibraryCollective> LibraryCollectiveOf(const Instruction& inst);
std::string ToString(const LibraryCollective& collective);

}  // namespace hlo::gpu

// How a BufferAssignment is computed; for its own sources.
#pragma once
#include "passes/analysis/buffer_assignment.h"

namespace hlo {

/// Values that go into one allocation at one offset.
struct Group {
  std::vector<Place> values;  // by definition
  std::vector<Place> last;    // of these, those in use until `live` ends
  int64_t size = 0;
  int64_t memory_space = 0;
  LiveRange live;
  AllocationKind kind = AllocationKind::Temp;
  bool live_out = false;
  Place owner = kNoPlace;  // the entry parameter or constant
  size_t merged_into = SIZE_MAX;
  bool in_result = false;  // it lies where a result will
  [[nodiscard]] bool IsTemp() const { return kind == AllocationKind::Temp && merged_into == SIZE_MAX; }
};

/// Computes a BufferAssignment step by step.
class BufferAssigner {
 public:
  BufferAssigner(BufferAssignment& result, const BufferOptions& options)
      : result_(result),
        options_(options),
        flow_(*result.flow_),
        timeline_(*result.timeline_),
        ordering_(flow_, timeline_, options.order),
        sharing_(flow_, timeline_, options.order, options.may_write_over),
        ranges_(ValueLiveRanges(flow_, timeline_)) {}

  Status Run() {
    result_.slices_.resize(flow_.place_count());
    HLO_CHECK_OK(MakeGroups());
    MarkEntry();
    if (options_.order == Ordering::Kind::Sequential) ShareWithOperands();
    Fixed();
    HLO_CHECK_OK(options_.order == Ordering::Kind::Sequential ? PackTemps() : ReuseAllocations());
    HLO_CHECK_OK(TupleTables());
    HLO_CHECK_OK(ThreadLocals());
    Finish();
    return {};
  }

 private:
  Result<int64_t> Size(Place place) const {
    const int64_t bytes = BufferBytes(flow_.shape(place));
    if (bytes >= 0) return bytes;
    return Error("pass-buffers-size", flow_.instruction(place).loc(),
                 "the size of {0}, {1}, cannot be counted in 64 bits", flow_.Name(place), flow_.shape(place));
  }
  [[nodiscard]] const LiveRange& Range(Place place) const { return ranges_[static_cast<size_t>(place)]; }
  size_t AddAllocation(AllocationKind kind, int64_t size, int64_t memory_space) {
    Allocation allocation;
    allocation.kind = kind;
    allocation.size = size;
    allocation.memory_space = memory_space;
    result_.allocations_.push_back(std::move(allocation));
    return result_.allocations_.size() - 1;
  }
  void Assign(const Group& group, size_t allocation, int64_t offset) {
    for (const Place value : group.values) AssignValue(value, allocation, offset, group.size);
    if (group.live_out) result_.allocations_[allocation].live_out = true;
  }
  void AssignValue(Place value, size_t allocation, int64_t offset, int64_t size) {
    result_.slices_[static_cast<size_t>(value)] = {static_cast<int64_t>(allocation), offset, size};
    result_.allocations_[allocation].values.push_back(
        {&flow_.instruction(value), value, 0, offset, size, Range(value)});
  }

  Status TooLarge() const {
    return Error("pass-buffers-size", flow_.module().entry()->loc(),
                 "the temporaries of module {0} need more bytes than can be addressed",
                 flow_.module().name());
  }
  Status MakeGroups();
  void MarkEntry();
  void ShareWithOperands();
  bool MayTakePlace(const Group& operand, const Group& group, Place result) const;
  size_t GroupOf(Place value);
  void Fixed();
  Status PackTemps();
  void PlaceInResults();
  Status PackHeap(AllocationKind kind, int64_t memory_space, llvm::ArrayRef<Group> members);
  Status ReuseAllocations();
  Status JoinTemps();
  Status TupleTables();
  Status ThreadLocals();
  void Finish();

  BufferAssignment& result_;
  const BufferOptions& options_;
  const Dataflow& flow_;
  const Timeline& timeline_;
  Ordering ordering_;  // what must share a buffer may, as passes have seen to that
  Ordering sharing_;   // and what else may
  std::vector<LiveRange> ranges_;
  std::vector<Group> groups_;
  llvm::DenseMap<Place, size_t> group_of_;  // by Dataflow::Buffer
};

}  // namespace hlo

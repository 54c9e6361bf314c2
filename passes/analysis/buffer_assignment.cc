#include "passes/analysis/buffer_assigner.h"

#include <map>

#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/MathExtras.h"
#include "passes/analysis/heap_rooms.h"

namespace hlo {
namespace {

int64_t MemorySpace(const Shape& shape) {
  return shape.IsArray() && shape.has_layout() ? shape.layout().memory_space : 0;
}

}  // namespace

Status BufferAssigner::MakeGroups() {
  auto classes = BufferClasses(flow_, timeline_);
  if (const auto conflict = FindConflict(ordering_, classes)) {
    const Instruction& first = flow_.instruction(conflict->first);
    const char* reason = conflict->read_only
                             ? "{0} must share a buffer with {1}, but must not be overwritten"
                             : "{0} must share a buffer with {1}, but is still in use when that is written";
    Diagnostic error = MakeError("pass-buffers-conflict", first.loc(), reason, flow_.Name(conflict->first),
                                 flow_.Name(conflict->second));
    error.Note(flow_.instruction(conflict->second).loc(), "the other value is defined here");
    error.Note("pass 'copy-insertion' adds the copies that are missing");
    return Error(std::move(error));
  }
  for (std::vector<Place>& values : classes) {
    Group group;
    for (const Place value : values) {
      HLO_TRY(const int64_t size, Size(value));
      group.size = std::max(group.size, size);
      group.live = group.live.Hull(Range(value));
      const Instruction& inst = flow_.instruction(value);
      if (inst.kind() == OpKind::Constant) group.kind = AllocationKind::Constant;
      if (inst.kind() == OpKind::Parameter && inst.parent()->IsEntry())
        group.kind = AllocationKind::Parameter;
      if (group.kind != AllocationKind::Temp && group.owner == kNoPlace) group.owner = value;
    }
    group.memory_space = MemorySpace(flow_.shape(values.front()));
    llvm::copy_if(values, std::back_inserter(group.last),
                  [&](Place value) { return Range(value).end == group.live.end; });
    group.values = std::move(values);
    group_of_[flow_.Buffer(group.values.front())] = groups_.size();
    groups_.push_back(std::move(group));
  }
  return {};
}

void BufferAssigner::MarkEntry() {
  const Computation* entry = flow_.module().entry();
  if (!entry) return;
  for (const Place p : flow_.Parts(flow_.Of(*entry->root()))) {
    const auto it = group_of_.find(flow_.Buffer(p));
    if (it == group_of_.end()) continue;
    Group& group = groups_[it->second];
    group.live_out = true;
    if (group.kind == AllocationKind::Temp) group.kind = AllocationKind::LiveOut;
  }
}

size_t BufferAssigner::GroupOf(Place value) {
  const auto it = group_of_.find(flow_.Buffer(value));
  if (it == group_of_.end()) return SIZE_MAX;
  size_t at = it->second;
  while (groups_[at].merged_into != SIZE_MAX) at = groups_[at].merged_into;
  return it->second = at;
}

bool BufferAssigner::MayTakePlace(const Group& operand, const Group& group, Place result) const {
  if (&operand == &group || operand.kind != AllocationKind::Temp) return false;
  if (group.kind != AllocationKind::Temp && group.kind != AllocationKind::LiveOut) return false;
  if (operand.size != group.size || operand.size == 0 || operand.memory_space != group.memory_space)
    return false;
  if (operand.live.end != group.live.start) return false;
  // The others were read for the last time before that.
  return llvm::all_of(operand.last, [&](Place value) { return sharing_.Before(value, result); });
}

/// A result takes the place of an operand that dies, is equal in shape, and is read elementwise.
void BufferAssigner::ShareWithOperands() {
  std::vector<Place> starts;  // first values of groups, as they come into being
  for (const Group& group : groups_) starts.push_back(group.values.front());
  llvm::sort(starts,
             [&](Place a, Place b) { return std::pair(Range(a).start, a) < std::pair(Range(b).start, b); });
  for (const Place result : starts) {
    const Instruction& inst = flow_.instruction(result);
    const bool elementwise = inst.info().Is(kElementwise) && inst.kind() != OpKind::Copy;
    if (!elementwise && inst.kind() != OpKind::Fusion) continue;
    for (const Instruction* operand : inst.operands()) {
      const size_t to = GroupOf(result), from = GroupOf(flow_.Of(*operand));
      if (from == SIZE_MAX || !MayTakePlace(groups_[from], groups_[to], result)) continue;
      Group &kept = groups_[to], &gone = groups_[from];
      llvm::append_range(gone.values, kept.values);
      kept.values = std::exchange(gone.values, {});
      if (kept.live.end == gone.live.end) llvm::append_range(kept.last, gone.last);
      kept.live = kept.live.Hull(gone.live);
      gone.merged_into = to;
      break;
    }
  }
}

/// Parameters, constants and, in a schedule, results: each has an allocation of its own.
void BufferAssigner::Fixed() {
  const auto own = [&](const Group& group) {
    const size_t at = AddAllocation(group.kind, group.size, group.memory_space);
    Assign(group, at, 0);
    return at;
  };
  const Computation* entry = flow_.module().entry();
  if (!entry) return;
  for (const Instruction* parameter : entry->parameters()) {
    for (const Place p : flow_.Own(*parameter)) {
      size_t at = 0;
      if (const size_t group = GroupOf(p); group != SIZE_MAX) {
        if (result_.slices_[static_cast<size_t>(p)].allocation >= 0) continue;
        at = own(groups_[group]);
      } else {
        at = AddAllocation(AllocationKind::Parameter, BufferBytes(flow_.shape(p)), 0);
        AssignValue(p, at, 0, result_.allocations_[at].size);
      }
      result_.allocations_[at].parameter = parameter->attr<ParameterAttrs>().number;
      result_.allocations_[at].part = p;
    }
  }
  for (const Group& group : groups_)
    if (group.kind == AllocationKind::Constant) own(group);
  if (options_.order == Ordering::Kind::Sequential)
    for (const Group& group : groups_)
      if (group.kind == AllocationKind::LiveOut) own(group);
}

Status BufferAssigner::PackHeap(AllocationKind kind, int64_t memory_space, llvm::ArrayRef<Group> members) {
  std::vector<HeapBuffer> buffers;
  const int64_t zone = kind == AllocationKind::Temp ? options_.red_zone : 0;
  for (const Group& group : members) {
    if (group.size > INT64_MAX - 2 * zone) return TooLarge();
    buffers.push_back({group.size + 2 * zone, group.live});
  }
  const auto heap = PlaceBuffers(buffers, options_.alignment);
  if (!heap) return TooLarge();
  const size_t at = AddAllocation(kind, heap->size, memory_space);
  result_.allocations_[at].heap_order = heap->order;
  result_.allocations_[at].lower_bound = LiveBytesPeak(buffers).bytes;
  for (size_t i = 0; i < members.size(); ++i) Assign(members[i], at, heap->offsets[i] + zone);
  return {};
}

/// What fits into memory of results before they are there.
void BufferAssigner::PlaceInResults() {
  std::vector<HeapRoom> rooms;
  std::vector<size_t> allocations;
  for (const Group& group : groups_) {
    if (group.kind != AllocationKind::LiveOut || group.merged_into != SIZE_MAX || group.memory_space != 0)
      continue;
    rooms.push_back({group.size, group.live.start});
    allocations.push_back(
        static_cast<size_t>(result_.slices_[static_cast<size_t>(group.values.front())].allocation));
  }
  std::vector<HeapBuffer> buffers;
  for (const Group& group : groups_)
    buffers.push_back({group.IsTemp() && group.memory_space == 0 ? group.size : 0, group.live});
  const std::vector<RoomPlace> places = PlaceInRooms(rooms, buffers, options_.alignment);
  for (size_t i = 0; i < groups_.size(); ++i) {
    if (places[i].room < 0) continue;
    groups_[i].in_result = true;
    Assign(groups_[i], allocations[static_cast<size_t>(places[i].room)], places[i].offset);
  }
}

Status BufferAssigner::PackTemps() {
  if (options_.use_results) PlaceInResults();
  std::map<int64_t, std::vector<Group>> spaces;
  for (const Group& group : groups_)
    if (group.IsTemp() && !group.in_result && group.size > 0) spaces[group.memory_space].push_back(group);
  for (const auto& [space, members] : spaces) HLO_CHECK_OK(PackHeap(AllocationKind::Temp, space, members));
  return {};
}

/// Tables of the program's result are the caller's to read; the others share one heap.
Status BufferAssigner::TupleTables() {
  llvm::DenseSet<Place> out;
  if (const Computation* entry = flow_.module().entry())
    for (const Place p : flow_.Parts(flow_.Of(*entry->root()))) out.insert(flow_.Value(p));
  std::vector<Group> tables;
  for (Place p = 0; p < static_cast<Place>(flow_.place_count()); ++p) {
    if (!flow_.Defines(p) || !flow_.shape(p).IsTuple() || flow_.shape(p).tuple_size() == 0) continue;
    BufferSlice& slice = result_.slices_[static_cast<size_t>(p)];
    if (slice.allocation >= 0) {
      if (out.contains(p)) result_.allocations_[static_cast<size_t>(slice.allocation)].live_out = true;
      continue;
    }
    Group group;
    group.values = {p};
    group.size = BufferBytes(flow_.shape(p));
    group.live = Range(p);
    group.live_out = out.contains(p);
    if (group.live_out)
      Assign(group, AddAllocation(AllocationKind::LiveOut, group.size, 0), 0);
    else
      tables.push_back(std::move(group));
  }
  return tables.empty() ? Status() : PackHeap(AllocationKind::TupleTable, 0, tables);
}

/// Functions inside operations, other than the bodies of fusions, have their values side by side.
Status BufferAssigner::ThreadLocals() {
  const CallGraph& calls = flow_.calls();
  llvm::DenseSet<const Computation*> fused;
  for (const CallGraph::Node& node : llvm::reverse(calls.nodes())) {
    const Computation& computation = *node.computation;
    if (node.context != CallContext::Embedded) continue;
    // Code inside fusions is generated as a whole.
    if (llvm::all_of(node.sites, [&](const CallSite& site) {
          return site.caller->kind() == OpKind::Fusion || fused.contains(site.caller->parent());
        })) {
      fused.insert(&computation);
      continue;
    }
    const size_t at = AddAllocation(AllocationKind::ThreadLocal, 0, 0);
    Allocation& allocation = result_.allocations_[at];
    allocation.computation = &computation;
    const LiveRange always{0, std::max<int64_t>(timeline_.length() - 1, 0)};
    for (const Instruction* inst : computation.PostOrder()) {
      if (inst->kind() == OpKind::Parameter || inst->kind() == OpKind::Tuple ||
          inst->kind() == OpKind::GetTupleElement)
        continue;
      int64_t leaf = 0;
      bool counted = true;
      ForEachLeaf(inst->shape(), [&](const ShapeIndex&, const Shape& shape) {
        const int64_t number = leaf++;
        const int64_t size = BufferBytes(shape);
        const int64_t offset = (allocation.size + 15) / 16 * 16;
        counted = counted && size >= 0 && offset >= 0 && !llvm::AddOverflow(offset, size, allocation.size);
        if (!counted || size == 0) return;
        allocation.values.push_back({inst, kNoPlace, number, offset, size, always});
        result_.local_slices_[{inst, number}] = {static_cast<int64_t>(at), offset, size};
      });
      if (!counted)
        return Error("pass-buffers-size", inst->loc(), "the size of %{0}, {1}, cannot be counted in 64 bits",
                     inst->name(), inst->shape());
    }
  }
  return {};
}

void BufferAssigner::Finish() {
  std::vector<HeapBuffer> temps;
  for (Allocation& allocation : result_.allocations_) {
    llvm::sort(allocation.values, [&](const AssignedValue& a, const AssignedValue& b) {
      const auto key = [&](const AssignedValue& v) {
        const int64_t depth = v.place == kNoPlace ? 0 : flow_.Depth(v.place);
        return std::tuple(v.offset, v.live.start, v.instruction->name(), depth);
      };
      return key(a) < key(b);
    });
  }
  for (const Group& group : groups_)
    if (group.IsTemp() && !group.in_result)
      temps.push_back(
          {(group.size + options_.alignment - 1) / options_.alignment * options_.alignment, group.live});
  const HeapPeak peak = LiveBytesPeak(temps);
  result_.peak_ = {peak.bytes, peak.time, timeline_.length() > 0 ? &timeline_.At(peak.time) : nullptr};
}

Result<BufferAssignment> BufferAssignment::Compute(const Module& module, const BufferOptions& options) {
  BufferAssignment result(options);
  result.calls_ = std::make_unique<CallGraph>(module);
  if (const Computation* shared = result.calls_->FirstShared()) {
    Diagnostic error = MakeError("pass-buffers-shared", shared->loc(),
                                 "computation %{0} is called more than once, but its buffers serve one call",
                                 shared->name());
    for (const CallSite& site : result.calls_->Of(*shared).sites)
      error.Note(site.caller->loc(), llvm::formatv("called by %{0}", site.caller->name()).str());
    error.Note("pass 'flatten-call-graph' gives each call its own");
    return Error(std::move(error));
  }
  result.flow_ = std::make_unique<Dataflow>(module, *result.calls_);
  result.timeline_ = std::make_unique<Timeline>(*result.flow_, ScheduleOf(module));
  HLO_CHECK_OK(BufferAssigner(result, result.options_).Run());
  return result;
}

BufferSlice BufferAssignment::Of(const Instruction& instruction, llvm::ArrayRef<int64_t> index) const {
  const Place place = flow_->Of(instruction, index);
  if (place != kNoPlace) return Of(place);
  int64_t leaf = 0;
  BufferSlice slice;
  ForEachLeaf(instruction.shape(), [&](const ShapeIndex& at, const Shape&) {
    if (llvm::ArrayRef(at) == index) slice = local_slices_.lookup({&instruction, leaf});
    ++leaf;
  });
  return slice;
}

ShapeIndex BufferAssignment::IndexOf(const AssignedValue& value) const {
  if (value.place != kNoPlace) return flow_->IndexOf(value.place);
  int64_t leaf = 0;
  ShapeIndex index;
  ForEachLeaf(value.instruction->shape(), [&](const ShapeIndex& at, const Shape&) {
    if (leaf++ == value.leaf) index = at;
  });
  return index;
}

int64_t BufferAssignment::Total(AllocationKind kind) const {
  int64_t sum = 0;
  for (const Allocation& allocation : allocations_)
    if (allocation.kind == kind) sum += allocation.size;
  return sum;
}

int64_t BufferAssignment::Total() const {
  int64_t sum = 0;
  for (const Allocation& allocation : allocations_) sum += allocation.size;
  return sum;
}

}  // namespace hlo

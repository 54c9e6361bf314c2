#include "backends/cpu/routine_builder.h"

#include <cstring>

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

namespace hlo::cpu {
namespace {

/// A copy of more bytes deserves several threads, or at least a look at the interrupt flag around it.
constexpr int64_t kMaxCopy = int64_t{64} << 10;
/// Loops and branches within each other in one function: LLVM's passes over loops take time with the square
/// of the depth. What lies around them goes step by step.
constexpr int kMaxDepth = 32;

/// Arrays from that number on are written as a whole.
uint64_t WrittenFrom(size_t first) { return first < kernel::kDefinedBits ? ~uint64_t{0} << first : 0; }

}  // namespace

kernel::SlotId RoutineBuilder::SlotOf(const Slice& slice, bool written) {
  const auto [it, added] = numbers_.try_emplace({slice.buffer, slice.offset, slice.size},
                                                static_cast<kernel::SlotId>(slices_.size()));
  if (added) {
    slices_.push_back(slice);
    routine_.slots.push_back({slice.size});
  }
  routine_.slots[static_cast<size_t>(it->second)].written |= written;
  return it->second;
}

bool RoutineBuilder::Copy(const Slice& from, const Slice& to) {
  if (from.buffer == to.buffer && from.offset == to.offset) return true;
  if (!whole_ && (to.size > kMaxCopy || from.Overlaps(to))) return false;
  at_->push_back({kernel::CopyStep{SlotOf(from, false), SlotOf(to, true), to.size}});
  return true;
}

bool RoutineBuilder::Call(const KernelCall& call, int32_t code) {
  if (!whole_ && call.extent > call.grain) return false;
  for (const auto& [from, to] : call.copies)
    if (!Copy(from, to)) return false;
  if (host_ != nullptr && host_->cuts_kernels && call.extent > call.grain) {
    const int32_t number = host_->count++;
    AddHost(number, call.buffers, call.first_result, call.defined);
    host_->kernels.push_back({number, code, call.extent, call.grain});
    return true;
  }
  kernel::CallStep step{code, {}, call.extent, {}, call.defined};
  for (size_t i = 0; i < call.buffers.size(); ++i) {
    step.slots.push_back(SlotOf(call.buffers[i], i >= call.first_result));
    step.bytes.push_back(call.buffers[i].size);
  }
  at_->push_back({std::move(step)});
  return true;
}

bool RoutineBuilder::Host(kernel::HostCall call, llvm::ArrayRef<Slice> slices, size_t first_result) {
  if (whole_) return false;
  AddHost(static_cast<int32_t>(hosts_.size()), slices, first_result, WrittenFrom(first_result));
  hosts_.push_back(call);
  return true;
}

void RoutineBuilder::AddHost(int32_t number, llvm::ArrayRef<Slice> slices, size_t first_result,
                             uint64_t defined) {
  kernel::HostStep step{number, {}, {}, 0};
  for (size_t i = 0; i < slices.size(); ++i) {
    step.slots.push_back(SlotOf(slices[i], i >= first_result));
    step.bytes.push_back(slices[i].size);
    if (i < kernel::kDefinedBits) step.defined |= defined & uint64_t{1} << i;
  }
  at_->push_back({std::move(step)});
}

bool RoutineBuilder::Add(const Step& step) {
  if (RunnerOf(step).AddTo(*this)) return true;
  if (host_ == nullptr || !obstacle_(step).empty()) return false;
  const HostArrays arrays = ArraysOf(step);
  const int32_t number = host_->count++;
  AddHost(number, arrays.slices, arrays.results, WrittenFrom(arrays.results));
  host_->steps.emplace_back(number, &step);
  if (step.kind == StepKind::Chain)
    host_->kernels.push_back({number, RunnerOf(step).code(), step.call.extent, step.call.grain});
  return true;
}

bool RoutineBuilder::AddAll(llvm::ArrayRef<std::unique_ptr<Step>> sequence, kernel::RoutineBody& body) {
  if (!whole_ && (depth_ == kMaxDepth || sequence.size() > kernel::kMostSteps)) return false;
  kernel::RoutineBody* outside = std::exchange(at_, &body);
  ++depth_;
  const auto* refused = llvm::find_if(sequence, [&](const auto& step) { return !Add(*step); });
  --depth_;
  at_ = outside;
  in_memory_ |= whole_ && body.size() > kernel::kMostSteps;
  if (refused == sequence.end()) return true;
  if (refused_ == nullptr) refused_ = refused->get();
  return false;
}

const Step* RoutineBuilder::AddAll(llvm::ArrayRef<std::unique_ptr<Step>> sequence) {
  AddAll(sequence, *at_);
  return refused_;
}

bool RoutineBuilder::While(const Slice& predicate, const Sequence& condition, const Sequence& body,
                           llvm::ArrayRef<Slice> results, llvm::ArrayRef<std::pair<Slice, Slice>> constants) {
  if (at_ == &routine_.body) {
    if (!whole_) results_.assign(results.begin(), results.end());
    for (const auto& [from, to] : constants) {
      if (!Copy(from, to)) return false;
      constants_.push_back(from);
    }
  }
  kernel::WhileStep step{SlotOf(predicate, false), {}, {}};
  if (!AddAll(condition, step.condition) || !AddAll(body, step.body)) return false;
  at_->push_back({std::move(step)});
  return true;
}

bool RoutineBuilder::Branch(const Slice& selector, bool by_predicate, llvm::ArrayRef<Sequence> branches) {
  kernel::BranchStep step{SlotOf(selector, false), by_predicate, {}};
  for (const Sequence& branch : branches)
    if (!AddAll(branch, step.branches.emplace_back())) return false;
  at_->push_back({std::move(step)});
  return true;
}

namespace {

/// What the slice always holds, if it lies in a constant and has the size of a number.
std::optional<uint64_t> ConstantOf(const Slice& slice, llvm::ArrayRef<Buffer> buffers) {
  if (slice.buffer < 0 || slice.size > kMaxConstant ||
      !llvm::isPowerOf2_64(static_cast<uint64_t>(slice.size)))
    return std::nullopt;
  const Buffer& buffer = buffers[static_cast<size_t>(slice.buffer)];
  if (buffer.kind != BufferKind::Constant) return std::nullopt;
  uint64_t bits = 0;
  std::memcpy(&bits, buffer.constant.data() + slice.offset, static_cast<size_t>(slice.size));
  return bits;
}

/// Tells which slices share bytes with one of many.
class Overlaps {
 public:
  explicit Overlaps(llvm::ArrayRef<Slice> slices) : slices_(slices) {
    llvm::erase_if(slices_, [](const Slice& s) { return s.buffer < 0; });
    llvm::sort(slices_, [](const Slice& a, const Slice& b) { return Begin(a) < Begin(b); });
    for (size_t i = 0; i < slices_.size(); ++i) {
      const int64_t end = slices_[i].offset + slices_[i].size;
      ends_.push_back(i > 0 && slices_[i - 1].buffer == slices_[i].buffer ? std::max(ends_.back(), end)
                                                                          : end);
    }
  }
  [[nodiscard]] bool Any(const Slice& slice) const {
    const auto* behind = llvm::partition_point(slices_, [&](const Slice& s) {
      return Begin(s) < std::pair(slice.buffer, slice.offset + slice.size);
    });
    if (behind == slices_.begin()) return false;
    const auto last = static_cast<size_t>(behind - slices_.begin()) - 1;
    return slices_[last].buffer == slice.buffer && slice.offset < ends_[last];
  }

 private:
  static std::pair<int32_t, int64_t> Begin(const Slice& s) { return {s.buffer, s.offset}; }
  llvm::SmallVector<Slice, 8> slices_;
  std::vector<int64_t> ends_;  // the last one of the slices of its buffer up to each
};

}  // namespace

std::pair<kernel::Routine, std::vector<Slice>> RoutineBuilder::Finish(llvm::ArrayRef<Buffer> buffers) && {
  kernel::Routine routine{{}, std::move(routine_.body), routine_.polls};
  std::vector<Slice> slices;
  std::vector<kernel::SlotId> renumbered(slices_.size());
  const auto add = [&](size_t old) {
    renumbered[old] = static_cast<kernel::SlotId>(slices.size());
    slices.push_back(slices_[old]);
    routine.slots.push_back(routine_.slots[old]);
  };
  const Overlaps results(results_);
  for (size_t slot = 0; slot < slices_.size(); ++slot)
    routine_.slots[slot].written &= results.Any(slices_[slot]);
  // In the order of `numbers_` what shares bytes forms a row of neighbours.
  for (auto begin = numbers_.begin(); begin != numbers_.end();) {
    const Slice& first = slices_[static_cast<size_t>(begin->second)];
    int64_t to = first.offset + first.size;
    bool scalar = first.buffer >= 0 && !in_memory_;
    auto end = begin;
    for (; end != numbers_.end(); ++end) {
      const Slice& slice = slices_[static_cast<size_t>(end->second)];
      if (slice.buffer != first.buffer || (end != begin && slice.offset >= to)) break;
      to = std::max(to, slice.offset + slice.size);
      scalar &= slice.offset == first.offset;
    }
    const int64_t size = to - first.offset;
    scalar &= size <= kMaxScalar;
    const size_t slot = slices.size();
    for (; begin != end; ++begin) {
      const auto old = static_cast<size_t>(begin->second);
      if (!scalar || slices.size() == slot) add(old);
      renumbered[old] = static_cast<kernel::SlotId>(slices.size()) - 1;
      if (!scalar) continue;
      slices[slot].size = routine.slots[slot].size = size;
      routine.slots[slot].scalar = true;
      routine.slots[slot].written |= routine_.slots[old].written;
    }
  }
  for (size_t slot = 0; slot < slices.size(); ++slot)
    if (routine.slots[slot].scalar && !routine.slots[slot].written &&
        (whole_ || llvm::is_contained(constants_, slices[slot])))
      routine.slots[slot].constant = ConstantOf(slices[slot], buffers);
  kernel::ForEachSlot(routine.body, [&](kernel::SlotId& id) { id = renumbered[static_cast<size_t>(id)]; });
  if (!in_memory_) kernel::SplitSlots(routine);
  return {std::move(routine), std::move(slices)};
}

}  // namespace hlo::cpu

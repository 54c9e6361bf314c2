#include "backends/kernel/interpret_memory.h"

#include "backends/kernel/threads.h"

namespace hlo::kernel {
namespace {

template <class... Args>
tl::unexpected<Diagnostic> Fail(const char* format, Args&&... args) {
  return Error("kernel-invalid", {}, format, std::forward<Args>(args)...);
}

}  // namespace

KernelMemory::KernelMemory(const Kernel& kernel, llvm::ArrayRef<void*> buffers, size_t threads)
    : kernel_(kernel), arrays_(kernel.buffers.size()) {
  const bool shared = UsesThreads(kernel);
  for (size_t i = 0; i < arrays_.size(); ++i) {
    const Buffer& buffer = kernel.buffers[i];
    Array& array = arrays_[i];
    array.width = static_cast<size_t>(Info(buffer.type).host_bytes());
    const auto count = static_cast<size_t>(buffer.count);
    if (buffer.space == Space::Global) {
      array.data = static_cast<uint8_t*>(buffers[i]);
    } else {
      array.own.resize(count * array.width * (buffer.IsLocal() ? threads : 1));
      array.data = array.own.data();
    }
    if (buffer.IsLocal()) array.written.resize(count * threads);
    if (!buffer.IsLocal() && buffer.written && shared) array.marks.resize(count);
  }
}

void KernelMemory::BeginBlock() {
  ++block_;
  epoch_ = 0;
  for (size_t i = 0; i < arrays_.size(); ++i) {
    if (kernel_.buffers[i].space == Space::Shared) arrays_[i].marks.assign(arrays_[i].marks.size(), {});
    arrays_[i].written.assign(arrays_[i].written.size(), false);
  }
}

bool KernelMemory::IsConcurrent(const Mark& mark, int32_t thread) const {
  if (mark.block < 0) return false;
  return mark.other_blocks || mark.block != block_ || (mark.epoch == epoch_ && mark.thread != thread);
}

void KernelMemory::Add(Mark& mark, int32_t thread) const {
  mark.other_blocks |= mark.block >= 0 && mark.block != block_;
  const bool with_others = mark.block == block_ && mark.epoch == epoch_ && mark.thread != thread;
  mark.block = block_, mark.epoch = epoch_;
  mark.thread = with_others ? Mark::kSeveral : thread;
}

Status KernelMemory::CheckRaces(BufferId buffer, int64_t element, int32_t thread, Use use) {
  Marks& marks = arrays_[static_cast<size_t>(buffer)].marks[static_cast<size_t>(element)];
  constexpr const char* kUsed[] = {"reads", "writes", "changes"};
  for (const Use other : {Use::Write, Use::Atomic, Use::Read}) {
    const Mark& mark = marks.by[static_cast<size_t>(other)];
    if (other == use && use != Use::Write) continue;
    if (!IsConcurrent(mark, thread)) continue;
    const std::string who = mark.block != block_ || mark.other_blocks ? "another block"
                            : mark.thread == Mark::kSeveral           ? "another thread"
                                                            : "thread " + std::to_string(mark.thread);
    return Fail("a race: thread {0} {1} b{2}[{3}], which {4} {5} with no barrier between", thread,
                kUsed[static_cast<size_t>(use)], buffer, element, who, kUsed[static_cast<size_t>(other)]);
  }
  Add(marks.by[static_cast<size_t>(use)], thread);
  return {};
}

Result<uint8_t*> KernelMemory::Element(BufferId buffer, int64_t element, int32_t thread, Use use) {
  const Buffer& b = kernel_.buffers[static_cast<size_t>(buffer)];
  Array& array = arrays_[static_cast<size_t>(buffer)];
  if (element < 0 || element >= b.count)
    return Fail("b{0}[{1}] is used, but b{0} has {2} elements", buffer, element, b.count);
  const auto unwritten = [&] {
    return Fail("thread {0} reads b{1}[{2}], which {3} has not written", thread, buffer, element,
                b.IsLocal() ? "it" : "its block");
  };
  auto index = static_cast<size_t>(element);
  if (b.IsLocal()) {
    index += static_cast<size_t>(thread) * static_cast<size_t>(b.count);
    if (use == Use::Read && !array.written[index]) return unwritten();
    array.written[index] = true;
  } else if (!array.marks.empty()) {
    const Marks& marks = array.marks[index];
    const auto by = [&](Use way) { return marks.by[static_cast<size_t>(way)].block >= 0; };
    if (b.space == Space::Shared && use != Use::Write && !by(Use::Write) && !by(Use::Atomic))
      return unwritten();
    HLO_CHECK_OK(CheckRaces(buffer, element, thread, use));
  }
  return array.data + index * array.width;
}

}  // namespace hlo::kernel

#include "backends/cpu/runtime/call.h"

#include <algorithm>
#include <cstdlib>
#include <new>

#include "backends/executable.h"
#include "ir/support/float_control.h"

namespace hlo::runtime {

thread_local constinit Work work;

namespace {

/// Parts for loops: none where nobody helps.
size_t LoopParts(const Helpers& helpers) {
  return helpers.threads > 1 ? static_cast<size_t>(helpers.threads) : 0;
}

}  // namespace

Call::Call(const Helpers& helpers, const PartBytes& bytes, uint8_t* memory, bool measures)
    : helpers_(helpers),
      bytes_(bytes),
      measures_(measures),
      begin_(memory + InUnits((1 + LoopParts(helpers)) * sizeof(Part))),
      end_(memory + BytesFor(helpers, bytes)),
      parts_(reinterpret_cast<Part*>(memory)) {
  for (size_t i = 0; i <= LoopParts(helpers); ++i) (new (&parts_[i]) Part)->begun = false;
  parts_[0].Begin(begin_, bytes_.outside);
}

size_t Call::BytesFor(const Helpers& helpers, const PartBytes& bytes) {
  const size_t loops = LoopParts(helpers);
  return InUnits((1 + loops) * sizeof(Part)) + bytes.outside.Bytes() + loops * bytes.inside.Bytes();
}

Memory Call::InLoop(int thread) const {
  const auto number = static_cast<size_t>(thread);
  Part& part = parts_[1 + number];
  if (!part.begun)
    part.Begin(begin_ + bytes_.outside.Bytes() + number * bytes_.inside.Bytes(), bytes_.inside);
  return {&part, begin_, end_};
}

PartBytes Call::Peaks() const {
  PartBytes peaks{parts_[0].Peak(), {}};
  for (size_t i = 1; i <= LoopParts(helpers_); ++i)
    if (parts_[i].begun) peaks.inside.Raise(parts_[i].Peak());
  return peaks;
}

void Call::EndStep(const Arena::Mark& before) {
  if (measures_) return;
  parts_[0].arena.ReturnTo(before);
  for (size_t i = 1; i <= LoopParts(helpers_); ++i) parts_[i].begun = false;
}

void Call::Fail(int code) {
  int none = kDone;
  code_.compare_exchange_strong(none, code);
}

Device& Call::device() {
  if (devices_ == nullptr) devices_ = new DeviceGroup(1, 1, kRngSeed, std::chrono::seconds(1));
  return devices_->device(0);
}

void GiveUp(int code) {
  if (work.call == nullptr || work.way_out == nullptr) std::abort();
  work.call->Fail(code);
  std::longjmp(*work.way_out, 1);
}

void RunFor(Call& call, const Memory& memory, bool in_loop, void (*body)(void*), void* what) {
  const MemoryScope scope(memory);
  const Work before = work;
  const uint64_t control = FloatControl();
  std::jmp_buf way_out;
  work = {&call, &way_out, in_loop};
  if (setjmp(way_out) == 0) body(what);
  SetFloatControl(control);
  work = before;
}

}  // namespace hlo::runtime

// Streams and events. Work is done when it is asked for, so there is nothing to wait for.
#include "backends/gpu/emulator/driver_state.h"

namespace hlo::gpu::emulated {

CuResult StreamCreate(CuStream* stream, unsigned) {
  const Call call("StreamCreate", Needs::Context);
  if (call.failed()) return call.result();
  auto made = std::make_unique<char[]>(1);
  *stream = made.get();
  TheDriver().streams.insert(*stream);
  TheDriver().host_memory[*stream] = std::move(made);
  return CuResult::Success;
}
CuResult StreamDestroy(CuStream stream) {
  const Call call("StreamDestroy", Needs::Context);
  if (call.failed()) return call.result();
  if (TheDriver().streams.erase(stream) == 0) return CuResult::InvalidHandle;
  TheDriver().host_memory.erase(stream);
  return CuResult::Success;
}
namespace {

CuResult OfStream(llvm::StringRef name, CuStream stream) {
  const Call call(name, Needs::Context);
  if (call.failed()) return call.result();
  return stream == nullptr || TheDriver().streams.count(stream) != 0 ? CuResult::Success
                                                                     : CuResult::InvalidHandle;
}

}  // namespace

CuResult StreamSynchronize(CuStream stream) { return OfStream("StreamSynchronize", stream); }
CuResult StreamQuery(CuStream stream) { return OfStream("StreamQuery", stream); }
CuResult StreamWaitEvent(CuStream stream, CuEvent event, unsigned) {
  const CuResult result = OfStream("StreamWaitEvent", stream);
  if (result != CuResult::Success) return result;
  return TheDriver().events.count(event) != 0 ? CuResult::Success : CuResult::InvalidHandle;
}

CuResult EventCreate(CuEvent* event, unsigned) {
  const Call call("EventCreate", Needs::Context);
  if (call.failed()) return call.result();
  auto made = std::make_unique<EmulatedEvent>();
  *event = made.get();
  TheDriver().events[*event] = std::move(made);
  return CuResult::Success;
}
CuResult EventDestroy(CuEvent event) {
  const Call call("EventDestroy", Needs::Context);
  if (call.failed()) return call.result();
  return TheDriver().events.erase(event) != 0 ? CuResult::Success : CuResult::InvalidHandle;
}
CuResult EventRecord(CuEvent event, CuStream) {
  const Call call("EventRecord", Needs::Context);
  if (call.failed()) return call.result();
  const auto it = TheDriver().events.find(event);
  if (it == TheDriver().events.end()) return CuResult::InvalidHandle;
  *it->second = {std::chrono::steady_clock::now(), true};
  return CuResult::Success;
}
namespace {

CuResult OfEvent(llvm::StringRef name, CuEvent event) {
  const Call call(name, Needs::Context);
  if (call.failed()) return call.result();
  return TheDriver().events.count(event) != 0 ? CuResult::Success : CuResult::InvalidHandle;
}

}  // namespace

CuResult EventQuery(CuEvent event) { return OfEvent("EventQuery", event); }
CuResult EventSynchronize(CuEvent event) { return OfEvent("EventSynchronize", event); }
CuResult EventElapsedTime(float* milliseconds, CuEvent begin, CuEvent end) {
  const Call call("EventElapsedTime", Needs::Context);
  if (call.failed()) return call.result();
  const auto& events = TheDriver().events;
  const auto first = events.find(begin), last = events.find(end);
  if (first == events.end() || last == events.end() || !first->second->recorded || !last->second->recorded)
    return CuResult::InvalidHandle;
  *milliseconds = std::chrono::duration<float, std::milli>(last->second->time - first->second->time).count();
  return CuResult::Success;
}

}  // namespace hlo::gpu::emulated

// Streams, events.
#include "backends/gpu/emulator/driver_state.h"

namespace hlo::gpu::emulated {

std::optional<size_t> StreamOf(CuStream stream) {
  if (stream == nullptr) return 0;
  const auto it = TheDriver().streams.find(stream);
  return it == TheDriver().streams.end() ? std::nullopt : std::optional(it->second);
}

void* NewHandle() {
  auto made = std::make_unique<char[]>(1);
  void* const handle = made.get();
  TheDriver().handles[handle] = std::move(made);
  return handle;
}

namespace {

/// What was done on the way may have gone wrong for good.
CuResult After(CuResult result) {
  const CuResult sticky = TheDriver().sticky;
  return sticky != CuResult::Success ? sticky : result;
}

}  // namespace

CuResult StreamCreate(CuStream* stream, unsigned) {
  const Call call("StreamCreate", Needs::Context);
  if (call.failed()) return call.result();
  *stream = NewHandle();
  TheDriver().streams[*stream] = TheDriver().work.Create(&TheDriver().device());
  return CuResult::Success;
}
CuResult StreamDestroy(CuStream stream) {
  const Call call("StreamDestroy", Needs::Context);
  if (call.failed()) return call.result();
  const auto it = TheDriver().streams.find(stream);
  if (it == TheDriver().streams.end()) return CuResult::InvalidHandle;
  // A card does the work later.
  const CuResult result = TheDriver().work.Finish(it->second);
  TheDriver().streams.erase(it);
  TheDriver().handles.erase(stream);
  return After(result);
}

CuResult StreamSynchronize(CuStream stream) {
  const Call call("StreamSynchronize", Needs::Context);
  if (call.failed()) return call.result();
  const auto number = StreamOf(stream);
  if (!number) return CuResult::InvalidHandle;
  if (TheDriver().work.IsCapturing(*number)) return CuResult::StreamCaptureUnsupported;
  return After(TheDriver().work.Finish(*number));
}
CuResult StreamQuery(CuStream stream) {
  const Call call("StreamQuery", Needs::Context);
  if (call.failed()) return call.result();
  const auto number = StreamOf(stream);
  if (!number) return CuResult::InvalidHandle;
  if (TheDriver().work.IsCapturing(*number)) return CuResult::StreamCaptureUnsupported;
  return After(TheDriver().work.Poll(*number) ? CuResult::Success : CuResult::NotReady);
}
CuResult StreamWaitEvent(CuStream stream, CuEvent event, unsigned) {
  const Call call("StreamWaitEvent", Needs::Context);
  if (call.failed()) return call.result();
  const auto number = StreamOf(stream);
  const auto it = TheDriver().events.find(event);
  if (!number || it == TheDriver().events.end()) return CuResult::InvalidHandle;
  if (TheDriver().work.IsCapturing(*number)) return CuResult::StreamCaptureUnsupported;
  if (it->second != nullptr) TheDriver().work.Wait(*number, it->second);
  return CuResult::Success;
}

CuResult EventCreate(CuEvent* event, unsigned) {
  const Call call("EventCreate", Needs::Context);
  if (call.failed()) return call.result();
  *event = NewHandle();
  TheDriver().events[*event] = nullptr;
  return CuResult::Success;
}
CuResult EventDestroy(CuEvent event) {
  const Call call("EventDestroy", Needs::Context);
  if (call.failed()) return call.result();
  if (TheDriver().events.erase(event) == 0) return CuResult::InvalidHandle;
  TheDriver().handles.erase(event);
  return CuResult::Success;
}
CuResult EventRecord(CuEvent event, CuStream stream) {
  const Call call("EventRecord", Needs::Context);
  if (call.failed()) return call.result();
  const auto number = StreamOf(stream);
  const auto it = TheDriver().events.find(event);
  if (!number || it == TheDriver().events.end()) return CuResult::InvalidHandle;
  if (TheDriver().work.IsCapturing(*number)) return CuResult::StreamCaptureUnsupported;
  it->second = TheDriver().work.Record(*number);
  return CuResult::Success;
}
CuResult EventQuery(CuEvent event) {
  const Call call("EventQuery", Needs::Context);
  if (call.failed()) return call.result();
  const auto it = TheDriver().events.find(event);
  if (it == TheDriver().events.end()) return CuResult::InvalidHandle;
  const bool done = it->second == nullptr || TheDriver().work.Poll(it->second);
  return After(done ? CuResult::Success : CuResult::NotReady);
}
CuResult EventSynchronize(CuEvent event) {
  const Call call("EventSynchronize", Needs::Context);
  if (call.failed()) return call.result();
  const auto it = TheDriver().events.find(event);
  if (it == TheDriver().events.end()) return CuResult::InvalidHandle;
  return it->second == nullptr ? CuResult::Success : After(TheDriver().work.Finish(it->second));
}
CuResult EventElapsedTime(float* milliseconds, CuEvent begin, CuEvent end) {
  const Call call("EventElapsedTime", Needs::Context);
  if (call.failed()) return call.result();
  const auto& events = TheDriver().events;
  const auto first = events.find(begin), last = events.find(end);
  if (first == events.end() || last == events.end() || first->second == nullptr || last->second == nullptr)
    return CuResult::InvalidHandle;
  if (!first->second->done || !last->second->done) return CuResult::NotReady;
  *milliseconds = std::chrono::duration<float, std::milli>(last->second->time - first->second->time).count();
  return CuResult::Success;
}

}  // namespace hlo::gpu::emulated

#include "backends/gpu/emulator/streams.h"

#include "llvm/ADT/STLExtras.h"

namespace hlo::gpu {

void StreamClocks::Join(const StreamClocks& o) {
  if (counts_.size() < o.counts_.size()) counts_.resize(o.counts_.size());
  for (size_t i = 0; i < o.counts_.size(); ++i) counts_[i] = std::max(counts_[i], o.counts_[i]);
}

void StreamClocks::Set(size_t stream, uint64_t count) {
  if (counts_.size() <= stream) counts_.resize(stream + 1);
  counts_[stream] = count;
}

void Streams::Start(uint64_t seed) {
  *this = {};
  seed_ = state_ = seed;
  Create(nullptr);
}

size_t Streams::Create(Device* device) {
  queues_.emplace_back().device = device;
  return queues_.size() - 1;
}

uint64_t Streams::Random() {
  state_ += 0x9e3779b97f4a7c15;
  uint64_t x = state_;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  return x ^ x >> 31;
}

CuResult Streams::Add(size_t stream, Operation operation) {
  Queue& queue = queues_[stream];
  if (queue.graph != nullptr) {
    queue.graph->push_back(std::move(operation));
    return CuResult::Success;
  }
  queue.clocks.Join(host_);
  if (operation.wait != nullptr) queue.clocks.Join(operation.wait->clocks);
  queue.clocks.Set(stream, queue.clocks.Of(stream) + 1);
  operation.clocks = queue.clocks;
  if (operation.record != nullptr) operation.record->clocks = queue.clocks;
  queue.pending.push_back(std::move(operation));
  return seed_ == 0 ? DoNext(stream) : DoSome();
}

StreamEventPtr Streams::Record(size_t stream) {
  auto event = std::make_shared<StreamEvent>();
  event->stream = stream;
  (void)Add(stream, {.run = {}, .record = event, .wait = nullptr, .clocks = {}});
  return event;
}

void Streams::Wait(size_t stream, const StreamEventPtr& event) {
  (void)Add(stream, {.run = {}, .record = nullptr, .wait = event, .clocks = {}});
}

/// Some of what has been asked for is done early.
CuResult Streams::DoSome() {
  constexpr uint64_t kEvery = 4;
  CuResult result = CuResult::Success;
  while (result == CuResult::Success && Random() % kEvery == 0) {
    const size_t stream = Random() % queues_.size();
    if (!queues_[stream].pending.empty()) result = DoNext(stream);
  }
  return result;
}

CuResult Streams::DoNext(size_t stream) {
  const Operation operation = std::move(queues_[stream].pending.front());
  queues_[stream].pending.pop_front();
  if (operation.wait != nullptr)
    while (!operation.wait->done)
      if (const CuResult result = DoNext(operation.wait->stream); result != CuResult::Success) return result;
  const CuResult result = operation.run ? Do(stream, operation) : CuResult::Success;
  if (operation.record == nullptr) return result;
  operation.record->done = true;
  operation.record->time = std::chrono::steady_clock::now();
  return result;
}

/// Tells the device which of what was done before has no order with this.
CuResult Streams::Do(size_t stream, const Operation& operation) {
  Device& device = *operation.device;
  // One stream more is always there.
  const bool alone = llvm::count_if(queues_, [&](const Queue& q) { return q.device == &device; }) <= 1;
  device.SetSeveralStreams(!alone);
  Concurrent& concurrent = device.concurrent();
  concurrent.clear();
  if (!alone) {
    for (const Done& d : done_)
      if (d.device == &device && d.number > operation.clocks.Of(d.stream))
        concurrent.emplace_back(d.begin, d.end);
  }
  const uint32_t begin = device.Tick();
  const CuResult result = operation.run();
  if (!alone) done_.push_back({&device, stream, operation.clocks.Of(stream), begin, device.Tick()});
  return result;
}

CuResult Streams::Finish(size_t stream) {
  Queue& queue = queues_[stream];
  while (!queue.pending.empty())
    if (const CuResult result = DoNext(stream); result != CuResult::Success) return result;
  host_.Join(queue.clocks);
  Forget();
  return CuResult::Success;
}

/// What is asked for from now on comes after what the host has waited for.
void Streams::Forget() {
  if (llvm::any_of(queues_, [](const Queue& queue) { return !queue.pending.empty(); })) return;
  llvm::erase_if(done_, [&](const Done& d) { return d.number <= host_.Of(d.stream); });
}

CuResult Streams::FinishAll() {
  for (size_t i = 0; i < queues_.size(); ++i)
    if (const CuResult result = Finish(i); result != CuResult::Success) return result;
  return CuResult::Success;
}

CuResult Streams::Finish(const StreamEventPtr& event) {
  while (!event->done)
    if (const CuResult result = DoNext(event->stream); result != CuResult::Success) return result;
  host_.Join(event->clocks);
  Forget();
  return CuResult::Success;
}

bool Streams::Poll(size_t stream) {
  if (!queues_[stream].pending.empty()) (void)DoNext(stream);
  if (!queues_[stream].pending.empty()) return false;
  host_.Join(queues_[stream].clocks);
  return true;
}

bool Streams::Poll(const StreamEventPtr& event) {
  if (!event->done) (void)DoNext(event->stream);
  if (event->done) host_.Join(event->clocks);
  return event->done;
}

CuResult Streams::Launch(size_t stream, const OperationGraph& graph) {
  for (const Operation& operation : graph)
    if (const CuResult result = Add(stream, operation); result != CuResult::Success) return result;
  return CuResult::Success;
}

}  // namespace hlo::gpu

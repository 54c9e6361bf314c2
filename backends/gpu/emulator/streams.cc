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

void Streams::BeginCapture(size_t stream, std::shared_ptr<OperationGraph> graph) {
  Capture& capture = queues_[stream].capture;
  capture = {std::move(graph), nullptr, std::this_thread::get_id(), false};
  capture.last = capture.LastOfGraph();
}

bool Streams::IsCapturingHere() const {
  return llvm::any_of(queues_, [](const Queue& queue) {
    return queue.capture.graph != nullptr && queue.capture.thread == std::this_thread::get_id();
  });
}

CuResult Streams::Add(size_t stream, Operation operation) {
  Queue& queue = queues_[stream];
  if (Capture& capture = queue.capture; capture.graph != nullptr) {
    capture.scattered |= capture.last != capture.LastOfGraph();
    capture.graph->operations.push_back(std::move(operation));
    capture.last = capture.LastOfGraph();
    return CuResult::Success;
  }
  const bool others = !queue.pending.empty();
  Push(stream, std::move(operation));
  if (seed_ != 0) return DoSome();
  return others ? CuResult::Success : DoAll(stream);
}

void Streams::Push(size_t stream, Operation operation) {
  Queue& queue = queues_[stream];
  queue.clocks.Join(host_);
  if (operation.wait != nullptr) queue.clocks.Join(operation.wait->clocks);
  queue.clocks.Set(stream, queue.clocks.Of(stream) + 1);
  operation.clocks = queue.clocks;
  if (operation.record != nullptr) operation.record->clocks = queue.clocks;
  queue.pending.push_back(std::move(operation));
}

CuResult Streams::DoAll(size_t stream) {
  while (!queues_[stream].pending.empty())
    if (const CuResult result = DoNext(stream); result != CuResult::Success) return result;
  return CuResult::Success;
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
  if (result == CuResult::Success && operation.conditional != nullptr) Choose(stream, operation);
  if (operation.record == nullptr) return result;
  operation.record->done = true;
  operation.record->time = std::chrono::steady_clock::now();
  return result;
}

/// What the node does comes next, in its place.
void Streams::Choose(size_t stream, const Operation& operation) {
  const ConditionalNode& node = *operation.conditional;
  const uint32_t value = operation.conditions->at(node.condition).value;
  const bool by_number = node.type == CuConditionalNode::Switch;
  const size_t body = by_number ? value : value != 0 ? 0 : 1;
  if (body >= node.bodies.size()) return;
  std::deque<Operation>& pending = queues_[stream].pending;
  if (node.type == CuConditionalNode::While) pending.push_front(operation);
  for (const Operation& within : llvm::reverse(node.bodies[body]->operations)) {
    pending.push_front(within);
    pending.front().clocks = operation.clocks;
    pending.front().conditions = operation.conditions;
  }
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
  device.SetConditions(operation.conditions.get());
  const CuResult result = operation.run();
  device.SetConditions(nullptr);
  if (alone) return result;
  const uint64_t number = operation.clocks.Of(stream);
  const auto is_same = [&](const Done& d) {
    return d.device == &device && d.stream == stream && d.number == number;
  };
  // All that the bodies of a node do is one operation.
  if (!done_.empty() && is_same(done_.back()))
    done_.back().end = device.Tick();
  else
    done_.push_back({&device, stream, number, begin, device.Tick()});
  return result;
}

CuResult Streams::Finish(size_t stream) {
  // Others come along meanwhile, as far as chance has it.
  for (size_t i = 0; seed_ != 0 && i < queues_.size(); ++i) {
    const CuResult result = i != stream && Random() % 2 == 0 ? DoAll(i) : CuResult::Success;
    if (result != CuResult::Success) return result;
  }
  if (const CuResult result = DoAll(stream); result != CuResult::Success) return result;
  host_.Join(queues_[stream].clocks);
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
  const bool others = !queues_[stream].pending.empty();
  const auto ask = [&](Operation operation) {
    if (!graph.conditions->empty()) operation.conditions = graph.conditions;
    Push(stream, std::move(operation));
  };
  if (!graph.conditions->empty() && !graph.operations.empty()) {
    Operation begin;
    begin.device = graph.operations.front().device;
    begin.run = [conditions = graph.conditions] {
      for (auto& [handle, condition] : *conditions) {
        condition.set = condition.assigned;
        if (condition.assigned) condition.value = condition.initial;
      }
      return CuResult::Success;
    };
    ask(std::move(begin));
  }
  for (const Operation& operation : graph.operations) ask(operation);
  if (seed_ != 0) return DoSome();
  return graph.loops || others ? CuResult::Success : DoAll(stream);
}

}  // namespace hlo::gpu

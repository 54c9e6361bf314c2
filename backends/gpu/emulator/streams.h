// Streams of the emulated driver: what they have to do, when it is done, and what is ordered before what.
#pragma once
#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "backends/gpu/driver/driver.h"
#include "backends/gpu/emulator/device.h"

namespace hlo::gpu {

/// How far each stream has come, as an operation, an event or the host knows it.
class StreamClocks {
 public:
  void Join(const StreamClocks& o);
  [[nodiscard]] uint64_t Of(size_t stream) const { return stream < counts_.size() ? counts_[stream] : 0; }
  void Set(size_t stream, uint64_t count);

 private:
  std::vector<uint64_t> counts_;  // operations, by stream
};

/// One recording of an event.
struct StreamEvent {
  size_t stream = 0;
  StreamClocks clocks;
  bool done = false;
  std::chrono::steady_clock::time_point time;
};
using StreamEventPtr = std::shared_ptr<StreamEvent>;

/// What a stream is asked for.
struct Operation {
  Device* device = nullptr;       // whose memory `run` touches
  std::function<CuResult()> run;  // empty: nothing but the events
  StreamEventPtr record, wait;    // done with it, must be done before it
  StreamClocks clocks;            // what it is ordered after
};

/// Operations that are asked for together, again and again.
using OperationGraph = std::vector<Operation>;

/// Operations are done when something waits for them or, without a seed, at once; with one, some before that.
class Streams {
 public:
  /// Forgets all streams but the one that is always there, number 0.
  void Start(uint64_t seed);
  size_t Create(Device* device);
  /// Asks a stream for an operation. The result of one that is done at once.
  CuResult Add(size_t stream, Operation operation);
  /// Records an event.
  StreamEventPtr Record(size_t stream);
  void Wait(size_t stream, const StreamEventPtr& event);
  /// Does all that was asked for, as the host waits for it. The first error.
  CuResult Finish(size_t stream);
  CuResult FinishAll();
  CuResult Finish(const StreamEventPtr& event);
  /// Whether all is done; does some.
  bool Poll(size_t stream);
  bool Poll(const StreamEventPtr& event);

  /// Operations go into a graph from now on.
  void BeginCapture(size_t stream) { queues_[stream].graph = std::make_unique<OperationGraph>(); }
  std::unique_ptr<OperationGraph> EndCapture(size_t stream) { return std::move(queues_[stream].graph); }
  [[nodiscard]] bool IsCapturing(size_t stream) const { return queues_[stream].graph != nullptr; }
  CuResult Launch(size_t stream, const OperationGraph& graph);

 private:
  struct Queue {
    Device* device = nullptr;  // null: of all of them
    std::deque<Operation> pending;
    StreamClocks clocks;
    std::unique_ptr<OperationGraph> graph;  // it is being captured
  };
  /// An operation that has been done, and at which times of the device.
  struct Done {
    const Device* device;
    size_t stream;
    uint64_t number;
    uint32_t begin, end;
  };
  CuResult DoNext(size_t stream);
  CuResult Do(size_t stream, const Operation& operation);
  CuResult DoSome();
  void Forget();
  uint64_t Random();

  uint64_t seed_ = 0, state_ = 0;
  std::vector<Queue> queues_;
  StreamClocks host_;
  std::vector<Done> done_;  // that something may not be ordered after, once there are several streams
};

}  // namespace hlo::gpu

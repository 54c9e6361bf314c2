// Streams of the emulated driver: what they have to do, when it is done, and what is ordered before what.
#pragma once
#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <thread>
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

struct OperationGraph;

/// Does graphs by what the value of its condition is then.
struct ConditionalNode {
  int type = CuConditionalNode::If;
  CuGraphCondition condition = 0;
  std::vector<std::shared_ptr<OperationGraph>> bodies;
  std::vector<CuGraph> handles;  // of these
};

/// What a stream is asked for.
struct Operation {
  Device* device = nullptr;                                 // whose memory `run` touches
  std::function<CuResult()> run;                            // empty: nothing but the events
  StreamEventPtr record, wait;                              // done with it, must be done before it
  StreamClocks clocks;                                      // what it is ordered after
  std::shared_ptr<const ConditionalNode> conditional = {};  // behind `run`
  std::shared_ptr<Conditions> conditions = {};              // that kernels may set
};

/// Operations that are asked for together, again and again, each after the one before.
struct OperationGraph {
  std::deque<Operation> operations;                                         // nodes are their addresses
  OperationGraph* parent = nullptr;                                         // whose node it is a body of
  std::shared_ptr<Conditions> conditions = std::make_shared<Conditions>();  // of it and all within
  bool loops = false;                                                       // of it and all within
  bool instantiated = false;
  [[nodiscard]] OperationGraph* root() {
    OperationGraph* graph = this;
    while (graph->parent != nullptr) graph = graph->parent;
    return graph;
  }
};

/// Operations are done when something waits for them or, without a seed, at once; with one, some before that.
/// Loops of graphs are never done at once: the host may end them.
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

  /// What a stream captures.
  struct Capture {
    std::shared_ptr<OperationGraph> graph;
    CuGraphNode last = nullptr;  // what is captured next follows this one
    std::thread::id thread;
    bool scattered = false;  // something follows another one than the last of the graph
    [[nodiscard]] CuGraphNode LastOfGraph() const {
      return graph->operations.empty() ? nullptr : &graph->operations.back();
    }
  };
  /// Operations go into a graph from now on.
  void BeginCapture(size_t stream, std::shared_ptr<OperationGraph> graph);
  Capture EndCapture(size_t stream) { return std::exchange(queues_[stream].capture, {}); }
  [[nodiscard]] bool IsCapturing(size_t stream) const { return queues_[stream].capture.graph != nullptr; }
  [[nodiscard]] Capture& CaptureOf(size_t stream) { return queues_[stream].capture; }
  /// Whether this thread captures a stream.
  [[nodiscard]] bool IsCapturingHere() const;
  CuResult Launch(size_t stream, const OperationGraph& graph);

 private:
  struct Queue {
    Device* device = nullptr;  // null: of all of them
    std::deque<Operation> pending;
    StreamClocks clocks;
    Capture capture;
  };
  /// An operation that has been done, and at which times of the device.
  struct Done {
    const Device* device;
    size_t stream;
    uint64_t number;
    uint32_t begin, end;
  };
  void Push(size_t stream, Operation operation);
  CuResult DoNext(size_t stream);
  CuResult DoAll(size_t stream);
  void Choose(size_t stream, const Operation& operation);
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

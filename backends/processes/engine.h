// Carries messages and memory between the processes of a run, and looks whether they live.
#pragma once
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

#include "backends/processes/peers.h"
#include "backends/processes/wire.h"

namespace hlo::processes {

/// All members but the constructor and the destructor are called with its lock held; none before Start().
/// Threads that wait carry what there is to carry; a thread of its own does so, seldom, while nobody waits.
class Engine {
 public:
  using Lock = std::unique_lock<std::mutex>;
  using Tickets = std::vector<Transport::Ticket>;
  /// A message that has come; the reader stands behind its kind.
  using Handler = std::function<void(int from, MessageKind kind, BinaryReader& message)>;

  explicit Engine(std::unique_ptr<Transport> transport);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  [[nodiscard]] int rank() const { return transport_->rank(); }
  [[nodiscard]] int size() const { return transport_->size(); }
  [[nodiscard]] Lock Acquire() { return Lock(mutex_); }
  /// Begins to carry. `watch` is called from time to time.
  void Start(Handler handler, std::function<void()> watch);
  /// From now on, one of `all` that ends is gone.
  void Watch(std::vector<Identity> all);
  /// The last words have been said: processes may end.
  void StopWatching() { peers_.reset(); }
  /// A process that is gone, or that cannot be reached: runtime-collective-timeout. Looks only every
  /// few milliseconds, but `at_once`.
  [[nodiscard]] std::optional<Diagnostic> Trouble(bool at_once = false);
  [[nodiscard]] Peers* peers() { return peers_.get(); }

  /// To itself too.
  void Post(int to, const std::string& message);
  void PostAll(const std::string& message);
  int32_t NewTag(int to);
  /// Begins to send memory that stays until the tickets are done; in pieces of `piece` bytes.
  void Send(int to, int32_t tag, const void* data, size_t bytes, Tickets& tickets,
            size_t piece = Transport::kMost);
  void Receive(int from, int32_t tag, void* data, size_t bytes, Tickets& tickets,
               size_t piece = Transport::kMost);
  /// Forgets those that are.
  bool Done(Tickets& tickets);
  /// A value for another process; the literals it needs until the tickets are done are added to `kept`.
  WireValue SendValue(int to, const Literal& value, Tickets& tickets, std::vector<Literal>& kept);
  /// What another process sends; complete when the tickets are done.
  Literal ReceiveValue(int from, const WireValue& value, Tickets& tickets);
  /// The values and tickets of something nobody waits for.
  void Keep(std::vector<Literal> values, Tickets tickets);

  /// Whether a value travels within messages.
  [[nodiscard]] static bool FitsMessage(const Literal& value);
  /// Messages are expected: for so long, what comes is looked for often, if nobody waits, too.
  void StayAwake(Peers::Clock::duration time) { awake_until_ = Peers::Clock::now() + time; }

  /// Returns when `ready`, or with what `check` says against waiting any longer.
  Status Await(Lock& lock, llvm::function_ref<bool()> ready, llvm::function_ref<Status()> check);
  void Wake() { changed_.notify_all(); }
  /// No more calls. All processes come to it together.
  void Close(Lock& lock);

 private:
  struct Kept {
    std::vector<Literal> values;
    Tickets tickets;
  };
  /// Handles what has come; whether anything has.
  bool Turn();
  /// Looks for a process that is gone, and tells the others of it.
  bool FindGone(bool at_once);
  void Handle(int from, llvm::StringRef text);
  void Look();

  std::unique_ptr<Transport> transport_;
  std::unique_ptr<Peers> peers_;
  std::mutex mutex_;
  std::condition_variable changed_;
  Handler handler_;
  std::function<void()> watch_;
  std::vector<int32_t> next_tag_;  // by process
  std::vector<Kept> kept_;
  Peers::Clock::time_point kept_moved_;  // when something came to these or went
  Peers::Clock::time_point awake_until_;
  std::vector<std::string> to_itself_;
  std::optional<int> blamed_;  // by others, which have found first that it is gone
  bool closed_ = false;
  std::thread thread_;  // last: it uses the members above
};

}  // namespace hlo::processes

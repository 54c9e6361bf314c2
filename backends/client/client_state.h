// What a client and its programs share, and the work that is done for them.
#pragma once
#include "backends/client/client.h"
#include "backends/client/dispatcher.h"
#include "ir/support/interrupt.h"
#include "ir/support/parallel.h"

namespace hlo {

class ClientState {
 public:
  ClientState(Platform platform, ClientOptions options)
      : platform_(platform),
        options_(std::move(options)),
        stop_(options_.stop),
        dispatcher_(options_.threads > 0 ? options_.threads : Dispatcher::kMostThreads) {
    if (options_.threads > 0) pool_.emplace(options_.threads);
  }

  [[nodiscard]] Platform platform() const { return platform_; }
  [[nodiscard]] const ClientOptions& options() const { return options_; }
  [[nodiscard]] StopToken& stop() { return stop_; }
  [[nodiscard]] ThreadPool* pool() { return pool_ ? &*pool_ : nullptr; }

  [[nodiscard]] Dispatcher& dispatcher() { return dispatcher_; }
  /// Held while a run on a network takes its place and is handed to the dispatcher.
  [[nodiscard]] std::mutex& order() { return order_; }

  /// Counts `bytes`, no more than the limit if there is one, as in use until Release(); waits for others to
  /// release theirs where they are too many together. Errors: interrupted and limit-timeout.
  Status Reserve(int64_t bytes);
  void Release(int64_t bytes);

  [[nodiscard]] const std::shared_ptr<ClientActivity>& activity() const { return activity_; }

 private:
  Platform platform_;
  ClientOptions options_;
  StopToken stop_;
  std::optional<ThreadPool> pool_;
  std::shared_ptr<ClientActivity> activity_ = std::make_shared<ClientActivity>();
  std::mutex memory_, order_;
  std::condition_variable released_;
  int64_t in_use_ = 0;     // guarded by memory_
  Dispatcher dispatcher_;  // last: its tasks use the others
};

/// While it lives, what this thread does is done for the client and within its time limit.
class ClientWork {
 public:
  /// `stop`: a token below the client's, or null.
  ClientWork(ClientState& client, const StopToken* stop)
      : activity_(client.activity()),
        limited_(stop == nullptr ? &client.stop() : stop),
        scope_({&limited_, client.pool()}) {
    ++activity_->begun;
    if (const auto limit = client.options().time_limit; limit.count() > 0) limit_.emplace(limited_, limit);
  }
  ~ClientWork() { ++activity_->ended; }
  ClientWork(const ClientWork&) = delete;
  ClientWork& operator=(const ClientWork&) = delete;

 private:
  std::shared_ptr<ClientActivity> activity_;
  StopToken limited_;
  WorkScope scope_;
  std::optional<TimeLimit> limit_;
};

}  // namespace hlo

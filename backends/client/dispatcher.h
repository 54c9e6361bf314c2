// Work that is done beside the thread that asks for it.
#pragma once
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace hlo {

/// Tasks begin in the order in which they were added, several at a time: one may wait for what earlier ones
/// make.
class Dispatcher {
 public:
  static constexpr int kMostThreads = 32;
  /// `most`: tasks at a time.
  explicit Dispatcher(int most) : most_(static_cast<size_t>(most)) {}
  /// When all tasks are done.
  ~Dispatcher();
  Dispatcher(const Dispatcher&) = delete;
  Dispatcher& operator=(const Dispatcher&) = delete;
  /// Where the system grants no thread at all the caller does it.
  void Add(std::function<void()> task);

 private:
  void Loop();
  size_t most_;

  std::mutex mutex_;
  std::condition_variable added_;
  std::deque<std::function<void()>> tasks_;
  size_t idle_ = 0;
  bool closing_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace hlo

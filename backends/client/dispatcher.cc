#include "backends/client/dispatcher.h"

#include "ir/support/parallel.h"

namespace hlo {

Dispatcher::~Dispatcher() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  added_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Dispatcher::Add(std::function<void()> task) {
  std::unique_lock lock(mutex_);
  if (idle_ <= tasks_.size() && threads_.size() < most_)
    if (std::thread thread = TryThread([this] { Loop(); }); thread.joinable())
      threads_.push_back(std::move(thread));
  if (threads_.empty()) {
    lock.unlock();
    return task();
  }
  tasks_.push_back(std::move(task));
  lock.unlock();
  added_.notify_one();
}

void Dispatcher::Loop() {
  std::unique_lock lock(mutex_);
  for (;;) {
    ++idle_;
    added_.wait(lock, [this] { return closing_ || !tasks_.empty(); });
    --idle_;
    if (tasks_.empty()) return;
    {
      const std::function<void()> task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      task();
    }
    lock.lock();
  }
}

}  // namespace hlo

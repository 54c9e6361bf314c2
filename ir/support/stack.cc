#include "ir/support/stack.h"

#include <pthread.h>
#include <sys/resource.h>

#include <algorithm>
#include <mutex>
#include <system_error>
#include <utility>

namespace hlo {
namespace {

/// Where address space is limited, all stacks together shall not take it.
size_t BytesForThread() {
  constexpr rlim_t kUsual = rlim_t{8} << 20, kShare = 32;
  rlimit limit = {};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kStackBytes;
  return std::clamp<rlim_t>(limit.rlim_cur / kShare, kUsual, kStackBytes);
}

/// While it lives, threads that are made get so much stack: std::thread has no way to ask for it.
class DefaultStack {
 public:
  explicit DefaultStack(size_t bytes) : lock_(Mutex()) {
    pthread_attr_t wanted;
    ok_ = pthread_getattr_default_np(&before_) == 0 && pthread_getattr_default_np(&wanted) == 0;
    if (!ok_) return;
    pthread_attr_setstacksize(&wanted, bytes);
    pthread_setattr_default_np(&wanted);
    pthread_attr_destroy(&wanted);
  }
  ~DefaultStack() {
    if (!ok_) return;
    pthread_setattr_default_np(&before_);
    pthread_attr_destroy(&before_);
  }
  DefaultStack(const DefaultStack&) = delete;
  DefaultStack& operator=(const DefaultStack&) = delete;

 private:
  static std::mutex& Mutex() {
    static std::mutex mutex;
    return mutex;
  }
  std::lock_guard<std::mutex> lock_;
  pthread_attr_t before_ = {};
  bool ok_ = false;
};

}  // namespace

void DeepenMainStack() {
  // The stack grows into what the kernel keeps free below it: at least 128 MiB, whatever the limit was when
  // the process began.
  rlimit limit = {};
  if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= kStackBytes) return;
  limit.rlim_cur = std::min<rlim_t>(kStackBytes, limit.rlim_max);
  setrlimit(RLIMIT_STACK, &limit);
}

std::thread StartThread(std::function<void()> body) {
  const DefaultStack deep(BytesForThread());
  try {
    return std::thread(std::move(body));
  } catch (const std::system_error&) {
    return {};
  }
}

size_t StackLeft() {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return 0;
  void* bottom = nullptr;
  size_t size = 0;
  const bool known = pthread_attr_getstack(&attributes, &bottom, &size) == 0;
  pthread_attr_destroy(&attributes);
  const auto* const here = static_cast<const char*>(__builtin_frame_address(0));
  return known ? static_cast<size_t>(here - static_cast<const char*>(bottom)) : 0;
}

}  // namespace hlo

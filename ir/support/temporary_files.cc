#include "ir/support/temporary_files.h"

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>

namespace hlo {
namespace {

// Signal handlers read this: a fixed table of atomics. Who takes a name out of its slot owns it.
constexpr size_t kSlots = 512;
std::atomic<const char*> names[kSlots];
/// Held while a name in a slot is read outside of signal handlers, which never free one: without it another
/// thread could take and free the name between its reading and its comparison.
std::mutex reading;
/// Children that were forked have the table too, but not the files.
std::atomic<pid_t> owner{0};

}  // namespace

void RegisterTemporaryFile(const std::string& name) {
  owner = getpid();
  const char* copy = strdup(name.c_str());
  for (auto& slot : names) {
    const char* empty = nullptr;
    if (slot.compare_exchange_strong(empty, copy)) return;
  }
  free(const_cast<char*>(copy));
}

void UnregisterTemporaryFile(const std::string& name) {
  const std::lock_guard lock(reading);
  for (auto& slot : names) {
    const char* registered = slot.load();
    if (registered == nullptr || name != registered || !slot.compare_exchange_strong(registered, nullptr))
      continue;
    free(const_cast<char*>(registered));
    return;
  }
}

void RemoveTemporaryFiles() {
  if (owner.load() != getpid()) return;
  for (auto& slot : names)
    if (const char* name = slot.exchange(nullptr)) unlink(name);
}

}  // namespace hlo

#include "ir/support/temporary_files.h"

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>

namespace hlo {
namespace {

// Signal handlers read this: a fixed table of atomics.
constexpr size_t kSlots = 512;
std::atomic<const char*> names[kSlots];
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

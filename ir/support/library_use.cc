#include "ir/support/library_use.h"

#include <atomic>

namespace hlo {
namespace {

thread_local const LibraryUse* current = nullptr;
std::atomic<const LibraryUse*> latest = nullptr;

}  // namespace

LibraryScope::LibraryScope(const LibraryUse& use) : use_(use), outer_(current) {
  current = &use_;
  latest = &use_;
}

LibraryScope::~LibraryScope() {
  current = outer_;
  const LibraryUse* mine = &use_;
  latest.compare_exchange_strong(mine, outer_);
}

const LibraryUse* CurrentLibraryUse() { return current; }
const LibraryUse* OtherLibraryUse() { return latest.load(); }

}  // namespace hlo

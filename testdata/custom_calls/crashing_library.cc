// A library that does not survive being loaded: CRASHING_LIBRARY says how it ends.
#include <unistd.h>
#include <csignal>
#include <cstdlib>
#include <cstring>

namespace {

__attribute__((constructor)) void Load() {
  const char* how = std::getenv("CRASHING_LIBRARY");
  if (how != nullptr && std::strcmp(how, "exits") == 0) std::exit(0);
  while (how != nullptr && std::strcmp(how, "hangs") == 0) pause();
  std::raise(SIGSEGV);
}

}  // namespace

// call_mutants: calls of custom-call targets, right and spoilt, on both platforms (call_mutants.h).
//
//   call_mutants [--seed=N] [--count=N] [--from=N] [--print] [--mutations]
//
// Mutants are numbered; `--from=N --count=1 --print` shows one. Exits 1 if anything is wrong; a crash, a
// report of a sanitizer and a mutant that takes a minute end the program behind the text of the mutant.
#include "tools/testing/call_mutants.h"

#include <unistd.h>

#include <csignal>

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Signals.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#include <sanitizer/common_interface_defs.h>
#define HLO_SANITIZER 1
#endif
#endif

namespace {

constexpr unsigned kSecondsPerMutant = 60;

void WriteCurrent() {
  const std::string& text = hlo::testing::CurrentCallMutant();
  (void)!write(STDERR_FILENO, text.data(), text.size());
}

int Usage() {
  llvm::errs() << "usage: call_mutants [--seed=N] [--count=N] [--from=N] [--print] [--mutations]\n";
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
#ifdef HLO_SANITIZER
  __sanitizer_set_death_callback(WriteCurrent);
#else
  llvm::sys::PrintStackTraceOnErrorSignal(argv[0]);
  llvm::sys::AddSignalHandler([](void*) { WriteCurrent(); }, nullptr);
#endif
  std::signal(SIGALRM, [](int) {
    WriteCurrent();
    constexpr llvm::StringLiteral kText = "takes longer than a minute\n";
    (void)!write(STDERR_FILENO, kText.data(), kText.size());
    _exit(1);
  });
  hlo::testing::CallMutantOptions options;
  for (llvm::StringRef argument : llvm::ArrayRef(argv, static_cast<size_t>(argc)).drop_front()) {
    const auto number = [&](llvm::StringRef name, auto& value) {
      return argument.consume_front(name) && !argument.getAsInteger(10, value);
    };
    if (argument == "--print")
      options.print = true;
    else if (argument == "--mutations")
      options.show_mutations = true;
    else if (!number("--seed=", options.seed) && !number("--count=", options.count) &&
             !number("--from=", options.from))
      return Usage();
  }
  options.begin = [] { alarm(kSecondsPerMutant); };
  return hlo::testing::CheckCallMutants(options, llvm::outs()) == 0 ? 0 : 1;
}

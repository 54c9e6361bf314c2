// accuracy: errors of compiled elementary functions (accuracy.h).
//
//   accuracy [--stride=N] [--samples=N] [--functions=A,B] [--types=A,B] [--threads=N] [--native-only]
//   accuracy --speed [--functions=A,B]
//
// Exits 1 if a function is less accurate than it should be.
#include "tools/testing/accuracy.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/PrettyStackTrace.h"
#include "llvm/Support/Signals.h"

namespace {

int Usage() {
  llvm::errs() << "usage: accuracy [--stride=N] [--samples=N] [--functions=A,B] [--types=A,B] [--threads=N]\n"
                  "                [--native-only]\n"
                  "       accuracy --speed [--functions=A,B]\n";
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  llvm::sys::PrintStackTraceOnErrorSignal(argv[0]);
  hlo::testing::AccuracyOptions options;
  bool speed = false;
  for (int i = 1; i < argc; ++i) {
    llvm::StringRef argument = argv[i];
    auto number = [&](llvm::StringRef name, auto& value) {
      return argument.consume_front(name) && !argument.getAsInteger(10, value) && value > 0;
    };
    auto names = [&](llvm::StringRef name, llvm::SmallVector<std::string>& value) {
      if (!argument.consume_front(name)) return false;
      for (const llvm::StringRef item : llvm::split(argument, ',')) value.push_back(item.str());
      return true;
    };
    if (argument == "--speed")
      speed = true;
    else if (argument == "--native-only")
      options.compare_isas = false;
    else if (!number("--stride=", options.stride) && !number("--samples=", options.samples) &&
             !number("--threads=", options.threads) && !names("--functions=", options.functions) &&
             !names("--types=", options.types))
      return Usage();
  }
  if (speed) {
    hlo::testing::PrintSpeed(options, llvm::outs());
    return 0;
  }
  return hlo::testing::CheckAccuracy(options, llvm::outs()) == 0 ? 0 : 1;
}

// soundness: checks every rule of algsimp on its cases in every element type (soundness.h).
//
//   soundness [--quick] [--rule=TEXT] [ROOT]
//
// ROOT is the source tree, the working directory if there is none. Prints a table; exits 1 if a rule changes
// more than its licence says or has no case in which it fires.
#include "tools/testing/soundness.h"

#include "llvm/Support/PrettyStackTrace.h"
#include "llvm/Support/Signals.h"

int main(int argc, char** argv) {
  llvm::sys::PrintStackTraceOnErrorSignal(argv[0]);
  hlo::testing::SoundnessOptions options;
  options.root = ".";
  for (llvm::StringRef argument : llvm::ArrayRef(argv, static_cast<size_t>(argc)).drop_front()) {
    if (argument == "--quick") {
      options.quick = true;
    } else if (argument.consume_front("--rule=")) {
      options.filter = argument.str();
    } else if (argument.starts_with("-")) {
      llvm::errs() << "usage: soundness [--quick] [--rule=TEXT] [ROOT]\n";
      return 2;
    } else {
      options.root = argument.str();
    }
  }
  std::vector<std::string> problems;
  const auto reports = hlo::testing::CheckRules(options, problems);
  hlo::testing::PrintRuleTable(llvm::outs(), reports);
  for (const std::string& problem : problems) llvm::outs() << "problem: " << problem << '\n';
  const bool good =
      llvm::all_of(reports, [](const hlo::testing::RuleReport& r) { return r.sound() && r.checked(); });
  return good && problems.empty() ? 0 : 1;
}

// libFuzzer target: any bytes go through the parser and the verifier without harm, and what is valid
// prints to text that reads back to the same text, but for the order of computations and the signs of zeros.
#include <cstdlib>

#include "ir/print.h"
#include "ir/verify.h"
#include "llvm/Support/raw_ostream.h"
#include "parser/parser.h"
#include "re2/re2.h"

namespace {

bool HasError(const std::vector<hlo::Diagnostic>& diagnostics) {
  return llvm::any_of(diagnostics,
                      [](const hlo::Diagnostic& d) { return d.severity == hlo::Severity::Error; });
}

std::string PrintAll(const hlo::Module& module) {
  hlo::PrintOptions options = hlo::PrintOptions::ModuleDump();
  options.max_constant_elements = -1;
  return hlo::ToString(module, options);
}

[[noreturn]] void Fail(const char* what, llvm::StringRef first, llvm::StringRef second) {
  llvm::errs() << what << "\n--- printed\n" << first << "\n--- then\n" << second << '\n';
  std::abort();
}

std::vector<llvm::StringRef> SortedLines(llvm::StringRef text) {
  llvm::SmallVector<llvm::StringRef> lines;
  text.split(lines, '\n');
  llvm::sort(lines);
  return {lines.begin(), lines.end()};
}

/// The text of a negative zero is `-0`, which reads as an integer and so as a positive zero (HLO text, 6.2):
/// such zeros without their signs.
std::string UnsignedZeros(std::string text) {
  static const re2::RE2 kZero(R"(([ ({,])-0([), }\n]))");
  re2::RE2::GlobalReplace(&text, kZero, R"(\10\2)");
  return text;
}

/// Instructions are printed by dependence, computations by the list of instructions (HLO text, 7.1). Reading
/// what is printed makes the former the latter: computations of values that nothing uses may change places,
/// once.
void CheckReordered(llvm::StringRef first, const std::string& second) {
  if (SortedLines(first) != SortedLines(second)) Fail("printing is not stable", first, second);
  const hlo::ParseResult parsed = hlo::ParseModule(second, "printed twice");
  if (!parsed.module) Fail("the module printed twice does not parse", first, second);
  if (const std::string third = PrintAll(*parsed.module); third != second)
    Fail("printing does not become stable", second, third);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const llvm::StringRef text(reinterpret_cast<const char*>(data), size);
  const hlo::ParseResult parsed = hlo::ParseModule(text, "fuzz");
  for (const hlo::Diagnostic& d : parsed.diagnostics) (void)hlo::Render(d);
  if (!parsed.module) return 0;
  const std::vector<hlo::Diagnostic> violations = hlo::Verify(*parsed.module);
  for (const hlo::Diagnostic& d : violations) (void)hlo::Render(d);
  const std::string printed = UnsignedZeros(PrintAll(*parsed.module));
  if (HasError(violations)) return 0;
  const hlo::ParseResult again = hlo::ParseModule(printed, "printed");
  if (!again.module)
    Fail("the printed module does not parse", printed, hlo::Render(again.diagnostics.front()));
  const std::string reprinted = PrintAll(*again.module);
  if (reprinted != printed) CheckReordered(printed, reprinted);
  return 0;
}

// libFuzzer target: any bytes go through the reader of protocol buffers and the verifier without harm, and
// what is valid prints, and is written to bytes that read back as the same text.
#include <cstdlib>

#include "ir/print.h"
#include "ir/verify.h"
#include "llvm/Support/raw_ostream.h"
#include "tools/proto/module_proto.h"
#include "tools/proto/read_module.h"

namespace {

std::string PrintAll(const hlo::Module& module) {
  hlo::PrintOptions options = hlo::PrintOptions::ModuleDump();
  options.max_constant_elements = -1;
  return hlo::ToString(module, options);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  (void)hlo::ReadLiteralProto(bytes).has_value();
  const auto file = hlo::ReadModuleProto(std::make_shared<hlo::SourceBuffer>("fuzz", bytes));
  if (!file) return (void)hlo::Render(file.error()), 0;
  const std::vector<hlo::Diagnostic> violations = hlo::Verify(*file->module);
  for (const hlo::Diagnostic& d : violations) (void)hlo::Render(d);
  if (!violations.empty()) return 0;
  const std::string printed = PrintAll(*file->module);
  const auto written = hlo::ModuleProtoBytes(*file->module);
  if (!written) return 0;
  const auto again = hlo::ReadModuleProto(std::make_shared<hlo::SourceBuffer>("again", *written));
  if (again && PrintAll(*again->module) == printed) return 0;
  llvm::errs() << "what was written reads as another module\n" << printed;
  std::abort();
}

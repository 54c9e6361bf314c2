#include "tools/testing/file_check.h"

#include "llvm/FileCheck/FileCheck.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

namespace hlo::testing {

std::string RunFileCheck(llvm::StringRef checks, llvm::StringRef checks_name, llvm::StringRef output,
                         const FileCheckOptions& options) {
  llvm::FileCheckRequest request;
  for (const std::string& prefix : options.prefixes) request.CheckPrefixes.emplace_back(prefix);
  for (const std::string& text : options.implicit_check_not) request.ImplicitCheckNot.emplace_back(text);
  request.CommentPrefixes = {"COM"};
  request.AllowEmptyInput = true;
  llvm::FileCheck file_check(request);
  if (!file_check.ValidateCheckPrefixes()) return "malformed check prefix\n";

  std::string explanation;
  llvm::raw_string_ostream os(explanation);
  llvm::SourceMgr sources;
  sources.setDiagHandler(
      [](const llvm::SMDiagnostic& diagnostic, void* stream) {
        diagnostic.print(nullptr, *static_cast<llvm::raw_string_ostream*>(stream), /*ShowColors=*/false);
      },
      &os);
  llvm::SmallString<4096> check_storage, output_storage;
  auto add = [&](llvm::StringRef text, llvm::StringRef name, llvm::SmallString<4096>& storage) {
    const auto original = llvm::MemoryBuffer::getMemBuffer(text, name);
    const llvm::StringRef canonical = file_check.CanonicalizeFile(*original, storage);
    sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(canonical, name), llvm::SMLoc());
    return canonical;
  };
  const llvm::StringRef check_text = add(checks, checks_name, check_storage);
  if (file_check.readCheckFile(sources, check_text))
    return explanation.empty() ? checks_name.str() + ": no check directives found\n" : explanation;
  const llvm::StringRef output_text = add(output, "output", output_storage);
  if (file_check.checkInput(sources, output_text)) return "";
  return explanation.empty() ? "the output does not satisfy the checks\n" : explanation;
}

}  // namespace hlo::testing

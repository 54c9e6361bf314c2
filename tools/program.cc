// The four tools as one program, which does what the name says that it is called by: libraries of LLVM, most
// of its bytes, are there once.
#include "tools/program.h"

#include "llvm/Support/Path.h"
#include "tools/common/process.h"

namespace hlo {
namespace {

struct Tool {
  llvm::StringLiteral name;
  ToolMain* main;
};
constexpr Tool kTools[] = {
    {"hlo-opt", &HloOptMain}, {"hlo-run", &HloRunMain}, {"hlo-diff", &HloDiffMain}, {"hlo-viz", &HloVizMain}};

/// The tool of a name, behind which a version may stand: `hlo-opt-1`. Null: none.
const Tool* FindTool(llvm::StringRef name) {
  for (const Tool& tool : kTools)
    if (llvm::StringRef rest = name; rest.consume_front(tool.name) && (rest.empty() || rest.front() == '-'))
      return &tool;
  return nullptr;
}

int Main(llvm::ArrayRef<const char*> words) {
  const llvm::StringRef program = words.empty() ? "hlo" : llvm::sys::path::filename(words[0]);
  if (const Tool* tool = FindTool(program))
    return RunToolProcess(*tool->main, words.take_front(), words.drop_front());
  // `hlo opt …`: the program itself.
  if (const Tool* tool = words.size() > 1 ? FindTool(("hlo-" + llvm::StringRef(words[1])).str()) : nullptr)
    return RunToolProcess(*tool->main, words.take_front(2), words.drop_front(2));
  llvm::errs() << "usage: " << program << " opt|run|diff|viz ARGUMENT...\n";
  return static_cast<int>(ExitCode::Usage);
}

}  // namespace
}  // namespace hlo

int hlo_program(int argc, char** argv) { return hlo::Main({argv, static_cast<size_t>(argc)}); }

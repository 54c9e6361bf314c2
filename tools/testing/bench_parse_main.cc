// bench_parse: speed of the parser and verifier, one thread, file in memory to verified module.
//
//   bench_parse [--seconds=S] FILE...
//
// Prints per file its size, instructions, the best time of repeated runs (at least three, for S seconds,
// default 1), MB/s (10^6 bytes), and the heap bytes of the module per instruction, source text not counted.
// Exits 1 if a file is unreadable or invalid.
#include <malloc.h>

#include <chrono>

#include "ir/support/parallel.h"
#include "ir/verify.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "parser/parser.h"

namespace hlo {
namespace {

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

size_t HeapBytes() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

/// The module of `source`, verified; null with a message if there is an error.
std::unique_ptr<Module> ParseAndVerify(const SourcePtr& source) {
  ParseResult parsed = ParseModule(source);
  std::vector<Diagnostic> problems = std::move(parsed.diagnostics);
  if (parsed.module)
    for (Diagnostic& d : Verify(*parsed.module)) problems.push_back(std::move(d));
  const bool failed =
      llvm::any_of(problems, [](const Diagnostic& d) { return d.severity == Severity::Error; });
  if (!failed) return std::move(parsed.module);
  for (const Diagnostic& d : problems) llvm::errs() << Render(d);
  return nullptr;
}

bool Bench(const std::string& path, double seconds) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer) {
    llvm::errs() << path << ": error: cannot open: " << buffer.getError().message() << '\n';
    return false;
  }
  const auto source = std::make_shared<const SourceBuffer>(path, (*buffer)->getBuffer().str());
  const size_t bytes = source->text().size();
  double best = 1e30;
  int64_t instructions = 0;
  size_t heap = 0;
  const Clock::time_point start = Clock::now();
  for (int run = 0; run < 3 || SecondsSince(start) < seconds; ++run) {
    const size_t heap_before = HeapBytes();
    const Clock::time_point begin = Clock::now();
    const std::unique_ptr<Module> module = ParseAndVerify(source);
    best = std::min(best, SecondsSince(begin));
    if (!module) return false;
    heap = HeapBytes() - heap_before;
    instructions = module->InstructionCount();
  }
  llvm::outs() << llvm::format(
      "%-52s %8.3f MB %8lld %9.3f ms %7.1f MB/s %6.0f B\n",
      llvm::sys::path::filename(path).take_front(52).str().c_str(), static_cast<double>(bytes) / 1e6,
      static_cast<long long>(instructions), best * 1e3, static_cast<double>(bytes) / best / 1e6,
      static_cast<double>(heap) / static_cast<double>(std::max<int64_t>(1, instructions)));
  return true;
}

}  // namespace
}  // namespace hlo

int main(int argc, char** argv) {
  double seconds = 1;
  bool ok = true;
  hlo::SetThreadCount(1);
  llvm::outs() << llvm::formatv("{0,-52} {1,11} {2,8} {3,12} {4,12} {5,8}\n", "module", "size", "instrs",
                                "best", "speed", "/instr");
  for (llvm::StringRef argument : llvm::ArrayRef(argv, static_cast<size_t>(argc)).drop_front()) {
    if (argument.consume_front("--seconds="))
      ok &= !argument.getAsDouble(seconds);
    else
      ok &= hlo::Bench(argument.str(), seconds);
  }
  return ok ? 0 : 1;
}

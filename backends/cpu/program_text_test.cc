// Programs as text: read back as they were, and what was changed in them stays within its memory.
#include "backends/cpu/compile.h"
#include "backends/cpu/inspect.h"
#include "gtest/gtest.h"
#include "ir/support/sanitized.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "parser/parser.h"

namespace hlo {
namespace {

struct Text {
  SourcePtr source;
  std::unique_ptr<Module> module;
  CpuOptions options;
};

Text Read(const std::string& text) {
  Text read;
  read.source = std::make_shared<SourceBuffer>("program", text);
  const size_t at = compile::FindModuleOfProgram(text).value_or(0);
  read.module = ParseModule(read.source, {}, at, text.size()).module;
  read.options.program = {read.source, 0, at};
  return read;
}

Result<std::string> Print(const Module& module, CpuOptions options) {
  options.executions = 1;
  return GenerateCode(module, options, CodeForm::Program, [](llvm::StringRef) { return true; });
}

/// Whether there is a program.
bool CheckRoundTrip(const Module& module) {
  const auto text = Print(module, {});
  if (!text) return false;  // not for this platform
  const Text read = Read(*text);
  if (read.module == nullptr) return ADD_FAILURE() << *text, false;
  const auto again = Print(*read.module, read.options);
  if (!again) return ADD_FAILURE() << again.error().message << "\n" << *text, false;
  // Computations may come in another order.
  const auto steps = [](llvm::StringRef all) {
    return all.take_front(*compile::FindModuleOfProgram(all)).str();
  };
  EXPECT_EQ(steps(*again), steps(*text));
  return true;
}

TEST(ProgramText, ReadsBackAsItWas) {
  constexpr size_t kEvery = kSanitized ? 7 : 1;
  size_t count = 0, number = 0;
  for (const llvm::StringRef folder : {"/testdata/models", "/testdata/conformance/cases"}) {
    std::error_code error;
    std::vector<std::string> files;
    for (llvm::sys::fs::recursive_directory_iterator at(HLO_SOURCE_DIR + folder, error), end;
         !error && at != end; at.increment(error))
      if (llvm::StringRef(at->path()).ends_with(".hlo")) files.push_back(at->path());
    llvm::sort(files);
    for (const std::string& file : files) {
      if (number++ % kEvery != 0) continue;
      const auto text = llvm::MemoryBuffer::getFile(file);
      ASSERT_TRUE(text);
      SCOPED_TRACE(file);
      const ParseResult parsed = ParseModule((*text)->getBuffer());
      if (parsed.module) count += CheckRoundTrip(*parsed.module) ? 1 : 0;
    }
  }
  EXPECT_GT(count, 1000 / kEvery);
}

constexpr llvm::StringLiteral kSteps = R"(HloModule steps
less { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = pred[] compare(a, b), direction=LT }
up { x = f32[8,8] parameter(0)  ROOT c = f32[8,8] negate(x) }
down { x = f32[8,8] parameter(0)  ROOT r = f32[8,8] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0} }
ENTRY e {
  x = f32[8,8] parameter(0)
  i = s32[] parameter(1)
  n = s32[] parameter(2)
  t = f32[8,8] tanh(x)
  o = f32[8,8] sort(t), dimensions={1}, to_apply=less
  b = f32[8,8] conditional(i, o, o), branch_computations={up, down}
  z = s32[] constant(0)
  row = f32[1,8] dynamic-slice(b, i, z), dynamic_slice_sizes={1,8}
  u = f32[8,8] dynamic-update-slice(b, row, n, z)
  d = f32[<=8,8] set-dimension-size(x, n), dimensions={0}
  dd = f32[<=8,8] negate(d)
  c = f32[8,8] constant({{1,2,3,4,5,6,7,8},{1,2,3,4,5,6,7,8},{1,2,3,4,5,6,7,8},{1,2,3,4,5,6,7,8},{1,2,3,4,5,6,7,8},{1,2,3,4,5,6,7,8},{1,2,3,4,5,6,7,8},{1,2,3,4,5,6,7,8}})
  p = f32[8,8] add(u, c)
  ROOT all = (f32[8,8], f32[8,8], f32[<=8,8]) tuple(p, o, dd)
}
)";

/// Runs it if it is a program; whether it was.
bool RunIfItIsOne(const std::string& text) {
  const Text read = Read(text);
  if (read.module == nullptr) return false;
  const auto executable = CompileForCpu(*read.module, read.options);
  if (!executable) {
    EXPECT_FALSE(executable.error().message.empty());
    return false;
  }
  std::vector<Literal> arguments;
  for (const Instruction* parameter : (*executable)->module().entry()->parameters())
    arguments.push_back(Literal::Zeros(parameter->shape()));
  std::vector<std::vector<Literal>> devices;
  devices.push_back(std::move(arguments));
  (void)(*executable)->Run(std::move(devices), {});
  return true;
}

TEST(ProgramText, WhatWasChangedStaysWithinItsMemory) {
  const ParseResult parsed = ParseModule(kSteps);
  ASSERT_TRUE(parsed.module);
  CpuOptions options;
  options.tier = Tier::Interpret;  // each of them would be compiled
  const auto text = Print(*parsed.module, options);
  ASSERT_TRUE(text) << text.error().message;
  ASSERT_TRUE(RunIfItIsOne(*text)) << *text;
  const size_t end = *compile::FindModuleOfProgram(*text);
  int accepted = 0, refused = 0;
  for (size_t at = 0; at < end; ++at) {
    if (!llvm::isDigit((*text)[at]) || (at > 0 && llvm::isAlnum((*text)[at - 1]))) continue;
    const size_t length = llvm::StringRef(*text).drop_front(at).take_while(llvm::isDigit).size();
    for (const char* number :
         {"0", "1", "2", "7", "64", "255", "260", "4096", "2147483647", "9223372036854775807"}) {
      std::string changed = *text;
      changed.replace(at, length, number);
      ++(RunIfItIsOne(changed) ? accepted : refused);
    }
  }
  EXPECT_GT(accepted, 50);
  EXPECT_GT(refused, 500);
}

}  // namespace
}  // namespace hlo

#include <thread>

#include "backends/cpu/compile.h"
#include "backends/cpu/inspect.h"
#include "backends/kernel/parse.h"
#include "gtest/gtest.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "parser/parser.h"

namespace hlo {
namespace {

/// Steps of every sort: kernels, products, loops of their own, library calls, loops and branches over them.
constexpr llvm::StringLiteral kManySteps = R"(HloModule steps
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = f32[] add(a, b) }
less { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = pred[] compare(a, b), direction=LT }
body {
  s = (s32[], f32[64,64]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[64,64] get-tuple-element(s), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
  d = f32[64,64] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  t = f32[64,64] tanh(d)
  o = f32[64,64] sort(t), dimensions={1}, to_apply=less
  ROOT n = (s32[], f32[64,64]) tuple(j, o)
}
cond {
  s = (s32[], f32[64,64]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(3)
  ROOT r = pred[] compare(i, n), direction=LT
}
up { x = f32[64,64] parameter(0)  ROOT c = f32[64,64] negate(x) }
down { x = f32[64,64] parameter(0)  ROOT r = f32[64,64] reverse(x), dimensions={1} }
ENTRY e {
  x = f32[64,64] parameter(0)
  zero = s32[] constant(0)
  t = (s32[], f32[64,64]) tuple(zero, x)
  w = (s32[], f32[64,64]) while(t), condition=cond, body=body
  y = f32[64,64] get-tuple-element(w), index=1
  z = f32[] constant(0)
  sum = f32[] reduce(y, z), dimensions={0,1}, to_apply=add
  first = pred[] compare(sum, z), direction=LT
  b = f32[64,64] conditional(first, y, y), true_computation=up, false_computation=down
  c = c64[64,64] convert(b)
  f = c64[64,64] fft(c), fft_type=FFT, fft_length={64}
  re = f32[64,64] real(f)
  yt = f32[64,64] transpose(y), dimensions={1,0}
  yy = f32[64,64] dot(y, yt), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  r = s32[64,64] iota(), iota_dimension=0
  q = s32[64,64] iota(), iota_dimension=1
  eq = pred[64,64] compare(r, q), direction=EQ
  k = f32[] constant(9)
  ks = f32[64,64] broadcast(k), dimensions={}
  zs = f32[64,64] broadcast(z), dimensions={}
  diagonal = f32[64,64] select(eq, ks, zs)
  m = f32[64,64] add(yy, diagonal)
  ch = f32[64,64] cholesky(m), lower=true
  ROOT out = (f32[], f32[64,64], f32[64,64]) tuple(sum, re, ch)
}
)";

std::unique_ptr<Module> Parse(llvm::StringRef name, std::string text) {
  ParseResult parsed = ParseModule(std::make_shared<SourceBuffer>(name.str(), std::move(text)));
  for (const Diagnostic& d : parsed.diagnostics) EXPECT_NE(d.severity, Severity::Error) << d.message;
  return std::move(parsed.module);
}

TEST(CpuExecutable, IsReentrant) {
  const auto module = Parse("steps.hlo", kManySteps.str());
  ASSERT_NE(module, nullptr);
  for (const Tier tier : {Tier::Compile, Tier::Interpret}) {
    CpuOptions options;
    options.tier = tier;
    options.store.on_disk = false;
    const auto program = CompileForCpu(*module, options);
    ASSERT_TRUE(program) << program.error().message;
    const auto run = [&](int seed) {
      const Shape& shape = module->entry()->parameters().front()->shape();
      Literal argument = Literal::Make(shape);
      auto* data = reinterpret_cast<float*>(argument.MutableData());
      for (int i = 0; i < 64 * 64; ++i)
        data[i] = static_cast<float>((i * 37 + seed * 11) % 101) / 101.0F - 0.5F;
      std::vector<std::vector<Literal>> arguments(1);
      arguments.front().push_back(std::move(argument));
      auto result = (*program)->Run(std::move(arguments), {});
      EXPECT_TRUE(result) << result.error().message;
      return result ? std::move(result->results.front()) : Literal();
    };
    constexpr int kSeeds = 6;
    std::vector<Literal> alone;
    for (int seed = 0; seed < kSeeds; ++seed) alone.push_back(run(seed));
    EXPECT_FALSE(alone[0] == alone[1]);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        for (int i = 0; i < 12; ++i) {
          const int seed = (i + t) % kSeeds;
          EXPECT_TRUE(run(seed) == alone[static_cast<size_t>(seed)]) << seed;
        }
      });
    for (std::thread& thread : threads) thread.join();
  }
}

/// Prints the kernels of a module and reads each again; how many there were.
int CheckKernelTexts(const Module& module) {
  CpuOptions options;
  options.tier = Tier::Compile;
  const auto text = GenerateCode(module, options, CodeForm::KernelIr, [](llvm::StringRef) { return true; });
  if (!text) return 0;  // not for this platform
  int count = 0;
  llvm::StringRef rest = *text;
  for (size_t at = rest.find("kernel k"); at != llvm::StringRef::npos; at = rest.find("\nkernel k")) {
    rest = rest.drop_front(at).ltrim('\n');
    const size_t end = rest.find("\n}\n");
    EXPECT_NE(end, llvm::StringRef::npos);
    if (end == llvm::StringRef::npos) break;
    const std::string one = rest.take_front(end + 3).str();
    rest = rest.drop_front(end + 2);
    const auto kernel = kernel::ParseKernel(one);
    EXPECT_TRUE(kernel) << kernel.error().message << "\n" << one;
    if (kernel) EXPECT_EQ(ToString(*kernel), one);
    ++count;
  }
  return count;
}

TEST(KernelTexts, OfModulesAreReadAsTheyAreWritten) {
  int count = 0, number = 0;
  for (const llvm::StringRef folder : {"/testdata/models", "/testdata/conformance/cases"}) {
    std::error_code error;
    std::vector<std::string> files;
    for (llvm::sys::fs::recursive_directory_iterator at(HLO_SOURCE_DIR + folder, error), end;
         !error && at != end; at.increment(error))
      if (llvm::StringRef(at->path()).ends_with(".hlo")) files.push_back(at->path());
    llvm::sort(files);
    for (const std::string& file : files) {
      // Of the cases a sample.
      if (folder.ends_with("cases") && number++ % 23 != 0) continue;
      const auto text = llvm::MemoryBuffer::getFile(file);
      ASSERT_TRUE(text);
      SCOPED_TRACE(file);
      if (const auto module = Parse(file, (*text)->getBuffer().str())) count += CheckKernelTexts(*module);
    }
  }
  EXPECT_GT(count, 100);
}

}  // namespace
}  // namespace hlo

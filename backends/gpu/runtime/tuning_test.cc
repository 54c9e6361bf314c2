// Schedules that are tried: the same each time on the emulated GPU, kept in a file, taken from there.
#include <fstream>
#include <sstream>

#include "backends/compile/kernel_config.h"
#include "backends/gpu/codegen/ptx_module.h"
#include "backends/gpu/runtime/test_programs.h"
#include "backends/gpu/runtime/tuning_results.h"

namespace hlo::gpu {
namespace {

/// A product and rows that are summed.
constexpr const char* kModule = R"(HloModule m
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = f32[] add(a, b) }
ENTRY e {
  p = f32[32,32] parameter(0)
  d = f32[32,32] dot(p, p), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  z = f32[] constant(0)
  ROOT s = f32[32] reduce(d, z), dimensions={1}, to_apply=add
}
)";

std::string TextOf(const std::string& file) {
  std::ifstream in(file);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

class GpuTuning : public testing::Test {
 protected:
  void SetUp() override { ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("tuning", folder_)); }
  void TearDown() override {
    [[maybe_unused]] const std::error_code ignored = llvm::sys::fs::remove_directories(folder_);
  }
  [[nodiscard]] std::string File(const char* name = "results") const { return (folder_ + "/" + name).str(); }

  /// The schedules of its kernels.
  Result<std::string> Tuned(Tuning tuning, const std::string& file, const char* text_of = kModule) {
    std::unique_ptr<Module> module = Parsed(text_of);
    HLO_CHECK_OK(PassesFor(TestMachine())(*module));
    Platform platform = SmallEmulatedGpu();
    platform.emulation.device.count = true;
    HLO_CHECK_OK(Tune(*module, TestTarget(), TestMachine(), platform, {tuning, file}));
    std::string text;
    for (const auto& computation : module->computations())
      for (const Instruction* fusion : computation->InstructionsOf(OpKind::Fusion))
        text += compile::KernelConfigOf(*fusion)->schedule.value_or("none") + "\n";
    return text;
  }
  std::string Schedules(Tuning tuning, const std::string& file) {
    const auto text = Tuned(tuning, file);
    EXPECT_TRUE(text) << Render(text.error());
    return text ? *text : "";
  }

  llvm::SmallString<128> folder_;
};

TEST_F(GpuTuning, IsTheSameEachTime) {
  const int64_t start = PtxModulesMade();
  const std::string first = Schedules(Tuning::On, File("a"));
  const int64_t tried = PtxModulesMade();
  EXPECT_GT(tried, start + 3);
  const std::string text = TextOf(File("a"));
  EXPECT_NE(text.find("\nh100 gpu-emu "), std::string::npos) << text;
  // What is known is not tried again.
  EXPECT_EQ(Schedules(Tuning::On, File("a")), first);
  EXPECT_EQ(Schedules(Tuning::Cached, File("a")), first);
  EXPECT_EQ(PtxModulesMade(), tried);
  EXPECT_EQ(TextOf(File("a")), text);
  EXPECT_EQ(Schedules(Tuning::On, File("b")), first);
  EXPECT_EQ(TextOf(File("b")), text);
}

TEST_F(GpuTuning, TheFileDecides) {
  const std::string plain = Schedules(Tuning::Cached, File("none"));
  EXPECT_FALSE(llvm::sys::fs::exists(File("none")));
  Schedules(Tuning::On, File());
  std::string text = TextOf(File());
  const size_t at = text.find("product i0, i1 by ");
  ASSERT_NE(at, std::string::npos) << text;
  const size_t end = text.find(" warps", at);
  text.replace(at, text.find(" unit", at) - at, "product i0, i1 by 16, 32, 16 warps 1, 1");
  ASSERT_NE(end, std::string::npos);
  {
    std::ofstream out(File());
    out << text;
  }
  const std::string changed = Schedules(Tuning::Cached, File());
  EXPECT_NE(changed, plain);
  EXPECT_NE(changed.find("by 16, 32, 16 warps 1, 1"), std::string::npos) << changed;
  // What is no alternative is left aside.
  text.replace(text.find("by 16, 32, 16 warps"), 19, "by 16, 48, 16 warps");
  {
    std::ofstream out(File());
    out << text;
  }
  EXPECT_EQ(Schedules(Tuning::Cached, File()).find("48"), std::string::npos);
}

TEST_F(GpuTuning, FilesThatAreNoneAreRefused) {
  for (const char* line : {"h100 gpu-emu 12 x split i0 by 4", "h100 gpu-emu 12 1.5", "h100"}) {
    {
      std::ofstream out(File());
      out << "# results\n\n" << line << "\n";
    }
    const auto tuned = Tuned(Tuning::Cached, File());
    ASSERT_FALSE(tuned) << line;
    EXPECT_EQ(tuned.error().id, DiagnosticId("input-format"));
    EXPECT_NE(tuned.error().message.find("line 3 of results of tuning: found '"), std::string::npos);
    EXPECT_EQ(tuned.error().file, File());
  }
  constexpr const char* kSmall = "ENTRY e { p = f32[512] parameter(0)  ROOT n = f32[512] negate(p) }";
  const auto unwritable = Tuned(Tuning::On, "/proc/none/results", kSmall);
  ASSERT_FALSE(unwritable);
  EXPECT_EQ(unwritable.error().id, DiagnosticId("output-write"));
}

TEST_F(GpuTuning, ProgramsAreWhatTheyWere) {
  GpuRunOptions options;
  options.platform = SmallEmulatedGpu();
  options.platform.emulation.device.count = true;
  std::vector<Literal> results;
  for (const Tuning tuning : {Tuning::Off, Tuning::On}) {
    options.tuning = {tuning, File()};
    const auto program = Compile(kModule, options);
    ASSERT_NE(program, nullptr);
    Literal argument = Literal::Zeros(Shape::ArrayWithDefaultLayout(ElementType::F32, {32, 32}));
    // Sums of small integers are exact in any order.
    for (auto [i, value] : llvm::enumerate(argument.MutableSpan<float>())) value = static_cast<float>(i % 5);
    auto result = program->Run({{std::move(argument)}}, {});
    ASSERT_TRUE(result) << Render(result.error());
    results.push_back(std::move(result->results.front()));
  }
  EXPECT_TRUE(results[0] == results[1]);
}

}  // namespace
}  // namespace hlo::gpu

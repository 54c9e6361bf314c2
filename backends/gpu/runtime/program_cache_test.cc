// Programs for GPUs on disk: a module that ran before starts without passes and without PTX being made.
#include <sys/stat.h>

#include <fstream>

#include "backends/gpu/codegen/ptx_module.h"
#include "backends/gpu/runtime/test_programs.h"

namespace hlo::gpu {
namespace {

/// Kernels, a loop that the host goes through, a step without kernel, a large constant.
constexpr const char* kModule = R"(HloModule m
body {
  s = (s32[], f32[4,4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[4,4] get-tuple-element(s), index=1
  y = f32[4,4] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  u = u32[] replica-id()
  d = s32[] convert(u)
  one = s32[] constant(1)
  e = s32[] add(d, one)
  j = s32[] add(i, e)
  ROOT n = (s32[], f32[4,4]) tuple(j, y)
}
less {
  s = (s32[], f32[4,4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(2)
  ROOT r = pred[] compare(i, n), direction=LT
}
ENTRY e {
  p = f32[4,4] parameter(0)
  c = f32[4,4] constant({{1,0,0,0},{0,2,0,0},{0,0,3,0},{0,0,0,4}})
  x = f32[4,4] multiply(p, c)
  i = s32[] constant(0)
  t = (s32[], f32[4,4]) tuple(i, x)
  ROOT w = (s32[], f32[4,4]) while(t), condition=less, body=body
}
)";

class GpuProgramCache : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("gpu_cache", folder_));
    if (const char* was = std::getenv("XDG_CACHE_HOME"); was != nullptr) was_ = was;
    ::setenv("XDG_CACHE_HOME", folder_.c_str(), 1);
  }
  void TearDown() override {
    was_.empty() ? ::unsetenv("XDG_CACHE_HOME") : ::setenv("XDG_CACHE_HOME", was_.c_str(), 1);
    [[maybe_unused]] const std::error_code ignored = llvm::sys::fs::remove_directories(folder_);
  }

  /// What one process would do. Counts what it makes and says.
  void Run(const char* key = "key", const char* target = "h100", const char* text = kModule) {
    passes_ = 0;
    said_.clear();
    const int64_t before = PtxModulesMade();
    GpuRunOptions options;
    options.target = *FindTarget(target);
    options.platform = SmallEmulatedGpu();
    options.cache_key = key;
    options.report = [&](const Diagnostic& d) { said_ += d.message; };
    const compile::Machine machine = MachineOf(options.target);
    options.machine = &machine;
    options.run_passes = [&](Module& module) {
      ++passes_;
      return PassesFor(machine)(module);
    };
    const auto program = CompileForGpu(*Parsed(text), options);
    ASSERT_TRUE(program) << Render(program.error());
    made_ = PtxModulesMade() - before;
    Literal argument = Literal::Zeros(Shape::ArrayWithDefaultLayout(ElementType::F32, {4, 4}));
    for (float& value : argument.MutableSpan<float>()) value = 0.5F;
    const auto result = (*program)->Run({{std::move(argument)}}, {});
    ASSERT_TRUE(result) << Render(result.error());
    result_ = result->results.front();
  }
  /// The only file.
  [[nodiscard]] std::string File() const {
    std::vector<std::string> files;
    std::error_code error;
    for (llvm::sys::fs::recursive_directory_iterator at(folder_, error), end; !error && at != end;
         at.increment(error))
      if (at->type() == llvm::sys::fs::file_type::regular_file) files.push_back(at->path());
    EXPECT_EQ(files.size(), 1U);
    return files.empty() ? "" : files.front();
  }

  llvm::SmallString<128> folder_;
  std::string was_, said_;
  Literal result_;
  int64_t made_ = 0;
  int passes_ = 0;
};

TEST_F(GpuProgramCache, TheSecondRunMakesNoPtx) {
  Run();
  EXPECT_GT(made_, 0);
  EXPECT_EQ(passes_, 1);
  const Literal first = result_;
  Run();
  EXPECT_EQ(made_, 0);
  EXPECT_EQ(passes_, 0);
  EXPECT_EQ(said_, "");
  EXPECT_TRUE(result_ == first);
}

TEST_F(GpuProgramCache, OtherKeysAreOtherEntries) {
  Run();
  Run("other");
  EXPECT_GT(made_, 0);
  Run("key", "a100");
  EXPECT_GT(made_, 0);
  // A constant, and a name.
  std::string text = kModule;
  text.replace(text.find("{0,2,0,0}"), 9, "{0,3,0,0}");
  Run("key", "h100", text.c_str());
  EXPECT_GT(made_, 0);
  text = kModule;
  text.replace(text.find("HloModule m"), 11, "HloModule n");
  Run("key", "h100", text.c_str());
  EXPECT_GT(made_, 0);
  Run("");
  EXPECT_GT(made_, 0);
  Run("");
  EXPECT_GT(made_, 0);
  Run();
  EXPECT_EQ(made_, 0);
}

TEST_F(GpuProgramCache, DamagedEntriesAreMadeAnew) {
  Run();
  const Literal first = result_;
  const std::string file = File();
  {
    std::fstream at(file, std::ios::in | std::ios::out | std::ios::binary);
    at.seekp(100);
    at.put('\x7f');
  }
  Run();
  EXPECT_NE(said_.find("is damaged; not used"), std::string::npos) << said_;
  EXPECT_GT(made_, 0);
  EXPECT_TRUE(result_ == first);
  Run();
  EXPECT_EQ(made_, 0);
  ASSERT_EQ(::chmod(file.c_str(), 0666), 0);
  Run();
  EXPECT_NE(said_.find("may be written by others; not used"), std::string::npos) << said_;
  EXPECT_GT(made_, 0);
}

}  // namespace
}  // namespace hlo::gpu

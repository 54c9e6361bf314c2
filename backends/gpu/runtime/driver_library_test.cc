// --platform=gpu as far as it goes without a GPU: a library that is found as libcuda.so.1 hands out the
// functions of the emulated driver.
#include <dlfcn.h>

#include "backends/gpu/driver/load.h"
#include "backends/gpu/runtime/test_programs.h"
#include "backends/gpu/runtime/tuning_results.h"
#include "gtest/gtest.h"

namespace hlo::gpu {
namespace {

struct DriverRow {
  const char* symbol;
  int version;
  void* function;
};

/// The library, and what it hands out.
class Library {
 public:
  explicit Library(const EmulatedDriverOptions& options, llvm::StringRef missing = "") {
    ReleaseGpus();
    const DriverApi& api = StartEmulatedDriver(options);
    for (const DriverFunction& function : DriverFunctions()) {
      if (function.name == missing) continue;
      void* address = nullptr;
      std::memcpy(static_cast<void*>(&address), reinterpret_cast<const char*>(&api) + function.offset,
                  sizeof address);
      rows_.push_back({names_.emplace_back(function.base().str()).c_str(), function.version, address});
    }
    handle_ = ::dlopen(HLO_STAND_IN_DRIVER, RTLD_NOW | RTLD_LOCAL);
    auto* set = reinterpret_cast<void (*)(const DriverRow*, size_t)>(::dlsym(handle_, "SetDriver"));
    EXPECT_NE(set, nullptr);
    if (set != nullptr) set(rows_.data(), rows_.size());
  }
  ~Library() { ReleaseGpus(); }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  [[nodiscard]] void* handle() const { return handle_; }

 private:
  std::deque<std::string> names_;
  std::vector<DriverRow> rows_;
  void* handle_ = nullptr;
};

EmulatedDriverOptions SmallGpu() {
  EmulatedDriverOptions options;
  options.device.memory = uint64_t{1} << 26;
  return options;
}

constexpr const char* kTwice = R"(HloModule twice
ENTRY e {
  x = f32[3000000] parameter(0)
  s = f32[3] slice(x), slice={[0:3000000:1000000]}
  y = f32[3] exponential(s)
  r = f32[3] add(y, y)
  ROOT t = (f32[3], f32[3000000]) tuple(r, x)
}
)";
/// More than both pieces of staging memory hold.
constexpr int64_t kElements = 3000000;

Result<ExecutionResult> RunOnce(const Executable& program) {
  Literal argument = Literal::Zeros(Shape::ArrayWithDefaultLayout(ElementType::F32, {kElements}));
  return program.Run({{std::move(argument)}}, {});
}

TEST(DriverLibrary, RunsModulesAndKeepsWhatItHas) {
  const Library library(SmallGpu());
  const std::unique_ptr<Executable> program = Compile(kTwice);
  for (int run = 0; run < 2; ++run) {
    const auto result = RunOnce(*program);
    ASSERT_TRUE(result) << Render(result.error());
    const Literal &twos = result->results.front().elements()[0],
                  &zeros = result->results.front().elements()[1];
    for (const float two : twos.Data<float>()) EXPECT_EQ(two, 2.0F);
    EXPECT_TRUE(llvm::all_of(zeros.Data<float>(), [](float zero) { return zero == 0; }));
  }
}

TEST(DriverLibrary, WhatIsLostStaysLost) {
  EmulatedDriverOptions options = SmallGpu();
  options.faults = {{"LaunchKernel", 1, CuResult::IllegalAddress}};
  const Library library(options);
  const std::unique_ptr<Executable> program = Compile(kTwice);
  const auto first = RunOnce(*program), second = RunOnce(*program);
  ASSERT_FALSE(first);
  EXPECT_TRUE(llvm::StringRef(first.error().message).contains("CUDA_ERROR_ILLEGAL_ADDRESS (700)"));
  // Kernels run while the host goes on: an error may be that of an earlier one.
  ASSERT_FALSE(first.error().notes.empty());
  EXPECT_TRUE(llvm::StringRef(first.error().notes.back().message).contains("--gpu-sync"));
  ASSERT_FALSE(second);
  EXPECT_TRUE(llvm::StringRef(second.error().notes.back().message).starts_with("the GPU was lost by that"));
}

constexpr const char* kRows = R"(HloModule rows
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = f32[] add(a, b) }
ENTRY e {
  x = f32[4,64] parameter(0)
  z = f32[] constant(0)
  ROOT s = f32[4] reduce(x, z), dimensions={1}, to_apply=add
}
)";

// Without counts the GPU's clock decides.
TEST(DriverLibrary, SchedulesAreTimed) {
  const Library library(SmallGpu());
  llvm::SmallString<128> folder;
  ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("tuning", folder));
  GpuRunOptions options;
  options.tuning = {Tuning::On, (folder + "/results").str()};
  const std::unique_ptr<Executable> program = Compile(kRows, options);
  const auto results = TuningResults::Read(options.tuning.file);
  ASSERT_TRUE(results);
  EXPECT_FALSE(results->empty());
  const auto result =
      program->Run({{Literal::Zeros(Shape::ArrayWithDefaultLayout(ElementType::F32, {4, 64}))}}, {});
  ASSERT_TRUE(result) << Render(result.error());
  EXPECT_EQ(result->results.front().Data<float>()[0], 0.0F);
  [[maybe_unused]] const std::error_code ignored = llvm::sys::fs::remove_directories(folder);
}

TEST(DriverLibrary, LacksAFunction) {
  const Library library(SmallGpu(), "EventRecord");
  const auto api = ReadDriver(library.handle());
  ASSERT_FALSE(api);
  EXPECT_EQ(api.error().id, DiagnosticId("unavailable-gpu"));
  EXPECT_TRUE(llvm::StringRef(api.error().message).starts_with("the NVIDIA driver has no cuEventRecord"));
}

}  // namespace
}  // namespace hlo::gpu

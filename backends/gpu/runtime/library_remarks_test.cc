// What is said of libraries that nobody named and that do not do what they should.
#include "backends/gpu/runtime/test_programs.h"
#include "gtest/gtest.h"

namespace hlo::gpu {
namespace {

/// The stand-in fails while it looks for ways of such convolutions.
constexpr const char* kTwice = R"(HloModule twice
ENTRY e {
  x = bf16[4,12,12,29] parameter(0)
  w = bf16[32,3,3,29] parameter(1)
  y = bf16[4,12,12,32] convolution(x, w), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_o01i->b01f
  v = bf16[32,5,5,29] parameter(2)
  z = bf16[4,12,12,32] convolution(x, v), window={size=5x5 pad=2_2x2_2}, dim_labels=b01f_o01i->b01f
  ROOT t = tuple(y, z)
}
)";

/// It knows no way for these.
constexpr const char* kNoWay = R"(HloModule no_way
ENTRY e {
  x = bf16[4,12,12,17] parameter(0)
  w = bf16[32,3,3,17] parameter(1)
  ROOT y = bf16[4,12,12,32] convolution(x, w), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_o01i->b01f
}
)";

/// What is said while the module runs with libraries of a folder, where there are any.
std::vector<std::string> Remarks(llvm::StringRef folder, const char* module = kTwice) {
  std::vector<std::string> said;
  GpuRunOptions options;
  options.platform = SmallEmulatedGpu();
  options.libraries = {LibraryOptions::Use::Auto, folder.str()};
  options.report = [&](const Diagnostic& remark) { said.push_back(Render(remark)); };
  const std::unique_ptr<Executable> program = Compile(module, options);
  std::vector<Literal> arguments;
  for (const Instruction* parameter : program->module().entry()->parameters())
    arguments.push_back(Literal::Zeros(parameter->shape()));
  const auto result = program->Run({std::move(arguments)}, {});
  EXPECT_TRUE(result) << Render(result.error());
  return said;
}

TEST(LibraryRemarks, TellOfALibraryThatFailsOnce) {
  const std::vector<std::string> said = Remarks(HLO_STAND_INS);
  ASSERT_EQ(said.size(), 1U);
  EXPECT_EQ(said.front(),
            "remark: cudnnBackendFinalize: CUDNN_STATUS_BAD_PARAM (2000), an argument is out of range "
            "[runtime-gpu]\nnote: kernels of our own do what cuDNN would\n");
}

TEST(LibraryRemarks, TellOfALibraryThatHasNoWay) {
  const std::vector<std::string> said = Remarks(HLO_STAND_INS, kNoWay);
  ASSERT_EQ(said.size(), 1U);
  EXPECT_EQ(
      said.front(),
      "remark: cuDNN has no engine for it [unavailable-library]\nnote: kernels of our own do what cuDNN "
      "would\n");
}

TEST(LibraryRemarks, TellOfALibraryThatCannotBeLoaded) {
  llvm::SmallString<128> folder;
  ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("libraries", folder));
  EXPECT_TRUE(Remarks(folder).empty());
  int file = -1;
  ASSERT_FALSE(llvm::sys::fs::openFileForWrite(folder + "/libcudnn.so.9", file));
  llvm::raw_fd_ostream(file, /*shouldClose=*/true) << "not a library";
  const std::vector<std::string> said = Remarks(folder);
  ASSERT_EQ(said.size(), 1U);
  EXPECT_TRUE(llvm::StringRef(said.front()).starts_with("remark: no libcudnn.so.9 that can be loaded in "));
  [[maybe_unused]] const std::error_code ignored = llvm::sys::fs::remove_directories(folder);
}

}  // namespace
}  // namespace hlo::gpu

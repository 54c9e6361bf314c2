// Ordered updates as atomic ones.
#include "backends/kernel/interpret.h"
#include "backends/kernel/parse.h"
#include "backends/kernel/schedule.h"
#include "gtest/gtest.h"

namespace hlo::kernel {
namespace {

/// y[i[n]] = op(y[i[n]], n), one n after the other.
std::string Updates(llvm::StringRef op, llvm::StringRef type, llvm::StringRef more = "") {
  return llvm::formatv(R"(kernel k(b0: s64[100], out b1: {1}[7]) {{
  %0 = constant s64 0x0
  %1 = constant {1} 0x0
  for i0 in 100 ordered {{
    %2 = load b0[i0]
    %3 = compare GE pred %2, %0
    %4 = index i0
    %5 = convert {1} %4
    %6 = load b1[%2] if %3 else %1
    %7 = {0} {1} %6, %5
    {2}store b1[%2], %7 if %3
  }
}
)",
                       op, type, more)
      .str();
}

std::vector<int32_t> Computed(const Kernel& kernel) {
  std::vector<int64_t> x(100);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<int64_t>(i * i % 8) - 1;
  std::vector<int32_t> y(7, 3);
  const std::vector<void*> buffers = {x.data(), y.data()};
  const Status status = Interpret(kernel, buffers);
  EXPECT_TRUE(status) << status.error().message << '\n' << ToString(kernel);
  return y;
}

constexpr llvm::StringLiteral kSchedule =
    "atomic i0; split i0 by 32 into i1, i2; bind i1 to block.x; bind i2 to thread.x";

TEST(KernelAtomics, IntegersNeedNoOrder) {
  for (const char* op : {"add", "maximum", "minimum", "and", "or", "xor"}) {
    const std::string text = Updates(op, "s32");
    auto kernel = ParseKernel(text);
    ASSERT_TRUE(kernel) << kernel.error().message;
    const auto expected = Computed(*kernel);
    const Status status = ApplySchedule(*kernel, *ParseSchedule(kSchedule));
    ASSERT_TRUE(status) << status.error().message;
    EXPECT_NE(ToString(*kernel).find(std::string("atomic ") + op + " b1[%2], %5 if %3"), std::string::npos)
        << ToString(*kernel);
    EXPECT_EQ(Computed(*kernel), expected) << op;
  }
}

TEST(KernelAtomics, OthersKeepTheirOrder) {
  const std::pair<std::string, const char*> cases[] = {
      {Updates("add", "f32"), "i0 does more than operations on integers that may be atomic"},
      {Updates("subtract", "s32"), "i0 does more than operations on integers that may be atomic"},
      {Updates("add", "s8"), "i0 does more than operations on integers that may be atomic"},
      {Updates("add", "s32", "store b1[0], %5\n    "),
       "i0 does more than operations on integers that may be atomic"},
      {Updates("add", "s32", "store b1[0], %6\n    "),
       "i0 does more than operations on integers that may be atomic"},
  };
  for (const auto& [text, message] : cases) {
    auto kernel = ParseKernel(text);
    ASSERT_TRUE(kernel) << kernel.error().message << text;
    const Status status = ApplySchedule(*kernel, *ParseSchedule(kSchedule));
    ASSERT_FALSE(status) << text;
    EXPECT_TRUE(llvm::StringRef(status.error().message).ends_with(message)) << status.error().message;
  }
}

}  // namespace
}  // namespace hlo::kernel

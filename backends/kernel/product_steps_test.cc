// Products in tiles: what kernels compute stays, whatever the extents, and however factors lie in memory.
#include "backends/kernel/interpret.h"
#include "backends/kernel/parse.h"
#include "backends/kernel/schedule.h"
#include "gtest/gtest.h"
#include "ir/numeric/narrow_float.h"
#include "ir/support/sanitized.h"

namespace hlo::kernel {
namespace {

/// How the elements of a factor lie in memory: neighbours in depth, or rows (columns) side by side.
enum class Order : uint8_t { Depth, Lines };

struct Problem {
  ElementType type, sum;
  int64_t batches, rows, columns, depth;
  Order left = Order::Depth, right = Order::Lines;
};

/// y = sum of products + row + column.
std::string Multiplication(const Problem& p) {
  const auto place = [&](Order order, int64_t lines, const char* loop) {
    return order == Order::Depth
               ? llvm::formatv("i0*{0} + {1}*{2} + i3", lines * p.depth, loop, p.depth).str()
               : llvm::formatv("i0*{0} + {1} + i3*{2}", lines * p.depth, loop, lines).str();
  };
  const bool converts = p.type != p.sum;
  const std::string type = ToString(p.type).str(), sum = ToString(p.sum).str();
  std::string text =
      llvm::formatv("kernel k(b0: {0}[{1}], b1: {0}[{2}], b2: {3}[{4}], out b5: {3}[{5}]) {{\n", type,
                    p.batches * p.rows * p.depth, p.batches * p.columns * p.depth, sum, p.columns,
                    p.batches * p.rows * p.columns);
  text = llvm::StringRef(text).str();
  text.replace(text.find("b5"), 2, "b3");
  text += llvm::formatv(
      "  %0 = constant {0} 0x0\n  for i0 in {1} {{\n    for i1 in {2} {{\n      for i2 in {3} {{\n", sum,
      p.batches, p.rows, p.columns);
  text += llvm::formatv("        %1 = reduce i3 in {0} init %0 {{\n", p.depth);
  text += "          %2 = load b0[" + place(p.left, p.rows, "i1") + "]\n";
  text += "          %3 = load b1[" + place(p.right, p.columns, "i2") + "]\n";
  if (converts) text += "          %4 = convert " + sum + " %2\n          %5 = convert " + sum + " %3\n";
  text += "          %6 = multiply " + sum + (converts ? " %4, %5\n" : " %2, %3\n");
  text += "          yield %6\n        } by (%7, %8) {\n          %9 = add " + sum + " %7, %8\n";
  text += "          yield %9\n        }\n        %10 = load b2[i2]\n        %11 = add " + sum + " %1, %10\n";
  text += llvm::formatv("        store b3[i0*{0} + i1*{1} + i2], %11\n      }\n    }\n  }\n}\n",
                        p.rows * p.columns, p.columns);
  return text;
}

/// Small whole numbers, so that no sum is rounded.
std::vector<uint8_t> Filled(const Buffer& buffer, uint64_t seed) {
  const auto width = static_cast<size_t>(Info(buffer.type).host_bytes());
  std::vector<uint8_t> bytes(static_cast<size_t>(buffer.count) * width);
  for (size_t i = 0; i < static_cast<size_t>(buffer.count); ++i) {
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    const auto number = static_cast<int64_t>(seed >> 60) - 8;
    const uint64_t bits = IsFloat(buffer.type) ? FromDouble(buffer.type, static_cast<double>(number))
                                               : static_cast<uint64_t>(number);
    std::memcpy(bytes.data() + i * width, &bits, width);
  }
  return bytes;
}

std::vector<uint8_t> Computed(const Kernel& kernel) {
  std::vector<std::vector<uint8_t>> arrays;
  std::vector<void*> buffers;
  for (size_t i = 0; i < kernel.buffers.size(); ++i) {
    const bool global = kernel.buffers[i].space == Space::Global;
    arrays.push_back(global ? Filled(kernel.buffers[i], i + 1) : std::vector<uint8_t>());
    buffers.push_back(arrays.back().data());
  }
  const Status status = Interpret(kernel, buffers);
  EXPECT_TRUE(status) << status.error().message << '\n' << ToString(kernel);
  return arrays[3];
}

Result<Kernel> Scheduled(llvm::StringRef text, llvm::StringRef schedule) {
  auto kernel = ParseKernel(text);
  EXPECT_TRUE(kernel) << kernel.error().message << text.str();
  const auto steps = ParseSchedule(schedule);
  EXPECT_TRUE(steps) << steps.error().message;
  EXPECT_EQ(ToString(*steps), schedule);
  HLO_CHECK_OK(ApplySchedule(*kernel, *steps));
  const auto again = ParseKernel(ToString(*kernel));
  EXPECT_TRUE(again) << again.error().message << ToString(*kernel);
  return std::move(*kernel);
}

void ExpectSame(const Problem& problem, const std::string& product) {
  const std::string text = Multiplication(problem);
  const auto kernel = Scheduled(text, "product i0, i1, i2 by " + product + " into i4; bind i4 to block.x");
  ASSERT_TRUE(kernel) << product << ": " << kernel.error().message << text;
  EXPECT_EQ(Computed(*kernel), Computed(*ParseKernel(text))) << product << '\n' << text;
}

TEST(KernelProducts, ValuesStayWhateverTheUnit) {
  using enum ElementType;
  const std::tuple<ElementType, ElementType, const char*> units[] = {
      {BF16, F32, "32, 16, 32 warps 1, 2 unit bf16 16x8x16 stages 3"},
      {F16, F32, "32, 32, 16 warps 2, 1 unit f16 16x8x16 stages 2"},
      {S8, S32, "16, 32, 64 warps 1, 2 unit s8 16x8x32 stages 2"},
      {F64, F64, "16, 16, 8 warps 1, 1 unit f64 8x8x4 stages 3"},
      {F32, F32, "32, 32, 16 warps 2, 2 unit f32 8x4x4 stages 2"},
      {F32, F32, "32, 32, 16 warps 2, 2 unit f32 16x8x8 stages 2"},
      {S32, S32, "16, 16, 8 warps 1, 1 unit s32 8x4x4 stages 4"},
      {U64, U64, "16, 16, 8 warps 2, 1 unit u64 8x4x2 stages 2"}};
  for (const auto& [type, sum, product] : units)
    for (const Order left : {Order::Depth, Order::Lines})
      for (const Order right : {Order::Depth, Order::Lines}) {
        if (!kSanitized) ExpectSame({type, sum, 1, 32, 32, 64, left, right}, product);
        ExpectSame({type, sum, 2, 40, 24, 48, left, right}, product);
        ExpectSame({type, sum, 1, 17, 33, 29, left, right}, product);
      }
}

TEST(KernelProducts, WhatDoesNotFitIsNamed) {
  const std::string text = Multiplication({ElementType::F32, ElementType::F32, 1, 32, 32, 32});
  const std::pair<const char*, const char*> cases[] = {
      {"product i0, i1, i2 by 32, 32, 16 warps 1, 1 unit bf16 16x8x16 stages 2 into i4",
       "a factor is of f32, which is not made of bf16"},
      {"product i0, i1, i2 by 32, 32, 16 warps 1, 1 unit f32 16x8x4 stages 2 into i4",
       "there are no tiles f32 16x8x4"},
      {"product i0, i1, i2 by 24, 32, 16 warps 1, 1 unit f32 8x4x4 stages 2 into i4",
       "tiles of 24 x 32 x 16 by 1 x 1 warps: expected powers of two"},
      {"product i0, i1, i2 by 32, 32, 16 warps 8, 1 unit f32 8x4x4 stages 2 into i4",
       "tiles of 32 x 32 x 16 by 8 x 1 warps are not made of f32 8x4x4"},
      {"product i0, i1, i2 by 32, 32, 16 warps 1, 1 unit f32 8x4x4 stages 1 into i4",
       "1 stages: expected 2 to 8"},
      {"product i0, i1, i2 by 32, 32, 16 warps 1, 1 unit f32 8x4x4 stages 2 into i1", "i1 is not new"},
  };
  for (const auto& [schedule, why] : cases) {
    const auto kernel = Scheduled(text, schedule);
    ASSERT_FALSE(kernel) << schedule;
    EXPECT_NE(kernel.error().message.find(why), std::string::npos) << kernel.error().message;
  }
}

}  // namespace
}  // namespace hlo::kernel

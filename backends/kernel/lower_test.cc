// Lowered computations, interpreted, against the evaluator; and which have no loops. Forms that the grouping
// of the CPU backend makes are shown by its text tests.
#include "backends/kernel/lower.h"

#include <random>

#include "backends/kernel/interpret.h"
#include "backends/kernel/parse.h"
#include "backends/kernel/test_target.h"
#include "gtest/gtest.h"
#include "ir/eval/executor.h"
#include "ir/module.h"
#include "parser/parser.h"

namespace hlo::kernel {
namespace {

struct Case {
  const char* name;
  const char* text;
  const char* error = "";
};
std::ostream& operator<<(std::ostream& os, const Case& c) { return os << c.name; }

/// Small numbers of any sign, with some that fill a word.
std::vector<Literal> MakeArguments(const Computation& computation) {
  std::minstd_rand random(7);
  std::vector<Literal> arguments;
  for (const Instruction* parameter : computation.parameters()) {
    Literal argument = Literal::Make(parameter->shape());
    const auto width = static_cast<size_t>(Info(parameter->shape().element_type()).host_bytes());
    for (size_t at = 0; at < argument.byte_size(); at += width) {
      const auto number = static_cast<int64_t>(random() % 21) - 10;
      const auto real = static_cast<float>(number);
      const bool is_float = parameter->shape().element_type() == ElementType::F32;
      std::memcpy(argument.MutableData() + at, is_float ? static_cast<const void*>(&real) : &number, width);
    }
    arguments.push_back(std::move(argument));
  }
  return arguments;
}

class LoweredComputation : public testing::TestWithParam<Case> {};

TEST_P(LoweredComputation, EqualsTheEvaluator) {
  const auto parsed = ParseModule(GetParam().text);
  ASSERT_NE(parsed.module, nullptr) << parsed.diagnostics[0].message;
  const Computation& entry = *parsed.module->entry();
  const auto lowered = Lower(entry, "k", TestTarget());
  ASSERT_TRUE(lowered) << lowered.error().message;
  ASSERT_TRUE(VerifyKernel(lowered->kernel)) << ToString(lowered->kernel);

  std::vector<Literal> arguments = MakeArguments(entry);
  Literal result = Literal::Zeros(entry.root()->shape());
  std::vector<void*> buffers;
  for (Literal& argument : arguments) buffers.push_back(argument.MutableData());
  buffers.push_back(result.MutableData());
  const Status status = Interpret(lowered->kernel, buffers);
  ASSERT_TRUE(status) << status.error().message;

  ExecutionPlans plans;
  DeviceGroup group(1, 1, 0, std::chrono::milliseconds(1000));
  Device device(group, 0, 0);
  const auto expected = Executor(plans, device).Call(entry, std::move(arguments));
  ASSERT_TRUE(expected) << expected.error().message;
  EXPECT_EQ(llvm::ArrayRef(result.data(), result.byte_size()),
            llvm::ArrayRef(expected->data(), expected->byte_size()))
      << ToString(lowered->kernel);
}

constexpr Case kEqual[] = {
    {"update_read_elsewhere", R"(HloModule m
ENTRY e { x = s32[7,9] parameter(0)  u = s32[3,9] parameter(1)  i = s32[] parameter(2)  z = s32[] constant(0)
  d = s32[7,9] dynamic-update-slice(x, u, i, z)  ROOT r = s32[9,7] transpose(d), dimensions={1,0} })"},
    {"update_by_what_it_changes", R"(HloModule m
ENTRY e { x = s32[7,9] parameter(0)  i = s32[] parameter(1)  s = s32[3,9] slice(x), slice={[4:7],[0:9]}
  ROOT d = s32[7,9] dynamic-update-slice(x, s, i, i) })"},
    {"update_of_computed_values", R"(HloModule m
ENTRY e { x = s32[7,9] parameter(0)  u = s32[3,9] parameter(1)  i = s32[] parameter(2)  n = s32[7,9] negate(x)
  ROOT d = s32[7,9] dynamic-update-slice(n, u, i, i) })"},
    {"update_of_all", R"(HloModule m
ENTRY e { x = s32[7,9] parameter(0)  u = s32[7,9] parameter(1)  i = s32[] parameter(2)
  d = s32[7,9] dynamic-update-slice(x, u, i, i)  ROOT r = s32[7,9] negate(d) })"},
    {"update_by_nothing", R"(HloModule m
ENTRY e { x = s32[7,9] parameter(0)  u = s32[0,9] parameter(1)  i = s32[] parameter(2)
  d = s32[7,9] dynamic-update-slice(x, u, i, i)  ROOT r = s32[7,9] negate(d) })"},
    {"indices_beyond_s64", R"(HloModule m
ENTRY e { x = s32[30] parameter(0)  i = u64[] parameter(1)
  d = s32[4] dynamic-slice(x, i), dynamic_slice_sizes={4}  ROOT r = s32[4] negate(d) })"},
    {"element_of_a_tuple", R"(HloModule m
both { a = s32[] parameter(0)  b = s32[] parameter(1)  c = s32[] parameter(2)  d = s32[] parameter(3)
  s = s32[] add(a, c)  m = s32[] maximum(b, d)  ROOT t = (s32[], s32[]) tuple(s, m) }
ENTRY e { x = s32[7,9] parameter(0)  z = s32[] constant(0)
  r = (s32[7], s32[7]) reduce(x, x, z, z), dimensions={1}, to_apply=both
  s = s32[7] get-tuple-element(r), index=0  m = s32[7] get-tuple-element(r), index=1
  ROOT d = s32[7] subtract(s, m) })"},
    {"copies", R"(HloModule m
ENTRY e { x = s32[7,9] parameter(0)  c = s32[7,9] copy(x)  ROOT r = s32[9,7] transpose(c), dimensions={1,0} })"},
    {"combiners_that_call", R"(HloModule m
sum { a = s32[] parameter(0)  b = s32[] parameter(1)  ROOT s = s32[] add(a, b) }
twice { a = s32[] parameter(0)  b = s32[] parameter(1)  c = s32[] copy(b)
  s = s32[] call(b, c), to_apply=sum  ROOT r = s32[] call(a, s), to_apply=sum }
ENTRY e { x = s32[7,9] parameter(0)  z = s32[] constant(3)
  ROOT r = s32[9] reduce(x, z), dimensions={0}, to_apply=twice })"},
    {"combiners_that_call_for_two_values", R"(HloModule m
both { a = s32[] parameter(0)  b = s32[] parameter(1)  c = s32[] parameter(2)  d = s32[] parameter(3)
  s = s32[] add(a, c)  m = s32[] maximum(b, d)  ROOT t = (s32[], s32[]) tuple(s, m) }
outer { a = s32[] parameter(0)  b = s32[] parameter(1)  c = s32[] parameter(2)  d = s32[] parameter(3)
  ROOT t = (s32[], s32[]) call(a, b, c, d), to_apply=both }
ENTRY e { x = s32[7,9] parameter(0)  z = s32[] constant(0)
  r = (s32[7], s32[7]) reduce(x, x, z, z), dimensions={1}, to_apply=outer
  ROOT m = s32[7] get-tuple-element(r), index=1 })"},
    {"windows_of_two_values", R"(HloModule m
both { a = s32[] parameter(0)  b = s32[] parameter(1)  c = s32[] parameter(2)  d = s32[] parameter(3)
  s = s32[] add(a, c)  m = s32[] maximum(b, d)  ROOT t = (s32[], s32[]) tuple(s, m) }
ENTRY e { x = s32[7,9] parameter(0)  z = s32[] constant(2)
  w = (s32[7,9], s32[7,9]) reduce-window(x, x, z, z), window={size=2x3 pad=0_1x1_1}, to_apply=both
  s = s32[7,9] get-tuple-element(w), index=0  m = s32[7,9] get-tuple-element(w), index=1
  ROOT d = s32[7,9] subtract(s, m) })"},
    {"windows_inside_of_all", R"(HloModule m
both { a = s32[] parameter(0)  b = s32[] parameter(1)  s = s32[] subtract(a, b)  ROOT m = s32[] maximum(b, s) }
ENTRY e { x = s32[7,9] parameter(0)  z = s32[] constant(2)
  ROOT w = s32[3,4] reduce-window(x, z), window={size=2x3 stride=2x2}, to_apply=both })"},
};
INSTANTIATE_TEST_SUITE_P(, LoweredComputation, testing::ValuesIn(kEqual),
                         [](const auto& info) { return std::string(info.param.name); });

class ComputationWithoutLoops : public testing::TestWithParam<Case> {};

TEST_P(ComputationWithoutLoops, IsRefused) {
  const auto parsed = ParseModule(GetParam().text);
  ASSERT_NE(parsed.module, nullptr) << parsed.diagnostics[0].message;
  const auto lowered = Lower(*parsed.module->entry(), "k", TestTarget());
  ASSERT_FALSE(lowered) << ToString(lowered->kernel);
  EXPECT_TRUE(IsDeclined(lowered.error()));
  EXPECT_EQ(lowered.error().message, GetParam().error);
}

constexpr Case kRefused[] = {
    {"tuples", R"(HloModule m
ENTRY e { p = (f32[2]) parameter(0)  ROOT r = f32[2] get-tuple-element(p), index=0 })",
     "%p is no array"},
    {"empty_results", R"(HloModule m
ENTRY e { x = f32[0] parameter(0)  ROOT r = f32[0] negate(x) })",
     "%r has shape f32[0]"},
    {"other_ops", R"(HloModule m
less { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT l = pred[] compare(a, b), direction=LT }
ENTRY e { x = f32[8] parameter(0)  s = f32[8] sort(x), dimensions={0}, to_apply=less  ROOT r = f32[8] negate(s) })",
     "%s = sort has no loops"},
    {"elided_constants", R"(HloModule m
ENTRY e { c = f32[8] constant({...})  ROOT r = f32[8] negate(c) })",
     "%c is elided"},
    {"constant_arrays", R"(HloModule m
ENTRY e { c = f32[2] constant({1, 2})  ROOT r = f32[2] negate(c) })",
     "%c is a constant array"},
    {"parts_of_bytes", R"(HloModule m
ENTRY e { x = u8[4] parameter(0)  b = u4[4,2] bitcast-convert(x)  ROOT r = u4[4,2] not(b) })",
     "%b changes the element size"},
    {"other_elements", R"(HloModule m
ENTRY e { x = s32[4] parameter(0)  b = f32[4] bitcast(x)  ROOT r = f32[4] negate(b) })",
     "%b reinterprets elements"},
    {"updates_by_another_place", R"(HloModule m
ENTRY e { x = s32[7,9] parameter(0)  i = s32[] parameter(1)  j = s32[] parameter(2)
  s = s32[3,9] dynamic-slice(x, j, i), dynamic_slice_sizes={3,9}  n = s32[3,9] negate(s)
  ROOT d = s32[7,9] dynamic-update-slice(x, n, i, i) })",
     "%d reads what it updates"},
    {"updates_at_narrow_indices", R"(HloModule m
ENTRY e { x = s32[7,9] parameter(0)  i = u8[] parameter(1)
  s = s32[3,9] dynamic-slice(x, i, i), dynamic_slice_sizes={3,9}  n = s32[3,9] negate(s)
  ROOT d = s32[7,9] dynamic-update-slice(x, n, i, i) })",
     "%d reads what it updates"},
    {"reductions_of_nothing", R"(HloModule m
sum { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }
ENTRY e { x = f32[3,0] parameter(0)  z = f32[] constant(0)
  ROOT r = f32[3] reduce(x, z), dimensions={1}, to_apply=sum })",
     "%r reduces nothing"},
    {"combiners_of_arrays", R"(HloModule m
sum { a = f32[] parameter(0)  b = f32[] parameter(1)  v = f32[1] reshape(a)  w = f32[] reshape(v)
  ROOT s = f32[] add(w, b) }
ENTRY e { x = f32[3,4] parameter(0)  z = f32[] constant(0)
  ROOT r = f32[3] reduce(x, z), dimensions={1}, to_apply=sum })",
     "%v in %sum is no scalar operation"},
    {"scatters_elsewhere", R"(HloModule m
sum { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }
ENTRY e { x = f32[9] parameter(0)  n = f32[9] negate(x)  i = s32[6,1] parameter(1)  u = f32[6] parameter(2)
  ROOT r = f32[9] scatter(n, i, u), to_apply=sum, update_window_dims={}, inserted_window_dims={0},
    scatter_dims_to_operand_dims={0}, index_vector_dim=1 })",
     "%r does not change parameters in place"},
    {"scatters_of_nothing", R"(HloModule m
sum { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }
ENTRY e { x = f32[9] parameter(0)  i = s32[0,1] parameter(1)  u = f32[0] parameter(2)
  ROOT r = f32[9] scatter(x, i, u), to_apply=sum, update_window_dims={}, inserted_window_dims={0},
    scatter_dims_to_operand_dims={0}, index_vector_dim=1 })",
     "%r has no updates"},
    {"large_windows", R"(HloModule m
sum { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }
ENTRY e { x = f32[90] parameter(0)  z = f32[] constant(0)
  ROOT w = f32[26] reduce-window(x, z), window={size=65}, to_apply=sum })",
     "%w has windows of 65 elements"},
    {"reversed_windows", R"(HloModule m
sum { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }
ENTRY e { x = f32[9] parameter(0)  z = f32[] constant(0)
  ROOT w = f32[8] reduce-window(x, z), window={size=2 rhs_reversal=1}, to_apply=sum })",
     "%w is reversed"},
    {"windows_in_the_padding", R"(HloModule m
sum { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }
ENTRY e { x = f32[1] parameter(0)  z = f32[] constant(0)
  ROOT w = f32[2] reduce-window(x, z), window={size=1 pad=2_-1}, to_apply=sum })",
     "%w has windows in the padding only"},
    {"dots_of_half_bytes", R"(HloModule m
ENTRY e { x = s4[3,4] parameter(0)  y = s4[4,5] parameter(1)
  ROOT d = s32[3,5] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0} })",
     "%d is no plain dot"},
    {"convolutions_of_half_bytes", R"(HloModule m
ENTRY e { x = s4[1,4,4] parameter(0)  y = s4[4,4,4] parameter(1)
  ROOT c = s32[1,1,4] convolution(x, y), window={size=4}, dim_labels=b0f_0io->b0f })",
     "%c is no plain convolution"},
    {"padding_of_what_is_cut", R"(HloModule m
ENTRY e { x = f32[4] parameter(0)  z = f32[] constant(0)  ROOT p = f32[3] pad(x, z), padding=-6_5 })",
     "%p pads what it cuts off"},
};
INSTANTIATE_TEST_SUITE_P(, ComputationWithoutLoops, testing::ValuesIn(kRefused),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace hlo::kernel

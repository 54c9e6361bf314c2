#include <array>
#include <thread>

#include "tools/library/c_test.h"

namespace {

using namespace hlo_c_test;  // NOLINT(google-build-using-namespace): what they share

constexpr const char* kSum = R"(HloModule sum
ENTRY sum {
  x = f32[3] parameter(0)
  y = f32[3] parameter(1)
  unused = f32[3] negate(x)
  s = f32[3] add(x, y)
  p = f32[3] multiply(x, y)
  ROOT t = (f32[3], f32[3]) tuple(s, p)
}
)";

TEST(LibraryC, ModulesAreReadWrittenAndChanged) {
  EXPECT_EQ(hlo_c_version(), HLO_C_VERSION);
  HloModule* module = Parsed(kSum);
  EXPECT_STREQ(hlo_module_name(module), "sum");
  EXPECT_EQ(Said(hlo_module_verify(module)), "");
  EXPECT_NE(Printed(module).find("negate"), std::string::npos);
  HloPassOptions options = HLO_INIT(HloPassOptions);
  std::vector<std::string> passes;
  options.user = &passes;
  options.verify_each = 1;
  options.after_pass = [](void* user, const HloPassEvent* event) {
    static_cast<std::vector<std::string>*>(user)->emplace_back(event->pass);
    return event->number < 3 ? 1 : 0;
  };
  HloModule* shorter = nullptr;
  EXPECT_EQ(Said(hlo_module_run_passes(module, "dce,cse", &options, &shorter)), "");
  EXPECT_EQ(passes, (std::vector<std::string>{"dce", "cse"}));
  EXPECT_EQ(Printed(shorter).find("negate"), std::string::npos);
  HloModule* none = nullptr;
  EXPECT_EQ(Code(hlo_module_run_passes(module, "dce,cse,dce,cse", &options, &none)), HLO_CANCELLED);
  EXPECT_EQ(none, nullptr);
  HloDiff diff = HLO_INIT(HloDiff);
  HloText* report = nullptr;
  EXPECT_EQ(Said(hlo_module_diff(module, shorter, "text", &diff, &report)), "");
  EXPECT_EQ(diff.equal, 0);
  EXPECT_EQ(diff.removed, 1);
  EXPECT_NE(Taken(report).find("negate"), std::string::npos);
  EXPECT_EQ(Said(hlo_module_diff(module, module, nullptr, &diff, nullptr)), "");
  EXPECT_EQ(diff.equal, 1);
  HloText* picture = nullptr;
  EXPECT_EQ(Said(hlo_module_draw(module, "dot", &picture)), "");
  EXPECT_NE(Taken(picture).find("digraph"), std::string::npos);
  EXPECT_EQ(Code(hlo_module_draw(module, "gif", &picture)), HLO_INVALID_ARGUMENT);
  hlo_module_free(shorter);
  hlo_module_free(module);
}

TEST(LibraryC, ProgramsRunOnTheCallersMemory) {
  HloModule* module = Parsed(kSum);
  for (const char* platform : {"cpu", "interpreter", "gpu-emu"}) {
    HloClientOptions options = HLO_INIT(HloClientOptions);
    options.platform = platform;
    options.no_cache = 1;
    options.optimization_level = "1";
    HloClient* client = nullptr;
    HloExecutable* program = nullptr;
    ASSERT_EQ(Said(hlo_client_create(&options, &client)), "");
    ASSERT_EQ(Said(hlo_client_compile(client, module, &program)), "");
    EXPECT_EQ(hlo_executable_argument_count(program), 2);
    EXPECT_EQ(hlo_executable_result_count(program), 2);
    HloArray shape = HLO_INIT(HloArray);
    EXPECT_EQ(Said(hlo_executable_result(program, 1, &shape)), "");
    EXPECT_EQ(shape.type, hlo_type_number("f32"));
    EXPECT_EQ(shape.bytes, 12U);
    std::vector<float> x = {1, 2, 3}, y = {4, 5, 6}, sum(3), product(3);
    const std::array<HloArray, 2> arguments = {ArrayOf("f32", {3}, x), ArrayOf("f32", {3}, y)};
    std::array<HloArray, 2> results = {ArrayOf("f32", {3}, sum), ArrayOf("f32", {3}, product)};
    EXPECT_EQ(Said(hlo_executable_execute(program, arguments.data(), 2, results.data(), 2)), "");
    EXPECT_EQ(sum, (std::vector<float>{5, 7, 9}));
    EXPECT_EQ(product, (std::vector<float>{4, 10, 18}));
    HloText* bytes = nullptr;
    EXPECT_EQ(Said(hlo_executable_serialize(program, &bytes)), "");
    HloExecutable* loaded = nullptr;
    EXPECT_EQ(Said(hlo_client_load(client, hlo_text_data(bytes), hlo_text_size(bytes), &loaded)), "");
    hlo_text_free(bytes);
    // Programs outlive their client, and threads share them.
    hlo_client_free(client);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&] {
        std::vector<float> mine(3), other(3);
        std::array<HloArray, 2> to = {ArrayOf("f32", {3}, mine), ArrayOf("f32", {3}, other)};
        EXPECT_EQ(Said(hlo_executable_execute(loaded, arguments.data(), 2, to.data(), 2)), "");
        EXPECT_EQ(other, product);
      });
    for (std::thread& thread : threads) thread.join();
    hlo_executable_free(program);
    hlo_executable_free(loaded);
  }
  hlo_module_free(module);
}

TEST(LibraryC, WrongCallsAreErrors) {
  HloModule* module = nullptr;
  const std::string broken = "HloModule m\nENTRY e { ROOT x = f32[2] frobnicate() }\n";
  EXPECT_EQ(Said(hlo_module_parse(broken.data(), broken.size(), "b.hlo", &module)).substr(0, 10),
            "b.hlo:2:27");
  EXPECT_EQ(module, nullptr);
  EXPECT_EQ(Said(hlo_module_parse(nullptr, 0, nullptr, &module)), "the text is null");
  EXPECT_EQ(Said(hlo_module_read(nullptr, 0, nullptr, &module)), "the bytes are null");
  EXPECT_EQ(Said(hlo_module_proto(nullptr, nullptr)), "the module is null");
  EXPECT_EQ(Said(hlo_module_parse(kSum, std::string(kSum).size(), nullptr, nullptr)),
            "there is no place for the module");
  EXPECT_EQ(Said(hlo_module_print(nullptr, nullptr)), "the module is null");
  EXPECT_EQ(Said(hlo_module_verify(nullptr)), "the module is null");
  EXPECT_STREQ(hlo_module_name(nullptr), "");
  EXPECT_EQ(hlo_executable_argument_count(nullptr), -1);
  EXPECT_EQ(Said(hlo_executable_execute(nullptr, nullptr, 0, nullptr, 0)), "the executable is null");
  hlo_error_free(nullptr), hlo_text_free(nullptr), hlo_module_free(nullptr), hlo_client_free(nullptr);
  hlo_executable_free(nullptr), hlo_builder_free(nullptr);

  module = Parsed(kSum);
  HloClient* client = nullptr;
  HloExecutable* program = nullptr;
  ASSERT_EQ(Said(hlo_client_create(nullptr, &client)), "");
  ASSERT_EQ(Said(hlo_client_compile(client, module, &program)), "");
  std::vector<float> x = {1, 2, 3}, sum(3), product(3);
  std::array<HloArray, 2> arguments = {ArrayOf("f32", {3}, x), ArrayOf("f32", {3}, x)};
  std::array<HloArray, 2> results = {ArrayOf("f32", {3}, sum), ArrayOf("f32", {3}, product)};
  const auto run = [&] {
    return Said(hlo_executable_execute(program, arguments.data(), 2, results.data(), 2));
  };
  EXPECT_EQ(Said(hlo_executable_execute(program, arguments.data(), 1, results.data(), 2)),
            "1 arguments, the program takes 2");
  EXPECT_EQ(Said(hlo_executable_execute(program, arguments.data(), 2, results.data(), 3)),
            "3 results, the program has 2");
  arguments[1].dimensions[0] = 4;
  EXPECT_EQ(run(), "argument 1 is of another type or other sizes than f32[3]");
  arguments[1] = arguments[0], arguments[1].bytes = 11;
  EXPECT_EQ(run(), "argument 1 needs 12 bytes, but has 11");
  arguments[1] = arguments[0], arguments[1].data = nullptr;
  EXPECT_EQ(run(), "argument 1 has no memory");
  arguments[1] = arguments[0], results[0].bytes = 8;
  EXPECT_EQ(run(), "result 0 needs 12 bytes, but has 8");
  results[0].bytes = 12, results[1].type = hlo_type_number("s32");
  EXPECT_EQ(run(), "result 1 is of another type or rank than f32[3]");
  results[1].type = hlo_type_number("f32"), results[1].struct_size = 0;
  EXPECT_EQ(run(), "result 1 is no struct of an array");
  results[1].struct_size = sizeof(HloArray);
  EXPECT_EQ(run(), "");
  EXPECT_EQ(Said(hlo_client_cancel(client, 1)), "");
  EXPECT_EQ(Code(hlo_executable_execute(program, arguments.data(), 2, results.data(), 2)), HLO_CANCELLED);
  EXPECT_EQ(Said(hlo_client_cancel(client, 0)), "");
  EXPECT_EQ(run(), "");
  HloExecutable* none = program;
  EXPECT_EQ(Said(hlo_client_load(client, "nonsense", 8, &none)),
            "the bytes are no executable of this version");
  EXPECT_EQ(none, nullptr);
  hlo_executable_free(program);
  hlo_client_free(client);
  hlo_module_free(module);
}

TEST(LibraryC, StructsHaveVersions) {
  // A caller who knows a field more, which says nothing; or something.
  struct Later {
    HloClientOptions known;
    int64_t more;
  } later = {HLO_INIT(HloClientOptions), 0};
  later.known.struct_size = sizeof(Later);
  HloClient* client = nullptr;
  EXPECT_EQ(Said(hlo_client_create(&later.known, &client)), "");
  hlo_client_free(client);
  later.more = 1;
  EXPECT_EQ(Said(hlo_client_create(&later.known, &client)), "the options have fields of a later version");
  // One who knows fewer.
  HloClientOptions earlier = HLO_INIT(HloClientOptions);
  earlier.struct_size = offsetof(HloClientOptions, threads);
  earlier.threads = -1;
  EXPECT_EQ(Said(hlo_client_create(&earlier, &client)), "");
  hlo_client_free(client);
  earlier.struct_size = 3;
  EXPECT_EQ(Said(hlo_client_create(&earlier, &client)), "the options are a struct of 3 bytes");
  HloModule* module = Parsed(kSum);
  struct Short {
    size_t struct_size;
    int64_t equal;
    int64_t beyond;
  } brief = {2 * sizeof(int64_t), 7, 7};
  EXPECT_EQ(Said(hlo_module_diff(module, module, nullptr, reinterpret_cast<HloDiff*>(&brief), nullptr)), "");
  EXPECT_EQ(brief.equal, 1);
  EXPECT_EQ(brief.beyond, 7);
  hlo_module_free(module);
}

TEST(LibraryC, ArraysAreCompared) {
  std::vector<float> x = {1, 2, 3}, y = {1, 2.5, 3};
  const HloArray a = ArrayOf("f32", {3}, x), b = ArrayOf("f32", {3}, y);
  EXPECT_EQ(hlo_array_bytes(&a), 12);
  HloComparison result = HLO_INIT(HloComparison);
  EXPECT_EQ(Said(hlo_array_compare(&a, &b, 0, 0, &result)), "");
  EXPECT_EQ(result.matched, 0);
  EXPECT_EQ(result.mismatches, 1);
  EXPECT_EQ(result.max_abs, 0.5);
  EXPECT_EQ(Said(hlo_array_compare(&a, &b, 0.5, 0, &result)), "");
  EXPECT_EQ(result.matched, 1);
  HloArray wrong = a;
  wrong.rank = 17;
  EXPECT_EQ(Said(hlo_array_compare(&a, &wrong, 0, 0, &result)),
            "the second array has 17 dimensions, at most 16 are possible");
  EXPECT_EQ(hlo_array_bytes(&wrong), -1);
  wrong = a, wrong.type = 99;
  EXPECT_EQ(Said(hlo_array_compare(&wrong, &a, 0, 0, &result)),
            "the first array has no element type number 99");
  wrong = a, wrong.dimensions[0] = -1;
  EXPECT_EQ(hlo_array_bytes(&wrong), -1);
  EXPECT_EQ(hlo_type_number("f99"), 0);
  EXPECT_EQ(Said(hlo_array_compare(&a, nullptr, 0, 0, &result)), "the second array is null");
  EXPECT_EQ(Said(hlo_array_compare(&a, &b, 0, 0, nullptr)), "there is no place for the results");
}

TEST(LibraryC, ConstantsOfComputationsStayWhole) {
  HloModule* table = Parsed(
      "HloModule table\nENTRY e { x = s32[12] parameter(0)  v0 = s32[12] "
      "constant({1,2,3,4,5,6,7,8,9,10,11,12}) "
      "ROOT s = s32[12] add(x, v0) }");
  HloBuilder* builder = nullptr;
  ASSERT_EQ(Said(hlo_builder_create("a model", &builder)), "");
  EXPECT_EQ(Said(hlo_builder_computation(builder, "table", table)), "");
  std::vector<int32_t> values(12, 100);
  // The names that values get, v0 and so on, are those of the computation, too.
  std::vector<int32_t> large(20, 7);
  const HloArray constant = ArrayOf("s32", {20}, large), argument = ArrayOf("s32", {12}, values);
  HloValue many = -1, x = -1, sum = -1;
  EXPECT_EQ(Said(hlo_builder_constant(builder, &constant, &many)), "");
  EXPECT_EQ(Said(hlo_builder_parameter(builder, 0, "s32[12]", nullptr, &x)), "");
  EXPECT_EQ(Said(hlo_builder_add(builder, "call", &x, 1, "s32[12]", "to_apply=table", &sum)), "");
  const std::array<HloValue, 2> both = {sum, many};
  HloValue pair = -1;
  EXPECT_EQ(Said(hlo_builder_add(builder, "tuple", both.data(), 2, nullptr, nullptr, &pair)), "");
  HloModule* module = nullptr;
  ASSERT_EQ(Said(hlo_builder_build(builder, pair, &module)), "");
  EXPECT_STREQ(hlo_module_name(module), "a_model");
  HloClient* client = nullptr;
  HloExecutable* program = nullptr;
  ASSERT_EQ(Said(hlo_client_create(nullptr, &client)), "");
  ASSERT_EQ(Said(hlo_client_compile(client, module, &program)), "");
  std::vector<int32_t> first(12), second(20);
  std::array<HloArray, 2> results = {ArrayOf("s32", {12}, first), ArrayOf("s32", {20}, second)};
  EXPECT_EQ(Said(hlo_executable_execute(program, &argument, 1, results.data(), 2)), "");
  EXPECT_EQ(first.back(), 112);
  EXPECT_EQ(second, large);
  hlo_executable_free(program);
  hlo_client_free(client);
  hlo_module_free(module);
  hlo_builder_free(builder);
  hlo_module_free(table);
}

TEST(LibraryC, ModulesAreBuilt) {
  HloModule* add = Parsed(
      "HloModule add\nENTRY e { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }");
  HloBuilder* builder = nullptr;
  ASSERT_EQ(Said(hlo_builder_create("rows", &builder)), "");
  HloValue x = -1, zero = -1, sum = -1, twice = -1;
  EXPECT_EQ(Said(hlo_builder_parameter(builder, 0, "f32[2,3]", "x", &x)), "");
  std::vector<float> nothing = {0};
  const HloArray scalar = ArrayOf("f32", {}, nothing);
  EXPECT_EQ(Said(hlo_builder_constant(builder, &scalar, &zero)), "");
  EXPECT_EQ(Said(hlo_builder_computation(builder, "sum", add)), "");
  const std::array<HloValue, 2> operands = {x, zero};
  EXPECT_EQ(Said(hlo_builder_add(builder, "reduce", operands.data(), 2, "f32[2]",
                                 "dimensions={1}, to_apply=sum", &sum)),
            "");
  const std::array<HloValue, 2> same = {sum, sum};
  EXPECT_EQ(Said(hlo_builder_add(builder, "add", same.data(), 2, nullptr, nullptr, &twice)), "");
  HloText* shape = nullptr;
  EXPECT_EQ(Said(hlo_builder_shape(builder, twice, &shape)), "");
  EXPECT_EQ(Taken(shape), "f32[2]{0}");
  // Constants of all sizes.
  std::vector<float> many(100, 0.1F);
  for (const int64_t size : {0, 1, 100}) {
    const HloArray constant = ArrayOf("f32", {size}, many);
    HloValue unused = -1;
    EXPECT_EQ(Said(hlo_builder_constant(builder, &constant, &unused)), "");
  }
  HloModule* module = nullptr;
  ASSERT_EQ(Said(hlo_builder_build(builder, twice, &module)), "");
  EXPECT_NE(Printed(module).find("f32[100]{0} constant({0.1, 0.1"), std::string::npos);
  HloClient* client = nullptr;
  HloExecutable* program = nullptr;
  ASSERT_EQ(Said(hlo_client_create(nullptr, &client)), "");
  ASSERT_EQ(Said(hlo_client_compile(client, module, &program)), "");
  std::vector<float> values = {1, 2, 3, 4, 5, 6}, result(2);
  const HloArray argument = ArrayOf("f32", {2, 3}, values);
  HloArray to = ArrayOf("f32", {2}, result);
  EXPECT_EQ(Said(hlo_executable_execute(program, &argument, 1, &to, 1)), "");
  EXPECT_EQ(result, (std::vector<float>{12, 30}));

  HloValue none = -1;
  const HloValue missing = -1;
  // Names that mean something.
  EXPECT_EQ(Said(hlo_builder_parameter(builder, 1, "f32[2]", "a b = f32[] parameter(0)\n", &none)), "");
  HloModule* odd = nullptr;
  EXPECT_EQ(Said(hlo_builder_build(builder, twice, &odd)), "");
  hlo_module_free(odd);
  EXPECT_EQ(Said(hlo_builder_computation(builder, "sum", add)), "the name 'sum' is taken");
  EXPECT_NE(Said(hlo_builder_add(builder, "frobnicate", &x, 1, nullptr, nullptr, &none)), "");
  EXPECT_NE(Said(hlo_builder_add(builder, "add", operands.data(), 2, nullptr, nullptr, &none)), "");
  EXPECT_NE(Said(hlo_builder_add(builder, "negate", &x, 1, nullptr, "\n ROOT y = f32[] constant(1)", &none)),
            "");
  EXPECT_EQ(Said(hlo_builder_add(builder, "negate", &missing, 1, nullptr, nullptr, &none)),
            "there is no value -1");
  EXPECT_EQ(Said(hlo_builder_parameter(builder, 1, "f32[2", "y", &none)).empty(), false);
  EXPECT_EQ(Said(hlo_builder_parameter(builder, 1, "f32[2]", "x", &none)), "the name 'x' is taken");
  EXPECT_EQ(Said(hlo_builder_parameter(builder, -1, "f32[2]", "y", &none)),
            "parameter number -1 is negative");
  hlo_module_free(module);
  EXPECT_EQ(Said(hlo_builder_build(builder, 99, &module)), "there is no value 99");
  EXPECT_EQ(module, nullptr);
  EXPECT_EQ(Said(hlo_builder_build(nullptr, 0, &module)), "the builder is null");
  hlo_executable_free(program);
  hlo_client_free(client);
  hlo_builder_free(builder);
  hlo_module_free(add);
}

}  // namespace

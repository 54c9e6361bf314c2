// hlo/hlo_c.h: calls that are wrong, and structs of other versions.
#include <array>
#include <cmath>
#include <thread>

#include "tools/library/c_test.h"

namespace {

using namespace hlo_c_test;  // NOLINT(google-build-using-namespace): what they share
using Floats = std::vector<float>;

// Structs that grew, as earlier versions of the interface had them: hlo_c.h of versions 1 and 2.
struct ClientOptionsOf2 {
  size_t struct_size;
  const char* platform;
  int64_t threads;
  int64_t no_cache;
  const char* cache_folder;
  int64_t memory_limit;
  int64_t time_limit_ms;
  const uint64_t* seed;
  const char* optimization_level;
  const char* gpu_target;
};
struct ArrayOf2 {
  size_t struct_size;
  int32_t type;
  int32_t rank;
  int64_t dimensions[HLO_MAX_RANK];
  void* data;
  size_t bytes;
};

ArrayOf2 Earlier(const HloArray& array) {
  ArrayOf2 made{sizeof(ArrayOf2), array.type, array.rank, {}, array.data, array.bytes};
  std::copy(std::begin(array.dimensions), std::end(array.dimensions), made.dimensions);
  return made;
}

TEST(LibraryCVersions, StructsOfEarlierVersionsWork) {
  ClientOptionsOf2 options = {};
  options.struct_size = sizeof options;
  options.platform = "interpreter";
  options.no_cache = 1;
  HloClient* client = nullptr;
  ASSERT_EQ(Said(hlo_client_create(reinterpret_cast<const HloClientOptions*>(&options), &client)), "");
  EXPECT_EQ(hlo_client_device_count(client), 1);
  HloModule* module = Parsed(
      "HloModule m\nENTRY e { x = f32[2] parameter(0)  y = f32[2] parameter(1)  s = f32[2] add(x, y)  "
      "p = f32[2] multiply(x, y)  ROOT t = (f32[2], f32[2]) tuple(s, p) }");
  HloExecutable* program = nullptr;
  ASSERT_EQ(Said(hlo_client_compile(client, module, &program)), "");
  Floats x = {1, 2}, y = {3, 4}, sum(2), product(2);
  const std::array<ArrayOf2, 2> arguments = {Earlier(ArrayOf("f32", x)), Earlier(ArrayOf("f32", y))};
  std::array<ArrayOf2, 2> results = {Earlier(ArrayOf("f32", sum)), Earlier(ArrayOf("f32", product))};
  EXPECT_EQ(Said(hlo_executable_execute(program, reinterpret_cast<const HloArray*>(arguments.data()), 2,
                                        reinterpret_cast<HloArray*>(results.data()), 2)),
            "");
  EXPECT_EQ(sum, (Floats{4, 6}));
  EXPECT_EQ(product, (Floats{3, 8}));
  // What is described stays within the struct.
  struct {
    ArrayOf2 array;
    int64_t beyond;
  } described = {{sizeof(ArrayOf2), 0, 0, {}, nullptr, 0}, 7};
  EXPECT_EQ(Said(hlo_executable_result(program, 1, reinterpret_cast<HloArray*>(&described.array))), "");
  EXPECT_EQ(described.array.bytes, 8U);
  EXPECT_EQ(described.beyond, 7);
  EXPECT_EQ(hlo_array_bytes(reinterpret_cast<const HloArray*>(&described.array)), 8);
  HloComparison same = HLO_INIT(HloComparison);
  EXPECT_EQ(Said(hlo_array_compare(reinterpret_cast<const HloArray*>(results.data()),
                                   reinterpret_cast<const HloArray*>(results.data()), 0, 0, &same)),
            "");
  hlo_executable_free(program);
  hlo_module_free(module);
  hlo_client_free(client);
}

TEST(LibraryCVersions, FieldsOfLaterVersionsAreRefused) {
  Session session;
  HloModule* module = Parsed(kTwice);
  const HloExecutable* twice = session.Compile(kTwice);
  HloBuffer* x = session.Put({1, 2, 3});
  struct {
    HloCompileOptions known = HLO_INIT(HloCompileOptions);
    int64_t more = 0;
  } how;
  how.known.struct_size = sizeof how;
  HloExecutable* program = nullptr;
  EXPECT_EQ(Said(hlo_client_compile_with(session.client(), module, &how.known, &program)), "");
  hlo_executable_free(program);
  how.more = 1;
  EXPECT_EQ(Said(hlo_client_compile_with(session.client(), module, &how.known, &program)),
            "the options have fields of a later version");
  struct {
    HloRunOptions known = HLO_INIT(HloRunOptions);
    int64_t more = 1;
  } run_options;
  run_options.known.struct_size = sizeof run_options;
  HloRun* run = nullptr;
  EXPECT_EQ(Said(hlo_executable_start(twice, &x, 1, &run_options.known, &run)),
            "the options have fields of a later version");
  Floats y(3);
  struct {
    HloArray known;
    int64_t more = 1;
  } to{ArrayOf("f32", y)};
  to.known.struct_size = sizeof to;
  EXPECT_EQ(Said(hlo_buffer_read(x, &to.known)), "the fields of an array have fields of a later version");
  to.more = 0;
  EXPECT_EQ(Said(hlo_buffer_read(x, &to.known)), "");
  EXPECT_EQ(y, (Floats{1, 2, 3}));
  hlo_module_free(module);
}

TEST(LibraryCWrongUse, OptionsThatMeanNothingAreErrors) {
  const auto client = [](auto change) {
    HloClientOptions options = HLO_INIT(HloClientOptions);
    change(options);
    HloClient* none = nullptr;
    return Said(hlo_client_create(&options, &none));
  };
  EXPECT_EQ(client([](auto& o) { o.device_count = -1; }), "-1 devices");
  EXPECT_EQ(client([](auto& o) { o.device_count = 1 << 20; }),
            "a client of 1048576 devices; 1 to 4096 are possible");
  EXPECT_EQ(client([](auto& o) { o.launcher = "pigeons"; }),
            "there is no launcher 'pigeons'; there are threads, mpi and auto");
  EXPECT_NE(client([](auto& o) {
              o.launcher = "auto";
              o.coordinator = "nowhere";
            }),
            "");
  EXPECT_EQ(client([](auto& o) { o.no_cache = -1; }), "no_cache is -1; 0 and 1 are possible");
  const int64_t index = -2;
  EXPECT_EQ(client([&](auto& o) { o.process_index = &index; }), "-2 is no number of a process");
  EXPECT_EQ(client([&](auto& o) { o.process_count = &index; }), "-2 processes");
  Session session(OptionsFor("cpu", 2));
  HloModule* module = Parsed(kTwice);
  const auto compile = [&](auto change) {
    HloCompileOptions options = HLO_INIT(HloCompileOptions);
    change(options);
    HloExecutable* none = nullptr;
    std::string said = Said(hlo_client_compile_with(session.client(), module, &options, &none));
    EXPECT_EQ(none, nullptr);
    return said;
  };
  EXPECT_EQ(compile([](auto& o) { o.replica_count = -1; }), "-1 replicas of 0 partitions");
  EXPECT_EQ(compile([](auto& o) { o.replica_count = 3; }),
            "3 replicas of 1 partitions, the client has 2 devices");
  EXPECT_EQ(compile([](auto& o) { o.device_assignment_count = 1; }), "the device assignment is null");
  const std::array<int64_t, 2> devices = {1, int64_t{1} << 40};
  EXPECT_EQ(compile([&](auto& o) { o.device_assignment = devices.data(), o.device_assignment_count = 2; }),
            "2 devices are assigned, the program has 1");
  EXPECT_EQ(compile([&](auto& o) {
              o.device_assignment = devices.data(), o.device_assignment_count = 2, o.replica_count = 2;
            }),
            "there is no device -1, the client has 2");
  const std::array<const char*, 2> shapes = {"f32[3]", nullptr};
  EXPECT_EQ(compile([&](auto& o) { o.parameter_shapes_count = 1; }), "the shapes of parameters are null");
  EXPECT_EQ(compile([&](auto& o) { o.parameter_shapes = shapes.data(), o.parameter_shapes_count = 2; }),
            "the shape of parameter 1 is null");
  EXPECT_NE(compile([&](auto& o) { o.result_shape = "f32[4]"; }), "");
  EXPECT_EQ(compile([&](auto& o) { o.optimization_level = "high"; }),
            "there is no optimization level 'high'");
  EXPECT_EQ(compile([&](auto& o) { o.struct_size = 1; }), "the options are a struct of 1 bytes");
  hlo_module_free(module);
}

TEST(LibraryCWrongUse, FlagsAndBoundsAreWhatTheyCanBe) {
  const Session session;
  HloModule* module = Parsed(kTwice);
  HloPassOptions passes = HLO_INIT(HloPassOptions);
  passes.verify_each = 2;
  HloModule* result = nullptr;
  EXPECT_EQ(Said(hlo_module_run_passes(module, "dce", &passes, &result)),
            "verify_each is 2; 0 and 1 are possible");
  EXPECT_EQ(result, nullptr);
  EXPECT_EQ(Said(hlo_client_cancel(session.client(), 2)), "cancel is 2; 0 and 1 are possible");
  Floats x = {1, 2};
  const HloArray array = ArrayOf("f32", x);
  HloComparison same = HLO_INIT(HloComparison);
  EXPECT_EQ(Said(hlo_array_compare(&array, &array, -1, 0, &same)),
            "a bound of -1.00, which is not at least 0");
  EXPECT_NE(Said(hlo_array_compare(&array, &array, 0, NAN, &same)), "");
  EXPECT_EQ(Said(hlo_array_compare(&array, &array, HUGE_VAL, 0, &same)), "");
  hlo_module_free(module);
}

TEST(LibraryCWrongUse, AnOpcodeIsOneWord) {
  HloBuilder* builder = nullptr;
  ASSERT_EQ(Said(hlo_builder_create("b", &builder)), "");
  HloValue x = 0, made = 0;
  ASSERT_EQ(Said(hlo_builder_parameter(builder, 0, "f32[2]", "x", &x)), "");
  const auto add = [&](const char* opcode, const char* shape, const char* attributes) {
    return Said(hlo_builder_add(builder, opcode, &x, 1, shape, attributes, &made));
  };
  EXPECT_EQ(add("negate(%x), metadata={op_name=\"a\"} // ", nullptr, nullptr),
            "'negate(%x), metadata={op_name=\"a\"} // ' is no opcode");
  EXPECT_EQ(add("", nullptr, nullptr), "'' is no opcode");
  EXPECT_NE(add("negative", nullptr, nullptr), "");
  EXPECT_NE(add("negate", "f32[2] negate(%x)\n  ROOT %y = f32[2]", nullptr), "");
  EXPECT_NE(add("negate", nullptr, "\n  ROOT %y = f32[2] negate(%x)"), "");
  EXPECT_EQ(add("negate", "f32[2]", "metadata={op_name=\"a\"}"), "");
  HloModule* module = nullptr;
  ASSERT_EQ(Said(hlo_builder_build(builder, made, &module)), "");
  hlo_module_free(module);
  hlo_builder_free(builder);
}

TEST(LibraryCWrongUse, BuffersAndRunsThatDoNotFitAreErrors) {
  Session session(OptionsFor("cpu", 2)), other;
  const HloExecutable* twice = session.Compile(kTwice);
  HloBuffer* x = session.Put({1, 2, 3});
  const auto start = [&](std::vector<HloBuffer*> arguments, const HloRunOptions* options = nullptr) {
    HloRun* run = nullptr;
    const std::string said =
        Said(hlo_executable_start(twice, arguments.data(), arguments.size(), options, &run));
    EXPECT_EQ(run, nullptr);
    HloBuffer* result = nullptr;
    // Both ways to run say the same.
    EXPECT_EQ(Said(hlo_executable_run(twice, arguments.data(), arguments.size(), options, &result, 1)), said);
    return said;
  };
  EXPECT_EQ(start({}), "0 arguments, the program takes 1");
  EXPECT_EQ(start({nullptr}), "argument 0 is null");
  EXPECT_EQ(start({session.Put({1, 2})}), "argument 0 is f32[2], parameter %x is f32[3]");
  EXPECT_EQ(start({session.Put({1, 2, 3}, 1)}), "argument 0 is on device 1, the program runs on device 0");
  EXPECT_EQ(start({other.Put({1, 2, 3})}), "argument 0 is a buffer of another client");
  const std::array<int64_t, 2> donated = {0, 1};
  HloRunOptions options = HLO_INIT(HloRunOptions);
  options.donated_count = 2;
  EXPECT_EQ(start({x}, &options), "the numbers of donated are null");
  options.donated = donated.data();
  EXPECT_EQ(start({x}, &options), "there is no argument 1 to donate, the program takes 1");
  EXPECT_EQ(Read(x), (Floats{1, 2, 3}));  // nothing was given away
  HloRun* run = nullptr;
  HloBuffer* result = nullptr;
  EXPECT_EQ(Said(hlo_executable_start(twice, nullptr, 1, nullptr, &run)), "the arguments are null");
  EXPECT_EQ(Said(hlo_executable_start(twice, &x, 1, nullptr, nullptr)), "there is no place for the run");
  EXPECT_EQ(Said(hlo_executable_run(twice, &x, 1, nullptr, nullptr, 1)), "the results are null");
  EXPECT_EQ(Said(hlo_executable_run(twice, &x, 1, nullptr, &result, 2)), "2 results, the program has 1");
  run = session.Start(twice, {x});
  EXPECT_EQ(Said(hlo_run_result(run, 1, 0, &result)), "there is no device 1, the program has 1");
  EXPECT_EQ(Said(hlo_run_result(run, 0, -1, &result)), "there is no result -1, the program has 1");
  EXPECT_EQ(Said(hlo_run_result(run, 0, 0, nullptr)), "there is no place for the buffer");
  EXPECT_EQ(Said(hlo_run_wait(run, -2)), "a wait of -2 ms");
  Floats y(2);
  HloArray to = ArrayOf("f32", y);
  EXPECT_EQ(Said(hlo_buffer_read(x, &to)), "result 0 needs 12 bytes, but has 8");
  EXPECT_EQ(Said(hlo_buffer_read(x, nullptr)), "the array is null");
  EXPECT_EQ(Said(hlo_buffer_shape(x, nullptr)), "there is no place for the fields of an array");
  EXPECT_EQ(Said(hlo_client_buffer(session.client(), &to, 2, &result)),
            "there is no device 2, the client has 2");
  EXPECT_EQ(Said(hlo_client_buffer(session.client(), nullptr, 0, &result)), "the array is null");
  EXPECT_EQ(Said(hlo_client_buffer(session.client(), &to, 0, nullptr)), "there is no place for the buffer");
  to.bytes = 7;
  EXPECT_EQ(Said(hlo_client_buffer(session.client(), &to, 0, &result)),
            "the array is f32[2] of 8 bytes, but has 7");
  HloCompileOptions how = HLO_INIT(HloCompileOptions);
  how.replica_count = 2;
  const std::array<HloBuffer*, 2> both = {x, x};
  EXPECT_EQ(Said(hlo_executable_run(session.Compile(kTwice, &how), both.data(), 2, nullptr, &result, 1)),
            "the program has 2 devices: hlo_executable_start() runs it");
}

TEST(LibraryCWrongUse, HandlesThatWereFreedAreKnown) {
  HloModule* module = Parsed(kTwice);
  HloClient* client = nullptr;
  HloExecutable *program = nullptr, *made = nullptr;
  HloBuilder* builder = nullptr;
  ASSERT_EQ(Said(hlo_client_create(nullptr, &client)), "");
  ASSERT_EQ(Said(hlo_client_compile(client, module, &program)), "");
  ASSERT_EQ(Said(hlo_builder_create("b", &builder)), "");
  Floats x = {1, 2, 3};
  HloArray array = ArrayOf("f32", x);
  HloBuffer *buffer = nullptr, *result = nullptr;
  ASSERT_EQ(Said(hlo_client_buffer(client, &array, 0, &buffer)), "");
  HloRun* run = nullptr;
  ASSERT_EQ(Said(hlo_executable_start(program, &buffer, 1, nullptr, &run)), "");
  HloText* text = nullptr;
  ASSERT_EQ(Said(hlo_module_print(module, &text)), "");
  HloError* error = hlo_module_verify(nullptr);

  hlo_error_free(error), hlo_error_free(error);
  EXPECT_STREQ(hlo_error_message(error), "the error was freed before");
  EXPECT_EQ(hlo_error_code(error), HLO_FAILED_PRECONDITION);
  hlo_text_free(text), hlo_text_free(text);
  EXPECT_EQ(hlo_text_size(text), 0U);
  EXPECT_STREQ(hlo_text_data(text), "");
  hlo_buffer_free(buffer), hlo_buffer_free(buffer);
  EXPECT_EQ(Code(hlo_buffer_read(buffer, &array)), HLO_FAILED_PRECONDITION);
  EXPECT_EQ(Said(hlo_buffer_wait(buffer, -1)), "the buffer was freed before");
  EXPECT_EQ(Said(hlo_buffer_shape(buffer, &array)), "the buffer was freed before");
  EXPECT_EQ(hlo_buffer_device(buffer), -1);
  EXPECT_EQ(hlo_buffer_is_ready(buffer), 1);
  EXPECT_EQ(Said(hlo_executable_run(program, &buffer, 1, nullptr, &result, 1)),
            "argument 0 is no buffer, or was freed");
  EXPECT_EQ(Said(hlo_run_wait(run, -1)), "");  // it had the array
  hlo_run_free(run), hlo_run_free(run);
  EXPECT_EQ(Said(hlo_run_wait(run, -1)), "the run was freed before");
  EXPECT_EQ(Said(hlo_run_cancel(run)), "the run was freed before");
  EXPECT_EQ(Said(hlo_run_result(run, 0, 0, &result)), "the run was freed before");
  EXPECT_EQ(hlo_run_is_ready(run), 1);
  hlo_executable_free(program), hlo_executable_free(program);
  EXPECT_EQ(Said(hlo_executable_execute(program, &array, 1, &array, 1)), "the executable was freed before");
  EXPECT_EQ(Said(hlo_executable_serialize(program, &text)), "the executable was freed before");
  EXPECT_EQ(Said(hlo_executable_memory(program, nullptr, nullptr, &text)), "the executable was freed before");
  EXPECT_EQ(hlo_executable_argument_count(program), -1);
  EXPECT_EQ(hlo_executable_device_count(program), -1);
  EXPECT_EQ(hlo_executable_device(program, 0), -1);
  hlo_client_free(client), hlo_client_free(client);
  EXPECT_EQ(Said(hlo_client_compile(client, module, &made)), "the client was freed before");
  EXPECT_EQ(Said(hlo_client_cancel(client, 1)), "the client was freed before");
  EXPECT_EQ(Said(hlo_client_buffer(client, &array, 0, &result)), "the client was freed before");
  EXPECT_EQ(hlo_client_device_count(client), -1);
  EXPECT_EQ(hlo_client_process_index(client), -1);
  EXPECT_EQ(hlo_client_process_of(client, 0), -1);
  hlo_module_free(module), hlo_module_free(module);
  EXPECT_EQ(Said(hlo_module_verify(module)), "the module was freed before");
  EXPECT_STREQ(hlo_module_name(module), "");
  HloValue value = 0;
  EXPECT_EQ(Said(hlo_builder_computation(builder, "c", module)), "the module was freed before");
  hlo_builder_free(builder), hlo_builder_free(builder);
  EXPECT_EQ(Said(hlo_builder_parameter(builder, 0, "f32[]", nullptr, &value)),
            "the builder was freed before");
  // One kind in the place of another.
  HloModule* live = Parsed(kTwice);
  EXPECT_EQ(Said(hlo_client_compile(reinterpret_cast<const HloClient*>(live), live, &made)),
            "the client is a handle of another kind");
  hlo_client_free(reinterpret_cast<HloClient*>(live));
  EXPECT_EQ(Said(hlo_module_verify(live)), "");
  hlo_module_free(live);
}

TEST(LibraryCWrongUse, MemoryOfFreedHandlesIsUsedAgainLate) {
  HloModule* first = Parsed(kTwice);
  hlo_module_free(first);
  for (int i = 0; i < 3000; ++i) {
    hlo_module_free(Parsed(kTwice));
    if (i < 1000) EXPECT_EQ(Said(hlo_module_verify(first)), "the module was freed before");
  }
}

TEST(LibraryCWrongUse, ABuilderBelongsToOneThreadAtATime) {
  HloBuilder* builder = nullptr;
  ASSERT_EQ(Said(hlo_builder_create("b", &builder)), "");
  // Whatever the threads do, each call is right or an error.
  std::array<int, 2> done = {0, 0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t)
    threads.emplace_back([&, t] {
      std::vector<float> zero = {0};
      const HloArray scalar = ArrayOf("f32", {}, zero);
      for (int i = 0; i < 200; ++i) {
        HloValue value = -1;
        const std::string said = Said(hlo_builder_constant(builder, &scalar, &value));
        EXPECT_TRUE(said.empty() || said == "another thread uses the builder") << said;
        done[static_cast<size_t>(t)] += said.empty() ? 1 : 0;
      }
    });
  for (std::thread& thread : threads) thread.join();
  HloModule* module = nullptr;
  const HloValue last = done[0] + done[1] - 1;
  EXPECT_EQ(Said(hlo_builder_build(builder, last, &module)), "");
  hlo_module_free(module);
  EXPECT_EQ(Said(hlo_builder_build(builder, last + 1, &module)),
            "there is no value " + std::to_string(last + 1));
  hlo_builder_free(builder);
}

}  // namespace

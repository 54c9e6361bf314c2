// hlo/hlo_c.h: devices, buffers, runs.
#include <array>
#include <thread>

#include "tools/library/c_test.h"

namespace {

using namespace hlo_c_test;  // NOLINT(google-build-using-namespace): what they share
using Floats = std::vector<float>;

class LibraryCOn : public testing::TestWithParam<const char*> {
 protected:
  Session session_{OptionsFor(GetParam(), 4)};
};
INSTANTIATE_TEST_SUITE_P(Platforms, LibraryCOn, testing::Values("cpu", "interpreter", "gpu-emu"),
                         [](const auto& info) { return std::string(info.param).substr(0, 3); });

TEST_P(LibraryCOn, ArraysStayOnDevices) {
  EXPECT_EQ(hlo_client_device_count(session_.client()), 4);
  const HloExecutable* twice = session_.Compile(kTwice);
  EXPECT_EQ(hlo_executable_device_count(twice), 1);
  EXPECT_EQ(hlo_executable_device(twice, 0), 0);
  HloBuffer* value = session_.Put({1, 2, 3});
  HloArray shape = HLO_INIT(HloArray);
  EXPECT_EQ(Said(hlo_buffer_shape(value, &shape)), "");
  EXPECT_EQ(shape.type, hlo_type_number("f32"));
  EXPECT_EQ(shape.dimensions[0], 3);
  EXPECT_EQ(hlo_buffer_device(value), 0);
  for (int i = 0; i < 3; ++i) {
    HloBuffer* next = nullptr;
    EXPECT_EQ(Said(hlo_executable_run(twice, &value, 1, nullptr, &next, 1)), "");
    value = session_.Keep(next);
  }
  EXPECT_EQ(Read(value), (Floats{8, 16, 24}));
}

TEST_P(LibraryCOn, ManyRunsAreUnderWay) {
  const HloExecutable* twice = session_.Compile(kTwice);
  HloBuffer* value = session_.Put({1, 2, 3});
  std::vector<HloRun*> runs;
  for (int i = 0; i < 20; ++i) {
    runs.push_back(session_.Start(twice, {value}));
    value = session_.Result(runs.back());
  }
  EXPECT_EQ(Said(hlo_buffer_wait(value, -1)), "");
  EXPECT_EQ(hlo_buffer_is_ready(value), 1);
  EXPECT_EQ(Read(value), (Floats{1048576, 2097152, 3145728}));
  for (HloRun* run : runs) EXPECT_EQ(Said(hlo_run_wait(run, -1)), "");
  EXPECT_EQ(hlo_run_is_ready(runs.back()), 1);
}

TEST_P(LibraryCOn, RunsAreStopped) {
  const HloExecutable* endless = session_.Compile(kEndless);
  std::vector<int32_t> zero = {0};
  const HloArray start = ArrayOf("s32", {}, zero);
  HloBuffer* buffer = nullptr;
  ASSERT_EQ(Said(hlo_client_buffer(session_.client(), &start, 0, &buffer)), "");
  session_.Keep(buffer);
  HloRun* run = session_.Start(endless, {buffer});
  HloBuffer* result = session_.Result(run);
  EXPECT_EQ(Said(hlo_run_wait(run, 10)), "the run is not over after 10 ms");
  EXPECT_EQ(Said(hlo_run_wait(run, 0)), "the run is not over after 0 ms");
  EXPECT_EQ(Code(hlo_buffer_wait(result, 1)), HLO_DEADLINE_EXCEEDED);
  EXPECT_EQ(hlo_run_is_ready(run), 0);
  EXPECT_EQ(hlo_buffer_is_ready(result), 0);
  EXPECT_EQ(Said(hlo_run_cancel(run)), "");
  EXPECT_EQ(Code(hlo_run_wait(run, -1)), HLO_CANCELLED);
  EXPECT_EQ(Code(hlo_buffer_wait(result, -1)), HLO_CANCELLED);
  // A GPU is lost with a kernel that had to be stopped, and what else runs there.
  if (std::string(GetParam()) == "gpu-emu") return;
  run = session_.Start(endless, {buffer});
  HloRun* other = session_.Start(endless, {buffer});
  EXPECT_EQ(Said(hlo_run_cancel(run)), "");
  EXPECT_EQ(Code(hlo_run_wait(run, -1)), HLO_CANCELLED);
  EXPECT_EQ(Code(hlo_run_wait(other, 10)), HLO_DEADLINE_EXCEEDED);
  EXPECT_EQ(Said(hlo_client_cancel(session_.client(), 1)), "");
  EXPECT_EQ(Code(hlo_run_wait(other, -1)), HLO_CANCELLED);
  EXPECT_EQ(Said(hlo_run_cancel(other)), "");
}

TEST_P(LibraryCOn, RunsOutliveTheHandles) {
  auto session = std::make_unique<Session>(OptionsFor(GetParam()));
  const HloExecutable* echo = session->Compile(R"(HloModule echo
ENTRY e {
  t = token[] after-all()
  in = (f32[2], token[]) infeed(t)
  ROOT v = f32[2] get-tuple-element(in), index=0
})");
  HloBuffer* result = nullptr;
  EXPECT_EQ(Said(hlo_run_result(session->Start(echo, {}), 0, 0, &result)), "");
  session_.Keep(result);
  EXPECT_EQ(Code(hlo_buffer_wait(result, 5)), HLO_DEADLINE_EXCEEDED);
  Floats x = {1, 2};
  const HloArray in = ArrayOf("f32", x);
  EXPECT_EQ(Said(hlo_client_infeed(session->client(), 0, nullptr, &in, 1)), "");
  session.reset();
  EXPECT_EQ(Read(result), x);
}

TEST_P(LibraryCOn, BuffersAreDonated) {
  const HloExecutable* twice = session_.Compile(kTwice);
  HloBuffer* x = session_.Put({1, 2, 3});
  const int64_t first = 0;
  HloRunOptions options = HLO_INIT(HloRunOptions);
  options.donated = &first;
  options.donated_count = 1;
  HloRun* run = session_.Start(twice, {x}, &options);
  EXPECT_EQ(Read(session_.Result(run)), (Floats{2, 4, 6}));
  EXPECT_EQ(Code(hlo_buffer_wait(x, -1)), HLO_FAILED_PRECONDITION);
  EXPECT_EQ(hlo_buffer_is_ready(x), 1);
  HloBuffer* none = x;
  EXPECT_EQ(Code(hlo_executable_run(twice, &x, 1, nullptr, &none, 1)), HLO_FAILED_PRECONDITION);
  EXPECT_EQ(none, nullptr);
}

TEST_P(LibraryCOn, TuplesAreTakenApart) {
  const HloExecutable* nested = session_.Compile(R"(HloModule nested
ENTRY nested {
  p = (f32[1], (f32[2], (f32[3]))) parameter(0)
  a = f32[1] get-tuple-element(p), index=0
  q = (f32[2], (f32[3])) get-tuple-element(p), index=1
  b = f32[2] get-tuple-element(q), index=0
  r = (f32[3]) get-tuple-element(q), index=1
  c = f32[3] get-tuple-element(r), index=0
  d = f32[3] add(c, c)
  t = (f32[3]) tuple(d)
  u = ((f32[3]), f32[2]) tuple(t, b)
  ROOT v = (((f32[3]), f32[2]), f32[1]) tuple(u, a)
})");
  EXPECT_EQ(hlo_executable_argument_count(nested), 3);
  EXPECT_EQ(hlo_executable_result_count(nested), 3);
  const std::vector<HloBuffer*> arguments = {session_.Put({1}), session_.Put({2, 3}),
                                             session_.Put({4, 5, 6})};
  std::array<int64_t, 3> all = {0, 1, 2};
  HloRunOptions options = HLO_INIT(HloRunOptions);
  options.donated = all.data();
  options.donated_count = 2;
  HloRun* run = nullptr;
  EXPECT_EQ(Said(hlo_executable_start(nested, arguments.data(), 3, &options, &run)),
            "arguments 0 to 2 are one tuple, of which 2 are donated: all are, or none");
  EXPECT_EQ(run, nullptr);
  run = session_.Start(nested, arguments);
  HloBuffer *d = session_.Result(run, 0, 0), *b = session_.Result(run, 0, 1), *a = session_.Result(run, 0, 2);
  EXPECT_EQ(Read(d), (Floats{8, 10, 12}));
  EXPECT_EQ(Read(b), (Floats{2, 3}));
  EXPECT_EQ(Read(a), (Floats{1}));
  // Elements of results as elements of arguments, given away.
  options.donated_count = 3;
  run = session_.Start(nested, {a, b, d}, &options);
  EXPECT_EQ(Read(session_.Result(run, 0, 0)), (Floats{16, 20, 24}));
  for (const HloBuffer* gone : {a, b, d}) EXPECT_EQ(Code(hlo_buffer_wait(gone, -1)), HLO_FAILED_PRECONDITION);
  HloBuffer* wrong[] = {arguments[0], arguments[0], arguments[2]};
  EXPECT_EQ(Said(hlo_executable_start(nested, wrong, 3, nullptr, &run)),
            "argument 1 is f32[1], the program takes f32[2]");
  wrong[1] = session_.Put({1, 2}, 3);
  EXPECT_EQ(Said(hlo_executable_start(nested, wrong, 3, nullptr, &run)),
            "argument 1 is on device 3, the program runs on device 0");
}

constexpr const char* kSumOverReplicas = R"(HloModule sum
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }
ENTRY e { x = f32[2] parameter(0)  ROOT s = f32[2] all-reduce(x), to_apply=add }
)";

TEST_P(LibraryCOn, ReplicasRunWhereTheyAreAssigned) {
  const std::array<int64_t, 2> devices = {3, 1};
  HloCompileOptions how = HLO_INIT(HloCompileOptions);
  how.replica_count = 2;
  how.device_assignment = devices.data();
  how.device_assignment_count = 2;
  const HloExecutable* sum = session_.Compile(kSumOverReplicas, &how);
  EXPECT_EQ(hlo_executable_device_count(sum), 2);
  EXPECT_EQ(hlo_executable_device(sum, 0), 3);
  EXPECT_EQ(hlo_executable_device(sum, 1), 1);
  EXPECT_EQ(hlo_executable_device(sum, 2), -1);
  HloRun* run = session_.Start(sum, {session_.Put({1, 2}, 3), session_.Put({10, 20}, 1)});
  for (int64_t d = 0; d < 2; ++d) {
    HloBuffer* result = session_.Result(run, d);
    EXPECT_EQ(hlo_buffer_device(result), devices[static_cast<size_t>(d)]);
    EXPECT_EQ(Read(result), (Floats{11, 22}));
  }
  // The same on the caller's memory.
  Floats a = {1, 2}, b = {10, 20}, first(2), second(2);
  const std::array<HloArray, 2> arguments = {ArrayOf("f32", a), ArrayOf("f32", b)};
  std::array<HloArray, 2> results = {ArrayOf("f32", first), ArrayOf("f32", second)};
  EXPECT_EQ(Said(hlo_executable_execute(sum, arguments.data(), 2, results.data(), 2)), "");
  EXPECT_EQ(first, (Floats{11, 22}));
  EXPECT_EQ(second, (Floats{11, 22}));
  EXPECT_EQ(Said(hlo_executable_execute(sum, arguments.data(), 1, results.data(), 2)),
            "1 arguments, the program takes 2");
  // What was saved runs on the same devices.
  HloText* bytes = nullptr;
  EXPECT_EQ(Said(hlo_executable_serialize(sum, &bytes)), "");
  HloExecutable* loaded = nullptr;
  EXPECT_EQ(Said(hlo_client_load(session_.client(), hlo_text_data(bytes), hlo_text_size(bytes), &loaded)),
            "");
  hlo_text_free(bytes);
  EXPECT_EQ(hlo_executable_device(loaded, 0), 3);
  hlo_executable_free(loaded);
}

TEST_P(LibraryCOn, ProgramsAndTheHostExchangeValues) {
  const HloExecutable* echo = session_.Compile(R"(HloModule echo
ENTRY e {
  t = token[] after-all()
  in = ((f32[2], s32[]), token[]) infeed(t)
  v = (f32[2], s32[]) get-tuple-element(in), index=0
  u = token[] get-tuple-element(in), index=1
  out = token[] outfeed(v, u), outfeed_shape=(f32[2], s32[])
  ROOT n = s32[] get-tuple-element(v), index=1
})");
  HloRun* run = session_.Start(echo, {});
  Floats x = {1, 2}, y(2);
  std::vector<int32_t> n = {7}, m(1);
  const std::array<HloArray, 2> in = {ArrayOf("f32", x), ArrayOf("s32", {}, n)};
  std::array<HloArray, 2> out = {ArrayOf("f32", y), ArrayOf("s32", {}, m)};
  const char* shape = "(f32[2], s32[])";
  EXPECT_EQ(Said(hlo_client_infeed(session_.client(), 0, shape, in.data(), 2)), "");
  x = {};  // was copied
  EXPECT_EQ(Said(hlo_run_wait(run, -1)), "");
  Floats other(3);
  HloArray wrong = ArrayOf("f32", other);
  EXPECT_EQ(Said(hlo_client_outfeed(session_.client(), 0, nullptr, &wrong, 1)),
            "the next value of the outfeed is (f32[2], s32[]), not f32[3]");
  EXPECT_EQ(Said(hlo_client_outfeed(session_.client(), 0, shape, out.data(), 2)), "");
  EXPECT_EQ(y, (Floats{1, 2}));
  EXPECT_EQ(m.front(), 7);
  EXPECT_EQ(Said(hlo_client_infeed(session_.client(), 0, nullptr, in.data(), 2)),
            "2 arrays without the shape of the value that they are");
  EXPECT_EQ(Said(hlo_client_infeed(session_.client(), 0, "f32[2]", in.data(), 2)),
            "2 arrays, f32[2]{0} has 1");
  EXPECT_EQ(Said(hlo_client_infeed(session_.client(), 9, nullptr, in.data(), 1)),
            "there is no device 9, the client has 4");
  EXPECT_NE(Said(hlo_client_infeed(session_.client(), 0, "f32[", in.data(), 1)), "");
  EXPECT_EQ(Said(hlo_client_infeed(session_.client(), 0, nullptr, nullptr, 1)), "the arrays are null");
  EXPECT_EQ(Said(hlo_client_infeed(nullptr, 0, nullptr, in.data(), 1)), "the client is null");
  EXPECT_EQ(Said(hlo_client_outfeed(nullptr, 0, nullptr, &wrong, 1)), "the client is null");
}

TEST_P(LibraryCOn, WhatProgramsCostIsReported) {
  const HloExecutable* twice = session_.Compile(kTwice);
  HloMemory memory = HLO_INIT(HloMemory);
  HloText* report = nullptr;
  if (std::string(GetParam()) == "interpreter") {
    EXPECT_EQ(Code(hlo_executable_memory(twice, &memory, nullptr, &report)), HLO_UNIMPLEMENTED);
  } else {
    EXPECT_EQ(Said(hlo_executable_memory(twice, &memory, nullptr, &report)), "");
    EXPECT_EQ(memory.arguments, 12);
    EXPECT_EQ(memory.peak,
              memory.arguments + memory.results - memory.aliased + memory.temporaries + memory.constants);
    EXPECT_NE(Taken(report).find("            12  arguments\n"), std::string::npos);
    EXPECT_EQ(Said(hlo_executable_memory(twice, nullptr, "json", &report)), "");
    EXPECT_EQ(Taken(report).find("{\"arguments\":12,"), 0U);
    EXPECT_EQ(Said(hlo_executable_memory(twice, nullptr, "xml", &report)),
              "there is no format 'xml' of reports; there are text and json");
  }
  Floats x = {1, 2, 3};
  const HloArray argument = ArrayOf("f32", x);
  EXPECT_EQ(Said(hlo_executable_profile(twice, &argument, 1, 3, nullptr, &report)), "");
  EXPECT_NE(Taken(report).find("total of 3 runs\n"), std::string::npos);
  EXPECT_EQ(Said(hlo_executable_profile(twice, &argument, 1, 1, "json", &report)), "");
  EXPECT_EQ(Taken(report).find("{\"runs\":1,"), 0U);
  EXPECT_EQ(Said(hlo_executable_profile(twice, &argument, 1, 0, nullptr, &report)), "0 runs to profile");
  EXPECT_EQ(Said(hlo_executable_profile(twice, &argument, 2, 1, nullptr, &report)),
            "2 arguments, the program takes 1");
  EXPECT_EQ(Said(hlo_executable_profile(nullptr, &argument, 1, 1, nullptr, &report)),
            "the executable is null");
  HloText* text = nullptr;
  EXPECT_EQ(Said(hlo_executable_text(twice, &text)), "");
  EXPECT_NE(Taken(text).find("HloModule twice"), std::string::npos);
}

TEST(LibraryC, ChannelsConnectPrograms) {
  Session session(OptionsFor("cpu", 2));
  int64_t channel = 0;
  ASSERT_EQ(Said(hlo_client_channel(session.client(), &channel)), "");
  EXPECT_EQ(Said(hlo_client_channel(session.client(), nullptr)), "there is no place for the channel");
  EXPECT_EQ(Said(hlo_client_channel(nullptr, &channel)), "the client is null");
  const std::string number = std::to_string(channel);
  const HloExecutable* sender = session.Compile(
      "HloModule sender\nENTRY e { x = f32[2] parameter(0)  t = token[] "
      "after-all()  s = (f32[2], u32[], token[]) send(x, t), channel_id=" +
      number + "  ROOT d = token[] send-done(s), channel_id=" + number + " }\n");
  const HloExecutable* receiver = session.Compile(
      "HloModule receiver\nENTRY e { t = token[] after-all()  r = (f32[2], u32[], token[]) recv(t), "
      "channel_id=" +
      number + "  d = (f32[2], token[]) recv-done(r), channel_id=" + number +
      "  ROOT v = f32[2] get-tuple-element(d), index=0 }\n");
  HloRun* run = session.Start(receiver, {});
  EXPECT_EQ(Said(hlo_run_wait(session.Start(sender, {session.Put({5, 6})}), -1)), "");
  EXPECT_EQ(Read(session.Result(run)), (Floats{5, 6}));
}

TEST(LibraryC, ElementsLieInTheOrderThatIsAskedFor) {
  Session session;
  const HloExecutable* sum = session.Compile(
      "HloModule m\nENTRY e { x = f32[2,3] parameter(0)  y = f32[2,3] parameter(1)  ROOT s = f32[2,3] add(x, "
      "y) }");
  Floats rows = {1, 2, 3, 4, 5, 6}, columns = {10, 40, 20, 50, 30, 60}, by_rows(6), by_columns(6);
  const std::array<int64_t, 2> order = {0, 1};
  std::array<HloArray, 2> arguments = {ArrayOf("f32", {2, 3}, rows), ArrayOf("f32", {2, 3}, columns)};
  arguments[1].minor_to_major = order.data();
  HloArray result = ArrayOf("f32", {2, 3}, by_rows), other = ArrayOf("f32", {2, 3}, by_columns);
  EXPECT_EQ(Said(hlo_executable_execute(sum, arguments.data(), 2, &result, 1)), "");
  EXPECT_EQ(by_rows, (Floats{11, 22, 33, 44, 55, 66}));
  other.minor_to_major = order.data();
  EXPECT_EQ(Said(hlo_executable_execute(sum, arguments.data(), 2, &other, 1)), "");
  EXPECT_EQ(by_columns, (Floats{11, 44, 22, 55, 33, 66}));
  HloComparison same = HLO_INIT(HloComparison);
  EXPECT_EQ(Said(hlo_array_compare(&result, &other, 0, 0, &same)), "");
  EXPECT_EQ(same.matched, 1);
  HloBuffer* buffer = nullptr;
  EXPECT_EQ(Said(hlo_client_buffer(session.client(), &other, 0, &buffer)), "");
  EXPECT_EQ(Read(session.Keep(buffer)), by_rows);
  Floats again(6);
  HloArray to = ArrayOf("f32", {2, 3}, again);
  to.minor_to_major = order.data();
  EXPECT_EQ(Said(hlo_buffer_read(buffer, &to)), "");
  EXPECT_EQ(again, by_columns);
  const std::array<int64_t, 2> twice = {0, 0};
  arguments[1].minor_to_major = to.minor_to_major = twice.data();
  EXPECT_NE(Said(hlo_executable_execute(sum, arguments.data(), 2, &result, 1)), "");
  EXPECT_NE(Said(hlo_buffer_read(buffer, &to)), "");
  EXPECT_EQ(hlo_array_bytes(&to), -1);
}

TEST(LibraryC, ParametersHaveTheLayoutsThatAreAskedFor) {
  Session session;
  HloCompileOptions how = HLO_INIT(HloCompileOptions);
  const char* shape = "f32[2,3]{0,1}";
  how.parameter_shapes = &shape;
  how.parameter_shapes_count = 1;
  how.result_shape = shape;
  const std::string text = "HloModule m\nENTRY e { x = f32[2,3] parameter(0)  ROOT s = f32[2,3] add(x, x) }";
  HloText* optimized = nullptr;
  EXPECT_EQ(Said(hlo_executable_text(session.Compile(text, &how), &optimized)), "");
  EXPECT_NE(Taken(optimized).find("entry_computation_layout={(f32[2,3]{0,1})->f32[2,3]{0,1}}"),
            std::string::npos);
}

}  // namespace

#include "parser/parser.h"

#include "gtest/gtest.h"
#include "ir/print.h"
#include "ir/support/parallel.h"

namespace hlo {
namespace {

std::string Body(llvm::StringRef instructions) {
  return ("HloModule m\nadd { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT r = f32[] add(a, b) }\n"
          "ENTRY e {\n  x = f32[8] parameter(0)\n  y = f32[8] parameter(1)\n  " +
          instructions + "\n}\n")
      .str();
}

/// First error of a text, as rendered without excerpt; empty if it parses.
std::string FirstError(llvm::StringRef text) {
  const ParseResult r = ParseModule(text, "t");
  if (r.module) return "";
  return r.diagnostics.front().message;
}

TEST(Parser, PrintedTextReadsBack) {
  const llvm::StringRef cases[] = {
      "ROOT r = f32[8]{0:T(8)(2,1)E(4)S(5)SC(0:1)M(1024)} copy(x)",
      "ROOT r = f32[8] exponential(x), sharding={devices=[2,1,2]<=[4] last_tile_dims={manual}}, "
      "result_accuracy={mode=highest}",
      "ROOT r = f32[8] copy(x), sharding={mesh['a'=2,'b'=4], [{'a'}, {'b', ?}, {}]}",
      "ROOT r = f32[8] copy(x), frontend_attributes={b={\"x\":{}},a=\"1\"}, backend_config={\"a\":\"}\"}",
      "ROOT r = f32[8] copy(x), origin={({\"x\" {0}}, {\"y\" {1}})}, statistics={visualizing_index=1,a=0.5}",
      "ROOT r = f32[8] all-reduce(x), channel_id=1, replica_groups=[2,2]<=[2,2]T(1,0), "
      "use_global_device_ids=true, to_apply=add",
      "ROOT r = f32[8] all-to-all(x), replica_groups={{0,1}}, dimensions={0}",
      "ROOT r = f32[8] custom-call(x), custom_call_target=\"t\", literal=s32[2]{0} {1, 2}, window={size=2x2 "
      "pad=1_1x0_0}",
      "ROOT r = f32[8] fusion(x), kind=kLoop, calls={ p = f32[8] parameter(0)\n ROOT n = f32[8] negate(p) }",
      "s = ((f32[8]), f32[8], u32[]) custom-call-start(x), custom_call_target=\"t\"\n ROOT d = f32[8] "
      "custom-call-done(s)",
      "ROOT r = tuple(x, tuple(y, negate(x)), x), control-predecessors={y}",
      "ROOT r = (f32[], (s32[2], pred[])) constant((1, ({1, 2}, true)))",
      "ROOT r = u4[3] constant({0,15,7})",
  };
  PrintOptions options;
  options.max_constant_elements = -1;
  for (const llvm::StringRef text : cases) {
    const ParseResult first = ParseModule(Body(text));
    ASSERT_TRUE(first.module) << text.str() << "\n" << first.diagnostics.front().message;
    const std::string printed = ToString(*first.module, options);
    const ParseResult second = ParseModule(printed);
    ASSERT_TRUE(second.module) << printed << "\n" << second.diagnostics.front().message;
    EXPECT_EQ(ToString(*second.module, options), printed);
  }
}

TEST(Parser, KnowsTheThreeFormsOfText) {
  EXPECT_EQ(ParseModule("HloModule a\nENTRY e { ROOT x = f32[] parameter(0) }").module->name(), "a");
  EXPECT_EQ(ParseModule("e { ROOT x = f32[] parameter(0) }").module->name(), "module_e");
  const ParseResult single = ParseModule("f32[2] add(f32[2] a, f32[2])");
  ASSERT_TRUE(single.module);
  EXPECT_EQ(single.module->name(), "_");
  EXPECT_TRUE(single.module->config.is_scheduled);
  ASSERT_EQ(single.module->entry()->parameters().size(), 2u);
  EXPECT_EQ(single.module->entry()->parameter(0)->name(), "a");
}

TEST(Parser, KeepsDefaultsOutOfAttributes) {
  const ParseResult r = ParseModule(Body("ROOT c = pred[8] compare(x, y), direction=LT, type=FLOAT"));
  ASSERT_TRUE(r.module);
  EXPECT_FALSE(r.module->entry()->root()->attr<CompareAttrs>().type);
}

TEST(Parser, RenumbersStackFrames) {
  const ParseResult r = ParseModule(R"(HloModule m
FileNames
1 "a.py"
2 "b.py"
FunctionNames
1 "f"
FileLocations
1 {file_name_id=1 function_name_id=1 line=3 end_line=3 column=4 end_column=9}
2 {file_name_id=2 function_name_id=1 line=5 end_line=5 column=1 end_column=2}
StackFrames
1 {file_location_id=1 parent_frame_id=1}
2 {file_location_id=2 parent_frame_id=1}
ENTRY e { ROOT x = f32[] parameter(0), metadata={op_name="a" stack_frame_id=2} })");
  ASSERT_TRUE(r.module);
  EXPECT_EQ(r.module->entry()->root()->metadata()->stack_frame_id, 1);
  ASSERT_EQ(r.module->stack_tables.files.size(), 1u);
  EXPECT_EQ(r.module->stack_tables.files[0], "b.py");
}

TEST(Parser, HandlesUnknownAttributesAsAsked) {
  const std::string text = Body("ROOT r = f32[8] copy(x), color={\"a\":1}, metadata={op_name=\"n\"}");
  EXPECT_EQ(FirstError(text), "unexpected attribute 'color' on opcode 'copy'");
  ParseOptions options;
  options.unknown_attributes = UnknownAttributes::Warn;
  const ParseResult warned = ParseModule(text, "t", options);
  ASSERT_TRUE(warned.module);
  EXPECT_EQ(warned.diagnostics.size(), 1u);
  options.unknown_attributes = UnknownAttributes::Keep;
  const ParseResult kept = ParseModule(text, "t", options);
  ASSERT_TRUE(kept.module);
  EXPECT_EQ(kept.module->entry()->root()->extras().unknown_attributes, ", color={\"a\":1}");
}

TEST(Parser, StopsAfterTheGivenNumberOfErrors) {
  std::string text = "ENTRY e {\n";
  for (int i = 0; i < 50; ++i) text += "x" + std::to_string(i) + " = f32[] foo()\n";
  EXPECT_EQ(ParseModule(text + "}").diagnostics.size(), 20u);
  ParseOptions options;
  options.max_errors = 0;
  EXPECT_EQ(ParseModule(text + "}", "t", options).diagnostics.size(), 50u);
}

TEST(Parser, NestingIsLimitedNotFatal) {
  const auto nested = [](llvm::StringRef open, llvm::StringRef inner, llvm::StringRef close, int depth) {
    std::string text = "ENTRY e { x = f32[] parameter(0)\n y = ";
    for (int i = 0; i < depth; ++i) text += open;
    text += inner;
    for (int i = 0; i < depth; ++i) text += close;
    return text + " }";
  };
  EXPECT_EQ(FirstError(nested("negate(", "x", ")", 2000)), "");
  for (int depth : {8300, 100000}) {
    EXPECT_NE(FirstError(nested("negate(", "x", ")", depth)).find("nesting"), std::string::npos);
    EXPECT_NE(FirstError(nested("(", "f32[]", ")", depth) + " parameter(0) }").find("nesting"),
              std::string::npos);
    EXPECT_NE(FirstError(nested("call(), to_apply={ z = ", "x", "}", depth)).find("nesting"),
              std::string::npos);
  }
}

TEST(Parser, NestingUpToTheLimitIsRead) {
  const auto repeated = [](llvm::StringRef text, int times) {
    std::string all;
    for (int i = 0; i < times; ++i) all += text;
    return all;
  };
  // A thread: the stack of the main one is as the tests were started.
  std::string operands, shapes, bodies;
  std::thread thread = TryThread([&] {
    operands = FirstError("ENTRY e { x = f32[] parameter(0)\n y = " + repeated("negate(", 8190) + "x" +
                          repeated(")", 8190) + " }");
    shapes = FirstError("ENTRY e { y = " + repeated("(", 8191) + "f32[]" + repeated(")", 8191) +
                        " parameter(0) }");
    bodies = FirstError("ENTRY e { y = " + repeated("f32[] call(), to_apply={ z = ", 4000) +
                        "f32[] constant(1)" + repeated("}", 4000) + " }");
  });
  ASSERT_TRUE(thread.joinable());
  thread.join();
  EXPECT_EQ(operands, "");
  EXPECT_EQ(shapes, "");
  EXPECT_EQ(bodies, "");
}

TEST(Parser, ArraysHaveOnlySoManyDimensions) {
  const auto array = [](int rank) {
    std::string dims = "1";
    for (int d = 1; d < rank; ++d) dims += ",1";
    return "ENTRY e { x = f32[" + dims + "] parameter(0) }";
  };
  EXPECT_EQ(FirstError(array(1 << 16)), "");
  EXPECT_EQ(FirstError(array((1 << 16) + 1)), "found 65537 dimensions, expected at most 65536");
}

TEST(Parser, AllocatesNoMoreThanTheTextGives) {
  EXPECT_EQ(FirstError("ENTRY e { x = f32[1000000000000] constant({1}) }"),
            "expects 1000000000000 elements in the []th element, but sees 1");
  EXPECT_NE(FirstError("ENTRY e { x = f32[100000000] constant(1) }"), "");
  EXPECT_NE(FirstError("ENTRY e { x = f32[] parameter(1000000) }"), "");
  EXPECT_EQ(FirstError("ENTRY e { x = f32[1000000000000] constant({...}) }"), "");
}

TEST(Parser, ReadsStandAloneValues) {
  EXPECT_EQ(ToString(*ParseShape("(f32[2,<=3]{1,0}, token[])")), "(f32[2,<=3]{1,0}, token[])");
  EXPECT_FALSE(ParseShape("f32[2] x"));
  const auto literal = ParseLiteral("{{1,2},{3,4}}", Shape::ArrayWithDefaultLayout(ElementType::S32, {2, 2}));
  ASSERT_TRUE(literal);
  EXPECT_EQ(literal->Data<int32_t>()[3], 4);
  const auto shaped = ParseLiteralWithShape("(f32[] 1.5, s4[2] {1,-2})");
  ASSERT_TRUE(shaped);
  EXPECT_EQ(shaped->element(0).Data<float>()[0], 1.5f);
  EXPECT_TRUE(shaped->element(1).packed());
  EXPECT_EQ(ParseLiteralWithShape("f32[3] {1,2,3}")->Data<float>()[2], 3);
  EXPECT_EQ(ParseLiteralWithShape("s8[2,1]{0,1} {{1},{2}}")->Data<int8_t>()[1], 2);
  EXPECT_EQ(ParseLiteralWithShape("(f32[1] {1}, s8[1]{0} {2})")->element(1).Data<int8_t>()[0], 2);
  EXPECT_FALSE(ParseLiteralWithShape("f32[2] {...}"));
}

TEST(Parser, RoundsFloatLiteralsOnce) {
  const auto bits = [](ElementType type, llvm::StringRef text) {
    const auto l = ParseLiteral(text, Shape::ArrayWithDefaultLayout(type, {}));
    return l ? static_cast<int64_t>(l->Bits(0)) : -1;
  };
  EXPECT_EQ(bits(ElementType::F32, "nan"), 0x7fc00000);
  EXPECT_EQ(bits(ElementType::F32, "-nan(0x1)"), 0xff800001);
  EXPECT_EQ(bits(ElementType::F16, "65520"), -1);
  EXPECT_EQ(bits(ElementType::F4E2M1FN, "nan"), 0x8);
  EXPECT_EQ(bits(ElementType::F4E2M1FN, "-nan"), 0x0);
  EXPECT_EQ(bits(ElementType::F4E2M1FN, "1e300"), 0x7);
  EXPECT_EQ(bits(ElementType::F8E8M0FNU, "0"), -1);
  EXPECT_EQ(bits(ElementType::F8E4M3FNUZ, "inf"), 0x80);
  EXPECT_EQ(bits(ElementType::U8, "-1"), -1);
  EXPECT_EQ(bits(ElementType::U64, "-1"), -1);
  EXPECT_EQ(bits(ElementType::Pred, "7"), 1);
}

TEST(Chunks, AreSplitAtMarkers) {
  const SourceBuffer source("t", "// a\n// -----\nENTRY a {}\n  // -----  \n// ---\nENTRY b {}\n");
  std::vector<Diagnostic> warnings;
  const std::vector<Chunk> chunks = SplitChunks(source, warnings);
  ASSERT_EQ(chunks.size(), 2u);
  EXPECT_EQ(source.text().slice(chunks[0].begin, chunks[0].end), "ENTRY a {}\n");
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_EQ(warnings[0].id.text(), "split-marker-typo");
}

TEST(LogPrefixes, BecomeBlanks) {
  const std::string line = "I0521 12:04:45.883483    1509 file.cc:186] ENTRY e {";
  const std::string blanked = BlankLogPrefixes("HloModule m\n" + line + "\n");
  EXPECT_EQ(blanked.size(), line.size() + 13);
  EXPECT_EQ(llvm::StringRef(blanked).drop_front(12).ltrim(), "ENTRY e {\n");
  EXPECT_EQ(BlankLogPrefixes("Ident = 5"), "Ident = 5");
}

}  // namespace
}  // namespace hlo

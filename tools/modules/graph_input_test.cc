#include "tools/modules/graph_input.h"

#include <gtest/gtest.h>

namespace hlo {
namespace {

SourcePtr Source(llvm::StringRef text) { return std::make_shared<SourceBuffer>("g.json", text.str()); }

constexpr llvm::StringLiteral kGraph =
    R"({"schema":"hlo.graph/1","module":{"name":"m","entry":"e","is_scheduled":true,)"
    R"("alias":[{"output_index":[0],"param":0,"param_index":[],"kind":"must-alias"}],"attributes":{"k":"v"}},)"
    R"("computations":[{"name":"e","root":"r","instructions":[)"
    R"({"name":"x","opcode":"parameter","shape":"f32[2]","attributes":{"number":0,"frontend_attributes":{"a":"b"}}},)"
    R"({"name":"r","opcode":"iota","shape":"f32[2]","operands":[],"control_predecessors":["x"],)"
    R"("attributes":{"iota_dimension":0},"metadata":{"op_name":"n","source_line":3,"profile_type":[1]}}]}]})";

/// The first line of the error after `from` has become `to`.
std::string ErrorOf(llvm::StringRef from, llvm::StringRef to) {
  const size_t at = kGraph.find(from);
  EXPECT_NE(at, llvm::StringRef::npos) << from.str();
  std::string text = kGraph.str();
  text.replace(at, from.size(), to);
  const auto result = GraphJsonToHlo(Source(text));
  if (result) return "no error";
  // The line is one: its column tells where the error points.
  EXPECT_EQ(result.error().id.text(), "input-format");
  const std::string pointed =
      llvm::StringRef(text).slice(result.error().loc.begin, result.error().loc.end).take_front(24).str();
  return pointed + " " + result.error().message;
}

TEST(GraphInput, ErrorsPointToTheValueAndNameItsPath) {
  EXPECT_EQ(ErrorOf("\"m\"", "7"), "7 JSON graph: module.name is not a string");
  EXPECT_EQ(ErrorOf("[0]", "[true]"),
            "true JSON graph: module.alias[0].output_index is not a list of integers");
  EXPECT_EQ(ErrorOf("\"param\":0,", "\"param\":\"0\","),
            "\"0\" JSON graph: module.alias[0].param is not an integer");
  EXPECT_EQ(ErrorOf("\"v\"", "null"), "null JSON graph: module.attributes.k is not a string");
  EXPECT_EQ(ErrorOf("\"number\":0", "\"number\":1.5"),
            "1.5 JSON graph: computations[0].instructions[0].attributes.number is not an integer");
  EXPECT_EQ(ErrorOf("\"number\":0,", ""),
            "{\"name\":\"x\",\"opcode\":\"pa JSON graph: computations[0].instructions[0].attributes.number "
            "is missing, expected an integer");
  EXPECT_EQ(
      ErrorOf("\"b\"", "[]"),
      "[] JSON graph: computations[0].instructions[0].attributes.frontend_attributes.a is not a string");
  EXPECT_EQ(ErrorOf("[\"x\"]", "[\"x\",1]"),
            "1 JSON graph: computations[0].instructions[1].control_predecessors is not a list of strings");
  EXPECT_EQ(ErrorOf("\"iota\"", "\"iotas\""),
            "\"iotas\" JSON graph: computations[0].instructions[1].opcode is not an opcode");
  EXPECT_EQ(ErrorOf("\"iota_dimension\":0", "\"iota_dimension\":{}"),
            "{} JSON graph: computations[0].instructions[1].attributes.iota_dimension is not a string, an "
            "integer or a "
            "boolean");
  EXPECT_EQ(ErrorOf("\"op_name\"", "\"op\""),
            "\"n\" JSON graph: computations[0].instructions[1].metadata.op is not a field of metadata");
  EXPECT_EQ(
      ErrorOf("[1]", "[\"1\"]"),
      "\"1\" JSON graph: computations[0].instructions[1].metadata.profile_type is not a list of integers");
  EXPECT_EQ(ErrorOf("\"shape\":\"f32[2]\",\"operands\"", "\"operands\""),
            "{\"name\":\"r\",\"opcode\":\"io JSON graph: computations[0].instructions[1].shape is missing, "
            "expected a "
            "string");
  EXPECT_EQ(ErrorOf("hlo.graph/1", "hlo.graph/2"), "\"hlo.graph/2\" JSON graph: schema is not 'hlo.graph/1'");
}

TEST(GraphInput, ManyGraphsAreManyModules) {
  const auto text = GraphJsonToHlo(Source((kGraph + "\n" + kGraph).str()));
  ASSERT_TRUE(text);
  EXPECT_EQ(llvm::StringRef(*text).count("HloModule m"), 2U);
  EXPECT_EQ(llvm::StringRef(*text).count("// -----"), 1U);
  EXPECT_EQ(GraphJsonToHlo(Source((kGraph + "\n [").str())).error().loc.begin, kGraph.size() + 3);
}

TEST(GraphInput, DamagedGraphsNeverCrash) {
  ASSERT_TRUE(GraphJsonToHlo(Source(kGraph)));
  for (size_t end = 1; end < kGraph.size(); ++end)
    EXPECT_FALSE(GraphJsonToHlo(Source(kGraph.take_front(end))));
  for (size_t i = 0; i < kGraph.size(); ++i)
    for (const char byte : {'"', '{', '}', '[', ']', ',', ':', '0', '-', 'x', '\\', '\0', '\xff'}) {
      std::string text = kGraph.str();
      text[i] = byte;
      const auto result = GraphJsonToHlo(Source(text));
      if (!result) {
        EXPECT_FALSE(Render(result.error()).empty());
      }
    }
}

}  // namespace
}  // namespace hlo

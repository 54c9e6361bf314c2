#include "tools/viz/drawing/page.h"

#include <gtest/gtest.h>

#include "ir/support/json.h"
#include "parser/parser.h"

namespace hlo {
namespace {

std::unique_ptr<Module> Parsed(llvm::StringRef text) {
  ParseResult result = ParseModule(std::make_shared<SourceBuffer>("test.hlo", text.str()));
  EXPECT_TRUE(result.module);
  return std::move(result.module);
}

constexpr llvm::StringLiteral kText =
    "HloModule m\nENTRY e {\n  p = f32[2] parameter(0)\n  n = f32[2] negate(p)\n  ROOT c = f32[2] "
    "copy(n)\n}\n";

/// What a page carries in the element of an id.
JsonValue DataOf(const PageInput& input, llvm::StringRef id) {
  std::string page;
  llvm::raw_string_ostream os(page);
  WritePage(os, input);
  const std::string begin = ("<script type=\"application/json\" id=\"" + id + "\">").str();
  const size_t from = page.find(begin), to = page.find("</script>", from);
  if (from == std::string::npos) return {};
  auto parsed = ParseJson(llvm::StringRef(page).slice(from + begin.size(), to));
  EXPECT_TRUE(parsed);
  return parsed ? std::move(*parsed) : JsonValue();
}

/// A member as text.
std::string Text(const JsonValue& page, llvm::StringRef key) {
  const JsonValue* value = page.Find(key);
  return value ? ToString(*value) : "";
}

TEST(Page, DataTellsHowItOpens) {
  const auto module = Parsed(kText);
  const Instruction* n = module->entry()->root()->operand(0);
  PageInput input;
  input.module = module.get();
  input.title = "a </title> \xff";
  input.heat.push_back({"time", "ns", {{n, 250.0}}});
  input.notes.push_back({n, "differs"});
  input.selected = n;
  input.only = {n, module->entry()->root()};
  input.group_by = "source";
  input.heat_by = "time";
  const JsonValue page = DataOf(input, "page-data");
  EXPECT_EQ(page.String("title"), "a </title> \xef\xbf\xbd");
  EXPECT_EQ(page.String("selected"), "e::n");
  EXPECT_EQ(Text(page, "only"), R"(["e::n","e::c"])");
  EXPECT_EQ(page.String("groupBy"), "source");
  EXPECT_EQ(page.String("colorBy"), "opcode");
  EXPECT_EQ(Text(page, "heat"), R"([{"name":"time","unit":"ns","values":{"e::n":250}}])");
  EXPECT_EQ(Text(page, "notes"), R"([["e::n","differs"]])");
  EXPECT_TRUE(DataOf(input, "left-text").IsNull());
}

TEST(Page, ComparisonsKeepWhatThePageUses) {
  const auto left = Parsed(kText), right = Parsed(kText);
  PageInput input;
  input.module = right.get();
  input.left = left.get();
  input.diff = R"({"schema":"hlo.diff/1","entries":[
    {"kind":"unchanged","left":{"computation":"e","name":"p"},"right":{"computation":"e","name":"p"}},
    {"kind":"unchanged","left":{"computation":"e","name":"n"},"right":{"computation":"e","name":"m"}},
    {"kind":"changed","left":{"computation":"e","name":"c"},"right":{"computation":"e","name":"c"},"moved":true,
     "note":"fused","changes":[{"path":"shape","left":"a","right":"b"}]},
    {"kind":"moved","left":{"computation":"e","name":"q"},"right":{"computation":"f","name":"q"},"note":"fused"},
    {"kind":"added","right":{"computation":"e","name":"k"}}]})";
  const JsonValue page = DataOf(input, "page-data");
  EXPECT_EQ(Text(page, "diff"),
            R"([["unchanged","e::n","e::m"],)"
            R"(["changed","e::c","e::c",[{"path":"shape","left":"a","right":"b"}],"moved, fused"],)"
            R"(["moved","e::q","f::q",[],"fused"],["added","","e::k"]])");
  EXPECT_EQ(page.String("groupBy"), "diff");
  EXPECT_EQ(page.String("colorBy"), "diff");
  EXPECT_TRUE(DataOf(input, "left-text").AsString()->starts_with("HloModule m"));
}

TEST(Page, MergedComparisonsNumberInstructionsInTheOrderOfTheText) {
  const auto left = Parsed(kText), right = Parsed(kText);
  const Instruction* c = right->entry()->root();
  PageInput input;
  input.module = right.get();
  input.left = left.get();
  input.diff = R"({"schema":"hlo.diff/1","entries":[],"computations":[
    {"left":"e","right":"e"},{"left":"f","right":"g"},{"left":"h"},{"right":"i"}]})";
  input.merge.emplace();
  input.merge->computations = {right->entry()};
  input.merge->regions = {{c->operand(0)->operand(0)}, {c}};
  input.merge->repeats = {{left->entry()->root(), 3}};
  const JsonValue page = DataOf(input, "page-data");
  EXPECT_EQ(Text(page, "pairs"), R"([["f","g"],["h",""],["","i"]])");
  EXPECT_EQ(Text(page, "regions"), "[[3,0],[1,2,1,1,1,3]]");
  EXPECT_EQ(Text(page, "repeats"), R"([["left","e::c",3]])");
}

TEST(Page, TheBytesDependOnTheInputAlone) {
  const auto module = Parsed(kText);
  PageInput input;
  input.module = module.get();
  std::string once, again;
  llvm::raw_string_ostream first(once), second(again);
  WritePage(first, input);
  WritePage(second, input);
  EXPECT_EQ(once, again);
}

}  // namespace
}  // namespace hlo

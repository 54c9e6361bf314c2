#include "tools/viz/drawing/page.h"

#include <gtest/gtest.h>

#include "llvm/Support/JSON.h"
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
llvm::json::Value DataOf(const PageInput& input, llvm::StringRef id) {
  std::string page;
  llvm::raw_string_ostream os(page);
  WritePage(os, input);
  const std::string begin = ("<script type=\"application/json\" id=\"" + id + "\">").str();
  const size_t from = page.find(begin), to = page.find("</script>", from);
  if (from == std::string::npos) return nullptr;
  auto parsed = llvm::json::parse(llvm::StringRef(page).slice(from + begin.size(), to));
  return parsed ? std::move(*parsed) : llvm::json::Value(nullptr);
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
  const llvm::json::Value data = DataOf(input, "page-data");
  const llvm::json::Object& page = *data.getAsObject();
  EXPECT_EQ(*page.getString("title"), "a </title> \xef\xbf\xbd");
  EXPECT_EQ(*page.getString("selected"), "e::n");
  EXPECT_EQ(*page.get("only"), llvm::json::Value(llvm::json::Array{"e::n", "e::c"}));
  EXPECT_EQ(*page.getString("groupBy"), "source");
  EXPECT_EQ(*page.getString("colorBy"), "opcode");
  EXPECT_EQ(*page.get("heat"),
            llvm::json::Value(llvm::json::Array{llvm::json::Object{
                {"name", "time"}, {"unit", "ns"}, {"values", llvm::json::Object{{"e::n", 250.0}}}}}));
  // One array in another: a list of one would be a copy.
  EXPECT_EQ(*page.getArray("notes")->front().getAsArray(), (llvm::json::Array{"e::n", "differs"}));
  EXPECT_EQ(DataOf(input, "left-text"), llvm::json::Value(nullptr));
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
  const llvm::json::Value data = DataOf(input, "page-data");
  using llvm::json::Array;
  EXPECT_EQ(
      *data.getAsObject()->get("diff"),
      llvm::json::Value(Array{
          Array{"unchanged", "e::n", "e::m"},
          Array{"changed", "e::c", "e::c",
                Array{llvm::json::Object{{"path", "shape"}, {"left", "a"}, {"right", "b"}}}, "moved, fused"},
          Array{"moved", "e::q", "f::q", Array{}, "fused"}, Array{"added", "", "e::k"}}));
  EXPECT_EQ(*data.getAsObject()->getString("groupBy"), "diff");
  EXPECT_EQ(*data.getAsObject()->getString("colorBy"), "diff");
  EXPECT_TRUE(DataOf(input, "left-text").getAsString()->starts_with("HloModule m"));
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
  const llvm::json::Value data = DataOf(input, "page-data");
  const llvm::json::Object& page = *data.getAsObject();
  using llvm::json::Array;
  EXPECT_EQ(*page.get("pairs"), llvm::json::Value(Array{Array{"f", "g"}, Array{"h", ""}, Array{"", "i"}}));
  EXPECT_EQ(*page.get("regions"), llvm::json::Value(Array{Array{3, 0}, Array{1, 2, 1, 1, 1, 3}}));
  ASSERT_EQ(page.getArray("repeats")->size(), 1U);
  EXPECT_EQ(*page.getArray("repeats")->front().getAsArray(), (Array{"left", "e::c", 3}));
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

#include "passes/pass_manager.h"

#include <gtest/gtest.h>

#include "ir/verify.h"
#include "parser/parser.h"

namespace hlo {
namespace {

/// Turns every negate into abs, or every abs into negate: two such passes undo each other.
template <OpKind kFrom, OpKind kTo>
Result<bool> Swap(Module& module, const void* options, PassContext& context) {
  (void)options;
  bool changed = false;
  for (Computation* c : context.Computations(module)) {
    std::vector<Instruction*> found;
    for (Instruction* i : c->instructions())
      if (i->kind() == kFrom) found.push_back(i);
    for (Instruction* i : found) {
      Instruction* to = c->Add(kTo, i->shape(), module.UniqueInstructionName(i->name()), i->operands());
      i->ReplaceAllUsesWith(to);
      c->Remove(i);
      changed = true;
    }
  }
  return changed;
}

template <bool kClaimed>
Result<bool> Lie(Module& module, const void* options, PassContext& context) {
  HLO_CHECK_OK(Swap<OpKind::Negate, OpKind::Abs>(module, options, context));
  return kClaimed;
}

template <auto kRun>
constexpr PassHooks kHooks = {
    &NoPassOptions::Rows, []() -> std::shared_ptr<void> { return std::make_shared<NoPassOptions>(); }, kRun};
template <auto kRun>
PassInfo MakePass(llvm::StringRef name) {
  return {name, "", kNoFacts, kNoFacts, &kHooks<kRun>, Exact};
}

PipelineItem Item(const PassInfo& pass) {
  PipelineItem item;
  item.pass = &pass;
  item.options = pass.hooks->make_options();
  return item;
}

std::unique_ptr<Module> Parse(llvm::StringRef text) {
  ParseResult result = ParseModule(std::make_shared<SourceBuffer>("test.hlo", text.str()));
  return std::move(result.module);
}

constexpr llvm::StringLiteral kText = "ENTRY e { x = f32[4] parameter(0)  ROOT n = f32[4] negate(x) }";

TEST(PassManager, NamesPassesThatUndoEachOther) {
  const PassInfo there = MakePass<&Swap<OpKind::Negate, OpKind::Abs>>("there");
  const PassInfo back = MakePass<&Swap<OpKind::Abs, OpKind::Negate>>("back");
  PipelineItem fix;
  fix.name = "fix";
  fix.max_rounds = kDefaultRounds;
  fix.items = {Item(there), Item(back)};
  std::vector<Diagnostic> reports;
  RewriteControls controls;
  controls.report = [&](Diagnostic d) { reports.push_back(std::move(d)); };
  PassManager manager(controls, {});
  const auto module = Parse(kText);
  const std::vector<PipelineItem> items = {fix};
  ASSERT_TRUE(manager.Run(*module, items).has_value());
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(reports[0].id.text(), "fixpoint-limit");
  EXPECT_EQ(reports[0].message,
            "no fixed point of 'there,back' after 5 rounds; 'there' and 'back' undo each other");
}

TEST(PassTable, NamesAreUniqueAndFound) {
  llvm::StringSet<> names;
  for (const PassInfo& pass : AllPasses()) {
    EXPECT_TRUE(names.insert(pass.name).second) << pass.name.str();
    EXPECT_EQ(FindPass(pass.name), &pass) << pass.name.str();
  }
  for (const PipelineInfo& pipeline : AllPipelines()) {
    const auto items = ParsePipeline(pipeline.spec);
    EXPECT_TRUE(items.has_value()) << pipeline.name.str() << ": " << (items ? "" : items.error().message);
  }
}

TEST(PassManager, FindsLyingChangedFlags) {
  const PassInfo liar = MakePass<&Lie<false>>("liar");
  RewriteControls controls;
  PassManager manager(controls, {});
  manager.set_check_changed_flag(true);
  const auto module = Parse(kText);
  const std::vector<PipelineItem> items = {Item(liar)};
  const auto result = manager.Run(*module, items);
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().id.text(), "pass-changed-flag");
}

TEST(PassManager, RepairsSchedulesOfPassesThatIgnoreThem) {
  const PassInfo there = MakePass<&Swap<OpKind::Negate, OpKind::Abs>>("there");
  RewriteControls controls;
  PassManager manager(controls, {});
  const auto module = Parse(
      "HloModule m, is_scheduled=true\n"
      "ENTRY e { x = f32[4] parameter(0)  s = f32[4] sine(x)  n = f32[4] negate(x)\n"
      "  c = f32[4] cosine(x)  a = f32[4] add(n, c)  ROOT r = f32[4] add(a, s) }");
  const std::vector<PipelineItem> items = {Item(there)};
  ASSERT_TRUE(manager.Run(*module, items).has_value());
  EXPECT_TRUE(Verify(*module).empty());
  std::string order;
  for (const Instruction* i : module->entry()->schedule()) order += ToString(i->kind()).str() + " ";
  EXPECT_EQ(order, "parameter sine cosine abs add add ");
}

TEST(PassManager, MarksWhatPassesMake) {
  const PassInfo there = MakePass<&Swap<OpKind::Negate, OpKind::Abs>>("there");
  RewriteControls controls;
  PassManager manager(controls, {});
  const auto module = Parse(kText);
  const std::vector<PipelineItem> items = {Item(there)};
  ASSERT_TRUE(manager.Run(*module, items).has_value());
  EXPECT_EQ(module->entry()->root()->stamp(), 1);
  EXPECT_EQ(manager.makers()[0], "pass 'there' (execution 1)");
}

}  // namespace
}  // namespace hlo

// What no text can say: broken structure, names, schedules, tables; layout-sensitive mode; the builder.
#include "ir/verify.h"

#include "gtest/gtest.h"
#include "ir/builder.h"
#include "parser/parser.h"

namespace hlo {
namespace {

const Shape kVector = Shape::ArrayWithDefaultLayout(ElementType::F32, {4});

/// ids of all errors, in order
std::vector<std::string> Ids(const Module& module, const VerifyOptions& options = {}) {
  std::vector<std::string> ids;
  for (const Diagnostic& d : Verify(module, options)) ids.push_back(d.id.str());
  return ids;
}
using Strings = std::vector<std::string>;

/// A module `e(p) = negate(negate(p))`.
struct Chain {
  Module module{"m"};
  Computation* entry = module.AddComputation("e");
  Builder builder{*entry};
  Instruction* p = builder.Parameter(0, kVector, "p");
  Instruction* a = *builder.Add(OpKind::Negate, {p}, {}, {}, "a");
  Instruction* b = *builder.Add(OpKind::Negate, {a}, {}, {}, "b");
  Chain() {
    entry->set_root(b);
    module.set_entry(entry);
  }
};

TEST(Verify, AcceptsBuiltModules) {
  Chain chain;
  EXPECT_EQ(Ids(chain.module), Strings());
}

TEST(Verify, NamesAreUnique) {
  Chain chain;
  chain.b->set_name("a");
  EXPECT_EQ(Ids(chain.module), Strings({"verify-name"}));
  chain.b->set_name("b");
  chain.module.AddComputation("e")->set_root(chain.b);
  EXPECT_EQ(Ids(chain.module), Strings({"verify-structure", "verify-name"}));
}

TEST(Verify, ComputationsHaveRootsAndNoCycles) {
  Chain chain;
  chain.entry->set_root(nullptr);
  EXPECT_EQ(Ids(chain.module), Strings({"verify-structure"}));
  chain.entry->set_root(chain.b);
  chain.a->SetOperand(0, chain.b);
  EXPECT_EQ(Ids(chain.module), Strings({"verify-structure"}));
  chain.a->SetOperand(0, chain.p);
  chain.a->AddControlPredecessor(chain.b);
  EXPECT_EQ(Ids(chain.module), Strings({"verify-structure"}));
}

TEST(Verify, CallsDoNotRecur) {
  Chain chain;
  CallAttrs attrs;
  Instruction* call = chain.entry->Add(OpKind::Call, kVector, "c", {chain.b}, attrs, {chain.entry});
  EXPECT_EQ(Ids(chain.module), Strings({"verify-callee"}));
  chain.entry->Remove(call);
  chain.b->SetCallees({chain.entry});
  EXPECT_EQ(Ids(chain.module), Strings({"verify-callee", "verify-callee"}));
}

TEST(Verify, CallsNestOnlySoDeep) {
  for (const int depth : {8192, 8193}) {
    std::string text = "k0 { x = f32[] parameter(0)  ROOT r = f32[] negate(x) }\n";
    llvm::raw_string_ostream os(text);
    for (int i = 1; i <= depth; ++i)
      os << (i == depth ? "ENTRY k" : "k") << i
         << " { x = f32[] parameter(0)  ROOT r = f32[] call(x), to_apply=k" << i - 1 << " }\n";
    const ParseResult parsed = ParseModule(text);
    ASSERT_NE(parsed.module, nullptr);
    const std::vector<Diagnostic> found = Verify(*parsed.module);
    ASSERT_EQ(found.size(), depth == 8192 ? 0U : 1U);
    if (found.empty()) continue;
    EXPECT_EQ(found[0].id.text(), "limit-nesting");
    EXPECT_EQ(found[0].message, "calls within computation %k8193 nest deeper than 8192 levels");
  }
}

TEST(Verify, SchedulesAreCompleteAndInOrder) {
  Chain chain;
  chain.module.config.is_scheduled = true;
  EXPECT_EQ(Ids(chain.module), Strings({"verify-schedule"}));
  chain.entry->set_schedule({chain.p, chain.a, chain.b});
  EXPECT_EQ(Ids(chain.module), Strings());
  chain.entry->set_schedule({chain.p, chain.b, chain.a});
  EXPECT_EQ(Ids(chain.module), Strings({"verify-schedule"}));
  chain.entry->set_schedule({chain.p, chain.a, chain.a});
  EXPECT_EQ(Ids(chain.module), Strings({"verify-schedule"}));
  chain.entry->set_schedule({chain.p, chain.a});
  EXPECT_EQ(Ids(chain.module), Strings({"verify-schedule"}));
}

TEST(Verify, StackTablesReferToEntries) {
  Chain chain;
  StackTables& tables = chain.module.stack_tables;
  tables.locations.emplace_back().file = 1;
  tables.frames.emplace_back().location = 1;
  tables.frames[0].parent = 1;
  EXPECT_EQ(Ids(chain.module), Strings({"verify-stack", "verify-stack"}));
}

TEST(Verify, AccuracyFitsTheOpcode) {
  Chain chain;
  chain.a->MutableExtras().result_accuracy.highest = true;
  EXPECT_EQ(Ids(chain.module), Strings({"verify-accuracy"}));
}

TEST(Verify, StopsAtTheWantedNumberOfErrors) {
  Chain chain;
  chain.a->set_shape(Shape::Array(ElementType::F32, {5}));
  EXPECT_EQ(Ids(chain.module).size(), 2u);
  VerifyOptions one;
  one.max_errors = 1;
  EXPECT_EQ(Ids(chain.module, one), Strings({"verify-shape"}));
}

TEST(Verify, SaysWhereIfThereIsNoText) {
  Chain chain;
  chain.b->set_shape(Shape::Array(ElementType::F32, {5}));
  EXPECT_EQ(Verify(chain.module).at(0).context, "in %b of computation %e");
}

Strings IdsOf(const char* text, bool layout_sensitive) {
  const ParseResult parsed = ParseModule(text);
  EXPECT_TRUE(parsed.module);
  VerifyOptions options;
  options.layout_sensitive = layout_sensitive;
  return parsed.module ? Ids(*parsed.module, options) : Strings();
}

TEST(Verify, LayoutsCountOnlyWhereAsked) {
  const char* space = "ENTRY e { p = f32[4]{0} parameter(0)  ROOT r = f32[4]{0:S(1)} bitcast(p) }";
  EXPECT_EQ(IdsOf(space, true), Strings({"verify-layout"}));
  const char* element =
      "ENTRY e { p = (f32[2,3]{0,1}) parameter(0)  ROOT r = f32[2,3]{1,0} get-tuple-element(p), index=0 }";
  EXPECT_EQ(IdsOf(element, false), Strings());
  EXPECT_EQ(IdsOf(element, true), Strings({"verify-shape"}));
  const char* from_host = "ENTRY e { p = f32[2,3]{1,0:S(5)} parameter(0)  ROOT r = f32[2,3]{0,1} copy(p) }";
  EXPECT_EQ(IdsOf(from_host, true), Strings({"verify-layout"}));
  const char* branches = R"(f { ROOT p = f32[2,3]{1,0} parameter(0) }
    g { q = f32[2,3]{1,0} parameter(0)  ROOT c = f32[2,3]{0,1} copy(q) }
    ENTRY e { b = pred[] parameter(0)  x = f32[2,3]{1,0} parameter(1)
      ROOT r = f32[2,3]{1,0} conditional(b, x, x), true_computation=f, false_computation=g })";
  EXPECT_EQ(IdsOf(branches, false), Strings());
  EXPECT_EQ(IdsOf(branches, true), Strings({"verify-callee"}));
}

TEST(Builder, InfersShapesAndKeepsNothingWrong) {
  Chain chain;
  const int64_t count = chain.entry->instruction_count();
  Instruction* q = chain.builder.Parameter(1, Shape::ArrayWithDefaultLayout(ElementType::F32, {5}), "q");
  const Result<Instruction*> sum = chain.builder.Add(OpKind::Add, {chain.b, q});
  ASSERT_FALSE(sum);
  EXPECT_EQ(sum.error().id.text(), "verify-operand-shape");
  const Result<Instruction*> wrong = chain.builder.AddWithShape(OpKind::Reshape, kVector, {q});
  ASSERT_FALSE(wrong);
  EXPECT_EQ(chain.entry->instruction_count(), count + 1);
  const Result<Instruction*> twice = chain.builder.Add(OpKind::Add, {chain.b, chain.a}, {}, {}, "a");
  ASSERT_TRUE(twice);
  EXPECT_EQ((*twice)->shape(), kVector);
  EXPECT_EQ((*twice)->name(), "a.1");
}

}  // namespace
}  // namespace hlo

// Edits of large modules: lists that are searched, shared values, what is remembered of computations.
#include "ir/module.h"

#include "gtest/gtest.h"
#include "ir/builder.h"

namespace hlo {
namespace {

const Shape kScalar = Shape::ArrayWithDefaultLayout(ElementType::F32, {});

struct Computed {
  Module module{"m"};
  Computation* entry = module.AddComputation("e");
  Builder builder{*entry};
  Instruction* p = builder.Parameter(0, kScalar, "p");
  Instruction* q = builder.Parameter(1, kScalar, "q");

  Instruction* Tuple(llvm::ArrayRef<Instruction*> operands) {
    return *builder.Add(OpKind::Tuple, operands, {}, {}, "t");
  }
};

TEST(Instruction, AttributesAreReadAsTheStructTheyAre) {
  Computed c;
  EXPECT_EQ(c.q->attr<ParameterAttrs>().number, 1);
  EXPECT_DEATH((void)c.q->attr<ConstantAttrs>(), "ParameterAttrs read as ConstantAttrs");
  EXPECT_DEATH((void)c.q->mutable_attrs().Mutable<IotaAttrs>(), "ParameterAttrs read as IotaAttrs");
  EXPECT_DEATH((void)c.Tuple({c.p})->attr<ParameterAttrs>(), "NoAttrs read as ParameterAttrs");
}

TEST(Instruction, OperandsAreReplacedHoweverManyThereAre) {
  for (const int64_t pairs : {int64_t{2}, int64_t{100}}) {
    Computed c;
    llvm::SmallVector<Instruction*, 8> operands;
    for (int64_t i = 0; i < pairs; ++i) operands.append({c.p, c.q});
    Instruction* tuple = c.Tuple(operands);
    tuple->SetOperand(0, c.q);  // q q p q p q …
    EXPECT_TRUE(llvm::is_contained(c.p->users(), tuple));
    tuple->SetOperand(1, c.p);  // q p p q p q …
    c.p->ReplaceAllUsesWith(c.q);
    EXPECT_TRUE(c.p->users().empty());
    EXPECT_TRUE(llvm::all_of(tuple->operands(), [&](Instruction* o) { return o == c.q; }));
    EXPECT_EQ(c.q->users().size(), 1U);
    for (int64_t i = 0; i < tuple->operand_count(); ++i) tuple->SetOperand(i, c.p);
    EXPECT_TRUE(c.q->users().empty());
    EXPECT_EQ(c.p->users().size(), 1U);
    tuple->SetOperands({c.q});
    tuple->SetOperand(0, c.p);
    EXPECT_TRUE(c.q->users().empty());
  }
}

TEST(Instruction, TheOnlyUseAmongManyOperandsIsTakenAway) {
  Computed c;
  llvm::SmallVector<Instruction*, 8> operands(100, c.p);
  operands[40] = c.q;
  Instruction* tuple = c.Tuple(operands);
  tuple->SetOperand(40, c.p);
  EXPECT_TRUE(c.q->users().empty());
  EXPECT_EQ(c.p->users().size(), 1U);
  tuple->SetOperand(41, c.q);
  tuple->SetOperand(41, c.p);
  EXPECT_TRUE(c.q->users().empty());
}

TEST(Instruction, ControlEdgesAreThereOnce) {
  Computed c;
  std::vector<Instruction*> many;
  for (int i = 0; i < 10; ++i) many.push_back(*c.builder.Add(OpKind::Negate, {c.p}, {}, {}, "n"));
  for (int round = 0; round < 2; ++round)
    for (Instruction* n : many) {
      if (n != many[0]) n->AddControlPredecessor(many[0]);
      if (n != many[1] && n != many[0]) many[1]->AddControlPredecessor(n);
    }
  EXPECT_EQ(many[0]->extras().control_successors.size(), 9U);
  EXPECT_EQ(many[1]->extras().control_predecessors.size(), 9U);
  EXPECT_EQ(many[2]->extras().control_predecessors.size(), 1U);
  EXPECT_EQ(many[2]->extras().control_successors.size(), 1U);
}

TEST(Computation, ParametersThatStayMoveDown) {
  Computed c;
  Instruction* r = c.builder.Parameter(2, kScalar, "r");
  Instruction* s = c.builder.Parameter(3, kScalar, "s");
  Instruction* tuple = c.Tuple({c.q, s});
  c.entry->set_root(tuple);
  c.p->AddControlPredecessor(r);
  c.entry->set_schedule({s, c.p, c.q, r, tuple});
  std::vector<int64_t> asked;
  c.entry->RemoveParameters([&](const Instruction& parameter) {
    asked.push_back(parameter.attr<ParameterAttrs>().number);
    return parameter.users().empty();
  });
  EXPECT_EQ(asked, (std::vector<int64_t>{0, 1, 2, 3}));
  EXPECT_EQ(c.entry->parameters(), (llvm::ArrayRef<Instruction*>{c.q, s}));
  EXPECT_EQ(c.q->attr<ParameterAttrs>().number, 0);
  EXPECT_EQ(s->attr<ParameterAttrs>().number, 1);
  EXPECT_EQ(c.entry->schedule(), (std::vector<Instruction*>{s, c.q, tuple}));
  EXPECT_EQ(c.entry->instruction_count(), 3);
  c.entry->RemoveParameters([](const Instruction&) { return false; });
  EXPECT_EQ(c.entry->parameters().size(), 2U);
}

TEST(Module, ComputationsThatCallEachOtherGoTogether) {
  Computed c;
  c.entry->set_root(c.p);
  c.module.set_entry(c.entry);
  std::vector<Computation*> made;
  for (int i = 0; i < 3; ++i) {
    Computation* computation = c.module.AddComputation("c" + std::to_string(i));
    Builder builder(*computation);
    Instruction* root = builder.Parameter(0, kScalar, "x");
    if (i > 0) root = computation->Add(OpKind::Call, kScalar, "y", {root}, CallAttrs{}, {made.back()});
    computation->set_root(root);
    made.push_back(computation);
  }
  Instruction* call = c.entry->Add(OpKind::Call, kScalar, "z", {c.p}, CallAttrs{}, {made[0]});
  c.module.RemoveComputations({made[1], made[2]});
  ASSERT_EQ(c.module.computations().size(), 2U);
  EXPECT_EQ(made[0]->callers().size(), 1U);
  c.entry->Remove(call);
  c.module.RemoveLastComputation();
  ASSERT_EQ(c.module.computations().size(), 1U);
  EXPECT_EQ(c.module.computations()[0].get(), c.entry);
}

TEST(Literal, CopiesOfTuplesShareTheirElementsUntilOneIsWritten) {
  Literal nested = Literal::MakeTuple({Literal::Scalar(ElementType::F32, 1.0F)});
  for (int i = 0; i < 100; ++i) nested = Literal::MakeTuple({std::move(nested)});
  Literal copy = nested;
  EXPECT_EQ(&copy.element(0), &nested.element(0));
  Literal* at = &copy;
  while (at->shape().IsTuple()) at = &at->MutableElements()[0];
  at->MutableSpan<float>()[0] = 2;
  EXPECT_FALSE(copy == nested);
  const Literal* before = &nested;
  while (before->shape().IsTuple()) before = &before->element(0);
  EXPECT_EQ(before->Data<float>()[0], 1);
  EXPECT_EQ(at->Data<float>()[0], 2);
}

TEST(Literal, AnElementIsTakenOutOfATupleThatOthersHoldToo) {
  Literal pair =
      Literal::MakeTuple({Literal::Scalar(ElementType::F32, 1.0F), Literal::Scalar(ElementType::F32, 2.0F)});
  const Literal other = pair;
  EXPECT_EQ(pair.TakeElement(1).Data<float>()[0], 2);
  EXPECT_EQ(other.element(1).Data<float>()[0], 2);
}

TEST(Fingerprints, AreThoseOfEachComputationAlone) {
  Computed c;
  c.entry->set_root(c.Tuple({c.p, c.q, c.p}));
  Fingerprints all;
  EXPECT_EQ(all.Of(*c.entry), Fingerprint(*c.entry));
  const uint64_t before = Fingerprint(*c.entry);
  c.entry->root()->SetOperand(0, c.q);
  EXPECT_NE(Fingerprint(*c.entry), before);
}

}  // namespace
}  // namespace hlo

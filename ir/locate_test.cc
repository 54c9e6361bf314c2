#include "ir/locate.h"

#include "gtest/gtest.h"
#include "parser/parser.h"

namespace hlo {
namespace {

llvm::StringRef TextAt(const Loc& loc) { return loc.source->text().slice(loc.begin, loc.end); }

TEST(Locate, FindsThePartsOfAnInstruction) {
  const ParseResult r = ParseModule(R"(
ENTRY e {
  a = f32[2,3]{1,0:T(8)} parameter(0), metadata={op_name="x, y=(" source_line=3}
  %b = f32[3,4] parameter(1)
  ROOT d = f32[2,4]{1,0} dot(f32[2,3]{1,0} a, /*index=1*/%b),
    lhs_contracting_dims={1}, rhs_contracting_dims={0}
})");
  ASSERT_TRUE(r.module);
  const Instruction& a = *r.module->entry()->parameter(0);
  const Instruction& dot = *r.module->entry()->root();
  EXPECT_EQ(TextAt(a.loc()), "a");
  EXPECT_EQ(TextAt(r.module->entry()->parameter(1)->loc()), "%b");
  EXPECT_EQ(TextAt(LocateShape(a)), "f32[2,3]");
  EXPECT_EQ(TextAt(LocateOpcode(a)), "parameter");
  EXPECT_EQ(TextAt(LocateAttribute(a, "metadata")), "metadata={op_name=\"x, y=(\" source_line=3}");
  EXPECT_EQ(TextAt(LocateOpcode(dot)), "dot");
  EXPECT_EQ(TextAt(LocateOperand(dot, 0)), "f32[2,3]{1,0} a");
  EXPECT_EQ(TextAt(LocateOperand(dot, 1)), "%b");
  EXPECT_EQ(TextAt(LocateAttribute(dot, "rhs_contracting_dims")), "rhs_contracting_dims={0}");
  EXPECT_EQ(TextAt(LocateAttribute(dot, "sharding")), "d");
}

TEST(Locate, FindsTupleShapesAndNestedOperands) {
  const ParseResult r =
      ParseModule("ENTRY e { x = f32[] parameter(0) ROOT t = (f32[], (f32[])) tuple(x, tuple(negate(x))) }");
  ASSERT_TRUE(r.module);
  const Instruction& t = *r.module->entry()->root();
  EXPECT_EQ(TextAt(LocateShape(t)), "(f32[], (f32[]))");
  EXPECT_EQ(TextAt(LocateOperand(t, 1)), "tuple(negate(x))");
  EXPECT_EQ(TextAt(LocateShape(*t.operand(1))), TextAt(t.operand(1)->loc()));
}

TEST(Locate, BuiltInstructionsHaveNoPlace) {
  Module module("m");
  Computation* c = module.AddComputation("c");
  const Instruction* p = c->Add(OpKind::Parameter, Shape::MakeToken(), "p", {}, ParameterAttrs{});
  EXPECT_FALSE(LocateShape(*p).valid());
  EXPECT_FALSE(LocateOperand(*p, 0).valid());
}

}  // namespace
}  // namespace hlo

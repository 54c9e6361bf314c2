#include "hlo/builder.h"

#include <gtest/gtest.h>

#include "tools/library/documents/programs.h"
#include "tools/library/test_computation.h"

namespace hlo_toolkit {
namespace {

const Shape kVector = ShapeUtil::MakeShape(F32, {3});

TEST(LibraryBuilder, TheDocumentsAxpyIsBuiltPrintedAndEvaluated) {
  const Literal alpha = LiteralUtil::CreateR0<float>(3), x = LiteralUtil::CreateR1<float>({1, 2, 4}),
                y = LiteralUtil::CreateR1<float>({10, 20, 30});
  ComputationBuilder builder(nullptr, "axpy");
  const XlaOp param_alpha = builder.Parameter(0, alpha.shape(), "alpha");
  const XlaOp param_x = builder.Parameter(1, x.shape(), "x"), param_y = builder.Parameter(2, y.shape(), "y");
  builder.Add(builder.Mul(param_alpha, param_x), param_y);
  const XlaComputation axpy = *builder.Build().value();
  EXPECT_EQ(axpy.ToString(),
            R"(HloModule axpy, entry_computation_layout={(f32[], f32[3]{0}, f32[3]{0})->f32[3]{0}}

ENTRY %axpy (alpha: f32[], x: f32[3], y: f32[3]) -> f32[3] {
  %alpha = f32[] parameter(0)
  %broadcast = f32[3]{0} broadcast(%alpha), dimensions={}
  %x = f32[3]{0} parameter(1)
  %multiply = f32[3]{0} multiply(%broadcast, %x)
  %y = f32[3]{0} parameter(2)
  ROOT %add = f32[3]{0} add(%multiply, %y)
}

)");
  EXPECT_TRUE(axpy.Verify().ok());
  EXPECT_EQ(Value(axpy, {alpha, x, y}), "{13, 26, 42}");
  EXPECT_EQ(axpy.GetProgramShape()->ToString(), "(alpha: f32[], x: f32[3], y: f32[3]) -> f32[3]");
  EXPECT_EQ(documents::ComputeAxpyParameters(alpha, x, y)->ToString(), "f32[3] {13, 26, 42}");
  EXPECT_EQ(documents::ComputeAxpyConstants(3, x.data<float>(), y.data<float>())->ToString(),
            "f32[3] {13, 26, 42}");
}

TEST(LibraryBuilder, TheFirstErrorIsKeptWithThePlaceOfTheCall) {
  XlaBuilder builder("errors");
  const XlaOp x = builder.Parameter(0, kVector, "x");
  const XlaOp y = builder.Parameter(1, ShapeUtil::MakeShape(F32, {4}), "y");
  const int line = __LINE__ + 1;
  const XlaOp sum = builder.Add(x, y);
  EXPECT_FALSE(sum.valid());
  EXPECT_FALSE(Exp(sum).valid());
  EXPECT_FALSE(builder.Parameter(-1, kVector, "z").valid());
  const StatusOr<XlaComputation> made = builder.Build();
  EXPECT_EQ(made.status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(made.status().message(),
            std::string(__FILE__) + ":" + std::to_string(line) +
                ": f32[3] and f32[4] differ in dimension 0, where none of them has size 1");
  EXPECT_EQ(builder.first_error(), made.status());
}

TEST(LibraryBuilder, WhatTheVerifierFindsIsAtItsCall) {
  XlaBuilder builder("errors");
  const XlaOp x = builder.Parameter(0, kVector, "x");
  const int line = __LINE__ + 1;
  const XlaOp twice = CollectivePermute(x, {{0, 1}, {0, 2}});
  Add(x, twice);
  EXPECT_TRUE(builder.first_error().ok());
  EXPECT_EQ(builder.Build().status().message(),
            std::string(__FILE__) + ":" + std::to_string(line) +
                ": 'source_target_pairs' of %collective-permute have id 0 twice as source");
}

TEST(LibraryBuilder, HandlesThatAreNoneAreErrors) {
  XlaBuilder one("one"), other("other");
  EXPECT_FALSE(Add(XlaOp(), XlaOp()).valid());
  const XlaOp x = one.Parameter(0, kVector, "x"), y = other.Parameter(0, kVector, "y");
  Add(x, XlaOp());
  EXPECT_EQ(Message(one.first_error()), "operand 1 is a null handle");
  other.Add(y, x);
  EXPECT_EQ(Message(other.first_error()), "operand 1 is of builder 'one', not of 'other'");

  XlaBuilder again("again");
  const XlaOp before = again.Parameter(0, kVector, "x");
  EXPECT_TRUE(again.Build().ok());
  again.Parameter(0, kVector, "x");
  Neg(before);
  EXPECT_EQ(Message(again.first_error()), "operand 0 is from before the last Build()");
  EXPECT_EQ(Parameter(nullptr, 0, kVector, "x"), XlaOp());
}

TEST(LibraryBuilder, WhatCannotBeBuiltIsSaid) {
  EXPECT_EQ(Message(XlaBuilder("empty").Build().status()), "nothing was enqueued");
  XlaBuilder gap("gap");
  gap.Parameter(1, kVector, "x");
  EXPECT_EQ(Message(gap.Build().status()), "there is a parameter 1, but no parameter 0");
  XlaBuilder twice("twice");
  twice.Parameter(0, kVector, "x");
  twice.Parameter(0, kVector, "y");
  EXPECT_EQ(Message(twice.Build().status()), "parameter 0 is there already, %x");
  XlaBuilder sizes("sizes");
  sizes.Parameter(0, ShapeUtil::MakeShape(F32, {2, -1}), "x");
  EXPECT_EQ(Message(sizes.Build().status()), "a dimension has the negative size -1");
  XlaBuilder room("room");
  room.Parameter(0, ShapeUtil::MakeShape(F32, {int64_t{1} << 40, int64_t{1} << 40}), "x");
  EXPECT_EQ(Message(room.Build().status()), "an array of f32 has more bytes than 64 bits can count");
  XlaBuilder outer("outer");
  const XlaOp column = outer.Parameter(0, ShapeUtil::MakeShape(F32, {int64_t{1} << 40, 1}), "x");
  outer.Add(column, outer.Parameter(1, ShapeUtil::MakeShape(F32, {1, int64_t{1} << 40}), "y"));
  EXPECT_EQ(Message(outer.Build().status()),
            "broadcast of f32[1099511627776,1099511627776] has more bytes than 64 bits can count");
  XlaBuilder empty("empty");
  empty.Collapse(empty.Parameter(0, ShapeUtil::MakeShape(F32, {0, int64_t{1} << 40, int64_t{1} << 40}), "x"),
                 {1, 2});
  EXPECT_EQ(Message(empty.Build().status()),
            "the product of collapsed dimensions of f32[0,1099511627776,1099511627776] exceeds 64 bits");
  XlaBuilder none("none");
  ConstantLiteral(&none, Literal());
  EXPECT_EQ(Message(none.Build().status()), "the literal has no value");
}

TEST(LibraryBuilder, TheRootIsWhatWasEnqueuedLastOrChosen) {
  XlaBuilder builder("root");
  const XlaOp x = builder.Parameter(0, kVector, "x");
  const XlaOp doubled = Add(x, x);
  Neg(x);
  EXPECT_TRUE(builder.SetReturnValue(doubled).ok());
  Abs(x);
  EXPECT_EQ(Text(builder),
            "x = f32[3] parameter(0)\n"
            "ROOT add = f32[3] add(x, x)\n"
            "negate = f32[3] negate(x)\n"
            "abs = f32[3] abs(x)\n");
}

TEST(LibraryBuilder, ASubBuildersErrorIsItsParentsToo) {
  XlaBuilder parent("parent");
  const std::unique_ptr<XlaBuilder> child = parent.CreateSubBuilder("child");
  child->Neg(XlaOp());
  EXPECT_TRUE(child->BuildAndNoteError().IsNull());
  EXPECT_NE(parent.first_error().message().find("error from: child: "), std::string::npos);
  ComputationBuilder old(nullptr, "old");
  EXPECT_EQ(old.CreateSubBuilder("nothing")->BuildAndNoteError(), nullptr);
}

TEST(LibraryBuilder, AnErrorEndsTheProgramWhereThatIsAskedFor) {
  XlaBuilder builder("strict");
  builder.set_die_immediately_on_error(true);
  EXPECT_DEATH(builder.CreateSubBuilder("child")->Neg(XlaOp()), "operand 0 is a null handle");
}

TEST(LibraryBuilder, NamesAreMadeFitAndUnique) {
  XlaBuilder builder("a name, with marks");
  const XlaOp x = builder.Parameter(0, kVector, "x y");
  builder.Add(builder.Add(x, x), builder.Parameter(1, kVector, "1"));
  const StatusOr<XlaComputation> made = builder.Build();
  ASSERT_TRUE(made.ok()) << made.status().ToString();
  EXPECT_EQ(made->name(), "a_name__with_marks");
  EXPECT_EQ(Text(*made),
            "x_y = f32[3] parameter(0)\n"
            "add = f32[3] add(x_y, x_y)\n"
            "_1 = f32[3] parameter(1)\n"
            "ROOT add.1 = f32[3] add(add, _1)\n");
  // What is printed is read again.
  EXPECT_EQ(XlaComputation::FromText(made->ToString())->ToString(), made->ToString());
}

TEST(LibraryBuilder, TuplesThatDoubleEnd) {
  XlaBuilder builder("b");
  XlaOp x = builder.Parameter(0, kVector, "x");
  for (int i = 0; i < 64; ++i) x = builder.Tuple({x, x});
  EXPECT_EQ(Message(builder.first_error()), "a tuple of too many values or of tuples too deep");
  XlaBuilder chain("b");
  XlaOp y = chain.Parameter(0, kVector, "x");
  for (int i = 0; i < 5000; ++i) y = chain.Tuple({y});
  EXPECT_EQ(Message(chain.first_error()), "a tuple of too many values or of tuples too deep");
  Shape shape = kVector;
  Literal literal = LiteralUtil::CreateR0<int>(1);
  for (int i = 0; i < 5000; ++i) {
    shape = Shape::Tuple({shape});
    literal = Literal::Tuple({literal, literal});
  }
  EXPECT_FALSE(ShapeUtil::Validate(shape).ok());
  EXPECT_FALSE(literal.valid());
}

TEST(LibraryBuilder, LongChainsAreBuiltWithoutRecursion) {
  XlaBuilder builder("b");
  XlaOp x = builder.Parameter(0, kVector, "x");
  for (int i = 0; i < 200000; ++i) x = Neg(x);
  const StatusOr<XlaComputation> made = builder.Build();
  ASSERT_TRUE(made.ok());
  XlaBuilder caller("caller");
  Call(&caller, *made, {caller.Parameter(0, kVector, "x")});
  EXPECT_TRUE(caller.Build().ok());
}

TEST(LibraryBuilder, ShapesAreToldAndChecked) {
  XlaBuilder builder("shapes");
  const XlaOp x = builder.Parameter(0, kVector, "x");
  EXPECT_EQ(builder.GetShape(x)->ToString(), "f32[3]");
  EXPECT_EQ(builder.CheckShape(x, kVector), x);
  builder.CheckSameShape(x, Neg(x));
  EXPECT_TRUE(builder.first_error().ok());
  EXPECT_FALSE(builder.GetShape(XlaOp()).ok());
  EXPECT_TRUE(builder.first_error().ok());
  builder.CheckShape(x, ShapeUtil::MakeShape(S32, {3}));
  EXPECT_EQ(Message(builder.first_error()), "the shape is f32[3], but s32[3] was expected");
}

TEST(LibraryBuilder, WhatIsThereIsPrintedOnceItIsWhole) {
  XlaBuilder builder("b");
  EXPECT_EQ(builder.ToString(), "");
  builder.Parameter(1, kVector, "y");
  EXPECT_EQ(builder.ToString(), "");
  builder.Parameter(0, kVector, "x");
  EXPECT_NE(builder.ToString().find("ROOT %x = f32[3]{0} parameter(0)"), std::string::npos);
  // What fails leaves nothing half made.
  XlaBuilder complex("c");
  Sort(complex.Parameter(0, ShapeUtil::MakeShape(C64, {3}), "x"));
  EXPECT_EQ(Message(complex.first_error()), "c64[3] has no order to sort by");
  EXPECT_NE(complex.ToString().find("ROOT %x"), std::string::npos);
  EXPECT_EQ(complex.ToString().find("less"), std::string::npos);
  XlaBuilder token("t");
  const XlaOp x = token.Parameter(0, kVector, "x");
  Sort(x, {token.Parameter(1, ShapeUtil::MakeTokenShape(), "t")});
  EXPECT_EQ(Message(token.first_error()), "operand 1 is token[], which is no array");
  EXPECT_EQ(token.ToString().find("less"), std::string::npos);
}

TEST(LibraryBuilder, NamesWithAMeaningAreReadAgain) {
  for (const char* name :
       {"f32",       "__x",        "\xc3\xa9", "true",    "nan",   "inf",     "ENTRY", "ROOT",
        "HloModule", "replicated", "9a",       "token",   "_",     "__xla_x", "-",     ".",
        "a-b.c",     "nan.1",      "nan-1",    "token-1", "f32.1", "x9",      "s4e",   "maximal"}) {
    XlaBuilder builder(name);
    Neg(builder.Parameter(0, kVector, name));
    const XlaComputation made = builder.Build().value();
    const StatusOr<XlaComputation> again = XlaComputation::FromText(made.ToString());
    ASSERT_TRUE(again.ok()) << name << ": " << again.status().ToString() << "\n" << made.ToString();
    EXPECT_EQ(again->ToString(), made.ToString());
  }
}

TEST(LibraryBuilder, PlacesOfOtherLanguagesAreNamed) {
  XlaBuilder builder("f");
  builder.CheckShape(XlaOp(), Shape(F32, {}), Location::At("model.py", 7));
  EXPECT_EQ(builder.first_error().message().substr(0, 12), "model.py:7: ");
}

}  // namespace
}  // namespace hlo_toolkit

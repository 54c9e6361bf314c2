#include <gtest/gtest.h>

#include "tools/library/test_computation.h"

namespace hlo_toolkit {
namespace {

/// The type that a function of the name takes in the test of all functions.
PrimitiveType TypeFor(const std::string& name) {
  static const std::string integral =
      " Clz PopulationCount LogicalNot Not And LogicalAnd LogicalOr Or Xor MulHi "
      "ShiftLeft ShiftRightArithmetic ShiftRightLogical ";
  return integral.find(" " + name + " ") != std::string::npos ? S32 : F32;
}

TEST(LibraryElementwise, EveryFunctionIsMethodAndFunctionAndVerifies) {
#define HLO_UNARY(Name, Kind)                                              \
  {                                                                        \
    XlaBuilder builder("b");                                               \
    const XlaOp x = builder.Parameter(0, Shape(TypeFor(#Name), {2}), "x"); \
    Tuple(&builder, {Name(x), builder.Name(x)});                           \
    const StatusOr<XlaComputation> made = builder.Build();                 \
    EXPECT_TRUE(made.ok()) << #Name << ": " << made.status().ToString();   \
  }
#define HLO_BINARY(Name, Kind)                                                           \
  {                                                                                      \
    XlaBuilder builder("b");                                                             \
    const XlaOp x = builder.Parameter(0, Shape(TypeFor(#Name), {2, 3}), "x");            \
    const XlaOp y = builder.Parameter(1, Shape(TypeFor(#Name), {3}), "y");               \
    Tuple(&builder, {Name(x, x), builder.Name(x, x), Name(x, y, {1}), Name(y, x, {1})}); \
    const StatusOr<XlaComputation> made = builder.Build();                               \
    EXPECT_TRUE(made.ok()) << #Name << ": " << made.status().ToString();                 \
  }
#define HLO_COMPARE(Name, direction, total) HLO_BINARY(Name, Compare)
#include "hlo/elementwise.def"
}

std::string SumText(const Shape& a, const Shape& b, Span<const int64_t> dimensions) {
  XlaBuilder builder("b");
  Add(builder.Parameter(0, a, "a"), builder.Parameter(1, b, "b"), dimensions);
  const StatusOr<ProgramShape> shape = builder.GetProgramShape();
  if (!shape.ok()) return Message(shape.status());
  const StatusOr<XlaComputation> made = builder.Build();
  return made.ok() ? shape->result.ToString() : made.status().ToString();
}
std::string SumText(Span<const int64_t> a, Span<const int64_t> b, Span<const int64_t> dimensions = {}) {
  return SumText(Shape(F32, a), Shape(F32, b), dimensions);
}

TEST(LibraryElementwise, BroadcastingFollowsTheDocumentsTable) {
  EXPECT_EQ(SumText({7}, {}), "f32[7]");
  EXPECT_EQ(SumText({2, 3}, {2, 1}), "f32[2,3]");
  EXPECT_EQ(SumText({1, 2, 5}, {7, 2, 5}), "f32[7,2,5]");
  EXPECT_EQ(SumText({7, 2, 5}, {7, 1, 5}), "f32[7,2,5]");
  EXPECT_EQ(SumText({7, 2, 5}, {7, 2, 6}),
            "f32[7,2,5] and f32[7,2,6] differ in dimension 2, where none of them has size 1");
  EXPECT_EQ(SumText({2, 1}, {1, 3}), "f32[2,3]");
  EXPECT_EQ(SumText({2, 3}, {3}, {1}), "f32[2,3]");
  EXPECT_EQ(SumText({2, 3}, {2}, {0}), "f32[2,3]");
  EXPECT_EQ(SumText({2, 3}, {3}, {0}), "dimension 0 of f32[3] does not fit dimension 0 of f32[2,3]");
  EXPECT_EQ(SumText({4}, {1, 2}, {0}), "f32[4,2]");
  EXPECT_EQ(SumText({1, 2}, {4, 3, 1}, {1, 2}), "f32[4,3,2]");
  EXPECT_EQ(SumText({2, 3, 4}, {3}, {1}), "f32[2,3,4]");
  EXPECT_EQ(SumText({2, 3}, {3}),
            "f32[3] and f32[2,3] have different ranks, which takes broadcast_dimensions");
  EXPECT_EQ(
      SumText({2, 3}, {2, 3}, {1, 0}),
      "broadcast_dimensions {1,0} of operands of one rank, f32[2,3] and f32[2,3], are not the identity");
  EXPECT_EQ(SumText({2, 3, 4}, {4, 2}, {2, 0}),
            "broadcast_dimensions {2,0} do not ascend within the rank of f32[2,3,4]");
  EXPECT_EQ(SumText({2, 3}, {2}, {0, 1}), "broadcast_dimensions {0,1} are 2 dimensions, but f32[2] has 1");
  EXPECT_EQ(SumText({0, 3}, {1, 3}), "f32[0,3]");
}

TEST(LibraryElementwise, DynamicSizesStayWhatTheyAre) {
  EXPECT_EQ(SumText(Shape(F32, {4}, {true}), Shape(F32, {1}), {}), "f32[<=4]");
  EXPECT_EQ(SumText(Shape(F32, {4}), Shape(F32, {4}, {true}), {}), "f32[<=4]");
  EXPECT_EQ(SumText(Shape(F32, {}), Shape(F32, {4}, {true}), {}), "f32[<=4]");
}

TEST(LibraryElementwise, BroadcastsAreInstructionsAsInText) {
  XlaBuilder builder("b");
  Sub(builder.Parameter(0, Shape(F32, {4}), "a"), builder.Parameter(1, Shape(F32, {1, 2}), "b"), {0});
  const StatusOr<XlaComputation> made = builder.Build();
  EXPECT_EQ(Text(*made),
            "a = f32[4] parameter(0)\n"
            "b = f32[1,2] parameter(1)\n"
            "broadcast = f32[4,2] broadcast(a), dimensions={0}\n"
            "reshape = f32[2] reshape(b)\n"
            "broadcast.1 = f32[4,2] broadcast(reshape), dimensions={1}\n"
            "ROOT subtract = f32[4,2] subtract(broadcast, broadcast.1)\n");
  EXPECT_EQ(
      Value(*made, {LiteralUtil::CreateR1<float>({1, 2, 3, 4}), LiteralUtil::CreateR2<float>({{5, 6}})}),
      "{ { -4, -5 }, { -3, -4 }, { -2, -3 }, { -1, -2 } }");
}

TEST(LibraryElementwise, TypesAreNeverPromoted) {
  XlaBuilder builder("b");
  Add(builder.Parameter(0, Shape(F32, {2}), "x"), builder.Parameter(1, Shape(S32, {2}), "y"));
  EXPECT_EQ(Text(builder), "element types of operands 0 and 1 of %add differ: %x is f32[2], %y is s32[2]");
  XlaBuilder tuples("b");
  const XlaOp empty = tuples.Tuple({});
  Add(empty, empty);
  EXPECT_EQ(Text(tuples), "operand 0 is (), which is no array");
}

TEST(LibraryElementwise, ComparisonsKnowTheTotalOrder) {
  XlaBuilder builder("b");
  const XlaOp x = builder.Parameter(0, Shape(F32, {2}), "x");
  Tuple(&builder, {Lt(x, x), LtTotalOrder(x, x),
                   LtTotalOrder(ConstantR0<int>(&builder, 1), ConstantR0<int>(&builder, 2))});
  EXPECT_EQ(Text(builder),
            "x = f32[2] parameter(0)\n"
            "compare = pred[2] compare(x, x), direction=LT\n"
            "compare.1 = pred[2] compare(x, x), direction=LT, type=TOTALORDER\n"
            "constant = s32[] constant(1)\n"
            "constant.1 = s32[] constant(2)\n"
            "compare.2 = pred[] compare(constant, constant.1), direction=LT\n"
            "ROOT tuple = (pred[2], pred[2], pred[]) tuple(compare, compare.1, compare.2)\n");
}

TEST(LibraryElementwise, OldFunctionsArePowers) {
  XlaBuilder builder("b");
  const XlaOp x = ConstantR1<float>(&builder, {1, 4});
  Tuple(&builder,
        {builder.SqrtF32(x), builder.SquareF32(x), builder.ReciprocalF32(x), Square(x), Reciprocal(x)});
  EXPECT_EQ(Value(builder), "( {1, 2}, {1, 16}, {1, 0.25}, {1, 16}, {1, 0.25} )");
}

TEST(LibraryElementwise, OperatorsAreFunctionsAndTellTheirPlace) {
  XlaBuilder builder("b");
  const XlaOp x = ConstantR1<int>(&builder, {5, -7}), two = ConstantR0<int>(&builder, 2);
  const XlaOp u = ConvertElementType(x, U32);
  Tuple(&builder, {x + two, x - two, x * two, x / two, x % two, x & two, x | two, x ^ two, x << two, x >> two,
                   -x, ~x, u >> ConvertElementType(two, U32)});
  EXPECT_EQ(Value(builder),
            "( {7, -5}, {3, -9}, {10, -14}, {2, -3}, {1, -1}, {0, 0}, {7, -5}, {7, -5}, {20, -28}, {1, -2}, "
            "{-5, 7}, "
            "{-6, 6}, {1, 1073741822} )");
  XlaBuilder wrong("b");
  const int line = __LINE__ + 1;
  (void)(ConstantR0<int>(&wrong, 1) + ConstantR0<float>(&wrong, 1));
  EXPECT_NE(wrong.first_error().message().find("elementwise_test.cc:" + std::to_string(line) + ": "),
            std::string::npos);
}

TEST(LibraryElementwise, SelectAndClampTakeScalars) {
  XlaBuilder builder("b");
  const XlaOp x = ConstantR1<float>(&builder, {1, 2, 3}), one = ConstantR0<float>(&builder, 1.5);
  const XlaOp two = ConstantR0<float>(&builder, 2.5);
  Tuple(&builder, {Select(Gt(x, one), x, one), Select(ConstantR0<bool>(&builder, true), one, x),
                   Select(Gt(x, one), one, two), Clamp(one, x, two)});
  EXPECT_EQ(Value(builder), "( {1.5, 2, 3}, {1.5, 1.5, 1.5}, {2.5, 1.5, 1.5}, {1.5, 2, 2.5} )");
}

TEST(LibraryElementwise, TuplesAreSelectedByBranches) {
  XlaBuilder builder("b");
  const XlaOp a = Tuple(&builder, {ConstantR0<int>(&builder, 1)}),
              b = Tuple(&builder, {ConstantR0<int>(&builder, 2)});
  Select(ConstantR0<bool>(&builder, false), a, b);
  EXPECT_EQ(Value(builder), "( 2 )");
}

TEST(LibraryElementwise, ConversionsTakeWhatTheyNeed) {
  XlaBuilder builder("b");
  const XlaOp z = Complex(ConstantR1<float>(&builder, {1.75, -2}), ConstantR1<float>(&builder, {3, 4}));
  Tuple(&builder, {ConvertElementType(z, S32), Conj(z), ReducePrecision(Real(z), 5, 1),
                   BitcastConvertType(ConstantR1<float>(&builder, {1, 2}), U32),
                   BitcastConvertType(ConstantR0<uint32_t>(&builder, 0x00020001), U16)});
  EXPECT_EQ(Value(builder), "( {1, -2}, {(1.75, -3), (-2, -4)}, {2, -2}, {1065353216, 1073741824}, {1, 2} )");
}

TEST(LibraryElementwise, TruthsHaveTheBitsOfBytes) {
  XlaBuilder builder("b");
  const XlaOp truths = ConstantR1<bool>(&builder, {true, false});
  Tuple(&builder,
        {BitcastConvertType(truths, U8), BitcastConvertType(truths, U16), BitcastConvertType(truths, U4),
         BitcastConvertType(ConstantR1<uint8_t>(&builder, {0, 1}), PRED)});
  EXPECT_EQ(Value(builder), "( {1, 0}, 1, { { 1, 0 }, { 0, 0 } }, {0, 1} )");
}

TEST(LibraryElementwise, AScalarTakesNoDimensions) {
  XlaBuilder builder("b");
  const XlaOp x = builder.Parameter(0, Shape(F32, {2}), "x"), y = builder.Parameter(1, Shape(F32, {}), "y");
  Add(x, y, {0});
  EXPECT_EQ(Text(builder), "broadcast_dimensions {0} are 1 dimensions, but a scalar has none");
}

}  // namespace
}  // namespace hlo_toolkit

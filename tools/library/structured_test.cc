// Products, reductions, control flow, linear algebra, random numbers.
#include <gtest/gtest.h>

#include "tools/library/documents/programs.h"
#include "tools/library/test_computation.h"

namespace hlo_toolkit {
namespace {

using BinaryFunction = XlaOp (*)(XlaOp, XlaOp, Span<const int64_t>, Location);
/// A scalar computation of two parameters.
XlaComputation Scalar(BinaryFunction function, PrimitiveType type = F32) {
  XlaBuilder builder("scalar");
  const XlaOp x = builder.Parameter(0, Shape(type, {}), "x"), y = builder.Parameter(1, Shape(type, {}), "y");
  function(x, y, {}, std::source_location::current());
  return builder.Build().value();
}

XlaOp F32Matrix(XlaBuilder* builder) { return ConstantR2<float>(builder, {{1, 2, 3}, {4, 5, 6}}); }

TEST(LibraryStructured, ProductsContractWhatTheDocumentsSay) {
  XlaBuilder builder("b");
  const XlaOp x = F32Matrix(&builder), v = ConstantR1<float>(&builder, {1, 0, 2});
  const XlaOp rows = ConstantR2<float>(&builder, {{1, 1, 1}, {2, 2, 2}});
  DotDimensionNumbers numbers;
  numbers.add_lhs_contracting_dimensions(1);
  numbers.add_rhs_contracting_dimensions(1);
  const XlaOp two = ConstantR0<float>(&builder, 2);
  Tuple(&builder, {Dot(v, v), Dot(x, v), Dot(x, Trans(x)), Dot(two, v), DotGeneral(x, rows, numbers),
                   Dot(v, v, nullptr, F64)});
  EXPECT_EQ(Value(builder),
            "( 5, {7, 16}, { { 14, 32 }, { 32, 77 } }, {2, 0, 4}, { { 6, 12 }, { 15, 30 } }, 5 )");
  XlaBuilder wrong("b");
  Dot(wrong.Parameter(0, Shape(F32, {2, 3}), "x"), wrong.Parameter(1, Shape(F32, {2, 3}), "y"));
  EXPECT_FALSE(wrong.Build().ok());
}

TEST(LibraryStructured, ConvolutionsAreOfAllAges) {
  XlaBuilder builder("b");
  const XlaOp x = builder.Parameter(0, Shape(F32, {1, 2, 5, 5}), "x"),
              k = builder.Parameter(1, Shape(F32, {3, 2, 3, 3}), "k");
  const auto numbers = XlaBuilder::CreateDefaultConvDimensionNumbers();
  const auto swapped = XlaBuilder::CreateConvDimensionNumbers(0, 1, 3, 2, 0, 1, 3, 2);
  ASSERT_TRUE(swapped.ok());
  Tuple(&builder, {Conv(x, k, {2, 2}, Padding::kSame), ConvWithGeneralPadding(x, k, {1, 1}, {{1, 0}, {0, 2}}),
                   ConvWithGeneralDimensions(x, k, {1, 1}, Padding::kValid, *swapped),
                   ConvGeneral(x, k, {1, 1}, {{0, 0}, {0, 0}}, numbers),
                   ConvGeneralDilated(x, k, {1, 1}, {{0, 0}, {0, 0}}, {2, 1}, {1, 2}, numbers)});
  EXPECT_EQ(
      Text(builder),
      "x = f32[1,2,5,5] parameter(0)\n"
      "k = f32[3,2,3,3] parameter(1)\n"
      "convolution = f32[1,3,3,3] convolution(x, k), window={size=3x3 stride=2x2 pad=1_1x1_1}, "
      "dim_labels=bf01_oi01->bf01\n"
      "convolution.1 = f32[1,3,4,5] convolution(x, k), window={size=3x3 pad=1_0x0_2}, "
      "dim_labels=bf01_oi01->bf01\n"
      "convolution.2 = f32[1,3,3,3] convolution(x, k), window={size=3x3}, dim_labels=bf10_oi10->bf10\n"
      "convolution.3 = f32[1,3,3,3] convolution(x, k), window={size=3x3}, dim_labels=bf01_oi01->bf01\n"
      "convolution.4 = f32[1,3,7,1] convolution(x, k), window={size=3x3 lhs_dilate=2x1 rhs_dilate=1x2}, "
      "dim_labels=bf01_oi01->bf01\n"
      "ROOT tuple = (f32[1,3,3,3], f32[1,3,4,5], f32[1,3,3,3], f32[1,3,3,3], f32[1,3,7,1]) "
      "tuple(convolution, "
      "convolution.1, convolution.2, convolution.3, convolution.4)\n");
  EXPECT_FALSE(XlaBuilder::CreateConvDimensionNumbers(0, 1, 2, 2, 0, 1, 2, 3).ok());
  XlaBuilder one("b");
  Conv(ConstantR3<float>(&one, {{{1, 2, 3, 4}}}), ConstantR3<float>(&one, {{{1, 10}}}), {1}, Padding::kValid);
  EXPECT_EQ(Value(one), "{ { { 21, 32, 43 } } }");
  XlaBuilder wrong("b");
  Conv(wrong.Parameter(0, Shape(F32, {1, 1}), "x"), wrong.Parameter(1, Shape(F32, {1, 1}), "k"), {1, 1},
       Padding::kSame);
  EXPECT_EQ(Text(wrong),
            "spatial dimensions of a convolution of f32[1,1] with f32[1,1] are no dimensions of them");
}

TEST(LibraryStructured, ReductionsFoldWithAComputationThatIsCopiedOnce) {
  XlaBuilder builder("b");
  const XlaComputation add = Scalar(Add), max = Scalar(Max);
  const XlaOp x = F32Matrix(&builder), zero = ConstantR0<float>(&builder, 0);
  Tuple(&builder, {Reduce(x, zero, add, {0}), Reduce(x, zero, add, {1}), ReduceAll(x, zero, add),
                   Reduce(x, ConstantLiteral(&builder, LiteralUtil::MinValue(F32)), max, {0, 1})});
  const XlaComputation made = builder.Build().value();
  EXPECT_EQ(Value(made), "( {5, 7, 9}, {6, 15}, 21, 6 )");
  const std::string text = made.ToString();
  size_t computations = 0;
  for (size_t at = text.find("\n%"); at != std::string::npos; at = text.find("\n%", at + 1)) ++computations;
  EXPECT_EQ(computations, 2u) << text;
}

TEST(LibraryStructured, WindowsSlideAsTheDocumentsExampleDoes) {
  EXPECT_EQ(Value(documents::ReduceWindow2017(), {LiteralUtil::CreateFull<float>({4, 6}, 3)}),
            "{ { 3, 3 }, { 3, 3 } }");
  EXPECT_EQ(Value(documents::ReduceWindow2022(), {LiteralUtil::CreateFull<float>({4, 6}, 3)}),
            "{ { 3, 3 }, { 3, 3 } }");
  XlaBuilder builder("b");
  const XlaComputation min = Scalar(Min), ge = Scalar(Ge), add = Scalar(Add);
  const XlaOp x = ConstantR1<float>(&builder, {10000, 1000, 100, 10, 1});
  const XlaOp high = ConstantLiteral(&builder, LiteralUtil::MaxValue(F32)),
              zero = ConstantR0<float>(&builder, 0);
  const XlaOp source = ConstantR1<float>(&builder, {2, 3});
  Tuple(&builder, {ReduceWindow(x, high, min, {3}, {2}, Padding::kValid),
                   ReduceWindow(x, high, min, {3}, {2}, Padding::kSame),
                   ReduceWindowWithGeneralPadding(x, zero, add, {5}, {1}, {{4, 0}}),
                   ReduceWindowWithGeneralPadding(x, zero, add, {2}, {1}, {}, {2}, {{0, 0}}),
                   SelectAndScatter(x, ge, {3}, {2}, Padding::kValid, source, zero, add),
                   SelectAndScatterWithGeneralPadding(x, ge, {3}, {2}, {{0, 0}}, source, zero, add)});
  EXPECT_EQ(
      Value(builder),
      "( {100, 1}, {1000, 10, 1}, {10000, 11000, 11100, 11110, 11111}, {10100, 1010, 101}, {2, 0, 3, 0, 0}, "
      "{2, 0, 3, 0, 0} )");
}

TEST(LibraryStructured, SeveralArraysAreReducedTogether) {
  XlaBuilder both("both");
  for (int i = 0; i < 4; ++i) both.Parameter(i, Shape(S32, {}), "p");
  XlaBuilder sums("sums");
  const XlaOp a = sums.Parameter(0, Shape(S32, {}), "a"), b = sums.Parameter(1, Shape(S32, {}), "b"),
              c = sums.Parameter(2, Shape(S32, {}), "c"), d = sums.Parameter(3, Shape(S32, {}), "d");
  Tuple(&sums, {Add(a, c), Max(b, d)});
  const XlaComputation pairwise = sums.Build().value();
  XlaBuilder builder("b");
  const XlaOp x = ConstantR1<int>(&builder, {1, 2, 3}), zero = ConstantR0<int>(&builder, 0);
  Tuple(&builder, {Reduce(&builder, {x, x}, {zero, zero}, pairwise, {0}),
                   ReduceWindow(&builder, {x, x}, {zero, zero}, pairwise, {2}, {1}, Padding::kValid)});
  EXPECT_EQ(Value(builder), "( ( 6, 3 ), ( {3, 5}, {2, 3} ) )");
}

TEST(LibraryStructured, MapsAndSortsAreOfAllAges) {
  XlaBuilder builder("b");
  const XlaComputation add = Scalar(Add), gt = Scalar(Gt);
  const XlaOp x = ConstantR1<float>(&builder, {3, 1, 2}), y = ConstantR1<int>(&builder, {30, 10, 20});
  Tuple(&builder, {builder.Map({x, x}, add), Map(&builder, {x, x}, add, {0}, {}), builder.Sort(x),
                   Sort(x, {y}), Sort({x}, gt, 0, true), Sort(F32Matrix(&builder), 0), TopK(x, 2), Sort(x, y),
                   builder.Sort(y, x, 0)});
  EXPECT_EQ(Value(builder),
            "( {6, 2, 4}, {6, 2, 4}, {1, 2, 3}, ( {1, 2, 3}, {10, 20, 30} ), {3, 2, 1}, { { 1, 2, 3 }, { 4, "
            "5, 6 } }, "
            "( {3, 2}, {0, 2} ), ( {1, 2, 3}, {10, 20, 30} ), ( {10, 20, 30}, {1, 2, 3} ) )");
  XlaBuilder old("b");
  const XlaOp z = ConstantR1<float>(&old, {1, 2});
  old.Map({z}, add, {z});
  EXPECT_EQ(old.first_error().code(), StatusCode::kUnimplemented);
  XlaBuilder null("b");
  null.Map({ConstantR1<float>(&null, {1, 2})}, XlaComputation());
  EXPECT_EQ(Text(null), "the computation is null");
}

TEST(LibraryStructured, LoopsAndBranchesRun) {
  XlaBuilder condition("condition");
  Lt(condition.Parameter(0, Shape(S32, {}), "i"), ConstantR0<int>(&condition, 10));
  XlaBuilder body("body");
  const XlaOp i = body.Parameter(0, Shape(S32, {}), "i");
  Add(i, i);
  const XlaComputation repeats = condition.Build().value(), twice = body.Build().value();
  XlaBuilder builder("b");
  const XlaOp three = ConstantR0<int>(&builder, 3), one = ConstantR0<int>(&builder, 1);
  XlaBuilder negated("negated");
  Neg(negated.Parameter(0, Shape(S32, {}), "x"));
  const XlaComputation negate = negated.Build().value();
  Tuple(&builder,
        {While(repeats, twice, three), Conditional(Lt(one, three), one, twice, three, negate),
         Conditional(three, {&twice, &negate}, {one, three}), Call(&builder, negate, {three}),
         CompositeCall(&builder, twice, {one}, "my.double", "{n = 1}", 2), OptimizationBarrier(one)});
  const XlaComputation made = builder.Build().value();
  EXPECT_EQ(Value(made), "( 12, 2, -3, -3, 2, 1 )");
  EXPECT_NE(
      made.ToString().find("frontend_attributes={composite.attributes={n = 1},composite.name=\"my.double\","
                           "composite.version=\"2\"}"),
      std::string::npos)
      << made.ToString();
  XlaBuilder wrong("b");
  While(repeats, twice, ConstantR0<float>(&wrong, 1));
  EXPECT_FALSE(wrong.Build().ok());
}

TEST(LibraryStructured, FactorsAndTransformsAreComputed) {
  XlaBuilder builder("b");
  const XlaOp a = ConstantR2<float>(&builder, {{4, 2}, {2, 5}}), b = ConstantR2<float>(&builder, {{2}, {5}});
  const XlaOp l = Cholesky(a, true);
  Tuple(&builder, {l, TriangularSolve(l, b, true, true, false, TriangularSolveOptions::NO_TRANSPOSE),
                   Fft(ConstantR1<float>(&builder, {1, 2, 3, 4}), FftType::RFFT, {4})});
  EXPECT_EQ(Value(builder), "( { { 2, 0 }, { 1, 2 } }, { {1}, {2} }, {(10, 0), (-2, 2), (-2, 0)} )");
}

TEST(LibraryStructured, BatchesAreNormalised) {
  XlaBuilder builder("b");
  const XlaOp x = ConstantR2<float>(&builder, {{1, 2}, {3, 6}}), one = ConstantR1<float>(&builder, {1, 1}),
              zero = ConstantR1<float>(&builder, {0, 0}), var = ConstantR1<float>(&builder, {1, 4}),
              mean = ConstantR1<float>(&builder, {2, 4});
  Tuple(&builder, {BatchNormTraining(x, one, zero, 0, 1), BatchNormInference(x, one, zero, mean, var, 0, 1),
                   GetTupleElement(BatchNormGrad(x, one, mean, var, x, 0, 1), 2)});
  EXPECT_EQ(Value(builder),
            "( ( { { -1, -1 }, { 1, 1 } }, {2, 4}, {1, 4} ), { { -1, -1 }, { 1, 1 } }, {4, 8} )");
}

TEST(LibraryStructured, RandomNumbersHaveTheirShapes) {
  XlaBuilder builder("b");
  const XlaOp zero = ConstantR0<float>(&builder, 0), one = ConstantR0<float>(&builder, 1);
  const Shape shape(F32, {3});
  Tuple(&builder,
        {RngNormal(zero, one, shape), RngUniform(zero, one, shape), RngBernoulli(one, Shape(U32, {3})),
         RngBitGenerator(RandomAlgorithm::RNG_THREE_FRY, ConstantR1<uint64_t>(&builder, {7, 42}),
                         Shape(U32, {4}))});
  const XlaComputation made = builder.Build().value();
  EXPECT_EQ(made.GetProgramShape()->result.ToString(), "(f32[3], f32[3], u32[3], (u64[2], u32[4]))");
  const std::string value = Value(made);
  EXPECT_NE(value.find("{1, 1, 1}, ( {7, 44}, {1840826595, 1626631394, 1787582443, 1661566107} )"),
            std::string::npos)
      << value;
}

TEST(LibraryStructured, RandomBitsAreOfStatesThatThereAre) {
  XlaBuilder builder("b");
  RngBitGenerator(RandomAlgorithm::RNG_PHILOX, ConstantR1<uint32_t>(&builder, {7, 42}), Shape(F32, {4}));
  EXPECT_EQ(Text(builder), "the state of %rng-bit-generator is u32[2], but must be u64[2] or u64[3]");
  XlaBuilder floats("b");
  const XlaOp made = RngBitGenerator(RandomAlgorithm::RNG_THREE_FRY, ConstantR1<uint64_t>(&floats, {7, 42}),
                                     Shape(F32, {2}));
  BitcastConvertType(GetTupleElement(made, 1), U32);
  EXPECT_EQ(Value(floats.Build().value()), "{1840826595, 1626631394}");
}

TEST(LibraryStructured, SelectorsHaveTheirTypes) {
  XlaBuilder negated("negated");
  Neg(negated.Parameter(0, Shape(S32, {}), "x"));
  const XlaComputation negate = negated.Build().value();
  XlaBuilder number("b");
  const XlaOp one = ConstantR0<int>(&number, 1);
  Conditional(one, one, negate, one, negate);
  EXPECT_EQ(Text(number), "the predicate of a conditional is s32[], expected pred[]");
  XlaBuilder truth("b");
  const XlaOp yes = ConstantR0<bool>(&truth, true), two = ConstantR0<int>(&truth, 2);
  Conditional(yes, {&negate, &negate}, {two, two});
  EXPECT_EQ(Text(truth), "the branch index of a conditional is pred[], expected s32[]");
  XlaBuilder vector("b");
  const XlaOp three = ConstantR0<int>(&vector, 3);
  Conditional(ConstantR1<bool>(&vector, {true}), three, negate, three, negate);
  EXPECT_EQ(Text(vector), "the predicate of a conditional is pred[1], expected pred[]");
  XlaBuilder choice("b");
  const XlaOp pair = Tuple(&choice, {ConstantR0<int>(&choice, 3)});
  Select(ConstantR0<int>(&choice, 1), pair, pair);
  EXPECT_EQ(Text(choice), "the predicate of a choice between tuples is s32[], expected pred[]");
}

TEST(LibraryStructured, NumbersThatNoEnumeratorHasAreErrors) {
  XlaBuilder fft("b");
  Fft(ConstantR1<float>(&fft, {1, 2}), static_cast<FftType>(4), {2});
  EXPECT_EQ(Text(fft), "there is no type of Fourier transforms number 4");
  XlaBuilder solve("b");
  const XlaOp a = ConstantR2<float>(&solve, {{4}});
  TriangularSolve(a, a, true, true, false, static_cast<TriangularSolveOptions::Transpose>(-1));
  EXPECT_EQ(Text(solve), "there is no way to transpose number -1");
  XlaBuilder random("b");
  RngBitGenerator(static_cast<RandomAlgorithm>(99), ConstantR1<uint64_t>(&random, {7, 42}), Shape(U32, {4}));
  EXPECT_EQ(Text(random), "there is no algorithm of random numbers number 99");
  XlaBuilder dot("b");
  PrecisionConfig precision;
  precision.add_operand_precision(PrecisionConfig::HIGH);
  precision.add_operand_precision(static_cast<PrecisionConfig::Precision>(3));
  const XlaOp v = ConstantR1<float>(&dot, {1, 2});
  Dot(v, v, &precision);
  EXPECT_EQ(Text(dot), "there is no precision number 3");
}

TEST(LibraryStructured, PrecisionsAreOfBothOperandsOrNone) {
  PrecisionConfig precision;
  for (size_t count = 0; count <= 3; ++count) {
    XlaBuilder builder("b");
    const XlaOp v = ConstantR1<float>(&builder, {1, 2});
    Dot(v, v, &precision);
    const std::string text = Text(builder);
    if (count == 0)
      EXPECT_EQ(text.find("operand_precision"), std::string::npos) << text;
    else if (count == 2)
      EXPECT_NE(text.find("operand_precision={highest,highest}"), std::string::npos) << text;
    else
      EXPECT_EQ(text, std::to_string(count) + " precisions for two operands");
    precision.add_operand_precision(PrecisionConfig::HIGHEST);
  }
}

TEST(LibraryStructured, MapsTakeTheDocumentsArguments) {
  const XlaComputation add = Scalar(Add);
  XlaBuilder builder("b");
  const XlaOp x = F32Matrix(&builder);
  const std::vector<int64_t> dimensions = {0, 1};
  Tuple(&builder,
        {builder.Map({x, x}, add, {0, 1}), Map(&builder, {x, x}, add, dimensions), Map(&builder, {x, x}, add),
         Map(&builder, {x, x}, add, {}), builder.Map({x, x}, add, {0, 1}, {}), Sub(x, x)});
  const std::string twice = "{ { 2, 4, 6 }, { 8, 10, 12 } }, ";
  EXPECT_EQ(Value(builder), "( " + twice + twice + twice + twice + twice + "{ { 0, 0, 0 }, { 0, 0, 0 } } )");
  const std::vector<std::vector<int64_t>> others = {{0}, {1, 0}, {0, 1, 2}, {0, 2}};
  for (const std::vector<int64_t>& other : others) {
    XlaBuilder wrong("b");
    const XlaOp y = F32Matrix(&wrong);
    Map(&wrong, {y, y}, add, other);
    EXPECT_EQ(Text(wrong), "the dimensions of a map of f32[2,3] are others than all of them in order");
  }
}

}  // namespace
}  // namespace hlo_toolkit

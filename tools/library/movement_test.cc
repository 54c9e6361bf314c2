#include <gtest/gtest.h>

#include "tools/library/test_computation.h"

namespace hlo_toolkit {
namespace {

/// The documents' f32[4,2,3], as integers.
XlaOp Cuboid(XlaBuilder* builder) {
  Array3D<int> v(4, 2, 3);
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 2; ++j)
      for (int k = 0; k < 3; ++k) v(i, j, k) = 10 * (i + 1) + 5 * j + k;
  return ConstantR3FromArray3D<int>(builder, v);
}

TEST(LibraryMovement, ReshapeReadsInTheOrderThatIsGiven) {
  XlaBuilder builder("b");
  const XlaOp v = Cuboid(&builder);
  Tuple(&builder, {Reshape(v, {0, 1, 2}, {24}), Reshape(v, {1, 2, 0}, {24}), Reshape(v, {2, 12})});
  EXPECT_EQ(
      Value(builder),
      "( {10, 11, 12, 15, 16, 17, 20, 21, 22, 25, 26, 27, 30, 31, 32, 35, 36, 37, 40, 41, 42, 45, 46, 47}, "
      "{10, 20, 30, 40, 11, 21, 31, 41, 12, 22, 32, 42, 15, 25, 35, 45, 16, 26, 36, 46, 17, 27, 37, 47}, "
      "{ { 10, 11, 12, 15, 16, 17, 20, 21, 22, 25, 26, 27 }, "
      "{ 30, 31, 32, 35, 36, 37, 40, 41, 42, 45, 46, 47 } } )");
  XlaBuilder scalars("b");
  const XlaOp one = ConstantR2<float>(&scalars, {{5}});
  EXPECT_EQ(scalars.GetShape(Reshape(one, {0, 1}, {}))->ToString(), "f32[]");
  EXPECT_EQ(scalars.GetShape(Reshape(Reshape(one, {}), {}, {1, 1}))->ToString(), "f32[1,1]");
  Reshape(one, {2});
  EXPECT_NE(Message(scalars.first_error()).find("is declared f32[2] with 2 elements"), std::string::npos);
}

TEST(LibraryMovement, CollapseTakesNeighboursInOrder) {
  XlaBuilder builder("b");
  const XlaOp v = Cuboid(&builder);
  EXPECT_EQ(builder.GetShape(Collapse(v, {0, 1, 2}))->ToString(), "s32[24]");
  EXPECT_EQ(builder.GetShape(Collapse(v, {0, 1}))->ToString(), "s32[8,3]");
  EXPECT_EQ(builder.GetShape(Collapse(v, {1, 2}))->ToString(), "s32[4,6]");
  EXPECT_EQ(Collapse(v, {}).valid(), true);
  Collapse(v, {0, 2});
  EXPECT_EQ(Message(builder.first_error()), "collapsed dimensions of s32[4,2,3] do not follow each other");
}

TEST(LibraryMovement, BroadcastsAddDimensions) {
  XlaBuilder builder("b");
  const XlaOp x = builder.Parameter(0, Shape(S32, {1, 2}), "x");
  Tuple(&builder, {Broadcast(x, {3}), BroadcastInDim(x, {2, 3, 2}, {0, 2})});
  const StatusOr<XlaComputation> made = builder.Build();
  EXPECT_EQ(Text(*made),
            "x = s32[1,2] parameter(0)\n"
            "broadcast = s32[3,1,2] broadcast(x), dimensions={1,2}\n"
            "reshape = s32[2] reshape(x)\n"
            "broadcast.1 = s32[2,3,2] broadcast(reshape), dimensions={2}\n"
            "ROOT tuple = (s32[3,1,2], s32[2,3,2]) tuple(broadcast, broadcast.1)\n");
  XlaBuilder wrong("b");
  Broadcast(wrong.Parameter(0, Shape(S32, {2}), "x"), {-1});
  EXPECT_EQ(Text(wrong), "a dimension has the negative size -1");
  XlaBuilder order("b");
  BroadcastInDim(order.Parameter(0, Shape(S32, {2, 3}), "x"), {3, 2}, {1, 0});
  EXPECT_EQ(Text(order), "dimension 1 of a broadcast becomes 0: these ascend within the rank of s32[3,2]");
}

TEST(LibraryMovement, SlicesAreTheDocuments) {
  XlaBuilder builder("b");
  const XlaOp a = ConstantR1<float>(&builder, {0, 1, 2, 3, 4});
  Array2D<float> rows(4, 3);
  for (int i = 0; i < 12; ++i) rows(i / 3, i % 3) = static_cast<float>(i);
  const XlaOp b = ConstantR2FromArray2D<float>(&builder, rows);
  Tuple(&builder, {Slice(a, {2}, {4}), Slice(b, {2, 1}, {4, 3}), Slice(a, {0}, {5}, {2}),
                   SliceInDim(b, 0, 4, 3, 0), DynamicSlice(a, ConstantR1<int>(&builder, {2}), {2}),
                   DynamicSlice(b, {ConstantR0<int>(&builder, 2), ConstantR0<int>(&builder, 1)}, {2, 2}),
                   DynamicUpdateSlice(a, ConstantR1<float>(&builder, {5, 6}), ConstantR1<int>(&builder, {2})),
                   DynamicUpdateSlice(a, ConstantR1<float>(&builder, {5}), {ConstantR0<int>(&builder, 4)})});
  EXPECT_EQ(Value(builder),
            "( {2, 3}, { { 7, 8 }, { 10, 11 } }, {0, 2, 4}, { { 0, 1, 2 }, { 9, 10, 11 } }, {2, 3}, "
            "{ { 7, 8 }, { 10, 11 } }, {0, 1, 5, 6, 4}, {0, 1, 2, 3, 5} )");
  XlaBuilder wrong("b");
  Slice(wrong.Parameter(0, Shape(F32, {4}), "x"), {1}, {5});
  EXPECT_EQ(Text(wrong),
            "'slice' of %slice has range [1:5:1], which does not fit dimension 0 of its operand f32[4]");
}

TEST(LibraryMovement, ArraysAreJoinedPaddedTurned) {
  XlaBuilder builder("b");
  const XlaOp a = ConstantR2<int>(&builder, {{1, 2}, {3, 4}, {5, 6}}),
              b = ConstantR2<int>(&builder, {{7, 8}});
  PaddingConfig config;
  PaddingConfigDimension* dimension = config.add_dimensions();
  dimension->set_edge_padding_low(1);
  dimension->set_interior_padding(1);
  config.add_dimensions()->set_edge_padding_high(-1);
  Tuple(&builder,
        {builder.ConcatInDim({a, b}, 0), Pad(a, ConstantR0<int>(&builder, 0), config), Transpose(a, {1, 0}),
         Trans(b), Rev(a, {0, 1}), Iota(&builder, S32, 3), Iota(&builder, Shape(S32, {2, 2}), 1)});
  EXPECT_EQ(Value(builder),
            "( { { 1, 2 }, { 3, 4 }, { 5, 6 }, { 7, 8 } }, { {0}, {1}, {0}, {3}, {0}, {5} }, "
            "{ { 1, 3, 5 }, { 2, 4, 6 } }, { {7}, {8} }, { { 6, 5 }, { 4, 3 }, { 2, 1 } }, {0, 1, 2}, "
            "{ { 0, 1 }, { 0, 1 } } )");
}

TEST(LibraryMovement, NothingIsPaddedOfAScalar) {
  XlaBuilder builder("b");
  const XlaOp x = builder.Parameter(0, Shape(S32, {}), "x");
  Pad(x, ConstantR0<int>(&builder, 0), PaddingConfig());
  EXPECT_EQ(Text(builder), "ROOT x = s32[] parameter(0)\nconstant = s32[] constant(0)\n");
  XlaBuilder wrong("b");
  Pad(wrong.Parameter(0, Shape(S32, {}), "x"), ConstantR0<float>(&wrong, 0), PaddingConfig());
  EXPECT_EQ(Text(wrong), "the padding value is f32[], expected s32[]");
}

TEST(LibraryMovement, ElementsAreGatheredAndScattered) {
  XlaBuilder adder("add");
  Add(adder.Parameter(0, Shape(S32, {}), "x"), adder.Parameter(1, Shape(S32, {}), "y"));
  const XlaComputation add = adder.Build().value();
  XlaBuilder builder("b");
  const XlaOp x = ConstantR2<int>(&builder, {{1, 2}, {3, 4}, {5, 6}}), at = ConstantR1<int>(&builder, {2, 0});
  GatherDimensionNumbers gather;
  gather.add_offset_dims(1);
  gather.add_collapsed_slice_dims(0);
  gather.add_start_index_map(0);
  gather.set_index_vector_dim(1);
  ScatterDimensionNumbers scatter;
  scatter.add_update_window_dims(1);
  scatter.add_inserted_window_dims(0);
  scatter.add_scatter_dims_to_operand_dims(0);
  scatter.set_index_vector_dim(1);
  const XlaOp rows = Gather(x, at, gather, {1, 2});
  Tuple(&builder, {rows, Scatter(x, at, rows, add, scatter)});
  EXPECT_EQ(Value(builder), "( { { 5, 6 }, { 1, 2 } }, { { 2, 4 }, { 3, 4 }, { 10, 12 } } )");
}

TEST(LibraryMovement, SizesAreReadAndSet) {
  XlaBuilder builder("b");
  const XlaOp x = ConstantR1<int>(&builder, {1, 2, 3, 4});
  const XlaOp shorter = SetDimensionSize(x, ConstantR0<int>(&builder, 2), 0);
  EXPECT_EQ(builder.GetShape(shorter)->ToString(), "s32[<=4]");
  EXPECT_EQ(builder.GetShape(RemoveDynamicDimension(shorter, 0))->ToString(), "s32[4]");
  Tuple(&builder,
        {GetDimensionSize(x, 0), GetDimensionSize(shorter, 0), Add(shorter, ConstantR0<int>(&builder, 1))});
  EXPECT_EQ(Value(builder), "( 4, 2, {2, 3} )");
}

TEST(LibraryMovement, ConstantsAreArraysOfOneSize) {
  XlaBuilder token("b");
  ConstantLiteral(&token, Literal(Shape::Tuple({Shape(S32, {}), ParseShape("token[]").value()})));
  EXPECT_EQ(Text(token), "a constant of (s32[], token[]), which is no tuple of arrays");
  XlaBuilder dynamic("b");
  ConstantLiteral(&dynamic, Literal(Shape(S32, {3}, {true})));
  EXPECT_EQ(Text(dynamic), "a constant of s32[<=3], which has dynamic dimensions");
}

TEST(LibraryMovement, ASplatIsAScalarRepeated) {
  XlaBuilder builder("b");
  ConstantR2<float>(&builder, {{1, 1}, {1, 1}});
  builder.ConstantR1<float>(3, 2);
  EXPECT_EQ(Text(builder),
            "constant = f32[] constant(1)\n"
            "broadcast = f32[2,2] broadcast(constant), dimensions={}\n"
            "constant.1 = f32[] constant(2)\n"
            "ROOT broadcast.1 = f32[3] broadcast(constant.1), dimensions={}\n");
}

TEST(LibraryMovement, VectorsOfStartIndicesFitTheRank) {
  XlaBuilder slice("b");
  const XlaOp x = slice.Parameter(0, Shape(F32, {4, 4}), "x");
  DynamicSlice(x, slice.Parameter(1, Shape(S32, {int64_t{1} << 40}), "i"), {1, 1});
  EXPECT_EQ(Text(slice), "start indices are s32[1099511627776] for f32[4,4], which has 2 dimensions");
  XlaBuilder update("b");
  const XlaOp y = update.Parameter(0, Shape(F32, {4, 4}), "x");
  DynamicUpdateSlice(y, y, update.Parameter(1, Shape(S32, {}), "i"));
  EXPECT_EQ(Text(update), "start indices are s32[] for f32[4,4], which has 2 dimensions");
}

}  // namespace
}  // namespace hlo_toolkit

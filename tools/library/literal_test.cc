#include "hlo/literal.h"

#include <gtest/gtest.h>

namespace hlo_toolkit {
namespace {

TEST(LibraryShape, TextIsReadAndWritten) {
  for (const char* text : {"f32[2,3]{0,1}", "f32[]", "(s32[4]{0}, (pred[2]{0}), token[])", "f32[<=4,2]{1,0}",
                           "s4[8,128]{1,0:T(8,128)E(4)S(1)}", "f32[]{:T(128)}", "(f32[]{:S(5)}, f32[])"})
    EXPECT_EQ(ParseShape(text)->ToString(true), text);
  EXPECT_FALSE(ParseShape("f32[2").ok());
  EXPECT_EQ(ParseShape("f32[2,3]")->ToString(), ShapeUtil::MakeShape(F32, {2, 3}).ToString());
  EXPECT_EQ(ShapeUtil::MakeTupleShape({Shape(F32, {2}), ShapeUtil::MakeTokenShape()}).ToString(),
            "(f32[2], token[])");
  EXPECT_EQ(Shape(F32, {-1, 2}).ToString(), "f32[-1,2]");
}

TEST(LibraryShape, WrongShapesAreSaid) {
  EXPECT_EQ(ShapeUtil::Validate(ShapeUtil::MakeShapeWithLayout(F32, {2, 3}, {0, 0})).message(),
            "a layout of rank 2 is no permutation of its dimensions");
  EXPECT_EQ(ShapeUtil::Validate(Shape()).message(), "there is no element type number 0");
  Shape tiled(F32, {2});
  tiled.set_layout({{0}, "nonsense"});
  EXPECT_FALSE(ShapeUtil::Validate(tiled).ok());
  Shape scalar(F32, {});
  scalar.set_layout({{}, "nonsense"});
  EXPECT_FALSE(ShapeUtil::Validate(scalar).ok());
  EXPECT_EQ(ShapeUtil::ElementsIn(Shape(F32, {int64_t{1} << 40, int64_t{1} << 40})), INT64_MAX);
  EXPECT_EQ(ShapeUtil::ByteSizeOf(ShapeUtil::MakeTupleShape({Shape(F32, {2}), Shape(S8, {3})})), 11);
}

TEST(LibraryLiteral, ElementsAreReachedByTypeAndIndex) {
  Literal x = LiteralUtil::CreateR2<float>({{1, 2, 3}, {4, 5, 6}});
  EXPECT_EQ(x.ToString(), "f32[2,3] { { 1, 2, 3 }, { 4, 5, 6 } }");
  EXPECT_EQ(x.Get<float>({1, 0}), 4);
  const Literal before = x;
  EXPECT_TRUE(x.Set<float>({1, 0}, 7).ok());
  EXPECT_EQ(x.Get<float>({1, 0}), 7);
  EXPECT_EQ(before.Get<float>({1, 0}), 4);
  EXPECT_FALSE(x == before);
  EXPECT_EQ(x.TryGet<float>({2, 0}).status().message(),
            "a literal of f32[2,3] has no element [2,0] of type f32");
  EXPECT_FALSE(x.TryGet<int>({0, 0}).ok());
  EXPECT_TRUE(x.data<int>().empty());
  EXPECT_EQ(x.data<float>().size(), 6u);
}

TEST(LibraryLiteral, ListsArraysAndTextsAreOneValue) {
  const Literal x = LiteralUtil::CreateR3<int>({{{1, 2}}, {{3, 4}}});
  EXPECT_EQ(x, *ParseLiteral("s32[2,1,2] {{{1,2}},{{3,4}}}"));
  EXPECT_EQ(x, *ParseLiteral("{{{1,2}},{{3,4}}}", Shape(S32, {2, 1, 2})));
  EXPECT_EQ(x, *LiteralUtil::CreateR1<int>({1, 2, 3, 4}).Reshape({2, 1, 2}));
  EXPECT_EQ(LiteralUtil::CreateR4<int8_t>({{{{1}}, {{2}}}}).ToString(),
            "s8[1,2,1,1] { { /*i0=0*/ { /*i1=0*/ {1} }, { /*i1=1*/ {2} } } }");
  EXPECT_FALSE(LiteralUtil::CreateR2<int>({{1, 2}, {3}}).valid());
  EXPECT_EQ(LiteralUtil::CreateR1<bool>({true, false}).ToString(), "pred[2] {1, 0}");
  EXPECT_EQ(LiteralUtil::CreateR2FromArray2D<double>(Array2D<double>({{1, 2}, {3, 4}})).Get<double>({1, 1}),
            4);
  EXPECT_EQ(LiteralUtil::CreateFull<uint8_t>({2}, 9).ToString(), "u8[2] {9, 9}");
  EXPECT_EQ(Literal::CreateR0<float>(2)->ToString(), "f32[] 2");
}

TEST(LibraryLiteral, NarrowTypesAreBits) {
  EXPECT_EQ(LiteralUtil::CreateR1<bfloat16>({bfloat16(1.5f), bfloat16(-2)}).ToString(), "bf16[2] {1.5, -2}");
  EXPECT_EQ(static_cast<float>(half(65519)), 65504);
  EXPECT_EQ(LiteralUtil::CreateR1<s4>({s4(7), s4(8)}).ToString(), "s4[2] {7, -8}");
  EXPECT_EQ(float8_e4m3fn(448).bits, 0x7e);
  EXPECT_EQ(LiteralUtil::CreateR0<complex64>({1, 2}).ToString(), "c64[] (1, 2)");
}

TEST(LibraryLiteral, TypesHaveExtremes) {
  EXPECT_EQ(LiteralUtil::MinValue(F32).ToString(), "f32[] -inf");
  EXPECT_EQ(LiteralUtil::MaxValue(F8E4M3FN).ToString(), "f8e4m3fn[] 448");
  EXPECT_EQ(LiteralUtil::MinValue(S8).ToString(), "s8[] -128");
  EXPECT_EQ(LiteralUtil::MaxValue(S64).ToString(), "s64[] 9223372036854775807");
  EXPECT_EQ(LiteralUtil::MaxValue(U4).ToString(), "u4[] 15");
  EXPECT_EQ(LiteralUtil::MinValue(PRED).ToString(), "pred[] false");
  EXPECT_EQ(LiteralUtil::One(C64).ToString(), "c64[] (1, 0)");
  EXPECT_FALSE(LiteralUtil::MinValue(TOKEN).valid());
  EXPECT_FALSE(LiteralUtil::MaxValue(TOKEN).valid());
  EXPECT_FALSE(LiteralUtil::MaxValue(C64).valid());
  EXPECT_EQ(LiteralUtil::MinValue(S1).ToString(), "s1[] -1");
  EXPECT_EQ(LiteralUtil::MaxValue(S1).ToString(), "s1[] 0");
  EXPECT_EQ(LiteralUtil::MaxValue(U1).ToString(), "u1[] 1");
  EXPECT_EQ(LiteralUtil::MaxValue(PRED).ToString(), "pred[] true");
  EXPECT_EQ(LiteralUtil::MinValue(S64).ToString(), "s64[] -9223372036854775808");
  EXPECT_EQ(LiteralUtil::MaxValue(U64).ToString(), "u64[] 18446744073709551615");
  EXPECT_EQ(LiteralUtil::MinValue(F8E4M3FN).ToString(), "f8e4m3fn[] -448");
  // Neither zero nor a sign.
  EXPECT_FALSE(LiteralUtil::Zero(F8E8M0FNU).valid());
  EXPECT_EQ(LiteralUtil::One(F8E8M0FNU).ToString(), "f8e8m0fnu[] 1");
  EXPECT_EQ(static_cast<float>(LiteralUtil::MinValue(F8E8M0FNU).Get<float8_e8m0fnu>({})), 0x1p-127f);
  EXPECT_EQ(static_cast<float>(LiteralUtil::MaxValue(F8E8M0FNU).Get<float8_e8m0fnu>({})), 0x1p127f);
}

TEST(LibraryLiteral, TuplesAreTakenApart) {
  const Literal tuple =
      LiteralUtil::MakeTuple({LiteralUtil::CreateR0<int>(1), LiteralUtil::CreateR1<float>({2})});
  EXPECT_EQ(tuple.shape().ToString(), "(s32[], f32[1])");
  EXPECT_EQ(tuple.DecomposeTuple()[1].ToString(), "f32[1] {2}");
  EXPECT_EQ(tuple.untyped_data(), nullptr);
  EXPECT_FALSE(Literal(Shape(F32, {-1})).valid());
  EXPECT_EQ(LiteralUtil::CreateR2<int>({{1, 2}}).WithLayout({{0, 1}, ""})->shape().ToString(true),
            "s32[1,2]{0,1}");
}

TEST(LibraryLiteral, TruthsHaveAllRanks) {
  const Literal x = LiteralUtil::CreateR2<bool>({{true, false}, {false, true}});
  EXPECT_EQ(x, *ParseLiteral("pred[2,2] {{1,0},{0,1}}"));
  EXPECT_EQ(LiteralUtil::CreateR3<bool>({{{true}, {false}}}), *ParseLiteral("pred[1,2,1] {{{1},{0}}}"));
  EXPECT_EQ(LiteralUtil::CreateR4<bool>({{{{false, true}}}}), *ParseLiteral("pred[1,1,1,2] {{{{0,1}}}}"));
  EXPECT_EQ(*Literal::CreateR2<bool>({{true}}), *ParseLiteral("pred[1,1] {{1}}"));
  Array2D<bool> matrix({{true, false}, {false, true}});
  EXPECT_EQ(LiteralUtil::CreateR2FromArray2D<bool>(matrix), x);
  matrix(0, 1) = true;
  const Array2D<bool>& constant = matrix;
  EXPECT_TRUE(constant(0, 1));
  Array3D<bool> cube(1, 2, 1);
  cube(0, 0, 0) = true;
  EXPECT_EQ(LiteralUtil::CreateR3FromArray3D<bool>(cube), *ParseLiteral("pred[1,2,1] {{{1},{0}}}"));
  Array4D<bool> four(1, 1, 1, 2, true);
  four(0, 0, 0, 0) = false;
  EXPECT_EQ(LiteralUtil::CreateR4FromArray4D<bool>(four), *ParseLiteral("pred[1,1,1,2] {{{{0,1}}}}"));
}

TEST(LibraryArray, SizesWithoutRoomAreNone) {
  EXPECT_EQ((Array2D<int>(-1, 3).num_elements()), 0);
  EXPECT_EQ((Array2D<int>(-1, 3).sizes()), (std::array<int64_t, 2>{0, 0}));
  EXPECT_EQ((Array2D<int>(-1, -3).num_elements()), 0);
  constexpr int64_t kMany = int64_t{1} << 40;
  EXPECT_EQ((Array3D<bool>(kMany, kMany, 2).sizes()), (std::array<int64_t, 3>{0, 0, 0}));
  EXPECT_EQ((Array2D<double>(int64_t{1} << 31, int64_t{1} << 31).n1()), 0);
  EXPECT_EQ((Array3D<int>(kMany, kMany, 0).n1()), kMany);
  EXPECT_EQ((Array3D<int>(0, 2, 3).n2()), 2);
}

TEST(LibraryLiteral, MemoryIsBorrowedWhereItFits) {
  const auto values = std::make_shared<std::array<float, 4>>(std::array<float, 4>{1, 2, 3, 4});
  const Shape rows = ShapeUtil::MakeShapeWithLayout(F32, {2, 2}, {1, 0});
  Literal same = Literal::Borrow(rows, values->data(), values);
  EXPECT_EQ(same.untyped_data(), values->data());
  EXPECT_EQ(values.use_count(), 2);
  // What is written to is a copy.
  EXPECT_TRUE(same.Set<float>({0, 0}, 7).ok());
  EXPECT_EQ(values->front(), 1);
  EXPECT_EQ(values.use_count(), 1);
  const Shape columns = ShapeUtil::MakeShapeWithLayout(F32, {2, 2}, {0, 1});
  EXPECT_EQ(Literal::Borrow(columns, values->data(), values).ToString(), "f32[2,2] { { 1, 3 }, { 2, 4 } }");
  const std::array<char, 9> bytes = {0, 1};
  EXPECT_EQ(Literal::Borrow(Shape(F32, {2}), bytes.data() + 1, nullptr).size_bytes(), 8);
  EXPECT_FALSE(Literal::Borrow(rows, nullptr, nullptr).valid());
  EXPECT_TRUE(Literal::Borrow(Shape(F32, {0}), nullptr, nullptr).valid());
  EXPECT_FALSE(Literal::Borrow(ShapeUtil::MakeTokenShape(), values->data(), nullptr).valid());
  // Bytes that no truth and no narrow number has are taken as what they mean.
  const std::array<uint8_t, 3> odd = {2, 0, 0xff};
  EXPECT_EQ(Literal::Borrow(Shape(PRED, {3}), odd.data(), nullptr).ToString(), "pred[3] {1, 0, 1}");
  EXPECT_EQ(Literal::Borrow(Shape(S4, {3}), odd.data(), nullptr).ToString(), "s4[3] {2, 0, -1}");
  EXPECT_EQ(Literal::Borrow(Shape(U2, {3}), odd.data(), nullptr).ToString(), "u2[3] {2, 0, 3}");
}

TEST(LibraryLiteral, NpyFilesAreReadAndWritten) {
  for (const char* text : {"f32[2,3] {{1,2,3},{4,5,6}}", "s8[] -3", "pred[2] {1,0}", "c64[1] {(1,2)}",
                           "bf16[2] {1,2}", "f8e4m3fn[2] {1,2}", "s4[2] {-1,2}", "u64[0] {}"}) {
    const Literal literal = *ParseLiteral(text);
    const std::string bytes = *LiteralToNpy(literal);
    const PrimitiveType type = literal.shape().element_type();
    EXPECT_EQ(*LiteralFromNpy(bytes, type), literal) << text;
    for (size_t size = 0; size < bytes.size(); ++size)
      EXPECT_FALSE(LiteralFromNpy(bytes.substr(0, size), type).ok()) << text << " " << size;
  }
  const std::string bytes = *LiteralToNpy(*ParseLiteral("f32[2] {1,2}"));
  EXPECT_EQ(LiteralFromNpy(bytes)->ToString(), "f32[2] {1, 2}");
  EXPECT_EQ(LiteralFromNpy(bytes, S16).status().message(), "the array is f32[2], not s16[2]");
  EXPECT_FALSE(LiteralFromNpy(bytes, TUPLE).ok());
  EXPECT_FALSE(LiteralToNpy(LiteralUtil::CreateToken()).ok());
  EXPECT_FALSE(LiteralFromNpy(bytes + bytes).ok());
}

}  // namespace
}  // namespace hlo_toolkit

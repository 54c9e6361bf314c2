#include "passes/analysis/reshape_facts.h"

#include <gtest/gtest.h>

namespace hlo {
namespace {

Shape F32(Dims dims, Dims minor_to_major) {
  Layout layout;
  layout.minor_to_major = std::move(minor_to_major);
  return Shape::Array(ElementType::F32, dims).WithLayout(std::move(layout));
}

/// Logical index of the element with the given row-major number, as physical offset.
int64_t Offset(const Shape& shape, int64_t linear) {
  Dims index(static_cast<size_t>(shape.rank()));
  for (int64_t d = shape.rank() - 1; d >= 0; --d) {
    index[static_cast<size_t>(d)] = linear % shape.dim(d);
    linear /= shape.dim(d);
  }
  int64_t offset = 0;
  const Dims& order = shape.layout().minor_to_major;
  for (size_t k = order.size(); k-- > 0;)
    offset = offset * shape.dim(order[k]) + index[static_cast<size_t>(order[k])];
  return offset;
}

bool SameOffsets(const Shape& from, const Shape& to) {
  for (int64_t i = 0; i < from.ElementCount(); ++i)
    if (Offset(from, i) != Offset(to, i)) return false;
  return true;
}

TEST(ReshapeFacts, Permutations) {
  const Dims p = {2, 0, 1};
  EXPECT_EQ(InversePermutation(p), (Dims{1, 2, 0}));
  EXPECT_TRUE(IsIdentityPermutation(ComposePermutations(p, InversePermutation(p))));
  EXPECT_EQ(Permuted({10, 20, 30}, p), (Dims{30, 10, 20}));
  EXPECT_TRUE(MovesOnlySizeOne({4, 1, 5}, {1, 0, 2}));
  EXPECT_FALSE(MovesOnlySizeOne({4, 1, 5}, {2, 1, 0}));
}

TEST(ReshapeFacts, Groups) {
  const auto groups = ReshapeGroups({2, 3, 4, 1}, {6, 1, 4});
  ASSERT_EQ(groups.size(), 4U);
  EXPECT_EQ(groups[0], (ReshapeGroup{0, 2, 0, 1}));
  EXPECT_EQ(groups[1], (ReshapeGroup{2, 2, 1, 2}));
  EXPECT_EQ(groups[2], (ReshapeGroup{2, 3, 2, 3}));
  EXPECT_EQ(groups[3], (ReshapeGroup{3, 4, 3, 3}));
  EXPECT_EQ(UnmodifiedTargets({2, 3, 4, 5}, {6, 4, 5}), (Dims{-1, -1, 1, 2}));
  EXPECT_EQ(ReshapeGroups({0, 4}, {7, 0}).size(), 1U);
}

TEST(ReshapeFacts, DegenerateReshape) {
  const auto reshape = AsDegenerateReshape({2, 1, 3}, {1, 2, 3, 1});
  ASSERT_TRUE(reshape);
  EXPECT_EQ(reshape->deleted, (Dims{1}));
  EXPECT_EQ(reshape->inserted, (Dims{0, 3}));
  EXPECT_FALSE(AsDegenerateReshape({2, 3}, {3, 2}));
  const auto empty = AsDegenerateReshape({0, 1, 3}, {0, 3, 1});
  ASSERT_TRUE(empty);
  EXPECT_EQ(empty->deleted, (Dims{1}));
  EXPECT_EQ(empty->inserted, (Dims{2}));
}

TEST(ReshapeFacts, ReshapeIsBitcastAgreesWithOffsets) {
  const Dims dims[] = {{12},      {2, 6},  {6, 2},    {4, 3},    {2, 2, 3},
                       {2, 1, 6}, {1, 12}, {3, 1, 4}, {2, 3, 2}, {1, 2, 6}};
  for (const Dims& from_dims : dims)
    for (const Dims& to_dims : dims) {
      Dims from_order(from_dims.size()), to_order(to_dims.size());
      for (size_t i = 0; i < from_order.size(); ++i) from_order[i] = static_cast<int64_t>(i);
      do {
        const Shape from = F32(from_dims, from_order);
        bool any = false;
        for (size_t i = 0; i < to_order.size(); ++i) to_order[i] = static_cast<int64_t>(i);
        do {
          const Shape to = F32(to_dims, to_order);
          EXPECT_EQ(ReshapeIsBitcast(from, to), SameOffsets(from, to))
              << ToString(from) << " " << ToString(to);
          any |= SameOffsets(from, to);
        } while (std::next_permutation(to_order.begin(), to_order.end()));
        const std::optional<Shape> made = BitcastReshapeShape(from, to_dims);
        EXPECT_EQ(made.has_value(), any);
        if (made) EXPECT_TRUE(SameOffsets(from, *made)) << ToString(from) << " " << ToString(*made);
      } while (std::next_permutation(from_order.begin(), from_order.end()));
    }
}

TEST(ReshapeFacts, TransposeIsBitcast) {
  const Shape x = F32({2, 3, 4}, {2, 1, 0});
  EXPECT_TRUE(TransposeIsBitcast(x, F32({4, 2, 3}, {0, 2, 1}), {2, 0, 1}));
  EXPECT_FALSE(TransposeIsBitcast(x, F32({4, 2, 3}, {2, 1, 0}), {2, 0, 1}));
  EXPECT_EQ(BitcastTransposeShape(x, {2, 0, 1}), F32({4, 2, 3}, {0, 2, 1}));
  EXPECT_EQ(BitcastAsTranspose(x, F32({4, 2, 3}, {0, 2, 1})), (Dims{2, 0, 1}));
  EXPECT_FALSE(BitcastAsTranspose(x, F32({4, 6, 1}, {2, 1, 0})));
}

TEST(ReshapeFacts, OtherMemoryOrTilesAreNoBitcast) {
  const Shape x = F32({4}, {0});
  Layout host = x.layout();
  host.memory_space = 5;
  EXPECT_FALSE(ReshapeIsBitcast(x, x.WithLayout(host)));
  Layout tiled = x.layout();
  tiled.tiles = {Tile{{2}}};
  EXPECT_FALSE(ReshapeIsBitcast(x.WithLayout(tiled), x));
}

}  // namespace
}  // namespace hlo

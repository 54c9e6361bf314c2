// Device lists: canonical forms and expansion.
#include "ir/sharding.h"

#include "gtest/gtest.h"
#include "ir/print.h"

namespace hlo {
namespace {

std::string Canonical(Dims tiles, Dims reshape, Dims permutation, std::vector<SubgroupType> types) {
  Sharding s;
  s.kind = ShardingKind::Tiled;
  s.tile_dims = std::move(tiles);
  s.iota = IotaDevices{std::move(reshape), std::move(permutation)};
  s.subgroups = std::move(types);
  Canonicalize(s);
  std::string text;
  llvm::raw_string_ostream os(text);
  PrintSharding(os, s);
  return text;
}

constexpr SubgroupType kManual = SubgroupType::Manual, kReplicated = SubgroupType::Replicated;

TEST(Sharding, SubgroupsAreSortedAndMerged) {
  EXPECT_EQ(Canonical({2, 1, 2, 2}, {8}, {0}, {kReplicated, kManual}),
            "{devices=[2,1,2,2]<=[2,2,2]T(0,2,1) last_tile_dims={manual, replicated}}");
  EXPECT_EQ(Canonical({2, 1, 2, 1, 2}, {8}, {0}, {kReplicated, kManual, kReplicated}),
            "{devices=[2,1,4]<=[8] last_tile_dim_replicate}");
  EXPECT_EQ(Canonical({2, 1, 2, 2, 2}, {16}, {0}, {kReplicated, kManual, kReplicated}),
            "{devices=[2,1,2,4]<=[2,2,2,2]T(0,2,1,3) last_tile_dims={manual, replicated}}");
  EXPECT_EQ(Canonical({2, 1, 4}, {2, 2, 2}, {2, 1, 0}, {kReplicated}),
            "{devices=[2,1,4]<=[4,2]T(1,0) last_tile_dim_replicate}");
  EXPECT_EQ(Canonical({2, 1, 2, 2}, {2, 4}, {1, 0}, {kReplicated, kManual}),
            "{devices=[2,1,2,2]<=[2,2,2]T(1,0,2) last_tile_dims={manual, replicated}}");
}

TEST(Sharding, TrivialTilesBecomePlain) {
  EXPECT_EQ(Canonical({1, 1, 4}, {4}, {0}, {kManual}), "{manual}");
  EXPECT_EQ(Canonical({1, 1, 2, 2}, {2, 2}, {1, 0}, {kReplicated, kReplicated}), "{replicated}");
  EXPECT_EQ(Canonical({1, 1, 1, 1}, {1}, {0}, {kManual, SubgroupType::Unreduced}), "{devices=[1,1]<=[1]}");
  EXPECT_EQ(Canonical({2, 2, 1}, {4}, {0}, {kManual}), "{devices=[2,2]<=[4]}");
}

TEST(Sharding, UnalignedIotaBecomesAList) {
  EXPECT_EQ(Canonical({2, 1, 6}, {4, 3}, {1, 0}, {kReplicated}),
            "{devices=[2,1,6]0,1,3,4,6,9,2,5,7,8,10,11 last_tile_dim_replicate}");
  EXPECT_EQ(Canonical({2, 1, 6}, {2, 2, 3}, {2, 1, 0}, {kManual}),
            "{devices=[2,1,6]<=[2,2,3]T(2,1,0) last_tile_dims={manual}}");
}

TEST(ReplicaGroups, Expand) {
  ReplicaGroups iota;
  iota.iota = ReplicaGroups::Iota{2, 2, {{2, 2}, {1, 0}}};
  EXPECT_EQ(*Expand(iota), (std::vector<Dims>{{0, 2}, {1, 3}}));
  iota.iota->group_count = 3;
  EXPECT_FALSE(Expand(iota).has_value());
  ReplicaGroups mesh;
  mesh.mesh = ReplicaGroups::MeshAxes{{{{"x", 2}, {"y", 4}}, {}, {}, {}}, {{0, {}}, {1, {{2, 2}}}}};
  EXPECT_EQ(*Expand(mesh), (std::vector<Dims>{{0, 1, 4, 5}, {2, 3, 6, 7}}));
}

}  // namespace
}  // namespace hlo

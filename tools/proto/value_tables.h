// Facts about the messages of values, for writing and reading.
#pragma once
#include "ir/sharding.h"
#include "ir/types.h"

namespace hlo {

/// In which field of a literal elements of a type lie; numbers of a list, or their bytes.
struct LiteralField {
  ElementType type;
  int field;
  bool varint = false;
};
inline constexpr LiteralField kLiteralFields[] = {
    {ElementType::Pred, 2},        {ElementType::S32, 4, true},
    {ElementType::S64, 5, true},   {ElementType::U32, 6, true},
    {ElementType::U64, 7, true},   {ElementType::F32, 8},
    {ElementType::F64, 9},         {ElementType::F16, 11},
    {ElementType::C64, 12},        {ElementType::BF16, 13},
    {ElementType::S8, 15},         {ElementType::U8, 3},
    {ElementType::U16, 16},        {ElementType::S16, 17},
    {ElementType::C128, 18},       {ElementType::F8E5M2, 19},
    {ElementType::F8E4M3FN, 20},   {ElementType::S4, 21},
    {ElementType::U4, 22},         {ElementType::F8E4M3B11FNUZ, 23},
    {ElementType::F8E5M2FNUZ, 24}, {ElementType::F8E4M3FNUZ, 25},
    {ElementType::S2, 26},         {ElementType::U2, 27},
    {ElementType::F8E4M3, 28},     {ElementType::F8E3M4, 29},
    {ElementType::S1, 30},         {ElementType::U1, 31},
    {ElementType::F4E2M1FN, 32},   {ElementType::F8E8M0FNU, 33},
};

/// OpSharding.Type of a ShardingKind and of a SubgroupType; -1: none.
inline constexpr int kShardingKinds[] = {
    /*Replicated=*/0, /*Maximal=*/1, /*Manual=*/4, /*Unknown=*/5,
    /*Unreduced=*/6,  /*Tiled=*/3,   /*Mesh=*/-1,  /*Tuple=*/2};
/// The field of a sharding over a mesh within OpSharding.
inline constexpr int kProtoMeshSharding = 14;
inline constexpr int kSubgroupKinds[] = {/*Maximal=*/1, /*Manual=*/4, /*Unreduced=*/6, /*Replicated=*/0};

}  // namespace hlo

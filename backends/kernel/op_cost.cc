#include "backends/kernel/op_cost.h"

namespace hlo::kernel {
namespace {

// As measured on the machine of backends/cpu/MEASUREMENTS.md, where one vector of 16 divisions takes 16
// cycles.
constexpr OpCost kPlain = {2, 1, 0, 0, 0, 0};
constexpr OpCost kFunction = {60, 8, 0.6, 0.6, 2, 4};
constexpr struct {
  OpKind kind;
  OpCost cost;
} kRows[] = {
    {OpKind::Divide, {60, 1, 3, 0.4, 0.4, 0.6}},
    {OpKind::Remainder, {60, 1, 3, 10.4, 10.4, 0}},
    {OpKind::Power, {200, 8, 0.6, 0.6, 2, 9}},
    {OpKind::Atan2, {200, 8, 0.6, 0.6, 2, 12}},
};

}  // namespace

const OpCost& CostOf(OpKind kind) {
  for (const auto& row : kRows)
    if (row.kind == kind) return row.cost;
  return Info(kind).category == OpCategory::Transcendental ? kFunction : kPlain;
}

double TileNanoseconds(OpKind kind, ElementType operand) {
  const OpCost& cost = CostOf(kind);
  if (IsComplex(operand)) return cost.tile_complex;
  if (!IsFloat(operand)) return cost.tile_integer;
  // Functions of f16 round through f64.
  return operand == ElementType::F64 || operand == ElementType::F16 ? cost.tile_double : cost.tile_single;
}

bool IsExpensive(OpKind kind) { return CostOf(kind).operations > kPlain.operations; }

}  // namespace hlo::kernel

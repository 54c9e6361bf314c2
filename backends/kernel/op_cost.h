// What operations cost, for all who weigh: grouping, schedules, pieces for threads, tiers.
#pragma once
#include "ir/op.h"
#include "ir/types.h"

namespace hlo::kernel {

/// An operation on one element.
struct OpCost {
  /// Time in compiled vectors, in operations of which a core does some seventy per cycle (a multiply-add of
  /// f32 counts two).
  int64_t operations;
  /// Roughly the instructions of its code, which say how much unrolling is worth: a division is one.
  int64_t instructions;
  /// Nanoseconds in interpreted tiles beyond those of moving operands and result: integers, what is computed
  /// in f32, what is computed in f64, complex numbers.
  double tile_integer, tile_single, tile_double, tile_complex;
};

const OpCost& CostOf(OpKind kind);

/// The column of the operand's type.
double TileNanoseconds(OpKind kind, ElementType operand);

/// Operations that are worth storing and loading.
bool IsExpensive(OpKind kind);

}  // namespace hlo::kernel

// What reducer computations do.
#pragma once
#include <optional>

#include "ir/computation.h"

namespace hlo {

/// The opcode of a computation that applies one binary operation to its two scalar parameters and nothing
/// else, if that may be regrouped (kMonoid).
std::optional<OpKind> ReducerOp(const Computation& computation);
/// A scalar constant with op(init, x) = x for every x, up to the sign of zeros and the payload of NaNs.
bool IsIdentityOf(OpKind op, const Instruction& init);
/// Taken in another order it gives other values: sums and products of floats, for they round.
bool RoundsByOrder(OpKind op, ElementType type);
/// Folding `init` in once more changes nothing: it is the identity, or the operation idempotent.
bool MayRepeatInit(OpKind op, const Instruction& init);
/// The same instruction, or scalar constants of the same bits.
bool IsSameScalar(const Instruction& a, const Instruction& b);

/// A reduce or reduce-window of one array to an array of static shape, all in one element type.
bool IsPlainReduction(const Instruction& inst);
/// The ReducerOp of a plain reduction.
std::optional<OpKind> PlainReductionOp(const Instruction& inst);
/// A plain reduction that adds (but not of pred).
bool IsSum(const Instruction& inst);
/// The reduced dimensions of a reduce, ascending.
Dims ReducedDims(const Instruction& reduce);

/// A reducer of (value, index) pairs, accumulators first, whose value is the maximum (minimum) of the
/// values up to signs of zeros and NaN payloads: the opcode.
std::optional<OpKind> ArgReducerOp(const Computation& computation);

}  // namespace hlo

// The signature of reducer computations (ops-structured §1.2 "Reducer signature").
#pragma once
#include "ir/infer/check.h"

namespace hlo {

/// Checks callee number `callee` as a reducer of the elements of `inputs` (arrays) into accumulators of
/// the element types of `inits` (arrays): 2N scalar parameters, accumulators first; result i as
/// parameter i. Inputs may differ from their parameters in floating type if `ignore_precision`, inits
/// always. Returns the computation's result: a scalar or a tuple of N scalars.
Result<Shape> CheckReducer(const Instruction& inst, int64_t callee, llvm::ArrayRef<Instruction*> inputs,
                           llvm::ArrayRef<Instruction*> inits, bool ignore_precision);

/// Parameter `number` of `computation` is a scalar that takes elements of `value`.
Status CheckScalarParameter(const Instruction& inst, const Computation& computation, int64_t number,
                            const Shape& value, bool ignore_precision);

/// Result for each scalar of a reducer's result over arrays of the given sizes, wrapped as it is.
Shape ReducedShape(const Instruction& inst, const Shape& reduced, llvm::ArrayRef<int64_t> dims,
                   llvm::ArrayRef<bool> dynamic);

}  // namespace hlo

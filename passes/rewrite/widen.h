// Letting instructions compute in a wider type than their values have.
#pragma once
#include "ir/module.h"

namespace hlo {

/// A narrow element type, and one that holds all its values, to compute in instead.
struct TypePair {
  ElementType narrow, wide;
};

/// The instruction computes numbers of the narrow type from operands or to a result of it, where other
/// instructions only move them: arithmetic (compares by total order apart), contractions, linear algebra,
/// batch normalisation, and reductions by one operation. Bodies of other reductions, sorts and scatters
/// compute by themselves.
bool ComputesIn(const Instruction& inst, ElementType narrow);
/// The same computed in the wide type: operands converted to it, results converted back. `inst` stays, unused
/// by the result; the caller replaces it.
Instruction* Widened(Instruction* inst, const TypePair& types);
/// The shape with another element type; a storage size written in the layout goes.
Shape Retyped(const Shape& shape, ElementType type);

}  // namespace hlo

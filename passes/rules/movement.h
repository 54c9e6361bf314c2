// What the rules about data movement share: attributes by short names, shapes with other sizes.
#pragma once
#include "passes/analysis/reshape_facts.h"
#include "passes/rewrite/rule.h"
#include "passes/rules/rules.h"

namespace hlo {

/// `dimensions` of a broadcast, transpose, reverse, concatenate.
inline const Dims& Dimensions(const Instruction& inst) { return inst.attr<DimensionsAttrs>().dimensions; }
/// An array of the element type of `like` with other sizes and the default layout.
inline Shape Resized(const Shape& like, llvm::ArrayRef<int64_t> dims) {
  return Shape::ArrayWithDefaultLayout(like.element_type(), dims);
}
inline size_t At(int64_t i) { return static_cast<size_t>(i); }
/// A dimension list of a set.
inline bool Contains(llvm::ArrayRef<int64_t> dims, int64_t d) { return llvm::is_contained(dims, d); }

// Tests for patterns.
inline bool IsScalarValue(const Instruction& inst) { return inst.shape().IsScalar(); }
inline bool HasElements(const Instruction& inst) {
  return inst.shape().IsArray() && inst.shape().ElementCount() != 0;
}

/// Same memory space of the root and all its operands that are arrays.
bool SameMemory(const Match& m);
/// A reshape that layouts allow: any in layout-insensitive runs, else only one that moves no data.
Instruction* FreeReshape(Match& m, Instruction* x, const Shape& shape);

}  // namespace hlo

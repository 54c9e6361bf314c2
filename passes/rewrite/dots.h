// Dimension roles of dots, and making dots like others.
#pragma once
#include "passes/rewrite/maker.h"

namespace hlo {

/// Dimensions of one operand of a dot by role. Batch and contracting ones pair up with those of the other
/// operand; free ones ascend. The result has the dimensions batch, free left, free right.
struct DotRoles {
  Dims batch, contracting, free;
};
[[nodiscard]] DotRoles RolesOf(const Instruction& dot, int64_t side);
/// Batch dimensions lead in equal order, one contracting and at most one free dimension on either side.
[[nodiscard]] bool IsCanonicalDot(const Instruction& dot);

/// {begin, begin + 1, …}.
[[nodiscard]] Dims Range(int64_t begin, int64_t count);
/// The sizes of some dimensions, and their product.
[[nodiscard]] Dims SizesOf(const Shape& shape, llvm::ArrayRef<int64_t> dims);
[[nodiscard]] int64_t ProductOf(const Shape& shape, llvm::ArrayRef<int64_t> dims);
/// The concatenation of lists of dimensions.
[[nodiscard]] Dims Joined(std::initializer_list<llvm::ArrayRef<int64_t>> lists);

/// A dot with other operands and dimension numbers; result type, precision, algorithm and backend config are
/// those of `like`. `exchanged`: its operands have changed sides.
Instruction* MakeDotLike(Maker& make, const Instruction& like, Instruction* lhs, Instruction* rhs,
                         DotAttrs dims, bool exchanged = false);

/// An instruction that does the same to other operands with a result of another shape; attributes, callees,
/// backend config and frontend attributes are those of `like`.
Instruction* RemakeWith(Maker& make, const Instruction& like, const Shape& shape,
                        llvm::ArrayRef<Instruction*> operands);
/// The same with other attributes.
Instruction* RemakeWith(Maker& make, const Instruction& like, const Shape& shape,
                        llvm::ArrayRef<Instruction*> operands, Attrs attrs);

/// The value itself where nothing would change.
Instruction* TransposeIfNeeded(Maker& make, Instruction* x, llvm::ArrayRef<int64_t> permutation);
Instruction* ReshapeIfNeeded(Maker& make, Instruction* x, llvm::ArrayRef<int64_t> dims);
/// A broadcast to `dims`, operand dimension i becoming `to[i]`, which may be in any order.
Instruction* BroadcastTo(Maker& make, Instruction* x, llvm::ArrayRef<int64_t> dims,
                         llvm::ArrayRef<int64_t> to);

/// In which type sums of products with results of a type are taken: at least F32 for floats.
[[nodiscard]] ElementType SumType(ElementType type);
/// The operand of a product with results of type `result` in the type of its sums.
Instruction* ConvertForSum(Maker& make, Instruction* x, ElementType result);

/// No dynamic dimension in result and operands, which are arrays.
[[nodiscard]] bool HasStaticArrays(const Instruction& inst);

/// Every dimension of a dot (or of several) has a number of its own; operands are the lists of theirs.
using DimLabels = llvm::SmallVector<int, 6>;
/// The product of x and y summed over the labels that `result` lacks, dimensions in the order of `result`:
/// a dot, transposed if need be. A label that only one operand has must be in the result.
Instruction* MakeLabelledDot(Maker& make, const Instruction& like, Instruction* x, const DimLabels& x_labels,
                             Instruction* y, const DimLabels& y_labels, const DimLabels& result);
/// Labels of both operands and the result of a dot.
struct LabelledDot {
  DimLabels sides[2], result;
  int next = 0;  // the first label that is free
};
/// `known`: labels that operand `side` has already, numbered below `next`.
[[nodiscard]] LabelledDot LabelDot(const Instruction& dot, int64_t side = 0, DimLabels known = {},
                                   int next = 0);
/// The dot over operands without some dimensions of size 1, reshaped to what the dot was. `drop` is asked for
/// every dimension of both operands and must agree on those that pair up. Null if it wants none.
Instruction* MakeDotWithoutDims(Maker& make, const Instruction& dot,
                                llvm::function_ref<bool(int64_t side, int64_t dim)> drop);
/// The dot as reduce(multiply); null unless one operand has batch and contracting dimensions only.
Instruction* MakeDotAsReduction(Maker& make, const Instruction& dot);

}  // namespace hlo

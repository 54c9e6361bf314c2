// Algebra of permutations, reshapes and layouts: which dimensions a reshape leaves alone, and which reshapes
// and transposes move no data.
#pragma once
#include <optional>
#include <utility>

#include "ir/shape.h"

namespace hlo {

// Permutations, as transpose has them: dimension i of the result is dimension p[i] of the operand.
[[nodiscard]] bool IsIdentityPermutation(llvm::ArrayRef<int64_t> p);
[[nodiscard]] Dims InversePermutation(llvm::ArrayRef<int64_t> p);
/// Transposing by `first`, then by `second`.
[[nodiscard]] Dims ComposePermutations(llvm::ArrayRef<int64_t> first, llvm::ArrayRef<int64_t> second);
/// values[p[0]], values[p[1]], ….
[[nodiscard]] Dims Permuted(llvm::ArrayRef<int64_t> values, llvm::ArrayRef<int64_t> p);
/// The dimensions keep their order, those of size 1 left out.
[[nodiscard]] bool MovesOnlySizeOne(llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<int64_t> p);

/// Dimensions [from_begin, from_end) of the operand of a reshape become [to_begin, to_end) of its result.
struct ReshapeGroup {
  int64_t from_begin = 0, from_end = 0, to_begin = 0, to_end = 0;
  [[nodiscard]] bool IsOneToOne() const { return from_end - from_begin == 1 && to_end - to_begin == 1; }
  bool operator==(const ReshapeGroup&) const = default;
};
/// The finest split of a reshape into groups of equal products, in order. Dimensions of size 1 without a
/// partner form groups with an empty side or belong to the group around them. Both lists must have the same
/// product; with zero elements there is one group of everything.
[[nodiscard]] llvm::SmallVector<ReshapeGroup, 6> ReshapeGroups(llvm::ArrayRef<int64_t> from,
                                                               llvm::ArrayRef<int64_t> to);
/// For each operand dimension the result dimension it becomes unchanged, or -1.
[[nodiscard]] Dims UnmodifiedTargets(llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> to);

/// A reshape that only removes and adds dimensions of size 1.
struct DegenerateReshape {
  Dims deleted;   // of the operand, ascending
  Dims inserted;  // of the result, ascending
};
/// Nothing if the reshape does more.
[[nodiscard]] std::optional<DegenerateReshape> AsDegenerateReshape(llvm::ArrayRef<int64_t> from,
                                                                   llvm::ArrayRef<int64_t> to);
/// The dimensions without those of size 1.
[[nodiscard]] Dims WithoutSizeOne(llvm::ArrayRef<int64_t> dims);

// Physical equality. Shapes are static arrays with layouts; layouts with tiles, padding, split
// configurations or unequal properties never agree, except that `element type` may differ in kind, not width.

/// Reshaping `from` to `to` moves no data.
[[nodiscard]] bool ReshapeIsBitcast(const Shape& from, const Shape& to);
/// Transposing `from` to `to` moves no data.
[[nodiscard]] bool TransposeIsBitcast(const Shape& from, const Shape& to,
                                      llvm::ArrayRef<int64_t> permutation);
/// The shape of dimensions `to` with the layout that makes the reshape from `from` a bitcast; nothing if
/// there is none.
[[nodiscard]] std::optional<Shape> BitcastReshapeShape(const Shape& from, llvm::ArrayRef<int64_t> to);
/// The transposed shape with the layout that makes the transpose a bitcast.
[[nodiscard]] Shape BitcastTransposeShape(const Shape& from, llvm::ArrayRef<int64_t> permutation);
/// The permutation by which a bitcast from `from` to `to` is a transpose; nothing if it is none.
[[nodiscard]] std::optional<Dims> BitcastAsTranspose(const Shape& from, const Shape& to);

}  // namespace hlo

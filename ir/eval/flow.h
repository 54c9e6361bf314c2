// Which parts of what the members of a collective bring their results are made of.
#pragma once
#include <vector>

#include "ir/literal.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace hlo {

/// What a member's result needs of the others: processes send each other no more than that.
struct Flow {
  enum Kind : uint8_t {
    Whole,     // contributions as they are
    Elements,  // each element the elements at its place alone, and all members get the same
    Blocks,    // of each value the block of the member's rank, of as many along `dimension` as there are
               // members
    Operands,  // the value of the member's rank
  };
  Kind kind = Whole;
  int64_t dimension = 0;
  /// Whether the result of rank `to` needs what `from` brings; null: always.
  llvm::function_ref<bool(size_t from, size_t to)> needs = nullptr;

  /// Whether one of these needs it.
  [[nodiscard]] bool Needs(size_t from, llvm::ArrayRef<size_t> to) const;
  /// Of what one of `members` brings that which these need: of Blocks and Operands theirs, in their order.
  [[nodiscard]] std::vector<Literal> Cut(llvm::ArrayRef<Literal> values, llvm::ArrayRef<size_t> to,
                                         size_t members) const;
  /// The shapes of that.
  [[nodiscard]] std::vector<Shape> Cut(llvm::ArrayRef<Shape> shapes, llvm::ArrayRef<size_t> to,
                                       size_t members) const;
};

/// Copies `count` indices of dimension `dim` from `from`, from `from_start` on, into `to`, whose other
/// dimensions are the same.
void CopyBlock(Literal& to, int64_t to_start, const Literal& from, int64_t from_start, int64_t count,
               int64_t dim);

}  // namespace hlo

// Which operations write their result over an operand, by definition or if the operand is not needed any more
// (passes.md §5.6).
#pragma once
#include <functional>
#include <optional>

#include "ir/instruction.h"
#include "llvm/ADT/DenseMap.h"

namespace hlo {

/// The array parts of the result that the operation writes in place of an operand part: dynamic-update-slice,
/// scatter, all-reduce-start, in-place collective-permute, fusions whose root is such an operation on a
/// parameter that nothing else in the fusion reads elsewhere, and output_to_operand_aliasing. Result and
/// operand must then lie in one buffer. Malformed pairs are left out.
llvm::SmallVector<OutputOperandAlias, 1> InPlacePairs(const Instruction& instruction);

/// What whoever makes code of a fusion says of its result, or element `output` of it (-1: it is an array), in
/// place of an operand; nothing: it keeps to the order that SharingRules expects.
using MayWriteOver =
    std::function<std::optional<bool>(const Instruction& fusion, int64_t operand, int64_t output)>;

/// Answers whether an operation may write its result over an operand that dies there: it reads each element
/// before it writes that element. Answers about fusions are kept, so the module must not change meanwhile.
class SharingRules {
 public:
  explicit SharingRules(MayWriteOver of_code = nullptr) : of_code_(std::move(of_code)) {}
  /// Part `output` of the result in place of part `index` of operand number `operand`. Never true for copies
  /// or for parts whose shape or layout differ, unless the code is said to do it.
  bool MayShare(const Instruction& user, int64_t operand, llvm::ArrayRef<int64_t> index,
                llvm::ArrayRef<int64_t> output);
  /// As InPlacePairs; kept.
  const llvm::SmallVector<OutputOperandAlias, 1>& InPlace(const Instruction& instruction);

 private:
  /// `output`: the element of the result, or -1 if it is an array.
  bool FusionMayShare(const Instruction& fusion, int64_t operand, int64_t output);
  MayWriteOver of_code_;
  llvm::DenseMap<std::pair<const Instruction*, std::pair<int64_t, int64_t>>, bool> fusions_;
  llvm::DenseMap<const Instruction*, llvm::SmallVector<OutputOperandAlias, 1>> in_place_;
};

}  // namespace hlo

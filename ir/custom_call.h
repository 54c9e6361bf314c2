// Whether a custom call fits the signature of its target (ir/custom_calls.def).
#pragma once
#include <optional>
#include <string>

#include "ir/attrs.h"
#include "ir/instruction.h"

namespace hlo {

/// What does not fit, as a message that begins with `target '…'`.
struct CustomCallMisfit {
  std::string message;
  int64_t operand = -1;  // the operand that it is about; -1: the call
  /// The call changes the shape because the program has not been divided among devices: no error of the
  /// program, but it cannot be run.
  bool not_partitioned = false;
};

/// Compares a call with the signature of its target; nothing if it fits or the target is none of the table.
std::optional<CustomCallMisfit> FindCustomCallMisfit(const Instruction& call);

/// The value of an attribute in the dictionary of a call that fits: a number, the code of a letter, 0 or 1;
/// as the table says if it is left out.
int64_t CustomCallAttribute(const Instruction& call, llvm::StringRef name);

/// The shape of operand i with the layout in which the target gets it.
const Shape& CustomCallOperandShape(const Instruction& call, int64_t i);

// Rules that signatures name (ir/custom_call_rules.cc).
using CustomCallRule = std::optional<CustomCallMisfit>(const Instruction& call);
CustomCallRule* FindCustomCallRule(llvm::StringRef name);
/// The transform of a call of `UnscaledFft`, which multiplies nothing by a factor: real numbers to complex
/// ones or back, or complex ones, by the types of its operand and its result; how many dimensions, and which
/// way, its configuration says (`fft_rank`, `inverse`). Nothing if there is none of these shapes.
std::optional<FftAttrs> UnscaledFftOf(const Instruction& call);
/// The dimension that an approximate top-k reduces from `in` to `out`, as its configuration says, else as the
/// shapes do; -1 if they disagree.
int64_t ApproxTopKDimension(const Instruction& call, const Shape& in, const Shape& out);

}  // namespace hlo

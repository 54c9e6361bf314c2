// Attention as NVIDIA's library takes it.
#pragma once
#include "backends/gpu/libraries/attention_bias.h"
#include "backends/gpu/libraries/view.h"
#include "ir/support/result.h"

namespace hlo::gpu {

/// O = softmax(cap(scale * Q K^T) + bias) V. The dimensions of arrays are the batch, heads, places in the
/// sequence and features; of the bias the batch, heads, places of queries and of keys, with one element where
/// it is the same for all. Keys and values may have fewer heads than queries, each for as many of these.
struct LibraryAttention {
  View queries, keys, values, result, bias;  // without dimensions: there is no bias
  View statistics;  // of each row log(sum) + max; without dimensions: nobody reads them
  double scale = 1;
  std::optional<double> cap;     // scores s become cap * tanh(s)
  std::optional<double> masked;  // what scores of keys behind their query become; nothing: they stay

  /// All that are in memory.
  [[nodiscard]] llvm::SmallVector<const View*, 6> Tensors() const;
};

/// The steps of a computation that are one attention, beginning with the kernel that makes its scores; the
/// last one makes the result, and nobody but them reads what the others make.
struct AttentionSteps {
  std::vector<Instruction*> steps;         // in an order in which they can be run
  LibraryAttention attention;              // its views number `arrays`
  std::vector<const Instruction*> arrays;  // that the steps read
  /// What they add to scores, where that is no array: one that is to be made, which the library reads and
  /// none of the steps.
  std::optional<AttentionBias> bias;
};
/// Declines, saying why, where there is none or where it pays no call of a library.
Result<AttentionSteps> AttentionFrom(const Instruction& kernel);
/// A kernel that takes exponentials of what a product makes, as attention does it: that of this product.
/// Null for others.
const Instruction* ScoresOf(const Instruction& kernel);
/// A view of an operand by its name, or of a result.
void PrintView(llvm::raw_ostream& os, const View& view, const Instruction& call);
/// Every figure of it; operands by their names.
std::string ToString(const LibraryAttention& attention, const Instruction& call);

}  // namespace hlo::gpu

// The gradients of an attention as NVIDIA's library takes them.
#pragma once
#include "backends/gpu/libraries/attention.h"
#include "backends/gpu/libraries/score_axes.h"

namespace hlo::gpu {

/// From the gradient of an attention's result to those of queries, keys and values, which all lie as the
/// arrays that they are of may. The attention's statistics say of each row log(sum) + max.
struct LibraryAttentionGradient {
  LibraryAttention attention;
  View result, queries, keys, values;  // gradients of these

  /// All that are in memory.
  [[nodiscard]] llvm::SmallVector<const View*, 10> Tensors() const;
};

/// Queries that look at no key weigh all alike, which the gradient's library has no numbers for, while their
/// own gradients are 0. `bias` is the array that is made of masks: such a row is `masked` or less. Arrays row
/// by row, without dimensions of one element; features are those of no score.
struct EmptyRows {
  ArrayAlong bias, result, values;  // the latter two: their gradients
  std::pair<int64_t, int64_t> keys;
  double masked = 0;
};

/// An attention, or one with its gradients, found among instructions that no pass has put into kernels.
struct GradientsOfAttention {
  /// A product, and its dimensions in the order in which an array has them.
  struct Made {
    const Instruction* product = nullptr;  // none: nobody reads it
    Dims order;
    Dims sizes;  // of that array
  };
  /// How weights weigh values, where no product does that: only gradients need the result.
  struct Weighing {
    const Instruction* weights = nullptr;  // or powers, where nobody divides them by their sums
    const Instruction* values = nullptr;
    DotAttrs attrs;
    Dims sums_along;  // which dimensions of powers those of sums are; without: they are weights
  };
  LibraryAttention attention;                        // with statistics where there are gradients
  std::optional<LibraryAttentionGradient> gradient;  // if one of them is made
  std::optional<AttentionBias> bias;                 // to be made, which only the library reads
  std::optional<EmptyRows> empty_rows;               // where masks may leave some
  /// What the views number; behind them, in the gradient, the attention's result and statistics.
  std::vector<const Instruction*> arrays;
  Made result;
  Weighing weighing;
  Made queries, keys, values;                            // gradients
  const Instruction *maxima = nullptr, *sums = nullptr;  // of each row
  /// Of dimensions of several elements alone: those of maxima in the order of sums, and those of sums in that
  /// of arrays of rows.
  Dims maxima_order, rows;
};

/// Of the product that makes scores. Declines, saying why, where there is none, where others read what lies
/// between, or where it pays no call of a library.
Result<GradientsOfAttention> GradientsFrom(const Instruction& scores);

/// Every figure of it; operands by their names.
std::string ToString(const LibraryAttentionGradient& gradient, const Instruction& call);

}  // namespace hlo::gpu

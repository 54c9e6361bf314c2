// Weights that are divided by their sums only once they have weighed values.
#include "backends/gpu/libraries/attention_reader.h"

namespace hlo::gpu {

/// `dims`: those of the product along the scores, 0 for features.
void AttentionReader::MarkUndivided(const Instruction& dot, const ArrayAlong& dims) {
  Known known{Role::Undivided, {}, version_};
  for (const AlongScores& dim : dims)
    known.view.dims.push_back(
        {dim.size, dim.scores != 0 || dim.size == 1 ? dim.scores : found_.sections.back()});
  known_[&dot] = std::move(known);
}

/// What is divided is the result, as it lies in the kernel's.
Status AttentionReader::ReadDivided(const Instruction& kernel, const Known& known) {
  if (!kernel.shape().IsArray()) return Decline(kernel.loc(), "it has several results");
  const View array = ViewOfArray(-1, kernel.shape());
  for (const auto& [dim, lies] : llvm::zip(known.view.dims, array.dims)) {
    if (dim.size == 1) continue;
    if (dim.stride < found_.sections.back()) {
      found_.along[AttentionArrays::Result].push_back({dim.size, dim.stride, lies.stride});
      continue;
    }
    if (found_.features[AttentionArrays::Result].size > 1)
      return Decline(kernel.loc(), "its result has several dimensions of features");
    found_.features[AttentionArrays::Result] = {dim.size, lies.stride};
  }
  found_.views[AttentionArrays::Result] = array;
  return EndWith(kernel);
}

}  // namespace hlo::gpu

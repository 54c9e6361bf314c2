#include "backends/gpu/libraries/score_axes.h"

#include "llvm/ADT/STLExtras.h"

namespace hlo::gpu {
namespace {

/// From one part of an axis to the next within an array.
int64_t StrideAlong(const ArrayAlong& array, int64_t begin, int64_t end) {
  for (const AlongScores& along : array)
    if (along.scores <= begin && end <= along.scores * along.size)
      return along.stride * (begin / along.scores);
  return 0;
}

/// Whether the inner one goes on where the outer one steps, in all arrays.
bool AreOne(const ScoreAxis& outer, const ScoreAxis& inner) {
  return llvm::all_of(llvm::zip(outer.strides, inner.strides), [&](const auto& strides) {
    return std::get<0>(strides) == std::get<1>(strides) * inner.size;
  });
}

/// In the order of the scores, without dimensions of one element.
ArrayAlong Sorted(const ArrayAlong& along) {
  ArrayAlong sorted;
  llvm::copy_if(along, std::back_inserter(sorted), [](const AlongScores& a) { return a.size > 1; });
  llvm::sort(sorted, [](const AlongScores& a, const AlongScores& b) { return a.scores < b.scores; });
  return sorted;
}

}  // namespace

bool AreEqual(const ArrayAlong& a, const ArrayAlong& b) {
  return llvm::equal(Sorted(a), Sorted(b), [](const AlongScores& x, const AlongScores& y) {
    return x.size == y.size && x.scores == y.scores && x.stride == y.stride;
  });
}

std::optional<llvm::SmallVector<ScoreAxis, 6>> AxesOf(llvm::ArrayRef<ArrayAlong> arrays,
                                                      llvm::ArrayRef<int64_t> sections) {
  llvm::SmallVector<int64_t, 16> cuts(sections);
  for (const ArrayAlong& array : arrays)
    for (const AlongScores& along : array)
      if (along.size > 1) cuts.append({along.scores, along.scores * along.size});
  llvm::sort(cuts);
  cuts.erase(llvm::unique(cuts), cuts.end());
  llvm::SmallVector<ScoreAxis, 6> axes;
  for (size_t i = cuts.size() - 1; i > 0; --i) {
    const int64_t begin = cuts[i - 1], end = cuts[i];
    if (begin <= 0 || end % begin != 0) return std::nullopt;
    ScoreAxis axis{end / begin, begin, {}};
    for (const ArrayAlong& array : arrays) axis.strides.push_back(StrideAlong(array, begin, end));
    const bool joins = !axes.empty() && !llvm::is_contained(sections, end) && AreOne(axes.back(), axis);
    if (joins) axis.size *= axes.pop_back_val().size;
    axes.push_back(std::move(axis));
  }
  return axes;
}

}  // namespace hlo::gpu

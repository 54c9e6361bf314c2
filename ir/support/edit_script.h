// The shortest way from one sequence to another.
#pragma once
#include <optional>
#include <utility>
#include <vector>

#include "llvm/ADT/STLFunctionalExtras.h"

namespace hlo {

enum class Edit : char { Keep = ' ', Remove = '-', Insert = '+' };

/// The fewest removals and insertions that turn a sequence of `n` elements into one of `m` (Myers 1986);
/// `same` tells whether an element of the first and one of the second are equal. Nothing if it takes more
/// than `most` edits. Time and memory grow with the square of the edits.
std::optional<std::vector<Edit>> ShortestEditScript(size_t n, size_t m, size_t most,
                                                    llvm::function_ref<bool(size_t, size_t)> same);

/// The places of both sequences that this script keeps; none if it takes more than `most` edits.
std::vector<std::pair<size_t, size_t>> KeptPairs(size_t n, size_t m, size_t most,
                                                 llvm::function_ref<bool(size_t, size_t)> same);

}  // namespace hlo

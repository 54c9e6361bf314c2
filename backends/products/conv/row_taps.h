// Where windows of some rows of a problem find their taps: pointers, to zeros where they reach beyond the
// input.
#pragma once
#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <vector>

#include "backends/products/common/kernels.h"
#include "backends/products/common/problem.h"

namespace hlo::gemm {

/// W is how elements of the left factor are stored.
template <class W>
class RowTaps {
 public:
  static constexpr int64_t kRowsAtOnce = 64;
  /// Of one thread.
  struct Tables {
    std::vector<const W*> in;                            // by tap and row of a block
    int64_t from[kRowsAtOnce];                           // of rows
    std::vector<std::array<int64_t, kRowsAtOnce>> rows;  // their positions, by limit
    /// Taps that lie outside for a row at some position, found when first wanted, by limit and position.
    std::vector<std::vector<std::vector<size_t>>> outside;
  };

  /// `lhs` is the array; taps outside of it read `zeros` zeros.
  RowTaps(const Problem& problem, const void* lhs, int64_t zeros)
      : operand_(problem.lhs),
        lhs_(static_cast<const W*>(lhs) + problem.lhs.base),
        taps_(static_cast<size_t>(problem.taps())),
        zeros_(static_cast<size_t>(zeros), W(0)) {
    operand_.taps.Fill(0, problem.taps(), taps_.data());
    for (const Bound& bound : operand_.bounds) {
      std::vector<int64_t> taps(taps_.size());
      bound.tap.Fill(0, problem.taps(), taps.data());
      const auto [least, greatest] = std::minmax_element(taps.begin(), taps.end());
      limits_.push_back({taps, *least, *greatest});
    }
  }

  /// Elements from what a row reads to what the next one does; none if rows differ in more.
  [[nodiscard]] std::optional<int64_t> Step() const {
    if (taps_.size() != 1 || !limits_.empty() || !operand_.rows.IsUniform()) return std::nullopt;
    return operand_.rows.stride();
  }

  [[nodiscard]] Tables MakeTables() const {
    Tables tables;
    tables.in.resize(taps_.size() * kFeatureRows);
    tables.rows.resize(limits_.size());
    tables.outside.resize(limits_.size());
    return tables;
  }

  /// Begins with `count` <= kRowsAtOnce rows from `row` on.
  void Find(int64_t row, int64_t count, Tables& tables) const {
    operand_.rows.Fill(row, count, tables.from);
    for (size_t b = 0; b < limits_.size(); ++b)
      operand_.bounds[b].row.Fill(row, count, tables.rows[b].data());
  }

  /// The taps of rows [first, first + rows) of those, rows <= kFeatureRows, at [tap * kFeatureRows + row],
  /// `offset` elements on. Rows that are not there read what the first one reads.
  const W* const* Block(int64_t first, int64_t rows, int64_t offset, Tables& tables) const {
    const auto size = static_cast<int64_t>(sizeof(W));
    std::array<intptr_t, kFeatureRows> from;
    for (int64_t p = 0; p < kFeatureRows; ++p)
      from[static_cast<size_t>(p)] =
          reinterpret_cast<intptr_t>(lhs_) + (offset + tables.from[first + (p < rows ? p : 0)]) * size;
    const W** in = tables.in.data();
    for (const int64_t tap : taps_) {
      std::array<intptr_t, kFeatureRows> at;  // in vectors
      for (size_t p = 0; p < kFeatureRows; ++p) at[p] = from[p] + tap * size;
      std::memcpy(static_cast<void*>(in), at.data(), sizeof at);
      in += kFeatureRows;
    }
    for (size_t b = 0; b < limits_.size(); ++b) CutRows(b, first, rows, tables);
    return tables.in.data();
  }

 private:
  /// Positions of taps in a dimension that windows reach beyond.
  struct Limit {
    std::vector<int64_t> taps;
    int64_t least, greatest;  // of them
  };

  /// Zeros take the place of what rows would read outside of a dimension.
  void CutRows(size_t b, int64_t first, int64_t rows, Tables& tables) const {
    const Limit& limit = limits_[b];
    const Bound& bound = operand_.bounds[b];
    const int64_t* positions = tables.rows[b].data() + first;
    const auto [low, high] = std::minmax_element(positions, positions + rows);
    if (bound.base + *low + limit.least >= 0 && bound.base + *high + limit.greatest < bound.size) return;
    std::vector<std::vector<size_t>>& outside = tables.outside[b];
    for (int64_t p = 0; p < kFeatureRows; ++p) {
      const int64_t position = positions[p < rows ? p : 0], at = bound.base + position;
      if (at + limit.least >= 0 && at + limit.greatest < bound.size) continue;
      const auto place = static_cast<size_t>(position);
      if (outside.size() <= place) outside.resize(place + 1);
      if (outside[place].empty()) FindOutside(limit, at, bound.size, outside[place]);
      const W** in = tables.in.data() + p;
      for (const size_t t : outside[place]) in[t * kFeatureRows] = zeros_.data();
    }
  }

  static void FindOutside(const Limit& limit, int64_t at, int64_t size, std::vector<size_t>& outside) {
    for (size_t t = 0; t < limit.taps.size(); ++t)
      if (static_cast<uint64_t>(at + limit.taps[t]) >= static_cast<uint64_t>(size)) outside.push_back(t);
  }

  const Operand& operand_;
  const W* lhs_;
  std::vector<int64_t> taps_;  // offsets
  std::vector<Limit> limits_;  // by bound
  std::vector<W> zeros_;
};

}  // namespace hlo::gemm

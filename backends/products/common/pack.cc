#include "backends/products/common/pack.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "backends/products/common/scratch.h"
#include "backends/products/common/sums.h"

namespace hlo::gemm {
namespace {

alignas(64) constexpr uint64_t kZeros[2 * kMaxDepth] = {};
constexpr int64_t kLongLine = 8;  // of taps, or rows, that are copied together
constexpr int64_t kLongRun = 16;  // steps that are worth looking up where a run of them begins

/// Rows at one distance of one another, in the array and in the dimensions with bounds.
struct RowRun {
  int64_t begin, count;
  int64_t step;  // between offsets
};

/// Of rows numbered from 0, `step` apart in a dimension of `size`, those in which all from `least` to
/// `greatest`, positions of row 0, are inside: narrows [begin, end), which may cross.
void NarrowToInside(int64_t least, int64_t greatest, int64_t step, int64_t size, int64_t& begin,
                    int64_t& end) {
  assert(step >= 0 && "windows go on as their outputs do");
  if (step == 0) {
    if (least < 0 || greatest >= size) end = 0;
    return;
  }
  const auto steps = [&](int64_t distance) { return step == 1 ? distance : (distance + step - 1) / step; };
  if (least < 0) begin = std::max(begin, steps(-least));
  end = std::min(end, greatest >= size ? 0 : steps(size - greatest));
}

}  // namespace

/// Some rows of an operand.
struct RowSet {
  const Operand& operand;
  int64_t first, count;
  int64_t offsets[kMaxPanel];
  llvm::SmallVector<std::array<int64_t, kMaxPanel>, 2> positions;  // by bound

  RowSet(const Operand& rows_of, int64_t begin, int64_t n)
      : operand(rows_of), first(begin), count(n), positions(rows_of.bounds.size()) {
    operand.rows.Fill(begin, count, offsets);
    for (size_t b = 0; b < positions.size(); ++b) {
      operand.bounds[b].row.Fill(begin, count, positions[b].data());
      for (int64_t i = 0; i < count; ++i) positions[b][static_cast<size_t>(i)] += operand.bounds[b].base;
    }
  }
  [[nodiscard]] int64_t Position(size_t bound, int64_t i) const {
    return positions[bound][static_cast<size_t>(i)];
  }
  [[nodiscard]] llvm::SmallVector<RowRun, 8> Runs() const {
    llvm::SmallVector<RowRun, 8> runs;
    for (int64_t i = 0; i < count; i += runs.back().count) {
      int64_t length = std::min(count - i, operand.rows.RunFrom(first + i));
      for (const Bound& bound : operand.bounds) length = std::min(length, bound.row.RunFrom(first + i));
      runs.push_back({i, length, length > 1 ? offsets[i + 1] - offsets[i] : 1});
    }
    return runs;
  }
  /// The rows [begin, end) of a run that are inside when positions are shifted as those of a tap; those
  /// before and after are not.
  std::pair<int64_t, int64_t> Inside(const RowRun& run,
                                     llvm::ArrayRef<llvm::SmallVector<int64_t, 64>> tap_positions,
                                     size_t tap) const {
    int64_t begin = 0, end = run.count;
    for (size_t b = 0; b < positions.size(); ++b) {
      const int64_t at = Position(b, run.begin), shifted = at + tap_positions[b][tap],
                    step = run.count > 1 ? Position(b, run.begin + 1) - at : 0;
      NarrowToInside(shifted, shifted, step, operand.bounds[b].size, begin, end);
    }
    return {run.begin + std::min(begin, run.count), run.begin + std::max(std::min(begin, run.count), end)};
  }
};

namespace {

/// What kernels do for narrower elements.
void TransposeWide(const Uint128* const* rows, int64_t count, int64_t width, Uint128* out, int64_t step) {
  for (int64_t i = 0; i < width; ++i)
    for (int64_t c = 0; c < count; ++c) std::memcpy(out + c * step + i, rows[i] + c, sizeof(Uint128));
}
void CopyWide(const Uint128* from, int64_t stride, int64_t channels, int64_t count, int64_t width,
              Uint128* to, int64_t step) {
  for (int64_t c = 0; c < channels; ++c, from += stride, to += step) {
    std::memcpy(to, from, static_cast<size_t>(count) * sizeof(Uint128));
    std::fill(to + count, to + width, Uint128());
  }
}

template <class E>
KernelSet::Transpose<E>* TransposeOfAny(const KernelSet& kernels) {
  if constexpr (sizeof(E) == 16) return &TransposeWide;
  return TransposeOf<E>(kernels);
}
template <class E>
KernelSet::Copy<E>* CopyOf(const KernelSet& kernels) {
  if constexpr (sizeof(E) == 1) return kernels.copy8;
  if constexpr (sizeof(E) == 2) return kernels.copy16;
  if constexpr (sizeof(E) == 4) return kernels.copy32;
  if constexpr (sizeof(E) == 8) return kernels.copy64;
  if constexpr (sizeof(E) == 16) return &CopyWide;
}

/// Where the rows of a tap begin; null out of bounds.
template <class E>
struct Sources {
  const E* at[kMaxPanel];

  void Find(const RowSet& rows, const E* data, llvm::ArrayRef<Bound> bounds,
            llvm::ArrayRef<llvm::SmallVector<int64_t, 64>> tap_positions, size_t tap) {
    for (int64_t i = 0; i < rows.count; ++i) at[i] = data + rows.offsets[i];
    for (size_t b = 0; b < bounds.size(); ++b) {
      const int64_t shift = tap_positions[b][tap];
      const auto size = static_cast<uint64_t>(bounds[b].size);
      for (int64_t i = 0; i < rows.count; ++i)
        if (static_cast<uint64_t>(rows.positions[b][static_cast<size_t>(i)] + shift) >= size) at[i] = nullptr;
    }
  }
};

/// Copies of few elements without a call.
template <class E>
[[gnu::always_inline]] inline void CopyFew(E* __restrict to, const E* __restrict from, int64_t count) {
  constexpr int64_t kWorthCall = 256, kMove = 16;  // bytes
  const int64_t bytes = count * static_cast<int64_t>(sizeof(E));
  if (bytes >= kWorthCall) {
    std::memcpy(to, from, static_cast<size_t>(bytes));
  } else if (bytes >= kMove) {
    auto* target = reinterpret_cast<uint8_t*>(to);
    const auto* source = reinterpret_cast<const uint8_t*>(from);
    for (int64_t i = 0; i + kMove < bytes; i += kMove) std::memcpy(target + i, source + i, kMove);
    std::memcpy(target + bytes - kMove, source + bytes - kMove, kMove);
  } else {
    for (int64_t i = 0; i < count; ++i) to[i] = from[i];
  }
}

}  // namespace

BlockSteps::BlockSteps(const Operand& operand, const Block& block, bool channels_outer)
    : operand_(operand), block_(block), channels_outer_(channels_outer) {
  taps_.resize(static_cast<size_t>(block.taps()));
  operand.taps.Fill(block.tap_begin, block.taps(), taps_.data());
  positions_.resize(operand.bounds.size());
  for (size_t b = 0; b < positions_.size(); ++b) {
    positions_[b].resize(taps_.size());
    operand.bounds[b].tap.Fill(block.tap_begin, block.taps(), positions_[b].data());
  }
  FindRuns();
}

std::optional<std::pair<int64_t, int64_t>> BlockSteps::Uniform() const {
  if (!operand_.bounds.empty()) return std::nullopt;
  const int64_t channel = operand_.channel_stride,
                first = operand_.base + taps_[0] + block_.channel_begin * channel;
  if (taps_.size() == 1) return std::pair{first, channel};
  const int64_t tap = taps_[1] - taps_[0];
  for (size_t t = 2; t < taps_.size(); ++t)
    if (taps_[t] - taps_[t - 1] != tap) return std::nullopt;
  if (block_.channels() == 1) return std::pair{first, tap};
  if (channels_outer_ && channel == tap * block_.taps()) return std::pair{first, tap};
  if (!channels_outer_ && tap == channel * block_.channels()) return std::pair{first, channel};
  return std::nullopt;
}

bool BlockSteps::HasLongRuns(int64_t unit) const {
  return HasRuns() && depth() >= kLongRun * static_cast<int64_t>(runs_.size()) &&
         llvm::all_of(runs_, [&](const auto& run) { return run.second * block_.channels() % unit == 0; });
}

int64_t BlockSteps::TapRun(size_t tap) const {
  const Index& taps = operand_.taps;
  const bool whole = !channels_outer_ && operand_.channel_stride == 1 && taps.stride() == block_.channels();
  if (!whole && !HasLines()) return 1;
  const int64_t at = block_.tap_begin + static_cast<int64_t>(tap);
  int64_t run = std::min(taps.RunFrom(at), block_.tap_end - at);
  // Positions must go on as offsets do: where lines of the window are as long as those of the array only the
  // latter have no end.
  for (const Bound& bound : operand_.bounds)
    run = bound.tap.stride() < 0 ? 1 : std::min(run, bound.tap.RunFrom(at));
  return run;
}

bool BlockSteps::HasLongLines() const {
  return HasLines() && block_.taps() >= kLongLine * static_cast<int64_t>(runs_.size());
}

bool BlockSteps::HasTapsInside() const {
  return operand_.bounds.empty() && operand_.taps.IsUniform() && operand_.taps.stride() == 1;
}

void BlockSteps::FindRuns() {
  for (size_t t = 0; t < taps_.size(); t += static_cast<size_t>(runs_.back().second))
    runs_.emplace_back(static_cast<int64_t>(t), TapRun(t));
  for (const auto& positions : positions_) {
    const auto [least, greatest] = std::minmax_element(positions.begin(), positions.end());
    reach_.emplace_back(*least, *greatest);
  }
}

bool BlockSteps::IsInside(const RowSet& rows, int64_t row) const {
  for (size_t b = 0; b < reach_.size(); ++b) {
    const int64_t at = rows.Position(b, row);
    if (at + reach_[b].first < 0 || at + reach_[b].second >= operand_.bounds[b].size) return false;
  }
  return true;
}

std::pair<int64_t, int64_t> BlockSteps::InsideOfRun(llvm::ArrayRef<int64_t> positions, int64_t tap,
                                                    int64_t count) const {
  int64_t begin = 0, end = count;
  for (size_t b = 0; b < reach_.size(); ++b) {
    const auto* first = positions_[b].data() + tap;
    const int64_t at = positions[b] + first[0], step = count > 1 ? first[1] - first[0] : 0;
    NarrowToInside(at, at, step, operand_.bounds[b].size, begin, end);
  }
  begin = std::min(begin, count);
  return {tap + begin, tap + std::max(begin, end)};
}

RowsOfRuns::Some RowsOfRuns::Of(int64_t row, int64_t count, int64_t unit, size_t& edge,
                                llvm::SmallVectorImpl<const void*>& table) const {
  if (edge == edges.size() || edges[edge] >= row + count) return {rows.data() + row, offsets.data(), 0};
  table.resize_for_overwrite(static_cast<size_t>(runs() * count));
  for (int64_t i = 0; i < count; ++i) {
    const bool is_edge = edge < edges.size() && edges[edge] == row + i;
    const void* const* begin = is_edge ? edge_runs.data() + static_cast<int64_t>(edge) * runs() : nullptr;
    const auto* at = static_cast<const uint8_t*>(rows[static_cast<size_t>(row + i)]);
    const void** to = table.data() + i;
    for (int64_t r = 0; r < runs(); ++r, to += count)
      *to = is_edge ? begin[r] : at + offsets[static_cast<size_t>(r)] * unit;
    if (is_edge) ++edge;
  }
  return {table.data(), nullptr, count};
}

template <class E>
void Packer::PackRows(const BlockSteps& steps, const E* data, int64_t row_begin, int64_t count,
                      int64_t stride, E* out, const void** at) const {
  const Operand& op = steps.operand_;
  const int64_t channels = steps.block_.channels(), taps = steps.block_.taps();
  const RowSet rows(op, row_begin, count);
  const int64_t tap_step = steps.channels_outer_ ? 1 : channels, step = steps.channels_outer_ ? taps : 1;
  const bool lines = steps.HasLines(), side_by_side = steps.HasRuns();
  for (int64_t i = 0; i < count; ++i, out += stride) {
    const E* row = data + op.base + steps.block_.channel_begin * op.channel_stride + rows.offsets[i];
    const bool row_inside = steps.IsInside(rows, i);
    if (at != nullptr) {
      const bool stays = row_inside && side_by_side && steps.runs_.size() == 1;
      at[i] = stays ? row + steps.taps_[0] : out;
      if (stays) continue;
    }
    llvm::SmallVector<int64_t, 4> positions;
    for (size_t b = 0; !row_inside && b < op.bounds.size(); ++b) positions.push_back(rows.Position(b, i));
    for (const auto& [tap, run] : steps.runs_) {
      const auto [begin, end] =
          row_inside ? std::pair{tap, tap + run} : steps.InsideOfRun(positions, tap, run);
      for (int64_t t = tap; t < begin; ++t)
        for (int64_t c = 0; c < channels; ++c) out[t * tap_step + c * step] = 0;
      for (int64_t t = end; t < tap + run; ++t)
        for (int64_t c = 0; c < channels; ++c) out[t * tap_step + c * step] = 0;
      if (begin == end) continue;
      const E* from = row + steps.taps_[static_cast<size_t>(begin)];
      E* to = out + begin * tap_step;
      if (side_by_side)
        CopyFew(to, from, (end - begin) * channels);
      else if (lines)
        for (int64_t c = 0; c < channels; ++c)
          CopyFew(to + c * step, from + c * op.channel_stride, end - begin);
      else  // runs are single taps
        for (int64_t c = 0; c < channels; ++c) to[c * step] = from[c * op.channel_stride];
    }
  }
}

template <class E>
void Packer::FindRows(const BlockSteps& steps, const E* data, int64_t row_begin, int64_t count, E* out,
                      RowsOfRuns& rows) const {
  const Operand& op = steps.operand_;
  const int64_t channels = steps.block_.channels(), depth = steps.depth();
  const E* first = data + op.base + steps.block_.channel_begin * op.channel_stride;
  llvm::SmallVector<int64_t, 4> starts(op.bounds.size()), positions(op.bounds.size());
  const auto find_edge = [&](int64_t row, const E* from) {
    rows.edges.push_back(row);
    int64_t number = 0;
    std::pair<int64_t, int64_t> some{rows.runs(), 0};
    for (const auto& [tap, run] : steps.runs_) {
      const auto [begin, end] = steps.InsideOfRun(positions, tap, run);
      const E* inside = begin < end ? from + steps.taps_[static_cast<size_t>(begin)] : nullptr;
      if (begin < end && end - begin < run) {
        E* copy = out + row * depth + tap * channels;
        CopyFew(copy, reinterpret_cast<const E*>(kZeros), run * channels);
        CopyFew(copy + (begin - tap) * channels, inside, (end - begin) * channels);
        inside = copy;
      }
      rows.edge_runs.push_back(inside != nullptr ? static_cast<const void*>(inside) : kZeros);
      if (inside != nullptr) some = {std::min(some.first, number), number + 1};
      ++number;
    }
    rows.edge_inside.push_back(some);
  };
  for (int64_t i = 0, length = 0; i < count; i += length) {
    const int64_t row = row_begin + i, step = op.rows.stride();
    length = std::min(count - i, op.rows.RunFrom(row));
    for (const Bound& bound : op.bounds) length = std::min(length, bound.row.RunFrom(row));
    const E* from = first + op.rows.At(row);
    const void** to = rows.rows.data() + i;
    for (int64_t j = 0; j < length; ++j) to[j] = from + j * step + steps.taps_[0];
    int64_t begin = 0, end = length;
    for (size_t b = 0; b < starts.size(); ++b) {
      const Bound& bound = op.bounds[b];
      const auto [least, greatest] = steps.reach_[b];
      starts[b] = bound.base + bound.row.At(row);
      NarrowToInside(starts[b] + least, starts[b] + greatest, bound.row.stride(), bound.size, begin, end);
    }
    for (int64_t j = 0; j < length; ++j) {
      if (j >= begin && j < end) j = end;
      if (j == length) break;
      for (size_t b = 0; b < starts.size(); ++b) positions[b] = starts[b] + j * op.bounds[b].row.stride();
      find_edge(i + j, from + j * step);
    }
  }
}

/// Copies the rows of one tap where they are in bounds: `count` of `width`, `channels` times.
template <class E>
struct RunCopier {
  const RowSet& rows;
  llvm::ArrayRef<RowRun> runs;
  KernelSet::Copy<E>* copy;
  void (*take_lines)(const Lines& lines, int64_t bytes);
  int64_t channels, stride, width, step;  // of the target: between channels

  void Copy(const E* from, llvm::ArrayRef<llvm::SmallVector<int64_t, 64>> positions, size_t tap,
            E* to) const {
    for (const RowRun& run : runs) {
      const auto [begin, end] = rows.Inside(run, positions, tap);
      // The last run also clears what is beyond the rows.
      const int64_t stop = run.begin + run.count == rows.count ? width : run.begin + run.count;
      const E* source = from + rows.offsets[run.begin] + (begin - run.begin) * run.step;
      if (run.step == 1 && begin == run.begin) {
        copy(source, stride, channels, end - begin, stop - begin, to + begin, step);
        continue;
      }
      take_lines({source, stride, run.step, channels, begin - run.begin, end - begin, stop - end,
                  to + run.begin, step},
                 sizeof(E));
    }
  }
};

template <class E>
void Packer::TransposeLines(const BlockSteps& steps, const E* data, int64_t row_begin, int64_t count,
                            int64_t width, E* out) const {
  const int64_t depth = steps.depth();
  const void* at[kMaxPanel];
  if (const auto uniform = steps.Uniform(); uniform && uniform->second == 1) {
    int64_t offsets[kMaxPanel];
    steps.operand_.rows.Fill(row_begin, count, offsets);
    for (int64_t i = 0; i < count; ++i) at[i] = data + uniform->first + offsets[i];
  } else {
    PackRows(steps, data, row_begin, count, depth, ScratchFor<E>(ScratchUse::Lines, count * depth), at);
  }
  const E* rows[kMaxPanel];
  for (int64_t i = 0; i < width; ++i)
    rows[i] = static_cast<const E*>(i < count ? at[i] : static_cast<const void*>(kZeros));
  TransposeOfAny<E>(kernels_)(rows, depth, width, out, width);
}

template <class E>
void Packer::PackPanel(const BlockSteps& steps, const E* data, int64_t row_begin, int64_t count,
                       int64_t width, E* out) const {
  const Operand& op = steps.operand_;
  const int64_t channels = steps.block_.channels(), taps = steps.block_.taps(), stride = op.channel_stride;
  const RowSet rows(op, row_begin, count);
  const E* first = data + op.base + steps.block_.channel_begin * stride;
  const int64_t tap_step = (steps.channels_outer_ ? 1 : channels) * width,
                step = (steps.channels_outer_ ? taps : 1) * width;
  const auto runs = rows.Runs();
  if (steps.HasLongLines() && (runs[0].step != 1 || count < kLongLine * static_cast<int64_t>(runs.size())))
    return TransposeLines(steps, data, row_begin, count, width, out);
  const RunCopier<E> copier{rows,  runs, CopyOf<E>(kernels_), kernels_.take_lines, channels, stride,
                            width, step};
  constexpr int64_t kShortRun = 3;  // elements, on average
  const bool transpose = stride == 1 && channels > 1 && (runs.size() > 1 || runs[0].step != 1) &&
                         (runs[0].step != 1 || count < kShortRun * static_cast<int64_t>(runs.size()));
  Sources<E> sources;
  if (steps.taps_.size() > 1 && runs[0].step != 1 && steps.HasTapsInside()) {
    for (int64_t c = 0; c < channels; ++c) {
      for (int64_t i = 0; i < width; ++i)
        sources.at[i] = i < count ? first + steps.taps_[0] + c * stride + rows.offsets[i]
                                  : reinterpret_cast<const E*>(kZeros);
      TransposeOfAny<E>(kernels_)(sources.at, taps, width, out + c * step, tap_step);
    }
    return;
  }
  for (size_t t = 0; t < steps.taps_.size(); ++t) {
    E* to = out + static_cast<int64_t>(t) * tap_step;
    if (!transpose) {
      copier.Copy(first + steps.taps_[t], steps.positions_, t, to);
      continue;
    }
    sources.Find(rows, first + steps.taps_[t], op.bounds, steps.positions_, t);
    for (int64_t i = 0; i < width; ++i)
      if (i >= count || sources.at[i] == nullptr) sources.at[i] = reinterpret_cast<const E*>(kZeros);
    TransposeOfAny<E>(kernels_)(sources.at, channels, width, to, step);
  }
}

void Packer::Rows(const BlockSteps& steps, const void* data, int64_t row_begin, int64_t count, int64_t stride,
                  void* out) const {
  VisitSize(bytes_, [&](auto tag) {
    using E = decltype(tag);
    for (int64_t i = 0; i < count; i += kMaxPanel)
      PackRows(steps, static_cast<const E*>(data), row_begin + i, std::min(kMaxPanel, count - i), stride,
               static_cast<E*>(out) + i * stride, nullptr);
  });
}

void Packer::RowsInPlace(const BlockSteps& steps, const void* data, int64_t row_begin, int64_t count,
                         void* out, RowsOfRuns& rows) const {
  rows.lengths.clear();
  rows.offsets.clear();
  for (const auto& [tap, run] : steps.runs_) {
    rows.lengths.push_back(run * steps.block_.channels());
    rows.offsets.push_back(steps.taps_[static_cast<size_t>(tap)] - steps.taps_[0]);
  }
  rows.rows.resize_for_overwrite(static_cast<size_t>(count));
  rows.edges.clear();
  rows.edge_runs.clear();
  rows.edge_inside.clear();
  VisitSize(bytes_, [&](auto tag) {
    using E = decltype(tag);
    FindRows(steps, static_cast<const E*>(data), row_begin, count, static_cast<E*>(out), rows);
  });
}

void Packer::RowsByPanels(const BlockSteps& steps, const void* data, int64_t row_begin, int64_t count,
                          int64_t stride, void* out) const {
  VisitSize(bytes_, [&](auto tag) {
    using E = decltype(tag);
    const int64_t depth = steps.depth(), padded = (depth + 3) / 4 * 4;
    E* panel = ScratchFor<E>(ScratchUse::Expanded, kMaxPanel * padded);
    llvm::SmallVector<const E*, kMaxDepth> lines;
    for (int64_t k = 0; k < padded; ++k) lines.push_back(panel + std::min(k, depth - 1) * kMaxPanel);
    for (int64_t i = 0; i < count; i += kMaxPanel) {
      const int64_t rows = std::min(kMaxPanel, count - i);
      PackPanel(steps, static_cast<const E*>(data), row_begin + i, rows, kMaxPanel, panel);
      TransposeOfAny<E>(kernels_)(lines.data(), rows, padded, static_cast<E*>(out) + i * stride, stride);
    }
  });
}

void Packer::Panel(const BlockSteps& steps, const void* data, int64_t row_begin, int64_t count, int64_t width,
                   void* out) const {
  VisitSize(bytes_, [&](auto tag) {
    using E = decltype(tag);
    PackPanel(steps, static_cast<const E*>(data), row_begin, count, width, static_cast<E*>(out));
  });
}

}  // namespace hlo::gemm

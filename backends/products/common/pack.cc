#include "backends/products/common/pack.h"

#include <algorithm>
#include <cstring>

#include "backends/products/common/scratch.h"
#include "backends/products/common/sums.h"

namespace hlo::gemm {
namespace {

alignas(64) constexpr uint64_t kZeros[2 * kMaxDepth] = {};
constexpr int64_t kLongLine = 8;  // of taps, or rows, that are copied together

/// Rows at one distance of one another, in the array and in the dimensions with bounds.
struct RowRun {
  int64_t begin, count;
  int64_t step;  // between offsets
};

}  // namespace

/// Some rows of an operand.
struct RowSet {
  int64_t count;
  int64_t offsets[kMaxPanel];
  llvm::SmallVector<std::array<int64_t, kMaxPanel>, 2> positions;  // by bound

  RowSet(const Operand& operand, int64_t begin, int64_t n) : count(n), positions(operand.bounds.size()) {
    operand.rows.Fill(begin, count, offsets);
    for (size_t b = 0; b < positions.size(); ++b) {
      operand.bounds[b].row.Fill(begin, count, positions[b].data());
      for (int64_t i = 0; i < count; ++i) positions[b][static_cast<size_t>(i)] += operand.bounds[b].base;
    }
  }
  [[nodiscard]] int64_t Position(size_t bound, int64_t i) const {
    return positions[bound][static_cast<size_t>(i)];
  }
  /// Row i is as far from i - 1 as that is from i - 2.
  [[nodiscard]] bool Continues(int64_t i) const {
    if (offsets[i] - offsets[i - 1] != offsets[i - 1] - offsets[i - 2]) return false;
    for (size_t b = 0; b < positions.size(); ++b)
      if (Position(b, i) - Position(b, i - 1) != Position(b, i - 1) - Position(b, i - 2)) return false;
    return true;
  }
  /// Row i lies before row i - 1 in a dimension with bounds.
  [[nodiscard]] bool TurnsBack(int64_t i) const {
    for (size_t b = 0; b < positions.size(); ++b)
      if (Position(b, i) < Position(b, i - 1)) return true;
    return false;
  }
  [[nodiscard]] llvm::SmallVector<RowRun, 8> Runs() const {
    llvm::SmallVector<RowRun, 8> runs;
    for (int64_t i = 0; i < count;) {
      int64_t end = i + 1;
      if (end < count && !TurnsBack(end)) {
        ++end;
        while (end < count && Continues(end)) ++end;
      }
      runs.push_back({i, end - i, end - i > 1 ? offsets[i + 1] - offsets[i] : 1});
      i = end;
    }
    return runs;
  }
  /// The rows [begin, end) of a run that are inside when positions are shifted; those before and after are
  /// not.
  std::pair<int64_t, int64_t> Inside(const RowRun& run, llvm::ArrayRef<Bound> bounds,
                                     llvm::ArrayRef<llvm::SmallVector<int64_t, 64>> tap_positions,
                                     size_t tap) const {
    int64_t begin = 0, end = run.count;
    for (size_t b = 0; b < bounds.size(); ++b) {
      const int64_t first = Position(b, run.begin) + tap_positions[b][tap], size = bounds[b].size;
      const int64_t step = run.count > 1 ? Position(b, run.begin + 1) - Position(b, run.begin) : 0;
      if (step == 0) {
        if (first < 0 || first >= size) end = 0;  // begin may be beyond the run
        continue;
      }
      if (first < 0) begin = std::max(begin, (-first + step - 1) / step);
      end = std::min(end, first >= size ? 0 : (size - first + step - 1) / step);
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

int64_t BlockSteps::TapRun(size_t tap) const {
  const Index& taps = operand_.taps;
  const bool whole = !channels_outer_ && operand_.channel_stride == 1 && taps.stride() == block_.channels();
  if (!whole && !HasLines()) return 1;
  const int64_t at = block_.tap_begin + static_cast<int64_t>(tap);
  int64_t run = std::min(taps.run() - at % taps.run(), block_.tap_end - at);
  // Positions must go on as offsets do: where lines of the window are as long as those of the array only the
  // latter have no end.
  for (const Bound& bound : operand_.bounds) run = std::min(run, bound.tap.run() - at % bound.tap.run());
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

std::pair<int64_t, int64_t> BlockSteps::InsideOfRun(const RowSet& rows, int64_t row, int64_t tap,
                                                    int64_t count) const {
  const auto inside = [&](int64_t t) {
    for (size_t b = 0; b < reach_.size(); ++b) {
      const int64_t at = rows.Position(b, row) + positions_[b][static_cast<size_t>(t)];
      if (at < 0 || at >= operand_.bounds[b].size) return false;
    }
    return true;
  };
  int64_t begin = tap, end = tap + count;
  while (begin < end && !inside(begin)) ++begin;
  while (begin < end && !inside(end - 1)) --end;
  return {begin, end};
}

template <class E>
void Packer::PackRows(const BlockSteps& steps, const E* data, int64_t row_begin, int64_t count,
                      int64_t stride, E* out, const void** at) const {
  const Operand& op = steps.operand_;
  const int64_t channels = steps.block_.channels(), taps = steps.block_.taps();
  const RowSet rows(op, row_begin, count);
  const int64_t tap_step = steps.channels_outer_ ? 1 : channels, step = steps.channels_outer_ ? taps : 1;
  const bool lines = steps.HasLines(),
             side_by_side = channels == 1 ? lines : step == 1 && op.channel_stride == 1;
  for (int64_t i = 0; i < count; ++i, out += stride) {
    const E* row = data + op.base + steps.block_.channel_begin * op.channel_stride + rows.offsets[i];
    const bool row_inside = steps.IsInside(rows, i);
    if (at != nullptr) {
      const bool stays = row_inside && side_by_side && steps.runs_.size() == 1;
      at[i] = stays ? row + steps.taps_[0] : out;
      if (stays) continue;
    }
    for (const auto& [tap, run] : steps.runs_) {
      const auto [begin, end] = row_inside ? std::pair{tap, tap + run} : steps.InsideOfRun(rows, i, tap, run);
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

/// Copies the rows of one tap where they are in bounds: `count` of `width`, `channels` times.
template <class E>
struct RunCopier {
  const RowSet& rows;
  llvm::ArrayRef<RowRun> runs;
  KernelSet::Copy<E>* copy;
  void (*take_lines)(const Lines& lines, int64_t bytes);
  int64_t channels, stride, width, step;  // of the target: between channels

  void Copy(const E* from, const BlockSteps& steps, llvm::ArrayRef<llvm::SmallVector<int64_t, 64>> positions,
            size_t tap, E* to) const {
    const auto& bounds = steps.operand().bounds;
    for (const RowRun& run : runs) {
      const auto [begin, end] = rows.Inside(run, bounds, positions, tap);
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
      copier.Copy(first + steps.taps_[t], steps, steps.positions_, t, to);
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
  RowsOrPointers(steps, data, row_begin, count, stride, out, nullptr);
}

void Packer::RowsOrPointers(const BlockSteps& steps, const void* data, int64_t row_begin, int64_t count,
                            int64_t stride, void* out, const void** at) const {
  VisitSize(bytes_, [&](auto tag) {
    using E = decltype(tag);
    for (int64_t i = 0; i < count; i += kMaxPanel)
      PackRows(steps, static_cast<const E*>(data), row_begin + i, std::min(kMaxPanel, count - i), stride,
               static_cast<E*>(out) + i * stride, at == nullptr ? nullptr : at + i);
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

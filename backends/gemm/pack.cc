#include "backends/gemm/pack.h"

#include <algorithm>
#include <cstring>

namespace hlo::gemm {
namespace {

alignas(64) constexpr uint64_t kZeros[kMaxDepth] = {};

/// Calls f with a null pointer to the unsigned integer type of a size.
template <class F>
void VisitSize(int bytes, F&& f) {
  switch (bytes) {
    case 1: return f(static_cast<uint8_t*>(nullptr));
    case 2: return f(static_cast<uint16_t*>(nullptr));
    case 4: return f(static_cast<uint32_t*>(nullptr));
    default: return f(static_cast<uint64_t*>(nullptr));
  }
}

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
};

template <class E>
KernelSet::Transpose<E>* TransposeOf(const KernelSet& kernels) {
  if constexpr (sizeof(E) == 1) return kernels.transpose8;
  if constexpr (sizeof(E) == 2) return kernels.transpose16;
  if constexpr (sizeof(E) == 4) return kernels.transpose32;
  if constexpr (sizeof(E) == 8) return kernels.transpose64;
}
template <class E>
KernelSet::Copy<E>* CopyOf(const KernelSet& kernels) {
  if constexpr (sizeof(E) == 1) return kernels.copy8;
  if constexpr (sizeof(E) == 2) return kernels.copy16;
  if constexpr (sizeof(E) == 4) return kernels.copy32;
  if constexpr (sizeof(E) == 8) return kernels.copy64;
}

/// Rows that lie side by side in memory, or are all out of bounds (no source).
template <class E>
struct Run {
  int64_t begin, count;
  const E* from;
};

/// Where the rows of a tap begin; null out of bounds.
template <class E>
struct Sources {
  const E* at[kMaxPanel];
  bool any = false;  // in bounds

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
  llvm::SmallVector<Run<E>, 8> Runs(int64_t count) const {
    llvm::SmallVector<Run<E>, 8> runs;
    for (int64_t i = 0; i < count;) {
      int64_t end = i + 1;
      if (at[i] == nullptr)
        while (end < count && at[end] == nullptr) ++end;
      else
        while (end < count && at[end] == at[i] + (end - i)) ++end;
      runs.push_back({i, end - i, at[i]});
      i = end;
    }
    return runs;
  }
};

/// Copies of few elements without a call.
template <class E>
[[gnu::always_inline]] inline void CopyFew(E* to, const E* from, int64_t count) {
  if (count >= 32) {
    std::memcpy(to, from, static_cast<size_t>(count) * sizeof(E));
    return;
  }
  for (int64_t i = 0; i < count; ++i) to[i] = from[i];
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

template <class E>
void Packer::PackRows(const BlockSteps& steps, const E* data, int64_t row_begin, int64_t count,
                      int64_t stride, E* out) const {
  const Operand& op = steps.operand_;
  const int64_t channels = steps.block_.channels(), taps = steps.block_.taps();
  const RowSet rows(op, row_begin, count);
  const E* first = data + op.base + steps.block_.channel_begin * op.channel_stride;
  const int64_t tap_step = steps.channels_outer_ ? 1 : channels, step = steps.channels_outer_ ? taps : 1;
  Sources<E> sources;
  for (size_t t = 0; t < steps.taps_.size(); ++t) {
    sources.Find(rows, first + steps.taps_[t], op.bounds, steps.positions_, t);
    E* to = out + static_cast<int64_t>(t) * tap_step;
    for (int64_t i = 0; i < count; ++i, to += stride) {
      const E* from = sources.at[i];
      if (from == nullptr)
        for (int64_t c = 0; c < channels; ++c) to[c * step] = 0;
      else if (step == 1 && op.channel_stride == 1)
        CopyFew(to, from, channels);
      else
        for (int64_t c = 0; c < channels; ++c) to[c * step] = from[c * op.channel_stride];
    }
  }
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
  Sources<E> sources;
  for (size_t t = 0; t < steps.taps_.size(); ++t) {
    sources.Find(rows, first + steps.taps_[t], op.bounds, steps.positions_, t);
    E* to = out + static_cast<int64_t>(t) * tap_step;
    const auto runs = sources.Runs(count);
    if (runs.size() == 1 && runs[0].from != nullptr) {
      CopyOf<E>(kernels_)(runs[0].from, stride, channels, count, width, to, step);
    } else if (stride == 1 && 2 * static_cast<int64_t>(runs.size()) > count && channels > 1) {
      for (int64_t i = 0; i < width; ++i)
        if (i >= count || sources.at[i] == nullptr) sources.at[i] = reinterpret_cast<const E*>(kZeros);
      TransposeOf<E>(kernels_)(sources.at, channels, width, to, step);
    } else {
      for (int64_t c = 0; c < channels; ++c, to += step) {
        for (const Run<E>& run : runs) {
          if (run.from == nullptr)
            std::fill_n(to + run.begin, run.count, E(0));
          else
            CopyFew(to + run.begin, run.from + c * stride, run.count);
        }
        std::fill(to + count, to + width, E(0));
      }
    }
  }
}

void Packer::Rows(const BlockSteps& steps, const void* data, int64_t row_begin, int64_t count, int64_t stride,
                  void* out) const {
  VisitSize(bytes_, [&](auto* tag) {
    using E = std::remove_pointer_t<decltype(tag)>;
    for (int64_t i = 0; i < count; i += kMaxPanel)
      PackRows(steps, static_cast<const E*>(data), row_begin + i, std::min(kMaxPanel, count - i), stride,
               static_cast<E*>(out) + i * stride);
  });
}

void Packer::Panel(const BlockSteps& steps, const void* data, int64_t row_begin, int64_t count, int64_t width,
                   void* out) const {
  VisitSize(bytes_, [&](auto* tag) {
    using E = std::remove_pointer_t<decltype(tag)>;
    PackPanel(steps, static_cast<const E*>(data), row_begin, count, width, static_cast<E*>(out));
  });
}

}  // namespace hlo::gemm

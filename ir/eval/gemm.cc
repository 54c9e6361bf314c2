#include "ir/eval/gemm.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <type_traits>

#include "ir/eval/gemm_kernel.h"
#include "ir/support/buffer.h"
#include "ir/support/interrupt.h"
#include "ir/support/parallel.h"

namespace hlo {
namespace {

constexpr int64_t kDepth = 256;          // contraction steps per packed block
constexpr int64_t kRowBlock = 96;        // rows per packed block of the left factor
constexpr int64_t kPackLimit = 1 << 24;  // elements of the right factor packed at a time
constexpr int64_t kThinRows = 16;        // up to here a product is bound by reading its large factor
constexpr int64_t kSliceDepth = 8192;    // contraction steps per slice of a long, thin product

using Runs = std::vector<int32_t>;

/// runs[i]: how many entries from i on are consecutive numbers.
Runs ConsecutiveRuns(const Offsets& offsets) {
  Runs runs(offsets.size(), 1);
  for (size_t i = offsets.size(); i-- > 1;)
    if (offsets[i - 1] + 1 == offsets[i]) runs[i - 1] = std::min<int32_t>(runs[i] + 1, 1 << 30);
  return runs;
}

template <class T, class S>
[[gnu::always_inline]] inline T Widen(S value) {
  if constexpr (std::is_same_v<T, S>)
    return value;
  else
    return std::bit_cast<float>(static_cast<uint32_t>(value) << 16);
}

/// A range of rows (or columns) and one of contraction steps of a factor.
struct PackArgs {
  const int64_t* rows;
  const int32_t* row_runs;
  int64_t row_count;  // may be less than the width of the panel: the rest becomes zero
  const int64_t* steps;
  const int32_t* step_runs;
  int64_t step_count;
};

/// Copies 4 rows x 4 consecutive steps transposed.
template <class T, class S>
[[gnu::always_inline]] inline void Transpose4(const S* r0, const S* r1, const S* r2, const S* r3, T* out,
                                              int64_t width) {
  using V = T __attribute__((ext_vector_type(4)));
  V a, b, c, d;
  for (int i = 0; i < 4; ++i) {
    a[i] = Widen<T>(r0[i]);
    b[i] = Widen<T>(r1[i]);
    c[i] = Widen<T>(r2[i]);
    d[i] = Widen<T>(r3[i]);
  }
  const V ab_low = __builtin_shufflevector(a, b, 0, 4, 1, 5),
          ab_high = __builtin_shufflevector(a, b, 2, 6, 3, 7);
  const V cd_low = __builtin_shufflevector(c, d, 0, 4, 1, 5),
          cd_high = __builtin_shufflevector(c, d, 2, 6, 3, 7);
  const V columns[4] = {__builtin_shufflevector(ab_low, cd_low, 0, 1, 4, 5),
                        __builtin_shufflevector(ab_low, cd_low, 2, 3, 6, 7),
                        __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5),
                        __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7)};
  for (int k = 0; k < 4; ++k) std::memcpy(out + k * width, &columns[k], sizeof(V));
}

/// out[k * width + i] = source[rows[i] + steps[k]]; width is a multiple of 4.
template <class T, class S>
void PackPanel(const S* source, const PackArgs& args, int64_t width, T* out) {
  const int64_t count = args.row_count;
  if (args.row_runs[0] >= count) {
    for (int64_t k = 0; k < args.step_count; ++k, out += width) {
      const S* from = source + args.rows[0] + args.steps[k];
      for (int64_t i = 0; i < count; ++i) out[i] = Widen<T>(from[i]);
      for (int64_t i = count; i < width; ++i) out[i] = T(0);
    }
    return;
  }
  for (int64_t k = 0; k < args.step_count;) {
    const S* from = source + args.steps[k];
    if (args.step_runs[k] >= 4 && k + 4 <= args.step_count) {
      int64_t i = 0;
      for (; i + 4 <= count; i += 4)
        Transpose4<T, S>(from + args.rows[i], from + args.rows[i + 1], from + args.rows[i + 2],
                         from + args.rows[i + 3], out + i, width);
      for (; i < width; ++i)
        for (int64_t u = 0; u < 4; ++u)
          out[u * width + i] = i < count ? Widen<T>(from[args.rows[i] + u]) : T(0);
      k += 4;
      out += 4 * width;
      continue;
    }
    for (int64_t i = 0; i < count; ++i) out[i] = Widen<T>(from[args.rows[i]]);
    for (int64_t i = count; i < width; ++i) out[i] = T(0);
    ++k;
    out += width;
  }
}

/// One side of the product: its table of rows (columns) and of contraction steps.
template <class T>
struct Side {
  GemmSource source;
  const Offsets* rows;
  const Offsets* steps;
  Runs row_runs, step_runs;
  int64_t row_run_count = 0;  // pieces into which the rows fall

  Side(GemmSource s, const Offsets& r, const Offsets& k)
      : source(s), rows(&r), steps(&k), row_runs(ConsecutiveRuns(r)), step_runs(ConsecutiveRuns(k)) {
    for (size_t i = 0; i < row_runs.size(); i += static_cast<size_t>(row_runs[i])) ++row_run_count;
  }

  void Pack(int64_t base, int64_t row, int64_t row_count, int64_t step, int64_t step_count, int64_t width,
            T* out) const {
    const PackArgs args{rows->data() + row,   row_runs.data() + row,   row_count,
                        steps->data() + step, step_runs.data() + step, step_count};
    if constexpr (std::is_same_v<T, float>)
      if (source.bf16)
        return PackPanel<T>(static_cast<const uint16_t*>(source.data) + base, args, width, out);
    PackPanel<T>(static_cast<const T*>(source.data) + base, args, width, out);
  }
  [[nodiscard]] int64_t row_count() const { return static_cast<int64_t>(rows->size()); }
  [[nodiscard]] int64_t step_count() const { return static_cast<int64_t>(steps->size()); }
  [[nodiscard]] bool steps_consecutive() const { return step_count() > 0 && step_runs[0] >= step_count(); }
};

template <class T>
Buffer<T> Scratch(int64_t count) {
  return MakeBuffer<T>(static_cast<size_t>(count));
}

int64_t RoundUp(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

template <class T>
class Product {
 public:
  Product(const GemmProblem& p, GemmSource lhs, GemmSource rhs, T* out)
      : p_(p),
        lhs_(lhs, p.lhs_m, p.lhs_k),
        rhs_(rhs, p.rhs_n, p.rhs_k),
        out_(out),
        kernel_(BestGemmKernel<T>()),
        out_n_runs_(ConsecutiveRuns(p.out_n)),
        m_(lhs_.row_count()),
        n_(rhs_.row_count()),
        k_(lhs_.step_count()) {}

  void Run() {
    const auto batches = static_cast<int64_t>(p_.batch_out.size());
    if (batches == 0 || m_ == 0 || n_ == 0) return;
    if (batches == 1) return RunBatch(0);
    if (n_ == 1 && batches >= 4 && k_ > 0 && m_ * batches >= 16 && IsChannelwise())
      return Channelwise(batches);
    // Many or small products run side by side, a few large ones one after the other on all cores.
    const double work = static_cast<double>(m_) * static_cast<double>(n_) * static_cast<double>(k_ + 1);
    if (batches >= 8 || work < 1e6) {
      const auto grain = static_cast<int64_t>(std::clamp(2e5 / work, 1.0, static_cast<double>(batches)));
      return ParallelFor(0, batches, grain, [&](int64_t begin, int64_t end) {
        for (int64_t b = begin; b < end; ++b) RunBatch(b);
      });
    }
    for (int64_t b = 0; b < batches; ++b) RunBatch(b);
  }

 private:
  struct Bases {
    int64_t lhs, rhs, out;
  };
  /// A rectangle of the result.
  struct Region {
    int64_t m_begin, m_end, n_begin, n_end;
  };

  void RunBatch(int64_t b) {
    if (Interrupted()) return;
    const auto at = static_cast<size_t>(b);
    const Bases bases{p_.batch_lhs[at], p_.batch_rhs[at], p_.batch_out[at]};
    if (k_ == 0) {
      for (const int64_t m : p_.out_m)
        for (const int64_t n : p_.out_n) out_[bases.out + m + n] = T(0);
      return;
    }
    if (m_ <= kThinRows && Streamable(rhs_))
      return Thin(lhs_, rhs_, bases.lhs, bases.rhs, bases.out, p_.out_m, p_.out_n);
    if (n_ <= kThinRows && Streamable(lhs_))
      return Thin(rhs_, lhs_, bases.rhs, bases.lhs, bases.out, p_.out_n, p_.out_m);
    if (k_ >= 2 * kSliceDepth && m_ * n_ <= 1 << 16) return Sliced(bases);
    const int64_t columns = std::max<int64_t>(kPackLimit / k_ / kernel_.nr, 4) * kernel_.nr;
    for (int64_t n = 0; n < n_; n += columns) Blocked(bases, n, std::min(n_, n + columns));
  }

  /// Can be read in long consecutive runs.
  static bool Streamable(const Side<T>& side) {
    return side.steps_consecutive() || side.row_run_count * 16 <= side.row_count();
  }

  // --- Products of one column whose batch elements lie side by side (depthwise convolutions). ---

  [[nodiscard]] bool IsChannelwise() const {
    const auto consecutive = [](const Offsets& offsets) {
      return ConsecutiveRuns(offsets)[0] >= static_cast<int32_t>(offsets.size());
    };
    return lhs_.source.bf16 == rhs_.source.bf16 && consecutive(p_.batch_lhs) && consecutive(p_.batch_rhs) &&
           consecutive(p_.batch_out);
  }

  void Channelwise(int64_t channels) {
    if constexpr (std::is_same_v<T, float>)
      if (lhs_.source.bf16) return ChannelwiseTyped<uint16_t>(channels);
    ChannelwiseTyped<T>(channels);
  }

  template <class W>
  void ChannelwiseTyped(int64_t channels) {
    const W* a = static_cast<const W*>(lhs_.source.data) + p_.batch_lhs[0];
    const W* b = static_cast<const W*>(rhs_.source.data) + p_.batch_rhs[0] + p_.rhs_n[0];
    T* out = out_ + p_.batch_out[0] + p_.out_n[0];
    if (k_ >= 2 * kSliceDepth) return ChannelwiseSliced(a, b, channels, out);
    const int64_t grain = std::max<int64_t>(1, (1 << 15) / (k_ * channels));
    ParallelFor(0, m_, grain, [&](int64_t begin, int64_t end) {
      for (int64_t m = begin; m < end && !Interrupted(); ++m) {
        T* row = out + p_.out_m[static_cast<size_t>(m)];
        std::fill_n(row, channels, T(0));
        AccumulateProducts<T, W>(a + p_.lhs_m[static_cast<size_t>(m)], p_.lhs_k.data(), b, p_.rhs_k.data(),
                                 k_, channels, row);
      }
    });
  }

  /// Long contractions: slices in parallel, their sums added in order.
  template <class W>
  void ChannelwiseSliced(const W* a, const W* b, int64_t channels, T* out) {
    constexpr int64_t kDepthInCache = 32;
    const int64_t slices = (k_ + kSliceDepth - 1) / kSliceDepth, size = m_ * channels;
    const int64_t group = std::clamp<int64_t>((1 << 22) / size, 1, 64);
    auto parts = Scratch<T>(std::min(group, slices) * size);
    for (int64_t m = 0; m < m_; ++m) std::fill_n(out + p_.out_m[static_cast<size_t>(m)], channels, T(0));
    for (int64_t first = 0; first < slices; first += group) {
      const int64_t last = std::min(slices, first + group);
      ParallelFor(first, last, 1, [&](int64_t begin, int64_t end) {
        for (int64_t s = begin; s < end && !Interrupted(); ++s) {
          T* part = parts.get() + (s - first) * size;
          std::fill_n(part, size, T(0));
          const int64_t k_end = std::min(k_, (s + 1) * kSliceDepth);
          for (int64_t k = s * kSliceDepth; k < k_end; k += kDepthInCache)
            for (int64_t m = 0; m < m_; ++m)
              AccumulateProducts<T, W>(a + p_.lhs_m[static_cast<size_t>(m)], p_.lhs_k.data() + k, b,
                                       p_.rhs_k.data() + k, std::min(kDepthInCache, k_end - k), channels,
                                       part + m * channels);
        }
      });
      for (int64_t s = first; s < last; ++s)
        for (int64_t m = 0; m < m_; ++m)
          for (int64_t c = 0; c < channels; ++c)
            out[p_.out_m[static_cast<size_t>(m)] + c] +=
                parts[static_cast<size_t>((s - first) * size + m * channels + c)];
    }
  }

  // --- Products with few rows: bound by reading the large factor once. ---

  void Thin(const Side<T>& few, const Side<T>& many, int64_t few_base, int64_t many_base, int64_t out_base,
            const Offsets& out_few, const Offsets& out_many) {
    const int64_t rows = few.row_count(), count = many.row_count();
    auto x = Scratch<T>(rows * k_);
    for (int64_t p = 0; p < rows; ++p) few.Pack(few_base, p, 1, 0, k_, 1, x.get() + p * k_);
    const bool bf16 = std::is_same_v<T, float> && many.source.bf16;
    if (bf16) {
      if constexpr (std::is_same_v<T, float>)
        ThinTyped(static_cast<const uint16_t*>(many.source.data) + many_base, many, x.get(), rows, count,
                  out_base, out_few, out_many);
    } else {
      ThinTyped(static_cast<const T*>(many.source.data) + many_base, many, x.get(), rows, count, out_base,
                out_few, out_many);
    }
  }

  template <class W>
  void ThinTyped(const W* w, const Side<T>& many, const T* x, int64_t rows, int64_t count, int64_t out_base,
                 const Offsets& out_few, const Offsets& out_many) {
    const auto put = [&](int64_t p, int64_t n, T value) {
      out_[out_base + out_few[static_cast<size_t>(p)] + out_many[static_cast<size_t>(n)]] = value;
    };
    const auto group_size = [&](int64_t p) { return static_cast<int>(std::min<int64_t>(4, rows - p)); };
    if (many.steps_consecutive()) {
      const int64_t grain = std::max<int64_t>(1, (1 << 16) / k_);
      ParallelFor(0, count, grain, [&](int64_t begin, int64_t end) {
        for (int64_t n = begin; n < end; ++n)
          for (int64_t p = 0; p < rows; p += 4) {
            T sums[4] = {};
            DotRows<T, W>(w + (*many.rows)[static_cast<size_t>(n)] + (*many.steps)[0], k_, x + p * k_, k_,
                          group_size(p), sums);
            for (int i = 0; i < group_size(p); ++i) put(p + i, n, sums[i]);
          }
      });
      return;
    }
    constexpr int64_t kColumns = 512, kSteps = 64;
    ParallelFor(0, count, kColumns, [&](int64_t begin, int64_t end) {
      T sums[kThinRows * kColumns] = {};
      for (int64_t k = 0; k < k_; k += kSteps)
        for (int64_t n = begin, run = 0; n < end; n += run) {
          run = std::min<int64_t>(end - n, many.row_runs[static_cast<size_t>(n)]);
          for (int64_t p = 0; p < rows; p += 4)
            AccumulateRows<T, W>(w + (*many.rows)[static_cast<size_t>(n)], many.steps->data() + k,
                                 std::min(kSteps, k_ - k), run, x + p * k_ + k, k_, group_size(p),
                                 sums + p * kColumns + n - begin, kColumns);
        }
      for (int64_t p = 0; p < rows; ++p)
        for (int64_t n = begin; n < end; ++n) put(p, n, sums[p * kColumns + n - begin]);
    });
  }

  // --- Small results with a long contraction: slices of it in parallel, summed in order. ---

  void Sliced(const Bases& bases) {
    const int64_t slices = (k_ + kSliceDepth - 1) / kSliceDepth, size = m_ * n_;
    // Groups of slices bound the memory; the grouping depends on sizes only.
    const int64_t group = std::clamp<int64_t>((1 << 22) / size, 1, 64);
    auto parts = Scratch<T>(std::min(group, slices) * size);
    auto total = Scratch<T>(size);
    std::fill_n(total.get(), size, T(0));
    for (int64_t first = 0; first < slices; first += group) {
      const int64_t last = std::min(slices, first + group);
      ParallelFor(first, last, 1, [&](int64_t begin, int64_t end) {
        for (int64_t s = begin; s < end; ++s)
          Slice(bases, s * kSliceDepth, std::min(k_, (s + 1) * kSliceDepth),
                parts.get() + (s - first) * size);
      });
      for (int64_t s = first; s < last; ++s)
        for (int64_t i = 0; i < size; ++i)
          total[static_cast<size_t>(i)] += parts[static_cast<size_t>((s - first) * size + i)];
    }
    for (int64_t m = 0; m < m_; ++m)
      for (int64_t n = 0; n < n_; ++n)
        out_[bases.out + p_.out_m[static_cast<size_t>(m)] + p_.out_n[static_cast<size_t>(n)]] =
            total[static_cast<size_t>(m * n_ + n)];
  }

  /// The dense m x n product over contraction steps [k_begin, k_end).
  void Slice(const Bases& bases, int64_t k_begin, int64_t k_end, T* out) const {
    if (Interrupted()) return;
    const int64_t mr = kernel_.mr, nr = kernel_.nr, columns = RoundUp(n_, nr);
    auto a = Scratch<T>(mr * kDepth);
    auto b = Scratch<T>(columns * kDepth);
    for (int64_t k = k_begin; k < k_end; k += kDepth) {
      const int64_t kc = std::min(kDepth, k_end - k);
      for (int64_t n = 0; n < n_; n += nr)
        rhs_.Pack(bases.rhs, n, std::min(nr, n_ - n), k, kc, nr, b.get() + n * kc);
      for (int64_t m = 0; m < m_; m += mr) {
        lhs_.Pack(bases.lhs, m, std::min(mr, m_ - m), k, kc, mr, a.get());
        for (int64_t n = 0; n < n_; n += nr) {
          const TileTarget target{m, std::min(m_, m + mr), n, std::min(n_, n + nr), k > k_begin};
          RunTile(
              kc, a.get(), b.get() + n * kc, target, [&](int64_t i, int64_t j) { return out + i * n_ + j; },
              true);
        }
      }
    }
  }

  // --- The general case. ---

  struct TileTarget {
    int64_t m_begin, m_end, n_begin, n_end;
    bool accumulate;
  };

  /// Runs the micro-kernel and puts the part inside the matrix where `at(m, n)` says.
  template <class At>
  void RunTile(int64_t kc, const T* a, const T* b, const TileTarget& t, const At& at,
               bool columns_consecutive) const {
    constexpr int kMaxRows = 12;
    T* rows[kMaxRows];
    const int64_t height = t.m_end - t.m_begin, width = t.n_end - t.n_begin;
    if (columns_consecutive && height == kernel_.mr && width == kernel_.nr) {
      for (int64_t i = 0; i < height; ++i) rows[i] = at(t.m_begin + i, t.n_begin);
      kernel_.run(kc, a, b, rows, t.accumulate);
      return;
    }
    alignas(64) T tile[static_cast<size_t>(kMaxRows) * 128 / sizeof(T)];
    for (int64_t i = 0; i < kernel_.mr; ++i) rows[i] = tile + i * kernel_.nr;
    kernel_.run(kc, a, b, rows, false);
    for (int64_t i = 0; i < height; ++i) {
      const T* from = tile + i * kernel_.nr;
      if (columns_consecutive) {
        T* to = at(t.m_begin + i, t.n_begin);
        if (t.accumulate)
          for (int64_t j = 0; j < width; ++j) to[j] += from[j];
        else
          std::copy_n(from, width, to);
        continue;
      }
      for (int64_t j = 0; j < width; ++j) {
        T* to = at(t.m_begin + i, t.n_begin + j);
        *to = t.accumulate ? *to + from[j] : from[j];
      }
    }
  }

  void Blocked(const Bases& bases, int64_t n_begin, int64_t n_end) {
    const int64_t nr = kernel_.nr, panels = (n_end - n_begin + nr - 1) / nr;
    auto packed = Scratch<T>(panels * nr * k_);
    // Layout: block of steps, then panel.
    const int64_t grain = std::max<int64_t>(1, (1 << 16) / (k_ * nr));
    ParallelFor(0, panels, grain, [&](int64_t begin, int64_t end) {
      for (int64_t panel = begin; panel < end; ++panel)
        for (int64_t k = 0; k < k_; k += kDepth) {
          const int64_t kc = std::min(kDepth, k_ - k), n = n_begin + panel * nr;
          rhs_.Pack(bases.rhs, n, std::min(nr, n_end - n), k, kc, nr,
                    packed.get() + k * panels * nr + panel * nr * kc);
        }
    });
    const int64_t row_blocks = (m_ + kRowBlock - 1) / kRowBlock;
    // Few blocks of rows: divide the columns, too.
    const int64_t column_blocks =
        std::clamp<int64_t>(row_blocks >= 16 ? 1 : 16 / row_blocks, 1, std::max<int64_t>(1, panels / 4));
    const int64_t panels_per_block = (panels + column_blocks - 1) / column_blocks;
    ParallelFor(0, row_blocks * column_blocks, 1, [&](int64_t begin, int64_t end) {
      auto a = Scratch<T>(RoundUp(kRowBlock, kernel_.mr) * kDepth);
      for (int64_t task = begin; task < end && !Interrupted(); ++task) {
        const int64_t m = task / column_blocks * kRowBlock, first = task % column_blocks * panels_per_block;
        const Region region{m, std::min(m_, m + kRowBlock), n_begin + first * nr,
                            std::min(n_end, n_begin + (first + panels_per_block) * nr)};
        Block(bases, region, packed.get(), panels, first, a.get());
      }
    });
  }

  void Block(const Bases& bases, const Region& r, const T* packed, int64_t panels, int64_t first_panel,
             T* a) {
    const int64_t mr = kernel_.mr, nr = kernel_.nr;
    for (int64_t k = 0; k < k_; k += kDepth) {
      const int64_t kc = std::min(kDepth, k_ - k);
      for (int64_t m = r.m_begin; m < r.m_end; m += mr)
        lhs_.Pack(bases.lhs, m, std::min(mr, r.m_end - m), k, kc, mr, a + (m - r.m_begin) * kc);
      const T* b = packed + k * panels * nr + first_panel * nr * kc;
      for (int64_t n = r.n_begin; n < r.n_end; n += nr, b += nr * kc) {
        const bool consecutive = out_n_runs_[static_cast<size_t>(n)] >= std::min(nr, r.n_end - n);
        for (int64_t m = r.m_begin; m < r.m_end; m += mr) {
          const TileTarget target{m, std::min(r.m_end, m + mr), n, std::min(r.n_end, n + nr), k > 0};
          RunTile(
              kc, a + (m - r.m_begin) * kc, b, target,
              [&](int64_t i, int64_t j) {
                return out_ + bases.out + p_.out_m[static_cast<size_t>(i)] + p_.out_n[static_cast<size_t>(j)];
              },
              consecutive);
        }
      }
    }
  }

  const GemmProblem& p_;
  Side<T> lhs_, rhs_;
  T* out_;
  const GemmKernel<T>& kernel_;
  Runs out_n_runs_;
  int64_t m_, n_, k_;
};

}  // namespace

Offsets FlattenAxes(llvm::ArrayRef<Axis> axes) {
  Offsets offsets{0};
  for (const Axis& axis : axes) {
    Offsets next;
    next.reserve(offsets.size() * static_cast<size_t>(std::max<int64_t>(axis.size, 0)));
    for (const int64_t base : offsets)
      for (int64_t i = 0; i < axis.size; ++i) next.push_back(base + i * axis.stride);
    offsets = std::move(next);
  }
  return offsets;
}

template <class T>
void Gemm(const GemmProblem& problem, GemmSource lhs, GemmSource rhs, T* out) {
  Product<T>(problem, lhs, rhs, out).Run();
}
template void Gemm<float>(const GemmProblem&, GemmSource, GemmSource, float*);
template void Gemm<double>(const GemmProblem&, GemmSource, GemmSource, double*);
template void Gemm<uint32_t>(const GemmProblem&, GemmSource, GemmSource, uint32_t*);
template void Gemm<uint64_t>(const GemmProblem&, GemmSource, GemmSource, uint64_t*);

}  // namespace hlo

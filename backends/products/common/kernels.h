// Register tiles of matrix products, one table of functions per instruction set.
#pragma once
#include <complex>
#include <cstdint>

#include "backends/products/common/isa.h"

namespace hlo::gemm {

/// c[i][j] (+)= sum over k < depth of a[i][k * a_step] * b[k * b_step + j] for all rows i of the tile and
/// columns j < columns. Sums run over increasing k, then what `c` held is added.
template <class T>
struct TileArgs {
  int64_t depth;
  const T* const* a;
  int64_t a_step;
  const T* b;
  int64_t b_step;
  T* const* c;
  int columns;      // 1 … Tiles::columns
  bool padded;      // rows of b may be read up to the next full vector
  bool accumulate;  // add to what is there
  /// Rows that will be wanted soon, fetched into the second cache as this tile goes on; may be null.
  const T* const* next_a = nullptr;
  /// The same of rows of b, `next_b_step` apart: `next_b_rows` for each 64 bytes of a row of a.
  const T* next_b = nullptr;
  int64_t next_b_step = 0, next_b_rows = 0;
  /// If not null, rows of b, up to the next full vector, are written here as they are read, `pack_step`
  /// apart: for tiles of more than half of Tiles::rows.
  T* pack = nullptr;
  int64_t pack_step = 0;
  /// Steps of a may lie in several runs, those of run r from a[r * run_stride + i] + run_offsets[r] on; no
  /// lengths: all in one; no offsets: zeros.
  const int64_t *run_lengths = nullptr, *run_offsets = nullptr;
  int64_t runs = 1, run_stride = 0;
  /// So many tiles, one after the other, with the next rows of a and c; several only without `next_a`,
  /// `next_b` and `pack`. Rows of c begin at c[i] + c_offset.
  int64_t tiles = 1, c_offset = 0;
};

/// A batch of products of few rows and columns: c[p][i][j] = sum over k < depth of a[p][i][k] * b[p][k][j], k
/// in order, where [p] steps by a_batch, b_batch, c_batch. Columns lie side by side.
template <class T>
struct BatchArgs {
  int64_t count, depth;
  int columns;  // 1 … Tiles::columns
  const T* a;
  int64_t a_batch, a_row, a_step;
  const T* b;
  int64_t b_batch, b_step;
  T* c;
  int64_t c_batch, c_row;
};

template <class T>
struct Tiles {
  static constexpr int kMaxRows = 8;
  int rows, columns, lanes;
  /// Rows of b can be read exactly; otherwise args.padded is demanded unless columns fill vectors.
  bool exact_columns;
  using Run = void(const TileArgs<T>&);
  Run* run[kMaxRows];  // by number of rows, less 1
  using RunBatch = void(const BatchArgs<T>&);
  RunBatch* batch[kMaxRows];  // the same; columns fill vectors unless exact_columns
};

/// Products of few rows, bound by reading the large factor `w` once. W is T, or for float also BF16 codes and
/// integers of a byte.
template <class T, class W>
struct ThinKernels {
  /// out[p] = sum over k < count of x[p * x_stride + k] * w[k] for p < rows <= 4, in a fixed order.
  void (*dot)(const W* w, int64_t count, const T* x, int64_t x_stride, int rows, T* out);
  /// out[j] = sum over k < count of x[k] * w[j * w_stride + k] for j < columns, in a fixed order: for short
  /// sums, several of which are taken side by side.
  void (*dots)(const W* w, int64_t w_stride, int64_t columns, int64_t count, const T* x, T* out);
  /// acc[p * acc_stride + j] += sum over k < depth of x[p * x_stride + k] * w[k * w_stride + j] for j <
  /// count, p < rows <= 4; k in order.
  void (*add)(const W* w, int64_t w_stride, int64_t depth, int64_t count, const T* x, int64_t x_stride,
              int rows, T* acc, int64_t acc_stride);
};
/// All of them: HLO_THIN(name, T, W). For float, uint16_t are BF16 codes.
#define HLO_THIN_TYPES(HLO_THIN)    \
  HLO_THIN(f32, float, float)       \
  HLO_THIN(bf16, float, uint16_t)   \
  HLO_THIN(s8, float, int8_t)       \
  HLO_THIN(u8, float, uint8_t)      \
  HLO_THIN(f64, double, double)     \
  HLO_THIN(u32, uint32_t, uint32_t) \
  HLO_THIN(u64, uint64_t, uint64_t)

/// Sums of shifted lines of an array, for windows over few features; null where the instruction set has no
/// such vectors.
template <class T>
struct ShiftKernels {
  /// out[j] = sum over t < taps of weights[t] * in[offsets[t] + j] for j < count, t in order. Reads and
  /// writes up to the next multiple of kShiftPadding.
  void (*weigh)(const T* in, const int64_t* offsets, const T* weights, int64_t taps, int64_t count, T* out);
  /// sums[s] += sum over l < lines and j < count of w[l * count + j] * in[line_offsets[l] + shifts[s] + j]
  /// for s < shift_count, in a fixed order.
  void (*correlate)(const T* w, int64_t lines, int64_t count, const T* in, const int64_t* line_offsets,
                    const int64_t* shifts, int64_t shift_count, T* sums);
};
inline constexpr int64_t kShiftPadding = 64;

/// Windows over groups of few features: lanes are the features of several groups of the result. T is the
/// compute type, W how both factors are stored.
template <class T, class W>
struct FeatureArgs {
  int64_t taps;
  /// Where the features of tap t for row p begin, at in[t * kFeatureRows + p]; may be zeros.
  const W* const* in;
  /// The weights of tap t and channel c begin at weights + tap_offsets[t] + c * channel_stride.
  const W* weights;
  const int64_t* tap_offsets;
  int64_t channel_stride;
  /// Features of a group of the input and of the result: at most as many as lanes where several groups are to
  /// share a vector.
  int channels, outputs;
  int64_t count;  // features of the result
  T* const* out;  // by row: count elements
  /// So many taps follow one another along a line, where the next row may read for one what this row reads
  /// for the one after; it is looked whether it does.
  int64_t line_taps = 1;
  /// Blocks of kFeatureRows rows, each of which reads and writes so many elements on; one if there are
  /// several taps.
  int64_t blocks = 1, in_step = 0, out_step = 0;
};
inline constexpr int kFeatureRows = 8;
/// Windows that make few features of many: lanes are features of the input.
template <class T, class W>
struct DotArgs {
  int64_t taps;
  /// Where the features of tap t for row p begin, at in[t * kFeatureRows + p]; may be zeros.
  const W* const* in;
  int64_t channels;
  /// By feature of the result and tap: as many numbers as channels, rounded up to whole vectors.
  const T* weights;
  int columns;  // features of the result
  T* sums;      // by row and column
};

/// Products of each feature of a group with each of the same group of another array, summed over positions:
/// gradients by weights. Lanes are features of b.
template <class T, class W>
struct OuterArgs {
  const W *a, *b;
  const int64_t *a_offsets, *b_offsets;  // of positions
  int64_t depth;                         // positions
  int64_t a_features, b_features;        // of a group
  int64_t groups;
  T* acc;  // by feature of a in its group, group, feature of b in it
};

/// Products of a line with another one, shifted by 0, 1 and 2 positions.
template <class T, class W>
struct ShiftedArgs {
  const W* a;
  int64_t a_step;  // to the next position
  const W* b;
  int64_t b_step;
  int64_t count;  // positions of b
  int64_t width;  // numbers at each
  int64_t skip;   // 1 or 2: positions of a to the next of b
  /// Neighbours of b that meet the same number of a; it divides the numbers of a vector.
  int64_t columns;
  T* acc;  // by shift, `acc_stride` apart
  int64_t acc_stride;
};

/// Windows over few features by how both factors are stored, W, and what sums are taken in, T.
template <class T, class W>
struct FactorKernels {
  int lanes;  // numbers; 0 where the instruction set lacks what they take
  /// out[p][g * outputs + o] = sum over taps t and channels c of in[t, p][g * channels + c] *
  /// weights[t, c][g * outputs + o] for p < kFeatureRows; in the order of t, then c.
  void (*run)(const FeatureArgs<T, W>& args);
  /// sums[p * columns + j] = sum over taps t and channels c of in[t, p][c] * weights[j, t][c] for p <
  /// kFeatureRows, in a fixed order.
  void (*dots)(const DotArgs<T, W>& args);
  /// acc[j] += sum over k < depth of a[a_offsets[k] + j] * b[b_offsets[k] + j] for j < count; k in order.
  void (*products)(const W* a, const int64_t* a_offsets, const W* b, const int64_t* b_offsets, int64_t depth,
                   int64_t count, T* acc);
  /// acc[i][g * b_features + j] += sum over k < depth of a[a_offsets[k] + g * a_features + i] *
  /// b[b_offsets[k] + g * b_features + j]; k in order.
  void (*outer)(const OuterArgs<T, W>& args);
  /// acc[s][j] += sum over k < count of a[(k * skip + s) * a_step + j / columns] * b[k * b_step + j] for s <
  /// 3, j < width; k in order.
  void (*shifted)(const ShiftedArgs<T, W>& args);
};
/// All of them: HLO_FACTORS(name, T, W). For float, uint16_t are BF16 codes.
#define HLO_FACTOR_TYPES(HLO_FACTORS)                        \
  HLO_FACTORS(f32, float, float)                             \
  HLO_FACTORS(bf16, float, uint16_t)                         \
  HLO_FACTORS(f16, float, _Float16)                          \
  HLO_FACTORS(f64, double, double)                           \
  HLO_FACTORS(u32, uint32_t, uint32_t)                       \
  HLO_FACTORS(s8, uint32_t, int8_t)                          \
  HLO_FACTORS(u8, uint32_t, uint8_t)                         \
  HLO_FACTORS(s16, uint32_t, int16_t)                        \
  HLO_FACTORS(u16, uint32_t, uint16_t)                       \
  HLO_FACTORS(u64, uint64_t, uint64_t)                       \
  HLO_FACTORS(short_s8, uint16_t, int8_t)                    \
  HLO_FACTORS(short_u8, uint16_t, uint8_t)                   \
  HLO_FACTORS(short_u16, uint16_t, uint16_t)                 \
  HLO_FACTORS(c64, std::complex<float>, std::complex<float>) \
  HLO_FACTORS(c128, std::complex<double>, std::complex<double>)
/// HLO_SHIFTS(name, T)
#define HLO_SHIFT_TYPES(HLO_SHIFTS)    \
  HLO_SHIFTS(f32, float)               \
  HLO_SHIFTS(f64, double)              \
  HLO_SHIFTS(u32, uint32_t)            \
  HLO_SHIFTS(u64, uint64_t)            \
  HLO_SHIFTS(short_u16, uint16_t)      \
  HLO_SHIFTS(c64, std::complex<float>) \
  HLO_SHIFTS(c128, std::complex<double>)

/// Lines copied with zeros around: element `before` + i of line l of `out` is element i * in_step of line l
/// of `in` for i < count. Lines are `in_stride` and `out_stride` elements apart.
struct Lines {
  const void* in;
  int64_t in_stride, in_step;
  int64_t lines, before, count, after;
  void* out;
  int64_t out_stride;
};

struct KernelSet {
  Tiles<float> f32;
  Tiles<double> f64;
  Tiles<uint32_t> u32;
  Tiles<uint64_t> u64;
#define HLO_THIN(name, T, W) ThinKernels<T, W> thin_##name;
  HLO_THIN_TYPES(HLO_THIN)
#undef HLO_THIN
#define HLO_FACTORS(name, T, W) FactorKernels<T, W> factors_##name;
  HLO_FACTOR_TYPES(HLO_FACTORS)
#undef HLO_FACTORS
#define HLO_SHIFTS(name, T) ShiftKernels<T> shift_##name;
  HLO_SHIFT_TYPES(HLO_SHIFTS)
#undef HLO_SHIFTS
  /// out[k * out_stride + i] = in[i][k] for i < width, a multiple of 4, and k < depth; by size of elements.
  template <class E>
  using Transpose = void(const E* const* in, int64_t depth, int64_t width, E* out, int64_t out_stride);
  Transpose<uint8_t>* transpose8;
  Transpose<uint16_t>* transpose16;
  Transpose<uint32_t>* transpose32;
  Transpose<uint64_t>* transpose64;
  /// out[k * out_stride + i] = in[k * in_stride + i] for i < count, 0 for count <= i < width; k < depth.
  template <class E>
  using Copy = void(const E* in, int64_t in_stride, int64_t depth, int64_t count, int64_t width, E* out,
                    int64_t out_stride);
  Copy<uint8_t>* copy8;
  Copy<uint16_t>* copy16;
  Copy<uint32_t>* copy32;
  Copy<uint64_t>* copy64;
  /// Elements of `bytes` bytes.
  void (*take_lines)(const Lines& lines, int64_t bytes);
  /// BF16 codes to float.
  void (*widen_bf16)(const uint16_t* in, int64_t count, float* out);
  /// Float to BF16 codes, rounded to nearest even; NaN keeps its sign alone, as NarrowFromFloat has it.
  void (*narrow_bf16)(const float* in, int64_t count, uint16_t* out);
  /// Bytes of the other sign: moved by 128. `out` may be `in`.
  void (*move_signs)(const uint8_t* in, int64_t count, uint8_t* out);

  template <class T>
  [[nodiscard]] const Tiles<T>& tiles() const;
  /// The ThinKernels or FactorKernels of that type, if kExists<Kernels>.
  template <class Kernels>
  [[nodiscard]] const Kernels& of() const;
  template <class T>
  [[nodiscard]] const ShiftKernels<T>& shift() const;
};
template <>
inline const Tiles<float>& KernelSet::tiles<float>() const {
  return f32;
}
template <>
inline const Tiles<double>& KernelSet::tiles<double>() const {
  return f64;
}
template <>
inline const Tiles<uint32_t>& KernelSet::tiles<uint32_t>() const {
  return u32;
}
template <>
inline const Tiles<uint64_t>& KernelSet::tiles<uint64_t>() const {
  return u64;
}
/// There are kernels of that type.
template <class Kernels>
inline constexpr bool kExists = false;
#define HLO_KERNELS(member, ...)                                 \
  template <>                                                    \
  inline constexpr bool kExists<__VA_ARGS__> = true;             \
  template <>                                                    \
  inline const __VA_ARGS__& KernelSet::of<__VA_ARGS__>() const { \
    return member;                                               \
  }
#define HLO_THIN(name, T, W) HLO_KERNELS(thin_##name, ThinKernels<T, W>)
HLO_THIN_TYPES(HLO_THIN)
#undef HLO_THIN
#define HLO_FACTORS(name, T, W) HLO_KERNELS(factors_##name, FactorKernels<T, W>)
HLO_FACTOR_TYPES(HLO_FACTORS)
#undef HLO_FACTORS
#undef HLO_KERNELS
#define HLO_SHIFTS(name, T)                                   \
  template <>                                                 \
  inline const ShiftKernels<T>& KernelSet::shift<T>() const { \
    return shift_##name;                                      \
  }
HLO_SHIFT_TYPES(HLO_SHIFTS)
#undef HLO_SHIFTS

/// The kernels of one instruction set; the processor must have it.
const KernelSet& KernelsFor(Isa isa);

/// The best instruction set of this processor.
Isa HostIsa();

namespace internal {
extern const KernelSet kBaselineKernels, kAvx2Kernels, kAvx512Kernels;
}

}  // namespace hlo::gemm

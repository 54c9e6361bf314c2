// Inner loops of structured ops, one table of functions per instruction set.
#pragma once
#include <cstdint>

#include "backends/products/common/isa.h"

namespace hlo::structured {

/// How the bits of elements are ordered.
enum class BitOrder : uint8_t { Unsigned, Signed, SignMagnitude };

/// The k first of a row of elements; among equal ones the earlier. Entries are a key and a position.
struct TopKKernel {
  int entry_bytes;
  /// Entries that Select needs room for.
  static int64_t Capacity(int64_t k) { return k + (k < 64 ? 64 : k); }
  /// The k (or end - begin, if less) first of the elements [begin, end) of a row, in no order; their number.
  int64_t (*select)(const void* row, int64_t begin, int64_t end, int64_t k, bool largest, void* entries);
  /// The k first of `count` >= k entries: elements and positions, in order.
  void (*finish)(const void* row, void* entries, int64_t count, int64_t k, void* values, int32_t* positions);
};

/// How elements become unsigned numbers in the order of a sort: negative ones, with the bit `top`, exchange
/// the bits `inverted`, then all exchange the bits `flip`. If `merged`, all NaNs (magnitudes above
/// `infinity`) become `nan`, and magnitudes below `least` become +0.
struct NumberOrder {
  uint64_t top, inverted, flip;
  bool merged;
  uint64_t infinity, nan, least;
};
/// Numbers have 32 bits, those of wider elements 64.
struct NumberKernel {
  /// Tells whether elements that differ may have got the same number.
  bool (*numbers)(const NumberOrder& order, const void* elements, int64_t n, void* numbers);
  /// Back; merged numbers do not tell which element they were.
  void (*elements)(const NumberOrder& order, const void* numbers, int64_t n, void* elements);
};
/// Null where vectors cannot be compressed. Both use x and as much scratch memory.
template <class T>
struct SortKernel {
  void (*sort)(T* x, int64_t n, T* scratch);
  /// Brings x into `parts` parts: part p has sizes[p] numbers, above splitters[p - 1] and up to splitters[p],
  /// which are sorted.
  void (*split)(T* x, int64_t n, T* scratch, const T* splitters, int64_t parts, int64_t* sizes);
};

/// Scans by one associative op of elements of type In, kept in accumulators of type Acc.
struct ScanKernel {
  /// y[i] = op(carry, x[0], … x[i]) for i < n (from the end, with `reverse`: y[i] = op(carry, x[n-1], …
  /// x[i])); `last` gets op(carry, x[0], … x[n-1]). With `stream` aligned vectors are written past the
  /// caches; the caller fences.
  void (*line)(const void* x, void* y, int64_t n, bool reverse, bool stream, const void* carry, void* last);
  /// `total` gets op(x[0], … x[n-1]), rounded in an order that n alone tells.
  void (*fold)(const void* x, int64_t n, void* total);
  /// For rows r = 0 … count - 1: acc[j] = op(acc[j], x[r * x_step + j]), y[r * y_step + j] = acc[j], j < n.
  void (*rows)(const void* x, int64_t x_step, void* y, int64_t y_step, int64_t count, int64_t n, bool stream,
               void* acc);
};
enum class ScanOp : uint8_t { Add, Multiply, Maximum, Minimum, And, Or, Xor };
enum class ScanType : uint8_t { F32, F64, S32, U32, S64, U64 };

/// What the diagonal of a triangular system is: its elements, their reciprocals, or ones that are not read.
enum class Pivot : uint8_t { Divide, Multiply, One };
/// Solves l x = x in place for `count` rows of x, each of `vectors` * 64 bytes, 1 … 3 vectors; l is
/// triangular, its elements off the diagonal negated. Sums run from the first row that is solved on.
template <class T>
using SolveKernel = void(const T* l, int64_t l_step, T* x, int64_t count, int vectors, bool upper,
                         Pivot pivot);

/// Where number (i, j) of a matrix stands, in numbers.
struct LanePlaces {
  int64_t first, row, column;
};
/// l x = b for kLanes = 64 / sizeof(part) triangular matrices of size m and right-hand sides of n columns,
/// each number being kLanes real parts, then those of imaginary ones if it is complex.
struct LaneSystems {
  int64_t m, n;
  LanePlaces l, x;   // in an order in which l is lower triangular
  bool unit;         // ones on the diagonal, which is not read
  bool conjugate;    // of what stands in l
  bool reciprocals;  // solve multiplies by reciprocals of real pivots
  // What l is made of: a, its transpose or, not to the left of x, the transpose of those.
  bool left, lower, transposed;
};
/// out = a b for matrices of kLanes products: a is m x k, b is k x n; out is row-major.
struct LaneProduct {
  int64_t m, n, k;
  LanePlaces a, b;
};
/// For numbers with parts of type T.
template <class T>
struct LaneSystemKernels {
  /// Lane l of number k < count is in[l * step + k] (steps count numbers), for l < lanes; the others are
  /// zero.
  void (*load)(const void* in, int64_t step, int64_t count, int lanes, T* x);
  void (*store)(const T* x, void* out, int64_t step, int64_t count, int lanes);
  /// Makes what `solve` takes of a matrix.
  void (*prepare)(const LaneSystems& systems, T* l);
  void (*solve)(const LaneSystems& systems, const T* l, T* x);
  /// The inverses of unit-triangular matrices (prepared ones, in row-major order), then y = op(inverse) x,
  /// sums in the order of the evaluator and without fused operations.
  void (*invert)(const LaneSystems& systems, const T* a, T* inverse);
  void (*multiply)(const LaneSystems& systems, const T* inverse, const T* x, T* y);
  /// Cholesky factors of n x n matrices in place, all NaN where there is none.
  void (*factor)(int64_t n, bool lower, T* a);
  /// Sums from the first product on; null for complex numbers.
  void (*product)(const LaneProduct& product, const T* a, const T* b, T* out);
};

/// Of passes over signals side by side.
inline constexpr int kLargestOdd = 255;
/// fft::kRealGroup, without what a header of templates would bring into code for one instruction set.
inline constexpr int kRealGroup = 4;

/// A pass of Stockham's: y[q + s * (radix * p + j)] = w[p][j] * sum over k of
/// x[q + s * (p + m * k)] r^(jk) for p < m, q < s.
template <class T>
struct RowPass {
  int radix;
  int64_t m, s;
  /// The w[p][j] for j > 0. Of heads: real parts for all p, then imaginary ones, for one j after the other;
  /// of others pairs, j by j for one p after the other.
  const T* twiddles;
  const T* roots;  // the powers of r
};
/// All passes over signals of length n side by side, first to last.
template <class T>
struct LanePasses {
  const RowPass<T>* passes;
  int count;
  int64_t n;
};
/// All passes over one signal. The first `heads`, at least one, have vectors over p: m >= kLanes; the others,
/// at least one, over q: s >= kLanes.
template <class T>
struct RowPasses {
  const RowPass<T>* passes;
  int count, heads;
  int64_t plane;  // room for the real parts of all elements
};

template <class T>
using RowKernel = void(const RowPasses<T>& row, const T* in, T* out, bool swap, T scale, T* scratch);

/// A pass over the spectra of real signals: `radix` of length m each become one of l longer ones; or back.
template <class T>
struct RealPass {
  int radix;
  int64_t m, l;
  /// Factors w^(ic), w = exp(-2 pi i / (m * radix)), for 2 i < m and 0 < c < radix: pairs, c by c for one i
  /// after the other; or real parts for all i, then imaginary ones, for one c after the other.
  const T *scalars, *vectors;
  const T* roots;  // exp(-2 pi i k / radix)
};
/// The first `across` passes, at least one, have vectors across spectra: l >= kLanes; the others, at least
/// one, along them: (m + 1) / 2 >= kLanes. With signals side by side it does not matter.
template <class T>
struct RealPasses {
  const RealPass<T>* passes;
  int count, across;
  int64_t n, plane;
};

/// Transforms by the operations of ir/numeric/fft_plan.h in their order; all null in single precision.
template <class T>
struct InOrderFftKernels {
  /// As in FftKernels. Radices: 2, 4, 8 and odd ones to kLargestOdd; in rows those to 11.
  void (*pass)(const RowPass<T>& pass, const T* x, T* y);
  RowKernel<T>* row;
  /// A real signal of n numbers to n / 2 + 1 pairs, and the unscaled inverse multiplied by `scale`. Radices:
  /// 2, 4 and odd ones to 7. `scratch` has room for four planes.
  void (*real_forward)(const RealPasses<T>& signal, const T* in, T* out, T* scratch);
  void (*real_inverse)(const RealPasses<T>& signal, const T* in, T* out, T scale, T* scratch);
};

/// Fourier transforms of kLanes = 64 / sizeof(T) signals side by side: element k of all of them is kLanes
/// real parts, then kLanes imaginary parts. Elsewhere complex numbers are pairs, and steps count pairs. With
/// `swap` real and imaginary parts change places on the way.
template <class T>
struct FftKernels {
  /// One pass. Radices: 2, 4, 8, 16 and odd ones to kLargestOdd; elsewhere those to 13.
  void (*pass)(const RowPass<T>& pass, const T* x, T* y);
  /// All passes, at least two, of the columns of an array, which `out` may be as well, `step` pairs from row
  /// to row. x and y are scratch memory for n elements of kLanes signals.
  void (*columns)(const LanePasses<T>& passes, const T* in, T* out, int64_t step, bool swap, T scale, T* x,
                  T* y);
  /// The same to squares: multiply_lanes and transpose_tiles of the result.
  void (*first_columns)(const LanePasses<T>& passes, const T* in, int64_t step, bool swap, const T* scalars,
                        const T* vectors, T* x, T* y, T* out, int64_t tile_step, int64_t element_step);
  /// From signals side by side, whose elements are in_step numbers apart, perhaps in the same place.
  void (*last_columns)(const LanePasses<T>& passes, const T* in, int64_t in_step, T* out, int64_t step,
                       bool swap, T scale, T* x, T* y);
  /// Lane l of element k is in[k * step + l], for k < n, l < lanes; the others are zero.
  void (*load_columns)(const T* in, int64_t step, int64_t n, int lanes, bool swap, T* x);
  void (*store_columns)(const T* x, T* out, int64_t step, int64_t n, int lanes, bool swap, T scale);
  /// Lane l of element k is in[l * row_step + k].
  void (*load_rows)(const T* in, int64_t row_step, int64_t n, int lanes, bool swap, T* x);
  void (*store_rows)(const T* x, T* out, int64_t row_step, int64_t n, int lanes, bool swap, T scale);
  /// Squares of kLanes elements, tile_step numbers apart in the result: lane l of element k becomes lane k of
  /// element l. `rows` elements are rounded up.
  void (*transpose_tiles)(const T* x, int64_t rows, T* out, int64_t tile_step, int64_t element_step);
  /// Element k times the pair scalars[k], times element k of `vectors`.
  void (*multiply_lanes)(T* x, int64_t n, const T* scalars, const T* vectors);
  void (*multiply_each)(T* x, int64_t n, const T* scalars, bool conjugate_result);
  /// A whole signal of pairs; `in` and `out` may be the same. `scratch` has room for four planes.
  RowKernel<T>* row;
  /// Bins 0 < k < h of a real spectrum of length 2 h, in place, from those of the complex signal whose real
  /// and imaginary parts are its even and odd elements; and twice these from those. Roots: exp(-pi i k / h),
  /// k <= h / 2.
  void (*untangle)(T* z, int64_t h, const T* roots);
  void (*tangle)(const T* x, T* z, int64_t h, const T* roots);
  /// `lanes` <= kLanes consecutive real signals of n numbers to n / 2 + 1 pairs each, and the unscaled
  /// inverse multiplied by `scale`. In double precision radices are 2, 4 and odd ones to kLargestOdd, with
  /// the bits of fft::Plan, in single precision odd ones. `scratch` has room for 6 * n * kLanes numbers.
  void (*real_signals_forward)(const RealPasses<T>& signal, const T* in, T* out, int lanes, T* scratch);
  void (*real_signals_inverse)(const RealPasses<T>& signal, const T* in, T* out, T scale, int lanes,
                               T* scratch);
  InOrderFftKernels<T> in_order;
};

/// The comparison by which the element chosen so far stays.
enum class SelectOrder : uint8_t { Ge, Gt, Le, Lt };
/// For i < n: chooses one of the x[offsets[k] + i], k < count, count > 0, comparing in order of k, and adds
/// source[i] to the element of `out` at the same place. Sums are rounded to the type of the elements, wrap
/// around if that is an integer.
using SelectKernel = void(SelectOrder order, const void* x, const int64_t* offsets, int count, int64_t n,
                          const void* source, void* out);
enum class SelectType : uint8_t { F32, F64, S32, S64, U32, U64, BF16, F16 };

/// Random bits of counter blocks (ir/numeric/random_bits.h), 16 of ThreeFry or 8 of Philox for each of
/// `vectors`: 32 words.
struct RandomKernels {
  /// Block after block, its words in order.
  void (*three_fry)(const uint32_t key[2], uint64_t counter, int64_t vectors, uint32_t* out);
  /// The first words of blocks, and the second ones.
  void (*three_fry_halves)(const uint32_t key[2], uint64_t counter, int64_t vectors, uint32_t* first,
                           uint32_t* second);
  void (*philox)(const uint32_t key[2], uint64_t low, uint64_t high, int64_t vectors, uint32_t* out);
};

struct KernelSet {
  /// By bytes of an element (1, 2, 4, 8: their logarithm), and order.
  TopKKernel top_k[4][3];
  NumberKernel numbers[4];  // by the logarithm of an element's bytes
  SortKernel<uint32_t> sort_u32;
  SortKernel<uint64_t> sort_u64;
  /// By op and type of accumulators, elements being of that type; members are null where there is no such op.
  ScanKernel scan[7][6];
  /// Sums of F32 in F64.
  ScanKernel sum_f32;
  SelectKernel* select[8];  // by SelectType
  SolveKernel<float>* solve_f32;
  SolveKernel<double>* solve_f64;
  /// The same for l of 8 x 8 elements with reciprocals on its diagonal.
  void (*solve_eight)(const double* l, double* x, int vectors, bool upper);
  LaneSystemKernels<float> lanes_f32, lanes_c64;
  LaneSystemKernels<double> lanes_f64, lanes_f32_in_f64, lanes_c128;
  FftKernels<float> fft_f32;
  FftKernels<double> fft_f64;
  RandomKernels random;
  template <class T>
  [[nodiscard]] const FftKernels<T>& fft() const {
    if constexpr (sizeof(T) == 4)
      return fft_f32;
    else
      return fft_f64;
  }
  template <class T>
  [[nodiscard]] const SortKernel<T>& sort() const {
    if constexpr (sizeof(T) == 4)
      return sort_u32;
    else
      return sort_u64;
  }
  template <class T>
  [[nodiscard]] SolveKernel<T>* solve() const {
    if constexpr (sizeof(T) == 4)
      return solve_f32;
    else
      return solve_f64;
  }
};

const KernelSet& KernelsFor(gemm::Isa isa);

namespace internal {
extern const KernelSet kBaselineKernels, kAvx2Kernels, kAvx512Kernels;
}

}  // namespace hlo::structured

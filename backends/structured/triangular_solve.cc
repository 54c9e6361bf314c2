// triangular-solve (ops-structured §6.3): substitution in blocks, whose products with what is solved already
// are matrix products.
#include <type_traits>

#include "backends/products/common/kernels.h"
#include "backends/structured/kernels.h"
#include "backends/structured/triangular.h"
#include "ir/support/buffer.h"
#include "ir/support/interrupt.h"
#include "ir/support/parallel.h"

namespace hlo::structured {
namespace {

/// Systems up to this size are solved in double precision, in the order of the evaluator.
constexpr int64_t kSmall = 64;
/// Rows that fit registers.
constexpr int64_t kRegisters = 8;
/// Rows of a block in larger ones.
constexpr int64_t kBlock = 32;

/// op(a) x = b, or x op(a) = b, as m x = b with rows of x being consecutive right-hand sides.
struct Solve {
  int64_t batch, m, n;
  int64_t rows;     // m, or more with ones on the diagonal and nothing else
  bool left;        // b is m x n; else n x m
  bool transposed;  // element (i, j) of the system is a[j][i]
  bool upper;       // of the system
  bool unit;
};

/// A double times the reciprocal of another, which is a float, is the quotient but for the last bit, which
/// makes no difference to floats.
template <class T, class W>
inline constexpr bool kReciprocals = sizeof(T) < sizeof(W);

/// The triangle of the system, negated but for the diagonal; the rest stays as it is.
template <class T, class W>
void LoadTriangle(const Solve& s, const T* a, int64_t begin, int64_t end, W* out) {
  for (int64_t i = begin; i < end; ++i) {
    W* to = out + i * s.rows;
    const int64_t first = s.upper ? i + 1 : 0, last = s.upper ? s.m : i;
    if (s.transposed)
      for (int64_t j = first; j < last; ++j) to[j] = -static_cast<W>(a[j * s.m + i]);
    else
      for (int64_t j = first; j < last; ++j) to[j] = -static_cast<W>(a[i * s.m + j]);
    to[i] = s.unit ? W(1) : static_cast<W>(a[i * s.m + i]);
    if constexpr (kReciprocals<T, W>) to[i] = 1 / to[i];
  }
}

/// What LoadTriangle leaves as it is in a system with more rows: -0, which no sum is changed by.
template <class W>
void PadTriangle(const Solve& s, W* out) {
  std::fill_n(out, s.rows * s.rows, W(-0.0));
  for (int64_t i = s.m; i < s.rows; ++i) out[i * s.rows + i] = 1;
}

/// Right-hand sides [begin, begin + count) as columns of rows of `width` elements, zeros after them.
template <class T, class W>
void LoadColumns(const Solve& s, const T* b, int64_t begin, int64_t count, int64_t width, W* x) {
  for (int64_t i = 0; i < s.m; ++i) {
    W* to = x + i * width;
    if (s.left)
      for (int64_t c = 0; c < count; ++c) to[c] = static_cast<W>(b[i * s.n + begin + c]);
    else
      for (int64_t c = 0; c < count; ++c) to[c] = static_cast<W>(b[(begin + c) * s.m + i]);
    for (int64_t c = count; c < width; ++c) to[c] = W(0);
  }
  std::fill(x + s.m * width, x + s.rows * width, W(0));
}
template <class T, class W>
void StoreColumns(const Solve& s, const W* x, int64_t begin, int64_t count, int64_t width, T* out) {
  if (s.left) {
    for (int64_t i = 0; i < s.m; ++i)
      for (int64_t c = 0; c < count; ++c) out[i * s.n + begin + c] = static_cast<T>(x[i * width + c]);
    return;
  }
  for (int64_t c = 0; c < count; ++c)
    for (int64_t i = 0; i < s.m; ++i) out[(begin + c) * s.m + i] = static_cast<T>(x[i * width + c]);
}

/// x[begin, end) += l[begin, end)[from, to) * x[from, to), l being negated.
template <class T>
void Eliminate(const gemm::Tiles<T>& tiles, const T* l, int64_t m, T* x, int64_t width, int64_t begin,
               int64_t end, int64_t from, int64_t to) {
  if (from == to) return;
  const T* a[gemm::Tiles<T>::kMaxRows];
  T* c[gemm::Tiles<T>::kMaxRows];
  for (int64_t column = 0; column < width; column += tiles.columns)
    for (int64_t i = begin; i < end; i += tiles.rows) {
      const auto rows = static_cast<int>(std::min<int64_t>(tiles.rows, end - i));
      for (int r = 0; r < rows; ++r) {
        a[r] = l + (i + r) * m + from;
        c[r] = x + (i + r) * width + column;
      }
      const auto columns = static_cast<int>(std::min<int64_t>(tiles.columns, width - column));
      tiles.run[rows - 1](gemm::TileArgs<T>{.depth = to - from,
                                            .a = a,
                                            .a_step = 1,
                                            .b = x + from * width + column,
                                            .b_step = width,
                                            .c = c,
                                            .columns = columns,
                                            .padded = true,
                                            .accumulate = true});
    }
}

template <class W>
class Solver {
 public:
  Solver(const Solve& solve, gemm::Isa isa)
      : s_(solve),
        kernel_(structured::KernelsFor(isa).solve<W>()),
        eight_(structured::KernelsFor(isa).solve_eight),
        tiles_(gemm::KernelsFor(isa).tiles<W>()) {}

  static constexpr int64_t kStripVectors = 3;
  /// Columns per strip.
  [[nodiscard]] int64_t width() const {
    return std::min(kStripVectors, (s_.n + kLanes - 1) / kLanes) * kLanes;
  }
  [[nodiscard]] int64_t strips() const { return (s_.n + width() - 1) / width(); }

  /// Solves strip number `strip` of a matrix in `x`, which has m rows of width() elements.
  template <class T>
  void RunStrip(const W* l, const T* b, T* out, int64_t strip, W* x) const {
    const int64_t width = this->width(), begin = strip * width, count = std::min(width, s_.n - begin);
    LoadColumns(s_, b, begin, count, width, x);
    if constexpr (kReciprocals<T, W>)
      if (s_.rows == kRegisters) {
        eight_(l, x, static_cast<int>(width / kLanes), s_.upper);
        return StoreColumns(s_, x, begin, count, width, out);
      }
    const int64_t step = s_.m <= kSmall ? s_.m : kBlock;
    const auto vectors = static_cast<int>(width / kLanes);
    const Pivot pivot = s_.unit ? Pivot::One : kReciprocals<T, W> ? Pivot::Multiply : Pivot::Divide;
    for (int64_t done = 0; done < s_.m; done += step) {
      const int64_t rows = std::min(step, s_.m - done), first = s_.upper ? s_.m - done - rows : done;
      Eliminate(tiles_, l, s_.m, x, width, first, first + rows, s_.upper ? first + rows : 0,
                s_.upper ? s_.m : first);
      kernel_(l + first * s_.m + first, s_.m, x + first * width, rows, vectors, s_.upper, pivot);
    }
    StoreColumns(s_, x, begin, count, width, out);
  }

 private:
  static constexpr int64_t kLanes = 64 / sizeof(W);
  const Solve& s_;
  SolveKernel<W>* kernel_;
  void (*eight_)(const double* l, double* x, int vectors, bool upper);
  const gemm::Tiles<W>& tiles_;
};

/// Many small systems: each is solved by one thread.
template <class T>
void RunSmall(const Solve& s, gemm::Isa isa, const T* a, const T* b, T* out) {
  constexpr int64_t kWorthThread = 40000;  // products
  const Solver<double> solver(s, isa);
  const int64_t work = s.m * s.m * s.n / 4 + s.m * (s.m + s.n);
  ParallelFor(0, s.batch, std::max<int64_t>(1, kWorthThread / work), [&](int64_t begin, int64_t end) {
    const auto l = MakeBuffer<double>(static_cast<size_t>(s.rows * s.rows));
    const auto x = MakeBuffer<double>(static_cast<size_t>(s.rows * solver.width()));
    PadTriangle(s, l.get());
    for (int64_t k = begin; k < end && !Interrupted(); ++k) {
      LoadTriangle(s, a + k * s.m * s.m, 0, s.m, l.get());
      for (int64_t strip = 0; strip < solver.strips(); ++strip)
        solver.RunStrip(l.get(), b + k * s.m * s.n, out + k * s.m * s.n, strip, x.get());
    }
  });
}

/// Large systems: right-hand sides by threads.
template <class T>
void RunLarge(const Solve& s, gemm::Isa isa, const T* a, const T* b, T* out) {
  const Solver<T> solver(s, isa);
  constexpr int64_t kLoadedAtOnce = 1 << 15;  // elements
  const auto l = MakeBuffer<T>(static_cast<size_t>(s.m * s.m));
  for (int64_t k = 0; k < s.batch && !Interrupted(); ++k, a += s.m * s.m, b += s.m * s.n, out += s.m * s.n) {
    ParallelFor(0, s.m, std::max<int64_t>(1, kLoadedAtOnce / s.m),
                [&](int64_t begin, int64_t end) { LoadTriangle(s, a, begin, end, l.get()); });
    ParallelFor(0, solver.strips(), 1, [&](int64_t begin, int64_t end) {
      const auto x = MakeBuffer<T>(static_cast<size_t>(s.m * solver.width()));
      for (int64_t strip = begin; strip < end && !Interrupted(); ++strip)
        solver.RunStrip(l.get(), b, out, strip, x.get());
    });
  }
}

}  // namespace

Result<Plan> PlanSystem(const Instruction& inst, const TriangularSystem& system, gemm::Isa isa) {
  const ElementType type = system.type;
  if (system.op == TransposeA::Invalid) return Unsupported(inst, "no transpose_a");
  if (system.batch * system.m * system.n == 0) return Unsupported(inst, "empty arrays");
  std::optional<Plan> plan = PlanLaneSolve(system, isa);
  if (!plan && IsComplex(type)) return PlanComplexSystem(inst, system);
  if (plan) {
    plan->in_place = 1;
    return *std::move(plan);
  }
  if (type != ElementType::F32 && type != ElementType::F64)
    return Unsupported(inst, "element types of triangular solves");
  Solve s{};
  s.batch = system.batch;
  s.m = system.m;
  s.n = system.n;
  s.left = system.left;
  s.rows = type == ElementType::F32 && s.m <= kRegisters ? kRegisters : s.m;
  s.transposed = (system.op != TransposeA::NoTranspose) == s.left;
  s.upper = system.lower == s.transposed;
  s.unit = system.unit;
  return Plan{s.m <= kSmall ? "substitution in double precision" : "substitution in blocks",
              [s, isa, type](void* const* arrays) {
                const auto run = [&]<class T>(T) {
                  const auto *from = static_cast<const T*>(arrays[0]),
                             *rhs = static_cast<const T*>(arrays[1]);
                  if (s.m <= kSmall)
                    RunSmall(s, isa, from, rhs, static_cast<T*>(arrays[2]));
                  else
                    RunLarge(s, isa, from, rhs, static_cast<T*>(arrays[2]));
                };
                if (type == ElementType::F32)
                  run(float{});
                else
                  run(double{});
              },
              /*in_place=*/1};
}

Result<Plan> PlanTriangularSolve(const Instruction& inst, gemm::Isa isa) {
  const auto& attrs = inst.attr<TriangularSolveAttrs>();
  const Shape &a = inst.operand(0)->shape(), &b = inst.operand(1)->shape();
  const ElementType type = inst.shape().element_type();
  if (a.element_type() != type || b.element_type() != type)
    return Unsupported(inst, "element types of triangular solves");
  TriangularSystem system{.type = type,
                          .batch = 1,
                          .m = a.dims().back(),
                          .n = attrs.left_side ? b.dims().back() : b.dim(b.rank() - 2),
                          .left = attrs.left_side,
                          .lower = attrs.lower,
                          .unit = attrs.unit_diagonal,
                          .op = attrs.transpose_a,
                          .exact_units = true};
  for (const int64_t d : a.dims().drop_back(2)) system.batch *= d;
  return PlanSystem(inst, system, isa);
}

}  // namespace hlo::structured

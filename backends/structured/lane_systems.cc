// cholesky, triangular-solve (ops-structured §6.2, §6.3) and dot of many small matrices: a lane for each.
#include "backends/structured/lane_systems.h"

#include "backends/structured/kernels.h"
#include "backends/structured/lapack.h"
#include "backends/structured/triangular.h"
#include "ir/support/buffer.h"
#include "ir/support/interrupt.h"
#include "ir/support/parallel.h"

namespace hlo::structured {
namespace {

/// Matrices of this size have no better way, however few there are.
constexpr int64_t kAlways = 8;
/// Larger ones do not fit a cache side by side.
constexpr int64_t kLargest = 32;
/// Numbers of right-hand sides that are solved at a time.
constexpr int64_t kStrip = 1024;
/// The narrowest, in columns.
constexpr int64_t kLeastStrip = 16;
/// Vector operations that are worth waking a thread for.
constexpr int64_t kPiece = 20000;
/// Lanes of matrices are worth it for so many bytes of one element of each.
constexpr int64_t kLeastLaneBytes = 32;

/// Numbers of type T in lanes of their own type.
template <class T>
struct Lanes {
  using Stored = T;
  using Part = lapack::Real<T>;
  static constexpr bool kComplex = lapack::kIsComplex<T>;
  static constexpr int64_t kCount = 64 / static_cast<int64_t>(sizeof(Part));
  static Buffer<Part> Make(int64_t numbers) {
    return MakeBuffer<Part>(static_cast<size_t>(numbers * kCount * (kComplex ? 2 : 1)));
  }
  static const LaneSystemKernels<Part>& Kernels(gemm::Isa isa) {
    const KernelSet& set = KernelsFor(isa);
    if constexpr (std::is_same_v<T, float>) return set.lanes_f32;
    if constexpr (std::is_same_v<T, double>) return set.lanes_f64;
    if constexpr (std::is_same_v<T, std::complex<float>>) return set.lanes_c64;
    if constexpr (std::is_same_v<T, std::complex<double>>) return set.lanes_c128;
  }
};
/// F32 in lanes of F64: results are rounded once.
struct WideLanes : Lanes<double> {
  using Stored = float;
  static const LaneSystemKernels<double>& Kernels(gemm::Isa isa) { return KernelsFor(isa).lanes_f32_in_f64; }
};
template <class T>
using WorkingLanes = std::conditional_t<std::is_same_v<T, float>, WideLanes, Lanes<T>>;

int64_t MatrixCount(const Shape& shape) {
  int64_t count = 1;
  for (const int64_t d : shape.dims().drop_back(2)) count *= d;
  return count;
}

/// Calls body(first, lanes) for groups of consecutive matrices.
template <class L, class F>
void ForEachGroup(int64_t batch, int64_t work, F make_body) {
  const int64_t groups = (batch + L::kCount - 1) / L::kCount;
  ParallelFor(0, groups, std::max<int64_t>(1, kPiece / work), [&](int64_t begin, int64_t end) {
    const auto body = make_body();
    for (int64_t g = begin; g < end && !Interrupted(); ++g) {
      const int64_t first = g * L::kCount;
      body(first, static_cast<int>(std::min(L::kCount, batch - first)));
    }
  });
}

template <class T>
void RunCholesky(int64_t batch, int64_t n, bool lower, gemm::Isa isa, void* const* arrays) {
  using L = WorkingLanes<T>;
  const int64_t size = n * n;
  const LaneSystemKernels<typename L::Part>& kernels = L::Kernels(isa);
  const T* from = static_cast<const T*>(arrays[0]);
  T* to = static_cast<T*>(arrays[1]);
  ForEachGroup<L>(batch, size * (n / 6 + 8), [&] {
    return [&, a = L::Make(size)](int64_t first, int lanes) {
      kernels.load(from + first * size, size, size, lanes, a.get());
      kernels.factor(n, lower, a.get());
      kernels.store(a.get(), to + first * size, size, size, lanes);
    };
  });
}

struct Solve {
  LaneSystems systems;
  int64_t batch;
  bool by_inverse;  // in the order of the evaluator, for unit-triangular ones in double precision
};

/// Where the rows of `width` right-hand sides stand.
LanePlaces RightHandSides(const LaneSystems& s, int64_t width, bool reversed) {
  const int64_t row = s.left ? width : 1, column = s.left ? 1 : s.m;
  return reversed ? LanePlaces{(s.m - 1) * row, -row, column} : LanePlaces{0, row, column};
}

template <class T>
class Solver {
  using L = WorkingLanes<T>;
  using Part = typename L::Part;

 public:
  Solver(const Solve& solve, gemm::Isa isa) : solve_(solve), kernels_(L::Kernels(isa)) {
    const int64_t m = solve.systems.m;
    width_ = std::min(solve.systems.n, std::max(kLeastStrip, kStrip / m));
    matrix_ = L::Make(m * m);
    x_ = L::Make(m * width_);
    if (solve.by_inverse) inverse_ = L::Make(m * m), y_ = L::Make(m * width_);
  }

  void Run(void* const* arrays, int64_t first, int lanes) const {
    LaneSystems s = solve_.systems;
    const int64_t n = s.n, size = s.m * s.m, sides = s.m * n;
    kernels_.load(static_cast<const T*>(arrays[0]) + first * size, size, size, lanes, matrix_.get());
    kernels_.prepare(s, matrix_.get());
    if (solve_.by_inverse) kernels_.invert(s, matrix_.get(), inverse_.get());
    for (int64_t c = 0; c < n; c += width_) {
      s.n = std::min(width_, n - c);
      s.x = RightHandSides(s, s.n, s.l.row < 0);
      const int64_t offset = first * sides + c * (s.left ? 1 : s.m);
      const T* from = static_cast<const T*>(arrays[1]) + offset;
      ForEachRun(s, n, [&](int64_t at, int64_t in_array, int64_t count) {
        kernels_.load(from + in_array, sides, count, lanes, x_.get() + at * kStep);
      });
      if (solve_.by_inverse)
        kernels_.multiply(s, inverse_.get(), x_.get(), y_.get());
      else
        kernels_.solve(s, matrix_.get(), x_.get());
      const Part* solved = (solve_.by_inverse ? y_ : x_).get();
      T* to = static_cast<T*>(arrays[2]) + offset;
      ForEachRun(s, n, [&](int64_t at, int64_t in_array, int64_t count) {
        kernels_.store(solved + at * kStep, to + in_array, sides, count, lanes);
      });
    }
  }

 private:
  static constexpr int64_t kStep = L::kCount * (L::kComplex ? 2 : 1);

  /// The numbers of a strip that lie side by side in arrays with n columns: (place in lanes, in the array,
  /// count).
  template <class F>
  static void ForEachRun(const LaneSystems& s, int64_t n, F f) {
    if (!s.left || s.n == n) return f(0, 0, s.m * s.n);
    for (int64_t i = 0; i < s.m; ++i) f(i * s.n, i * n, s.n);
  }

  const Solve& solve_;
  const LaneSystemKernels<Part>& kernels_;
  int64_t width_;
  Buffer<Part> matrix_, x_, inverse_, y_;
};

template <class T>
void RunSolve(const Solve& solve, gemm::Isa isa, void* const* arrays) {
  const int64_t m = solve.systems.m, n = solve.systems.n;
  ForEachGroup<WorkingLanes<T>>(solve.batch, m * m * n / 2 + 8 * m * (m + n), [&] {
    return
        [&, solver = Solver<T>(solve, isa)](int64_t first, int lanes) { solver.Run(arrays, first, lanes); };
  });
}

/// Whether there are enough matrices of this size to fill lanes.
bool FillLanes(int64_t batch, int64_t m, ElementType type) {
  return m <= kLargest && batch >= kLeastLaneBytes / Info(RealPartType(type)).host_bytes();
}

template <class Run>
Plan MakePlan(char prefix, Run run) {
  return {"a lane for each matrix", [prefix, run](void* const* arrays) {
            VisitLapackType(prefix, [&]<class T>() { run(T{}, arrays); });
          }};
}

struct Product {
  LaneProduct matrices;
  int64_t batch;
};

template <class T>
void RunProduct(const Product& product, gemm::Isa isa, void* const* arrays) {
  using L = Lanes<T>;
  const LaneProduct& p = product.matrices;
  const LaneSystemKernels<T>& kernels = L::Kernels(isa);
  const T *lhs = static_cast<const T*>(arrays[0]), *rhs = static_cast<const T*>(arrays[1]);
  T* to = static_cast<T*>(arrays[2]);
  const int64_t left = p.m * p.k, right = p.k * p.n, size = p.m * p.n;
  ForEachGroup<L>(product.batch, left * p.n * 3 / 2 + 4 * (left + right + size), [&] {
    return [&, a = L::Make(left), b = L::Make(right), out = L::Make(size)](int64_t first, int lanes) {
      kernels.load(lhs + first * left, left, left, lanes, a.get());
      if (lhs != rhs) kernels.load(rhs + first * right, right, right, lanes, b.get());
      kernels.product(p, a.get(), lhs == rhs ? a.get() : b.get(), out.get());
      kernels.store(out.get(), to + first * size, size, size, lanes);
    };
  });
}

/// The matrices of one operand of a dot: batch dimensions first, then at most one free and one contracting.
struct Factor {
  int64_t batch = 1, free = 1, depth = 1;
  bool contracts_last = true;
};
std::optional<Factor> FactorOf(const Shape& shape, llvm::ArrayRef<int64_t> batch_dims,
                               llvm::ArrayRef<int64_t> contracting) {
  const auto outer = static_cast<int64_t>(batch_dims.size());
  const int64_t inner = shape.rank() - outer;
  if (contracting.size() != 1 || inner < 1 || inner > 2) return std::nullopt;
  Factor factor;
  for (int64_t d = 0; d < outer; ++d) {
    if (batch_dims[static_cast<size_t>(d)] != d) return std::nullopt;
    factor.batch *= shape.dim(d);
  }
  factor.depth = shape.dim(contracting[0]);
  factor.contracts_last = contracting[0] == shape.rank() - 1;
  if (inner == 2) factor.free = shape.dim(factor.contracts_last ? outer : outer + 1);
  return factor;
}

/// Products whose right factors would have to be transposed one by one, which takes longer than they do.
bool IsTurned(const LaneProduct& p) {
  constexpr int64_t kMost = 16;
  return p.b.row == 1 && p.k > 1 && std::max({p.m, p.n, p.k}) <= kMost;
}

}  // namespace

std::optional<Plan> PlanLaneCholesky(const Instruction& inst, gemm::Isa isa) {
  const Shape& shape = inst.shape();
  const int64_t batch = MatrixCount(shape), n = shape.dims().back();
  const char prefix = LapackPrefix(shape.element_type());
  if (prefix == 0 || batch * n == 0 || (n > kAlways && !FillLanes(batch, n, shape.element_type())))
    return std::nullopt;
  const bool lower = inst.attr<CholeskyAttrs>().lower;
  Plan plan = MakePlan(
      prefix, [=]<class T>(T, void* const* arrays) { RunCholesky<T>(batch, n, lower, isa, arrays); });
  plan.in_place = 0;
  return plan;
}

std::optional<Plan> PlanLaneSolve(const TriangularSystem& system, gemm::Isa isa) {
  const ElementType type = system.type;
  const char prefix = LapackPrefix(type);
  Solve solve{};
  solve.batch = system.batch;
  LaneSystems& s = solve.systems;
  s.m = system.m;
  s.n = system.n;
  s.left = system.left;
  s.lower = system.lower;
  s.unit = system.unit;
  s.transposed = system.op != TransposeA::NoTranspose;
  s.conjugate = system.op == TransposeA::Adjoint;
  if (prefix == 0 || solve.batch * s.m * s.n == 0) return std::nullopt;
  solve.by_inverse =
      system.exact_units && s.unit && s.m <= kLargest && RealPartType(type) == ElementType::F64;
  // Many right-hand sides of few real systems fill lanes of their own.
  const bool small = s.m <= kAlways && (IsComplex(type) || s.n < kAlways);
  if (!solve.by_inverse && !small && !FillLanes(solve.batch, s.m, type)) return std::nullopt;
  s.reciprocals = type == ElementType::F32;  // makes no difference but in the last bit of a double
  const bool flipped = s.transposed == s.left, reversed = s.lower == flipped;
  const int64_t row = flipped ? 1 : s.m, column = flipped ? s.m : 1, sign = reversed ? -1 : 1;
  s.l = {reversed ? s.m * s.m - 1 : 0, sign * row, sign * column};
  return MakePlan(prefix, [=]<class T>(T, void* const* arrays) { RunSolve<T>(solve, isa, arrays); });
}

Result<Plan> PlanLaneProduct(const Instruction& inst, gemm::Isa isa) {
  const auto& attrs = inst.attr<DotAttrs>();
  const ElementType type = inst.shape().element_type();
  if (type != ElementType::F32 && type != ElementType::F64)
    return Unsupported(inst, "element types in lanes");
  if (inst.operand_count() != 2 || inst.operand(0)->shape().element_type() != type ||
      inst.operand(1)->shape().element_type() != type)
    return Unsupported(inst, "operands of other types");
  const auto lhs = FactorOf(inst.operand(0)->shape(), attrs.lhs_batch_dims, attrs.lhs_contracting_dims);
  const auto rhs = FactorOf(inst.operand(1)->shape(), attrs.rhs_batch_dims, attrs.rhs_contracting_dims);
  if (!lhs || !rhs) return Unsupported(inst, "dimensions in another order");
  Product product{};
  LaneProduct& p = product.matrices;
  p.m = lhs->free;
  p.n = rhs->free;
  p.k = lhs->depth;
  product.batch = lhs->batch;
  p.a = lhs->contracts_last ? LanePlaces{0, p.k, 1} : LanePlaces{0, 1, p.m};
  p.b = rhs->contracts_last ? LanePlaces{0, 1, p.k} : LanePlaces{0, p.n, 1};
  if (p.m * p.n * p.k * product.batch == 0) return Unsupported(inst, "empty arrays");
  if (!FillLanes(product.batch, p.k, type) || !IsTurned(p))
    return Unsupported(inst, "matrices that fill vectors");
  return MakePlan(LapackPrefix(type), [=]<class T>(T, void* const* arrays) {
    if constexpr (!lapack::kIsComplex<T>) RunProduct<T>(product, isa, arrays);
  });
}

}  // namespace hlo::structured

// Factorisations and solves through LAPACK (forms of errata-ops B41).
#include "ir/eval/lapack_call.h"

namespace hlo::lapack {
namespace {

using Operands = llvm::MutableArrayRef<Literal>;
constexpr int64_t kMatrix = 2, kVector = 1;

/// a -> (factor in one triangle, info)
template <class T>
Result<Literal> Potrf(EvalContext&, const Instruction& inst, Operands operands) {
  Call call(inst, operands);
  HLO_CHECK_OK(call.Expect(1, 2, kMatrix));
  auto* const potrf = call.Load<Routine::Potrf, T>();
  Alias(call, 0, 0);
  const char uplo = call.Letter("uplo", 'L');
  const int n = call.in(0).Dim(0), ld = std::max(1, n);
  call.ForEachEntry<NoWork>(kMatrix, [&](int64_t b, NoWork&) {
    potrf(&uplo, &n, call.out(0).At<T>(b, kMatrix), &ld, call.out(1).At<int>(b, 0));
  });
  return call.Finish();
}

/// a -> (lu, pivots (1-based), info)
template <class T>
Result<Literal> Getrf(EvalContext&, const Instruction& inst, Operands operands) {
  Call call(inst, operands);
  HLO_CHECK_OK(call.Expect(1, 3, kMatrix));
  auto* const getrf = call.Load<Routine::Getrf, T>();
  Alias(call, 0, 0);
  const int m = call.in(0).Dim(1), n = call.in(0).Dim(0), ld = std::max(1, m);
  call.ForEachEntry<NoWork>(kMatrix, [&](int64_t b, NoWork&) {
    getrf(&m, &n, call.out(0).At<T>(b, kMatrix), &ld, call.out(1).At<int>(b, kVector),
          call.out(2).At<int>(b, 0));
  });
  return call.Finish();
}

/// a -> (packed, tau)
template <class T>
Result<Literal> Geqrf(EvalContext&, const Instruction& inst, Operands operands) {
  Call call(inst, operands);
  HLO_CHECK_OK(call.Expect(1, 2, kMatrix));
  auto* const geqrf = call.Load<Routine::Geqrf, T>();
  Alias(call, 0, 0);
  const int m = call.in(0).Dim(1), n = call.in(0).Dim(0), ld = std::max(1, m);
  call.ForEachEntry<Work<T>>(kMatrix, [&](int64_t b, Work<T>& work) {
    int info = 0;
    work.Run([&] {
      geqrf(&m, &n, call.out(0).At<T>(b, kMatrix), &ld, call.out(1).At<T>(b, kVector), work.get(), &work.size,
            &info);
    });
  });
  return call.Finish();
}

/// (a, jpvt) -> (packed, jpvt, tau)
template <class T>
Result<Literal> Geqp3(EvalContext&, const Instruction& inst, Operands operands) {
  Call call(inst, operands);
  HLO_CHECK_OK(call.Expect(2, 3, kMatrix));
  auto* const geqp3 = call.Load<Routine::Geqp3, T>();
  Alias(call, 0, 0);
  Alias(call, 1, 1);
  const int m = call.in(0).Dim(1), n = call.in(0).Dim(0), ld = std::max(1, m);
  call.ForEachEntry<Work<T>>(kMatrix, [&](int64_t b, Work<T>& work) {
    std::vector<Real<T>> real_work(static_cast<size_t>(2 * n + 1));
    int info = 0;
    work.Run([&] {
      T* a = call.out(0).At<T>(b, kMatrix);
      int* pivots = call.out(1).At<int>(b, kVector);
      T* tau = call.out(2).At<T>(b, kVector);
      if constexpr (kIsComplex<T>)
        geqp3(&m, &n, a, &ld, pivots, tau, work.get(), &work.size, real_work.data(), &info);
      else
        geqp3(&m, &n, a, &ld, pivots, tau, work.get(), &work.size, &info);
    });
  });
  return call.Finish();
}

/// (a, tau) -> Q
template <class T>
Result<Literal> Orgqr(EvalContext&, const Instruction& inst, Operands operands) {
  Call call(inst, operands);
  HLO_CHECK_OK(call.Expect(2, 1, kMatrix));
  auto* const orgqr = call.Load<Routine::Orgqr, T>();
  Alias(call, 0, 0);
  const int m = call.in(0).Dim(1), n = call.in(0).Dim(0), k = call.in(1).Dim(0), ld = std::max(1, m);
  call.ForEachEntry<Work<T>>(kMatrix, [&](int64_t b, Work<T>& work) {
    int info = 0;
    work.Run([&] {
      orgqr(&m, &n, &k, call.out(0).At<T>(b, kMatrix), &ld, call.in(1).At<T>(b, kVector), work.get(),
            &work.size, &info);
    });
  });
  return call.Finish();
}

/// (reflectors, tau, c) -> op(Q) c or c op(Q)
template <class T>
Result<Literal> Ormqr(EvalContext&, const Instruction& inst, Operands operands) {
  Call call(inst, operands);
  HLO_CHECK_OK(call.Expect(3, 1, kMatrix));
  auto* const ormqr = call.Load<Routine::Ormqr, T>();
  Alias(call, 2, 0);
  const char side = call.Flag("left") ? 'L' : 'R';
  const char trans = !call.Flag("transpose") ? 'N' : kIsComplex<T> ? 'C' : 'T';
  const int m = call.in(2).Dim(1), n = call.in(2).Dim(0), k = call.in(1).Dim(0);
  const int lda = std::max(1, call.in(0).Dim(1)), ldc = std::max(1, m);
  call.ForEachEntry<Work<T>>(kMatrix, [&](int64_t b, Work<T>& work) {
    int info = 0;
    work.Run([&] {
      ormqr(&side, &trans, &m, &n, &k, call.in(0).At<T>(b, kMatrix), &lda, call.in(1).At<T>(b, kVector),
            call.out(0).At<T>(b, kMatrix), &ldc, work.get(), &work.size, &info);
    });
  });
  return call.Finish();
}

/// (a, b) -> x
template <class T>
Result<Literal> Trsm(EvalContext&, const Instruction& inst, Operands operands) {
  Call call(inst, operands);
  HLO_CHECK_OK(call.Expect(2, 1, kMatrix));
  auto* const trsm = call.Load<Routine::Trsm, T>();
  Alias(call, 1, 0);
  const char side = call.Letter("side", 'L'), uplo = call.Letter("uplo", 'L'),
             trans = call.Letter("trans_x", 'N'), diag = call.Letter("diag", 'N');
  const int m = call.in(1).Dim(1), n = call.in(1).Dim(0);
  const int lda = std::max(1, side == 'L' ? m : n), ldb = std::max(1, m);
  const T one(1);
  call.ForEachEntry<NoWork>(kMatrix, [&](int64_t b, NoWork&) {
    trsm(&side, &uplo, &trans, &diag, &m, &n, &one, call.in(0).At<T>(b, kMatrix), &lda,
         call.out(0).At<T>(b, kMatrix), &ldb);
  });
  return call.Finish();
}

/// (dl, d, du, b) -> (dl, d, du, x, info); dl starts with an unused element.
template <class T>
Result<Literal> Gtsv(EvalContext&, const Instruction& inst, Operands operands) {
  Call call(inst, operands);
  HLO_CHECK_OK(call.Expect(4, 5, kVector));
  auto* const gtsv = call.Load<Routine::Gtsv, T>();
  for (size_t i = 0; i < 4; ++i) Alias(call, i, i);
  const int n = call.in(0).Dim(0), right_hand_sides = call.in(3).Dim(0), ld = std::max(1, n);
  call.ForEachEntry<NoWork>(kVector, [&](int64_t b, NoWork&) {
    gtsv(&n, &right_hand_sides, call.out(0).At<T>(b, kVector) + 1, call.out(1).At<T>(b, kVector),
         call.out(2).At<T>(b, kVector), call.out(3).At<T>(b, kMatrix), &ld, call.out(4).At<int>(b, 0));
  });
  return call.Finish();
}

/// (dl, d, du, b) -> x by elimination without pivoting; a zero pivot is replaced by a tiny value.
template <class T>
void SolvePerturbed(int n, int columns, const T* dl, std::vector<T> d, const T* du, T* x) {
  const auto tiny = std::numeric_limits<Real<T>>::epsilon();
  for (int i = 0; i < n; ++i) {
    const auto at = static_cast<size_t>(i);
    if (i > 0) {
      const T factor = dl[i] / d[at - 1];
      d[at] -= factor * du[i - 1];
      for (int c = 0; c < columns; ++c) x[c * n + i] -= factor * x[c * n + i - 1];
    }
    if (d[at] == T(0)) d[at] = T(tiny);
  }
  for (int c = 0; c < columns; ++c)
    for (int i = n; i-- > 0;) {
      if (i + 1 < n) x[c * n + i] -= du[i] * x[c * n + i + 1];
      x[c * n + i] /= d[static_cast<size_t>(i)];
    }
}

template <class T>
Result<Literal> PerturbedAs(const Instruction& inst, Operands operands) {
  Call call(inst, operands);
  HLO_CHECK_OK(call.Expect(4, 1, kVector));
  Alias(call, 3, 0);
  const int n = call.in(0).Dim(0), columns = call.in(3).Dim(0);
  for (int64_t b = 0; b < call.Batch(kVector); ++b) {
    const T* d = call.in(1).At<T>(b, kVector);
    SolvePerturbed<T>(n, columns, call.in(0).At<T>(b, kVector), {d, d + n}, call.in(2).At<T>(b, kVector),
                      call.out(0).At<T>(b, kMatrix));
  }
  return call.Finish();
}

Result<Literal> Perturbed(EvalContext&, const Instruction& inst, Operands operands) {
  const ElementType type = operands.empty() ? ElementType::Pred : operands[0].shape().element_type();
  if (type == ElementType::F32) return PerturbedAs<float>(inst, operands);
  if (type == ElementType::F64) return PerturbedAs<double>(inst, operands);
  if (type == ElementType::C64) return PerturbedAs<std::complex<float>>(inst, operands);
  if (type == ElementType::C128) return PerturbedAs<std::complex<double>>(inst, operands);
  return Error("runtime-custom-call", inst.loc(), "tridiagonal solve of {0}; expected f32, f64, c64 or c128",
               ToString(type));
}

constexpr CustomCallTarget kTargets[] = {
    HLO_LAPACK_ROWS("potrf", "potrf", Potrf),       HLO_LAPACK_ROWS("getrf", "getrf", Getrf),
    HLO_LAPACK_ROWS("geqrf", "geqrf", Geqrf),       HLO_LAPACK_ROWS("geqp3", "geqp3", Geqp3),
    HLO_LAPACK_ROWS("trsm", "trsm", Trsm),          HLO_LAPACK_ROWS("gtsv", "gtsv", Gtsv),
    HLO_LAPACK_ROWS("orgqr", "ungqr", Orgqr),       HLO_LAPACK_ROWS("ormqr", "unmqr", Ormqr),
    {"tridiagonal_solve_perturbed_ffi", Perturbed},
};

}  // namespace

llvm::ArrayRef<CustomCallTarget> FactorTargets() { return kTargets; }

}  // namespace hlo::lapack

// Factorisations and solves through LAPACK (forms of errata-ops B41).
#include "ir/eval/lapack_call.h"

namespace hlo::lapack {
namespace {

using Operands = llvm::MutableArrayRef<Literal>;

}  // namespace

/// a -> (factor in one triangle, info)
template <class T>
Result<Literal> Potrf(EvalContext&, const Instruction& inst, Operands operands) {
  Call call(inst, operands);
  auto* const potrf = call.Load<Routine::Potrf, T>();
  Alias(call, 0, 0);
  const char uplo = call.Letter("uplo");
  const int n = call.in(0).Dim(0), ld = std::max(1, n);
  call.ForEachEntry<NoWork>(
      [&](int64_t b, NoWork&) { potrf(&uplo, &n, call.out(0).At<T>(b), &ld, call.out(1).At<int>(b)); });
  return call.Finish();
}

/// a -> (lu, pivots (1-based), info)
template <class T>
Result<Literal> Getrf(EvalContext&, const Instruction& inst, Operands operands) {
  Call call(inst, operands);
  auto* const getrf = call.Load<Routine::Getrf, T>();
  Alias(call, 0, 0);
  const int m = call.in(0).Dim(1), n = call.in(0).Dim(0), ld = std::max(1, m);
  call.ForEachEntry<NoWork>([&](int64_t b, NoWork&) {
    getrf(&m, &n, call.out(0).At<T>(b), &ld, call.out(1).At<int>(b), call.out(2).At<int>(b));
  });
  return call.Finish();
}

/// a -> (packed, tau)
template <class T>
Result<Literal> Geqrf(EvalContext&, const Instruction& inst, Operands operands) {
  Call call(inst, operands);
  auto* const geqrf = call.Load<Routine::Geqrf, T>();
  Alias(call, 0, 0);
  const int m = call.in(0).Dim(1), n = call.in(0).Dim(0), ld = std::max(1, m);
  call.ForEachEntry<Work<T>>([&](int64_t b, Work<T>& work) {
    int info = 0;
    work.Run([&] {
      geqrf(&m, &n, call.out(0).At<T>(b), &ld, call.out(1).At<T>(b), work.get(), &work.size, &info);
    });
  });
  return call.Finish();
}

/// (a, jpvt) -> (packed, jpvt, tau)
template <class T>
Result<Literal> Geqp3(EvalContext&, const Instruction& inst, Operands operands) {
  Call call(inst, operands);
  auto* const geqp3 = call.Load<Routine::Geqp3, T>();
  Alias(call, 0, 0);
  Alias(call, 1, 1);
  const int m = call.in(0).Dim(1), n = call.in(0).Dim(0), ld = std::max(1, m);
  call.ForEachEntry<Work<T>>([&](int64_t b, Work<T>& work) {
    const GuardedArray<Real<T>> real_work(call.target(), 2 * static_cast<size_t>(n) + 1);
    int info = 0;
    work.Run([&] {
      T* a = call.out(0).At<T>(b);
      int* pivots = call.out(1).At<int>(b);
      T* tau = call.out(2).At<T>(b);
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
  auto* const orgqr = call.Load<Routine::Orgqr, T>();
  Alias(call, 0, 0);
  const int m = call.in(0).Dim(1), n = call.in(0).Dim(0), k = call.in(1).Dim(0), ld = std::max(1, m);
  call.ForEachEntry<Work<T>>([&](int64_t b, Work<T>& work) {
    int info = 0;
    work.Run([&] {
      orgqr(&m, &n, &k, call.out(0).At<T>(b), &ld, call.in(1).At<T>(b), work.get(), &work.size, &info);
    });
  });
  return call.Finish();
}

/// (reflectors, tau, c) -> op(Q) c or c op(Q)
template <class T>
Result<Literal> Ormqr(EvalContext&, const Instruction& inst, Operands operands) {
  Call call(inst, operands);
  auto* const ormqr = call.Load<Routine::Ormqr, T>();
  Alias(call, 2, 0);
  const char side = call.Flag("left") ? 'L' : 'R';
  const char trans = !call.Flag("transpose") ? 'N' : kIsComplex<T> ? 'C' : 'T';
  const int m = call.in(2).Dim(1), n = call.in(2).Dim(0), k = call.in(1).Dim(0);
  const int lda = std::max(1, call.in(0).Dim(1)), ldc = std::max(1, m);
  call.ForEachEntry<Work<T>>([&](int64_t b, Work<T>& work) {
    int info = 0;
    work.Run([&] {
      ormqr(&side, &trans, &m, &n, &k, call.in(0).At<T>(b), &lda, call.in(1).At<T>(b), call.out(0).At<T>(b),
            &ldc, work.get(), &work.size, &info);
    });
  });
  return call.Finish();
}

/// (a, b) -> x
template <class T>
Result<Literal> Trsm(EvalContext&, const Instruction& inst, Operands operands) {
  Call call(inst, operands);
  auto* const trsm = call.Load<Routine::Trsm, T>();
  Alias(call, 1, 0);
  const char side = call.Letter("side"), uplo = call.Letter("uplo"), trans = call.Letter("trans_x"),
             diag = call.Letter("diag");
  const int m = call.in(1).Dim(1), n = call.in(1).Dim(0);
  const int lda = std::max(1, side == 'L' ? m : n), ldb = std::max(1, m);
  const T one(1);
  call.ForEachEntry<NoWork>([&](int64_t b, NoWork&) {
    trsm(&side, &uplo, &trans, &diag, &m, &n, &one, call.in(0).At<T>(b), &lda, call.out(0).At<T>(b), &ldb);
  });
  return call.Finish();
}

/// (dl, d, du, b) -> (dl, d, du, x, info); dl starts with an unused element.
template <class T>
Result<Literal> Gtsv(EvalContext&, const Instruction& inst, Operands operands) {
  Call call(inst, operands);
  auto* const gtsv = call.Load<Routine::Gtsv, T>();
  for (size_t i = 0; i < 4; ++i) Alias(call, i, i);
  const int n = call.in(0).Dim(0), right_hand_sides = call.in(3).Dim(0), ld = std::max(1, n);
  call.ForEachEntry<NoWork>([&](int64_t b, NoWork&) {
    gtsv(&n, &right_hand_sides, call.out(0).At<T>(b) + 1, call.out(1).At<T>(b), call.out(2).At<T>(b),
         call.out(3).At<T>(b), &ld, call.out(4).At<int>(b));
  });
  return call.Finish();
}

namespace {

/// (dl, d, du, b) -> x by elimination without pivoting; a zero pivot is replaced by a tiny value.
template <class T>
void SolvePerturbed(int64_t n, int64_t columns, const T* dl, std::vector<T> d, const T* du, T* x) {
  const auto tiny = std::numeric_limits<Real<T>>::epsilon();
  for (int64_t i = 0; i < n; ++i) {
    const auto at = static_cast<size_t>(i);
    if (i > 0) {
      const T factor = dl[i] / d[at - 1];
      d[at] -= factor * du[i - 1];
      for (int64_t c = 0; c < columns; ++c) x[c * n + i] -= factor * x[c * n + i - 1];
    }
    if (d[at] == T(0)) d[at] = T(tiny);
  }
  for (int64_t c = 0; c < columns; ++c)
    for (int64_t i = n; i-- > 0;) {
      if (i + 1 < n) x[c * n + i] -= du[i] * x[c * n + i + 1];
      x[c * n + i] /= d[static_cast<size_t>(i)];
    }
}

template <class T>
Result<Literal> PerturbedAs(const Instruction& inst, Operands operands) {
  Call call(inst, operands);
  Alias(call, 3, 0);
  const int n = call.in(0).Dim(0), columns = call.in(3).Dim(0);
  for (int64_t b = 0; b < call.batch(); ++b) {
    const T* d = call.in(1).At<T>(b);
    SolvePerturbed<T>(n, columns, call.in(0).At<T>(b), {d, d + n}, call.in(2).At<T>(b), call.out(0).At<T>(b));
  }
  return call.Finish();
}

}  // namespace

HLO_LAPACK_INSTANCES(Potrf)
HLO_LAPACK_INSTANCES(Getrf)
HLO_LAPACK_INSTANCES(Geqrf)
HLO_LAPACK_INSTANCES(Geqp3)
HLO_LAPACK_INSTANCES(Trsm)
HLO_LAPACK_INSTANCES(Gtsv)
HLO_LAPACK_INSTANCES(Orgqr)
HLO_LAPACK_INSTANCES(Ormqr)

}  // namespace hlo::lapack

namespace hlo {

Result<Literal> EvalPerturbedTarget(EvalContext&, const Instruction& inst,
                                    llvm::MutableArrayRef<Literal> operands) {
  switch (operands[0].shape().element_type()) {
    case ElementType::F32: return lapack::PerturbedAs<float>(inst, operands);
    case ElementType::F64: return lapack::PerturbedAs<double>(inst, operands);
    case ElementType::C64: return lapack::PerturbedAs<std::complex<float>>(inst, operands);
    default: return lapack::PerturbedAs<std::complex<double>>(inst, operands);
  }
}

}  // namespace hlo

// Eigenvalue, Schur and singular value decompositions through LAPACK (forms of errata-ops B41).
#include "ir/eval/lapack_call.h"

namespace hlo::lapack {
namespace {

using Operands = llvm::MutableArrayRef<Literal>;
constexpr int64_t kMatrix = 2, kVector = 1;

}  // namespace

/// a -> (overwritten a, s, U, V^H, info) by divide and conquer
template <class T>
Result<Literal> Gesdd(EvalContext&, const Instruction& inst, Operands operands) {
  Call call(inst, operands);
  auto* const gesdd = call.Load<Routine::Gesdd, T>();
  Alias(call, 0, 0);
  const char mode = call.Letter("mode");
  const int m = call.in(0).Dim(1), n = call.in(0).Dim(0), lda = std::max(1, m);
  const int ldu = std::max(1, call.out(2).Dim(1)), ldvt = std::max(1, call.out(3).Dim(1));
  const int small = std::min(m, n), large = std::max(m, n);
  const int64_t rwork = mode == 'N' ? 7 * int64_t{small}
                                    : int64_t{small} * std::max(5 * int64_t{small} + 7,
                                                                2 * int64_t{large} + 2 * int64_t{small} + 1);
  call.ForEachEntry<Work<T>>(kMatrix, [&](int64_t b, Work<T>& work) {
    std::vector<int> int_work(static_cast<size_t>(8 * std::max(1, small)));
    std::vector<Real<T>> real_work(static_cast<size_t>(kIsComplex<T> ? std::max<int64_t>(1, rwork) : 1));
    work.Run([&] {
      T* a = call.out(0).At<T>(b, kMatrix);
      Real<T>* s = call.out(1).At<Real<T>>(b, kVector);
      T* u = call.out(2).At<T>(b, kMatrix);
      T* vt = call.out(3).At<T>(b, kMatrix);
      int* info = call.out(4).At<int>(b, 0);
      if constexpr (kIsComplex<T>)
        gesdd(&mode, &m, &n, a, &lda, s, u, &ldu, vt, &ldvt, work.get(), &work.size, real_work.data(),
              int_work.data(), info);
      else
        gesdd(&mode, &m, &n, a, &lda, s, u, &ldu, vt, &ldvt, work.get(), &work.size, int_work.data(), info);
    });
  });
  return call.Finish();
}

/// The same by QR iteration.
template <class T>
Result<Literal> Gesvd(EvalContext&, const Instruction& inst, Operands operands) {
  Call call(inst, operands);
  auto* const gesvd = call.Load<Routine::Gesvd, T>();
  Alias(call, 0, 0);
  const char mode = call.Letter("mode");
  const int m = call.in(0).Dim(1), n = call.in(0).Dim(0), lda = std::max(1, m);
  const int ldu = std::max(1, call.out(2).Dim(1)), ldvt = std::max(1, call.out(3).Dim(1));
  call.ForEachEntry<Work<T>>(kMatrix, [&](int64_t b, Work<T>& work) {
    std::vector<Real<T>> real_work(static_cast<size_t>(5 * std::max(1, std::min(m, n))));
    work.Run([&] {
      T* a = call.out(0).At<T>(b, kMatrix);
      Real<T>* s = call.out(1).At<Real<T>>(b, kVector);
      T* u = call.out(2).At<T>(b, kMatrix);
      T* vt = call.out(3).At<T>(b, kMatrix);
      int* info = call.out(4).At<int>(b, 0);
      if constexpr (kIsComplex<T>)
        gesvd(&mode, &mode, &m, &n, a, &lda, s, u, &ldu, vt, &ldvt, work.get(), &work.size, real_work.data(),
              info);
      else
        gesvd(&mode, &mode, &m, &n, a, &lda, s, u, &ldu, vt, &ldvt, work.get(), &work.size, info);
    });
  });
  return call.Finish();
}

namespace {

/// LAPACK's real form of complex eigenvectors: pairs (re, im) of columns where wi is not 0.
template <class R>
void ExpandEigenvectors(int64_t n, const R* wi, const std::vector<R>& packed, std::complex<R>* vectors) {
  for (int64_t j = 0; j < n; ++j) {
    const R* re = packed.data() + static_cast<size_t>(j) * static_cast<size_t>(n);
    if (wi[j] == 0 || j + 1 == n) {
      for (int64_t i = 0; i < n; ++i) vectors[j * n + i] = re[i];
      continue;
    }
    for (int64_t i = 0; i < n; ++i) {
      vectors[j * n + i] = {re[i], re[n + i]};
      vectors[(j + 1) * n + i] = {re[i], -re[n + i]};
    }
    ++j;
  }
}

}  // namespace

/// a -> real: (wr, wi, VL, VR, info); complex: (w, VL, VR, info)
template <class T>
Result<Literal> Geev(EvalContext&, const Instruction& inst, Operands operands) {
  Call call(inst, operands);
  auto* const geev = call.Load<Routine::Geev, T>();
  const char left = call.Letter("compute_left"), right = call.Letter("compute_right");
  const int n = call.in(0).Dim(0), ld = std::max(1, n);
  const auto count = static_cast<size_t>(n) * static_cast<size_t>(n);
  call.ForEachEntry<Work<T>>(kMatrix, [&](int64_t b, Work<T>& work) {
    std::vector<Real<T>> real_work(static_cast<size_t>(2 * n + 1));
    std::vector<T> vl(count + 1), vr(count + 1);
    work.Run([&] {
      T* a = call.in(0).At<T>(b, kMatrix);
      if constexpr (kIsComplex<T>) {
        geev(&left, &right, &n, a, &ld, call.out(0).At<T>(b, kVector), call.out(1).At<T>(b, kMatrix), &ld,
             call.out(2).At<T>(b, kMatrix), &ld, work.get(), &work.size, real_work.data(),
             call.out(3).At<int>(b, 0));
      } else {
        T* wi = call.out(1).At<T>(b, kVector);
        geev(&left, &right, &n, a, &ld, call.out(0).At<T>(b, kVector), wi, vl.data(), &ld, vr.data(), &ld,
             work.get(), &work.size, call.out(4).At<int>(b, 0));
        if (work.size > 0) {
          ExpandEigenvectors<T>(n, wi, vl, call.out(2).At<std::complex<T>>(b, kMatrix));
          ExpandEigenvectors<T>(n, wi, vr, call.out(3).At<std::complex<T>>(b, kMatrix));
        }
      }
    });
  });
  return call.Finish();
}

/// a -> real: (T, VS, wr, wi, sdim, info); complex: (T, VS, w, sdim, info)
template <class T>
Result<Literal> Gees(EvalContext&, const Instruction& inst, Operands operands) {
  Call call(inst, operands);
  auto* const gees = call.Load<Routine::Gees, T>();
  Alias(call, 0, 0);
  const char mode = call.Letter("mode"), sort = 'N';  // no target sorts by a callback
  const int n = call.in(0).Dim(0), ld = std::max(1, n);
  int (*const no_select)() = nullptr;
  call.ForEachEntry<Work<T>>(kMatrix, [&](int64_t b, Work<T>& work) {
    std::vector<Real<T>> real_work(static_cast<size_t>(n + 1));
    std::vector<int> bool_work(static_cast<size_t>(n + 1));
    work.Run([&] {
      T* a = call.out(0).At<T>(b, kMatrix);
      T* vs = call.out(1).At<T>(b, kMatrix);
      T* w = call.out(2).At<T>(b, kVector);
      if constexpr (kIsComplex<T>)
        gees(&mode, &sort, no_select, &n, a, &ld, call.out(3).At<int>(b, 0), w, vs, &ld, work.get(),
             &work.size, real_work.data(), bool_work.data(), call.out(4).At<int>(b, 0));
      else
        gees(&mode, &sort, no_select, &n, a, &ld, call.out(4).At<int>(b, 0), w, call.out(3).At<T>(b, kVector),
             vs, &ld, work.get(), &work.size, bool_work.data(), call.out(5).At<int>(b, 0));
    });
  });
  return call.Finish();
}

/// a -> (packed, tau, info)
template <class T>
Result<Literal> Gehrd(EvalContext&, const Instruction& inst, Operands operands) {
  Call call(inst, operands);
  auto* const gehrd = call.Load<Routine::Gehrd, T>();
  Alias(call, 0, 0);
  const int n = call.in(0).Dim(0), ld = std::max(1, n);
  const int low = call.Attribute("low"), high = call.Attribute("high");
  call.ForEachEntry<Work<T>>(kMatrix, [&](int64_t b, Work<T>& work) {
    work.Run([&] {
      gehrd(&n, &low, &high, call.out(0).At<T>(b, kMatrix), &ld, call.out(1).At<T>(b, kVector), work.get(),
            &work.size, call.out(2).At<int>(b, 0));
    });
  });
  return call.Finish();
}

HLO_LAPACK_INSTANCES(Gesdd)
HLO_LAPACK_INSTANCES(Gesvd)
HLO_LAPACK_INSTANCES(Geev)
HLO_LAPACK_INSTANCES(Gees)
HLO_LAPACK_INSTANCES(Gehrd)

}  // namespace hlo::lapack

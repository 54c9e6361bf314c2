// Eigenvalue, Schur and singular value decompositions through LAPACK (forms of errata-ops B41).
#include <algorithm>
#include <cmath>
#include <limits>

#include "ir/eval/lapack_call.h"

namespace hlo::lapack {
namespace {

using Operands = llvm::MutableArrayRef<Literal>;

/// Whether a matrix has neither infinities nor NaN: with them routines call their own arguments wrong, or
/// never end.
template <class T>
bool IsFinite(const T* a, int64_t count) {
  return std::all_of(a, a + count,
                     [](const T& x) { return std::isfinite(std::real(x)) && std::isfinite(std::imag(x)); });
}

/// What becomes of entry b if the matrix, an argument with this number, is not finite: NaN in some results,
/// and its number, negative, in the last one.
template <class T>
void Refuse(Call& call, int64_t b, llvm::ArrayRef<size_t> results, int argument) {
  for (const size_t i : results) {
    const Buffer& result = call.out(i);
    std::fill_n(result.At<Real<T>>(b), result.memory.block_bytes() / sizeof(Real<T>),
                std::numeric_limits<Real<T>>::quiet_NaN());
  }
  *call.out(call.out_count() - 1).At<int>(b) = -argument;
}

/// Of singular values: these and, if there are any, the vectors.
llvm::ArrayRef<size_t> SingularResults(char mode) {
  static constexpr size_t kResults[] = {1, 2, 3};
  return llvm::ArrayRef(kResults).take_front(mode == 'N' ? 1 : 3);
}

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
  call.ForEachEntry<Work<T>>([&](int64_t b, Work<T>& work) {
    if (!IsFinite(call.out(0).At<T>(b), m * int64_t{n})) return Refuse<T>(call, b, SingularResults(mode), 4);
    const GuardedArray<int> int_work(call.target(), 8 * static_cast<size_t>(std::max(1, small)));
    const GuardedArray<Real<T>> real_work(
        call.target(), static_cast<size_t>(kIsComplex<T> ? std::max<int64_t>(1, rwork) : 1));
    work.Run([&] {
      T* a = call.out(0).At<T>(b);
      Real<T>* s = call.out(1).At<Real<T>>(b);
      T* u = call.out(2).At<T>(b);
      T* vt = call.out(3).At<T>(b);
      int* info = call.out(4).At<int>(b);
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
  call.ForEachEntry<Work<T>>([&](int64_t b, Work<T>& work) {
    if (!IsFinite(call.out(0).At<T>(b), m * int64_t{n})) return Refuse<T>(call, b, SingularResults(mode), 5);
    const GuardedArray<Real<T>> real_work(call.target(),
                                          5 * static_cast<size_t>(std::max(1, std::min(m, n))));
    work.Run([&] {
      T* a = call.out(0).At<T>(b);
      Real<T>* s = call.out(1).At<Real<T>>(b);
      T* u = call.out(2).At<T>(b);
      T* vt = call.out(3).At<T>(b);
      int* info = call.out(4).At<int>(b);
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
void ExpandEigenvectors(int64_t n, const R* wi, const R* packed, std::complex<R>* vectors) {
  for (int64_t j = 0; j < n; ++j) {
    const R* re = packed + j * n;
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
  constexpr size_t kFirstVectors = kIsComplex<T> ? 1 : 2;
  llvm::SmallVector<size_t> results = {0};
  if (!kIsComplex<T>) results.push_back(1);
  if (left == 'V') results.push_back(kFirstVectors);
  if (right == 'V') results.push_back(kFirstVectors + 1);
  call.ForEachEntry<Work<T>>([&](int64_t b, Work<T>& work) {
    if (!IsFinite(call.in(0).At<T>(b), n * int64_t{n})) return Refuse<T>(call, b, results, 4);
    const GuardedArray<Real<T>> real_work(call.target(), 2 * static_cast<size_t>(n) + 1);
    const GuardedArray<T> vl(call.target(), count + 1), vr(call.target(), count + 1);
    work.Run([&] {
      T* a = call.in(0).At<T>(b);
      if constexpr (kIsComplex<T>) {
        geev(&left, &right, &n, a, &ld, call.out(0).At<T>(b), call.out(1).At<T>(b), &ld, call.out(2).At<T>(b),
             &ld, work.get(), &work.size, real_work.data(), call.out(3).At<int>(b));
      } else {
        T* wi = call.out(1).At<T>(b);
        geev(&left, &right, &n, a, &ld, call.out(0).At<T>(b), wi, vl.data(), &ld, vr.data(), &ld, work.get(),
             &work.size, call.out(4).At<int>(b));
        if (work.size > 0) {
          ExpandEigenvectors<T>(n, wi, vl.data(), call.out(2).At<std::complex<T>>(b));
          ExpandEigenvectors<T>(n, wi, vr.data(), call.out(3).At<std::complex<T>>(b));
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
  llvm::SmallVector<size_t> results = {0, 2};
  if (!kIsComplex<T>) results.push_back(3);
  if (mode == 'V') results.push_back(1);
  call.ForEachEntry<Work<T>>([&](int64_t b, Work<T>& work) {
    if (!IsFinite(call.out(0).At<T>(b), n * int64_t{n})) return Refuse<T>(call, b, results, 5);
    const GuardedArray<Real<T>> real_work(call.target(), static_cast<size_t>(n) + 1);
    const GuardedArray<int> bool_work(call.target(), static_cast<size_t>(n) + 1);
    work.Run([&] {
      T* a = call.out(0).At<T>(b);
      T* vs = call.out(1).At<T>(b);
      T* w = call.out(2).At<T>(b);
      if constexpr (kIsComplex<T>)
        gees(&mode, &sort, no_select, &n, a, &ld, call.out(3).At<int>(b), w, vs, &ld, work.get(), &work.size,
             real_work.data(), bool_work.data(), call.out(4).At<int>(b));
      else
        gees(&mode, &sort, no_select, &n, a, &ld, call.out(4).At<int>(b), w, call.out(3).At<T>(b), vs, &ld,
             work.get(), &work.size, bool_work.data(), call.out(5).At<int>(b));
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
  call.ForEachEntry<Work<T>>([&](int64_t b, Work<T>& work) {
    work.Run([&] {
      gehrd(&n, &low, &high, call.out(0).At<T>(b), &ld, call.out(1).At<T>(b), work.get(), &work.size,
            call.out(2).At<int>(b));
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

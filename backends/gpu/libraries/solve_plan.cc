// How cuSOLVER and cuBLAS do what a custom call of linear algebra wants.
#include <vector>

#include "backends/gpu/libraries/cusolver.h"
#include "backends/gpu/libraries/solver.h"
#include "llvm/Support/MathExtras.h"

namespace hlo::gpu {
namespace {

/// Parts of a workspace begin at its multiples. Bytes.
constexpr uint64_t kAlignment = 256;
/// Matrices of a batch that are no larger are done by one call. Not measured.
constexpr int64_t kMostTogether = 256;
constexpr char kNoVectors = 'N', kAllVectors = 'A';

struct TypeRow {
  ElementType type;
  CudaType number;
};
/// In the order of the letters of functions.
constexpr TypeRow kTypes[] = {{ElementType::F32, CudaType::F32},
                              {ElementType::F64, CudaType::F64},
                              {ElementType::C64, CudaType::C64},
                              {ElementType::C128, CudaType::C128}};
size_t TypeIndex(ElementType type) {
  return static_cast<size_t>(llvm::find_if(kTypes, [&](const TypeRow& row) { return row.type == type; }) -
                             std::begin(kTypes));
}
CudaType NumberOf(ElementType type) { return kTypes[TypeIndex(type)].number; }

// By type.
constexpr decltype(&CublasApi::Strsm) kTrsm[] = {&CublasApi::Strsm, &CublasApi::Dtrsm, &CublasApi::Ctrsm,
                                                 &CublasApi::Ztrsm};
constexpr decltype(&CublasApi::StrsmBatched) kTrsmBatched[] = {
    &CublasApi::StrsmBatched, &CublasApi::DtrsmBatched, &CublasApi::CtrsmBatched, &CublasApi::ZtrsmBatched};
constexpr decltype(&CublasApi::Sgeam) kGeam[] = {&CublasApi::Sgeam, &CublasApi::Dgeam, &CublasApi::Cgeam,
                                                 &CublasApi::Zgeam};
constexpr decltype(&CusolverApi::SpotrfBatched) kPotrfBatched[] = {
    &CusolverApi::SpotrfBatched, &CusolverApi::DpotrfBatched, &CusolverApi::CpotrfBatched,
    &CusolverApi::ZpotrfBatched};
constexpr decltype(&CusolverApi::SorgqrSize) kOrgqrSize[] = {
    &CusolverApi::SorgqrSize, &CusolverApi::DorgqrSize, &CusolverApi::CorgqrSize, &CusolverApi::ZorgqrSize};
constexpr decltype(&CusolverApi::Sorgqr) kOrgqr[] = {&CusolverApi::Sorgqr, &CusolverApi::Dorgqr,
                                                     &CusolverApi::Corgqr, &CusolverApi::Zorgqr};

/// A number in each of the types.
struct Scalar {
  Scalar(ElementType type, double value) {
    wide[0] = value;
    narrow[0] = static_cast<float>(value);
    if (RealPartType(type) != ElementType::F64) at = &narrow[0];
  }
  Scalar(const Scalar&) = delete;
  Scalar& operator=(const Scalar&) = delete;
  double wide[2] = {};  // complex numbers are pairs
  float narrow[2] = {};
  const void* at = &wide[0];
};

/// Bytes besides the arrays: those of the GPU lie in the workspace.
struct Needs {
  size_t device = 0, host = 0;
};

class SolvePlan final : public LibraryPlan {
 public:
  SolvePlan(std::shared_ptr<Cusolver> library, const LibrarySolve& solve)
      : library_(std::move(library)), solve_(solve) {}

  Status Make() {
    HLO_CHECK_OK((this->*kWays[static_cast<size_t>(solve_.solver)].measure)());
    const auto place = [&](uint64_t& at, uint64_t bytes) {
      at = bytes_;
      bytes_ += llvm::alignTo(bytes, kAlignment);
    };
    const auto batch = static_cast<uint64_t>(solve_.batch);
    const bool vectors = solve_.solver == Solver::Gesvd && solve_.job != kNoVectors && solve_.turned;
    place(copy_, solve_.turned ? batch * MatrixBytes() : 0);
    place(u_, vectors ? batch * BytesOf(solve_.rows, VectorsOfRows()) : 0);
    place(vt_, vectors ? batch * BytesOf(VectorsOfColumns(), solve_.columns) : 0);
    place(info_, batch * sizeof(int32_t));
    place(pointers_, 2 * batch * sizeof(uint64_t));
    place(own_, needs_.device);
    return {};
  }

  [[nodiscard]] size_t workspace_bytes() const override { return bytes_; }
  Status Run(const LibraryCall& call) const override {
    HLO_TRY(const auto lock, library_->Use(call.stream));
    std::vector<char> host(needs_.host);
    return (this->*kWays[static_cast<size_t>(solve_.solver)].run)(call, host);
  }

 private:
  struct Way {
    Status (SolvePlan::*measure)();
    Status (SolvePlan::*run)(const LibraryCall& call, std::vector<char>& host) const;
  };
  static const Way kWays[];

  [[nodiscard]] const CusolverApi& solver() const { return library_->solver(); }
  [[nodiscard]] CusolverHandle handle() const { return library_->solver_handle(); }
  [[nodiscard]] CudaType type() const { return NumberOf(solve_.type); }
  [[nodiscard]] CudaType real_type() const { return NumberOf(RealPartType(solve_.type)); }
  [[nodiscard]] uint64_t BytesOf(int64_t rows, int64_t columns) const {
    return static_cast<uint64_t>(rows * columns * Info(solve_.type).host_bytes());
  }
  [[nodiscard]] uint64_t MatrixBytes() const { return BytesOf(solve_.rows, solve_.columns); }
  [[nodiscard]] uint64_t RealBytes(int64_t count) const {
    return static_cast<uint64_t>(count * Info(RealPartType(solve_.type)).host_bytes());
  }
  [[nodiscard]] int64_t Smaller() const { return std::min(solve_.rows, solve_.columns); }
  [[nodiscard]] int64_t VectorsOfRows() const { return solve_.job == kAllVectors ? solve_.rows : Smaller(); }
  [[nodiscard]] int64_t VectorsOfColumns() const {
    return solve_.job == kAllVectors ? solve_.columns : Smaller();
  }

  /// One matrix of `rows` and `columns` as `to` has them, which `from` has the other way round.
  Status Turn(uint64_t to, uint64_t from, int64_t rows, int64_t columns) const {
    const Scalar one(solve_.type, 1), zero(solve_.type, 0);
    const auto geam = library_->blas().*kGeam[TypeIndex(solve_.type)];
    return CheckCublas(
        geam(library_->blas_handle(), CublasTranspose::Yes, CublasTranspose::No, rows, columns, one.at,
             AtAddress(from), columns, zero.at, AtAddress(to), rows, AtAddress(to), rows),
        "cublasgeam");
  }
  /// All matrices of a batch.
  Status TurnAll(uint64_t to, uint64_t from, int64_t rows, int64_t columns) const {
    for (int64_t b = 0; b < solve_.batch; ++b) {
      const uint64_t at = static_cast<uint64_t>(b) * BytesOf(rows, columns);
      HLO_CHECK_OK(Turn(to + at, from + at, rows, columns));
    }
    return {};
  }
  /// The first operand where the library works on it.
  Result<uint64_t> Bring(const LibraryCall& call) const {
    const uint64_t from = call.at.operands[0];
    if (solve_.turned) {
      const uint64_t to = call.workspace + copy_;
      HLO_CHECK_OK(TurnAll(to, from, solve_.rows, solve_.columns));
      return to;
    }
    HLO_CHECK_OK(CopyAll(call, from));
    return call.at.results[0];
  }
  /// What the library made of it as the first result.
  Status GiveBack(const LibraryCall& call) const {
    if (!solve_.turned) return {};
    return TurnAll(call.at.results[0], call.workspace + copy_, solve_.columns, solve_.rows);
  }
  Status CopyAll(const LibraryCall& call, uint64_t from) const {
    if (from == call.at.results[0]) return {};
    return call.copy(call.at.results[0], from, static_cast<uint64_t>(solve_.batch) * MatrixBytes());
  }
  /// Calls run(entry of the batch) for all.
  template <class F>
  Status ForEachEntry(F run) const {
    for (int64_t b = 0; b < solve_.batch; ++b) HLO_CHECK_OK(run(static_cast<uint64_t>(b)));
    return {};
  }
  /// Where the addresses of the matrices of a batch stand, for functions that take these.
  Result<void*> Pointers(const LibraryCall& call, uint64_t first, uint64_t each, size_t list) const {
    std::vector<uint64_t> addresses;
    for (int64_t b = 0; b < solve_.batch; ++b) addresses.push_back(first + static_cast<uint64_t>(b) * each);
    const uint64_t bytes = addresses.size() * sizeof(uint64_t),
                   at = call.workspace + pointers_ + list * bytes;
    HLO_CHECK_OK(call.upload(at, addresses.data(), bytes));
    return AtAddress(at);
  }
  [[nodiscard]] int* InfoAt(const LibraryCall& call, size_t result, uint64_t entry) const {
    return static_cast<int*>(AtAddress(call.at.results[result] + entry * sizeof(int32_t)));
  }
  /// Of functions whose callers do not ask.
  [[nodiscard]] int* UnreadInfo(const LibraryCall& call) const {
    return static_cast<int*>(AtAddress(call.workspace + info_));
  }
  [[nodiscard]] void* Own(const LibraryCall& call) const { return AtAddress(call.workspace + own_); }
  [[nodiscard]] bool Together() const {
    return solve_.batch > 1 && solve_.rows <= kMostTogether && solve_.spoils;
  }

  Status MeasurePotrf() {
    if (Together()) return {};
    return CheckCusolver(solver().PotrfSize(handle(), library_->params(), solve_.uplo, solve_.rows, type(),
                                            nullptr, solve_.rows, type(), &needs_.device, &needs_.host),
                         "cusolverDnXpotrf_bufferSize");
  }
  Status RunPotrf(const LibraryCall& call, std::vector<char>& host) const {
    const uint64_t at = call.at.results[0];
    HLO_CHECK_OK(CopyAll(call, call.at.operands[0]));
    if (Together()) {
      HLO_TRY(void* const pointers, Pointers(call, at, MatrixBytes(), 0));
      const auto n = static_cast<int>(solve_.rows);
      return CheckCusolver(
          (solver().*kPotrfBatched[TypeIndex(solve_.type)])(
              handle(), solve_.uplo, n, pointers, n, InfoAt(call, 1, 0), static_cast<int>(solve_.batch)),
          "cusolverDnpotrfBatched");
    }
    return ForEachEntry([&](uint64_t b) {
      return CheckCusolver(solver().Potrf(handle(), library_->params(), solve_.uplo, solve_.rows, type(),
                                          AtAddress(at + b * MatrixBytes()), solve_.rows, type(), Own(call),
                                          needs_.device, host.data(), host.size(), InfoAt(call, 1, b)),
                           "cusolverDnXpotrf");
    });
  }

  Status MeasureNothing() { return {}; }
  Status RunTrsm(const LibraryCall& call, std::vector<char>&) const {
    const uint64_t a = call.at.operands[0], x = call.at.results[0];
    HLO_CHECK_OK(CopyAll(call, call.at.operands[1]));
    const int64_t edge = solve_.side == CublasSide::Left ? solve_.rows : solve_.columns;
    const Scalar one(solve_.type, 1);
    const CublasApi& blas = library_->blas();
    if (solve_.batch > 1 && edge <= kMostTogether) {
      HLO_TRY(void* const as, Pointers(call, a, BytesOf(edge, edge), 0));
      HLO_TRY(void* const xs, Pointers(call, x, MatrixBytes(), 1));
      return CheckCublas((blas.*kTrsmBatched[TypeIndex(solve_.type)])(
                             library_->blas_handle(), solve_.side, solve_.uplo, solve_.trans, solve_.diagonal,
                             solve_.rows, solve_.columns, one.at, as, edge, xs, solve_.rows, solve_.batch),
                         "cublastrsmBatched");
    }
    return ForEachEntry([&](uint64_t b) {
      return CheckCublas((blas.*kTrsm[TypeIndex(solve_.type)])(
                             library_->blas_handle(), solve_.side, solve_.uplo, solve_.trans, solve_.diagonal,
                             solve_.rows, solve_.columns, one.at, AtAddress(a + b * BytesOf(edge, edge)),
                             edge, AtAddress(x + b * MatrixBytes()), solve_.rows),
                         "cublastrsm");
    });
  }

  Status MeasureGeqrf() {
    return CheckCusolver(
        solver().GeqrfSize(handle(), library_->params(), solve_.rows, solve_.columns, type(), nullptr,
                           solve_.rows, type(), nullptr, type(), &needs_.device, &needs_.host),
        "cusolverDnXgeqrf_bufferSize");
  }
  Status RunGeqrf(const LibraryCall& call, std::vector<char>& host) const {
    HLO_TRY(const uint64_t a, Bring(call));
    HLO_CHECK_OK(ForEachEntry([&](uint64_t b) {
      return CheckCusolver(
          solver().Geqrf(handle(), library_->params(), solve_.rows, solve_.columns, type(),
                         AtAddress(a + b * MatrixBytes()), solve_.rows, type(),
                         AtAddress(call.at.results[1] + b * BytesOf(Smaller(), 1)), type(), Own(call),
                         needs_.device, host.data(), host.size(), UnreadInfo(call)),
          "cusolverDnXgeqrf");
    }));
    return GiveBack(call);
  }

  Status MeasureOrgqr() {
    const auto rows = static_cast<int>(solve_.rows);
    HLO_CHECK_OK(CheckCusolver((solver().*kOrgqrSize[TypeIndex(solve_.type)])(
                                   handle(), rows, static_cast<int>(solve_.columns),
                                   static_cast<int>(solve_.reflectors), nullptr, rows, nullptr, &elements_),
                               "cusolverDnorgqr_bufferSize"));
    needs_.device = BytesOf(elements_, 1);
    return {};
  }
  Status RunOrgqr(const LibraryCall& call, std::vector<char>&) const {
    const auto rows = static_cast<int>(solve_.rows);
    HLO_TRY(const uint64_t a, Bring(call));
    HLO_CHECK_OK(ForEachEntry([&](uint64_t b) {
      const uint64_t tau = call.at.operands[1] + b * BytesOf(solve_.reflectors, 1);
      return CheckCusolver(
          (solver().*kOrgqr[TypeIndex(solve_.type)])(
              handle(), rows, static_cast<int>(solve_.columns), static_cast<int>(solve_.reflectors),
              AtAddress(a + b * MatrixBytes()), rows, AtAddress(tau), Own(call), elements_, UnreadInfo(call)),
          "cusolverDnorgqr");
    }));
    return GiveBack(call);
  }

  [[nodiscard]] CusolverVectors vectors() const {
    return solve_.vectors ? CusolverVectors::Yes : CusolverVectors::No;
  }
  Status MeasureSyevd() {
    const int64_t n = solve_.rows;
    return CheckCusolver(
        Together()
            ? solver().SyevBatchedSize(handle(), library_->params(), vectors(), solve_.uplo, n, type(),
                                       nullptr, n, real_type(), nullptr, type(), &needs_.device, &needs_.host,
                                       solve_.batch)
            : solver().SyevdSize(handle(), library_->params(), vectors(), solve_.uplo, n, type(), nullptr, n,
                                 real_type(), nullptr, type(), &needs_.device, &needs_.host),
        "cusolverDnXsyevd_bufferSize");
  }
  Status RunSyevd(const LibraryCall& call, std::vector<char>& host) const {
    const int64_t n = solve_.rows;
    HLO_TRY(const uint64_t a, Bring(call));
    const uint64_t w = call.at.results[1];
    if (Together()) {
      HLO_CHECK_OK(CheckCusolver(
          solver().SyevBatched(handle(), library_->params(), vectors(), solve_.uplo, n, type(), AtAddress(a),
                               n, real_type(), AtAddress(w), type(), Own(call), needs_.device, host.data(),
                               host.size(), InfoAt(call, 2, 0), solve_.batch),
          "cusolverDnXsyevBatched"));
      return GiveBack(call);
    }
    HLO_CHECK_OK(ForEachEntry([&](uint64_t b) {
      return CheckCusolver(
          solver().Syevd(handle(), library_->params(), vectors(), solve_.uplo, n, type(),
                         AtAddress(a + b * MatrixBytes()), n, real_type(), AtAddress(w + b * RealBytes(n)),
                         type(), Own(call), needs_.device, host.data(), host.size(), InfoAt(call, 2, b)),
          "cusolverDnXsyevd");
    }));
    return GiveBack(call);
  }

  Status MeasureGesvd() {
    const auto job = static_cast<signed char>(solve_.job);
    return CheckCusolver(
        solver().GesvdSize(handle(), library_->params(), job, job, solve_.rows, solve_.columns, type(),
                           nullptr, solve_.rows, real_type(), nullptr, type(), nullptr, solve_.rows, type(),
                           nullptr, VectorsOfColumns(), type(), &needs_.device, &needs_.host),
        "cusolverDnXgesvd_bufferSize");
  }
  /// Results: what is left of the matrix, singular values, left and right vectors, info.
  Status RunGesvd(const LibraryCall& call, std::vector<char>& host) const {
    constexpr size_t kValues = 1, kLeft = 2, kRight = 3, kInfo = 4;
    const auto job = static_cast<signed char>(solve_.job);
    HLO_TRY(const uint64_t a, Bring(call));
    const uint64_t left = call.at.results[solve_.swapped ? kRight : kLeft],
                   right = call.at.results[solve_.swapped ? kLeft : kRight];
    const uint64_t u = solve_.turned ? call.workspace + u_ : left,
                   vt = solve_.turned ? call.workspace + vt_ : right;
    HLO_CHECK_OK(ForEachEntry([&](uint64_t b) {
      return CheckCusolver(
          solver().Gesvd(handle(), library_->params(), job, job, solve_.rows, solve_.columns, type(),
                         AtAddress(a + b * MatrixBytes()), solve_.rows, real_type(),
                         AtAddress(call.at.results[kValues] + b * RealBytes(Smaller())), type(),
                         AtAddress(u + b * BytesOf(solve_.rows, VectorsOfRows())), solve_.rows, type(),
                         AtAddress(vt + b * BytesOf(VectorsOfColumns(), solve_.columns)), VectorsOfColumns(),
                         type(), Own(call), needs_.device, host.data(), host.size(), InfoAt(call, kInfo, b)),
          "cusolverDnXgesvd");
    }));
    if (solve_.turned && solve_.job != kNoVectors) {
      HLO_CHECK_OK(TurnAll(left, u, VectorsOfRows(), solve_.rows));
      HLO_CHECK_OK(TurnAll(right, vt, solve_.columns, VectorsOfColumns()));
    }
    return GiveBack(call);
  }

  std::shared_ptr<Cusolver> library_;
  LibrarySolve solve_;
  Needs needs_;
  int elements_ = 0;  // Orgqr: of the library's part of the workspace
  /// Places in the workspace.
  uint64_t copy_ = 0, u_ = 0, vt_ = 0, info_ = 0, pointers_ = 0, own_ = 0, bytes_ = 0;
};

/// By Solver.
constexpr SolvePlan::Way SolvePlan::kWays[] = {
    {&SolvePlan::MeasurePotrf, &SolvePlan::RunPotrf}, {&SolvePlan::MeasureNothing, &SolvePlan::RunTrsm},
    {&SolvePlan::MeasureGeqrf, &SolvePlan::RunGeqrf}, {&SolvePlan::MeasureOrgqr, &SolvePlan::RunOrgqr},
    {&SolvePlan::MeasureSyevd, &SolvePlan::RunSyevd}, {&SolvePlan::MeasureGesvd, &SolvePlan::RunGesvd}};

}  // namespace

Result<std::unique_ptr<LibraryPlan>> PlanSolve(std::shared_ptr<Cusolver> library, const LibrarySolve& solve) {
  auto plan = std::make_unique<SolvePlan>(std::move(library), solve);
  HLO_CHECK_OK(plan->Make());
  return plan;
}

}  // namespace hlo::gpu

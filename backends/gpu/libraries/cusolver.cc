#include "backends/gpu/libraries/cusolver.h"

#include "backends/gpu/libraries/solver.h"
#include "llvm/Support/FormatVariadic.h"

namespace hlo::gpu {
namespace {

constexpr llvm::StringLiteral kSolverNames[] = {"libcusolver.so.12", "libcusolver.so.11"};
constexpr llvm::StringLiteral kBlasNames[] = {"libcublas.so.13", "libcublas.so.12"};

constexpr LibraryStatus kSolverStatuses[] = {
#define CUSOLVER_STATUS(Kind, code, name, text) {static_cast<int>(CusolverStatus::Kind), name, text},
#include "backends/gpu/libraries/cusolver_statuses.def"
};
constexpr LibraryStatus kBlasStatuses[] = {
#define CUBLAS_STATUS(Kind, code, name, text) {static_cast<int>(CublasStatus::Kind), name, text},
#include "backends/gpu/libraries/cublas_statuses.def"
};
constexpr LibraryFunction kSolverFunctions[] = {
#define CUSOLVER_FUNCTION(name, symbol, parameters) {#symbol, offsetof(CusolverApi, name)},
#include "backends/gpu/libraries/cusolver_functions.def"
};
constexpr LibraryFunction kBlasFunctions[] = {
#define CUBLAS_FUNCTION(name, symbol, parameters) {#symbol, offsetof(CublasApi, name)},
#include "backends/gpu/libraries/cublas_functions.def"
};

KeptLibrary<CusolverApi>& KeptSolver() {
  static KeptLibrary<CusolverApi> kept(kSolverNames, kSolverFunctions);
  return kept;
}
KeptLibrary<CublasApi>& KeptBlas() {
  static KeptLibrary<CublasApi> kept(kBlasNames, kBlasFunctions);
  return kept;
}

class SolveWork final : public LibraryWork {
 public:
  explicit SolveWork(const LibrarySolve& solve) : solve_(solve) {}
  [[nodiscard]] std::string ToString(const Instruction&) const override { return gpu::ToString(solve_); }
  [[nodiscard]] Result<std::unique_ptr<LibraryPlan>> Plan(LibraryPtr library,
                                                          const LibraryArrays&) const override {
    return PlanSolve(std::static_pointer_cast<Cusolver>(std::move(library)), solve_);
  }

 private:
  LibrarySolve solve_;
};

}  // namespace

Status CheckCusolver(CusolverStatus status, const char* function) {
  return CheckStatus(kSolverStatuses, static_cast<int>(status), status == CusolverStatus::NotSupported,
                     function);
}
Status CheckCublas(CublasStatus status, const char* function) {
  return CheckStatus(kBlasStatuses, static_cast<int>(status), status == CublasStatus::NotSupported, function);
}

Result<CusolverApi> ReadCusolver(void* library) { return KeptSolver().Read(library); }
Result<CublasApi> ReadCublas(void* library) { return KeptBlas().Read(library); }

Result<std::shared_ptr<Cusolver>> Cusolver::Open(const LibraryOptions& options, const LentDriver* lent) {
  // The first one needs the other, which is found beside it.
  HLO_TRY(const CublasApi blas, KeptBlas().Load(options, lent));
  HLO_TRY(const CusolverApi solver, KeptSolver().Load(options, lent));
  auto opened = std::shared_ptr<Cusolver>(new Cusolver(solver, blas));
  HLO_CHECK_OK(CheckCublas(blas.Create(&opened->blas_handle_), "cublasCreate"));
  HLO_CHECK_OK(CheckCusolver(solver.Create(&opened->solver_handle_), "cusolverDnCreate"));
  HLO_CHECK_OK(CheckCusolver(solver.CreateParams(&opened->params_), "cusolverDnCreateParams"));
  return opened;
}

Cusolver::~Cusolver() {
  // Nobody could do anything about errors.
  if (params_ != nullptr) (void)solver_.DestroyParams(params_);
  if (solver_handle_ != nullptr) (void)solver_.Destroy(solver_handle_);
  if (blas_handle_ != nullptr) (void)blas_.Destroy(blas_handle_);
}

Result<std::unique_lock<std::mutex>> Cusolver::Use(void* stream) {
  std::unique_lock lock(mutex_);
  HLO_CHECK_OK(CheckCusolver(solver_.SetStream(solver_handle_, stream), "cusolverDnSetStream"));
  HLO_CHECK_OK(CheckCublas(blas_.SetStream(blas_handle_, stream), "cublasSetStream"));
  return lock;
}

bool ConcernsCusolver(const Instruction& inst) { return SolverOf(inst).has_value(); }
Result<std::unique_ptr<LibraryWork>> DescribeCusolver(const Instruction& inst) {
  HLO_TRY(const LibrarySolve solve, LibrarySolveOf(inst));
  return std::make_unique<SolveWork>(solve);
}
bool IsCusolverThere(const LibraryOptions& options) {
  return KeptBlas().Load(options).has_value() && KeptSolver().Load(options).has_value();
}
Result<LibraryPtr> OpenCusolver(const LibraryOptions& options, const LentDriver* lent) {
  return Cusolver::Open(options, lent);
}

}  // namespace hlo::gpu

// cuSOLVER and cuBLAS: linear algebra on a GPU, by NVIDIA's libraries.
#pragma once
#include <mutex>

#include "backends/gpu/libraries/cusolver_api.h"
#include "backends/gpu/libraries/library.h"

namespace hlo::gpu {

struct LibrarySolve;

/// The functions of a library. Errors: unavailable-library, naming one that it lacks.
Result<CusolverApi> ReadCusolver(void* library);
Result<CublasApi> ReadCublas(void* library);

/// Both libraries on one GPU.
class Cusolver final : public OpenLibraryOnGpu {
 public:
  /// Errors: unavailable-library; runtime-gpu.
  static Result<std::shared_ptr<Cusolver>> Open(const LibraryOptions& options, const LentDriver* lent);
  ~Cusolver() override;

  [[nodiscard]] const CusolverApi& solver() const { return solver_; }
  [[nodiscard]] const CublasApi& blas() const { return blas_; }
  [[nodiscard]] CusolverHandle solver_handle() const { return solver_handle_; }
  [[nodiscard]] CusolverParams params() const { return params_; }
  [[nodiscard]] CublasHandle blas_handle() const { return blas_handle_; }
  /// Handles know one stream: whoever holds the lock has them for a while. Errors: runtime-gpu.
  Result<std::unique_lock<std::mutex>> Use(void* stream);

 private:
  Cusolver(const CusolverApi& solver, const CublasApi& blas) : solver_(solver), blas_(blas) {}
  CusolverApi solver_;
  CublasApi blas_;
  CusolverHandle solver_handle_ = nullptr;
  CusolverParams params_ = nullptr;
  CublasHandle blas_handle_ = nullptr;
  std::mutex mutex_;
};

/// The diagnostic of an answer of a function: runtime-gpu, or declined where the library has no such thing.
Status CheckCusolver(CusolverStatus status, const char* function);
Status CheckCublas(CublasStatus status, const char* function);

/// How the libraries do it.
Result<std::unique_ptr<LibraryPlan>> PlanSolve(std::shared_ptr<Cusolver> library, const LibrarySolve& solve);

}  // namespace hlo::gpu

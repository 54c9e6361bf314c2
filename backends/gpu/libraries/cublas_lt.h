// cuBLASLt: products of matrices on a GPU, by NVIDIA's library.
#pragma once
#include <array>
#include <memory>
#include <optional>

#include "backends/gpu/libraries/cublas_lt_api.h"
#include "backends/gpu/libraries/library.h"
#include "ir/types.h"

namespace hlo::gpu {

struct LibraryProduct;

/// As products are described: f32, tf32, …
llvm::StringRef ToString(CublasCompute compute);

/// The functions of a library. Errors: unavailable-library, naming one that it lacks.
Result<CublasLtApi> ReadCublasLt(void* library);

/// The library on one GPU; several threads may use it at once.
class CublasLt final : public OpenLibraryOnGpu {
 public:
  /// Loads it the first time, and starts it on the GPU that calls are for; `lent` for the emulated GPU.
  /// Errors: unavailable-library; runtime-gpu.
  static Result<std::shared_ptr<CublasLt>> Open(const LibraryOptions& options, const LentDriver* lent);
  /// Whether it can be loaded; no GPU is needed for that.
  static bool IsThere(const LibraryOptions& options);
  ~CublasLt() override;

  [[nodiscard]] const CublasLtApi& api() const { return api_; }
  [[nodiscard]] CublasHandle handle() const { return handle_; }
  /// The diagnostic of an answer of a function: runtime-gpu, or declined where the library has no such
  /// product.
  Status Check(CublasStatus status, const char* function) const;

 private:
  explicit CublasLt(const CublasLtApi& api) : api_(api) {}
  CublasLtApi api_;
  CublasHandle handle_ = nullptr;
};

/// Where the arrays of a product begin.
struct ProductAddresses {
  uint64_t a = 0, b = 0, c = 0, d = 0, bias = 0;
};

/// A product as the library does it.
class ProductPlan final : public LibraryPlan {
 public:
  /// What the library's heuristic finds best for arrays whose addresses are multiples of `alignments`
  /// (powers of 2), each in the place of its array. Declines what the library does not have. Errors:
  /// runtime-gpu.
  static Result<std::unique_ptr<ProductPlan>> Make(std::shared_ptr<CublasLt> library,
                                                   const LibraryProduct& product,
                                                   const ProductAddresses& alignments);
  ~ProductPlan() override;

  [[nodiscard]] size_t workspace_bytes() const override { return found_.workspace_bytes; }
  Status Run(const LibraryCall& call) const override;

 private:
  explicit ProductPlan(std::shared_ptr<CublasLt> library, const LibraryProduct& product);
  Status Describe();
  Status Search(const ProductAddresses& alignments);
  /// With the address of a bias: the library has it as a part of what is to be done.
  Result<CublasDesc> MakeDesc(uint64_t bias) const;
  Status RunCall(CublasDesc desc, const ProductAddresses& at, uint64_t workspace, void* stream) const;

  std::shared_ptr<CublasLt> library_;
  std::unique_ptr<const LibraryProduct> product_;
  CublasLayout a_ = nullptr, b_ = nullptr, c_ = nullptr, d_ = nullptr;  // c_: null if there is none
  CublasHeuristic found_ = {};
};

}  // namespace hlo::gpu

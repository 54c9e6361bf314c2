// cuDNN: convolutions and attention on a GPU, by NVIDIA's library.
#pragma once
#include <mutex>

#include "backends/gpu/libraries/cudnn_api.h"
#include "backends/gpu/libraries/library.h"

namespace hlo::gpu {

class Descriptor;
struct LibraryConvolution;
struct LibraryAttention;
struct LibraryAttentionGradient;

/// The functions of a library. Errors: unavailable-library, naming one that it lacks.
Result<CudnnApi> ReadCudnn(void* library);

/// The library on one GPU; several threads may use it at once.
class Cudnn final : public OpenLibraryOnGpu {
 public:
  /// Loads it the first time, and starts it on the GPU that calls are for; `lent` for the emulated GPU.
  /// Errors: unavailable-library; runtime-gpu.
  static Result<std::shared_ptr<Cudnn>> Open(const LibraryOptions& options, const LentDriver* lent);
  /// The library for a GPU that is described, which need not be there: plans can be made, and not run. From
  /// cuDNN 9.8 on. `device`: a JSON object as CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION gives it. Errors:
  /// unavailable-library; runtime-gpu for descriptions that it does not take.
  static Result<std::shared_ptr<Cudnn>> OpenFor(const LibraryOptions& options, llvm::StringRef device);
  /// Whether it can be loaded; no GPU is needed for that.
  static bool IsThere(const LibraryOptions& options);
  ~Cudnn() override;

  [[nodiscard]] const CudnnApi& api() const { return api_; }
  [[nodiscard]] CudnnHandle handle() const { return handle_; }
  /// The GPU that is described; null: it is there.
  [[nodiscard]] const Descriptor* device() const { return device_.get(); }
  /// The diagnostic of an answer of a function: runtime-gpu, or declined where the library has no such thing.
  Status Check(CudnnStatus status, const char* function) const;
  /// Asks a stream for what a plan does to arrays.
  Status Execute(void* stream, CudnnDescriptor plan, CudnnDescriptor arrays);

 private:
  explicit Cudnn(const CudnnApi& api);
  CudnnApi api_;
  CudnnHandle handle_ = nullptr;
  std::unique_ptr<Descriptor> device_;
  std::mutex mutex_;  // the handle has one stream at a time
};

/// The first way that the library's heuristic knows which rounds nothing that the convolution's algorithm
/// does not, and takes no more than 32 MiB. Declines where there is none. Errors: runtime-gpu.
Result<std::unique_ptr<LibraryPlan>> PlanConvolution(std::shared_ptr<Cudnn> library,
                                                     const LibraryConvolution& convolution,
                                                     const LibraryArrays& alignments);
/// The same for attention.
Result<std::unique_ptr<LibraryPlan>> PlanAttention(std::shared_ptr<Cudnn> library,
                                                   const LibraryAttention& attention,
                                                   const LibraryArrays& alignments);
/// The same for its gradients, with as much memory besides the arrays as its scores would take in f32.
Result<std::unique_ptr<LibraryPlan>> PlanGradient(std::shared_ptr<Cudnn> library,
                                                  const LibraryAttentionGradient& gradient,
                                                  const LibraryArrays& alignments);

}  // namespace hlo::gpu

// Convolutions among what libraries do.
#include "backends/gpu/libraries/convolution.h"
#include "backends/gpu/libraries/cudnn.h"

namespace hlo::gpu {
namespace {

class ConvolutionWork final : public LibraryWork {
 public:
  explicit ConvolutionWork(LibraryConvolution convolution) : convolution_(std::move(convolution)) {}
  [[nodiscard]] std::string ToString(const Instruction& inst) const override {
    return gpu::ToString(convolution_, inst);
  }
  [[nodiscard]] Result<std::unique_ptr<LibraryPlan>> Plan(LibraryPtr library,
                                                          const LibraryArrays& alignments) const override {
    return PlanConvolution(std::static_pointer_cast<Cudnn>(std::move(library)), convolution_, alignments);
  }

 private:
  LibraryConvolution convolution_;
};

}  // namespace

Result<std::unique_ptr<LibraryWork>> DescribeCudnn(const Instruction& inst) {
  HLO_TRY(LibraryConvolution convolution, ConvolutionOf(inst));
  return std::make_unique<ConvolutionWork>(std::move(convolution));
}
bool IsCudnnThere(const LibraryOptions& options) { return Cudnn::IsThere(options); }
Result<LibraryPtr> OpenCudnn(const LibraryOptions& options, const LentDriver* lent) {
  return Cudnn::Open(options, lent);
}

}  // namespace hlo::gpu

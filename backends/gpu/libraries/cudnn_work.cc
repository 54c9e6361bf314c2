// Convolutions and attention among what libraries do.
#include "backends/gpu/libraries/attention_text.h"
#include "backends/gpu/libraries/convolution.h"
#include "backends/gpu/libraries/cudnn.h"
#include "ir/computation.h"

namespace hlo::gpu {
namespace {

std::shared_ptr<Cudnn> CudnnOf(LibraryPtr library) {
  return std::static_pointer_cast<Cudnn>(std::move(library));
}

class ConvolutionWork final : public LibraryWork {
 public:
  explicit ConvolutionWork(LibraryConvolution convolution) : convolution_(std::move(convolution)) {}
  [[nodiscard]] std::string ToString(const Instruction& inst) const override {
    return gpu::ToString(convolution_, inst);
  }
  [[nodiscard]] Result<std::unique_ptr<LibraryPlan>> Plan(LibraryPtr library,
                                                          const LibraryArrays& alignments) const override {
    return PlanConvolution(CudnnOf(std::move(library)), convolution_, alignments);
  }

 private:
  LibraryConvolution convolution_;
};

class AttentionWork final : public LibraryWork {
 public:
  explicit AttentionWork(LibraryAttention attention) : attention_(std::move(attention)) {}
  [[nodiscard]] std::string ToString(const Instruction& inst) const override {
    return gpu::ToString(attention_, inst);
  }
  [[nodiscard]] Result<std::unique_ptr<LibraryPlan>> Plan(LibraryPtr library,
                                                          const LibraryArrays& alignments) const override {
    return PlanAttention(CudnnOf(std::move(library)), attention_, alignments);
  }

 private:
  LibraryAttention attention_;
};

class GradientWork final : public LibraryWork {
 public:
  explicit GradientWork(LibraryAttentionGradient gradient) : gradient_(std::move(gradient)) {}
  [[nodiscard]] std::string ToString(const Instruction& inst) const override {
    return gpu::ToString(gradient_, inst);
  }
  [[nodiscard]] Result<std::unique_ptr<LibraryPlan>> Plan(LibraryPtr library,
                                                          const LibraryArrays& alignments) const override {
    return PlanGradient(CudnnOf(std::move(library)), gradient_, alignments);
  }

 private:
  LibraryAttentionGradient gradient_;
};

}  // namespace

bool ConcernsCudnn(const Instruction& inst) {
  return IsAttentionCall(inst) || HasConvolution(inst) ||
         (!IsInAttention(*inst.parent()) && (ScoresOf(inst) != nullptr || !WhyNoGradients(inst).empty()));
}

Result<std::unique_ptr<LibraryWork>> DescribeCudnn(const Instruction& inst) {
  if (HasGradients(inst)) {
    HLO_TRY(LibraryAttentionGradient gradient, GradientOf(inst));
    return std::make_unique<GradientWork>(std::move(gradient));
  }
  if (IsAttentionCall(inst)) {
    HLO_TRY(LibraryAttention attention, AttentionOf(inst));
    return std::make_unique<AttentionWork>(std::move(attention));
  }
  if (const llvm::StringRef why = WhyNoGradients(inst); !why.empty()) return Decline(inst.loc(), "{0}", why);
  if (const Instruction* const scores = ScoresOf(inst)) {
    HLO_TRY([[maybe_unused]] const auto steps, AttentionFrom(*scores));
    return Decline(inst.loc(), "what lies between its steps may write over what they read");
  }
  HLO_TRY(LibraryConvolution convolution, ConvolutionOf(inst));
  return std::make_unique<ConvolutionWork>(std::move(convolution));
}
bool IsCudnnThere(const LibraryOptions& options) { return Cudnn::IsThere(options); }
Result<LibraryPtr> OpenCudnn(const LibraryOptions& options, const LentDriver* lent) {
  return Cudnn::Open(options, lent);
}

}  // namespace hlo::gpu

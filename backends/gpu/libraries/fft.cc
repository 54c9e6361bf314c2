#include "backends/gpu/libraries/fft.h"

#include <limits>

#include "ir/custom_call.h"
#include "llvm/Support/FormatVariadic.h"

namespace hlo::gpu {
namespace {

constexpr llvm::StringLiteral kTarget = "UnscaledFft";
constexpr FftTypes kTypes[] = {
#define FFT_TYPES(Type, real, transform, text, least) \
  {CufftType::Type, ElementType::real, transform, text, least},
#include "backends/gpu/libraries/fft_types.def"
};
/// The library takes no more dimensions.
constexpr size_t kMostDims = 3;

const FftTypes* TypesOf(ElementType real, FftType transform) {
  const auto* row =
      llvm::find_if(kTypes, [&](const FftTypes& t) { return t.real == real && t.transform == transform; });
  return row == std::end(kTypes) ? nullptr : row;
}

int64_t Product(llvm::ArrayRef<int64_t> sizes) {
  int64_t product = 1;
  for (const int64_t size : sizes) product *= size;
  return product;
}

}  // namespace

bool PaysFftCall(const Instruction& fft) {
  const Shape &from = fft.operand(0)->shape(), &to = fft.shape();
  const auto& [transform, lengths] = fft.attr<FftAttrs>();
  const FftTypes* const types = TypesOf(RealPartType(to.element_type()), transform);
  if (types == nullptr || from.HasDynamicDimension() || to.HasDynamicDimension() || lengths.empty() ||
      lengths.size() > kMostDims)
    return false;
  const int64_t elements = std::min(from.ElementCount(), to.ElementCount());
  // Written lengths may differ from those of arrays where there is nothing to do.
  return elements >= std::max<int64_t>(types->least, 1) && Product(lengths) > 1;
}

bool ConcernsCufft(const Instruction& inst) {
  return inst.kind() == OpKind::Fft || (inst.kind() == OpKind::CustomCall &&
                                        inst.attr<CustomCallAttrs>().custom_call_target == kTarget.str());
}

Result<LibraryFft> LibraryFftOf(const Instruction& call) {
  if (call.kind() != OpKind::CustomCall) return Decline(call.loc(), "a call does not pay");
  const auto attrs = UnscaledFftOf(call);
  if (!attrs) return Decline(call.loc(), "the call does not fit its target");
  LibraryFft fft;
  fft.types = TypesOf(RealPartType(call.shape().element_type()), attrs->fft_type);
  const int64_t elements = std::min(call.shape().ElementCount(), call.operand(0)->shape().ElementCount());
  if (fft.types == nullptr || elements == 0) return Decline(call.loc(), "there is nothing to do");
  fft.lengths.assign(attrs->fft_length.begin(), attrs->fft_length.end());
  fft.batch = Product(call.shape().dims().drop_back(fft.lengths.size()));
  return fft;
}

std::string ToString(const LibraryFft& fft) {
  std::string text = fft.types->text.str();
  for (size_t i = 0; i < fft.lengths.size(); ++i)
    text += (i == 0 ? ", " : "x") + std::to_string(fft.lengths[i]);
  if (fft.batch > 1) text += " batch " + std::to_string(fft.batch);
  return text;
}

}  // namespace hlo::gpu

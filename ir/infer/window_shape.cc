#include "ir/infer/window_shape.h"

namespace hlo {
namespace {

constexpr int64_t kMaxSize = std::numeric_limits<int64_t>::max();

Status CheckWindowDim(const Instruction& inst, const WindowDim& w, int64_t d) {
  const struct {
    llvm::StringRef name;
    int64_t value;
  } positive[] = {{"size", w.size},
                  {"stride", w.stride},
                  {"lhs_dilate", w.base_dilation},
                  {"rhs_dilate", w.window_dilation}};
  for (const auto& p : positive)
    if (p.value < 1)
      return RuleError("verify-attribute", inst,
                       "'window' of {0} has {1} {2} in dimension {3}, but at least 1 is needed", Name(inst),
                       p.name, p.value, d);
  return {};
}

/// Output size over a base of the given size, or nothing if padding trims more than there is or 64
/// bits do not suffice.
std::optional<int64_t> OutputSize(const WindowDim& w, int64_t base) {
  if (base == kUnboundedSize) return kUnboundedSize;
  int64_t padded = DilatedSize(base, w.base_dilation);
  if (padded == kMaxSize && base != kMaxSize) return std::nullopt;
  if (__builtin_add_overflow(padded, w.pad_low, &padded) ||
      __builtin_add_overflow(padded, w.pad_high, &padded))
    return std::nullopt;
  if (padded < 0) return std::nullopt;
  return WindowOutputSize(w, base);
}

}  // namespace

Result<WindowedDims> InferWindow(const Instruction& inst, const Window& window, const Shape& base,
                                 llvm::ArrayRef<int64_t> base_dims) {
  if (window.dims.size() != base_dims.size())
    return RuleError("verify-attribute", inst, "'window' of {0} has {1} dimensions, but {2} has {3}",
                     Name(inst), window.dims.size(), base, base_dims.size());
  WindowedDims result;
  for (size_t i = 0; i < base_dims.size(); ++i) {
    const WindowDim& w = window.dims[i];
    HLO_CHECK_OK(CheckWindowDim(inst, w, static_cast<int64_t>(i)));
    const std::optional<int64_t> size = OutputSize(w, base.dim(base_dims[i]));
    if (!size)
      return RuleError("verify-attribute", inst,
                       "'window' of {0} pads dimension {1} of {2} by {3}_{4}, which leaves no valid size",
                       Name(inst), base_dims[i], base, w.pad_low, w.pad_high);
    result.dims.push_back(*size);
    result.dynamic.push_back(base.is_dynamic(base_dims[i]));
  }
  return result;
}

Result<WindowedDims> InferWindow(const Instruction& inst, const Window& window, const Shape& base) {
  Dims all;
  for (int64_t d = 0; d < base.rank(); ++d) all.push_back(d);
  return InferWindow(inst, window, base, all);
}

}  // namespace hlo

// Convolutions for the stand-in of cuDNN: what belongs to one, and its sums by plain loops.
#pragma once
#include "testdata/gpu/cudnn_values.h"

namespace hlo::gpu {

/// Of three operations the attributes that mean the same.
struct OperationRow {
  K kind;
  A image, filter, response, convolution, alpha, beta;
};
inline constexpr OperationRow kOperations[] = {
    {K::Forward, A::ForwardImage, A::ForwardFilter, A::ForwardResponse, A::ForwardConvolution,
     A::ForwardAlpha, A::ForwardBeta},
    {K::BackwardFilter, A::FilterImage, A::FilterFilter, A::FilterResponse, A::FilterConvolution,
     A::FilterAlpha, A::FilterBeta},
    {K::BackwardData, A::DataImage, A::DataFilter, A::DataResponse, A::DataConvolution, A::DataAlpha,
     A::DataBeta}};

inline const OperationRow* ConvolutionRow(K kind) {
  for (const OperationRow& row : kOperations)
    if (row.kind == kind) return &row;
  return nullptr;
}
inline bool FitsWindow(const Description& of) {
  const auto dims = static_cast<size_t>(of.One<int64_t>(A::ConvolutionDims));
  for (const A each : {A::ConvolutionDilations, A::ConvolutionStrides, A::ConvolutionPrePaddings,
                       A::ConvolutionPostPaddings})
    if (of.All<int64_t>(each).size() != dims) return false;
  return dims >= 2 && of.Has(A::ConvolutionType) && of.Has(A::ConvolutionMode);
}

/// What a convolution is made of.
struct Convolution {
  Convolution(const Description& operation, const OperationRow& row)
      : window(operation.Part(row.convolution)),
        image(operation.Part(row.image)),
        filter(operation.Part(row.filter)),
        response(operation.Part(row.response)),
        strides(window.All<int64_t>(A::ConvolutionStrides)),
        dilations(window.All<int64_t>(A::ConvolutionDilations)),
        before(window.All<int64_t>(A::ConvolutionPrePaddings)),
        after(window.All<int64_t>(A::ConvolutionPostPaddings)),
        is_double(window.One<CudnnType>(A::ConvolutionType) == CudnnType::F64) {
    alpha = is_double ? operation.One<double>(row.alpha) : double{operation.One<float>(row.alpha)};
  }
  [[nodiscard]] bool IsWhole() const {
    const auto x = SizesOf(image), w = SizesOf(filter), y = SizesOf(response);
    if (x.size() != strides.size() + 2 || w.size() != x.size() || y.size() != x.size()) return false;
    if (x[0] != y[0] || w[0] != y[1] || x[1] % w[1] != 0 || w[0] % (x[1] / w[1]) != 0) return false;
    for (size_t i = 0; i < strides.size(); ++i) {
      const int64_t room = x[2 + i] + before[i] + after[i] - ((w[2 + i] - 1) * dilations[i] + 1);
      if (before[i] < 0 || after[i] < 0 || room < 0 || room / strides[i] + 1 != y[2 + i]) return false;
    }
    return true;
  }
  const Description &window, &image, &filter, &response;
  std::vector<int64_t> strides, dilations, before, after;
  bool is_double;
  double alpha = 0;
};

/// Factors are set in the type of sums.
inline bool FitsFactor(const Description& operation, A attribute, bool is_double) {
  const auto it = operation.values.find(attribute);
  return it != operation.values.end() && it->second.size() == (is_double ? sizeof(double) : sizeof(float));
}
inline bool FitsOperation(const Description& of, const OperationRow& row) {
  for (const A part : {row.image, row.filter, row.response, row.convolution})
    if (!of.Has(part) || !of.Part(part).finished) return false;
  const Convolution convolution(of, row);
  return FitsFactor(of, row.alpha, convolution.is_double) &&
         FitsFactor(of, row.beta, convolution.is_double) && convolution.IsWhole();
}
/// Goes through all terms of responses.
inline void Multiply(const Convolution& of, Values& image, Values& filter, Values& response, Values& result) {
  const int64_t groups = image.sizes[1] / filter.sizes[1], in_group = response.sizes[1] / groups;
  const bool flipped = of.window.One<CudnnMode>(A::ConvolutionMode) == CudnnMode::Convolution;
  std::fill(result.numbers.begin(), result.numbers.end(), 0);
  std::vector<std::vector<int64_t>> taps;  // of one feature of the response
  filter.ForEach([&](size_t, size_t, const std::vector<int64_t>& at) {
    if (at[0] == 0) taps.push_back(at);
  });
  std::vector<int64_t> in(image.sizes.size());
  response.ForEach([&](size_t y, size_t, const std::vector<int64_t>& out) {
    for (size_t t = 0; t < taps.size(); ++t) {
      const std::vector<int64_t>& tap = taps[t];
      in[0] = out[0];
      in[1] = out[1] / in_group * filter.sizes[1] + tap[1];
      bool inside = true;
      for (size_t d = 0; d < of.strides.size(); ++d) {
        const int64_t place = flipped ? filter.sizes[2 + d] - 1 - tap[2 + d] : tap[2 + d];
        in[2 + d] = out[2 + d] * of.strides[d] + place * of.dilations[d] - of.before[d];
        inside &= in[2 + d] >= 0 && in[2 + d] < image.sizes[2 + d];
      }
      if (!inside) continue;
      const size_t x = image.NumberOf(in), w = static_cast<size_t>(out[1]) * taps.size() + t;
      if (&result == &response) response.numbers[y] += image.numbers[x] * filter.numbers[w];
      if (&result == &image) image.numbers[x] += response.numbers[y] * filter.numbers[w];
      if (&result == &filter) filter.numbers[w] += image.numbers[x] * response.numbers[y];
    }
  });
}

}  // namespace hlo::gpu

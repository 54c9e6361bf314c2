// Convolutions as sums of products: windows are bounds and strides, so that no patch is ever copied whole.
#include <numeric>

#include "backends/cpu/product_problem.h"
#include "ir/eval/strided_copy.h"
#include "ir/eval/window_segments.h"

namespace hlo::cpu {
namespace {

using gemm::Axis;
using gemm::Index;

/// A loop over rows or taps, in the arrays it moves through.
struct WindowAxis {
  int64_t size, lhs, rhs, out;
  int64_t position = 0;  // of the spatial dimension, per step
  int spatial = -1;
};

Index Along(llvm::ArrayRef<WindowAxis> axes, int64_t WindowAxis::* which) {
  llvm::SmallVector<Axis> list;
  for (const WindowAxis& a : axes) list.push_back({a.size, a.*which});
  return Index(list);
}

/// The position in one spatial dimension alone.
Index Position(llvm::ArrayRef<WindowAxis> axes, int spatial) {
  llvm::SmallVector<Axis> list;
  for (const WindowAxis& a : axes) list.push_back({a.size, a.spatial == spatial ? a.position : 0});
  return Index(list);
}

/// Cuts a segment where other taps begin or cease to lie inside a dimension of `size` elements: none of the
/// parts reads beyond it.
std::vector<WindowSegment> SplitAtEdges(const WindowSegment& s, int64_t size) {
  std::vector<WindowSegment> parts;
  int64_t begin = 0, end = 0;  // taps of the part before
  for (int64_t o = 0; o < s.out_count; ++o) {
    const int64_t base = s.base + o * s.base_per_output;
    int64_t first = 0, last = s.window_count;
    while (first < last && (base + first * s.base_per_window < 0 || base + first * s.base_per_window >= size))
      ++first;
    while (first < last &&
           (base + (last - 1) * s.base_per_window < 0 || base + (last - 1) * s.base_per_window >= size))
      --last;
    if (!parts.empty() && first == begin && last == end) {
      ++parts.back().out_count;
      continue;
    }
    WindowSegment part = s;
    part.out_begin += o * s.out_step;
    part.out_count = 1;
    part.window_begin += first * s.window_step;
    part.window_count = last - first;
    part.base = base + first * s.base_per_window;
    parts.push_back(part);
    begin = first;
    end = last;
  }
  return parts;
}

class Maker {
 public:
  explicit Maker(const Instruction& inst)
      : attrs_(inst.attr<ConvolutionAttrs>()),
        labels_(*attrs_.dim_labels),
        lhs_(inst.operand(0)->shape()),
        rhs_(inst.operand(1)->shape()),
        out_(inst.shape()),
        lhs_strides_(RowMajorStrides(lhs_.dims())),
        rhs_strides_(RowMajorStrides(rhs_.dims())),
        out_strides_(RowMajorStrides(out_.dims())) {}

  /// Of one spatial dimension; with `whole`, no segment reaches beyond the input.
  [[nodiscard]] std::vector<WindowSegment> Segments(size_t t, bool whole) const {
    std::vector<WindowSegment> segments =
        SplitByHoles(attrs_.window.dims[t], out_.dim(labels_.output_spatial[t]));
    if (!whole) return segments;
    std::vector<WindowSegment> parts;
    for (const WindowSegment& segment : segments)
      for (const WindowSegment& part : SplitAtEdges(segment, lhs_.dim(labels_.input_spatial[t])))
        parts.push_back(part);
    return parts;
  }

  /// Nothing if there would be more than `most`.
  std::vector<gemm::Problem> Make(bool whole, size_t most) {
    std::vector<gemm::Problem> problems;
    std::vector<std::vector<WindowSegment>> segments;
    size_t count = 1;
    for (size_t t = 0; t < attrs_.window.dims.size(); ++t) {
      segments.push_back(Segments(t, whole));
      count *= segments.back().size();
      if (count > most) return problems;
    }
    if (out_.ElementCount() == 0) return problems;
    llvm::SmallVector<size_t> choice(segments.size(), 0);
    for (;;) {  // all combinations of the dimensions' segments
      llvm::SmallVector<WindowSegment> chosen;
      for (size_t t = 0; t < choice.size(); ++t) chosen.push_back(segments[t][choice[t]]);
      problems.push_back(Part(chosen));
      size_t t = choice.size();
      while (t > 0 && ++choice[t - 1] == segments[t - 1].size()) choice[--t] = 0;
      if (t == 0) return problems;
    }
  }

 private:
  int64_t Lhs(int64_t d) const { return lhs_strides_[static_cast<size_t>(d)]; }
  int64_t Rhs(int64_t d) const { return rhs_strides_[static_cast<size_t>(d)]; }
  int64_t Out(int64_t d) const { return out_strides_[static_cast<size_t>(d)]; }

  gemm::Problem Part(llvm::ArrayRef<WindowSegment> segments) const {
    gemm::Problem p;
    p.type = out_.element_type();
    p.lhs.type = lhs_.element_type();
    p.rhs.type = rhs_.element_type();
    p.compute = ComputeTypeFor(p.type, p.lhs.type, p.rhs.type);
    p.channels = rhs_.dim(labels_.kernel_input_feature);
    p.lhs.channel_stride = Lhs(labels_.input_feature);
    p.rhs.channel_stride = Rhs(labels_.kernel_input_feature);
    const int64_t batch = out_.dim(labels_.output_batch);
    llvm::SmallVector<WindowAxis> rows{{batch, Lhs(labels_.input_batch), 0, Out(labels_.output_batch)}}, taps;
    p.windows.emplace();
    p.windows->images = batch;
    p.windows->lhs_image = Lhs(labels_.input_batch);
    p.windows->out_image = Out(labels_.output_batch);
    for (size_t t = 0; t < segments.size(); ++t) AddSpatial(t, segments[t], p, rows, taps);
    // Rows follow the memory of the result, taps that of the weights.
    llvm::sort(rows, [](const WindowAxis& a, const WindowAxis& b) {
      return std::tuple(a.out, a.lhs, a.spatial) > std::tuple(b.out, b.lhs, b.spatial);
    });
    llvm::sort(taps, [](const WindowAxis& a, const WindowAxis& b) {
      return std::tuple(std::abs(a.rhs), a.spatial) > std::tuple(std::abs(b.rhs), b.spatial);
    });
    p.channels_outer = p.lhs.channel_stride != 1 && p.rhs.channel_stride != 1 && !taps.empty() &&
                       std::abs(taps.front().rhs) < p.rhs.channel_stride;
    p.lhs.rows = Along(rows, &WindowAxis::lhs);
    p.out_rows = Along(rows, &WindowAxis::out);
    p.lhs.taps = Along(taps, &WindowAxis::lhs);
    p.rhs.taps = Along(taps, &WindowAxis::rhs);
    for (size_t t = 0; t < segments.size(); ++t) AddBound(t, segments[t], rows, taps, p.lhs);
    AddGroups(batch, p);
    return p;
  }

  void AddSpatial(size_t t, const WindowSegment& s, gemm::Problem& p, llvm::SmallVectorImpl<WindowAxis>& rows,
                  llvm::SmallVectorImpl<WindowAxis>& taps) const {
    const WindowDim& w = attrs_.window.dims[t];
    const int spatial = static_cast<int>(t);
    const int64_t lhs = Lhs(labels_.input_spatial[t]), out = Out(labels_.output_spatial[t]),
                  rhs = Rhs(labels_.kernel_spatial[t]) * (w.reversal ? -1 : 1);
    rows.push_back({s.out_count, s.base_per_output * lhs, 0, s.out_step * out, s.base_per_output, spatial});
    taps.push_back(
        {s.window_count, s.base_per_window * lhs, s.window_step * rhs, 0, s.base_per_window, spatial});
    p.windows->dims.push_back({s.out_count, s.window_count, s.base, s.base_per_output, s.base_per_window,
                               lhs_.dim(labels_.input_spatial[t]), lhs, s.window_step * rhs,
                               s.out_step * out});
    p.lhs.base += s.base * lhs;
    p.rhs.base += s.window_begin * rhs + (w.reversal ? (w.size - 1) * -rhs : 0);
    p.out_base += s.out_begin * out;
  }

  /// If windows reach beyond the input.
  void AddBound(size_t t, const WindowSegment& s, llvm::ArrayRef<WindowAxis> rows,
                llvm::ArrayRef<WindowAxis> taps, gemm::Operand& lhs) const {
    const int64_t size = lhs_.dim(labels_.input_spatial[t]);
    const int64_t last =
        s.base + (s.out_count - 1) * s.base_per_output + (s.window_count - 1) * s.base_per_window;
    if (s.window_count == 0 || (s.base >= 0 && last < size)) return;
    const int spatial = static_cast<int>(t);
    lhs.bounds.push_back({Position(rows, spatial), Position(taps, spatial), s.base, size});
  }

  /// Group g of the features, or of the batch, meets its share of the output features.
  void AddGroups(int64_t batch, gemm::Problem& p) const {
    const int64_t groups = std::max(attrs_.feature_group_count, attrs_.batch_group_count);
    const int64_t outputs = rhs_.dim(labels_.kernel_output_feature) / groups;
    const int64_t rhs = Rhs(labels_.kernel_output_feature), out = Out(labels_.output_feature);
    const int64_t lhs = attrs_.feature_group_count > 1 ? p.channels * Lhs(labels_.input_feature)
                                                       : batch * Lhs(labels_.input_batch);
    p.rhs.rows = Index({Axis{outputs, rhs}});
    p.out_columns = Index({Axis{outputs, out}});
    p.lhs.batch = Index({Axis{groups, lhs}});
    p.rhs.batch = Index({Axis{groups, outputs * rhs}});
    p.out_batch = Index({Axis{groups, outputs * out}});
  }

  const ConvolutionAttrs& attrs_;
  const ConvDimLabels& labels_;
  const Shape &lhs_, &rhs_, &out_;
  llvm::SmallVector<int64_t> lhs_strides_, rhs_strides_, out_strides_;
};

}  // namespace

double CountConvolutionProblems(const Instruction& convolution) {
  const auto& attrs = convolution.attr<ConvolutionAttrs>();
  double count = 1;
  for (size_t t = 0; t < attrs.window.dims.size(); ++t) {
    const WindowDim& w = attrs.window.dims[t];
    count *= static_cast<double>(std::min(w.base_dilation / std::gcd(w.stride, w.base_dilation),
                                          convolution.shape().dim(attrs.dim_labels->output_spatial[t])));
  }
  return count;
}

std::vector<gemm::Problem> ConvolutionProblems(const Instruction& convolution) {
  std::vector<gemm::Problem> problems = Maker(convolution).Make(/*whole=*/false, SIZE_MAX);
  if (problems.size() == 1) problems.front().convolution = &convolution;
  return problems;
}

std::vector<gemm::Problem> UnpaddedConvolutionProblems(const Instruction& convolution, size_t most) {
  return Maker(convolution).Make(/*whole=*/true, most);
}

}  // namespace hlo::cpu

// convolution (ops-structured §3.4), lowered to matrix products: the window is part of the offset
// tables, so that no patch matrix is ever formed.

#include "ir/eval/contraction.h"
#include "ir/eval/eval.h"
#include "ir/eval/scalar_callee.h"
#include "ir/eval/window_segments.h"
#include "ir/numeric/narrow_float.h"
#include "ir/support/parallel.h"

namespace hlo {
namespace {

int64_t CeilDivide(int64_t a, int64_t b) { return a >= 0 ? (a + b - 1) / b : -(-a / b); }

/// Divides a segment so that each part's windows lie entirely within a base of `size` elements.
void SplitByBounds(const WindowSegment& s, int64_t size, std::vector<WindowSegment>& parts) {
  WindowSegment part;
  for (int64_t i = 0; i < s.out_count; ++i) {
    const int64_t first = s.base + i * s.base_per_output;
    int64_t low = 0, high = s.window_count;
    if (s.window_count > 0) {
      low = std::clamp<int64_t>(CeilDivide(-first, s.base_per_window), 0, s.window_count);
      high = std::clamp<int64_t>(CeilDivide(size - first, s.base_per_window), low, s.window_count);
    }
    const int64_t begin = s.window_begin + low * s.window_step, count = high - low;
    if (part.out_count > 0 && part.window_count == count && (count == 0 || part.window_begin == begin)) {
      ++part.out_count;
      continue;
    }
    if (part.out_count > 0) parts.push_back(part);
    part = s;
    part.out_begin = s.out_begin + i * s.out_step;
    part.out_count = 1;
    part.window_begin = begin;
    part.window_count = count;
    part.base = first + low * s.base_per_window;
  }
  if (part.out_count > 0) parts.push_back(part);
}

llvm::SmallVector<int64_t> Strides(llvm::ArrayRef<int64_t> dims) {
  llvm::SmallVector<int64_t> strides(dims.size(), 1);
  for (size_t d = dims.size(); d-- > 1;) strides[d - 1] = strides[d] * dims[d];
  return strides;
}

/// The input with `low` and `high` zeros around each dimension.
Literal PadWithZeros(const Literal& input, llvm::ArrayRef<int64_t> low, llvm::ArrayRef<int64_t> high) {
  const auto sizes = input.shape().dims();
  Dims padded;
  for (size_t d = 0; d < sizes.size(); ++d) padded.push_back(low[d] + sizes[d] + high[d]);
  Literal result = Literal::Make(Shape::ArrayWithDefaultLayout(input.shape().element_type(), padded));
  if (input.shape().ElementCount() == 0) return Literal::Zeros(result.shape());
  const auto width = static_cast<size_t>(Info(input.shape().element_type()).host_bytes());
  uint8_t* out = result.MutableData();
  const size_t rank = sizes.size();
  const auto row = static_cast<size_t>(sizes[rank - 1]) * width,
             padded_row = static_cast<size_t>(padded[rank - 1]) * width;
  const size_t before = static_cast<size_t>(low[rank - 1]) * width;
  const int64_t rows = padded_row == 0 ? 0 : static_cast<int64_t>(result.byte_size() / padded_row);
  ParallelFor(0, rows, std::max<int64_t>(1, (1 << 16) / static_cast<int64_t>(padded_row)),
              [&](int64_t begin, int64_t end) {
                for (int64_t r = begin; r < end; ++r) {
                  int64_t rest = r, source = 0, scale = 1;
                  bool inside = true;
                  for (size_t d = rank - 1; d-- > 0;) {
                    const int64_t i = rest % padded[d] - low[d];
                    rest /= padded[d];
                    inside &= i >= 0 && i < sizes[d];
                    source += i * scale;
                    scale *= sizes[d];
                  }
                  uint8_t* to = out + static_cast<size_t>(r) * padded_row;
                  if (!inside) {
                    std::memset(to, 0, padded_row);
                    continue;
                  }
                  std::memset(to, 0, before);
                  std::memcpy(to + before, input.data() + static_cast<size_t>(source) * row, row);
                  std::memset(to + before + row, 0, padded_row - before - row);
                }
              });
  return result;
}

/// Whether multiplying by zeros could give anything but zeros.
bool HasNonFinite(const Literal& literal) {
  const ElementType type = literal.shape().element_type();
  if (!IsFloat(type) && !IsComplex(type)) return false;
  const ElementType real = RealPartType(type);
  if (!HasNan(real)) return false;
  const int64_t width = Info(real).host_bytes(), count = static_cast<int64_t>(literal.byte_size()) / width;
  float values[512];
  for (int64_t i = 0; i < count; i += 512) {
    const int64_t n = std::min<int64_t>(512, count - i);
    if (real == ElementType::F64) {
      for (int64_t j = 0; j < n; ++j)
        if (!std::isfinite(literal.Data<double>()[static_cast<size_t>(i + j)])) return true;
      continue;
    }
    WidenToFloat(real, literal.data() + i * width, values, static_cast<size_t>(n));
    float sum = 0;  // inf * 0 and NaN * 0 are NaN
    for (int64_t j = 0; j < n; ++j) sum += values[j] * 0.0F;
    if (sum != 0) return true;
  }
  return false;
}

/// Axes of one index of the product in three tensors; sorted so that the `lead` strides descend.
struct SharedAxis {
  int64_t size, lhs, rhs, out;
};
void SortByStride(llvm::SmallVectorImpl<SharedAxis>& axes, int64_t SharedAxis::* lead) {
  for (size_t i = 1; i < axes.size(); ++i)
    for (size_t j = i; j > 0 && std::abs(axes[j - 1].*lead) < std::abs(axes[j].*lead); --j)
      std::swap(axes[j - 1], axes[j]);
}
Offsets Table(llvm::ArrayRef<SharedAxis> axes, int64_t SharedAxis::* which, int64_t base) {
  llvm::SmallVector<Axis> list;
  for (const SharedAxis& a : axes) list.push_back({a.size, a.*which});
  Offsets offsets = FlattenAxes(list);
  if (base != 0)
    for (int64_t& o : offsets) o += base;
  return offsets;
}

class Convolution {
 public:
  Convolution(const ConvolutionAttrs& attrs, const Literal& lhs, const Literal& rhs, ElementType type)
      : attrs_(attrs), labels_(*attrs.dim_labels), lhs_(lhs), rhs_(rhs) {
    // E8M0 has no zero to pad with.
    if (lhs.shape().element_type() == ElementType::F8E8M0FNU) lhs_ = WithElementType(lhs, ElementType::F32);
    Dims dims(static_cast<size_t>(labels_.output_rank), 1);
    const int64_t groups = std::max(attrs.feature_group_count, attrs.batch_group_count);
    outputs_per_group_ = rhs.shape().dim(labels_.kernel_output_feature) / groups;
    dims[At(labels_.output_batch)] = lhs.shape().dim(labels_.input_batch) / attrs.batch_group_count;
    dims[At(labels_.output_feature)] = rhs.shape().dim(labels_.kernel_output_feature);
    for (size_t t = 0; t < SpatialRank(); ++t)
      dims[At(labels_.output_spatial[t])] =
          WindowOutputSize(attrs.window.dims[t], lhs.shape().dim(labels_.input_spatial[t]));
    shape_ = Shape::ArrayWithDefaultLayout(type, dims);
  }

  Literal Run() {
    Literal result = Literal::Make(shape_);
    if (shape_.ElementCount() == 0) return result;
    ChooseSegments();
    out_strides_ = Strides(shape_.dims());
    lhs_strides_ = Strides(lhs_.shape().dims());
    rhs_strides_ = Strides(rhs_.shape().dims());
    Contraction contraction(lhs_, rhs_, result);
    contraction.SumInPairs();
    llvm::SmallVector<size_t> choice(SpatialRank(), 0);
    for (;;) {  // all combinations of the dimensions' segments
      RunPart(choice, contraction);
      size_t t = choice.size();
      while (t > 0 && ++choice[t - 1] == segments_[t - 1].size()) choice[--t] = 0;
      if (t == 0) break;
    }
    contraction.Finish();
    return result;
  }

 private:
  static size_t At(int64_t i) { return static_cast<size_t>(i); }
  [[nodiscard]] size_t SpatialRank() const { return attrs_.window.dims.size(); }

  /// Pads the input where windows reach beyond it, or divides the windows instead where zeros would not
  /// be neutral or too many.
  void ChooseSegments() {
    const auto rank = static_cast<size_t>(lhs_.shape().rank());
    llvm::SmallVector<int64_t> low(rank, 0), high(rank, 0);
    double padded = 1;
    for (size_t t = 0; t < SpatialRank(); ++t) {
      const int64_t size = lhs_.shape().dim(labels_.input_spatial[t]);
      segments_.push_back(SplitByHoles(attrs_.window.dims[t], shape_.dim(labels_.output_spatial[t])));
      int64_t &below = low[At(labels_.input_spatial[t])], &above = high[At(labels_.input_spatial[t])];
      for (const WindowSegment& s : segments_.back()) {
        if (s.window_count == 0) continue;
        const int64_t last =
            s.base + (s.out_count - 1) * s.base_per_output + (s.window_count - 1) * s.base_per_window;
        below = std::max(below, -s.base);
        above = std::max(above, last + 1 - size);
      }
    }
    if (llvm::all_of(low, [](int64_t x) { return x == 0; }) &&
        llvm::all_of(high, [](int64_t x) { return x == 0; }))
      return;
    for (size_t d = 0; d < rank; ++d)
      padded *= static_cast<double>(low[d]) + static_cast<double>(high[d]) +
                static_cast<double>(lhs_.shape().dims()[d]);
    const double limit =
        4.0 * static_cast<double>(lhs_.shape().ElementCount() + shape_.ElementCount()) + 65536;
    if (padded > limit || HasNonFinite(rhs_)) return DivideWindows();
    lhs_ = PadWithZeros(lhs_, low, high);
    for (size_t t = 0; t < SpatialRank(); ++t)
      for (WindowSegment& s : segments_[t]) s.base += low[At(labels_.input_spatial[t])];
  }

  void DivideWindows() {
    for (size_t t = 0; t < SpatialRank(); ++t) {
      std::vector<WindowSegment> parts;
      for (const WindowSegment& s : segments_[t])
        SplitByBounds(s, lhs_.shape().dim(labels_.input_spatial[t]), parts);
      segments_[t] = std::move(parts);
    }
  }

  void RunPart(llvm::ArrayRef<size_t> choice, Contraction& contraction) const {
    const int64_t lhs_batch = lhs_strides_[At(labels_.input_batch)],
                  out_batch = out_strides_[At(labels_.output_batch)];
    const int64_t lhs_feature = lhs_strides_[At(labels_.input_feature)],
                  rhs_feature = rhs_strides_[At(labels_.kernel_input_feature)];
    const int64_t rhs_out = rhs_strides_[At(labels_.kernel_output_feature)],
                  out_feature = out_strides_[At(labels_.output_feature)];
    const int64_t batch = shape_.dim(labels_.output_batch),
                  features = rhs_.shape().dim(labels_.kernel_input_feature);
    llvm::SmallVector<SharedAxis> rows{{batch, lhs_batch, 0, out_batch}},
        steps{{features, lhs_feature, rhs_feature, 0}};
    int64_t lhs_base = 0, rhs_base = 0, out_base = 0;
    for (size_t t = 0; t < choice.size(); ++t) {
      const WindowSegment& s = segments_[t][choice[t]];
      const WindowDim& w = attrs_.window.dims[t];
      const int64_t lhs_stride = lhs_strides_[At(labels_.input_spatial[t])],
                    out_stride = out_strides_[At(labels_.output_spatial[t])];
      const int64_t rhs_stride = rhs_strides_[At(labels_.kernel_spatial[t])] * (w.reversal ? -1 : 1);
      // Strides and dilations that nobody goes may be larger than the array.
      const int64_t per_output = s.out_count > 1 ? s.base_per_output : 0;
      const int64_t per_window = s.window_count > 1 ? s.base_per_window : 0;
      rows.push_back({s.out_count, per_output * lhs_stride, 0, s.out_step * out_stride});
      steps.push_back({s.window_count, per_window * lhs_stride, s.window_step * rhs_stride, 0});
      lhs_base += s.base * lhs_stride;
      rhs_base += s.window_begin * rhs_stride + (w.reversal ? (w.size - 1) * -rhs_stride : 0);
      out_base += s.out_begin * out_stride;
    }
    SortByStride(rows, &SharedAxis::lhs);
    SortByStride(steps, &SharedAxis::lhs);
    const int64_t groups = std::max(attrs_.feature_group_count, attrs_.batch_group_count);
    // Group g of the features, or of the batch, meets its share of the output features.
    const int64_t lhs_group = attrs_.feature_group_count > 1 ? features * lhs_feature : batch * lhs_batch;
    GemmProblem p;
    p.batch_lhs = FlattenAxes({Axis{groups, lhs_group}});
    p.batch_rhs = FlattenAxes({Axis{groups, outputs_per_group_ * rhs_out}});
    p.batch_out = FlattenAxes({Axis{groups, outputs_per_group_ * out_feature}});
    p.lhs_m = Table(rows, &SharedAxis::lhs, lhs_base);
    p.out_m = Table(rows, &SharedAxis::out, out_base);
    p.lhs_k = Table(steps, &SharedAxis::lhs, 0);
    p.rhs_k = Table(steps, &SharedAxis::rhs, rhs_base);
    p.rhs_n = FlattenAxes({Axis{outputs_per_group_, rhs_out}});
    p.out_n = FlattenAxes({Axis{outputs_per_group_, out_feature}});
    // Columns of the product are best consecutive in the output.
    const bool exchange = out_feature != 1 && rows.back().out == 1 && rows.back().size >= 4;
    if (exchange) {
      std::swap(p.batch_lhs, p.batch_rhs);
      std::swap(p.lhs_m, p.rhs_n);
      std::swap(p.lhs_k, p.rhs_k);
      std::swap(p.out_m, p.out_n);
    }
    contraction.Run(std::move(p), exchange);
  }

  const ConvolutionAttrs& attrs_;
  const ConvDimLabels& labels_;
  Literal lhs_;
  const Literal& rhs_;
  Shape shape_;
  int64_t outputs_per_group_ = 1;
  std::vector<std::vector<WindowSegment>> segments_;  // per spatial dimension
  llvm::SmallVector<int64_t> lhs_strides_, rhs_strides_, out_strides_;
};

/// The dense array of a sparse operand (values, positions): of each group of N neighbours along one
/// dimension one is there, at the position given (ops-structured §3.4).
Result<Literal> Densify(const Instruction& inst, const Literal& pair, const SparsitySide& side) {
  const Literal values = pair.element(0).ToStatic().Unpack();
  Literal given = pair.element(1).ToStatic();
  if (!given.shape().IsArray() || !IsIntegral(given.shape().element_type()) ||
      given.shape().dims() != values.shape().dims())
    return Error("unsupported-op", inst.loc(),
                 "%{0}: positions {1} of sparse values {2}; only integers of the same sizes can be evaluated",
                 inst.name(), given.shape(), values.shape());
  const Literal positions = WithElementType(given, ElementType::S64);
  const auto at = positions.Data<int64_t>();
  const auto width = static_cast<size_t>(Info(values.shape().element_type()).host_bytes());
  Dims dims(values.shape().dims());
  int64_t inner = 1;
  for (int64_t d = side.dimension + 1; d < values.shape().rank(); ++d) inner *= values.shape().dim(d);
  dims[static_cast<size_t>(side.dimension)] *= side.group;
  Literal dense = Literal::Zeros(Shape::ArrayWithDefaultLayout(values.shape().element_type(), dims));
  uint8_t* out = dense.MutableData();
  for (size_t i = 0; i < at.size(); ++i) {
    if (at[i] < 0 || at[i] >= side.group)
      return Error("runtime-sparsity", inst.loc(), "%{0}: position {1} of a sparse value is not below {2}",
                   inst.name(), at[i], side.group);
    const auto row = static_cast<int64_t>(i) / inner, column = static_cast<int64_t>(i) % inner;
    const auto target = static_cast<size_t>((row * side.group + at[i]) * inner + column);
    std::memcpy(out + target * width, values.data() + i * width, width);
  }
  return dense;
}

}  // namespace

Result<Literal> EvalConvolution(EvalContext& context, const Instruction& inst,
                                llvm::MutableArrayRef<Literal> operands) {
  const auto& attrs = inst.attr<ConvolutionAttrs>();
  // Padding of dynamic dimensions takes no part (ops-structured §13).
  const auto& sparsity = attrs.sparsity_config;
  if (sparsity.lhs) {
    HLO_TRY(operands[0], Densify(inst, operands[0], *sparsity.lhs));
  }
  if (sparsity.rhs) {
    HLO_TRY(operands[1], Densify(inst, operands[1], *sparsity.rhs));
  }
  if (AnyDynamic(operands)) {
    operands[0] = ToStaticBut(operands[0], attrs.dim_labels->input_feature);
    operands[1] = ZeroPadding(operands[1]);
  }
  const Literal result = Convolution(attrs, operands[0], operands[1], inst.shape().element_type()).Run();
  HLO_CHECK_OK(context.CheckInterrupt());
  return ToBounded(result, inst.shape());
}

}  // namespace hlo

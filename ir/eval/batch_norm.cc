// Batch normalisation: sums and formulas in double, results rounded once (ops-structured §7).
#include <cmath>

#include "ir/eval/elementwise.h"
#include "ir/eval/eval.h"
#include "ir/eval/strided_copy.h"
#include "ir/numeric/narrow_float.h"
#include "ir/support/parallel.h"

namespace hlo {
namespace {

using Values = std::vector<double>;  // one per feature

/// An array seen as [outer, features, inner].
struct View {
  int64_t outer = 1, features = 1, inner = 1;
  View(const Shape& shape, int64_t feature_index) {
    for (int64_t d = 0; d < shape.rank(); ++d)
      (d < feature_index ? outer : d == feature_index ? features : inner) *= shape.dim(d);
  }
  /// Elements per feature.
  [[nodiscard]] double count() const { return static_cast<double>(outer * inner); }
  /// Calls f(element, feature) for all elements with outer index in [begin, end).
  template <class F>
  void ForEach(int64_t begin, int64_t end, F f) const {
    int64_t element = begin * features * inner;
    for (int64_t o = begin; o < end; ++o)
      for (int64_t c = 0; c < features; ++c)
        for (int64_t i = 0; i < inner; ++i, ++element) f(element, static_cast<size_t>(c));
  }
  [[nodiscard]] int64_t grain() const {
    return std::max<int64_t>(1, 65536 / std::max<int64_t>(1, features * inner));
  }
};

/// Sums of term(element, feature) per feature: pieces are summed by themselves and added in order, so
/// that the result does not depend on the number of threads.
template <class F>
Values Sum(const View& view, F term) {
  const int64_t pieces = (view.outer + view.grain() - 1) / view.grain();
  std::vector<Values> partial(static_cast<size_t>(pieces), Values(static_cast<size_t>(view.features), 0.0));
  ParallelFor(0, view.outer, view.grain(), [&](int64_t begin, int64_t end) {
    Values& sums = partial[static_cast<size_t>(begin / view.grain())];
    view.ForEach(begin, end, [&](int64_t e, size_t c) { sums[c] += term(e, c); });
  });
  Values total(static_cast<size_t>(view.features), 0.0);
  for (const Values& sums : partial)
    for (size_t c = 0; c < total.size(); ++c) total[c] += sums[c];
  return total;
}

template <class T, class F>
void Map(const View& view, T* out, F f) {
  ParallelFor(0, view.outer, view.grain(), [&](int64_t begin, int64_t end) {
    view.ForEach(begin, end, [&](int64_t e, size_t c) { out[e] = static_cast<T>(f(e, c)); });
  });
}

/// The values of a small vector operand, one per feature of the view: of a vector whose size at run time is
/// another one zeros, or not all.
Values ToValues(const Literal& vector, const View& view) {
  const Literal wide = ConvertLiteral(vector.ToStatic(), ElementType::F64);
  Values values(wide.Data<double>().begin(), wide.Data<double>().end());
  values.resize(static_cast<size_t>(view.features));
  return values;
}

/// An array without padding in the sizes of another one: zeros where it has no elements at run time.
Literal InSizesOf(const Literal& like, Literal x) {
  if (x.shape().dims() == like.shape().dims()) return x;
  Literal made = Literal::Zeros(like.shape());
  const auto to = RowMajorStrides(like.shape().dims()), from = RowMajorStrides(x.shape().dims());
  llvm::SmallVector<CopyDim, 6> dims;
  for (size_t d = 0; d < to.size(); ++d)
    dims.push_back({std::min(x.shape().dims()[d], like.shape().dims()[d]), to[d], from[d]});
  StridedCopy(made.MutableData(), x.data(), Info(x.shape().element_type()).host_bytes(), dims);
  return made;
}

Literal FromValues(const Values& values, const Shape& shape) {
  Literal dense =
      Literal::Make(Shape::ArrayWithDefaultLayout(ElementType::F64, static_cast<int64_t>(values.size())));
  llvm::copy(values, dense.MutableSpan<double>().begin());
  dense = ConvertLiteral(std::move(dense), shape.element_type());
  if (dense.shape().ElementCount() == shape.ElementCount()) return dense.WithShape(shape);
  Literal padded = Literal::Zeros(shape);
  std::memcpy(padded.MutableData(), dense.data(), dense.byte_size());
  padded.SetDynamicSize(0, dense.shape().dim(0));
  return padded;
}

/// A dense result of the valid elements of `like` in the declared shape.
Literal Embed(Literal dense, const Shape& shape, const Literal& like) {
  dense = ConvertLiteral(std::move(dense), shape.element_type());
  if (!like.HasDynamicSizes()) return dense.WithShape(shape);
  Literal result = Literal::Zeros(shape);
  const auto to = RowMajorStrides(shape.dims()), from = RowMajorStrides(dense.shape().dims());
  llvm::SmallVector<CopyDim, 6> dims;
  for (size_t d = 0; d < to.size(); ++d) dims.push_back({dense.shape().dims()[d], to[d], from[d]});
  StridedCopy(result.MutableData(), dense.data(), Info(shape.element_type()).host_bytes(), dims);
  TakeDynamicSizes(result, like);
  return result;
}

/// Epsilon as a value of the operand's type.
double Epsilon(const Instruction& inst) {
  const ElementType type = inst.operand(0)->shape().element_type();
  return ToDouble(type, FromFloat(type, inst.attr<BatchNormAttrs>().epsilon));
}

Values InverseDeviation(const Values& variance, double epsilon) {
  Values v;
  for (const double x : variance) v.push_back(1 / std::sqrt(x + epsilon));
  return v;
}

/// The operand without padding, as F32 or F64.
Literal Widened(const Literal& x) {
  const ElementType type = x.shape().element_type();
  return ConvertLiteral(x.ToStatic(), type == ElementType::F64 ? type : ElementType::F32);
}

template <class F>
void VisitReal(const Literal& x, F f) {
  if (x.shape().element_type() == ElementType::F64)
    f(x.Data<double>().data());
  else
    f(x.Data<float>().data());
}

template <class T>
T* MutableLike(Literal& literal, const T*) {
  return literal.MutableSpan<T>().data();
}

}  // namespace

Result<Literal> EvalBatchNormTraining(EvalContext&, const Instruction& inst,
                                      llvm::MutableArrayRef<Literal> operands) {
  const Literal x = Widened(operands[0]);
  const View view(x.shape(), inst.attr<BatchNormAttrs>().feature_index);
  const Values scale = ToValues(operands[1], view), offset = ToValues(operands[2], view);
  const double epsilon = Epsilon(inst);
  Literal out = Literal::Make(x.shape());
  Values mean, variance;
  VisitReal(x, [&](const auto* data) {
    mean = Sum(view, [&](int64_t e, size_t) { return static_cast<double>(data[e]); });
    for (double& m : mean) m /= view.count();
    variance = Sum(view, [&](int64_t e, size_t c) {
      const double d = static_cast<double>(data[e]) - mean[c];
      return d * d;
    });
    for (double& v : variance) v /= view.count();
    const Values inverse = InverseDeviation(variance, epsilon);
    Map(view, MutableLike(out, data), [&](int64_t e, size_t c) {
      return (static_cast<double>(data[e]) - mean[c]) * inverse[c] * scale[c] + offset[c];
    });
  });
  std::vector<Literal> results;
  results.push_back(Embed(std::move(out), inst.shape().tuple_shape(0), operands[0]));
  results.push_back(FromValues(mean, inst.shape().tuple_shape(1)));
  results.push_back(FromValues(variance, inst.shape().tuple_shape(2)));
  return Literal::MakeTuple(std::move(results));
}

Result<Literal> EvalBatchNormInference(EvalContext&, const Instruction& inst,
                                       llvm::MutableArrayRef<Literal> operands) {
  const Literal x = Widened(operands[0]);
  const View view(x.shape(), inst.attr<BatchNormAttrs>().feature_index);
  Values factor = ToValues(operands[1], view), shift = ToValues(operands[2], view);
  const Values mean = ToValues(operands[3], view),
               inverse = InverseDeviation(ToValues(operands[4], view), Epsilon(inst));
  for (size_t c = 0; c < factor.size(); ++c) {
    factor[c] *= inverse[c];
    shift[c] -= mean[c] * factor[c];
  }
  Literal out = Literal::Make(x.shape());
  VisitReal(x, [&](const auto* data) {
    Map(view, MutableLike(out, data),
        [&](int64_t e, size_t c) { return static_cast<double>(data[e]) * factor[c] + shift[c]; });
  });
  return Embed(std::move(out), inst.shape(), operands[0]);
}

Result<Literal> EvalBatchNormGrad(EvalContext&, const Instruction& inst,
                                  llvm::MutableArrayRef<Literal> operands) {
  const Literal x = Widened(operands[0]);
  const Literal dy = InSizesOf(x, ConvertLiteral(operands[4].ToStatic(), x.shape().element_type()));
  const View view(x.shape(), inst.attr<BatchNormAttrs>().feature_index);
  const Values scale = ToValues(operands[1], view), mean = ToValues(operands[2], view),
               variance = ToValues(operands[3], view);
  const double epsilon = Epsilon(inst);
  const Values inverse = InverseDeviation(variance, epsilon);
  const double n = view.count();
  Literal grad = Literal::Make(x.shape());
  Values grad_scale, grad_offset;
  VisitReal(x, [&](const auto* data) {
    const auto* d = dy.Data<std::remove_cvref_t<decltype(*data)>>().data();
    const auto centred = [&](int64_t e, size_t c) { return static_cast<double>(data[e]) - mean[c]; };
    grad_offset = Sum(view, [&](int64_t e, size_t) { return static_cast<double>(d[e]); });
    const Values product =
        Sum(view, [&](int64_t e, size_t c) { return static_cast<double>(d[e]) * centred(e, c); });
    for (size_t c = 0; c < product.size(); ++c) grad_scale.push_back(product[c] * inverse[c]);
    Map(view, MutableLike(grad, data), [&](int64_t e, size_t c) {
      return scale[c] * inverse[c] / n *
             (n * static_cast<double>(d[e]) - grad_offset[c] -
              centred(e, c) * product[c] / (variance[c] + epsilon));
    });
  });
  std::vector<Literal> results;
  results.push_back(Embed(std::move(grad), inst.shape().tuple_shape(0), operands[0]));
  results.push_back(FromValues(grad_scale, inst.shape().tuple_shape(1)));
  results.push_back(FromValues(grad_offset, inst.shape().tuple_shape(2)));
  return Literal::MakeTuple(std::move(results));
}

}  // namespace hlo

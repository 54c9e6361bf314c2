// Products, reductions and elementwise operations for the stand-in of cuDNN, and whether they fit their
// tensors.
#pragma once
#include <cmath>
#include <limits>

#include "testdata/gpu/cudnn_values.h"

namespace hlo::gpu {

/// What an elementwise operation takes besides x, and what it makes of numbers.
struct PointwiseRow {
  CudnnPointwise mode;
  bool takes_b;
  double (*compute)(double x, double b);
};
inline constexpr PointwiseRow kPointwise[] = {
    {CudnnPointwise::Add, true, [](double x, double b) { return x + b; }},
    {CudnnPointwise::Multiply, true, [](double x, double b) { return x * b; }},
    {CudnnPointwise::Divide, true, [](double x, double b) { return x / b; }},
    {CudnnPointwise::Subtract, true, [](double x, double b) { return x - b; }},
    {CudnnPointwise::Exp, false, [](double x, double) { return std::exp(x); }},
    {CudnnPointwise::Log, false, [](double x, double) { return std::log(x); }},
    {CudnnPointwise::Relu, false, [](double x, double) { return x < 0 ? 0 : x; }},
    {CudnnPointwise::Tanh, false, [](double x, double) { return std::tanh(x); }},
    {CudnnPointwise::GreaterEqual, true, [](double x, double b) { return x >= b ? 1.0 : 0.0; }},
    {CudnnPointwise::GenIndex, false, nullptr},
    {CudnnPointwise::BinarySelect, true, nullptr}};

inline const PointwiseRow* PointwiseOf(const Description& operation) {
  const auto mode = operation.Part(A::OperationPointwise).One<CudnnPointwise>(A::PointwiseMode);
  for (const PointwiseRow& row : kPointwise)
    if (row.mode == mode) return &row;
  return nullptr;
}
/// Dimensions of one element are read for all.
inline bool GoesAlong(const Description& tensor, const Description& all) {
  const auto sizes = SizesOf(tensor), whole = SizesOf(all);
  for (size_t i = 0; i < whole.size(); ++i)
    if (sizes.size() != whole.size() || (sizes[i] != whole[i] && sizes[i] != 1)) return false;
  return true;
}
inline bool FitsPointwise(const Description& of) {
  if (!of.Has(A::OperationPointwise) || !of.Has(A::OperationX) || !of.Has(A::OperationY)) return false;
  const Description& how = of.Part(A::OperationPointwise);
  const PointwiseRow* const row = PointwiseOf(of);
  if (row == nullptr || row->takes_b != of.Has(A::OperationB)) return false;
  if (row->mode == CudnnPointwise::Relu && !how.Has(A::PointwiseNans)) return false;
  if ((row->mode == CudnnPointwise::GenIndex) != how.Has(A::PointwiseAxis)) return false;
  const bool selects = row->mode == CudnnPointwise::BinarySelect;
  if (selects != of.Has(A::OperationT)) return false;
  const Description& x = of.Part(A::OperationX);
  if (selects && (KindOf(of.Part(A::OperationT)) != Kind::S8 || !GoesAlong(of.Part(A::OperationT), x)))
    return false;
  return !row->takes_b || GoesAlong(of.Part(A::OperationB), x);
}

/// Products of each head; of b, heads may be those of several of a.
inline bool FitsMatmul(const Description& of) {
  for (const A part : {A::OperationMatmulA, A::OperationMatmulB, A::OperationMatmulC, A::OperationMatmul})
    if (!of.Has(part) || !of.Part(part).finished) return false;
  const auto a = SizesOf(of.Part(A::OperationMatmulA)), b = SizesOf(of.Part(A::OperationMatmulB)),
             c = SizesOf(of.Part(A::OperationMatmulC));
  constexpr size_t kRank = 4;
  return a.size() == kRank && b.size() == kRank && c.size() == kRank && a[0] == b[0] && a[0] == c[0] &&
         a[1] % b[1] == 0 && a[1] == c[1] && a[2] == c[2] && a[3] == b[2] && b[3] == c[3] &&
         of.Part(A::OperationMatmul).One<CudnnType>(A::MatmulType) == CudnnType::F32;
}
inline void MultiplyMatrices(const Values& a, const Values& b, Values& c) {
  const int64_t shared = a.sizes[1] / b.sizes[1];
  c.ForEach([&](size_t n, size_t, const std::vector<int64_t>& at) {
    std::vector<int64_t> left = at, right = {at[0], at[1] / shared, 0, at[3]};
    double sum = 0;
    for (int64_t k = 0; k < a.sizes[3]; ++k) {
      left[3] = right[2] = k;
      sum += a.numbers[a.NumberOf(left)] * b.numbers[b.NumberOf(right)];
    }
    c.numbers[n] = sum;
  });
}

inline bool FitsReduction(const Description& of) {
  for (const A part : {A::OperationReductionX, A::OperationReductionY, A::OperationReduction})
    if (!of.Has(part) || !of.Part(part).finished) return false;
  const auto x = SizesOf(of.Part(A::OperationReductionX)), y = SizesOf(of.Part(A::OperationReductionY));
  bool divides = x.size() == y.size();
  for (size_t i = 0; i < x.size() && divides; ++i) divides = x[i] % y[i] == 0;
  return divides && of.Part(A::OperationReduction).Has(A::ReductionOperator) &&
         of.Part(A::OperationReduction).Has(A::ReductionType);
}
/// As many elements beside each other as make one of the result.
inline void ReduceRows(CudnnReduction op, const Values& x, Values& y) {
  const bool max = op == CudnnReduction::Max;
  std::fill(y.numbers.begin(), y.numbers.end(), max ? -std::numeric_limits<double>::infinity() : 0);
  x.ForEach([&](size_t n, size_t, const std::vector<int64_t>& at) {
    std::vector<int64_t> to = at;
    for (size_t d = 0; d < to.size(); ++d) to[d] /= x.sizes[d] / y.sizes[d];
    double& made = y.numbers[y.NumberOf(to)];
    made = max ? std::max(made, x.numbers[n]) : made + x.numbers[n];
  });
}

/// The same elements in the order in which they lie, with the same strides or others.
inline bool FitsReshape(const Description& of) {
  for (const A part : {A::OperationReshapeX, A::OperationReshapeY})
    if (!of.Has(part) || !of.Part(part).finished) return false;
  auto x = SizesOf(of.Part(A::OperationReshapeX)), y = SizesOf(of.Part(A::OperationReshapeY));
  std::sort(x.begin(), x.end());
  std::sort(y.begin(), y.end());
  return x == y && of.Part(A::OperationReshapeY).One<bool>(A::TensorVirtual);
}
inline bool ReshapeValues(const Values& x, Values& y) {
  std::map<size_t, double> at_place;
  x.ForEach([&](size_t n, size_t place, const auto&) { at_place[place] = x.numbers[n]; });
  bool all = true;
  y.ForEach([&](size_t n, size_t place, const auto&) {
    const auto it = at_place.find(place);
    all &= it != at_place.end();
    if (it != at_place.end()) y.numbers[n] = it->second;
  });
  return all;
}

}  // namespace hlo::gpu

// Values of rows and features, where what is weighed is divided by sums only afterwards: the gradient of the
// result divided by them, weighed values, and products of both, whose sums are those of powers times
// gradients of weights.
#include "backends/gpu/libraries/gradient_reader.h"
#include "ir/by_op_kind.h"
#include "passes/analysis/reducers.h"

namespace hlo::gpu {

/// Nothing is made of sums but what has no powers or gradients.
std::optional<SoftmaxTerm> GradientReader::OnlySums(const Value& value) {
  if (value.terms.size() != 1) return std::nullopt;
  const SoftmaxTerm& term = value.terms.front();
  if (term.powers != 0 || term.gradient != 0 || term.gradient_sums != 0 || term.factor == 0)
    return std::nullopt;
  return term;
}

bool GradientReader::GoesAlongFeatures(const View& rows, const View& all) const {
  return llvm::all_of(llvm::zip(rows.dims, all.dims), [&](const auto& dims) {
    const auto& [row, one] = dims;
    return one.size == 1 || row.stride == (one.stride == FeatureStride() ? 0 : one.stride);
  });
}

/// Which scores are the largest of their row, and how many: the gradient of maxima is spread over them, which
/// is 0.
bool GradientReader::IsAtMaxima(const Instruction& inst) const {
  static constexpr ByOpKind<bool> kSeen({{OpKind::Convert, true},
                                         {OpKind::Reshape, true},
                                         {OpKind::Broadcast, true},
                                         {OpKind::Transpose, true}});
  if (kSeen[inst.kind()]) return at_maxima_.contains(inst.operand(0));
  if (inst.kind() == OpKind::Reduce)
    return IsPlainReduction(inst) && PlainReductionOp(inst) == OpKind::Add &&
           at_maxima_.contains(inst.operand(0)) && IsIdentityOf(OpKind::Add, *inst.operand(1));
  if (inst.kind() != OpKind::Compare || inst.attr<CompareAttrs>().direction != Direction::EQ) return false;
  const Known *const scores = Find(inst.operand(0)), *const maxima = Find(inst.operand(1));
  return scores != nullptr && maxima != nullptr && scores->role == Role::Scores &&
         maxima->role == Role::Maxima && scores->version == maxima->version &&
         GoesAlong(maxima->view, scores->view);
}

/// 0 times or divided by how many that are.
std::optional<GradientReader::Value> GradientReader::Zero(const Instruction& inst) const {
  for (const bool first : {true, false}) {
    if (!first && inst.kind() == OpKind::Divide) break;
    const auto value = ValueOf(*inst.operand(first ? 0 : 1));
    if (value && value->terms.empty() && at_maxima_.contains(inst.operand(first ? 1 : 0))) return value;
  }
  return std::nullopt;
}

/// The gradient of the result, times or divided by sums of its rows; the first time it is found out which
/// that is.
bool GradientReader::MakeFeatured(const Instruction& inst) {
  const bool divides = inst.kind() == OpKind::Divide;
  if (!divides && inst.kind() != OpKind::Multiply) return false;
  const bool first = !divides && ValueOf(*inst.operand(0)).has_value();
  const auto rows = ValueOf(*inst.operand(first ? 0 : 1));
  const Instruction& other = *inst.operand(first ? 1 : 0);
  const auto sums = rows ? OnlySums(*rows) : std::nullopt;
  if (!sums || IsKnown(other)) return false;
  Featured made{.factor = divides ? 1 / sums->factor : sums->factor,
                .gradient = 1,
                .sums = divides ? -sums->sums : sums->sums,
                .view = rows->view};
  ArrayAlong along;
  Dims features;
  for (size_t d = 0; d < made.view.dims.size(); ++d) {
    ViewDim& dim = made.view.dims[d];
    const auto number = static_cast<int64_t>(d);
    if (dim.size > 1 && dim.stride == 0) {
      features.push_back(number);
      dim.stride = FeatureStride();
    } else {
      along.push_back({dim.size, dim.stride, number});
    }
  }
  Settle();
  if (features.size() != 1 || !Agree(A::ResultGradient, other, along, features)) return false;
  featured_[&inst] = std::move(made);
  return true;
}

bool GradientReader::TakeFeatured(const Instruction& inst) {
  static constexpr ByOpKind<bool (GradientReader::*)(const Instruction&)> kRules(
      {{OpKind::Transpose, &GradientReader::SeeFeatured},
       {OpKind::Reshape, &GradientReader::SeeFeatured},
       {OpKind::Bitcast, &GradientReader::SeeFeatured},
       {OpKind::Convert, &GradientReader::SeeFeatured},
       {OpKind::Multiply, &GradientReader::MultiplyFeatured},
       {OpKind::Divide, &GradientReader::MultiplyFeatured},
       {OpKind::Reduce, &GradientReader::ReduceFeatured},
       {OpKind::Dot, &GradientReader::FeaturedProduct}});
  const auto rule = kRules[inst.kind()];
  return rule != nullptr && (this->*rule)(inst);
}

bool GradientReader::SeeFeatured(const Instruction& inst) {
  Featured seen = featured_.find(inst.operand(0))->second;
  constexpr ElementType kRounded[] = {ElementType::F16, ElementType::BF16, ElementType::F32};
  const auto view = inst.kind() == OpKind::Convert ? std::optional(seen.view) : ViewBehind(inst, seen.view);
  if (!view || !llvm::is_contained(kRounded, inst.shape().element_type())) return false;
  seen.view = *view;
  featured_[&inst] = std::move(seen);
  return true;
}

bool GradientReader::MultiplyFeatured(const Instruction& inst) {
  const auto first = featured_.find(inst.operand(0)), second = featured_.find(inst.operand(1));
  const bool divides = inst.kind() == OpKind::Divide;
  if (first != featured_.end() && second != featured_.end()) {
    const auto& [a, b] = std::pair(first->second, second->second);
    const bool same = llvm::equal(a.view.dims, b.view.dims, [](const ViewDim& x, const ViewDim& y) {
      return x.size == y.size && (x.size == 1 || x.stride == y.stride);
    });
    if (divides || !same) return false;
    featured_[&inst] = {a.factor * b.factor, a.gradient + b.gradient, a.weighed + b.weighed, a.sums + b.sums,
                        a.view};
    return true;
  }
  if (divides && first == featured_.end()) return false;
  Featured made = (first != featured_.end() ? first : second)->second;
  const auto rows = ValueOf(*inst.operand(first != featured_.end() ? 1 : 0));
  const auto sums = rows ? OnlySums(*rows) : std::nullopt;
  if (!sums || !GoesAlongFeatures(rows->view, made.view)) return false;
  made.factor *= divides ? 1 / sums->factor : sums->factor;
  made.sums += divides ? -sums->sums : sums->sums;
  if (made.gradient == 0 && made.weighed == 1 && made.sums == -1 && made.factor == 1)
    return KeepDivided(inst, made.view);
  featured_[&inst] = std::move(made);
  return true;
}

/// The result; who reads that is no part of it.
bool GradientReader::KeepDivided(const Instruction& inst, const View& view) {
  auto& made = made_of_.result;
  if (made.product != nullptr || !IsRounded(inst)) return false;
  made.product = &inst;
  ArrayAlong dims;
  for (const bool features : {false, true})
    for (size_t d = 0; d < view.dims.size(); ++d) {
      const bool is_feature = view.dims[d].size > 1 && view.dims[d].stride == FeatureStride();
      if (is_feature != features) continue;
      dims.push_back({view.dims[d].size, is_feature ? -1 : view.dims[d].stride, 0});
      made.order.push_back(static_cast<int64_t>(d));
    }
  Lie(A::Result, dims, made);
  return true;
}

bool GradientReader::ReduceFeatured(const Instruction& inst) {
  const Featured& of = featured_.find(inst.operand(0))->second;
  if (!IsPlainReduction(inst) || PlainReductionOp(inst) != OpKind::Add ||
      !IsIdentityOf(OpKind::Add, *inst.operand(1)) || of.gradient != 1 || of.weighed != 1)
    return false;
  Value made{{SoftmaxTerm{.factor = of.factor, .sums = of.sums, .gradient_sums = 1}}, of.view};
  made.view.dims.clear();
  const Dims dims = ReducedDims(inst);
  for (size_t d = 0; d < of.view.dims.size(); ++d) {
    const ViewDim& dim = of.view.dims[d];
    const bool reduced = llvm::is_contained(dims, static_cast<int64_t>(d));
    // Features, all of them, and nothing else.
    if (dim.size > 1 && reduced != (dim.stride == FeatureStride())) return false;
    if (!reduced) made.view.dims.push_back(dim);
  }
  values_[&inst] = std::move(made);
  return true;
}

}  // namespace hlo::gpu

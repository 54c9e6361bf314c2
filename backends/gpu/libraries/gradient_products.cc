// The products that an attention and its gradients are made of.
#include <cmath>

#include "backends/gpu/libraries/gradient_reader.h"
#include "ir/by_op_kind.h"

namespace hlo::gpu {
namespace {

using Made = GradientsOfAttention::Made;

/// Factors that differ by no more were the same before they were rounded.
constexpr double kSameFactor = 1e-6;

const Dims& BatchOf(const DotAttrs& attrs, size_t side) {
  return side == 0 ? attrs.lhs_batch_dims : attrs.rhs_batch_dims;
}
const Dims& ContractingOf(const DotAttrs& attrs, size_t side) {
  return side == 0 ? attrs.lhs_contracting_dims : attrs.rhs_contracting_dims;
}
/// The dimensions of a side that the result has, in this order.
Dims FreeOf(const Instruction& dot, size_t side) {
  const auto& attrs = dot.attr<DotAttrs>();
  Dims free;
  for (int64_t d = 0; d < dot.operand(static_cast<int64_t>(side))->shape().rank(); ++d)
    if (!llvm::is_contained(BatchOf(attrs, side), d) && !llvm::is_contained(ContractingOf(attrs, side), d))
      free.push_back(d);
  return free;
}
llvm::SmallVector<ViewDim, 4> Chosen(const View& view, const Dims& dims) {
  llvm::SmallVector<ViewDim, 4> chosen;
  for (const int64_t d : dims) chosen.push_back(view.dims[static_cast<size_t>(d)]);
  return chosen;
}

}  // namespace

void GradientReader::Settle() {
  if (settled_ || found_.keys.first == 0) return;
  settled_ = true;
  if (found_.keys.first == 1) return;
  std::swap(found_.along[A::Queries], found_.along[A::Keys]);
  std::swap(found_.views[A::Queries], found_.views[A::Keys]);
  std::swap(found_.features[A::Queries], found_.features[A::Keys]);
}

/// What a value sees of the product that makes the gradient of weights; the first time it is found out which
/// that is. `along`: what a value of as many elements sees of the scores.
std::optional<GradientReader::Value> GradientReader::Gradient(const Instruction& value, const View& along) {
  llvm::SmallVector<const Instruction*, 4> chain;
  constexpr ByOpKind<bool> kSeen(
      {{OpKind::Convert, true}, {OpKind::Reshape, true}, {OpKind::Bitcast, true}, {OpKind::Transpose, true}});
  const Instruction* at = &value;
  for (; kSeen[at->kind()]; at = at->operand(0)) chain.push_back(at);
  if (at->kind() != OpKind::Dot || at == scores_ || (gradient_ != nullptr && gradient_ != at))
    return std::nullopt;
  std::optional<View> seen = ViewOfArray(-1, at->shape());
  for (const Instruction* step : llvm::reverse(chain))
    if (seen && step->kind() != OpKind::Convert) seen = ViewBehind(*step, *seen);
  if (!seen) return std::nullopt;
  Value made{{SoftmaxTerm{.gradient = 1}}, along};
  for (ViewDim& dim : made.view.dims) {
    if (dim.size == 1 || dim.stride != 0) continue;
    if (dim.size != found_.keys.second / found_.keys.first) return std::nullopt;
    dim.stride = found_.keys.first;
  }
  // Each dimension of the product is one of the value's.
  llvm::SmallVector<ViewDim, 4> dims;
  for (const ViewDim& dim : ViewOfArray(-1, at->shape()).dims) {
    const auto* const same = llvm::find_if(seen->dims, [&](const ViewDim& d) {
      return d.size == dim.size && (d.size == 1 || d.stride == dim.stride);
    });
    if (dim.size > 1 && same == seen->dims.end()) return std::nullopt;
    dims.push_back({dim.size, dim.size == 1
                                  ? 0
                                  : made.view.dims[static_cast<size_t>(same - seen->dims.begin())].stride});
  }
  if (gradient_ == nullptr) {
    // It may be another product.
    const AttentionArrays found = found_;
    const auto arrays = arrays_;
    gradient_ = at;
    gradient_dims_ = dims;
    if (!SeeGradient(*at)) {
      gradient_ = nullptr;
      found_ = found;
      arrays_ = arrays;
      return std::nullopt;
    }
  }
  const bool same = llvm::equal(gradient_dims_, dims, [](const ViewDim& a, const ViewDim& b) {
    return a.size == b.size && a.stride == b.stride;
  });
  if (!same) return std::nullopt;
  return made;
}

/// Of the gradient of the result and the values.
bool GradientReader::SeeGradient(const Instruction& dot) {
  Settle();
  const auto& attrs = dot.attr<DotAttrs>();
  size_t place = attrs.lhs_batch_dims.size();
  bool values = false, others = false;
  for (size_t side = 0; side < 2; ++side) {
    ArrayAlong along;
    for (size_t b = 0; b < BatchOf(attrs, side).size(); ++b)
      along.push_back({gradient_dims_[b].size, gradient_dims_[b].stride, BatchOf(attrs, side)[b]});
    llvm::SmallVector<ViewDim, 4> free;
    for (const int64_t d : FreeOf(dot, side)) {
      free.push_back(gradient_dims_[place]);
      along.push_back({gradient_dims_[place].size, gradient_dims_[place].stride, d});
      ++place;
    }
    const bool is_values = AreKeys(free);
    if (!is_values && !AreQueries(free)) return false;
    (is_values ? values : others) = true;
    const auto array = is_values ? A::Values : A::ResultGradient;
    if (!Agree(array, *dot.operand(static_cast<int64_t>(side)), along, ContractingOf(attrs, side)))
      return false;
    if (!is_values) continue;
    weighed_ = dot.operand(static_cast<int64_t>(side));
    weighed_dims_ = along;
  }
  return values && others;
}

bool GradientReader::AreQueries(llvm::ArrayRef<ViewDim> dims) const {
  const bool inner = found_.keys.first == 1;
  return Covers(dims, found_.sections[inner ? 1 : 0], found_.sections[inner ? 2 : 1]);
}

/// `along` has the value's dimensions instead of strides.
bool GradientReader::Agree(A::Array array, const Instruction& value, const ArrayAlong& along,
                           const Dims& features) {
  std::optional<View> view = ArrayOf(value);
  if (!view) return false;
  A::Features of{};
  for (const int64_t d : features) {
    const ViewDim& dim = view->dims[static_cast<size_t>(d)];
    if (dim.size == 1) continue;
    if (of.size > 1) return false;
    of = {dim.size, dim.stride};
  }
  ArrayAlong strides = along;
  for (AlongScores& one : strides) one.stride = view->dims[static_cast<size_t>(one.stride)].stride;
  View& known = found_.views[array];
  if (known.array < 0) {
    known = std::move(*view);
    found_.along[array] = std::move(strides);
    found_.features[array] = of;
    return true;
  }
  return known.array == view->array && known.offset == view->offset && known.type == view->type &&
         found_.features[array].size == of.size && found_.features[array].stride == of.stride &&
         AreEqual(found_.along[array], strides);
}

bool GradientReader::IsGradientOfScores(const SoftmaxTerms& terms) const {
  constexpr SoftmaxTerm kTerms[] = {{1, 1, -1, 1, 0}, {-1, 1, -2, 0, 1}};
  if (terms.size() != 2) return false;
  return llvm::all_of(kTerms, [&](const SoftmaxTerm& wanted) {
    return llvm::any_of(terms, [&](const SoftmaxTerm& term) {
      const double factor = found_.scale * wanted.factor;
      return term.IsLike(wanted) && std::abs(term.factor - factor) <= kSameFactor * std::abs(factor);
    });
  });
}

/// The library rounds weights to the arrays' type before it multiplies them, and the text does, too.
bool GradientReader::RoundsOperand(const Instruction& dot, size_t side) const {
  static constexpr std::pair<DotAlgorithm, ElementType> kRounding[] = {
      {DotAlgorithm::F16F16F32, ElementType::F16}, {DotAlgorithm::BF16BF16F32, ElementType::BF16}};
  const ElementType type = found_.views[A::Queries].type;
  return dot.operand(static_cast<int64_t>(side))->shape().element_type() == type ||
         llvm::is_contained(kRounding, std::pair(dot.attr<DotAttrs>().algorithm, type));
}

/// A value of the arrays' type, or which is rounded to that before anything else is done to it.
bool GradientReader::IsRounded(const Instruction& made) const {
  static constexpr ByOpKind<bool> kMoves(
      {{OpKind::Transpose, true}, {OpKind::Reshape, true}, {OpKind::Bitcast, true}, {OpKind::Copy, true}});
  const ElementType type = found_.views[A::Queries].type;
  llvm::SmallVector<const Instruction*, 4> work = {&made};
  while (!work.empty()) {
    const Instruction* const at = work.pop_back_val();
    if (at->shape().element_type() == type) continue;
    if (at != &made && !kMoves[at->kind()]) return false;
    if (at->IsRoot()) return false;
    work.append(at->users().begin(), at->users().end());
  }
  return true;
}

/// The dimensions of the other side of a product that are also those of one, whose view is given.
ArrayAlong GradientReader::AlongOther(const Instruction& dot, size_t side, const View& view) {
  const auto& attrs = dot.attr<DotAttrs>();
  ArrayAlong along;
  for (const auto& [of_side, of_other] :
       {std::pair(BatchOf(attrs, side), BatchOf(attrs, 1 - side)),
        std::pair(ContractingOf(attrs, side), ContractingOf(attrs, 1 - side))})
    for (size_t i = 0; i < of_side.size(); ++i) {
      const ViewDim& dim = view.dims[static_cast<size_t>(of_side[i])];
      along.push_back({dim.size, dim.stride, of_other[i]});
    }
  return along;
}

/// Values that powers weigh, which are to be divided.
bool GradientReader::WeighPowers(const Instruction& dot, size_t side, const View& powers) {
  const auto& attrs = dot.attr<DotAttrs>();
  const Instruction& values = *dot.operand(static_cast<int64_t>(1 - side));
  if (!Agree(A::Values, values, AlongOther(dot, side, powers), FreeOf(dot, 1 - side))) return false;
  Featured made{.weighed = 1};
  made.view.dims = Chosen(powers, BatchOf(attrs, side));
  for (size_t s = 0; s < 2; ++s)
    for (const int64_t d : FreeOf(dot, s))
      made.view.dims.push_back(s == side ? powers.dims[static_cast<size_t>(d)]
                                         : ViewDim{values.shape().dim(d), FeatureStride()});
  featured_[&dot] = std::move(made);
  return true;
}

/// The gradient of the result with values is that of weights, with powers that of values.
bool GradientReader::FeaturedProduct(const Instruction& dot) {
  const size_t side = featured_.contains(dot.operand(0)) ? 0 : 1;
  const Featured& of = featured_.find(dot.operand(static_cast<int64_t>(side)))->second;
  const Instruction& other = *dot.operand(static_cast<int64_t>(1 - side));
  if (of.gradient != 1 || of.weighed != 0) return false;
  if (!IsKnown(other)) return SeeFeaturedGradient(dot, side);
  const auto powers = ValueOf(other);
  if (!powers || powers->terms.size() != 1 || made_of_.values.product != nullptr) return false;
  const SoftmaxTerm& term = powers->terms.front();
  const auto& attrs = dot.attr<DotAttrs>();
  const auto same = [&](const Dims& mine, const Dims& others) {
    return llvm::all_of(llvm::zip(mine, others), [&](const auto& dims) {
      const ViewDim& a = of.view.dims[static_cast<size_t>(std::get<0>(dims))];
      return a.size == 1 || a.stride == powers->view.dims[static_cast<size_t>(std::get<1>(dims))].stride;
    });
  };
  if (!term.IsLike({.powers = 1, .sums = -1 - of.sums}) || term.factor * of.factor != 1 ||
      !RoundsOperand(dot, 0) || !RoundsOperand(dot, 1) || !IsRounded(dot) ||
      !AreQueries(Chosen(powers->view, ContractingOf(attrs, 1 - side))) ||
      !same(BatchOf(attrs, side), BatchOf(attrs, 1 - side)) ||
      !same(ContractingOf(attrs, side), ContractingOf(attrs, 1 - side)))
    return false;
  made_of_.values = Keep(dot, 1 - side, powers->view, A::ValuesGradient);
  return true;
}

bool GradientReader::SeeFeaturedGradient(const Instruction& dot, size_t side) {
  const Featured& of = featured_.find(dot.operand(static_cast<int64_t>(side)))->second;
  const Instruction& values = *dot.operand(static_cast<int64_t>(1 - side));
  const auto& attrs = dot.attr<DotAttrs>();
  const auto contracted = Chosen(of.view, ContractingOf(attrs, side));
  if (llvm::any_of(contracted,
                   [&](const ViewDim& dim) { return dim.size > 1 && dim.stride != FeatureStride(); }))
    return false;
  ArrayAlong along;
  for (size_t i = 0; i < BatchOf(attrs, side).size(); ++i) {
    const ViewDim& dim = of.view.dims[static_cast<size_t>(BatchOf(attrs, side)[i])];
    along.push_back({dim.size, dim.stride, BatchOf(attrs, 1 - side)[i]});
  }
  Value made{{SoftmaxTerm{.factor = of.factor, .sums = of.sums, .gradient = 1}}, {}};
  made.view.dims = Chosen(of.view, BatchOf(attrs, side));
  llvm::SmallVector<ViewDim, 4> keys;
  for (size_t s = 0; s < 2; ++s)
    for (const int64_t d : FreeOf(dot, s)) {
      ViewDim dim = s == side ? of.view.dims[static_cast<size_t>(d)]
                              : ViewDim{values.shape().dim(d), found_.keys.first};
      if (s == side && dim.size > 1 && dim.stride == FeatureStride()) return false;
      if (s != side) {
        keys.push_back(dim);
        along.push_back({dim.size, dim.stride, d});
      }
      made.view.dims.push_back(dim);
    }
  llvm::erase_if(keys, [](const ViewDim& dim) { return dim.size == 1; });
  if (keys.size() != 1 || !AreKeys(keys) || !Agree(A::Values, values, along, ContractingOf(attrs, 1 - side)))
    return false;
  if (gradient_ == nullptr) gradient_ = &dot;
  weighed_ = &values;
  weighed_dims_ = along;
  values_[&dot] = std::move(made);
  return true;
}

bool GradientReader::Product(const Instruction& dot) {
  Settle();
  const size_t side = IsKnown(*dot.operand(0)) ? 0 : 1;
  const Instruction& other = *dot.operand(static_cast<int64_t>(1 - side));
  const auto weights = ValueOf(*dot.operand(static_cast<int64_t>(side)));
  if (!weights || IsKnown(other)) return false;
  const auto& attrs = dot.attr<DotAttrs>();
  const auto contracted = Chosen(weights->view, ContractingOf(attrs, side));
  const bool keys = AreKeys(contracted), queries = !keys && AreQueries(contracted);
  const bool is_weights = weights->terms.size() == 1 &&
                          weights->terms.front().IsLike({.powers = 1, .sums = -1}) &&
                          weights->terms.front().factor == 1;
  const bool is_gradient = IsGradientOfScores(weights->terms);
  if (is_gradient && !IsMasked(*weights)) {
    why_ = "gradients of scores that its masks leave out are not 0";
    return false;
  }
  const struct {
    bool is;
    A::Array of, array;
    Made& made;
  } rows[] = {{is_weights && keys, A::Values, A::Result, made_of_.result},
              {is_weights && queries, A::ResultGradient, A::ValuesGradient, made_of_.values},
              {is_gradient && keys, A::Keys, A::QueriesGradient, made_of_.queries},
              {is_gradient && queries, A::Queries, A::KeysGradient, made_of_.keys}};
  const bool is_powers = weights->terms.size() == 1 && weights->terms.front().IsLike({.powers = 1}) &&
                         weights->terms.front().factor == 1;
  // Gradients of scores are, as what they make is.
  if (!is_gradient && !RoundsOperand(dot, side)) {
    why_ = "it multiplies weights that are not rounded to the arrays' type";
    return false;
  }
  if (is_powers && keys) return WeighPowers(dot, side, weights->view);
  const auto* const row = llvm::find_if(rows, [](const auto& r) { return r.is; });
  if (row == std::end(rows) || row->made.product != nullptr) return false;
  const ArrayAlong along = AlongOther(dot, side, weights->view);
  if (!Agree(row->of, other, along, FreeOf(dot, 1 - side))) return false;
  if (!IsRounded(dot)) {
    why_ = "what it makes is not rounded to the arrays' type";
    return false;
  }
  row->made = Keep(dot, side, weights->view, row->array);
  return true;
}

/// What a product makes as an array whose last dimension are features, otherwise in the order of the product
/// or of the only one that reads it.
Made GradientReader::Keep(const Instruction& dot, size_t side, const View& weights, A::Array array) {
  const auto& attrs = dot.attr<DotAttrs>();
  ArrayAlong dims;  // of the product; features are those of no score
  for (const int64_t b : BatchOf(attrs, side)) {
    const ViewDim& dim = weights.dims[static_cast<size_t>(b)];
    dims.push_back({dim.size, dim.stride, 0});
  }
  for (size_t s = 0; s < 2; ++s)
    for (const int64_t d : FreeOf(dot, s)) {
      const ViewDim dim = s == side ? weights.dims[static_cast<size_t>(d)]
                                    : ViewDim{dot.operand(static_cast<int64_t>(s))->shape().dim(d), -1};
      dims.push_back({dim.size, dim.stride, 0});
    }
  const auto is_features = [&](int64_t d) { return dims[static_cast<size_t>(d)].scores < 0; };
  Made made{&dot, {}, {}};
  const auto only_user = [](const Instruction* inst) {
    return inst != nullptr && inst->users().size() == 1 ? inst->users().front() : nullptr;
  };
  const Instruction* user = only_user(&dot);
  if (user != nullptr && user->kind() == OpKind::Convert) user = only_user(user);
  if (user != nullptr && user->kind() == OpKind::Transpose)
    made.order = user->attr<DimensionsAttrs>().dimensions;
  if (made.order.empty() || !is_features(made.order.back()) ||
      dims[static_cast<size_t>(made.order.back())].size == 1) {
    made.order.clear();
    for (const bool features : {false, true})
      for (int64_t d = 0; d < static_cast<int64_t>(dims.size()); ++d)
        if (is_features(d) == features) made.order.push_back(d);
  }
  ArrayAlong lies;
  for (const int64_t d : made.order) lies.push_back(dims[static_cast<size_t>(d)]);
  Lie(array, lies, made);
  return made;
}

/// Dimensions row by row; features are those of no score.
void GradientReader::Lie(A::Array array, llvm::ArrayRef<AlongScores> dims, Made& made) {
  int64_t stride = 1;
  for (const AlongScores& dim : llvm::reverse(dims)) {
    if (dim.scores >= 0)
      found_.along[array].push_back({dim.size, dim.scores, stride});
    else if (dim.size > 1)
      found_.features[array] = {dim.size, stride};
    stride *= dim.size;
  }
  for (const AlongScores& dim : dims) made.sizes.push_back(dim.size);
}

}  // namespace hlo::gpu

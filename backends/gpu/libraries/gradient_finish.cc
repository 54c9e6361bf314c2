// What is made of an attention that has been read to its end: statistics, and what the library makes though
// nobody reads it.
#include "backends/gpu/libraries/gradient_reader.h"

namespace hlo::gpu {
namespace {

llvm::SmallVector<ViewDim, 4> LongDims(llvm::SmallVector<ViewDim, 4> dims) {
  llvm::erase_if(dims, [](const ViewDim& dim) { return dim.size == 1; });
  return dims;
}
/// Where the dimensions of several elements of `rows` are among others; nothing where one is not.
std::optional<Dims> PlacesIn(llvm::ArrayRef<ViewDim> others, llvm::ArrayRef<ViewDim> rows) {
  Dims places;
  for (const ViewDim& dim : rows) {
    const auto* const same = llvm::find_if(
        others, [&](const ViewDim& other) { return other.size == dim.size && other.stride == dim.stride; });
    if (same == others.end()) return std::nullopt;
    places.push_back(same - others.begin());
  }
  return places;
}

}  // namespace

using Made = GradientsOfAttention::Made;

Made GradientReader::Absent(A::Array of, A::Array array) {
  ArrayAlong dims = found_.along[of];
  llvm::erase_if(dims, [](const AlongScores& dim) { return dim.size == 1 || dim.stride == 0; });
  llvm::sort(dims, [](const AlongScores& a, const AlongScores& b) { return a.scores > b.scores; });
  dims.push_back({found_.features[of].size, -1, 0});
  Made made;
  Lie(array, dims, made);
  return made;
}

Status GradientReader::WeighValues() {
  auto& [weights, values, attrs, sums_along] = made_of_.weighing;
  weights = weights_ != nullptr ? weights_ : powers_;
  values = weighed_;
  if (weights == nullptr || values == nullptr)
    return Decline(scores_->loc(), "nobody makes its weights, or reads its values");
  const auto& dims = Find(weights)->view.dims;
  if (weights_ == nullptr) {
    const auto places = PlacesIn(dims, LongDims(Find(made_of_.sums)->view.dims));
    if (!places) return Decline(scores_->loc(), "its sums lie otherwise than its powers");
    sums_along = *places;
  }
  Dims rest;  // of the weights
  for (size_t d = 0; d < dims.size(); ++d) {
    const auto* const along = llvm::find_if(weighed_dims_, [&](const AlongScores& one) {
      return one.size > 1 && one.size == dims[d].size && one.scores == dims[d].stride;
    });
    const bool is_key = dims[d].stride >= found_.keys.first && dims[d].stride < found_.keys.second;
    const auto number = static_cast<int64_t>(d);
    if (along == weighed_dims_.end()) {
      rest.push_back(number);
      continue;
    }
    (is_key ? attrs.lhs_contracting_dims : attrs.lhs_batch_dims).push_back(number);
    (is_key ? attrs.rhs_contracting_dims : attrs.rhs_batch_dims).push_back(along->stride);
  }
  llvm::SmallVector<ViewDim, 2> summed;
  for (const int64_t d : attrs.lhs_contracting_dims) summed.push_back(dims[static_cast<size_t>(d)]);
  const auto shared = attrs.lhs_batch_dims.size() + attrs.lhs_contracting_dims.size();
  const auto longer = llvm::count_if(weighed_dims_, [](const AlongScores& one) { return one.size > 1; });
  if (!AreKeys(summed) || static_cast<size_t>(longer) != shared)
    return Decline(scores_->loc(), "its values have other dimensions than its weights");
  ArrayAlong lies;
  for (const Dims* some : {&attrs.lhs_batch_dims, &rest})
    for (const int64_t d : *some)
      lies.push_back({dims[static_cast<size_t>(d)].size, dims[static_cast<size_t>(d)].stride, 0});
  for (int64_t d = 0; d < values->shape().rank(); ++d)
    if (!llvm::is_contained(attrs.rhs_batch_dims, d) && !llvm::is_contained(attrs.rhs_contracting_dims, d))
      lies.push_back({values->shape().dim(d), -1, 0});
  for (size_t d = 0; d < lies.size(); ++d) made_of_.result.order.push_back(static_cast<int64_t>(d));
  Lie(A::Result, lies, made_of_.result);
  return {};
}

/// Of each row: batches, heads, those that share keys, queries.
Status GradientReader::AddStatistics() {
  const auto sums = LongDims(Find(made_of_.sums)->view.dims);
  const auto maxima = LongDims(Find(made_of_.maxima)->view.dims);
  const auto order = PlacesIn(maxima, sums);
  if (!order || maxima.size() != sums.size())
    return Decline(scores_->loc(), "its maxima lie otherwise than its sums");
  made_of_.maxima_order = *order;
  const auto rank = [&](int64_t d) {
    const ViewDim& dim = sums[static_cast<size_t>(d)];
    const bool outer = dim.stride >= found_.sections[2];
    const bool counts = llvm::any_of(found_.along[A::Rows], [&](const AlongScores& row) {
      return row.scores == dim.stride && row.size == dim.size;
    });
    return std::tuple(outer ? 0 : 1, outer ? -dim.stride : 0, counts, outer ? 0 : dim.size, d);
  };
  for (int64_t d = 0; d < static_cast<int64_t>(sums.size()); ++d) made_of_.rows.push_back(d);
  llvm::sort(made_of_.rows, [&](int64_t a, int64_t b) { return rank(a) < rank(b); });
  int64_t stride = 1;
  for (const int64_t d : llvm::reverse(made_of_.rows)) {
    const ViewDim& dim = sums[static_cast<size_t>(d)];
    found_.along[A::Statistics].push_back({dim.size, dim.stride, stride});
    stride *= dim.size;
  }
  found_.views[A::Statistics].type = ElementType::F32;
  return {};
}

/// All gradients, some of which nobody may read.
Status GradientReader::FinishGradients() {
  const struct {
    A::Array of, array;
    Made& made;
  } rows[] = {{A::Queries, A::QueriesGradient, made_of_.queries},
              {A::Keys, A::KeysGradient, made_of_.keys},
              {A::Values, A::ValuesGradient, made_of_.values}};
  if (gradient_ == nullptr) return Decline(scores_->loc(), "of them only that of values is made");
  for (const auto& [of, array, made] : rows)
    if (made.product == nullptr) made = Absent(of, array);
  if (found_.cap) return Decline(scores_->loc(), "its scores are capped");
  HLO_CHECK_OK(AddStatistics());
  // The library makes what its arrays are of.
  for (const A::Array array : {A::QueriesGradient, A::KeysGradient, A::ValuesGradient})
    found_.views[array].type = found_.views[A::Queries].type;
  if (found_.made && left_out_) HLO_CHECK_OK(FindEmptyRows());
  HLO_TRY(LibraryAttentionGradient gradient, GradientOfArrays(found_, *scores_));
  made_of_.attention = gradient.attention;
  // Behind the arrays, and the second result.
  made_of_.attention.statistics.array = -2;
  const auto count = static_cast<int64_t>(arrays_.size());
  gradient.attention.result.array = count;
  gradient.attention.statistics.array = count + 1;
  gradient.keys.array = -2;
  gradient.values.array = -3;
  made_of_.gradient = std::move(gradient);
  return {};
}

Result<GradientsOfAttention> GradientReader::Finish() {
  const Made* const gradients[] = {&made_of_.queries, &made_of_.keys, &made_of_.values};
  const bool has_gradients =
      llvm::any_of(gradients, [](const Made* made) { return made->product != nullptr; });
  if (!has_gradients && made_of_.result.product == nullptr)
    return Decline(scores_->loc(), "its weights are in no product");
  if (made_of_.maxima == nullptr || made_of_.sums == nullptr)
    return Decline(scores_->loc(), "it has no softmax");
  if (made_) HLO_CHECK_OK(MakeBias(has_gradients));
  if (made_of_.result.product == nullptr) HLO_CHECK_OK(WeighValues());
  found_.views[A::Result].type = found_.views[A::Queries].type;
  if (has_gradients) {
    HLO_CHECK_OK(FinishGradients());
  } else {
    HLO_TRY(made_of_.attention, AttentionOfArrays(found_, *scores_));
  }
  made_of_.arrays = arrays_.getArrayRef().vec();
  made_of_.bias = std::move(found_.made);
  return std::move(made_of_);
}

Result<GradientsOfAttention> GradientsFrom(const Instruction& scores) {
  return GradientReader().Read(scores);
}

}  // namespace hlo::gpu

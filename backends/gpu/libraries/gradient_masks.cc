// Masks of scores, and of what is made of them.
#include "backends/gpu/libraries/gradient_reader.h"
#include "passes/analysis/value_facts.h"

namespace hlo::gpu {
namespace {

constexpr size_t kMostMasks = 8;

}  // namespace

std::optional<GradientReader::Mask> GradientReader::MaskOf(const Instruction& select, const View& view,
                                                           bool inverted) {
  const auto seen = SeenThrough(*select.operand(0));
  if (!seen || seen->view.offset != 0) return std::nullopt;
  Mask mask{seen->inst, {}, inverted};
  for (size_t d = 0; d < view.dims.size(); ++d)
    if (seen->view.dims[d].stride != 0)
      mask.along.push_back({view.dims[d].size, view.dims[d].stride, seen->view.dims[d].stride});
  return mask;
}

void GradientReader::AddMask(const Instruction& select) {
  const bool inverted = Find(select.operand(1)) == nullptr;
  const View& view = Find(select.operand(inverted ? 2 : 1))->view;
  auto mask = MaskOf(select, view, inverted);
  // One that nothing is equal to.
  if (!mask) mask = Mask{nullptr, {}, inverted};
  if (masks_.size() == kMostMasks) {
    why_ = "its scores have many masks";
    reader_ = &select;
  }
  if (!made_) behind_query_ = 1U << masks_.size();
  masks_.push_back(std::move(*mask));
}

/// Powers of scores that a mask leaves out are 0, and so is what they are a factor of.
std::optional<GradientReader::Value> GradientReader::Select(const Instruction& inst) {
  const bool inverted = IsAll(*inst.operand(1), 0);
  auto value = ValueOf(*inst.operand(inverted ? 2 : 1));
  if (!value || !IsAll(*inst.operand(inverted ? 1 : 2), 0) ||
      llvm::any_of(value->terms, [](const SoftmaxTerm& term) { return term.powers == 0; }))
    return std::nullopt;
  if (const auto mask = MaskOf(inst, value->view, inverted))
    for (size_t i = 0; i < masks_.size(); ++i)
      if (masks_[i].of == mask->of && masks_[i].inverted == inverted &&
          AreEqual(masks_[i].along, mask->along)) {
        value->masks |= 1U << i;
        return value;
      }
  if (!found_.masked) return std::nullopt;
  const ArrayAlong rows = found_.along[A::Rows], columns = found_.along[A::Columns];
  if (!ReadMask(*inst.operand(0), value->view, inverted) || !AreEqual(rows, found_.along[A::Rows]) ||
      !AreEqual(columns, found_.along[A::Columns]))
    return std::nullopt;
  value->masks |= behind_query_;
  return value;
}

bool GradientReader::IsMasked(const Value& gradient) const {
  return !made_ || gradient.masks + 1 == 1U << masks_.size();
}

Status GradientReader::MakeBias(bool has_gradients) {
  // Scores and weights lie in memory without the library, and as many for gradients.
  const int64_t scores = scores_->shape().ElementCount() * (has_gradients ? 2 : 1);
  return ReadBias(found_.views[A::Queries].type, scores * (Info(ElementType::F32).host_bytes() +
                                                           Info(found_.views[A::Queries].type).host_bytes()));
}

Status GradientReader::FindEmptyRows() {
  EmptyRows rows;
  rows.keys = found_.keys;
  rows.masked = found_.made->masked;
  const std::pair<A::Array, ArrayAlong&> all[] = {
      {A::Bias, rows.bias}, {A::ResultGradient, rows.result}, {A::ValuesGradient, rows.values}};
  for (const auto& [array, dims] : all) {
    dims = found_.along[array];
    const A::Features& features = found_.features[array];
    if (array != A::Bias) dims.push_back({features.size, -1, features.stride});
    llvm::erase_if(dims, [](const AlongScores& dim) { return dim.size == 1; });
    llvm::sort(dims, [](const AlongScores& a, const AlongScores& b) { return a.stride > b.stride; });
    int64_t stride = 1;
    for (const AlongScores& dim : llvm::reverse(dims)) {
      if (dim.stride != stride) return Decline(scores_->loc(), "its masks need arrays that lie row by row");
      stride *= dim.size;
    }
  }
  const View& result = found_.views[A::ResultGradient];
  const Shape& array = arrays_[static_cast<size_t>(result.array)]->shape();
  int64_t count = 1;
  for (const AlongScores& dim : rows.result) count *= dim.size;
  if (result.offset != 0 || array.ElementCount() != count || array.element_type() != result.type)
    return Decline(scores_->loc(), "its masks need arrays that lie row by row");
  const auto has = [](const ArrayAlong& dims, const AlongScores& wanted) {
    return llvm::any_of(
        dims, [&](const AlongScores& dim) { return dim.size == wanted.size && dim.scores == wanted.scores; });
  };
  const auto is_key = [&](const AlongScores& dim) {
    return dim.scores >= rows.keys.first && dim.scores < rows.keys.second;
  };
  const bool fit =
      llvm::all_of(rows.bias, [&](const auto& dim) { return is_key(dim) || has(rows.result, dim); }) &&
      llvm::all_of(rows.values, [&](const auto& dim) { return is_key(dim) || has(rows.result, dim); });
  if (!fit) return Decline(scores_->loc(), "its masks have other dimensions than its gradient");
  for (const A::Array other : {A::Queries, A::Keys, A::Values})
    if (found_.views[other].array == result.array)
      return Decline(scores_->loc(), "its gradient is one of its arrays");
  made_of_.empty_rows = std::move(rows);
  return {};
}

}  // namespace hlo::gpu

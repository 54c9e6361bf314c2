#include "backends/gpu/libraries/view.h"

#include "ir/by_op_kind.h"

namespace hlo::gpu {
namespace {

/// The view of a value, of that of its operand.
using ViewRule = std::optional<View> (*)(const Instruction& value, const View& view);

std::optional<View> Transposed(const Instruction& value, const View& view) {
  View result = view;
  const Dims& permutation = value.attr<DimensionsAttrs>().dimensions;
  for (size_t d = 0; d < permutation.size(); ++d)
    result.dims[d] = view.dims[static_cast<size_t>(permutation[d])];
  return result;
}

std::optional<View> Recast(const Instruction& value, const View& view) {
  // Bitcasts may go to types of the same size.
  if (value.shape().element_type() != value.operand(0)->shape().element_type()) return std::nullopt;
  return Reshaped(view, value.shape());
}

std::optional<View> Sliced(const Instruction& value, const View& view) {
  View result = view;
  const SliceRanges& ranges = value.attr<SliceAttrs>().slice;
  for (size_t d = 0; d < ranges.size(); ++d) {
    result.offset += ranges[d].start * view.dims[d].stride;
    result.dims[d] = {value.shape().dim(static_cast<int64_t>(d)), view.dims[d].stride * ranges[d].stride};
  }
  return result;
}

std::optional<View> Repeated(const Instruction& value, const View& view) {
  View result = view;
  result.dims.clear();
  for (const int64_t size : value.shape().dims()) result.dims.push_back({size, 0});
  const Dims& places = value.attr<DimensionsAttrs>().dimensions;
  for (size_t d = 0; d < places.size(); ++d)
    result.dims[static_cast<size_t>(places[d])].stride = view.dims[d].stride;
  return result;
}

/// Every value of the narrow type is one of the wide.
std::optional<View> Widened(const Instruction& value, const View& view) {
  const TypeInfo &from = Info(value.operand(0)->shape().element_type()),
                 &to = Info(value.shape().element_type());
  const bool exact = from.special == FloatSpecial::Ieee && to.special == FloatSpecial::Ieee &&
                     from.type_class == TypeClass::Float && to.type_class == TypeClass::Float &&
                     from.exponent_bits <= to.exponent_bits && from.mantissa_bits <= to.mantissa_bits;
  if (!exact) return std::nullopt;
  return view;
}

constexpr ByOpKind<ViewRule> kRules({{OpKind::Transpose, &Transposed},
                                     {OpKind::Reshape, &Recast},
                                     {OpKind::Bitcast, &Recast},
                                     {OpKind::Slice, &Sliced},
                                     {OpKind::Broadcast, &Repeated},
                                     {OpKind::Convert, &Widened}});

}  // namespace

View ViewOfArray(int64_t array, const Shape& shape) {
  View view;
  view.array = array;
  view.type = shape.element_type();
  int64_t stride = 1;
  for (const int64_t size : llvm::reverse(shape.dims())) {
    view.dims.insert(view.dims.begin(), {size, stride});
    stride *= size;
  }
  return view;
}

std::optional<View> Reshaped(const View& view, const Shape& shape) {
  View result = view;
  result.dims.clear();
  for (const int64_t size : shape.dims()) {
    if (size == 0) return std::nullopt;
    result.dims.push_back({size, 0});
  }
  llvm::SmallVector<ViewDim, 4> given(view.dims);
  llvm::erase_if(given, [](const ViewDim& dim) { return dim.size == 1; });
  // From the innermost dimension outwards: groups of dimensions, here and there, of as many elements.
  auto from = given.rbegin();
  for (auto to = result.dims.rbegin(); to != result.dims.rend(); ++to) {
    if (to->size == 1) continue;
    if (from == given.rend()) return std::nullopt;
    to->stride = from->stride;
    int64_t have = from->size, want = to->size;
    while (have != want) {
      if (have < want) {
        const int64_t along = from->stride * from->size;
        if (++from == given.rend() || from->stride != along) return std::nullopt;
        have *= from->size;
      } else {
        const int64_t along = to->stride * to->size;
        if (++to == result.dims.rend()) return std::nullopt;
        to->stride = along;
        want *= to->size;
      }
    }
    ++from;
  }
  return result;
}

View BeforeTranspose(const View& view, llvm::ArrayRef<int64_t> permutation) {
  View before = view;
  for (size_t d = 0; d < permutation.size(); ++d)
    before.dims[static_cast<size_t>(permutation[d])] = view.dims[d];
  return before;
}

std::optional<View> ViewBehind(const Instruction& value, const View& operand) {
  const ViewRule rule = kRules[value.kind()];
  if (rule == nullptr || !value.shape().IsArray()) return std::nullopt;
  return rule(value, operand);
}

std::optional<Seen> SeenThrough(const Instruction& value) {
  llvm::SmallVector<const Instruction*, 4> chain;
  const Instruction* at = &value;
  for (; at->shape().IsArray() && kRules[at->kind()] != nullptr; at = at->operand(0)) chain.push_back(at);
  if (!at->shape().IsArray() || at->shape().HasDynamicDimension()) return std::nullopt;
  std::optional<View> view = ViewOfArray(-1, at->shape());
  for (const Instruction* step : llvm::reverse(chain))
    if (view) view = kRules[step->kind()](*step, *view);
  if (!view) return std::nullopt;
  return Seen{at, std::move(*view)};
}

std::optional<int64_t> StrideThrough(llvm::ArrayRef<ViewDim> array, ViewDim dim) {
  if (dim.size == 1 || dim.stride == 0) return 0;
  int64_t row = 1;  // elements of the array from one place of its dimension to the next
  std::optional<int64_t> found;
  int64_t expected = 0;  // from there on where it goes on in the next dimension
  for (const ViewDim& inner : llvm::reverse(array)) {
    const int64_t end = row * inner.size;
    if (dim.stride < end) {
      if (dim.stride % row != 0) return std::nullopt;
      const int64_t step = dim.stride / row, stride = step * inner.stride;
      if (found && stride != expected) return std::nullopt;
      if (!found) found = stride;
      if (step * (dim.size - 1) < inner.size) return found;
      if (inner.size % step != 0 || dim.size % (inner.size / step) != 0) return std::nullopt;
      expected = inner.size * inner.stride;
      dim = {dim.size / (inner.size / step), end};
    }
    row = end;
  }
  return std::nullopt;
}

std::optional<View> ViewOf(const Instruction& value) {
  std::optional<Seen> seen = SeenThrough(value);
  if (!seen || seen->inst->kind() != OpKind::Parameter) return std::nullopt;
  seen->view.array = seen->inst->attr<ParameterAttrs>().number;
  return std::move(seen->view);
}

}  // namespace hlo::gpu

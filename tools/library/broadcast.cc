// Broadcasting (ops-elementwise §4): what HLO text has as explicit instructions.
#include "tools/library/builder_state.h"

namespace hlo_toolkit::internal {
namespace {

using InstructionOr = hlo::Result<hlo::Instruction*>;

std::string ListText(Span<const int64_t> values) {
  std::string text = "{";
  for (const int64_t value : values) text += (text.size() == 1 ? "" : ",") + std::to_string(value);
  return text + "}";
}

/// Rule 4: where the dimensions of the lower operand go in the higher one.
hlo::Status CheckDimensions(const hlo::Shape& lower, const hlo::Shape& higher,
                            Span<const int64_t> dimensions) {
  if (dimensions.empty())
    return Wrong("{0} and {1} have different ranks, which takes broadcast_dimensions", lower, higher);
  if (static_cast<int64_t>(dimensions.size()) != lower.rank())
    return Wrong("broadcast_dimensions {0} are {1} dimensions, but {2} has {3}", ListText(dimensions),
                 dimensions.size(), lower, lower.rank());
  for (size_t i = 0; i < dimensions.size(); ++i) {
    const int64_t to = dimensions[i];
    if (to < 0 || to >= higher.rank() || (i > 0 && to <= dimensions[i - 1]))
      return Wrong("broadcast_dimensions {0} do not ascend within the rank of {1}", ListText(dimensions),
                   higher);
    const int64_t size = lower.dim(static_cast<int64_t>(i));
    if (size != higher.dim(to) && size != 1 && higher.dim(to) != 1)
      return Wrong("dimension {0} of {1} does not fit dimension {2} of {3}", i, lower, to, higher);
  }
  return {};
}

/// The lower operand with the rank of the higher one: sizes that it lacks are the other's.
InstructionOr RaiseRank(Emission& emission, hlo::Instruction* lower, const hlo::Shape& higher,
                        Span<const int64_t> dimensions) {
  HLO_CHECK_OK(CheckDimensions(lower->shape(), higher, dimensions));
  hlo::Dims sizes(higher.dims());
  llvm::SmallVector<bool, 8> dynamic;
  for (int64_t d = 0; d < higher.rank(); ++d) dynamic.push_back(higher.is_dynamic(d));
  for (size_t i = 0; i < dimensions.size(); ++i) {
    sizes[static_cast<size_t>(dimensions[i])] = lower->shape().dim(static_cast<int64_t>(i));
    dynamic[static_cast<size_t>(dimensions[i])] = lower->shape().is_dynamic(static_cast<int64_t>(i));
  }
  return BroadcastTo(emission, lower, sizes, dynamic, ToDims(dimensions));
}

/// Rule 3: the sizes that both stretch to; `dynamic` where one that is not stretched is.
hlo::Status StretchedSizes(const hlo::Shape& a, const hlo::Shape& b, hlo::Dims& sizes,
                           llvm::SmallVectorImpl<bool>& dynamic) {
  for (int64_t d = 0; d < a.rank(); ++d) {
    const int64_t x = a.dim(d), y = b.dim(d);
    const bool stretch = x != y && (x == 1 || y == 1);
    if (x != y && !stretch && !a.is_unbounded(d) && !b.is_unbounded(d))
      return Wrong("{0} and {1} differ in dimension {2}, where none of them has size 1", a, b, d);
    sizes.push_back(x == 1 || a.is_unbounded(d) ? y : x);
    dynamic.push_back(stretch ? (x == 1 ? b : a).is_dynamic(d) : a.is_dynamic(d) || b.is_dynamic(d));
  }
  return {};
}

/// `x` stretched to the sizes: dimensions of size 1 that become larger are removed, and come with the
/// broadcast.
InstructionOr Stretch(Emission& emission, hlo::Instruction* x, llvm::ArrayRef<int64_t> sizes,
                      llvm::ArrayRef<bool> dynamic) {
  hlo::Dims all;
  for (int64_t d = 0; d < x->shape().rank(); ++d) all.push_back(d);
  if (x->shape().HasUnboundedDimension()) return x;
  return BroadcastTo(emission, x, sizes, dynamic, all);
}

}  // namespace

InstructionOr BroadcastTo(Emission& emission, hlo::Instruction* x, llvm::ArrayRef<int64_t> sizes,
                          llvm::ArrayRef<bool> dynamic, llvm::ArrayRef<int64_t> to) {
  const hlo::Shape& shape = x->shape();
  hlo::Dims kept_sizes, kept_to;
  llvm::SmallVector<bool, 8> kept_dynamic;
  for (int64_t d = 0; d < shape.rank(); ++d) {
    const int64_t target = to[static_cast<size_t>(d)];
    if (shape.dim(d) == 1 && sizes[static_cast<size_t>(target)] != 1) continue;
    kept_sizes.push_back(shape.dim(d));
    kept_dynamic.push_back(shape.is_dynamic(d));
    kept_to.push_back(target);
  }
  for (const int64_t size : sizes)
    if (size == hlo::kUnboundedSize)
      return NotImplemented("broadcasting {0} to sizes that are not bounded", shape);
  if (kept_to.size() == sizes.size() && kept_sizes == sizes) return x;
  const hlo::ElementType type = shape.element_type();
  if (static_cast<int64_t>(kept_sizes.size()) != shape.rank()) {
    HLO_TRY(x,
            emission.AddWithShape(hlo::OpKind::Reshape,
                                  hlo::Shape::ArrayWithDefaultLayout(type, kept_sizes, kept_dynamic), {x}));
  }
  hlo::DimensionsAttrs attrs;
  attrs.dimensions = kept_to;
  return emission.AddWithShape(hlo::OpKind::Broadcast,
                               hlo::Shape::ArrayWithDefaultLayout(type, sizes, dynamic), {x}, attrs);
}

InstructionOr BroadcastScalar(Emission& emission, hlo::Instruction* x, const hlo::Shape& like) {
  if (!x->shape().IsScalar() || like.rank() == 0) return x;
  llvm::SmallVector<bool, 8> dynamic(like.dynamic_flags());
  return BroadcastTo(emission, x, like.dims(), dynamic, {});
}

hlo::Result<std::pair<hlo::Instruction*, hlo::Instruction*>> BroadcastPair(Emission& emission,
                                                                           hlo::Instruction* lhs,
                                                                           hlo::Instruction* rhs,
                                                                           Span<const int64_t> dimensions) {
  const bool scalar = lhs->shape().IsScalar() || rhs->shape().IsScalar();
  if (scalar && lhs->shape().rank() != rhs->shape().rank()) {
    if (!dimensions.empty())
      return Wrong("broadcast_dimensions {0} are {1} dimensions, but a scalar has none", ListText(dimensions),
                   dimensions.size());
    HLO_TRY(hlo::Instruction * x, BroadcastScalar(emission, lhs, rhs->shape()));
    HLO_TRY(hlo::Instruction * y, BroadcastScalar(emission, rhs, lhs->shape()));
    return std::pair(x, y);
  }
  if (lhs->shape().rank() < rhs->shape().rank()) {
    HLO_TRY(lhs, RaiseRank(emission, lhs, rhs->shape(), dimensions));
  } else if (lhs->shape().rank() > rhs->shape().rank()) {
    HLO_TRY(rhs, RaiseRank(emission, rhs, lhs->shape(), dimensions));
  } else {
    bool identity = dimensions.empty() || static_cast<int64_t>(dimensions.size()) == lhs->shape().rank();
    for (size_t i = 0; i < dimensions.size(); ++i) identity &= dimensions[i] == static_cast<int64_t>(i);
    if (!identity)
      return Wrong("broadcast_dimensions {0} of operands of one rank, {1} and {2}, are not the identity",
                   ListText(dimensions), lhs->shape(), rhs->shape());
  }
  if (lhs->shape().dims() == rhs->shape().dims()) return std::pair(lhs, rhs);
  hlo::Dims sizes;
  llvm::SmallVector<bool, 8> dynamic;
  HLO_CHECK_OK(StretchedSizes(lhs->shape(), rhs->shape(), sizes, dynamic));
  HLO_TRY(hlo::Instruction * x, Stretch(emission, lhs, sizes, dynamic));
  HLO_TRY(hlo::Instruction * y, Stretch(emission, rhs, sizes, dynamic));
  return std::pair(x, y);
}

}  // namespace hlo_toolkit::internal

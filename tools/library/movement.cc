// Functions that move data.
#include "hlo/ops.h"
#include "tools/library/builder_state.h"

namespace hlo_toolkit {

using internal::Emission;
using internal::Emit;
using internal::NotImplemented;
using internal::ToDims;
using internal::Wrong;
using InstructionOr = hlo::Result<hlo::Instruction*>;

namespace {

/// A shape from sizes that somebody gave.
hlo::Result<hlo::Shape> Sized(hlo::ElementType type, Span<const int64_t> sizes) {
  return internal::ToShape(Shape(internal::FromElementType(type), sizes));
}

InstructionOr ReshapeTo(Emission& e, hlo::Instruction* x, Span<const int64_t> sizes) {
  if (x->shape().HasDynamicDimension())
    return NotImplemented("reshaping {0}, which has dynamic dimensions", x->shape());
  HLO_TRY(const hlo::Shape shape, Sized(x->shape().element_type(), sizes));
  return e.AddWithShape(hlo::OpKind::Reshape, shape, {x});
}

hlo::Result<hlo::Instruction*> TransposeBy(Emission& e, hlo::Instruction* x,
                                           Span<const int64_t> permutation) {
  hlo::DimensionsAttrs attrs;
  attrs.dimensions = ToDims(permutation);
  // With the default layout, where the rule would keep the elements where they are.
  HLO_TRY(hlo::Instruction * made, e.Add(hlo::OpKind::Transpose, {x}, attrs));
  made->set_shape(made->shape().WithoutLayout().WithDefaultLayouts());
  return made;
}

InstructionOr SliceOf(Emission& e, llvm::ArrayRef<hlo::SliceRange> ranges) {
  HLO_TRY(const hlo::Shape* shape, e.Array(0));
  hlo::SliceAttrs attrs;
  attrs.slice.assign(ranges.begin(), ranges.end());
  if (static_cast<int64_t>(ranges.size()) != shape->rank())
    return Wrong("{0} ranges of a slice of {1}", ranges.size(), *shape);
  return e.Add(hlo::OpKind::Slice, e.operands(), std::move(attrs));
}

/// The start indices behind operand `first`: a scalar each, or a vector as it is.
InstructionOr AddDynamicSlice(Emission& e, Span<const int64_t> sizes) {
  HLO_TRY(const hlo::Shape* shape, e.Array(0));
  hlo::DynamicSliceAttrs attrs;
  attrs.dynamic_slice_sizes = ToDims(sizes);
  HLO_TRY(hlo::Shape made, Sized(shape->element_type(), sizes));
  return e.AddWithShape(hlo::OpKind::DynamicSlice, std::move(made), e.operands(), std::move(attrs));
}

/// Start indices of operand 0 that come as one vector, as scalars: reached by slices.
hlo::Result<llvm::SmallVector<hlo::Instruction*, 4>> Scalars(Emission& e, hlo::Instruction* vector) {
  HLO_TRY(const hlo::Shape* operand, e.Array(0));
  llvm::SmallVector<hlo::Instruction*, 4> scalars;
  const hlo::Shape shape = vector->shape();
  if (!shape.IsArray() || shape.rank() > 1) return Wrong("start indices are {0}, which is no vector", shape);
  if ((shape.rank() == 0 ? 1 : shape.dim(0)) != operand->rank())
    return Wrong("start indices are {0} for {1}, which has {2} dimensions", shape, *operand, operand->rank());
  if (shape.rank() == 0) {
    scalars.push_back(vector);
    return scalars;
  }
  for (int64_t i = 0; i < shape.dim(0); ++i) {
    hlo::SliceAttrs attrs;
    attrs.slice.push_back({i, i + 1, 1});
    HLO_TRY(hlo::Instruction * one, e.Add(hlo::OpKind::Slice, {vector}, std::move(attrs)));
    HLO_TRY(one, ReshapeTo(e, one, {}));
    scalars.push_back(one);
  }
  return scalars;
}

}  // namespace

namespace ops {

XlaOp Broadcast(XlaBuilder* builder, XlaOp operand, Span<const int64_t> broadcast_sizes, Location location) {
  return Emit(builder, {operand}, location, [&](Emission& e) -> InstructionOr {
    HLO_TRY(const hlo::Shape* shape, e.Array(0));
    std::vector<int64_t> sizes = broadcast_sizes.ToVector();
    hlo::DimensionsAttrs attrs;
    for (int64_t d = 0; d < shape->rank(); ++d) {
      attrs.dimensions.push_back(static_cast<int64_t>(sizes.size()));
      sizes.push_back(shape->dim(d));
    }
    std::vector<bool> dynamic(sizes.size());
    for (int64_t d = 0; d < shape->rank(); ++d)
      dynamic[broadcast_sizes.size() + static_cast<size_t>(d)] = shape->is_dynamic(d);
    HLO_TRY(hlo::Shape made,
            internal::ToShape(Shape(internal::FromElementType(shape->element_type()), sizes, dynamic)));
    return e.AddWithShape(hlo::OpKind::Broadcast, std::move(made), e.operands(), std::move(attrs));
  });
}

XlaOp BroadcastInDim(XlaBuilder* builder, XlaOp operand, Span<const int64_t> out_dim_size,
                     Span<const int64_t> broadcast_dimensions, Location location) {
  return Emit(builder, {operand}, location, [&](Emission& e) -> InstructionOr {
    HLO_TRY(const hlo::Shape* shape, e.Array(0));
    HLO_TRY(const hlo::Shape made, Sized(shape->element_type(), out_dim_size));
    if (static_cast<int64_t>(broadcast_dimensions.size()) != shape->rank())
      return Wrong("{0} dimensions for a broadcast of {1}", broadcast_dimensions.size(), *shape);
    llvm::SmallVector<bool, 8> dynamic(out_dim_size.size());
    for (size_t i = 0; i < broadcast_dimensions.size(); ++i) {
      const int64_t to = broadcast_dimensions[i], size = shape->dim(static_cast<int64_t>(i));
      if (to < 0 || to >= made.rank() || (i > 0 && to <= broadcast_dimensions[i - 1]))
        return Wrong("dimension {0} of a broadcast becomes {1}: these ascend within the rank of {2}", i, to,
                     made);
      if (size != 1 && size != made.dim(to))
        return Wrong("dimension {0} of {1} does not fit dimension {2} of {3}", i, *shape, to, made);
      dynamic[static_cast<size_t>(to)] = shape->is_dynamic(static_cast<int64_t>(i));
    }
    return internal::BroadcastTo(e, e.operand(0), made.dims(), dynamic, ToDims(broadcast_dimensions));
  });
}

XlaOp Pad(XlaBuilder* builder, XlaOp operand, XlaOp padding_value, const PaddingConfig& padding_config,
          Location location) {
  return Emit(builder, {operand, padding_value}, location, [&](Emission& e) -> InstructionOr {
    // Of a scalar nothing is padded; HLO text has no way to say so.
    if (e.shape(0).IsArray() && e.shape(0).rank() == 0 && padding_config.dimensions().empty()) {
      HLO_CHECK_OK(e.ScalarOf(1, e.shape(0).element_type(), "the padding value"));
      return e.operand(0);
    }
    hlo::PadAttrs attrs;
    for (const PaddingConfigDimension& d : padding_config.dimensions())
      attrs.padding.push_back({d.edge_padding_low(), d.edge_padding_high(), d.interior_padding()});
    return e.Add(hlo::OpKind::Pad, e.operands(), std::move(attrs));
  });
}

XlaOp Reshape(XlaBuilder* builder, XlaOp operand, Span<const int64_t> new_sizes, Location location) {
  return Emit(builder, {operand}, location, [&](Emission& e) -> InstructionOr {
    HLO_CHECK_OK(e.Array(0));
    return ReshapeTo(e, e.operand(0), new_sizes);
  });
}

XlaOp Reshape(XlaBuilder* builder, XlaOp operand, Span<const int64_t> dimensions,
              Span<const int64_t> new_sizes, Location location) {
  return Emit(builder, {operand}, location, [&](Emission& e) -> InstructionOr {
    HLO_CHECK_OK(e.Array(0));
    bool in_order = static_cast<int64_t>(dimensions.size()) == e.shape(0).rank();
    for (size_t i = 0; i < dimensions.size(); ++i) in_order &= dimensions[i] == static_cast<int64_t>(i);
    hlo::Instruction* x = e.operand(0);
    if (!in_order) {
      HLO_TRY(x, TransposeBy(e, x, dimensions));
    }
    return ReshapeTo(e, x, new_sizes);
  });
}

XlaOp Collapse(XlaBuilder* builder, XlaOp operand, Span<const int64_t> dimensions, Location location) {
  return Emit(builder, {operand}, location, [&](Emission& e) -> InstructionOr {
    HLO_TRY(const hlo::Shape* shape, e.Array(0));
    for (size_t i = 0; i < dimensions.size(); ++i)
      if (dimensions[i] < 0 || dimensions[i] >= shape->rank() ||
          (i > 0 && dimensions[i] != dimensions[i - 1] + 1))
        return Wrong("collapsed dimensions of {0} do not follow each other", *shape);
    if (dimensions.size() <= 1) return e.operand(0);
    std::vector<int64_t> sizes(shape->dims().begin(), shape->dims().end());
    const auto first = sizes.begin() + dimensions[0];
    int64_t product = 1;
    for (const int64_t d : dimensions)
      if (__builtin_mul_overflow(product, shape->dim(d), &product))
        return Wrong("the product of collapsed dimensions of {0} exceeds 64 bits", *shape);
    sizes.erase(first + 1, first + static_cast<ptrdiff_t>(dimensions.size()));
    sizes[static_cast<size_t>(dimensions[0])] = product;
    return ReshapeTo(e, e.operand(0), sizes);
  });
}

XlaOp Slice(XlaBuilder* builder, XlaOp operand, Span<const int64_t> start_indices,
            Span<const int64_t> limit_indices, Span<const int64_t> strides, Location location) {
  return Emit(builder, {operand}, location, [&](Emission& e) -> InstructionOr {
    if (start_indices.size() != limit_indices.size() ||
        (!strides.empty() && strides.size() != start_indices.size()))
      return Wrong("{0} starts, {1} limits and {2} strides of a slice", start_indices.size(),
                   limit_indices.size(), strides.size());
    llvm::SmallVector<hlo::SliceRange, 4> ranges;
    for (size_t i = 0; i < start_indices.size(); ++i)
      ranges.push_back({start_indices[i], limit_indices[i], strides.empty() ? 1 : strides[i]});
    return SliceOf(e, ranges);
  });
}

XlaOp SliceInDim(XlaBuilder* builder, XlaOp operand, int64_t start_index, int64_t limit_index, int64_t stride,
                 int64_t dimension, Location location) {
  return Emit(builder, {operand}, location, [&](Emission& e) -> InstructionOr {
    HLO_TRY(const hlo::Shape* shape, e.Array(0));
    if (dimension < 0 || dimension >= shape->rank())
      return Wrong("{0} has no dimension {1}", *shape, dimension);
    llvm::SmallVector<hlo::SliceRange, 4> ranges;
    for (int64_t d = 0; d < shape->rank(); ++d) ranges.push_back({0, shape->dim(d), 1});
    ranges[static_cast<size_t>(dimension)] = {start_index, limit_index, stride};
    return SliceOf(e, ranges);
  });
}

XlaOp DynamicSlice(XlaBuilder* builder, XlaOp operand, XlaOp start_indices, Span<const int64_t> slice_sizes,
                   Location location) {
  return Emit(builder, {operand, start_indices}, location, [&](Emission& e) -> InstructionOr {
    HLO_TRY(auto operands, Scalars(e, e.operand(1)));
    operands.insert(operands.begin(), e.operand(0));
    Emission with_scalars(e.state(), operands);
    return AddDynamicSlice(with_scalars, slice_sizes);
  });
}

XlaOp DynamicSlice(XlaBuilder* builder, XlaOp operand, Span<const XlaOp> start_indices,
                   Span<const int64_t> slice_sizes, Location location) {
  std::vector<XlaOp> operands = start_indices.ToVector();
  operands.insert(operands.begin(), operand);
  return Emit(builder, operands, location, [&](Emission& e) { return AddDynamicSlice(e, slice_sizes); });
}

XlaOp DynamicUpdateSlice(XlaBuilder* builder, XlaOp operand, XlaOp update, XlaOp start_indices,
                         Location location) {
  return Emit(builder, {operand, update, start_indices}, location, [&](Emission& e) -> InstructionOr {
    HLO_TRY(auto operands, Scalars(e, e.operand(2)));
    operands.insert(operands.begin(), {e.operand(0), e.operand(1)});
    return e.AddWithShape(hlo::OpKind::DynamicUpdateSlice, e.shape(0), operands);
  });
}

XlaOp DynamicUpdateSlice(XlaBuilder* builder, XlaOp operand, XlaOp update, Span<const XlaOp> start_indices,
                         Location location) {
  std::vector<XlaOp> operands = start_indices.ToVector();
  operands.insert(operands.begin(), {operand, update});
  return Emit(builder, operands, location, [&](Emission& e) {
    return e.AddWithShape(hlo::OpKind::DynamicUpdateSlice, e.shape(0), e.operands());
  });
}

XlaOp ConcatInDim(XlaBuilder* builder, Span<const XlaOp> operands, int64_t dimension, Location location) {
  return Emit(builder, operands, location, [&](Emission& e) {
    hlo::DimensionsAttrs attrs;
    attrs.dimensions = {dimension};
    return e.Add(hlo::OpKind::Concatenate, e.operands(), std::move(attrs));
  });
}

XlaOp Transpose(XlaBuilder* builder, XlaOp operand, Span<const int64_t> permutation, Location location) {
  return Emit(builder, {operand}, location,
              [&](Emission& e) { return TransposeBy(e, e.operand(0), permutation); });
}

XlaOp Trans(XlaBuilder* builder, XlaOp operand, Location location) {
  return Emit(builder, {operand}, location, [&](Emission& e) -> InstructionOr {
    if (!e.shape(0).IsArray() || e.shape(0).rank() != 2) return Wrong("{0} is no matrix", e.shape(0));
    return TransposeBy(e, e.operand(0), {1, 0});
  });
}

XlaOp Rev(XlaBuilder* builder, XlaOp operand, Span<const int64_t> dimensions, Location location) {
  return Emit(builder, {operand}, location, [&](Emission& e) {
    hlo::DimensionsAttrs attrs;
    attrs.dimensions = ToDims(dimensions);
    return e.Add(hlo::OpKind::Reverse, e.operands(), std::move(attrs));
  });
}

XlaOp GetDimensionSize(XlaBuilder* builder, XlaOp operand, int64_t dimension, Location location) {
  return Emit(builder, {operand}, location, [&](Emission& e) -> InstructionOr {
    hlo::DimensionsAttrs attrs;
    attrs.dimensions = {dimension};
    const hlo::Shape& shape = e.shape(0);
    const bool is_there = shape.IsArray() && dimension >= 0 && dimension < shape.rank();
    if (!is_there || shape.is_dynamic(dimension) ||
        shape.dim(dimension) > std::numeric_limits<int32_t>::max())
      return e.Add(hlo::OpKind::GetDimensionSize, e.operands(), std::move(attrs));
    return e.Number(hlo::ElementType::S32, static_cast<double>(shape.dim(dimension)));
  });
}

XlaOp SetDimensionSize(XlaBuilder* builder, XlaOp operand, XlaOp size, int64_t dimension, Location location) {
  return Emit(builder, {operand, size}, location, [&](Emission& e) {
    hlo::DimensionsAttrs attrs;
    attrs.dimensions = {dimension};
    return e.Add(hlo::OpKind::SetDimensionSize, e.operands(), std::move(attrs));
  });
}

XlaOp RemoveDynamicDimension(XlaBuilder* builder, XlaOp operand, int64_t dimension, Location location) {
  return Emit(builder, {operand}, location, [&](Emission& e) -> InstructionOr {
    HLO_TRY(const hlo::Shape* shape, e.Array(0));
    if (dimension < 0 || dimension >= shape->rank())
      return Wrong("{0} has no dimension {1}", *shape, dimension);
    HLO_TRY(hlo::Instruction * size,
            e.Number(hlo::ElementType::S32, static_cast<double>(shape->dim(dimension))));
    llvm::SmallVector<bool, 8> dynamic(shape->dynamic_flags());
    if (!dynamic.empty()) dynamic[static_cast<size_t>(dimension)] = false;
    hlo::DimensionsAttrs attrs;
    attrs.dimensions = {dimension};
    return e.AddWithShape(hlo::OpKind::SetDimensionSize,
                          hlo::Shape::ArrayWithDefaultLayout(shape->element_type(), shape->dims(), dynamic),
                          {e.operand(0), size}, std::move(attrs));
  });
}

}  // namespace ops
}  // namespace hlo_toolkit

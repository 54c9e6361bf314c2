// Reductions, windows, maps, sorts.
#include "hlo/ops.h"
#include "tools/library/builder_state.h"

namespace hlo_toolkit {

using internal::Emission;
using internal::Emit;
using internal::ToDims;
using internal::Wrong;
using InstructionOr = hlo::Result<hlo::Instruction*>;

namespace {

/// Sizes and strides of a window over an array, and how it meets the ends.
struct WindowSpec {
  Span<const int64_t> sizes, strides;
  std::optional<Padding> same_or_valid;
  Span<const PaddingPair> padding;  // where that is not set
  Span<const int64_t> base_dilations, window_dilations;
};

hlo::Result<hlo::Window> MakeWindow(const hlo::Shape& base, const WindowSpec& spec) {
  const size_t rank = static_cast<size_t>(base.rank());
  const auto fits = [&](size_t count) { return count == rank || count == 0; };
  if (spec.sizes.size() != rank || !fits(spec.strides.size()) || !fits(spec.padding.size()) ||
      !fits(spec.base_dilations.size()) || !fits(spec.window_dilations.size()))
    return Wrong("a window of {0} sizes, {1} strides and {2} paddings over {3}", spec.sizes.size(),
                 spec.strides.size(), spec.padding.size(), base);
  hlo::Window window;
  std::vector<int64_t> strides;
  for (size_t i = 0; i < rank; ++i) {
    hlo::WindowDim d;
    d.size = spec.sizes[i];
    if (!spec.strides.empty()) d.stride = spec.strides[i];
    if (!spec.padding.empty()) std::tie(d.pad_low, d.pad_high) = spec.padding[i];
    if (!spec.base_dilations.empty()) d.base_dilation = spec.base_dilations[i];
    if (!spec.window_dilations.empty()) d.window_dilation = spec.window_dilations[i];
    strides.push_back(d.stride);
    window.dims.push_back(d);
  }
  if (!spec.same_or_valid) return window;
  const auto padding = MakePadding(base.dims(), spec.sizes, strides, *spec.same_or_valid);
  if (!padding.ok()) return Wrong("{0}", padding.status().message());
  for (size_t i = 0; i < rank; ++i) std::tie(window.dims[i].pad_low, window.dims[i].pad_high) = (*padding)[i];
  return window;
}

std::vector<XlaOp> Joined(Span<const XlaOp> a, Span<const XlaOp> b) {
  std::vector<XlaOp> all = a.ToVector();
  all.insert(all.end(), b.begin(), b.end());
  return all;
}

XlaOp EmitReduce(XlaBuilder* builder, Span<const XlaOp> operands, Span<const XlaOp> init_values,
                 const XlaComputation& computation, const std::optional<Span<const int64_t>>& dimensions,
                 const Location& location) {
  return Emit(builder, Joined(operands, init_values), location, [&](Emission& e) -> InstructionOr {
    HLO_TRY(hlo::Computation * callee, e.state().Import(computation));
    hlo::ReduceAttrs attrs;
    if (dimensions) {
      attrs.dimensions = ToDims(*dimensions);
    } else {
      HLO_TRY(const hlo::Shape* shape, e.Array(0));
      for (int64_t d = 0; d < shape->rank(); ++d) attrs.dimensions.push_back(d);
    }
    return e.Add(hlo::OpKind::Reduce, e.operands(), std::move(attrs), {callee});
  });
}

XlaOp EmitReduceWindow(XlaBuilder* builder, Span<const XlaOp> operands, Span<const XlaOp> init_values,
                       const XlaComputation& computation, const WindowSpec& spec, const Location& location) {
  return Emit(builder, Joined(operands, init_values), location, [&](Emission& e) -> InstructionOr {
    if (e.operands().empty()) return Wrong("a reduction of nothing");
    HLO_TRY(const hlo::Shape* shape, e.Array(0));
    HLO_TRY(hlo::Computation * callee, e.state().Import(computation));
    hlo::ReduceWindowAttrs attrs;
    HLO_TRY(attrs.window, MakeWindow(*shape, spec));
    return e.Add(hlo::OpKind::ReduceWindow, e.operands(), std::move(attrs), {callee});
  });
}

XlaOp EmitSelectAndScatter(XlaBuilder* builder, XlaOp operand, XlaOp source, XlaOp init_value,
                           const XlaComputation& select, const XlaComputation& scatter,
                           const WindowSpec& spec, const Location& location) {
  return Emit(builder, {operand, source, init_value}, location, [&](Emission& e) -> InstructionOr {
    HLO_TRY(const hlo::Shape* shape, e.Array(0));
    HLO_TRY(hlo::Computation * chooses, e.state().Import(select));
    HLO_TRY(hlo::Computation * combines, e.state().Import(scatter));
    hlo::SelectAndScatterAttrs attrs;
    HLO_TRY(attrs.window, MakeWindow(*shape, spec));
    return e.Add(hlo::OpKind::SelectAndScatter, e.operands(), std::move(attrs), {chooses, combines});
  });
}

InstructionOr AddMap(Emission& e, const XlaComputation& computation,
                     const std::optional<Span<const int64_t>>& dimensions, size_t static_operands) {
  if (static_operands != 0) return internal::NotImplemented("static operands of a map");
  if (e.operands().empty()) return Wrong("a map of nothing");
  HLO_TRY(const hlo::Shape* shape, e.Array(0));
  HLO_TRY(hlo::Computation * callee, e.state().Import(computation));
  hlo::MapAttrs attrs;
  for (int64_t d = 0; d < shape->rank(); ++d) attrs.dimensions.push_back(d);
  if (dimensions && ToDims(*dimensions) != attrs.dimensions)
    return Wrong("the dimensions of a map of {0} are others than all of them in order", *shape);
  return e.Add(hlo::OpKind::Map, e.operands(), std::move(attrs), {callee});
}

/// -1 is the last dimension.
hlo::Result<hlo::SortAttrs> MakeSort(Emission& e, int64_t dimension, bool is_stable) {
  if (e.operands().empty()) return Wrong("a sort of nothing");
  HLO_TRY(const hlo::Shape* shape, e.Array(0));
  hlo::SortAttrs attrs;
  attrs.dimensions = {dimension == -1 ? shape->rank() - 1 : dimension};
  attrs.is_stable = is_stable;
  return attrs;
}

/// Ascending by the first operand; floats in their total order.
hlo::Result<hlo::Computation*> LessByFirst(Emission& e) {
  for (size_t i = 0; i < e.operands().size(); ++i) HLO_CHECK_OK(e.Array(i));
  if (hlo::IsComplex(e.shape(0).element_type())) return Wrong("{0} has no order to sort by", e.shape(0));
  hlo::Module& module = e.state().module();
  hlo::Computation* made = module.AddComputation(module.UniqueComputationName("less"));
  e.state().Own(made);
  hlo::Builder builder(*made);
  for (size_t i = 0; i < e.operands().size(); ++i) {
    const hlo::Shape scalar = hlo::Shape::ArrayWithDefaultLayout(e.shape(i).element_type(), {});
    for (const size_t side : {0, 1})
      builder.Parameter(static_cast<int64_t>(2 * i + side), scalar, side == 0 ? "x" : "y");
  }
  hlo::CompareAttrs attrs;
  attrs.direction = hlo::Direction::LT;
  if (hlo::IsFloat(e.shape(0).element_type())) attrs.type = hlo::CompareType::TotalOrder;
  HLO_TRY(hlo::Instruction * less,
          builder.Add(hlo::OpKind::Compare, {made->parameter(0), made->parameter(1)}, attrs));
  made->set_root(less);
  return made;
}

XlaOp EmitAscendingSort(XlaBuilder* builder, Span<const XlaOp> operands, int64_t dimension,
                        const Location& location) {
  return Emit(builder, operands, location, [&](Emission& e) -> InstructionOr {
    HLO_TRY(hlo::SortAttrs attrs, MakeSort(e, dimension, false));
    HLO_TRY(hlo::Computation * less, LessByFirst(e));
    return e.Add(hlo::OpKind::Sort, e.operands(), std::move(attrs), {less});
  });
}

}  // namespace

namespace ops {

XlaOp Reduce(XlaBuilder* builder, XlaOp operand, XlaOp init_value, const XlaComputation& computation,
             Span<const int64_t> dimensions_to_reduce, Location location) {
  return EmitReduce(builder, {operand}, {init_value}, computation, dimensions_to_reduce, location);
}
XlaOp Reduce(XlaBuilder* builder, Span<const XlaOp> operands, Span<const XlaOp> init_values,
             const XlaComputation& computation, Span<const int64_t> dimensions_to_reduce, Location location) {
  return EmitReduce(builder, operands, init_values, computation, dimensions_to_reduce, location);
}
XlaOp ReduceAll(XlaBuilder* builder, XlaOp operand, XlaOp init_value, const XlaComputation& computation,
                Location location) {
  return EmitReduce(builder, {operand}, {init_value}, computation, std::nullopt, location);
}

XlaOp ReduceWindow(XlaBuilder* builder, XlaOp operand, XlaOp init_value, const XlaComputation& computation,
                   Span<const int64_t> window_dimensions, Span<const int64_t> window_strides, Padding padding,
                   Location location) {
  return EmitReduceWindow(builder, {operand}, {init_value}, computation,
                          {window_dimensions, window_strides, padding, {}, {}, {}}, location);
}
XlaOp ReduceWindow(XlaBuilder* builder, XlaOp operand, const XlaComputation& computation, XlaOp init_value,
                   Span<const int64_t> window_dimensions, Span<const int64_t> window_strides, Padding padding,
                   Location location) {
  return ops::ReduceWindow(builder, operand, init_value, computation, window_dimensions, window_strides,
                           padding, location);
}
XlaOp ReduceWindow(XlaBuilder* builder, Span<const XlaOp> operands, Span<const XlaOp> init_values,
                   const XlaComputation& computation, Span<const int64_t> window_dimensions,
                   Span<const int64_t> window_strides, Padding padding, Location location) {
  return EmitReduceWindow(builder, operands, init_values, computation,
                          {window_dimensions, window_strides, padding, {}, {}, {}}, location);
}
XlaOp ReduceWindowWithGeneralPadding(XlaBuilder* builder, XlaOp operand, XlaOp init_value,
                                     const XlaComputation& computation, Span<const int64_t> window_dimensions,
                                     Span<const int64_t> window_strides, Span<const PaddingPair> padding,
                                     Location location) {
  return EmitReduceWindow(builder, {operand}, {init_value}, computation,
                          {window_dimensions, window_strides, std::nullopt, padding, {}, {}}, location);
}
XlaOp ReduceWindowWithGeneralPadding(XlaBuilder* builder, XlaOp operand, XlaOp init_value,
                                     const XlaComputation& computation, Span<const int64_t> window_dimensions,
                                     Span<const int64_t> window_strides, Span<const int64_t> base_dilations,
                                     Span<const int64_t> window_dilations, Span<const PaddingPair> padding,
                                     Location location) {
  return EmitReduceWindow(
      builder, {operand}, {init_value}, computation,
      {window_dimensions, window_strides, std::nullopt, padding, base_dilations, window_dilations}, location);
}

XlaOp SelectAndScatter(XlaBuilder* builder, XlaOp operand, const XlaComputation& select,
                       Span<const int64_t> window_dimensions, Span<const int64_t> window_strides,
                       Padding padding, XlaOp source, XlaOp init_value, const XlaComputation& scatter,
                       Location location) {
  return EmitSelectAndScatter(builder, operand, source, init_value, select, scatter,
                              {window_dimensions, window_strides, padding, {}, {}, {}}, location);
}
XlaOp SelectAndScatterWithGeneralPadding(XlaBuilder* builder, XlaOp operand, const XlaComputation& select,
                                         Span<const int64_t> window_dimensions,
                                         Span<const int64_t> window_strides, Span<const PaddingPair> padding,
                                         XlaOp source, XlaOp init_value, const XlaComputation& scatter,
                                         Location location) {
  return EmitSelectAndScatter(builder, operand, source, init_value, select, scatter,
                              {window_dimensions, window_strides, std::nullopt, padding, {}, {}}, location);
}

XlaOp Map(XlaBuilder* builder, Span<const XlaOp> operands, const XlaComputation& computation,
          Span<const XlaOp> static_operands, Location location) {
  return Emit(builder, operands, location,
              [&](Emission& e) { return AddMap(e, computation, std::nullopt, static_operands.size()); });
}
XlaOp Map(XlaBuilder* builder, Span<const XlaOp> operands, const XlaComputation& computation,
          Span<const int64_t> dimensions, Span<const XlaOp> static_operands, Location location) {
  return Emit(builder, operands, location,
              [&](Emission& e) { return AddMap(e, computation, dimensions, static_operands.size()); });
}
XlaOp Map(XlaBuilder* builder, Span<const XlaOp> operands, const XlaComputation& computation,
          EmptyList /*none*/, Location location) {
  return ops::Map(builder, operands, computation, Span<const XlaOp>(), location);
}

XlaOp Sort(XlaBuilder* builder, XlaOp operand, int64_t dimension, Location location) {
  return EmitAscendingSort(builder, {operand}, dimension, location);
}
XlaOp Sort(XlaBuilder* builder, XlaOp keys, XlaOp values, int64_t dimension, Location location) {
  return EmitAscendingSort(builder, {keys, values}, dimension, location);
}
XlaOp Sort(XlaBuilder* builder, XlaOp keys, Span<const XlaOp> values, int64_t dimension, Location location) {
  return EmitAscendingSort(builder, Joined({keys}, values), dimension, location);
}
XlaOp Sort(XlaBuilder* builder, Span<const XlaOp> operands, const XlaComputation& comparator,
           int64_t dimension, bool is_stable, Location location) {
  return Emit(builder, operands, location, [&](Emission& e) -> InstructionOr {
    HLO_TRY(hlo::SortAttrs attrs, MakeSort(e, dimension, is_stable));
    HLO_TRY(hlo::Computation * callee, e.state().Import(comparator));
    return e.Add(hlo::OpKind::Sort, e.operands(), std::move(attrs), {callee});
  });
}

XlaOp TopK(XlaBuilder* builder, XlaOp operand, int64_t k, bool largest, Location location) {
  return Emit(builder, {operand}, location, [&](Emission& e) {
    hlo::TopKAttrs attrs;
    attrs.k = k;
    attrs.largest = largest;
    return e.Add(hlo::OpKind::TopK, e.operands(), attrs);
  });
}

}  // namespace ops
}  // namespace hlo_toolkit

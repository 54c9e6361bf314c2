#include "tools/reduce/shapes.h"

#include <set>

#include "ir/infer/infer.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/fold.h"
#include "passes/rewrite/maker.h"

namespace hlo {
namespace {

/// Replaces arrays within a shape; layouts become the default ones.
Shape MapArrays(const Shape& shape, llvm::function_ref<Shape(const Shape&)> map) {
  if (shape.IsArray()) return map(shape).WithDefaultLayouts();
  if (!shape.IsTuple()) return shape;
  std::vector<Shape> elements;
  for (const Shape& element : shape.tuple_shapes()) elements.push_back(MapArrays(element, map));
  return Shape::MakeTuple(elements);
}

/// The leading part of a literal, dimension by dimension.
std::optional<Literal> Cropped(const Literal& literal, const Shape& shape) {
  if (!literal.shape().IsArray() || literal.HasDynamicSizes()) return std::nullopt;
  const Literal from = literal.Unpack();
  Literal to = Literal::Zeros(shape);
  const auto bytes = static_cast<size_t>(Info(shape.element_type()).host_bytes());
  const int64_t rank = shape.rank();
  uint8_t* out = to.MutableData();
  for (int64_t linear = 0; linear < shape.ElementCount(); ++linear) {
    int64_t rest = linear, source = 0, stride = 1;
    for (int64_t d = rank - 1; d >= 0; --d) {
      source += rest % shape.dim(d) * stride;
      rest /= shape.dim(d);
      stride *= from.shape().dim(d);
    }
    std::memcpy(out + static_cast<size_t>(linear) * bytes, from.data() + static_cast<size_t>(source) * bytes,
                bytes);
  }
  return to;
}

/// Sets the sizes that attributes repeat.
void MapSizes(Instruction& inst, int64_t from, int64_t to) {
  auto map = [&](int64_t& size) { size = size == from ? to : size; };
  Attrs& attrs = inst.mutable_attrs();
  if (attrs.GetIf<SliceAttrs>())
    for (SliceRange& range : attrs.Mutable<SliceAttrs>().slice) {
      range.start = std::min(range.start, std::max<int64_t>(0, to - 1));
      map(range.limit);
      range.limit = std::max(range.limit, range.start);
    }
  if (attrs.GetIf<DynamicSliceAttrs>())
    for (int64_t& size : attrs.Mutable<DynamicSliceAttrs>().dynamic_slice_sizes) map(size);
  if (attrs.GetIf<GatherAttrs>())
    for (int64_t& size : attrs.Mutable<GatherAttrs>().slice_sizes) map(size);
}

bool ShrinkSize(Module& module, int64_t from, int64_t to) {
  auto map = [&](const Shape& shape) {
    Dims dims(shape.dims().begin(), shape.dims().end());
    for (int64_t& d : dims)
      if (d == from) d = to;
    return Shape::Array(shape.element_type(), dims, shape.dynamic_flags());
  };
  return ChangeShapes(module, map, [&](Instruction& inst) {
    MapSizes(inst, from, to);
    if (inst.kind() != OpKind::Constant) return true;
    const LiteralPtr literal = inst.attr<ConstantAttrs>().literal;
    if (!literal) return true;
    const Shape shape = MapArrays(inst.shape(), map);
    if (Compatible(shape, inst.shape())) return true;
    auto cropped = Cropped(*literal, shape);
    if (!cropped) return false;
    inst.mutable_attrs().Mutable<ConstantAttrs>().literal = std::make_shared<const Literal>(cropped->Pack());
    return true;
  });
}

/// Elementwise programs work on scalars as well: broadcasts and reshapes fall away.
bool MakeScalar(Module& module) {
  for (const auto& c : module.computations())
    for (Instruction* i : c->PostOrder()) {
      const bool moves = i->kind() == OpKind::Broadcast || i->kind() == OpKind::Reshape ||
                         i->kind() == OpKind::Transpose || i->kind() == OpKind::Reverse;
      const bool fits = i->info().Is(kElementwise) || moves || i->kind() == OpKind::Parameter ||
                        i->kind() == OpKind::Constant || i->kind() == OpKind::Tuple ||
                        i->kind() == OpKind::GetTupleElement;
      if (!fits) return false;
      if (moves) i->ReplaceAllUsesWith(i->operand(0));
    }
  TidyReduced(module);
  return ChangeShapes(
      module, [](const Shape& shape) { return Shape::Array(shape.element_type(), {}); },
      [](Instruction& inst) {
        if (inst.kind() != OpKind::Constant) return true;
        const LiteralPtr literal = inst.attr<ConstantAttrs>().literal;
        if (!literal || !literal->shape().IsArray() || literal->shape().ElementCount() == 0) return false;
        Literal scalar = Literal::Zeros(Shape::ArrayWithDefaultLayout(literal->shape().element_type(), {}));
        std::memcpy(scalar.MutableData(), literal->Unpack().data(), scalar.byte_size());
        inst.mutable_attrs().Mutable<ConstantAttrs>().literal =
            std::make_shared<const Literal>(scalar.Pack());
        return true;
      });
}

bool ReplaceType(Module& module, ElementType from, ElementType to) {
  Folder folder;
  auto map = [&](const Shape& shape) {
    return shape.element_type() == from ? shape.WithElementType(to) : shape;
  };
  return ChangeShapes(module, map, [&](Instruction& inst) {
    if (inst.kind() != OpKind::Constant || !inst.shape().IsArray() || inst.shape().element_type() != from)
      return true;
    if (!inst.attr<ConstantAttrs>().literal) return true;
    // As the convert instruction would do it.
    Maker make(&inst);
    Instruction* convert = make.Convert(&inst, to);
    auto value = folder.Evaluate(*convert);
    convert->parent()->Remove(convert);
    if (!value) return false;
    inst.mutable_attrs().Mutable<ConstantAttrs>().literal = std::make_shared<const Literal>(value->Pack());
    return true;
  });
}

template <class F>
void ForEachArray(const Module& module, F&& f) {
  for (const auto& c : module.computations())
    for (const Instruction* i : c->instructions())
      ForEachLeaf(i->shape(), [&](const ShapeIndex&, const Shape& leaf) {
        if (leaf.IsArray()) f(leaf);
      });
}

}  // namespace

bool ChangeShapes(Module& module, llvm::function_ref<Shape(const Shape&)> map,
                  llvm::function_ref<bool(Instruction&)> adapt) {
  for (Computation* c : module.PostOrder())
    for (Instruction* i : c->PostOrder()) {
      if (!adapt(*i)) return false;
      const bool declared = i->info().Is(kDeclared);
      i->set_shape(declared ? MapArrays(i->shape(), map) : Shape());
      auto inferred = InferShape(*i);
      if (!inferred) return false;
      if (!declared) i->set_shape(std::move(*inferred));
    }
  return true;
}

std::vector<ReduceEdit> SmallerShapes(const Module& module) {
  std::set<int64_t, std::greater<>> sizes;
  bool arrays = false;
  ForEachArray(module, [&](const Shape& shape) {
    arrays |= shape.rank() > 0;
    for (const int64_t d : shape.dims())
      if (d > 1) sizes.insert(d);
  });
  std::vector<ReduceEdit> edits;
  if (arrays) edits.emplace_back(MakeScalar);
  if (arrays) edits.emplace_back(SqueezeRanks);
  for (const int64_t from : sizes)
    for (const int64_t to : {int64_t{1}, int64_t{2}, int64_t{3}, int64_t{8}, from / 2})
      if (to < from && to > 0) edits.emplace_back([from, to](Module& m) { return ShrinkSize(m, from, to); });
  return edits;
}

std::vector<ReduceEdit> SimplerTypes(const Module& module) {
  std::set<ElementType> types;
  ForEachArray(module, [&](const Shape& shape) { types.insert(shape.element_type()); });
  std::vector<ReduceEdit> edits;
  for (const ElementType from : types) {
    const ElementType to = IsFloat(from) || IsComplex(from) ? ElementType::F32 : ElementType::S32;
    if (from != to && !IsPred(from))
      edits.emplace_back([from, to](Module& m) { return ReplaceType(m, from, to); });
  }
  return edits;
}

bool DefaultLayouts(Module& module) {
  bool changed = false;
  for (const auto& c : module.computations())
    for (Instruction* i : c->instructions()) {
      const Shape plain = i->shape().WithoutLayout().WithDefaultLayouts();
      if (plain == i->shape()) continue;
      i->set_shape(plain);
      changed = true;
    }
  if (changed)
    module.config.entry_layout = {module.entry()->ParameterShapes(), module.entry()->root()->shape()};
  return changed;
}

bool ShortNames(Module& module) {
  int64_t number = 0;
  bool changed = false;
  auto rename = [&](auto& named, const std::string& name) {
    changed |= named.name() != name;
    named.set_name(module.Save(name));
  };
  for (const auto& c : module.computations()) {
    rename(*c, c->IsEntry() ? "entry" : "c" + std::to_string(number++));
  }
  number = 0;
  for (Computation* c : module.PostOrder())
    for (Instruction* i : c->PostOrder())
      rename(*i, (ToString(i->kind()) + "." + llvm::Twine(number++)).str());
  return changed;
}

}  // namespace hlo

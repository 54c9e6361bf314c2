#include "passes/layout/element_widths.h"

namespace hlo {
namespace {

using Widths = llvm::function_ref<std::optional<int64_t>(ElementType)>;

/// The shape with these widths in all leaves.
Shape Sized(const Shape& shape, Widths width) {
  if (shape.IsTuple()) {
    llvm::SmallVector<Shape, 8> elements;
    bool same = true;
    for (const Shape& element : shape.tuple_shapes()) {
      elements.push_back(Sized(element, width));
      same &= elements.back() == element;
    }
    return same ? shape : Shape::MakeTuple(elements);
  }
  if (!shape.IsArray()) return shape;
  const std::optional<int64_t> wanted = width(shape.element_type());
  if (!wanted || (shape.has_layout() ? shape.layout().element_size_bits : 0) == *wanted) return shape;
  Layout layout = shape.WithDefaultLayouts().layout();
  layout.element_size_bits = *wanted;
  return shape.WithLayout(std::move(layout));
}

void SetConstantShape(Instruction& constant) {
  LiteralPtr& literal = constant.mutable_attrs().Mutable<ConstantAttrs>().literal;
  if (literal && literal->shape().IsArray() && literal->shape() != constant.shape())
    literal = std::make_shared<const Literal>(literal->WithShape(constant.shape()));
}

}  // namespace

Result<bool> SetElementWidths(Module& module, const PassContext& context, Widths width,
                              llvm::function_ref<bool()> may_change) {
  bool changed = false;
  for (Computation* c : context.AllComputations(module)) {
    HLO_CHECK_OK(context.CheckInterrupt());
    for (Instruction* inst : c->instructions()) {
      Shape sized = Sized(inst->shape(), width);
      if (sized == inst->shape()) continue;
      if (!may_change()) return changed;
      inst->set_shape(std::move(sized));
      if (inst->kind() == OpKind::Constant) SetConstantShape(*inst);
      changed = true;
    }
  }
  if (!module.config.entry_layout) return changed;
  EntryLayout& layout = *module.config.entry_layout;
  llvm::SmallVector<Shape*, 8> shapes = {&layout.result};
  for (Shape& parameter : layout.parameters) shapes.push_back(&parameter);
  for (Shape* shape : shapes) {
    Shape sized = Sized(*shape, width);
    if (sized == *shape || !may_change()) continue;
    *shape = std::move(sized);
    changed = true;
  }
  return changed;
}

}  // namespace hlo

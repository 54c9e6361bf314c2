// sub-byte-size-setter, sub-byte-size-removal: whether layouts say that elements narrower than a byte are
// stored packed (passes.md §2.1).
//
// Require nothing. Preserve everything.
// Change: element_size_in_bits of all layouts of 1-, 2- and 4-bit types, in the entry's layout and constants
// too, becomes their width, or unset.
#include "passes/pass.h"

namespace hlo {
namespace {

bool IsNarrow(ElementType type) {
  const int bits = Info(type).bits;
  return !IsPred(type) && (bits == 1 || bits == 2 || bits == 4);
}

/// The shape with sizes set or cleared in all leaves.
Shape Sized(const Shape& shape, bool packed) {
  if (shape.IsTuple()) {
    llvm::SmallVector<Shape, 8> elements;
    bool same = true;
    for (const Shape& element : shape.tuple_shapes()) {
      elements.push_back(Sized(element, packed));
      same &= elements.back() == element;
    }
    return same ? shape : Shape::MakeTuple(elements);
  }
  if (!shape.IsArray() || !shape.has_layout() || !IsNarrow(shape.element_type())) return shape;
  const int64_t wanted = packed ? Info(shape.element_type()).bits : 0;
  if (shape.layout().element_size_bits == wanted) return shape;
  Layout layout = shape.layout();
  layout.element_size_bits = wanted;
  return shape.WithLayout(std::move(layout));
}

void SetConstantShape(Instruction& constant) {
  LiteralPtr& literal = constant.mutable_attrs().Mutable<ConstantAttrs>().literal;
  if (literal && literal->shape().IsArray() && literal->shape() != constant.shape())
    literal = std::make_shared<const Literal>(literal->WithShape(constant.shape()));
}

/// Sets the sizes to the width of the type, or clears them.
Result<bool> SetSubByteSizes(Module& module, PassContext& context, bool packed) {
  bool changed = false;
  for (Computation* c : context.AllComputations(module)) {
    HLO_CHECK_OK(context.CheckInterrupt());
    for (Instruction* inst : c->instructions()) {
      Shape sized = Sized(inst->shape(), packed);
      if (sized == inst->shape()) continue;
      if (!context.TakeRewrite()) return changed;
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
    Shape sized = Sized(*shape, packed);
    if (sized == *shape || !context.TakeRewrite()) continue;
    *shape = std::move(sized);
    changed = true;
  }
  return changed;
}

Result<bool> RunSubByteSizeSetter(Module& module, const NoPassOptions&, PassContext& context) {
  return SetSubByteSizes(module, context, /*packed=*/true);
}
Result<bool> RunSubByteSizeRemoval(Module& module, const NoPassOptions&, PassContext& context) {
  return SetSubByteSizes(module, context, /*packed=*/false);
}

}  // namespace

HLO_DEFINE_PASS(SubByteSizeSetter, NoPassOptions);
HLO_DEFINE_PASS(SubByteSizeRemoval, NoPassOptions);

}  // namespace hlo

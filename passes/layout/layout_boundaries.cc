#include "passes/layout/layout_boundaries.h"

#include "passes/rewrite/context.h"

namespace hlo {

Shape LaidOut(const Shape& shape, const Shape& like) {
  if (shape == like || !like.valid()) return shape;
  if (shape.IsTuple()) {
    if (!like.IsTuple() || like.tuple_size() != shape.tuple_size()) return shape;
    llvm::SmallVector<Shape, 8> elements;
    for (int64_t i = 0; i < shape.tuple_size(); ++i)
      elements.push_back(LaidOut(shape.tuple_shape(i), like.tuple_shape(i)));
    return Shape::MakeTuple(elements);
  }
  if (!shape.IsArray() || !like.IsArray() || !like.has_layout() || shape.rank() != like.rank()) return shape;
  Layout layout = like.layout();
  // How wide elements are is no matter of order: no copy could change it.
  layout.element_size_bits = shape.has_layout() ? shape.layout().element_size_bits : 0;
  return shape.WithLayout(std::move(layout));
}

Shape WithWidths(const Shape& shape, const Shape& like) {
  if (shape == like) return shape;
  if (shape.IsTuple() && like.IsTuple() && like.tuple_size() == shape.tuple_size()) {
    llvm::SmallVector<Shape, 8> elements;
    for (int64_t i = 0; i < shape.tuple_size(); ++i)
      elements.push_back(WithWidths(shape.tuple_shape(i), like.tuple_shape(i)));
    return Shape::MakeTuple(elements);
  }
  if (!shape.IsArray() || !like.IsArray() || !shape.has_layout() || !like.has_layout()) return shape;
  Layout layout = shape.layout();
  layout.element_size_bits = like.layout().element_size_bits;
  return shape.WithLayout(std::move(layout));
}

LayoutBoundaries::LayoutBoundaries(llvm::ArrayRef<Computation*> computations) {
  for (const Computation* c : computations)
    if (c->has_calls())
      for (Instruction* inst : c->instructions()) Visit(inst);
}

void LayoutBoundaries::Visit(Instruction* caller) {
  const bool loop = caller->kind() == OpKind::While;
  if (!loop && caller->kind() != OpKind::Conditional && caller->kind() != OpKind::Call) return;
  if (llvm::any_of(caller->callees(), [](const Computation* c) { return c->IsEntry(); })) return;
  if (loop) {
    Instruction* carried = caller->callee(0)->parameter(0);
    Unite(carried, caller->callee(1)->parameter(0));
    Unite(carried, caller->callee(0));
    Unite(carried, caller);
  } else {
    for (const Computation* callee : caller->callees()) Unite(caller->callee(0), callee);
    Unite(caller->callee(0), caller);
  }
  // No copy may stand beside what an asynchronous operation wraps.
  if (!IsWrapped(*caller->parent())) return;
  Unite(caller, static_cast<const Computation*>(caller->parent()));
  const bool branches = caller->kind() == OpKind::Conditional;
  for (int64_t i = branches ? 1 : 0; i < caller->operand_count(); ++i)
    Unite(branches ? caller->callee(i - 1)->parameter(0) : caller->callee(0)->parameter(i),
          caller->operand(i));
}

namespace {

const Shape& ShapeOf(llvm::PointerUnion<Instruction*, const Computation*> place) {
  if (auto* inst = llvm::dyn_cast<Instruction*>(place)) return inst->shape();
  return llvm::cast<const Computation*>(place)->root()->shape();
}

}  // namespace

int64_t LayoutBoundaries::Find(int64_t at) const {
  while (parents_[static_cast<size_t>(at)] != at) at = parents_[static_cast<size_t>(at)];
  return at;
}

int64_t LayoutBoundaries::ClassOf(Place place) {
  const auto [entry, fresh] = numbers_.try_emplace(place, static_cast<int64_t>(places_.size()));
  if (fresh) {
    parents_.push_back(entry->second);
    places_.push_back(place);
    shapes_.push_back(ShapeOf(place).WithDefaultLayouts());
  }
  const int64_t leader = Find(entry->second);
  parents_[static_cast<size_t>(entry->second)] = leader;
  return leader;
}

void LayoutBoundaries::Unite(Place first, Place second) {
  const int64_t leader = ClassOf(first), other = ClassOf(second);
  parents_[static_cast<size_t>(other)] = leader;
}

Shape LayoutBoundaries::Agreed(size_t place) const {
  return LaidOut(shapes_[place], shapes_[static_cast<size_t>(Find(static_cast<int64_t>(place)))]);
}

bool LayoutBoundaries::Disagree() const {
  for (size_t i = 0; i < places_.size(); ++i)
    if (const auto* inst = llvm::dyn_cast<Instruction*>(places_[i]); inst && inst->shape() != Agreed(i))
      return true;
  return false;
}

void LayoutBoundaries::Apply() {
  for (size_t i = 0; i < places_.size(); ++i)
    if (auto* inst = llvm::dyn_cast<Instruction*>(places_[i])) inst->set_shape(Agreed(i));
}

Shape LayoutBoundaries::Root(const Computation& computation) const {
  const auto number = numbers_.find(Place(&computation));
  // What the root calls may have given it another layout.
  if (computation.IsFusion()) return computation.callers().front()->shape().WithDefaultLayouts();
  if (number == numbers_.end()) return computation.root()->shape().WithDefaultLayouts();
  return Agreed(static_cast<size_t>(number->second));
}

Shape LayoutBoundaries::Operand(const Instruction& caller, int64_t i) {
  if (caller.kind() == OpKind::While) return caller.shape();
  if (caller.kind() == OpKind::Conditional)
    return i == 0 ? Shape() : caller.callee(i - 1)->parameter(0)->shape();
  const bool binds =
      caller.kind() == OpKind::Call || caller.kind() == OpKind::Fusion || caller.kind() == OpKind::AsyncStart;
  return binds ? caller.callee()->parameter(i)->shape().WithDefaultLayouts() : Shape();
}

}  // namespace hlo

#include "passes/layout_assignment.h"

#include "passes/analysis/reshape_facts.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/maker.h"

namespace hlo {
namespace {

/// How an opcode treats layouts.
enum class Role : uint8_t {
  Free,       // result and operands are row-major
  Follow,     // result and operands of its rank agree (elementwise and the like)
  Transpose,  // best as a bitcast
  Reshape,    // best as a bitcast
  Reduce,     // kept dimensions keep their order
  Written,    // the layouts in the text are binding
  Passive,    // tuples: as their elements
};

/// Where the op table alone does not tell.
constexpr std::pair<OpKind, Role> kRoles[] = {
    {OpKind::Transpose, Role::Transpose},
    {OpKind::Reshape, Role::Reshape},
    {OpKind::Reduce, Role::Reduce},
    {OpKind::Tuple, Role::Passive},
    {OpKind::GetTupleElement, Role::Passive},
    {OpKind::OptimizationBarrier, Role::Passive},
    {OpKind::AddDependency, Role::Passive},
    {OpKind::Domain, Role::Passive},
    {OpKind::Parameter, Role::Written},
    {OpKind::Constant, Role::Written},
    {OpKind::Bitcast, Role::Written},
    {OpKind::Copy, Role::Written},
    {OpKind::Fusion, Role::Written},
    {OpKind::Slice, Role::Follow},
    {OpKind::DynamicSlice, Role::Follow},
    {OpKind::DynamicUpdateSlice, Role::Follow},
    {OpKind::Pad, Role::Follow},
    {OpKind::Reverse, Role::Follow},
    {OpKind::Concatenate, Role::Follow},
    {OpKind::AllReduce, Role::Follow},
};

std::vector<Role> MakeRoles() {
  std::vector<Role> roles;
  for (const OpInfo& op : AllOps()) {
    const bool boundary = op.category == OpCategory::Control || op.category == OpCategory::Custom ||
                          op.category == OpCategory::Async || op.category == OpCategory::Communication;
    roles.push_back(op.Is(kElementwise) ? Role::Follow : boundary ? Role::Written : Role::Free);
  }
  for (const auto& [kind, role] : kRoles) roles[static_cast<size_t>(kind)] = role;
  return roles;
}

Role RoleOf(const Instruction& inst) {
  static const std::vector<Role> roles = MakeRoles();
  const Role role = roles[static_cast<size_t>(inst.kind())];
  return role == Role::Reduce && inst.operand_count() != 2 ? Role::Free : role;
}

bool IsPlainArray(const Shape& shape) {
  return shape.IsArray() && !(shape.has_layout() && shape.layout().HasProperties());
}

Shape Descending(const Shape& shape) { return shape.WithoutLayout().WithDefaultLayouts(); }

Shape WithOrder(const Shape& shape, const Layout& layout) {
  Layout plain;
  plain.minor_to_major = layout.minor_to_major;
  return shape.WithLayout(std::move(plain));
}

/// `shape` in the order of the dimensions of `like`, which has the same rank.
Shape LaidOutLike(const Shape& shape, const Shape& like) { return WithOrder(shape, like.layout()); }

class Assigner {
 public:
  Assigner(Computation& computation, PassContext& context) : computation_(computation), context_(context) {}

  Result<bool> Run() {
    order_ = computation_.PostOrder();
    CollectWishes();
    bool changed = false;
    for (Instruction* inst : order_) {
      if (++visited_ % 4096 == 0) HLO_CHECK_OK(context_.CheckInterrupt());
      const Shape chosen = Choose(*inst);
      if (chosen.valid() && chosen != inst->shape()) {
        if (!context_.TakeRewrite()) return changed;
        inst->set_shape(chosen);
        changed = true;
      }
      changed |= FixOperands(inst);
    }
    changed |= FixRoot();
    return changed;
  }

 private:
  /// What users want, from the root up; a wish stands if no other user wants something else.
  void CollectWishes() {
    Wish(computation_.root(), RootShape());
    for (const Instruction* inst : llvm::reverse(order_)) {
      const Shape wish = wishes_.lookup(inst);  // a copy: more wishes come
      const bool wanted = wish.valid();
      switch (RoleOf(*inst)) {
        case Role::Follow:
          if (wanted)
            for (Instruction* o : inst->operands())
              if (IsPlainArray(o->shape()) && o->shape().rank() == inst->shape().rank())
                Wish(o, LaidOutLike(o->shape(), wish));
          break;
        case Role::Transpose:
          if (wanted)
            Wish(inst->operand(0),
                 BitcastTransposeShape(wish, InversePermutation(inst->attr<DimensionsAttrs>().dimensions)));
          break;
        case Role::Reshape:
          if (wanted)
            if (auto from = BitcastReshapeShape(wish, inst->operand(0)->shape().dims()))
              Wish(inst->operand(0), *from);
          break;
        default:
          for (Instruction* o : inst->operands())
            if (IsPlainArray(o->shape())) Wish(o, Required(*inst, *o));
          break;
      }
    }
  }

  void Wish(const Instruction* value, const Shape& shape) {
    if (!shape.IsArray() || !shape.has_layout()) return;
    auto [it, fresh] = wishes_.try_emplace(value, shape);
    if (!fresh && it->second.valid() && it->second.layout().minor_to_major != shape.layout().minor_to_major)
      it->second = Shape();  // users disagree
  }

  /// The layout an operand must have for a user that does not adapt.
  static Shape Required(const Instruction& user, const Instruction& operand) {
    if (RoleOf(user) == Role::Written || RoleOf(user) == Role::Passive)
      return operand.shape().WithDefaultLayouts();
    return Descending(operand.shape());
  }

  /// The shape with its layout for the value of an instruction whose operands are done.
  Shape Choose(const Instruction& inst) {
    const Shape& shape = inst.shape();
    if (RoleOf(inst) == Role::Passive) return PassiveShape(inst);
    if (!shape.IsArray()) return RoleOf(inst) == Role::Free ? Descending(shape) : shape.WithDefaultLayouts();
    if (!IsPlainArray(shape)) return shape;
    const auto wish = wishes_.find(&inst);
    const bool wanted = wish != wishes_.end() && wish->second.valid();
    switch (RoleOf(inst)) {
      case Role::Written: return shape.WithDefaultLayouts();
      case Role::Follow: {
        if (wanted) return LaidOutLike(shape, wish->second);
        const Instruction* leader = Leader(inst);
        return leader ? LaidOutLike(shape, leader->shape()) : Descending(shape);
      }
      case Role::Transpose:
        return wanted
                   ? wish->second
                   : BitcastTransposeShape(inst.operand(0)->shape(), inst.attr<DimensionsAttrs>().dimensions);
      case Role::Reshape: {
        if (wanted) return LaidOutLike(shape, wish->second);
        const auto bitcast = BitcastReshapeShape(inst.operand(0)->shape(), shape.dims());
        return bitcast ? LaidOutLike(shape, *bitcast) : Descending(shape);
      }
      case Role::Reduce: return wanted ? LaidOutLike(shape, wish->second) : KeptOrder(inst);
      default:
        return wanted && (inst.operand_count() == 0 || inst.kind() == OpKind::Broadcast)
                   ? LaidOutLike(shape, wish->second)
                   : Descending(shape);
    }
  }

  static Shape PassiveShape(const Instruction& inst) {
    if (inst.kind() == OpKind::Tuple) {
      std::vector<Shape> elements;
      for (const Instruction* o : inst.operands()) elements.push_back(o->shape());
      return Shape::MakeTuple(elements);
    }
    if (inst.kind() == OpKind::GetTupleElement)
      return inst.operand(0)->shape().tuple_shape(inst.attr<GetTupleElementAttrs>().index);
    return inst.operand(0)->shape();
  }

  /// The operand whose layout the result takes: the largest of the result's rank (operand 0 of an update).
  static const Instruction* Leader(const Instruction& inst) {
    const Instruction* leader = nullptr;
    for (const Instruction* o : inst.operands()) {
      if (!IsPlainArray(o->shape()) || o->shape().rank() != inst.shape().rank() || !o->shape().has_layout())
        continue;
      if (!leader || o->shape().ElementCount() > leader->shape().ElementCount()) leader = o;
      if (inst.kind() == OpKind::DynamicUpdateSlice) break;
    }
    return leader;
  }

  /// The result of a reduction in the order its dimensions have in the operand.
  static Shape KeptOrder(const Instruction& reduce) {
    const Shape& operand = reduce.operand(0)->shape();
    if (!IsPlainArray(operand) || !operand.has_layout()) return Descending(reduce.shape());
    const Dims& reduced = reduce.attr<ReduceAttrs>().dimensions;
    Dims kept;
    for (int64_t d = 0; d < operand.rank(); ++d)
      if (!llvm::is_contained(reduced, d)) kept.push_back(d);
    Layout layout;
    for (const int64_t d : operand.layout().minor_to_major)
      if (!llvm::is_contained(reduced, d))
        layout.minor_to_major.push_back(llvm::find(kept, d) - kept.begin());
    return reduce.shape().WithLayout(std::move(layout));
  }

  /// Copies between the instruction and operands that lie otherwise than it needs.
  bool FixOperands(Instruction* inst) {
    const Role role = RoleOf(*inst);
    if (role == Role::Transpose || role == Role::Reshape || role == Role::Reduce || role == Role::Passive)
      return false;
    bool changed = false;
    for (int64_t i = 0; i < inst->operand_count(); ++i) {
      Instruction* o = inst->operand(i);
      if (!IsPlainArray(o->shape())) continue;
      Shape needed;
      if (role == Role::Follow && inst->shape().IsArray()) {
        if (inst->kind() == OpKind::Copy || o->shape().rank() != inst->shape().rank()) continue;
        needed = LaidOutLike(o->shape(), inst->shape());
      } else if (role == Role::Free) {
        needed = Descending(o->shape());
      } else {
        needed = WrittenOperand(*inst, i);
      }
      if (!needed.valid() || needed == o->shape()) continue;
      inst->SetOperand(i, CopyTo(o, needed));
      changed = true;
    }
    return changed;
  }

  /// The layout an operand of a call, loop, transfer, … has to have; nothing if any will do.
  static Shape WrittenOperand(const Instruction& inst, int64_t i) {
    const Shape& operand = inst.operand(i)->shape();
    if (const auto* attrs = inst.attrs().GetIf<CustomCallAttrs>()) {
      if (attrs->operand_layout_constraints)
        return WithOrder(
            operand,
            (*attrs->operand_layout_constraints)[static_cast<size_t>(i)].WithDefaultLayouts().layout());
      return Descending(operand);
    }
    if (inst.kind() == OpKind::Copy || inst.kind() == OpKind::Bitcast) return {};
    if (inst.kind() == OpKind::Call || inst.kind() == OpKind::Fusion)
      return inst.callee()->parameter(i)->shape().WithDefaultLayouts();
    return Descending(operand);
  }

  /// One copy per value and layout.
  Instruction* CopyTo(Instruction* value, const Shape& shape) {
    for (Instruction*& copy : copies_[value])
      if (copy->shape() == shape) return copy;
    Instruction* copy = Maker(computation_, value).AddWithShape(OpKind::Copy, shape, {value});
    copies_[value].push_back(copy);
    context_.Count("copies");
    return copy;
  }

  [[nodiscard]] Shape RootShape() const {
    const Module& module = *computation_.module();
    if (computation_.IsEntry() && module.config.entry_layout)
      return module.config.entry_layout->result.WithDefaultLayouts();
    return written_root_;
  }

  /// Brings the root into the layout that callers expect, element by element if it is a tuple.
  bool FixRoot() {
    Instruction* root = computation_.root();
    const Shape wanted = RootShape();
    if (root->shape() == wanted) return false;
    Instruction* fixed = Convert(root, wanted);
    if (fixed == root) return false;
    MoveControlEdges(*root, *fixed);
    computation_.set_root(fixed);
    RemoveIfDead(root);
    return true;
  }

  Instruction* Convert(Instruction* value, const Shape& wanted) {
    if (value->shape() == wanted) return value;
    if (value->shape().IsArray())
      return IsPlainArray(wanted) && IsPlainArray(value->shape()) ? CopyTo(value, wanted) : value;
    if (!value->shape().IsTuple()) return value;
    llvm::SmallVector<Instruction*, 4> elements;
    for (int64_t i = 0; i < value->shape().tuple_size(); ++i) {
      Instruction* element =
          value->kind() == OpKind::Tuple ? value->operand(i) : Maker(computation_, value).Gte(value, i);
      elements.push_back(Convert(element, wanted.tuple_shape(i)));
    }
    return Maker(computation_, value).Tuple(elements);
  }

  Computation& computation_;
  PassContext& context_;
  const Shape written_root_ = computation_.root()->shape().WithDefaultLayouts();
  std::vector<Instruction*> order_;
  llvm::DenseMap<const Instruction*, Shape> wishes_;
  llvm::DenseMap<const Instruction*, llvm::SmallVector<Instruction*, 1>> copies_;
  int64_t visited_ = 0;
};

/// Parameters of the entry lie as the header says.
bool SetEntryParameters(Module& module) {
  if (!module.config.entry_layout) return false;
  bool changed = false;
  const auto& layouts = module.config.entry_layout->parameters;
  for (size_t i = 0; i < layouts.size() && i < module.entry()->parameters().size(); ++i) {
    Instruction* p = module.entry()->parameters()[i];
    const Shape shape = layouts[i].WithDefaultLayouts();
    if (p->shape() == shape) continue;
    p->set_shape(shape);
    changed = true;
  }
  return changed;
}

}  // namespace

Result<bool> RunLayoutAssignment(Module& module, const NoPassOptions& options, PassContext& context) {
  (void)options;
  bool changed = SetEntryParameters(module);
  for (Computation* c : context.Computations(module)) {
    HLO_TRY(const bool c_changed, Assigner(*c, context).Run());
    changed |= c_changed;
  }
  return changed;
}

HLO_DEFINE_PASS(LayoutAssignment, NoPassOptions);

}  // namespace hlo

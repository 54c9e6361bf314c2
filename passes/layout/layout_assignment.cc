// layout-assignment: chooses the order of dimensions in memory for every array (passes.md §5.4).
//
// Requires nothing. Preserves flat-calls, canonical-dots. Establishes layouts; those of before mean nothing.
// Changes: arrays get layouts; where a user needs another one than its operand has, a copy is put between.
// The entry's parameters and result keep the layouts of the header, values that go into or come out of called
// computations, custom calls, infeeds and transfers the written ones (where caller and computation disagree,
// those of the computation: layout_boundaries.h), bitcasts and their operands theirs. Everything else
// follows: wishes of users travel up through elementwise ops, transposes and reshapes, layouts travel down,
// and what is still free is row-major. Elements of a type whose width in memory is said in two ways are
// packed everywhere. Afterwards the module is valid with layouts taken into account. All of it is one
// rewrite.
#include "ir/verify.h"
#include "passes/analysis/reshape_facts.h"
#include "passes/analysis/side_effects.h"
#include "passes/layout/element_widths.h"
#include "passes/layout/layout_boundaries.h"
#include "passes/pass.h"
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

/// Row by row, elements as wide as before.
Shape Descending(const Shape& shape) { return WithWidths(shape.WithoutLayout().WithDefaultLayouts(), shape); }

Shape WithOrder(const Shape& shape, const Layout& layout) {
  Layout plain;
  plain.minor_to_major = layout.minor_to_major;
  return shape.WithLayout(std::move(plain));
}

/// The array in the order of the dimensions of `like`, otherwise as it lies.
Shape InOrderOf(const Shape& shape, const Shape& like) {
  Layout layout = shape.layout();
  layout.minor_to_major = like.layout().minor_to_major;
  return shape.WithLayout(std::move(layout));
}

/// `shape` in the order of the dimensions of `like`, which has the same rank.
Shape LaidOutLike(const Shape& shape, const Shape& like) { return WithOrder(shape, like.layout()); }

/// What a tuple, or what takes one apart or hands it on, makes of its operands.
Shape PassiveShape(const Instruction& inst) {
  if (inst.kind() == OpKind::Tuple) {
    std::vector<Shape> elements;
    for (const Instruction* o : inst.operands()) elements.push_back(o->shape());
    return Shape::MakeTuple(elements);
  }
  if (inst.kind() == OpKind::GetTupleElement)
    return inst.operand(0)->shape().tuple_shape(inst.attr<GetTupleElementAttrs>().index);
  return inst.operand(0)->shape();
}

/// Layouts in the body of a fusion, which come with the fusion, contradict each other or those of what it
/// calls.
bool Contradicts(const Computation& fused) {
  ShapeComparison order;
  order.layout = order.minor_to_major_only = true;
  const Shape made = fused.callers().front()->shape().WithDefaultLayouts();
  return !Same(fused.root()->shape().WithDefaultLayouts(), made, order) ||
         llvm::any_of(fused.instructions(), [](const Instruction* inst) {
           const bool calls = inst->kind() == OpKind::While || inst->kind() == OpKind::Conditional ||
                              inst->kind() == OpKind::Call || inst->kind() == OpKind::Fusion;
           return calls || !LayoutFits(*inst);
         });
}

/// What holds for the module as a whole while it gets its layouts.
struct Assignment {
  explicit Assignment(PassContext& context) : context(context) {}

  PassContext& context;
  const LayoutBoundaries* boundaries = nullptr;
  /// How the operands of bitcasts lie in the text, which is what the bitcasts mean.
  llvm::DenseMap<const Instruction*, Shape> bitcast_operands;
  bool begun = false;

  /// Half of the layouts would contradict the other half, so leave is asked for once and for all of them.
  bool Begin() { return begun || (begun = context.TakeRewrite()); }
};

class Assigner {
 public:
  Assigner(Computation& computation, Assignment& module)
      : computation_(computation), module_(module), written_root_(module.boundaries->Root(computation)) {}

  Result<bool> Run() {
    order_ = computation_.PostOrder();
    CollectWishes();
    bool changed = false;
    for (Instruction* inst : order_) {
      if (++visited_ % 4096 == 0) HLO_CHECK_OK(module_.context.CheckInterrupt());
      const Shape chosen = Choose(*inst);
      if (chosen.valid() && chosen != inst->shape() && module_.Begin()) {
        inst->set_shape(chosen);
        changed = true;
      }
      changed |= FixOperands(inst);
    }
    if (computation_.IsFusion()) RemoveDead();
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
          for (int64_t i = 0; i < inst->operand_count(); ++i)
            if (IsPlainArray(inst->operand(i)->shape())) Wish(inst->operand(i), Required(*inst, i));
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

  /// The layout an operand should have for a user that does not adapt.
  [[nodiscard]] Shape Required(const Instruction& user, int64_t i) const {
    const Shape& operand = user.operand(i)->shape();
    if (RoleOf(user) != Role::Written && RoleOf(user) != Role::Passive) return Descending(operand);
    const Shape needed = RoleOf(user) == Role::Written ? WrittenOperand(user, i) : Shape();
    return needed.valid() ? needed : operand.WithDefaultLayouts();
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
    bool changed = false;
    for (int64_t i = 0; i < inst->operand_count(); ++i) {
      Instruction* o = inst->operand(i);
      const Shape needed = NeededOperand(*inst, i);
      if (!needed.valid() || needed == o->shape() || !module_.Begin()) continue;
      Instruction* converted = Convert(o, needed);
      if (converted == o) continue;
      inst->SetOperand(i, converted);
      changed = true;
    }
    return changed;
  }

  /// What copies took the place of: bodies of fusions hold nothing that nobody uses.
  void RemoveDead() {
    for (Instruction* inst : llvm::reverse(order_)) {
      if (inst->users().empty() && !inst->IsRoot()) inst->DropControlEdges();
      if (IsDead(*inst)) computation_.Remove(inst);
    }
  }

  /// The shape that operand `i` has to have; nothing if any will do.
  [[nodiscard]] Shape NeededOperand(const Instruction& inst, int64_t i) const {
    const Role role = RoleOf(inst);
    const Shape& operand = inst.operand(i)->shape();
    if (role == Role::Written) return WrittenOperand(inst, i);
    if (!IsPlainArray(operand)) return {};
    if (role == Role::Free || (role == Role::Follow && !inst.shape().IsArray())) return Descending(operand);
    if (role != Role::Follow || operand.rank() != inst.shape().rank()) return {};
    return LaidOutLike(operand, inst.shape());
  }

  /// The layout an operand of a call, loop, transfer, … has to have; nothing if any will do.
  [[nodiscard]] Shape WrittenOperand(const Instruction& inst, int64_t i) const {
    const Shape& operand = inst.operand(i)->shape();
    if (inst.kind() == OpKind::Copy) return {};
    if (inst.kind() == OpKind::Bitcast) return LaidOut(operand, module_.bitcast_operands.lookup(&inst));
    if (const Shape taken = LayoutBoundaries::Operand(inst, i); taken.valid()) return LaidOut(operand, taken);
    if (const Shape sent = SentShape(inst, i); sent.valid())
      return operand.IsArray() ? InOrderOf(operand.WithDefaultLayouts(), sent.WithDefaultLayouts())
                               : LaidOut(operand, sent.WithDefaultLayouts());
    return IsPlainArray(operand) ? Descending(operand) : Shape();
  }

  /// What the text says of the layout in which a transfer or custom-call takes its operand.
  static Shape SentShape(const Instruction& inst, int64_t i) {
    if (const auto* attrs = inst.attrs().GetIf<CustomCallAttrs>())
      return attrs->operand_layout_constraints ? (*attrs->operand_layout_constraints)[static_cast<size_t>(i)]
                                               : Shape();
    if (i != 0) return {};
    if (const auto* attrs = inst.attrs().GetIf<OutfeedAttrs>()) return attrs->outfeed_shape;
    if (inst.kind() == OpKind::Send) return inst.shape().tuple_shape(0);
    return inst.kind() == OpKind::CopyStart ? inst.shape().tuple_shape(1) : Shape();
  }

  /// One copy per value and layout.
  Instruction* CopyTo(Instruction* value, const Shape& shape) {
    for (Instruction*& copy : copies_[value])
      if (copy->shape() == shape) return copy;
    Instruction* copy = Maker(computation_, value).AddWithShape(OpKind::Copy, shape, {value});
    copies_[value].push_back(copy);
    module_.context.Count("copies");
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
    const Shape wanted = LaidOut(root->shape(), RootShape());
    if (root->shape() == wanted || !module_.Begin()) return false;
    Instruction* fixed = Convert(root, wanted);
    if (fixed == root) return false;
    MoveControlEdges(*root, *fixed);
    computation_.set_root(fixed);
    RemoveIfDead(root);
    return true;
  }

  /// The value as `wanted`, which differs in layout alone; itself where no copy can bring that about.
  Instruction* Convert(Instruction* value, const Shape& wanted) {
    if (value->shape() == wanted) return value;
    if (value->shape().IsArray()) return IsKept(value->shape(), wanted) ? value : CopyTo(value, wanted);
    if (!value->shape().IsTuple()) return value;
    llvm::SmallVector<Instruction*, 4> elements;
    bool changed = false;
    for (int64_t i = 0; i < value->shape().tuple_size(); ++i) {
      Instruction* element =
          value->kind() == OpKind::Tuple ? value->operand(i) : Maker(computation_, value).Gte(value, i);
      elements.push_back(Convert(element, wanted.tuple_shape(i)));
      changed |= elements.back() != element;
    }
    if (changed) return Maker(computation_, value).Tuple(elements);
    for (Instruction* element : elements) RemoveIfDead(element);
    return value;
  }

  /// Tiles and memory spaces of the header bind nobody.
  [[nodiscard]] bool IsKept(const Shape& shape, const Shape& wanted) const {
    return computation_.IsEntry() && !(IsPlainArray(shape) && IsPlainArray(wanted)) &&
           shape.layout().minor_to_major == wanted.layout().minor_to_major;
  }

  Computation& computation_;
  Assignment& module_;
  const Shape written_root_;
  std::vector<Instruction*> order_;
  llvm::DenseMap<const Instruction*, Shape> wishes_;
  llvm::DenseMap<const Instruction*, llvm::SmallVector<Instruction*, 1>> copies_;
  int64_t visited_ = 0;
};

/// Parameters of the entry lie as the header says.
bool SetEntryParameters(Module& module, Assignment& assignment) {
  if (!module.config.entry_layout) return false;
  bool changed = false;
  const auto& layouts = module.config.entry_layout->parameters;
  for (size_t i = 0; i < layouts.size() && i < module.entry()->parameters().size(); ++i) {
    Instruction* p = module.entry()->parameters()[i];
    const Shape shape = layouts[i].WithDefaultLayouts();
    if (p->shape() == shape || !assignment.Begin()) continue;
    p->set_shape(shape);
    changed = true;
  }
  return changed;
}

using Widths = llvm::SmallDenseMap<ElementType, int64_t, 4>;  // in bits; 0: not said

/// Notes how wide elements of the types in `shape` are; those that are so in two ways go to `mixed`, where
/// packed ones win.
void NoteWidths(const Shape& shape, Widths& seen, Widths& mixed) {
  ForEachLeaf(shape, [&](const ShapeIndex&, const Shape& leaf) {
    if (!leaf.IsArray()) return;
    const int64_t width = leaf.has_layout() ? leaf.layout().element_size_bits : 0;
    const auto [it, fresh] = seen.try_emplace(leaf.element_type(), width);
    if (fresh || it->second == width) return;
    int64_t& agreed = mixed.try_emplace(leaf.element_type(), it->second).first->second;
    if (agreed == 0 || (width != 0 && width < agreed)) agreed = width;
  });
}

/// No copy makes elements wider or narrower in memory: they are as wide in one place of the module as in the
/// other.
Result<bool> UniteWidths(Module& module, Assignment& assignment) {
  Widths seen, mixed;
  for (const Computation* c : assignment.context.AllComputations(module))
    for (const Instruction* inst : c->instructions()) NoteWidths(inst->shape(), seen, mixed);
  if (const auto& layout = module.config.entry_layout) {
    NoteWidths(layout->result, seen, mixed);
    for (const Shape& parameter : layout->parameters) NoteWidths(parameter, seen, mixed);
  }
  if (mixed.empty() || !assignment.Begin()) return false;
  const auto width = [&](ElementType type) -> std::optional<int64_t> {
    const auto it = mixed.find(type);
    return it == mixed.end() ? std::nullopt : std::optional(it->second);
  };
  return SetElementWidths(module, assignment.context, width, [] { return true; });
}

Result<bool> RunLayoutAssignment(Module& module, const NoPassOptions& options, PassContext& context) {
  (void)options;
  Assignment assignment(context);
  HLO_TRY(bool changed, UniteWidths(module, assignment));
  LayoutBoundaries boundaries(context.AllComputations(module));
  assignment.boundaries = &boundaries;
  for (const Computation* c : context.AllComputations(module))
    for (const Instruction* bitcast : c->InstructionsOf(OpKind::Bitcast))
      assignment.bitcast_operands[bitcast] = bitcast->operand(0)->shape().WithDefaultLayouts();
  changed |= SetEntryParameters(module, assignment);
  if (boundaries.Disagree() && assignment.Begin()) {
    boundaries.Apply();
    changed = true;
  }
  for (Computation* c : context.AllComputations(module)) {
    if (IsWrapped(*c)) continue;
    if (c->IsFusion() && !Contradicts(*c)) continue;
    HLO_TRY(const bool c_changed, Assigner(*c, assignment).Run());
    changed |= c_changed;
  }
  return changed;
}

}  // namespace

HLO_DEFINE_PASS(LayoutAssignment, NoPassOptions);

}  // namespace hlo

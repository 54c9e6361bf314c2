// dynamic_padder: arrays of bounded dynamic size as arrays of the bound, with their sizes (passes.md §2.7).
//
// Requires nothing. Preserves flat-calls, fusions.
// Changes: run-time sizes are inferred through the program and computed as s32 scalars. Instructions with
// dynamic dimensions become instructions on static arrays; where padding would show, it is filled first (with
// the identity of a reduction, zeros of a contraction, indices out of range of a scatter, a flag behind all
// others in a sort), or the valid parts are moved together (concatenate, reverse, reshape). Values stay
// dynamic where they pass parameters, tuples, calls, loops and conditionals, and at the root: custom-calls
// "PadToStatic" and "SliceToDynamic" stand at these boundaries. Sizes of static dimensions become constants,
// also where nothing is dynamic. Left alone between such boundaries:
// instructions that dynamic_padder_ops.cc has no row for, and unbounded dimensions.
#include "llvm/ADT/DenseSet.h"
#include "passes/dynamic/dynamic_padder_ops.h"
#include "passes/pass.h"
#include "passes/rewrite/dead_code.h"
#include "passes/rewrite/edit.h"

namespace hlo {
namespace {

constexpr ElementType kS32 = ElementType::S32;

bool IsConcerned(const Instruction& inst) {
  if (inst.shape().HasDynamicDimension()) return true;
  return llvm::any_of(inst.operands(), [](const Instruction* o) { return o->shape().HasDynamicDimension(); });
}

/// Bounded arrays, or tuples of them.
bool IsBounded(const Shape& shape) {
  if (shape.IsTuple()) return llvm::all_of(shape.tuple_shapes(), IsBounded);
  return shape.IsArray() && !shape.HasUnboundedDimension();
}

/// One computation.
class Padder {
 public:
  Padder(Computation& computation, PassContext& context) : computation_(computation), context_(context) {}

  Result<bool> Run() {
    const std::vector<Instruction*> order = computation_.PostOrder();
    for (Instruction* inst : order) {
      if (!IsConcerned(*inst)) continue;
      HLO_CHECK_OK(context_.CheckInterrupt());
      if (!Lower(inst)) Keep(inst);
    }
    if (Instruction* root = computation_.root(); lowered_.contains(root)) {
      Maker make(root);
      computation_.set_root(Dynamic(make, root));
    }
    for (Instruction* inst : llvm::reverse(order)) {
      if (!lowered_.contains(inst)) continue;
      inst->DropControlEdges();
      computation_.Remove(inst);
    }
    return changed_;
  }

 private:
  /// The operand as static array; PadToStatic tells the sizes of one that stays dynamic.
  Sized Static(Maker& make, Instruction* x) {
    if (const auto known = lowered_.find(x); known != lowered_.end()) return Rebound(make, known->second[0]);
    const Shape& shape = x->shape();
    if (!shape.HasDynamicDimension())
      return {Expr(make, x), llvm::SmallVector<Expr, 4>(shape.dims().begin(), shape.dims().end())};
    Instruction*& call = padded_[x];
    if (!call) {
      const Shape scalar = Shape::ArrayWithDefaultLayout(kS32, {});
      llvm::SmallVector<Shape, 5> parts(static_cast<size_t>(shape.rank()) + 1, scalar);
      parts[0] = Shape::ArrayWithDefaultLayout(shape.element_type(), shape.dims());
      CustomCallAttrs attrs;
      attrs.custom_call_target = "PadToStatic";
      call = make.AddWithShape(OpKind::CustomCall, Shape::MakeTuple(parts), {x}, std::move(attrs));
    }
    const Expr parts(make, call);
    Sized result = {parts.Gte(0), llvm::SmallVector<Expr, 4>(shape.dims().begin(), shape.dims().end())};
    for (int64_t d = 0; d < shape.rank(); ++d)
      if (shape.is_dynamic(d)) result.sizes[static_cast<size_t>(d)] = parts.Gte(d + 1);
    return result;
  }

  /// The same values for formulas of another maker.
  static Sized Rebound(Maker& make, const Sized& x) {
    Sized bound = {Expr(make, x.data.inst()), {}};
    for (const Expr& size : x.sizes) bound.sizes.push_back(size.is_number() ? size : Expr(make, size.inst()));
    return bound;
  }

  /// A lowered value as the array (or tuple) of dynamic size it was.
  Instruction* Dynamic(Maker& make, Instruction* x) {
    Instruction*& made = dynamic_[x];
    if (made) return made;
    const SizedList& values = lowered_.find(x)->second;
    if (!x->shape().IsTuple()) return made = DynamicArray(make, values[0], x->shape());
    llvm::SmallVector<Instruction*, 4> elements;
    for (int64_t i = 0; i < x->shape().tuple_size(); ++i)
      elements.push_back(DynamicArray(make, values[static_cast<size_t>(i)], x->shape().tuple_shape(i)));
    return made = make.Tuple(elements);
  }

  static Instruction* DynamicArray(Maker& make, const Sized& x, const Shape& shape) {
    if (!shape.HasDynamicDimension()) return x.data;
    llvm::SmallVector<Instruction*, 5> operands = {x.data};
    for (const Expr& size : x.sizes)
      operands.push_back(size.is_number() ? make.ScalarInt(kS32, size.number()) : size.inst());
    CustomCallAttrs attrs;
    attrs.custom_call_target = "SliceToDynamic";
    return make.AddWithShape(OpKind::CustomCall, shape, operands, std::move(attrs));
  }

  /// Makes the instruction static if there is a rule.
  bool Lower(Instruction* inst) {
    if (inst->kind() == OpKind::GetTupleElement) return LowerElement(inst);
    const DynamicRule rule = FindDynamicRule(*inst);
    if (!rule || !IsBounded(inst->shape())) return false;
    for (const Instruction* o : inst->operands())
      if (!o->shape().IsArray() || !IsBounded(o->shape())) return false;
    if (!context_.TakeRewrite()) return false;
    Maker make(inst);
    const int64_t count = computation_.instruction_count();
    DynamicOp op = {make, inst, {}};
    for (Instruction* o : inst->operands()) op.operands.push_back(Static(make, o));
    auto results = rule(op);
    changed_ |= results || computation_.instruction_count() != count;
    if (!results) return false;
    Record(inst, std::move(*results));
    return true;
  }

  bool LowerElement(Instruction* inst) {
    const auto tuple = lowered_.find(inst->operand(0));
    if (tuple == lowered_.end()) return false;
    const Sized element = tuple->second[static_cast<size_t>(inst->attr<GetTupleElementAttrs>().index)];
    Record(inst, {element});
    return true;
  }

  void Record(Instruction* inst, SizedList results) {
    MoveControlEdges(*inst, *results[0].data.inst());
    // Sizes of dimensions that are static by declaration do not matter any more.
    for (size_t i = 0; i < results.size(); ++i) {
      const Shape& shape =
          inst->shape().IsTuple() ? inst->shape().tuple_shape(static_cast<int64_t>(i)) : inst->shape();
      for (int64_t d = 0; d < shape.rank(); ++d)
        if (!shape.is_dynamic(d)) results[i].sizes[static_cast<size_t>(d)] = Expr(shape.dim(d));
    }
    const bool is_static = !inst->shape().IsTuple() && !inst->shape().HasDynamicDimension();
    if (is_static) ReplaceWith(inst, results[0].data);
    lowered_[inst] = std::move(results);
  }

  /// Gives an instruction that stays as it is the operands it expects.
  void Keep(Instruction* inst) {
    Maker make(inst);
    for (int64_t i = 0; i < inst->operand_count(); ++i)
      if (lowered_.contains(inst->operand(i))) inst->SetOperand(i, Dynamic(make, inst->operand(i)));
  }

  Computation& computation_;
  PassContext& context_;
  llvm::DenseMap<Instruction*, SizedList> lowered_;
  llvm::DenseMap<Instruction*, Instruction*> padded_, dynamic_;
  bool changed_ = false;
};

/// get-dimension-size of static dimensions.
bool FoldStaticSizes(Computation& computation, PassContext& context) {
  bool changed = false;
  for (Instruction* inst : computation.InstructionsOf(OpKind::GetDimensionSize)) {
    const int64_t d = inst->attr<DimensionsAttrs>().dimensions[0];
    Instruction* x = inst->operand(0);
    if (x->shape().is_dynamic(d)) continue;
    if (!context.TakeRewrite()) return changed;
    ReplaceAndRemove(inst, Maker(inst).ScalarInt(kS32, x->shape().dim(d)));
    changed = true;
  }
  return changed;
}

Result<bool> RunDynamicPadder(Module& module, const NoPassOptions&, PassContext& context) {
  bool changed = false;
  for (Computation* c : context.Computations(module)) {
    changed |= FoldStaticSizes(*c, context);
    const auto instructions = c->instructions();
    if (!llvm::any_of(instructions, [](const Instruction* i) { return i->shape().HasDynamicDimension(); }))
      continue;
    HLO_TRY(const bool c_changed, Padder(*c, context).Run());
    changed |= c_changed;
  }
  // Sizes of values that turned out to need none.
  if (changed) HLO_CHECK_OK(RemoveDeadCode(module, context));
  return changed;
}

}  // namespace

HLO_DEFINE_PASS(DynamicPadder, NoPassOptions);

}  // namespace hlo

// The step of collective-pipeliner that takes reductions out of loops whose results only pile up.
#include "llvm/ADT/DenseSet.h"
#include "passes/analysis/reshape_facts.h"
#include "passes/analysis/scalar_eval.h"
#include "passes/loops/collective_pipeliner.h"
#include "passes/loops/filled_elements.h"
#include "passes/rewrite/collectives.h"
#include "passes/rewrite/dots.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/loop_unroll.h"
#include "passes/rewrite/restructure.h"
#include "passes/rewrite/widen.h"

namespace hlo {
namespace {

/// What becomes of an exchange before the loop writes it into an element.
struct Piled {
  int64_t element = -1;
  FilledElement filled;
  std::vector<Instruction*> steps;  // from the exchange on, operands first; with the constants they need
  Instruction* exchange = nullptr;
  int64_t scattered = -1;  // the dimension of the parts along which the exchange scatters
};

bool Reduces(const Instruction& inst) {
  return inst.kind() == OpKind::AllReduce || inst.kind() == OpKind::ReduceScatter;
}

/// The element of the state that the scalar is, if it never changes; -1: none.
int64_t InvariantElement(const TupleLoop& loop, const Instruction& scalar) {
  const auto* read = scalar.attrs().GetIf<GetTupleElementAttrs>();
  return read && scalar.operand(0) == loop.body_parameter && loop.IsInvariant(read->index) ? read->index : -1;
}

/// A scalar that is the same in all iterations.
bool IsFixed(const TupleLoop& loop, const Instruction& inst) {
  return inst.shape().IsScalar() && (inst.kind() == OpKind::Constant || InvariantElement(loop, inst) >= 0);
}

/// All elements are a scalar that is the same in all iterations.
bool IsSplat(const TupleLoop& loop, const Instruction& inst) {
  return IsFixed(loop, inst) || (inst.kind() == OpKind::Broadcast && IsFixed(loop, *inst.operand(0)));
}

bool TakesWholes(const Instruction& inst) {
  if (inst.shape().HasDynamicDimension()) return false;
  if (inst.kind() == OpKind::Reshape)
    return AsDegenerateReshape(inst.operand(0)->shape().dims(), inst.shape().dims()).has_value();
  return inst.info().Is(kElementwise) && inst.kind() != OpKind::Map;
}

/// The dimension of the parts that is the one along which the exchange scatters; -1 where none is.
int64_t ScatteredAlong(const Instruction& exchange, const Shape& part) {
  const int64_t d = exchange.attr<ReduceScatterAttrs>().dimensions.front();
  if (SameDims(exchange.shape(), part)) return d;
  const Dims targets = UnmodifiedTargets(exchange.shape().dims(), part.dims());
  return exchange.shape().dim(d) == 1 ? -1 : targets[static_cast<size_t>(d)];
}

std::optional<Piled> PiledInto(const TupleLoop& loop, const LoopReads& reads, const LoopCount& counted,
                               int64_t element) {
  const FilledElement filled = AsFilledByLoop(loop, reads, counted, element);
  if (!filled.update || loop.body_root->operands().size() != static_cast<size_t>(loop.size()) ||
      filled.update->users().size() != 1)
    return std::nullopt;
  const auto is_leaf = [&](const Instruction& i) -> bool { return Reduces(i) || IsSplat(loop, i); };
  const Instruction& part = *filled.update->operand(1);
  auto steps = Expression(part, is_leaf, TakesWholes);
  if (!steps) return std::nullopt;
  Piled piled{element, filled, {}};
  for (const Instruction* step : *steps) piled.steps.push_back(const_cast<Instruction*>(step));
  llvm::DenseSet<const Instruction*> inside = {filled.update};
  for (Instruction* step : piled.steps) {
    inside.insert(step);
    if (!Reduces(*step)) continue;
    if (piled.exchange) return std::nullopt;
    piled.exchange = step;
  }
  if (!piled.exchange || !IsPlainCollective(*piled.exchange) || piled.exchange->shape().HasDynamicDimension())
    return std::nullopt;
  for (const Instruction* step : piled.steps)
    if (!IsSplat(loop, *step) &&
        llvm::any_of(step->users(), [&](const Instruction* user) { return !inside.contains(user); }))
      return std::nullopt;
  if (piled.exchange->kind() == OpKind::ReduceScatter) {
    piled.scattered = ScatteredAlong(*piled.exchange, part.shape());
    if (piled.scattered < 0 || piled.scattered == filled.dimension) return std::nullopt;
  }
  return piled;
}

/// `like`, a part or the whole of them, with the sizes and type of what is exchanged.
Shape BeforeExchange(const Piled& piled, const Shape& like) {
  const Shape& operand = piled.exchange->operand(0)->shape();
  const Shape typed = Retyped(like, operand.element_type());
  if (piled.exchange->kind() != OpKind::ReduceScatter) return typed;
  Dims dims(typed.dims());
  dims[static_cast<size_t>(piled.scattered)] =
      operand.dim(piled.exchange->attr<ReduceScatterAttrs>().dimensions.front());
  const Shape wide = typed.WithDims(dims);
  return typed.has_layout() ? wide.WithLayout(typed.layout()) : wide;
}

/// Makes behind the loop what the loop made of the exchange part by part.
class Wholes {
 public:
  Wholes(const TupleLoop& loop, const Piled& piled, const Shape& shape, Maker& make)
      : loop_(loop), piled_(piled), make_(make), shape_(shape) {}

  Instruction* Make(Instruction* piled_up) {
    for (const Instruction* step : piled_.steps)
      if (Reduces(*step))
        made_[step] = Exchanged(piled_up);
      else if (!IsSplat(loop_, *step))
        made_[step] = Step(*step);
    return made_.lookup(piled_.steps.back());
  }

 private:
  [[nodiscard]] Shape ShapeFor(const Instruction& part) const {
    return Retyped(shape_, part.shape().element_type());
  }

  Instruction* Exchanged(Instruction* piled_up) {
    Attrs attrs = piled_.exchange->attrs();
    if (piled_.scattered >= 0) attrs.Mutable<ReduceScatterAttrs>().dimensions.front() = piled_.scattered;
    return RemakeWith(make_, *piled_.exchange, ShapeFor(*piled_.exchange), {piled_up}, std::move(attrs));
  }

  Instruction* Step(const Instruction& step) {
    if (step.kind() == OpKind::Reshape) return Operand(*step.operand(0), ShapeFor(step));
    llvm::SmallVector<Instruction*, 3> operands;
    for (const Instruction* o : step.operands())
      operands.push_back(o->shape().rank() == step.shape().rank() ? Operand(*o, ShapeFor(*o)) : Scalar(*o));
    Instruction* made = CloneWith(step, make_.computation(), operands);
    made->set_shape(ShapeFor(step));
    return made;
  }

  Instruction* Operand(const Instruction& operand, const Shape& shape) {
    if (Instruction* made = made_.lookup(&operand)) return made;
    return make_.Splat(shape, Scalar(operand));
  }

  Instruction* Scalar(const Instruction& splat) {
    const Instruction& scalar = splat.kind() == OpKind::Broadcast ? *splat.operand(0) : splat;
    Instruction*& made = made_[&scalar];
    if (made) return made;
    const int64_t element = InvariantElement(loop_, scalar);
    made = element >= 0 ? make_.Gte(loop_.loop, element) : CloneWith(scalar, make_.computation(), {});
    return made;
  }

  const TupleLoop& loop_;
  const Piled& piled_;
  Maker& make_;
  const Shape shape_;
  llvm::DenseMap<const Instruction*, Instruction*> made_;
};

/// The loop piles up what is to be exchanged.
void PileUp(const TupleLoop& loop, const Piled& piled, llvm::MutableArrayRef<Instruction*> init) {
  Instruction* update = piled.filled.update;
  Instruction* part = update->operand(1);
  Maker inside(update);
  Instruction* value = piled.exchange->operand(0);
  const Shape shape = BeforeExchange(piled, part->shape());
  update->SetOperand(1, SameDims(value->shape(), shape) ? value : inside.Reshape(value, shape));
  const Shape whole = BeforeExchange(piled, update->shape());
  if (whole == update->shape()) return;
  // All of it is written over.
  Instruction*& start = init[static_cast<size_t>(piled.element)];
  start = Maker(loop.loop).Full(whole, 0);
  update->operand(0)->set_shape(whole);
  update->set_shape(whole);
}

}  // namespace

bool SinkExchanges(const TupleLoop& loop, const LoopCount& counted, PassContext& context) {
  const LoopReads reads(loop);
  std::vector<Piled> all;
  for (int64_t i = 0; i < loop.size(); ++i)
    if (auto piled = PiledInto(loop, reads, counted, i)) all.push_back(std::move(*piled));
  if (all.empty() || !context.TakeRewrite()) return false;
  const Shape old_shape = loop.loop->shape();
  NewLoopState state(loop);
  auto init = InitialState(loop);
  // What is behind the loop is made of the parts, whose shapes PileUp changes.
  std::vector<Shape> wholes;
  for (const Piled& piled : all) wholes.push_back(piled.filled.update->shape());
  for (const Piled& piled : all) {
    PileUp(loop, piled, init);
    for (Instruction* read : reads.in_condition[static_cast<size_t>(piled.element)])
      read->set_shape(piled.filled.update->shape());
  }
  llvm::SmallVector<Shape, 8> shapes;
  for (const Instruction* element : init) shapes.push_back(element->shape());
  SetStructure(*loop.body_parameter, Shape::MakeTuple(shapes));
  SetStructure(*loop.body_root, Shape::MakeTuple(shapes));
  state.Set(loop.body, init);
  Maker behind(*loop.loop->parent(), loop.loop);
  llvm::SmallVector<Instruction*, 8> results(static_cast<size_t>(loop.size()), nullptr);
  for (const auto& [piled, whole] : llvm::zip_equal(all, wholes))
    results[static_cast<size_t>(piled.element)] =
        Wholes(loop, piled, whole, behind).Make(behind.Gte(loop.loop, piled.element));
  state.ReplaceResults(results, old_shape);
  for (const Piled& piled : all)
    for (Instruction* step : llvm::reverse(piled.steps))
      if (step->users().empty()) loop.body->Remove(step);
  return true;
}

}  // namespace hlo

// Asynchronous ops, and opcodes like `custom-call-start` that stand for one of them (hlo-text §10, end).
#include "parser/body.h"

namespace hlo {
namespace {

using llvm::StringRef;

/// The async-start at the beginning of a chain of updates; null if there is none.
const Instruction* FindStart(ModuleScope& scope, const Instruction* last) {
  const Instruction* i = last;
  while (i->kind() == OpKind::AsyncUpdate && i->operand_count() > 0) {
    // The one before has been asked for.
    const auto known = scope.starts_of_updates.find(i->operand(0));
    i = known != scope.starts_of_updates.end() ? known->second : i->operand(0);
  }
  const Instruction* start = i->kind() == OpKind::AsyncStart ? i : nullptr;
  if (start != nullptr && last != start) scope.starts_of_updates[last] = start;
  return start;
}

bool CheckStartShape(Cursor& c, const Draft& d) {
  const Shape& s = d.shape;
  if (!s.valid())
    return c.Fail("parse-shape-missing", c.LocOf(d.opcode), "cannot infer shape for opcode: {0}",
                  d.opcode.text);
  if (s.IsTuple() && s.tuple_size() >= 2 && s.tuple_shape(0).IsTuple()) return true;
  return c.Fail("parse-async", d.shape_loc, "found shape {0} of {1}, expected ((operands), result, state)", s,
                d.opcode.text);
}

/// Shapes of the parameters of the wrapped computation.
std::vector<Shape> WrappedParameters(const Draft& d) {
  const Shape& operands = d.shape.tuple_shape(0);
  std::vector<Shape> shapes(operands.tuple_shapes().begin(), operands.tuple_shapes().end());
  if (Info(*d.wrapped).HasFixedArity())
    while (static_cast<int64_t>(shapes.size()) < Info(*d.wrapped).min_operands)
      shapes.push_back(Shape::ArrayWithDefaultLayout(ElementType::F32, {1}));
  return shapes;
}

/// True for ops whose parameters and result are those of the computation they call.
bool TakesShapesOfCallee(OpKind kind) { return kind == OpKind::Call || kind == OpKind::Fusion; }

/// What is said of an async op is said of the instruction that it wraps, too (hlo-text §4, end).
void CopyCommonAttributes(const Draft& d, Instruction& root) {
  if (d.metadata) root.set_metadata(d.metadata);
  if (!d.extras) return;
  const InstructionExtras& from = *d.extras;
  if (from.frontend_attributes.empty() && !from.statistics && !from.origin && from.backend_config.empty())
    return;
  InstructionExtras& to = root.MutableExtras();
  if (!from.frontend_attributes.empty()) to.frontend_attributes = from.frontend_attributes;
  if (from.statistics) to.statistics = from.statistics;
  if (from.origin) to.origin = from.origin;
  if (!from.backend_config.empty()) to.backend_config = from.backend_config;
}

/// The computation `async_wrapped` around one instruction of the wrapped opcode.
bool MakeWrapped(BodyParser& body, Draft& d) {
  Cursor& c = body.cursor();
  ModuleScope& scope = body.scope();
  Draft inner;
  inner.kind = *d.wrapped;
  inner.opcode = d.opcode;
  inner.shape = d.shape.tuple_shape(1);
  inner.shape_loc = d.shape_loc;
  inner.attrs = std::move(d.Rare().wrapped_attrs);
  inner.callees = d.Rare().wrapped_callees;
  inner.seen = d.Rare().wrapped_seen;
  inner.extra_seen = d.extra_seen;
  std::vector<Shape> parameters = WrappedParameters(d);
  if (TakesShapesOfCallee(inner.kind) && !scope.broken.contains(inner.callees[0])) {
    parameters = inner.callees[0]->ParameterShapes();
    inner.shape = inner.callees[0]->root()->shape();
  }
  Computation* wrapped = scope.Begin("async_wrapped", c.LocOf(d.opcode));
  for (Shape& shape : parameters) {
    const auto number = static_cast<int64_t>(inner.operands.size());
    Instruction* p =
        wrapped->Add(OpKind::Parameter, std::move(shape), "async_param", {}, ParameterAttrs{number, {}});
    p->set_loc(c.LocOf(d.opcode));
    inner.operands.push_back(p);
    inner.operand_locs.push_back(c.LocOf(d.opcode));
  }
  const OpInfo& info = Info(inner.kind);
  if (static_cast<int64_t>(inner.operands.size()) > info.max_operands)
    inner.operands.truncate(static_cast<size_t>(info.max_operands));
  if (!ApplyOpRules(body, inner)) return false;
  Instruction* root = wrapped->Add(inner.kind, std::move(inner.shape), info.text, inner.operands,
                                   std::move(inner.attrs), inner.callees);
  root->set_loc(c.LocOf(d.opcode));
  if (d.extras && !d.extras->result_accuracy.is_default())  // the start itself has none
    root->MutableExtras().result_accuracy = std::exchange(d.extras->result_accuracy, {});
  wrapped->set_root(root);
  scope.Complete(*wrapped);
  scope.made_by_start.insert(wrapped);
  d.callees = {wrapped};
  return true;
}

bool FinishStart(BodyParser& body, Draft& d) {
  Cursor& c = body.cursor();
  if (!CheckStartShape(c, d)) return false;
  if (d.wrapped && !MakeWrapped(body, d)) return false;
  const auto it = body.scope().async_starts.find(d.callees[0]);
  if (it != body.scope().async_starts.end()) {
    Diagnostic e = MakeError("parse-async", c.LocOf(d.opcode), "computation {0} is already wrapped by {1}",
                             d.callees[0]->name(), it->second->name());
    e.Note(it->second->loc(), "the other async-start is here");
    return c.Report(std::move(e));
  }
  if (!d.attrs.data()) d.attrs = Attrs::Default(AsyncStartAttrs::kInfo);
  if (!body.scope().broken.contains(d.callees[0])) CopyCommonAttributes(d, *d.callees[0]->root());
  return true;
}

/// A computation made for `X-start` takes the shapes that `X-update` and `X-done` have for what the start
/// has not bound (late binding).
void AdaptWrapped(BodyParser& body, const Draft& d, Computation& wrapped) {
  Instruction& root = *wrapped.root();
  if (d.kind == OpKind::AsyncDone) {
    root.set_shape(d.shape);
    return;
  }
  if (!d.shape.IsTuple() || d.shape.tuple_size() < 2 || !d.shape.tuple_shape(0).IsTuple()) return;
  const auto bound = d.shape.tuple_shape(0).tuple_shapes();
  for (size_t i = 0; i < bound.size(); ++i) {
    if (i < wrapped.parameters().size()) {
      wrapped.parameter(static_cast<int64_t>(i))->set_shape(bound[i]);
    } else if (static_cast<int64_t>(i) < root.info().max_operands) {
      Instruction* p =
          wrapped.Add(OpKind::Parameter, bound[i], wrapped.module()->UniqueInstructionName("async_param"), {},
                      ParameterAttrs{static_cast<int64_t>(i), {}}, {}, &root);
      p->set_loc(body.cursor().LocOf(d.opcode));
      llvm::SmallVector<Instruction*, 4> operands(root.operands());
      operands.push_back(p);
      root.SetOperands(operands);
    }
  }
  const Shape& result = d.shape.tuple_shape(1);
  if (bound.size() >= wrapped.parameters().size()) root.set_shape(result);
}

/// async-update and async-done: what they say of the start must be true.
bool FinishFollower(BodyParser& body, Draft& d) {
  Cursor& c = body.cursor();
  if (!d.shape.valid())
    return c.Fail("parse-shape-missing", c.LocOf(d.opcode), "cannot infer shape for opcode: {0}",
                  d.opcode.text);
  const Instruction* start = FindStart(body.scope(), d.operands[0]);
  if (!start) {
    // A stand-in for a failed start is not worth another message.
    if (d.operands[0]->loc().valid() && d.operands[0]->kind() == OpKind::CustomCall && body.has_failed())
      return true;
    return c.Fail("parse-async", d.operand_locs[0],
                  "the first operand of {0} must be an async-start or async-update", d.opcode.text);
  }
  if (body.scope().broken.contains(start->callee())) return true;
  CopyCommonAttributes(d, *start->callee()->root());
  const OpKind opcode = start->callee()->root()->kind();
  if (d.wrapped && *d.wrapped != opcode)
    return c.Fail("parse-async", c.LocOf(d.opcode), "found wrapped opcode {0}, expected {1} as in {2}",
                  ToString(*d.wrapped), ToString(opcode), start->name());
  if (d.wrapped && body.scope().made_by_start.contains(start->callee()) && !TakesShapesOfCallee(opcode))
    AdaptWrapped(body, d, *start->callee());
  if (!d.rare) return true;
  const Draft::RareParts& rare = *d.rare;
  if (!rare.wrapped_callees.empty() && rare.wrapped_callees[0] != start->callee())
    return c.Fail("parse-async", c.LocOf(d.opcode), "found wrapped computation {0}, expected {1} as in {2}",
                  rare.wrapped_callees[0]->name(), start->callee()->name(), start->name());
  const StringRef thread = start->attr<AsyncStartAttrs>().async_execution_thread;
  if (!rare.async_thread.empty() && rare.async_thread != thread)
    return c.Fail("parse-async", c.LocOf(d.opcode),
                  "found async_execution_thread '{0}', expected '{1}' as in {2}", rare.async_thread, thread,
                  start->name());
  return true;
}

}  // namespace

std::optional<std::pair<OpKind, OpKind>> SplitAsyncOpcode(StringRef word) {
  static constexpr std::pair<StringRef, OpKind> kSuffixes[] = {
      {"-start", OpKind::AsyncStart}, {"-update", OpKind::AsyncUpdate}, {"-done", OpKind::AsyncDone}};
  for (const auto& [suffix, kind] : kSuffixes) {
    StringRef stem = word;
    if (!stem.consume_back(suffix)) continue;
    // Ops with halves of their own are not wrapped.
    if (ParseOpKind((stem + "-done").str())) return std::nullopt;
    if (const auto wrapped = ParseOpKind(stem)) return std::make_pair(kind, *wrapped);
  }
  return std::nullopt;
}

bool FinishAsync(BodyParser& body, Draft& d) {
  return d.kind == OpKind::AsyncStart ? FinishStart(body, d) : FinishFollower(body, d);
}

void RegisterAsync(BodyParser& body, Instruction& instruction) {
  body.scope().async_starts.try_emplace(instruction.callee(), &instruction);
  body.scope().starts_in_order.push_back(&instruction);
}

void AssignThreads(ModuleScope& scope) {
  // A start names the thread of all that it calls, whatever starts before it have said of them. So the last
  // one is asked first, and what it reaches is settled.
  llvm::DenseSet<const Computation*> settled;
  llvm::SmallVector<Computation*, 8> pending;
  for (const Instruction* start : llvm::reverse(scope.starts_in_order)) {
    const StringRef thread = scope.module.Save(start->attr<AsyncStartAttrs>().async_execution_thread);
    if (settled.insert(start->callee()).second) pending.push_back(start->callee());
    while (!pending.empty()) {
      Computation* c = pending.pop_back_val();
      c->set_execution_thread(thread);
      if (!c->has_calls()) continue;
      for (Instruction* i : c->instructions())
        for (Computation* callee : i->callees())
          if (settled.insert(callee).second) pending.push_back(callee);
    }
  }
}

}  // namespace hlo

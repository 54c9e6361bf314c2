// What operations hand on: whose values their results are, and which share buffers.
#include "llvm/ADT/STLExtras.h"
#include "passes/analysis/dataflow_builder.h"

namespace hlo {

const DataflowBuilder::Row DataflowBuilder::kRows[] = {
    {OpKind::Bitcast, &DataflowBuilder::HoldOperand},
    {OpKind::OptimizationBarrier, &DataflowBuilder::HoldOperand},
    {OpKind::Domain, &DataflowBuilder::HoldOperand},
    {OpKind::AddDependency, &DataflowBuilder::HoldOperand},
    {OpKind::AllReduceDone, &DataflowBuilder::HoldOperand},
    {OpKind::CopyStart, &DataflowBuilder::CopyStart},
    {OpKind::CopyDone, &DataflowBuilder::DoneWithFirst},
    {OpKind::Send, &DataflowBuilder::HoldFirst},
    {OpKind::RecvDone, &DataflowBuilder::DoneWithFirst},
    {OpKind::AllGatherStart, &DataflowBuilder::StartWithOperand},
    {OpKind::AllGatherDone, &DataflowBuilder::DoneWithSecond},
    {OpKind::CollectivePermuteStart, &DataflowBuilder::StartWithOperand},
    {OpKind::CollectivePermuteDone, &DataflowBuilder::DoneWithSecond},
    {OpKind::Call, &DataflowBuilder::CallRule},
    {OpKind::While, &DataflowBuilder::WhileRule},
    {OpKind::Conditional, &DataflowBuilder::ConditionalRule},
    {OpKind::AsyncStart, &DataflowBuilder::AsyncStartRule},
    {OpKind::AsyncUpdate, &DataflowBuilder::AsyncUpdateRule},
    {OpKind::AsyncDone, &DataflowBuilder::AsyncDoneRule},
};

DataflowBuilder::Rule DataflowBuilder::RuleOf(OpKind kind) {
  const Row* row = llvm::find_if(kRows, [&](const Row& r) { return r.kind == kind; });
  return row == std::end(kRows) ? nullptr : row->rule;
}

// --- Forwarding operations ---
void DataflowBuilder::HoldOperand(const Instruction& inst, Place place) {
  Forward(flow_.Of(*inst.operand(0)), place);
}
void DataflowBuilder::HoldFirst(const Instruction& inst, Place place) {
  if (!IsLeaf(place) && flow_.shape(place).tuple_size() > 0)
    Forward(flow_.Of(*inst.operand(0)), flow_.Child(place, 0));
}
void DataflowBuilder::CopyStart(const Instruction& inst, Place place) {
  if (!IsLeaf(place) && flow_.shape(place).tuple_size() > 1)
    Forward(flow_.Of(*inst.operand(0)), flow_.Child(place, 1));
}
void DataflowBuilder::StartWithOperand(const Instruction& inst, Place place) {
  if (IsLeaf(place) || flow_.shape(place).tuple_size() == 0) return;
  const Place inputs = flow_.Child(place, 0);
  if (IsLeaf(inputs)) return Forward(flow_.Of(*inst.operand(0)), inputs);
  for (int64_t i = 0; i < std::min(inst.operand_count(), flow_.shape(inputs).tuple_size()); ++i)
    Forward(flow_.Of(*inst.operand(i)), flow_.Child(inputs, i));
}
void DataflowBuilder::DoneWithFirst(const Instruction& inst, Place place) {
  const Place start = flow_.Of(*inst.operand(0));
  if (IsLeaf(start) || flow_.shape(start).tuple_size() == 0) return;
  // recv-done gives (data, token) of (data, context, token).
  if (inst.kind() == OpKind::RecvDone) {
    if (!IsLeaf(place) && flow_.shape(place).tuple_size() > 0)
      Forward(flow_.Child(start, 0), flow_.Child(place, 0));
    return;
  }
  Forward(flow_.Child(start, 0), place);
}
void DataflowBuilder::DoneWithSecond(const Instruction& inst, Place place) {
  const Place start = flow_.Of(*inst.operand(0));
  if (!IsLeaf(start) && flow_.shape(start).tuple_size() > 1) Forward(flow_.Child(start, 1), place);
}

// --- Calls ---
void DataflowBuilder::EnterCallee(const Instruction& caller, int64_t callee, int64_t parameter,
                                  Place argument) {
  const Computation& body = *caller.callee(callee);
  if (parameter >= static_cast<int64_t>(body.parameters().size())) return;
  const Place to = flow_.Of(*body.parameter(parameter));
  if (to == kNoPlace) return;
  if (Only(caller, callee))
    Forward(argument, to);
  else
    MergeLeaves(argument, to);
}

void DataflowBuilder::CallRule(const Instruction& inst, Place place) {
  for (int64_t i = 0; i < inst.operand_count(); ++i) EnterCallee(inst, 0, i, flow_.Of(*inst.operand(i)));
  const Place root = flow_.Of(*Root(inst, 0));
  if (Only(inst, 0))
    Forward(root, place);
  else
    MergeLeaves(root, place);
}

void DataflowBuilder::LoopElement(const Instruction& loop, Place result, Place init, Place body, Place root,
                                  Place condition) {
  const bool flat = Only(loop, 0) && Only(loop, 1);
  if (flat && (Value(root) == body || Value(root) == Value(init))) {
    // Unchanged by the body: everywhere the value from before the loop.
    Forward(init, body);
    Forward(init, condition);
    Forward(init, result);
    return;
  }
  if (!IsLeaf(result)) return;
  for (const Place p : {body, root, condition, result}) Merge(init, p);
}

void DataflowBuilder::WhileRule(const Instruction& inst, Place place) {
  const Computation &body = *inst.callee(0), &condition = *inst.callee(1);
  if (body.parameters().empty() || condition.parameters().empty()) return;
  const Place init = flow_.Of(*inst.operand(0)), in_body = flow_.Of(*body.parameter(0));
  const Place root = flow_.Of(*body.root()), in_condition = flow_.Of(*condition.parameter(0));
  for (const Place p : {init, in_body, root, in_condition})
    if (!SameTree(p, place)) return;
  // Leaves only: the tables of tuples are made anew by whoever needs them.
  const std::vector<Place> results = flow_.Parts(place), inits = flow_.Parts(init),
                           bodies = flow_.Parts(in_body), roots = flow_.Parts(root),
                           conditions = flow_.Parts(in_condition);
  for (size_t i = 0; i < results.size(); ++i)
    if (IsLeaf(results[i])) LoopElement(inst, results[i], inits[i], bodies[i], roots[i], conditions[i]);
}

void DataflowBuilder::ConditionalRule(const Instruction& inst, Place place) {
  const auto branches = static_cast<int64_t>(inst.callees().size());
  for (int64_t i = 0; i < branches && i + 1 < inst.operand_count(); ++i)
    EnterCallee(inst, i, 0, flow_.Of(*inst.operand(i + 1)));
  std::vector<std::vector<Place>> roots;  // the parts of each
  bool only = true;
  for (int64_t i = 0; i < branches; ++i) {
    const Place root = flow_.Of(*Root(inst, i));
    if (!SameTree(root, place)) return;
    roots.push_back(flow_.Parts(root));
    only = only && Only(inst, i);
  }
  const std::vector<Place> results = flow_.Parts(place);
  for (size_t i = 0; i < results.size(); ++i) {
    if (!IsLeaf(results[i])) continue;
    const Place first = roots[0][i];
    const bool same = only && llvm::all_of(roots, [&](const auto& r) { return Value(r[i]) == Value(first); });
    if (same)
      Forward(first, results[i]);
    else
      for (const auto& root : roots) Merge(root[i], results[i]);
  }
}

// --- Asynchronous calls: ((operands…), results, context…) ---
void DataflowBuilder::AsyncStartRule(const Instruction& inst, Place place) {
  StartWithOperand(inst, place);
  if (inst.callees().empty()) return;
  for (int64_t i = 0; i < inst.operand_count(); ++i) EnterCallee(inst, 0, i, flow_.Of(*inst.operand(i)));
  const Place root = flow_.Of(*Root(inst, 0));
  if (IsLeaf(place) || flow_.shape(place).tuple_size() < 2 || root == kNoPlace) return;
  if (Only(inst, 0)) Forward(root, flow_.Child(place, 1));
}
void DataflowBuilder::AsyncUpdateRule(const Instruction& inst, Place place) {
  const Place before = flow_.Of(*inst.operand(0));
  if (IsLeaf(before) || IsLeaf(place) || flow_.shape(place).tuple_size() < 2 ||
      flow_.shape(before).tuple_size() < 2)
    return;
  const Place inputs = flow_.Child(place, 0), bound = flow_.Child(before, 0);
  if (!IsLeaf(inputs) && !IsLeaf(bound)) {
    const int64_t old = flow_.shape(bound).tuple_size(), all = flow_.shape(inputs).tuple_size();
    const Instruction* start = &inst;  // looked for where something is bound: chains may be long
    while (all > old && start->kind() == OpKind::AsyncUpdate) start = start->operand(0);
    for (int64_t i = 0; i < all; ++i) {
      if (i >= old && i - old + 1 >= inst.operand_count()) break;
      const Place from = i < old ? flow_.Child(bound, i) : flow_.Of(*inst.operand(i - old + 1));
      Forward(from, flow_.Child(inputs, i));
      if (i >= old && start->kind() == OpKind::AsyncStart && !start->callees().empty())
        EnterCallee(*start, 0, i, from);
    }
  }
  Forward(flow_.Child(before, 1), flow_.Child(place, 1));
}
void DataflowBuilder::AsyncDoneRule(const Instruction& inst, Place place) {
  const Instruction* start = inst.operand(0);
  while (start->kind() == OpKind::AsyncUpdate) start = start->operand(0);
  if (start->kind() == OpKind::AsyncStart && !start->callees().empty() && Only(*start, 0))
    return Forward(flow_.Of(*Root(*start, 0)), place);
  DoneWithSecond(inst, place);
}

}  // namespace hlo

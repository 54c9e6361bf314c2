#include "tools/diff/compare/graph.h"

namespace hlo {

bool Reshapes(const Instruction& inst) {
  const OpInfo& op = inst.info();
  return inst.operand_count() == 1 && (op.category == OpCategory::Conversion ||
                                       (op.category == OpCategory::Movement && op.Is(kReshapesLayout)));
}

DiffGraph::DiffGraph(const Module& module) : module_(module) {
  NumberAll();
  FindEdges();
  FindInlineBodies();
  FindOrder();
  FindSources();
}

void DiffGraph::NumberAll() {
  const std::vector<Computation*> order = module_.PostOrder();
  const auto total = static_cast<size_t>(module_.InstructionCount());
  instructions_.reserve(total);
  computation_of_.reserve(total);
  ids_.reserve(static_cast<unsigned>(total));
  // The entry comes first even if others call more deeply.
  if (module_.entry()) computations_.push_back(module_.entry());
  for (const Computation* c : llvm::reverse(order))
    if (c != module_.entry()) computations_.push_back(c);
  for (const Computation* c : computations_) {
    const auto number = static_cast<DiffId>(first_.size());
    computation_ids_[c] = number + 1;
    first_.push_back(size());
    for (const Instruction* inst : c->instructions()) {
      instructions_.push_back(inst);
      computation_of_.push_back(number);
      ids_[inst] = size();
    }
    roots_.push_back(c->root() ? IdOf(c->root()) : kNoDiffId);
  }
  first_.push_back(size());
}

void DiffGraph::FindEdges() {
  callers_.resize(computations_.size());
  operand_begin_.reserve(instructions_.size() + 1);
  std::vector<uint32_t> use_count(instructions_.size() + 1, 0);
  for (DiffId id = 0; id < size(); ++id) {
    operand_begin_.push_back(static_cast<uint32_t>(operands_.size()));
    for (const Instruction* operand : (*this)[id].operands()) {
      operands_.push_back(IdOf(operand));
      ++use_count[Index(operands_.back())];
    }
    int32_t place = 0;
    for (const Computation* callee : (*this)[id].callees())
      callers_[Index(IdOf(callee))].push_back({id, place++});
  }
  operand_begin_.push_back(static_cast<uint32_t>(operands_.size()));
  uint32_t total = 0;
  for (const uint32_t count : use_count) {
    use_begin_.push_back(total);
    total += count;
  }
  uses_.resize(operands_.size());
  std::vector<uint32_t> next = use_begin_;
  for (DiffId id = 0; id < size(); ++id) {
    int32_t position = 0;
    for (const DiffId operand : Operands(id)) uses_[next[Index(operand)]++] = {id, position++};
  }
}

void DiffGraph::FindInlineBodies() {
  inline_caller_.assign(computations_.size(), kNoDiffId);
  for (DiffId c = 0; c < computation_count(); ++c) {
    if (callers_[Index(c)].size() != 1 || computation(c).IsEntry()) continue;
    const DiffId id = callers_[Index(c)].front().user;
    const Instruction& caller = (*this)[id];
    const bool runs_once = caller.kind() == OpKind::Fusion || caller.kind() == OpKind::Call;
    if (runs_once && computation(c).parameters().size() == caller.operands().size() && root(c) != kNoDiffId)
      inline_caller_[Index(c)] = id;
  }
}

DiffId DiffGraph::InlineBody(DiffId id) const {
  const Instruction& inst = (*this)[id];
  if (inst.callees().size() != 1) return kNoDiffId;
  const DiffId callee = IdOf(inst.callee());
  return InlineCaller(callee) == id ? callee : kNoDiffId;
}

void DiffGraph::FindOrder() {
  // Depth first without recursion: an instruction needs its operands, a parameter of an inline computation
  // the operand it stands for, a fusion or call the root of its body.
  std::vector<uint8_t> state(instructions_.size(), 0);  // 1: on the stack, 2: done
  std::vector<std::pair<DiffId, uint32_t>> stack;
  const auto need = [&](DiffId id, uint32_t k) -> DiffId {
    const llvm::ArrayRef<DiffId> operands = Operands(id);
    if (k < operands.size()) return operands[k];
    k -= static_cast<uint32_t>(operands.size());
    if (k > 0) return kNoDiffId;
    if ((*this)[id].kind() == OpKind::Parameter) return Behind(id);
    const DiffId body = InlineBody(id);
    return body == kNoDiffId ? kNoDiffId : root(body);
  };
  for (DiffId start = 0; start < size(); ++start) {
    if (state[Index(start)] != 0) continue;
    stack.emplace_back(start, 0);
    state[Index(start)] = 1;
    while (!stack.empty()) {
      auto& [id, next] = stack.back();
      const DiffId before = need(id, next);
      if (before == kNoDiffId) {
        topological_.push_back(id);
        state[Index(id)] = 2;
        stack.pop_back();
      } else {
        ++next;
        if (state[Index(before)] == 0) {
          state[Index(before)] = 1;
          stack.emplace_back(before, 0);
        }
      }
    }
  }
  by_computation_.resize(instructions_.size());
  std::vector<DiffId> next(first_.begin(), first_.end());
  for (const DiffId id : topological_) by_computation_[Index(next[Index(ComputationOf(id))]++)] = id;
}

DiffId DiffGraph::Behind(DiffId id) const {
  const Instruction& inst = (*this)[id];
  switch (inst.kind()) {
    case OpKind::Parameter: {
      const DiffId caller = InlineCaller(ComputationOf(id));
      return caller == kNoDiffId ? kNoDiffId
                                 : Operands(caller)[static_cast<size_t>(inst.attr<ParameterAttrs>().number)];
    }
    case OpKind::GetTupleElement: {
      // The tuple is final here: sources are found in topological order.
      const DiffId tuple = source_[Index(Operands(id)[0])];
      const auto index = static_cast<size_t>(inst.attr<GetTupleElementAttrs>().index);
      const bool made_here = (*this)[tuple].kind() == OpKind::Tuple && index < Operands(tuple).size();
      return made_here ? Operands(tuple)[index] : kNoDiffId;
    }
    default: {
      const DiffId body = InlineBody(id);
      return body == kNoDiffId ? kNoDiffId : root(body);
    }
  }
}

void DiffGraph::FindSources() {
  source_.resize(instructions_.size());
  for (const DiffId id : topological_) {
    const DiffId behind = Behind(id);
    source_[Index(id)] = behind == kNoDiffId ? id : source_[Index(behind)];
  }
}

}  // namespace hlo

// Values that do not depend on parameters: found, cut out and computed.
#include "backends/client/client.h"
#include "ir/module.h"
#include "llvm/ADT/DenseSet.h"
#include "tools/library/builder_state.h"

namespace hlo_toolkit {

using internal::BuilderState;
using internal::ToStatus;

namespace {

/// Whether an instruction is the same at each run if its operands are: by itself, without what it calls.
bool IsPure(const hlo::Instruction& inst) {
  const hlo::OpInfo& info = inst.info();
  if (info.Is(hlo::kSideEffect) || info.Is(hlo::kRuns) || info.MayDoMore()) return false;
  if (info.category == hlo::OpCategory::Random || info.category == hlo::OpCategory::Async) return false;
  // Scatters are left out as the documents have it.
  return info.category != hlo::OpCategory::Indexing || inst.callees().empty();
}

/// The parameter, or what else differs from run to run.
bool IsGiven(const hlo::Instruction& inst) {
  return inst.info().category == hlo::OpCategory::Source && inst.kind() != hlo::OpKind::Constant &&
         inst.kind() != hlo::OpKind::Iota;
}

/// Computations that `root` calls, with all that these call, and whether all of them are pure.
bool ArePure(llvm::ArrayRef<hlo::Computation*> callees, llvm::DenseSet<const hlo::Computation*>& seen) {
  std::vector<const hlo::Computation*> rest(callees.begin(), callees.end());
  while (!rest.empty()) {
    const hlo::Computation* next = rest.back();
    rest.pop_back();
    if (!seen.insert(next).second) continue;
    for (const hlo::Instruction* inst : next->instructions()) {
      if (!IsPure(*inst)) return false;
      rest.insert(rest.end(), inst->callees().begin(), inst->callees().end());
    }
  }
  return true;
}

/// What `root` depends on, operands in front of users; empty if some of that is no constant.
std::vector<hlo::Instruction*> ConstantPart(hlo::Instruction* root) {
  std::vector<hlo::Instruction*> order, stack = {root};
  llvm::DenseMap<const hlo::Instruction*, bool> finished;  // false: operands are on the stack
  llvm::DenseSet<const hlo::Computation*> callees;
  while (!stack.empty()) {
    hlo::Instruction* at = stack.back();
    const auto [it, is_new] = finished.try_emplace(at, false);
    if (!is_new) {
      stack.pop_back();
      if (!std::exchange(it->second, true)) order.push_back(at);
      continue;
    }
    if (!IsPure(*at) || IsGiven(*at) || !ArePure(at->callees(), callees)) return {};
    // The size is taken for the bound, whatever the operand is.
    if (at->kind() == hlo::OpKind::GetDimensionSize) continue;
    for (hlo::Instruction* operand : at->operands())
      if (!finished.contains(operand)) stack.push_back(operand);
  }
  return order;
}

/// A module that is these instructions, the last of them as root.
std::unique_ptr<hlo::Module> CutOut(const hlo::Module& from, llvm::ArrayRef<hlo::Instruction*> part) {
  auto made = std::make_unique<hlo::Module>(from.name());
  llvm::DenseMap<const hlo::Computation*, hlo::Computation*> callees;
  llvm::DenseSet<const hlo::Computation*> needed;
  for (const hlo::Instruction* inst : part) ArePure(inst->callees(), needed);
  for (const hlo::Computation* callee : from.PostOrder()) {
    if (!needed.contains(callee)) continue;
    hlo::Computation*& copy = callees[callee];
    copy = made->AddComputation(made->UniqueComputationName(made->Save(callee->name())));
    hlo::CloneInto(*callee, *copy, [&](hlo::Computation* c) { return callees.lookup(c); });
    for (hlo::Instruction* i : copy->instructions()) i->set_name(made->UniqueInstructionName(i->name()));
  }
  hlo::Computation* entry = made->AddComputation(made->UniqueComputationName(made->name()));
  made->set_entry(entry);
  hlo::Builder builder(*entry);
  llvm::DenseMap<const hlo::Instruction*, hlo::Instruction*> copies;
  for (const hlo::Instruction* inst : part) {
    hlo::Instruction*& copy = copies[inst];
    if (inst->kind() == hlo::OpKind::GetDimensionSize) {
      const int64_t size = inst->operand(0)->shape().dim(inst->attr<hlo::DimensionsAttrs>().dimensions[0]);
      copy = builder.Constant(hlo::Literal::Scalar(hlo::ElementType::S32, static_cast<int32_t>(size)));
      continue;
    }
    llvm::SmallVector<hlo::Instruction*, 4> operands;
    for (const hlo::Instruction* operand : inst->operands()) operands.push_back(copies.lookup(operand));
    llvm::SmallVector<hlo::Computation*, 2> called;
    for (const hlo::Computation* callee : inst->callees()) called.push_back(callees.lookup(callee));
    copy = hlo::CloneInstruction(*inst, *entry, operands, called,
                                 made->UniqueInstructionName(made->Save(inst->name())));
  }
  entry->set_root(copies.lookup(part.back()));
  made->config.entry_layout = hlo::EntryLayout{{}, part.back()->shape().WithDefaultLayouts()};
  return made;
}

}  // namespace

StatusOr<bool> XlaBuilder::IsConstant(XlaOp operand) const {
  if (!first_error().ok()) return first_error();
  const auto found = state_->Find(operand, "the operand");
  if (!found) return ToStatus(found.error());
  return !ConstantPart(*found).empty();
}

StatusOr<XlaComputation> XlaBuilder::BuildConstantSubGraph(XlaOp root) const {
  if (!first_error().ok()) return first_error();
  const auto found = state_->Find(root, "the operand");
  if (!found) return ToStatus(found.error());
  const std::vector<hlo::Instruction*> part = ConstantPart(*found);
  if (part.empty())
    return Status(StatusCode::kInvalidArgument, "%" + (*found)->name().str() + " is no constant");
  std::unique_ptr<hlo::Module> module = CutOut(state_->module(), part);
  std::vector<uint64_t> ids;
  for (size_t i = 0; i < module->computations().size(); ++i) ids.push_back(internal::NextComputationId());
  return internal::ComputationAccess::Make(std::move(module), std::move(ids));
}

StatusOr<Literal> XlaBuilder::ComputeConstant(XlaOp operand, const Layout* output_layout) const {
  const StatusOr<XlaComputation> part = BuildConstantSubGraph(operand);
  if (!part.ok()) return part.status();
  const hlo::Client client(hlo::Platform::Interpreter);
  const auto run = client.Run(*internal::ComputationAccess::Module(*part), {{}}, client.NewExecution());
  if (!run) return ToStatus(run.error());
  const Literal value = internal::LiteralAccess::Make(run->results.front());
  if (!output_layout) return value;
  return value.WithLayout(*output_layout);
}

}  // namespace hlo_toolkit

#include "passes/rewrite/fold.h"

#include <cmath>

#include "ir/eval/executor.h"
#include "llvm/ADT/DenseSet.h"
#include "passes/analysis/side_effects.h"

namespace hlo {
namespace {

constexpr std::chrono::milliseconds kTimeout{10000};  // of collectives, which are never evaluated here

/// Never evaluated although they have no side effect: their value is not a function of their operands alone,
/// or they are there to keep others from looking through them.
bool IsOpaque(const Instruction& inst) {
  switch (inst.info().category) {
    case OpCategory::Random:
    case OpCategory::Custom:
    case OpCategory::Async:
    case OpCategory::Communication: return true;
    default: break;
  }
  constexpr OpKind kKinds[] = {OpKind::PartitionId,   OpKind::ReplicaId, OpKind::AfterAll,
                               OpKind::AddDependency, OpKind::Domain,    OpKind::OptimizationBarrier};
  return llvm::is_contained(kKinds, inst.kind());
}

/// Static arrays, and tuples of them.
bool HasPlainShape(const Shape& shape) {
  if (shape.IsTuple()) return llvm::all_of(shape.tuple_shapes(), HasPlainShape);
  return shape.IsArray() && !shape.HasDynamicDimension();
}

bool IsPure(const Instruction& inst, bool loops, llvm::SmallDenseSet<const Computation*, 4>& seen) {
  if (IsOpaque(inst) || inst.info().Is(kSideEffect) || !HasPlainShape(inst.shape())) return false;
  if (inst.kind() == OpKind::While && !loops) return false;
  if (inst.kind() == OpKind::Constant && !inst.attr<ConstantAttrs>().literal) return false;
  return llvm::all_of(inst.callees(), [&](const Computation* callee) {
    return !seen.insert(callee).second || llvm::all_of(callee->instructions(), [&](const Instruction* inner) {
      return IsPure(*inner, loops, seen);
    });
  });
}

double Elements(const Shape& shape) {
  if (!shape.IsTuple()) return shape.IsArray() ? static_cast<double>(shape.ElementCount()) : 0;
  double sum = 0;
  for (const Shape& element : shape.tuple_shapes()) sum += Elements(element);
  return sum;
}

double WindowElements(const Window& window) {
  double n = 1;
  for (const WindowDim& dim : window.dims) n *= static_cast<double>(dim.size);
  return n;
}

double Product(const Shape& shape, llvm::ArrayRef<int64_t> dims) {
  double n = 1;
  for (const int64_t d : dims) n *= static_cast<double>(shape.dim(d));
  return n;
}

/// Scalar operations per element of result or operands.
double WorkPerElement(const Instruction& inst) {
  const Attrs& attrs = inst.attrs();
  if (const auto* dot = attrs.GetIf<DotAttrs>())
    return Product(inst.operand(0)->shape(), dot->lhs_contracting_dims);
  if (const auto* dot = attrs.GetIf<RaggedDotAttrs>())
    return Product(inst.operand(0)->shape(), dot->lhs_contracting_dims);
  if (attrs.GetIf<ConvolutionAttrs>()) return Elements(inst.operand(1)->shape());
  if (const auto* window = attrs.GetIf<ReduceWindowAttrs>()) return WindowElements(window->window);
  if (const auto* window = attrs.GetIf<SelectAndScatterAttrs>()) return WindowElements(window->window);
  if (inst.info().category == OpCategory::LinearAlgebra && inst.operand(0)->shape().rank() > 0)
    return static_cast<double>(inst.operand(0)->shape().dims().back());
  if (inst.kind() == OpKind::Sort || inst.kind() == OpKind::TopK)
    return 1 + std::log2(1 + Elements(inst.operand(0)->shape()));
  return 1;
}

/// An instruction that runs its callees once, not per element.
bool CallsOnce(const Instruction& inst) {
  return inst.info().category == OpCategory::Control || inst.kind() == OpKind::Fusion;
}

/// What is called from several places is looked at once.
using WorkOfComputations = llvm::DenseMap<const Computation*, double>;

double EvaluationWork(const Instruction& inst, WorkOfComputations& known);

double CalleeWork(const Instruction& inst, WorkOfComputations& known) {
  double work = 0;
  for (const Computation* callee : inst.callees()) {
    const auto found = known.find(callee);
    double of_callee = found != known.end() ? found->second : 0;
    if (found == known.end()) {
      for (const Instruction* inner : callee->instructions()) of_callee += EvaluationWork(*inner, known);
      known[callee] = of_callee;
    }
    work += of_callee;
  }
  return work;
}

double EvaluationWork(const Instruction& inst, WorkOfComputations& known) {
  double elements = Elements(inst.shape());
  if (inst.kind() == OpKind::Constant || inst.kind() == OpKind::Parameter || inst.kind() == OpKind::Tuple ||
      inst.kind() == OpKind::GetTupleElement)
    return 0;
  if (inst.callees().empty() || CallsOnce(inst))
    return elements * WorkPerElement(inst) + CalleeWork(inst, known);
  for (const Instruction* operand : inst.operands())
    elements = std::max(elements, Elements(operand->shape()));
  return elements * WorkPerElement(inst) * (1 + CalleeWork(inst, known));
}

}  // namespace

Constness ConstnessOf(const Instruction& inst) {
  // Evaluating goes down with broadcasts of broadcasts, which algsimp makes one of.
  constexpr int kMostBroadcasts = 64;
  const Instruction* at = &inst;
  for (int i = 0; i < kMostBroadcasts; ++i)
    if (at->kind() == OpKind::Broadcast && at->operand(0)->kind() != OpKind::Iota) at = at->operand(0);
  if (inst.shape().HasDynamicDimension()) return Constness::Unknown;
  if (at->kind() == OpKind::Iota) return at == &inst ? Constness::Pattern : Constness::Unknown;
  if (at->kind() == OpKind::Constant && at->attr<ConstantAttrs>().literal)
    return at == &inst ? Constness::Data : Constness::Pattern;
  if (inst.kind() != OpKind::Tuple) return Constness::Unknown;
  Constness all = Constness::Pattern;
  for (const Instruction* element : inst.operands()) {
    const Constness one = ConstnessOf(*element);
    if (one == Constness::Unknown) return one;
    if (one == Constness::Data) all = one;
  }
  return all;
}

bool IsPure(const Instruction& inst, bool loops) {
  llvm::SmallDenseSet<const Computation*, 4> seen;
  return IsPure(inst, loops, seen);
}

double EvaluationWork(const Instruction& inst) {
  WorkOfComputations known;
  return EvaluationWork(inst, known);
}

Folder::Folder() : group_(std::make_unique<DeviceGroup>(1, 1, 0, kTimeout)) {}
Folder::~Folder() = default;

Result<Literal> Folder::Evaluate(const Instruction& inst, llvm::MutableArrayRef<Literal> operands) {
  ExecutionPlans plans;
  Executor executor(plans, group_->device(0));
  return EvalRule(inst.kind())(executor, inst, operands);
}

Result<Literal> Folder::Evaluate(const Instruction& inst) {
  llvm::SmallVector<Literal, 3> operands;
  for (const Instruction* operand : inst.operands()) {
    HLO_TRY(Literal value, Known(*operand));
    operands.push_back(std::move(value));
  }
  return Evaluate(inst, operands);
}

Result<Literal> Folder::Call(const Computation& computation, std::vector<Literal> arguments) {
  ExecutionPlans plans;
  Executor executor(plans, group_->device(0));
  return executor.Call(computation, std::move(arguments));
}

Result<Literal> Folder::Known(const Instruction& inst) {
  if (inst.kind() == OpKind::Constant)
    return inst.attr<ConstantAttrs>().literal->Unpack().WithShape(inst.shape());
  return Evaluate(inst);
}

}  // namespace hlo

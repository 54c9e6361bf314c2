// constant_folding: evaluates what depends on constants alone (passes.md §4.1).
//
// Requires nothing. Preserves flat-calls, layouts, canonical-dots, fusions. Bodies of fusions are left alone.
// Changes: instructions all of whose operands are known become constants; parameters that are the same
// constant at every call become that constant. Left alone: what is random, has side effects or control edges,
// fft, loops (but at level aggressive), values that only broadcasts and iotas go into, results or operands
// too large.
#include <chrono>

#include "llvm/Support/MathExtras.h"
#include "passes/analysis/side_effects.h"
#include "passes/pass.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/fold.h"
#include "passes/rewrite/maker.h"

namespace hlo {
namespace {

struct ConstantFoldingOptions {
  std::string level = "default";      // or `aggressive`
  int64_t max_elements = 45'000'000;  // of the result, and of all operands; default level
  int64_t max_work = 5'000'000'000;   // scalar operations of one evaluation; default level
  static llvm::ArrayRef<PassOptionRow> Rows();
};

using O = ConstantFoldingOptions;
constexpr PassOptionRow kRows[] = {
    PassOption<&O::level>("level", "default, or aggressive: loops run, sizes do not matter"),
    PassOption<&O::max_elements>("max_elements", "limit of the elements of operands and results"),
    PassOption<&O::max_work>("max_work", "limit of the scalar operations of one evaluation"),
};

class ConstantFolder {
 public:
  ConstantFolder(const ConstantFoldingOptions& options, PassContext& context)
      : options_(options), aggressive_(options.level == "aggressive"), context_(context) {}

  /// Puts constants in place of parameters that all calls pass the same one for.
  bool PropagateArguments(Computation& computation);
  Result<bool> Fold(Computation& computation);

 private:
  [[nodiscard]] bool IsCandidate(const Instruction& inst) const;
  [[nodiscard]] bool IsWorthwhile(const Instruction& inst) const;
  /// Evaluates the instruction; false if the evaluator cannot.
  Result<bool> TryFold(Instruction* inst);
  void WarnIfSlow(const Instruction& inst, std::chrono::steady_clock::duration time);

  const ConstantFoldingOptions& options_;
  const bool aggressive_;
  PassContext& context_;
  Folder folder_;
  int slow_evaluations_ = 0;
};

/// The constant that every call passes for the parameter, if there is one.
const Instruction* CommonArgument(const Computation& computation, int64_t parameter) {
  const Instruction* common = nullptr;
  for (const Instruction* call : computation.callers()) {
    const Instruction* argument = call->operand(parameter);
    if (argument->kind() != OpKind::Constant || !argument->attr<ConstantAttrs>().literal) return nullptr;
    if (common && !(*argument->attr<ConstantAttrs>().literal == *common->attr<ConstantAttrs>().literal))
      return nullptr;
    common = argument;
  }
  return common;
}

bool ConstantFolder::PropagateArguments(Computation& computation) {
  const auto callers = computation.callers();
  if (callers.empty() || computation.parameters().size() < 2) return false;
  if (!llvm::all_of(callers, [](const Instruction* c) { return c->kind() == OpKind::Call; })) return false;
  llvm::SmallVector<std::pair<Instruction*, const Instruction*>, 4> found;
  for (Instruction* parameter : computation.parameters())
    if (const Instruction* c = CommonArgument(computation, parameter->attr<ParameterAttrs>().number))
      found.emplace_back(parameter, c);
  if (found.size() == computation.parameters().size()) return false;  // the calls themselves are constant
  bool changed = false;
  for (const auto& [parameter, constant] : found) {
    if (parameter->users().empty() && !parameter->IsRoot()) continue;
    if (!context_.TakeRewrite()) return changed;
    Maker make(computation, parameter);
    parameter->ReplaceAllUsesWith(
        make.Constant(constant->attr<ConstantAttrs>().literal->WithShape(parameter->shape())));
    changed = true;
  }
  return changed;
}

bool ConstantFolder::IsCandidate(const Instruction& inst) const {
  constexpr OpKind kNever[] = {OpKind::Parameter, OpKind::Constant, OpKind::Tuple,
                               OpKind::Broadcast, OpKind::Iota,     OpKind::Fft};
  if (inst.operands().empty() || llvm::is_contained(kNever, inst.kind())) return false;
  if (inst.kind() == OpKind::Pad && inst.operand(0)->kind() == OpKind::Broadcast) return false;
  Constness all = Constness::Pattern;
  for (const Instruction* operand : inst.operands()) {
    const Constness one = ConstnessOf(*operand);
    if (one == Constness::Unknown) return false;
    if (one == Constness::Data) all = one;
  }
  return aggressive_ || all == Constness::Data;
}

bool ConstantFolder::IsWorthwhile(const Instruction& inst) const {
  if (HasControlEdges(inst) || !IsPure(inst, /*loops=*/aggressive_)) return false;
  if (aggressive_) return true;
  uint64_t in = 0, out = 0;
  auto count = [](uint64_t& sum) {
    return [&sum](const ShapeIndex&, const Shape& leaf) {
      sum = llvm::SaturatingAdd(sum, static_cast<uint64_t>(leaf.ElementCount()));
    };
  };
  for (const Instruction* operand : inst.operands()) ForEachLeaf(operand->shape(), count(in));
  ForEachLeaf(inst.shape(), count(out));
  return std::max(in, out) <= static_cast<uint64_t>(std::max<int64_t>(options_.max_elements, 0)) &&
         EvaluationWork(inst) <= static_cast<double>(options_.max_work);
}

void ConstantFolder::WarnIfSlow(const Instruction& inst, std::chrono::steady_clock::duration time) {
  if (time <= std::chrono::seconds(int64_t{1} << std::min(slow_evaluations_, 30))) return;
  ++slow_evaluations_;
  Diagnostic warning =
      MakeError("slow-constant-folding", inst.loc(), "evaluating '{0}' took {1} ms", inst.name(),
                std::chrono::duration_cast<std::chrono::milliseconds>(time).count());
  warning.severity = Severity::Warning;
  context_.Report(std::move(warning));
}

Result<bool> ConstantFolder::TryFold(Instruction* inst) {
  HLO_CHECK_OK(context_.CheckInterrupt());
  const auto start = std::chrono::steady_clock::now();
  Result<Literal> value = folder_.Evaluate(*inst);
  WarnIfSlow(*inst, std::chrono::steady_clock::now() - start);
  if (!value) {  // what the evaluator cannot do stays for the run
    HLO_CHECK_OK(context_.CheckInterrupt());
    context_.Count("not evaluated");
    return false;
  }
  Maker make(inst);
  Instruction* constant = make.Constant(value->WithShape(inst->shape()));
  if (!context_.TakeRewrite("", *inst, *constant)) {
    RemoveIfDead(constant);
    return false;
  }
  ReplaceAndRemove(inst, constant);
  return true;
}

Result<bool> ConstantFolder::Fold(Computation& computation) {
  bool changed = false;
  // Most computations have nothing to fold, and the first thing that can be folded has known operands.
  if (llvm::none_of(computation.instructions(), [&](const Instruction* i) { return IsCandidate(*i); }))
    return false;
  const std::vector<Instruction*> order = computation.PostOrder();
  for (Instruction* inst : order) {
    // Operands stand before users, so what a fold removes has been passed already.
    if (!IsCandidate(*inst) || IsDead(*inst) || !IsWorthwhile(*inst)) continue;
    HLO_TRY(const bool folded, TryFold(inst));
    changed |= folded;
  }
  return changed;
}

llvm::ArrayRef<PassOptionRow> ConstantFoldingOptions::Rows() { return kRows; }

Result<bool> RunConstantFolding(Module& module, const ConstantFoldingOptions& options, PassContext& context) {
  if (options.level != "default" && options.level != "aggressive")
    return Error("usage-pass-option", Loc(),
                 "constant_folding: level '{0}' is neither 'default' nor 'aggressive'", options.level);
  ConstantFolder folder(options, context);
  bool changed = false;
  const std::vector<Computation*> computations = context.Computations(module);
  for (Computation* c : llvm::reverse(computations)) {
    changed |= folder.PropagateArguments(*c);
    HLO_TRY(const bool folded, folder.Fold(*c));
    changed |= folded;
  }
  return changed;
}

}  // namespace

HLO_DEFINE_PASS(ConstantFolding, ConstantFoldingOptions);

}  // namespace hlo

// while-loop-constant-sinking: brings constants into loops that carry them unchanged (passes.md §2.4).
//
// Requires nothing. Preserves everything but the schedule.
// Changes: reads of invariant elements whose initial value is a constant become that constant, in body and
// condition. The element itself stays; simplify-while-loops removes it. Left alone: loops whose computations
// others call, elided constants.
#include "passes/analysis/loop_facts.h"
#include "passes/pass.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/loop_edit.h"

namespace hlo {
namespace {

struct WhileLoopConstantSinkingOptions {
  bool sink_broadcast_of_constants = false;
  bool sink_only_scalar_constants = false;
  static llvm::ArrayRef<PassOptionRow> Rows();
};

constexpr PassOptionRow kRows[] = {
    PassOption<&WhileLoopConstantSinkingOptions::sink_broadcast_of_constants>(
        "sink_broadcast_of_constants", "broadcasts of constants count as constants"),
    PassOption<&WhileLoopConstantSinkingOptions::sink_only_scalar_constants>(
        "sink_only_scalar_constants", "leave constants with dimensions outside"),
};

bool MaySink(const Instruction& inst, const WhileLoopConstantSinkingOptions& options) {
  const bool broadcast = options.sink_broadcast_of_constants && inst.kind() == OpKind::Broadcast;
  const Instruction& constant = broadcast ? *inst.operand(0) : inst;
  return constant.kind() == OpKind::Constant && constant.attr<ConstantAttrs>().literal &&
         inst.shape().IsArray() && (!options.sink_only_scalar_constants || constant.shape().IsScalar());
}

Instruction* CopyInto(const Instruction& value, Computation& to) {
  llvm::SmallVector<Instruction*, 1> operands;
  for (const Instruction* operand : value.operands()) operands.push_back(CopyInto(*operand, to));
  return CloneWith(value, to, operands);
}

/// Replaces reads of the element, but not as what the body hands on.
bool SinkInto(Instruction* parameter, llvm::ArrayRef<Instruction*> reads, const Instruction& value,
              const Instruction* handed_on_by, PassContext& context) {
  Instruction* copy = nullptr;
  for (Instruction* read : reads) {
    const llvm::SmallVector<Instruction*, 4> users(read->users().begin(), read->users().end());
    for (Instruction* user : users) {
      if (user == handed_on_by) continue;
      for (int64_t i = 0; i < user->operand_count(); ++i) {
        if (user->operand(i) != read) continue;
        if (!copy && !context.TakeRewrite()) return false;
        if (!copy) copy = CopyInto(value, *parameter->parent());
        user->SetOperand(i, copy);
      }
    }
    if (read->users().empty() && !read->IsRoot()) RemoveIfDead(read);
  }
  return copy != nullptr;
}

bool Sink(const TupleLoop& loop, const WhileLoopConstantSinkingOptions& options, PassContext& context) {
  if (loop.body == loop.condition || loop.body->callers().size() != 1 ||
      loop.condition->callers().size() != 1)
    return false;
  bool changed = false;
  const auto in_body = ReadsByElement(*loop.body_parameter);
  const auto in_condition = ReadsByElement(*loop.condition_parameter);
  for (int64_t i = 0; i < loop.size(); ++i) {
    const Instruction* value = loop.InitElement(i);
    if (!value || !MaySink(*value, options) || !loop.IsInvariant(i) ||
        value->shape() != loop.loop->shape().tuple_shape(i))
      continue;
    changed |=
        SinkInto(loop.body_parameter, in_body[static_cast<size_t>(i)], *value, loop.body_root, context);
    changed |=
        SinkInto(loop.condition_parameter, in_condition[static_cast<size_t>(i)], *value, nullptr, context);
  }
  return changed;
}

llvm::ArrayRef<PassOptionRow> WhileLoopConstantSinkingOptions::Rows() { return kRows; }

Result<bool> RunWhileLoopConstantSinking(Module& module, const WhileLoopConstantSinkingOptions& options,
                                         PassContext& context) {
  bool changed = false;
  // Callers first, so that a constant gets through nested loops in one run.
  const std::vector<Computation*> computations = context.Computations(module);
  for (Computation* c : llvm::reverse(computations)) {
    HLO_CHECK_OK(context.CheckInterrupt());
    const std::vector<Instruction*> loops = c->InstructionsOf(OpKind::While);
    for (Instruction* inst : loops)
      if (const auto loop = AsTupleLoop(*inst)) changed |= Sink(*loop, options, context);
  }
  return changed;
}

}  // namespace

HLO_DEFINE_PASS(WhileLoopConstantSinking, WhileLoopConstantSinkingOptions);

}  // namespace hlo

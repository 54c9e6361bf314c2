// while-loop-fusible-sinking: values that a loop carries unchanged although they are cheap to make of less
// are made in the body (passes.md §2.4), where they can be fused.
//
// Requires nothing. Preserves layouts, canonical-dots, fusions.
// Changes: elements of the state that the body does not change and whose initial value is made by broadcasts,
// iotas, cheap elementwise ops and other data movement of fewer bytes; these bytes are carried instead, and
// the old element is handed on unread (simplify-while-loops removes it). Left alone: loops that share their
// computations or have a sharded state, values with control edges, dynamic dimensions.
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include "passes/analysis/fusion_facts.h"
#include "passes/analysis/side_effects.h"
#include "passes/pass.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/loop_edit.h"

namespace hlo {
namespace {

constexpr size_t kMaxInstructions = 16;  // of one value

int64_t Bytes(const Instruction& inst) { return std::max<int64_t>(ByteSize(inst.shape()), 0); }

bool IsCheap(const Instruction& inst) {
  if (HasControlEdges(inst)) return false;
  if (inst.kind() == OpKind::Constant) return inst.shape().IsScalar();
  return IsLoopFusible(inst) && inst.kind() != OpKind::Reduce && inst.kind() != OpKind::Bitcast &&
         !IsExpensive(inst) && !HasSideEffect(inst);
}

/// How a value is made: `parts`, users before operands, of `sources`.
struct Recipe {
  llvm::SmallSetVector<Instruction*, 16> parts, sources;
};

/// The recipe whose sources have fewer bytes than the value; nothing if there is none.
std::optional<Recipe> RecipeOf(Instruction* value) {
  if (!value->shape().IsArray() || value->shape().HasDynamicDimension() || !IsCheap(*value) ||
      value->kind() == OpKind::Constant)
    return std::nullopt;
  Recipe recipe;
  recipe.parts.insert(value);
  for (size_t i = 0; i < recipe.parts.size(); ++i)
    for (Instruction* o : recipe.parts[i]->operands()) {
      if (!o->shape().IsArray()) return std::nullopt;
      if (IsCheap(*o) && recipe.parts.size() < kMaxInstructions)
        recipe.parts.insert(o);
      else
        recipe.sources.insert(o);
    }
  int64_t bytes = 0;
  for (const Instruction* source : recipe.sources) bytes += Bytes(*source);
  if (bytes >= Bytes(*value)) return std::nullopt;
  return recipe;
}

/// Replaces what reads the element in the body by a copy of its recipe.
void SinkInto(const TupleLoop& loop, const Recipe& recipe, llvm::ArrayRef<Instruction*> reads) {
  llvm::DenseMap<const Instruction*, Instruction*> made;
  const std::vector<Instruction*> sources(recipe.sources.begin(), recipe.sources.end());
  const auto inside = AddLoopInvariants(loop, sources);
  for (size_t i = 0; i < sources.size(); ++i) made[sources[i]] = inside[i];
  // A part may have become one twice over: operands are copied when they are asked for.
  const std::function<Instruction*(const Instruction&)> copy = [&](const Instruction& part) {
    if (Instruction* done = made.lookup(&part)) return done;
    llvm::SmallVector<Instruction*, 4> operands;
    for (const Instruction* o : part.operands()) operands.push_back(copy(*o));
    return made[&part] = CloneWith(part, *loop.body, operands);
  };
  Instruction* value = copy(*recipe.parts.front());
  const Instruction* root = loop.body->root();
  for (Instruction* read : reads) {
    const llvm::SmallVector<Instruction*, 4> users(read->users().begin(), read->users().end());
    for (Instruction* user : users)
      if (user != root) user->ReplaceOperand(read, value);
  }
}

/// Something other than the end of the body reads the element.
bool IsRead(const TupleLoop& loop, llvm::ArrayRef<Instruction*> reads) {
  return llvm::any_of(reads, [&](const Instruction* read) {
    return llvm::any_of(read->users(), [&](const Instruction* user) { return user != loop.body_root; });
  });
}

bool SinkOne(const TupleLoop& loop, PassContext& context) {
  const auto reads = ReadsByElement(*loop.body_parameter);
  const auto in_condition = ReadsByElement(*loop.condition_parameter);
  for (int64_t i = 0; i < loop.size(); ++i) {
    Instruction* value = loop.InitElement(i);
    if (!value || !loop.IsInvariant(i) || value->shape() != loop.loop->shape().tuple_shape(i) ||
        !in_condition[static_cast<size_t>(i)].empty() || !IsRead(loop, reads[static_cast<size_t>(i)]))
      continue;
    const auto recipe = RecipeOf(value);
    if (!recipe || !context.TakeRewrite()) continue;
    SinkInto(loop, *recipe, reads[static_cast<size_t>(i)]);
    return true;
  }
  return false;
}

Result<bool> RunWhileLoopFusibleSinking(Module& module, const NoPassOptions&, PassContext& context) {
  return ForEachLoop(module, context, [&](Instruction* inst) {
    for (bool changed = false;; changed = true) {
      const auto loop = AsTupleLoop(*inst);  // anew, as the state has grown
      if (!loop || !MayReshapeLoop(*loop) || !SinkOne(*loop, context)) return changed;
    }
  });
}

}  // namespace

HLO_DEFINE_PASS(WhileLoopFusibleSinking, NoPassOptions);

}  // namespace hlo

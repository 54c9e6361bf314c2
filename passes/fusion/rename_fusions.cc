// rename_fusions: names of fusions say what they compute (passes.md §2.5).
//
// Requires nothing. Preserves everything.
// Changes: a fusion is called after its kind and the opcodes of what makes its results, bitcasts and the like
// looked through: `loop_add_fusion`, `input_reduce_fusion`, one of a single instruction `wrapped_tanh`; its
// computation `fused_add` or `wrapped_tanh_computation`. Names stay unique. Left alone: fusions of a kind of
// their own.
#include "passes/pass.h"

namespace hlo {
namespace {

std::string Word(const Instruction& inst) {
  std::string word = inst.info().text.str();
  std::replace(word.begin(), word.end(), '-', '_');
  return word;
}

/// What computes, or moves, the value: not what only gives it another shape.
const Instruction* MadeBy(const Instruction* value) {
  const auto reshapes = [](const Instruction& inst) {
    return inst.kind() == OpKind::Bitcast || inst.kind() == OpKind::Reshape;
  };
  while (reshapes(*value) && value->operand(0)->info().category != OpCategory::Source)
    value = value->operand(0);
  return value;
}

/// `add_reduce`: what makes the results, each word once.
std::string WordsOf(const Computation& fused) {
  llvm::SmallVector<std::string, 4> words;
  const Instruction* root = fused.root();
  const bool several = root->kind() == OpKind::Tuple;
  for (int64_t i = 0; i < (several ? root->operand_count() : 1); ++i)
    if (std::string word = Word(*MadeBy(several ? root->operand(i) : root)); !llvm::is_contained(words, word))
      words.push_back(std::move(word));
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : "_") + word;
  return text;
}

bool IsOfOne(const Computation& fused) {
  return fused.instruction_count() == static_cast<int64_t>(fused.parameters().size()) + 1;
}

bool IsCalled(llvm::StringRef name, llvm::StringRef wanted) {
  return name.consume_front(wanted) && (name.empty() || name.front() == '.');
}

Result<bool> RunRenameFusions(Module& module, const NoPassOptions&, PassContext& context) {
  bool changed = false;
  for (Computation* c : context.Computations(module))
    for (Instruction* fusion : c->InstructionsOf(OpKind::Fusion)) {
      const FusionKind kind = fusion->attr<FusionAttrs>().kind;
      Computation& fused = *fusion->callee();
      const std::string words = WordsOf(fused);
      const bool one = IsOfOne(fused);
      const llvm::StringRef prefix = kind == FusionKind::Input    ? "input_"
                                     : kind == FusionKind::Output ? "output_"
                                                                  : "loop_";
      const std::string name = one ? "wrapped_" + words : prefix.str() + words + "_fusion";
      const std::string body = one ? "wrapped_" + words + "_computation" : "fused_" + words;
      const bool fits = IsCalled(fusion->name(), name), body_fits = IsCalled(fused.name(), body);
      if (kind == FusionKind::Custom || (fits && body_fits)) continue;
      if (!context.TakeRewrite()) return changed;
      if (!fits) fusion->set_name(module.UniqueInstructionName(module.Save(name)));
      if (!body_fits) fused.set_name(module.UniqueComputationName(module.Save(body)));
      changed = true;
    }
  return changed;
}

}  // namespace

HLO_DEFINE_PASS(RenameFusions, NoPassOptions);

}  // namespace hlo

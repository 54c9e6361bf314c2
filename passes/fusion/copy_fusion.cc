// copy_fusion: copies of what a fusion computes are written by the fusion (passes.md §2.5).
//
// Requires nothing. Preserves flat-calls, layouts, canonical-dots, fusions.
// Changes: copies of results of a loop or input fusion that keep the layout become results of it themselves.
// Left alone: fusions that update in place, share their computation, alias operands or have control edges;
// copies with control edges, or that change layout or memory space.
#include "passes/analysis/sharing.h"
#include "passes/analysis/side_effects.h"
#include "passes/pass.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/maker.h"
#include "passes/rewrite/restructure.h"

namespace hlo {
namespace {

bool MayWriteMore(const Instruction& fusion) {
  const auto& attrs = fusion.attr<FusionAttrs>();
  const bool loops = attrs.kind == FusionKind::Loop || attrs.kind == FusionKind::Input;
  const Computation& fused = *fusion.callee();
  if (!loops || !attrs.output_to_operand_aliasing.empty() || fused.callers().size() != 1 ||
      HasControlEdges(fusion) || fusion.extras().sharding || !InPlacePairs(fusion).empty())
    return false;
  if (fusion.shape().IsArray()) return true;
  // Its tuple is read element by element.
  return fused.root()->kind() == OpKind::Tuple && fused.root()->users().empty() && !fusion.IsRoot() &&
         llvm::all_of(fusion.users(),
                      [](const Instruction* u) { return u->kind() == OpKind::GetTupleElement; });
}

struct CopyOf {
  Instruction* copy;
  int64_t result;  // of the fusion
};

void AddCopies(const Instruction& value, int64_t result, std::vector<CopyOf>& copies) {
  if (!value.shape().IsArray()) return;
  for (Instruction* user : value.users())
    if (user->kind() == OpKind::Copy && user->shape() == value.shape() && !HasControlEdges(*user))
      copies.push_back({user, result});
}

std::vector<CopyOf> CopiesOf(const Instruction& fusion) {
  std::vector<CopyOf> copies;
  if (fusion.shape().IsArray()) {
    AddCopies(fusion, 0, copies);
    return copies;
  }
  for (const Instruction* element : fusion.users())
    AddCopies(*element, element->attr<GetTupleElementAttrs>().index, copies);
  return copies;
}

/// The fusion yields a tuple of one.
void MakeTuple(Instruction* fusion) {
  Computation& fused = *fusion->callee();
  fused.set_root(Maker(fused, fused.root()).Tuple({fused.root()}));
  const llvm::SmallVector<Instruction*, 4> users(fusion->users().begin(), fusion->users().end());
  const bool is_root = fusion->IsRoot();
  SetStructure(*fusion, fused.root()->shape());
  Instruction* read = Maker(*fusion->parent(), fusion).Gte(fusion, 0);
  for (Instruction* user : users) user->ReplaceOperand(fusion, read);
  if (is_root) fusion->parent()->set_root(read);
}

void WriteCopies(Instruction* fusion, llvm::ArrayRef<CopyOf> copies) {
  if (fusion->shape().IsArray()) MakeTuple(fusion);
  Computation& fused = *fusion->callee();
  Instruction* root = fused.root();
  llvm::SmallVector<Instruction*, 8> results(root->operands());
  for (const CopyOf& c : copies) results.push_back(Maker(fused, c.copy).Copy(root->operand(c.result)));
  const auto first = root->operand_count();
  fused.set_root(Maker(fused, root).Tuple(results));
  fused.Remove(root);
  SetStructure(*fusion, fused.root()->shape());
  for (size_t i = 0; i < copies.size(); ++i) {
    Instruction* copy = copies[i].copy;
    ReplaceWith(copy, Maker(copy).Gte(fusion, first + static_cast<int64_t>(i)));
    fusion->parent()->Remove(copy);
  }
}

Result<bool> RunCopyFusion(Module& module, const NoPassOptions&, PassContext& context) {
  bool changed = false;
  for (Computation* c : context.Computations(module))
    for (Instruction* fusion : c->InstructionsOf(OpKind::Fusion)) {
      HLO_CHECK_OK(context.CheckInterrupt());
      if (!MayWriteMore(*fusion)) continue;
      const std::vector<CopyOf> copies = CopiesOf(*fusion);
      if (copies.empty() || !context.TakeRewrite()) continue;
      WriteCopies(fusion, copies);
      changed = true;
    }
  return changed;
}

}  // namespace

HLO_DEFINE_PASS(CopyFusion, NoPassOptions);

}  // namespace hlo

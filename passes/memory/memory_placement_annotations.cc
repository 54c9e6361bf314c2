// strip-memory-placement-annotations, convert-memory-placement-to-internal-annotations: where programs say
// that values lie (passes.md §2.5).
//
// Require nothing. Preserve everything but the schedule.
// Change:
//  - strip-memory-placement-annotations: custom calls that only place a value become their operand.
//  - convert-memory-placement-to-internal-annotations: annotate_device_placement with the frontend attribute
//    _xla_buffer_placement becomes MoveToHost, MoveToDevice or a call that pins the value.
// Left alone: other placements, calls whose result is not of the shape of their operand, control edges.
#include "passes/analysis/frontend_attributes.h"
#include "passes/analysis/side_effects.h"
#include "passes/pass.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/maker.h"

namespace hlo {
namespace {

constexpr llvm::StringLiteral kAnnotation = "annotate_device_placement";
constexpr llvm::StringLiteral kPlacementKey = "_xla_buffer_placement";

/// A value of the attribute and the call that stands for it.
struct Placement {
  llvm::StringLiteral word, target;
};
constexpr Placement kPlacements[] = {
    {"device", "MoveToDevice"},    {"device_sram", "PinToDeviceSram"}, {"pinned_device", "PinToDevice"},
    {"pinned_host", "MoveToHost"}, {"unpinned_host", "MoveToHost"},
};

llvm::StringRef TargetOf(const Instruction& inst) {
  const auto* call = inst.attrs().GetIf<CustomCallAttrs>();
  const bool passes_on =
      call && inst.operand_count() == 1 && inst.shape() == inst.operand(0)->shape() && !HasControlEdges(inst);
  return passes_on ? llvm::StringRef(call->custom_call_target) : "";
}

bool OnlyPlaces(const Instruction& inst) {
  const llvm::StringRef target = TargetOf(inst);
  return target == kAnnotation ||
         llvm::any_of(kPlacements, [&](const Placement& p) { return p.target == target; });
}

const Placement* PlacementOf(const Instruction& inst) {
  if (TargetOf(inst) != kAnnotation) return nullptr;
  const llvm::StringRef word = FrontendValue(inst, kPlacementKey);
  const auto* placement = llvm::find_if(kPlacements, [&](const Placement& p) { return p.word == word; });
  return placement == std::end(kPlacements) ? nullptr : placement;
}

Instruction* InternalCall(Instruction* inst) {
  CustomCallAttrs attrs;
  attrs.custom_call_target = PlacementOf(*inst)->target.str();
  // The attribute says no more than the call does now.
  if (inst->has_extras())
    llvm::erase_if(inst->MutableExtras().frontend_attributes,
                   [](const FrontendAttribute& a) { return a.key == kPlacementKey; });
  return Maker(inst).AddWithShape(OpKind::CustomCall, inst->shape(), {inst->operand(0)}, std::move(attrs));
}

Result<bool> RunStripMemoryPlacementAnnotations(Module& module, const NoPassOptions&, PassContext& context) {
  return ExpandMatches(module, context, OnlyPlaces, [](Instruction* inst) -> Result<Instruction*> {
    // They are about the call, not about its operand.
    if (inst->has_extras()) inst->MutableExtras().frontend_attributes.clear();
    return inst->operand(0);
  });
}
Result<bool> RunConvertMemoryPlacement(Module& module, const NoPassOptions&, PassContext& context) {
  return ExpandMatches(
      module, context, [](const Instruction& inst) { return PlacementOf(inst) != nullptr; },
      [](Instruction* inst) -> Result<Instruction*> { return InternalCall(inst); });
}

}  // namespace

HLO_DEFINE_PASS(StripMemoryPlacementAnnotations, NoPassOptions);
HLO_DEFINE_PASS(ConvertMemoryPlacement, NoPassOptions);

}  // namespace hlo

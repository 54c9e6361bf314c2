#include "passes/loops/while_loop_trip_count_annotator.h"

#include "ir/support/json.h"
#include "passes/rewrite/loop_edit.h"

namespace hlo {
namespace {

/// The config without what is said of a count; nothing if it says nothing of one.
std::optional<std::string> WithoutCount(llvm::StringRef config) {
  auto value = ParseJson(config);
  if (!value || !value->Object("known_trip_count")) return std::nullopt;
  for (const char* key : {"known_trip_count", "known_induction_variable", "known_init_step"})
    value->Erase(key);
  return value->AsObject()->empty() ? "" : ToString(*value);
}

/// The config the loop should have, if it should have another.
std::optional<std::string> NewConfig(Instruction& inst, bool keep_unproven) {
  const auto loop = AsTupleLoop(inst);
  const auto counted = loop ? CountTrips(*loop) : std::nullopt;
  if (!counted) return keep_unproven ? std::nullopt : WithoutCount(inst.extras().backend_config);
  auto config = WithTripCount(inst.extras().backend_config, *counted);
  return config && *config != inst.extras().backend_config ? config : std::nullopt;
}

}  // namespace

bool AnnotateTripCount(Instruction& loop, bool keep_unproven) {
  const auto config = NewConfig(loop, keep_unproven);
  if (config) loop.MutableExtras().backend_config = loop.module()->Save(*config);
  return config.has_value();
}

Result<bool> RunWhileLoopTripCountAnnotator(Module& module, const WhileLoopTripCountAnnotatorOptions& options,
                                            PassContext& context) {
  bool changed = false;
  for (Computation* c : context.Computations(module)) {
    for (Instruction* inst : c->instructions()) {
      if (inst->kind() != OpKind::While) continue;
      HLO_CHECK_OK(context.CheckInterrupt());
      if (!NewConfig(*inst, options.keep_unproven) || !context.TakeRewrite()) continue;
      changed |= AnnotateTripCount(*inst, options.keep_unproven);
    }
  }
  return changed;
}

HLO_DEFINE_PASS(WhileLoopTripCountAnnotator, WhileLoopTripCountAnnotatorOptions);

}  // namespace hlo

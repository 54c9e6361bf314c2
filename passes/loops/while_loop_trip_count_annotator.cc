#include "passes/loops/while_loop_trip_count_annotator.h"

#include "ir/support/json.h"
#include "llvm/Support/FormatVariadic.h"
#include "passes/analysis/loop_facts.h"

namespace hlo {
namespace {

/// The config with the facts added; nothing if it is no JSON object.
std::optional<std::string> Annotated(llvm::StringRef config, const LoopCount& counted) {
  auto value = config.trim().empty() ? JsonValue(JsonObject()) : ParseJson(config);
  if (!value || !value->AsObject()) return std::nullopt;
  // Numbers of 64 bits are strings, as protocol buffers have them.
  using Facts = std::initializer_list<std::pair<llvm::StringRef, int64_t>>;
  const auto set = [&](llvm::StringRef key, Facts facts) {
    JsonValue object;
    for (const auto& [part, number] : facts) object.Set(part, JsonValue(std::to_string(number)));
    value->Set(key, std::move(object));
  };
  set("known_trip_count", {{"n", counted.count}});
  if (counted.induction >= 0) set("known_induction_variable", {{"tuple_index", counted.induction}});
  if (counted.init) set("known_init_step", {{"init", *counted.init}, {"step", *counted.step}});
  value->Sort();
  return ToString(*value);
}

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
  auto config = Annotated(inst.extras().backend_config, *counted);
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

#include "passes/while_loop_trip_count_annotator.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "passes/analysis/loop_facts.h"

namespace hlo {
namespace {

/// The config with the facts added; nothing if it is no JSON object.
std::optional<std::string> Annotated(llvm::StringRef config, const LoopCount& counted) {
  llvm::json::Value value = llvm::json::Object();
  if (!config.trim().empty()) {
    auto parsed = llvm::json::parse(config);
    if (!parsed) {
      llvm::consumeError(parsed.takeError());
      return std::nullopt;
    }
    value = std::move(*parsed);
  }
  llvm::json::Object* object = value.getAsObject();
  if (!object) return std::nullopt;
  (*object)["known_trip_count"] = llvm::json::Object{{"n", std::to_string(counted.count)}};
  if (counted.induction >= 0)
    (*object)["known_induction_variable"] =
        llvm::json::Object{{"tuple_index", std::to_string(counted.induction)}};
  if (counted.init)
    (*object)["known_init_step"] =
        llvm::json::Object{{"init", std::to_string(*counted.init)}, {"step", std::to_string(*counted.step)}};
  return llvm::formatv("{0}", value).str();
}

/// The config the loop should have, if it should have another.
std::optional<std::string> NewConfig(Instruction& inst) {
  const auto loop = AsTupleLoop(inst);
  const auto counted = loop ? CountTrips(*loop) : std::nullopt;
  if (!counted) return std::nullopt;
  auto config = Annotated(inst.extras().backend_config, *counted);
  return config && *config != inst.extras().backend_config ? config : std::nullopt;
}

}  // namespace

bool AnnotateTripCount(Instruction& loop) {
  const auto config = NewConfig(loop);
  if (config) loop.MutableExtras().backend_config = loop.module()->Save(*config);
  return config.has_value();
}

Result<bool> RunWhileLoopTripCountAnnotator(Module& module, const NoPassOptions&, PassContext& context) {
  bool changed = false;
  for (Computation* c : context.Computations(module)) {
    for (Instruction* inst : c->instructions()) {
      if (inst->kind() != OpKind::While) continue;
      HLO_CHECK_OK(context.CheckInterrupt());
      if (!NewConfig(*inst) || !context.TakeRewrite()) continue;
      changed |= AnnotateTripCount(*inst);
    }
  }
  return changed;
}

HLO_DEFINE_PASS(WhileLoopTripCountAnnotator, NoPassOptions);

}  // namespace hlo

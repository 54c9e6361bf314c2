#include "backends/compile/program.h"

#include "ir/support/json.h"

namespace hlo::compile {

std::optional<int64_t> Step::Trips() const {
  const auto config = ParseJson(instruction->extras().backend_config);
  const JsonValue* count = config ? config->Object("known_trip_count") : nullptr;
  int64_t trips = 0;
  if (count == nullptr || count->String("n").value_or("").getAsInteger(10, trips)) return std::nullopt;
  return trips;
}

std::string Step::PartName(size_t part) const {
  if (kind == StepKind::While) return part == 0 ? "condition" : "body";
  if (kind == StepKind::Kernel) return "turns";
  if (kind == StepKind::Call) return "steps";
  return "branch " + std::to_string(part);
}

Literal PartOf(const Instruction& constant, llvm::ArrayRef<int64_t> index) {
  const Literal* literal = constant.attr<ConstantAttrs>().literal.get();
  for (const int64_t i : index) literal = &literal->element(i);
  return literal->Unpack();
}

}  // namespace hlo::compile

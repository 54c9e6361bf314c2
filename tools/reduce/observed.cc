#include "tools/reduce/observed.h"

#include "backends/client/client.h"
#include "backends/run_devices.h"
#include "ir/support/interrupt.h"
#include "llvm/Support/MathExtras.h"
#include "passes/analysis/live_range.h"
#include "passes/rewrite/maker.h"
#include "tools/arrays/fake_arguments.h"
#include "tools/arrays/fake_values.h"
#include "tools/modules/inputs.h"

namespace hlo {
namespace {

constexpr int64_t kMostElements = 4096;
constexpr std::chrono::seconds kLongestRun{20};

bool IsWorthKeeping(const Instruction& inst) {
  return inst.kind() != OpKind::Parameter && inst.kind() != OpKind::Constant && inst.shape().IsArray() &&
         !inst.shape().HasDynamicDimension() && inst.shape().ElementCount() <= kMostElements;
}

std::vector<Literal> MakeArguments(const Module& module) {
  const ValueRule base;
  const auto rules = TraceConstraints(module, base);
  std::vector<Literal> arguments;
  for (size_t number = 0; number < module.entry()->parameters().size(); ++number) {
    int64_t leaf = 0;
    const std::function<Literal(const Shape&)> make = [&](const Shape& shape) {
      if (shape.IsTuple()) {
        std::vector<Literal> elements;
        for (const Shape& element : shape.tuple_shapes()) elements.push_back(make(element));
        return Literal::MakeTuple(std::move(elements));
      }
      if (!shape.IsArray()) return Literal::MakeToken();
      const ValueRule& rule = rules[number][static_cast<size_t>(leaf)];
      return MakeValue(shape, rule, {0, static_cast<int64_t>(number), leaf++, 0});
    };
    arguments.push_back(make(module.entry()->parameters()[number]->shape()));
  }
  return arguments;
}

/// The rest is for what the run allocates besides values, and for candidates.
constexpr int64_t kShare = 2;

/// What a run holds at most, about: arguments, constants, and what lives at a time.
int64_t BytesOfRun(const Module& module) {
  int64_t bytes = PeakOf(module, ScheduleOf(module)).bytes;
  for (const auto& c : module.computations())
    for (const Instruction* inst : c->instructions()) {
      if (inst->kind() != OpKind::Constant && (!c->IsEntry() || inst->kind() != OpKind::Parameter)) continue;
      ForEachLeaf(inst->shape(), [&](const ShapeIndex&, const Shape& leaf) {
        const int64_t own = leaf.IsArray() ? BufferBytes(leaf) : 0;
        if (own < 0 || llvm::AddOverflow(bytes, own, bytes)) bytes = INT64_MAX;
      });
    }
  return bytes;
}

}  // namespace

Result<ObservedValues> ObserveValues(const Module& module, int64_t memory_limit) {
  ObservedValues observed;
  if (module.config.replica_count > 1 || module.config.num_partitions > 1) return observed;
  // All values of interest as the result of a copy.
  const std::unique_ptr<Module> copy = module.Clone();
  copy->config.is_scheduled = false;
  for (const auto& c : copy->computations()) c->set_schedule({});
  std::vector<Instruction*> shown;
  for (Instruction* inst : copy->entry()->PostOrder())
    if (IsWorthKeeping(*inst)) shown.push_back(inst);
  if (shown.empty()) return observed;
  copy->entry()->set_root(Maker(copy->entry()->root()).Tuple(shown));
  copy->config.input_output_alias.clear();
  copy->config.buffer_donors.clear();
  copy->config.entry_layout = {copy->entry()->ParameterShapes(), copy->entry()->root()->shape()};
  const ExecutionOptions options;
  if (!CheckSupported(*copy, options)) return observed;
  const int64_t bytes = BytesOfRun(*copy);
  HLO_CHECK_OK(
      CheckMemory(bytes > INT64_MAX / kShare ? bytes : bytes * kShare, memory_limit, "running the module"));
  if (Interrupted()) return observed;
  StopToken stop(CurrentWork().stop);
  const StopScope scope(stop);
  const TimeLimit limit(stop, kLongestRun);
  auto run = Client(Platform::Interpreter).Run(*copy, {MakeArguments(*copy)}, options);
  if (!run || run->results.empty()) return observed;
  const Literal& values = run->results.front();
  for (size_t i = 0; i < shown.size(); ++i)
    observed[shown[i]->name()] =
        std::make_shared<const Literal>(values.element(static_cast<int64_t>(i)).Pack());
  return observed;
}

}  // namespace hlo

#include "backends/cpu/control_steps.h"

#include <cstring>

#include "backends/cpu/routine_step.h"
#include "ir/support/json.h"
#include "llvm/ADT/SmallVectorExtras.h"

namespace hlo::cpu {
namespace {

class WhileStep final : public Step {
 public:
  WhileStep(const Instruction& inst, Sequence condition, Slice predicate, Sequence body, const Value& result,
            llvm::ArrayRef<std::pair<Slice, Slice>> constants)
      : inst_(inst),
        condition_(std::move(condition)),
        predicate_(predicate),
        body_(std::move(body)),
        results_(llvm::map_to_vector<4>(result.leaves, [](const Leaf& leaf) { return leaf.slice; })),
        constants_(constants) {}

  Status Run(Frame& frame) const override {
    frame.Observe(inst_);
    for (;;) {
      HLO_CHECK_OK(frame.CheckInterrupt());
      HLO_CHECK_OK(RunSequence(condition_, frame));
      if (*frame.At(predicate_) == 0) return {};
      HLO_CHECK_OK(RunSequence(body_, frame));
    }
  }
  [[nodiscard]] const Instruction* instruction() const override { return &inst_; }
  [[nodiscard]] std::string Explain() const override { return "loop over steps"; }
  [[nodiscard]] std::optional<int64_t> Trips() const override {
    const auto config = ParseJson(inst_.extras().backend_config);
    const JsonValue* count = config ? config->Object("known_trip_count") : nullptr;
    int64_t trips = 0;
    if (count == nullptr || count->String("n").value_or("").getAsInteger(10, trips)) return std::nullopt;
    return trips;
  }
  void ForEachPart(Part visit) override {
    visit("condition", condition_);
    visit("body", body_);
  }
  bool AddTo(RoutineBuilder& routine) const override {
    return routine.While(predicate_, condition_, body_, results_, constants_);
  }

 private:
  const Instruction& inst_;
  Sequence condition_;
  Slice predicate_;
  Sequence body_;
  llvm::SmallVector<Slice, 4> results_;
  llvm::SmallVector<std::pair<Slice, Slice>, 1> constants_;
};

class ConditionalStep final : public Step {
 public:
  ConditionalStep(const Instruction& inst, Slice selector, std::vector<Sequence> branches)
      : inst_(inst),
        by_predicate_(inst.operand(0)->shape().element_type() == ElementType::Pred),
        selector_(selector),
        branches_(std::move(branches)) {}

  Status Run(Frame& frame) const override {
    frame.Observe(inst_);
    size_t taken = branches_.size() - 1;
    if (by_predicate_) {
      taken = *frame.At(selector_) != 0 ? 0 : 1;
    } else {
      int32_t index = 0;
      std::memcpy(&index, frame.At(selector_), sizeof index);
      if (index >= 0 && static_cast<size_t>(index) < taken) taken = static_cast<size_t>(index);
    }
    return RunSequence(branches_[taken], frame);
  }
  [[nodiscard]] const Instruction* instruction() const override { return &inst_; }
  [[nodiscard]] std::string Explain() const override { return "choice between sequences of steps"; }
  void ForEachPart(Part visit) override {
    for (size_t i = 0; i < branches_.size(); ++i) visit("branch " + std::to_string(i), branches_[i]);
  }
  bool AddTo(RoutineBuilder& routine) const override {
    return routine.Branch(selector_, by_predicate_, branches_);
  }

 private:
  const Instruction& inst_;
  bool by_predicate_;
  Slice selector_;
  std::vector<Sequence> branches_;
};

Status RunWatched(const Step& step, Frame& frame, InstructionListener& listener) {
  const bool listened = listener.Begin(*step.instruction());
  HLO_CHECK_OK(step.Run(frame));
  return listened ? listener.End(*step.instruction()) : Status();
}

}  // namespace

Status RunSequence(const Sequence& sequence, Frame& frame) {
  InstructionListener* const listener = frame.listener();
  for (const auto& step : sequence) {
    Status status = listener == nullptr ? step->Run(frame) : RunWatched(*step, frame, *listener);
    if (status) continue;
    Diagnostic error = std::move(status).error();
    if (!error.loc.valid()) error.loc = step->instruction()->loc();
    return Error(std::move(error));
  }
  return {};
}

std::unique_ptr<Step> MakeWhileStep(const Instruction& inst, Sequence condition, Slice predicate,
                                    Sequence body, const Value& result,
                                    llvm::ArrayRef<std::pair<Slice, Slice>> constants) {
  return std::make_unique<WhileStep>(inst, std::move(condition), predicate, std::move(body), result,
                                     constants);
}

std::unique_ptr<Step> MakeConditionalStep(const Instruction& inst, Slice selector,
                                          std::vector<Sequence> branches) {
  return std::make_unique<ConditionalStep>(inst, selector, std::move(branches));
}

}  // namespace hlo::cpu

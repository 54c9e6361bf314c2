// Steps that the reference evaluator computes on the host.
#include "backends/gpu/runtime/steps.h"
#include "ir/eval/custom_call.h"
#include "ir/op.h"

namespace hlo::gpu {
namespace {

Result<Literal> LoadLeaf(Frame& frame, const Leaf& leaf) {
  Literal literal = Literal::Make(leaf.shape);
  if (!leaf.shape.IsArray()) return literal;
  if (leaf.slice.buffer >= 0 && literal.byte_size() > 0)
    HLO_CHECK_OK(
        frame.stream().ToHostLater(literal.MutableData(), frame.At(leaf.slice), literal.byte_size()));
  if (leaf.slice.sizes >= 0) {
    const Dims& sizes = frame.Sizes(leaf.slice);
    for (size_t d = 0; d < sizes.size(); ++d)
      if (leaf.shape.is_dynamic(static_cast<int64_t>(d)))
        literal.SetDynamicSize(static_cast<int64_t>(d), sizes[d]);
  }
  return literal;
}

Result<Literal> Load(Frame& frame, const Shape& shape, const Leaf*& at) {
  if (!shape.IsTuple()) return LoadLeaf(frame, *at++);
  std::vector<Literal> elements;
  elements.reserve(static_cast<size_t>(shape.tuple_size()));
  for (const Shape& element : shape.tuple_shapes()) {
    HLO_TRY(Literal part, Load(frame, element, at));
    elements.push_back(std::move(part));
  }
  return Literal::MakeTuple(std::move(elements));
}

Status StoreLeaf(Frame& frame, const Leaf& leaf, const Literal& literal) {
  if (!leaf.written || !leaf.shape.IsArray()) return {};
  if (leaf.slice.sizes >= 0) {
    Dims& sizes = frame.Sizes(leaf.slice);
    sizes.clear();
    if (literal.HasDynamicSizes())
      for (int64_t d = 0; d < leaf.shape.rank(); ++d) sizes.push_back(literal.DynamicSize(d));
  }
  if (leaf.slice.buffer < 0) return {};
  return frame.stream().ToDevice(frame.At(leaf.slice), literal.data(), literal.byte_size());
}

Status Store(Frame& frame, const Leaf*& at, const Literal& literal) {
  if (!literal.shape().IsTuple()) return StoreLeaf(frame, *at++, literal);
  for (const Literal& element : literal.elements()) HLO_CHECK_OK(Store(frame, at, element));
  return {};
}

class HostRunner final : public StepRunner {
 public:
  explicit HostRunner(const Step& step)
      : step_(step), inst_(*step.instruction), rule_(EvalRule(inst_.kind())) {}

  Status Run(Frame& frame) const override {
    frame.Observe(inst_);
    HLO_CHECK_OK(frame.CheckInterrupt());
    llvm::SmallVector<Literal, 4> operands;
    for (const Value& operand : step_.operands) {
      const Leaf* at = operand.leaves.begin();
      HLO_TRY(Literal value, Load(frame, operand.shape, at));
      operands.push_back(std::move(value));
    }
    HLO_CHECK_OK(frame.stream().Arrive());
    HLO_TRY(const Literal result, rule_(frame.context(), inst_, operands));
    const Leaf* at = step_.result.leaves.begin();
    return Store(frame, at, result);
  }
  [[nodiscard]] std::string Explain() const override {
    if (inst_.kind() == OpKind::CustomCall) {
      const auto* target = FindCustomCallTarget(inst_.attr<CustomCallAttrs>().custom_call_target);
      if (target != nullptr && target->explain != nullptr) return "host: " + target->explain(inst_);
    }
    return "host: " + step_.why;
  }

 private:
  const Step& step_;
  const Instruction& inst_;
  EvalFn rule_;
};

}  // namespace

std::unique_ptr<StepRunner> LoadHost(const Step& step) { return std::make_unique<HostRunner>(step); }

}  // namespace hlo::gpu

#include "backends/gpu/libraries/epilogue.h"

#include <algorithm>

#include "ir/by_op_kind.h"
#include "passes/analysis/value_facts.h"

namespace hlo::gpu {
namespace {

/// What else an instruction takes; null where it takes the value twice.
const Instruction* Other(const Instruction& inst, const Instruction& before) {
  if (inst.operand(0) == inst.operand(1)) return nullptr;
  return inst.operand(inst.operand(0) == &before ? 1 : 0);
}

}  // namespace

const Epilogue::Rule* Epilogue::RuleOf(const Instruction& inst) {
  static constexpr ByOpKind<Rule> kRules({{OpKind::Multiply, &Epilogue::Scale},
                                          {OpKind::Add, &Epilogue::Add},
                                          {OpKind::Maximum, &Epilogue::Relu},
                                          {OpKind::Convert, &Epilogue::Narrow},
                                          {OpKind::ReducePrecision, &Epilogue::KeepPrecision},
                                          {OpKind::Transpose, &Epilogue::Transpose},
                                          {OpKind::Reshape, &Epilogue::Recast},
                                          {OpKind::Bitcast, &Epilogue::Recast}});
  const Rule& rule = kRules[inst.kind()];
  return rule == nullptr ? nullptr : &rule;
}

Result<Epilogue> Epilogue::Read(llvm::ArrayRef<const Instruction*> chain) {
  Epilogue epilogue(*chain.back());
  for (; chain.size() > 1; chain = chain.drop_back()) {
    const Instruction &inst = *chain.back(), &before = *chain[chain.size() - 2];
    const Rule* const rule = RuleOf(inst);
    if (rule == nullptr || !(epilogue.**rule)(inst, before))
      return Decline(inst.loc(), "%{0} ({1}) is more than the library does to sums", inst.name(),
                     inst.info().text);
  }
  std::reverse(epilogue.steps_.begin(), epilogue.steps_.end());
  return epilogue;
}

bool Epilogue::Scale(const Instruction& inst, const Instruction& before) {
  const Instruction* const other = Other(inst, before);
  if (other == nullptr || !IsFloat(inst.shape().element_type())) return false;
  EpilogueStep step{.op = EpilogueStep::Op::Scale, .inst = &inst, .view = {}};
  if (const Instruction* const factor = SplatConstant(*other)) {
    step.factor = LiteralValue(*factor->attr<ConstantAttrs>().literal, 0);
  } else {
    std::optional<View> view = ViewOf(*other);
    if (!view) return false;
    step.op = EpilogueStep::Op::Multiply;
    step.view = std::move(*view);
  }
  steps_.push_back(std::move(step));
  return true;
}

bool Epilogue::Add(const Instruction& inst, const Instruction& before) {
  const Instruction* const other = Other(inst, before);
  std::optional<View> view = other == nullptr ? std::nullopt : ViewOf(*other);
  if (!view) return false;
  steps_.push_back({.op = EpilogueStep::Op::Add, .inst = &inst, .view = std::move(*view)});
  return true;
}

bool Epilogue::Relu(const Instruction& inst, const Instruction& before) {
  const Instruction* const other = Other(inst, before);
  if (other == nullptr || !IsAll(*other, 0)) return false;
  steps_.push_back({.op = EpilogueStep::Op::Relu, .inst = &inst, .view = {}});
  return true;
}

bool Epilogue::Narrow(const Instruction& inst, const Instruction& before) {
  const ElementType from = before.shape().element_type(), to = inst.shape().element_type();
  return from == ElementType::F32 && IsFloat(to) && Info(to).bits <= Info(from).bits;
}

/// To a format that has all values of the type.
bool Epilogue::KeepPrecision(const Instruction& inst, const Instruction&) {
  const auto& format = inst.attr<ReducePrecisionAttrs>();
  const TypeInfo& type = Info(inst.shape().element_type());
  return format.exponent_bits >= type.exponent_bits && format.mantissa_bits >= type.mantissa_bits;
}

bool Epilogue::Transpose(const Instruction& inst, const Instruction&) {
  return ChangeViews([&](const View& view) -> std::optional<View> {
    return BeforeTranspose(view, inst.attr<DimensionsAttrs>().dimensions);
  });
}

bool Epilogue::Recast(const Instruction& inst, const Instruction& before) {
  if (inst.shape().element_type() != before.shape().element_type()) return false;
  return ChangeViews([&](const View& view) { return Reshaped(view, before.shape()); });
}

bool Epilogue::ChangeViews(llvm::function_ref<std::optional<View>(const View& view)> changed) {
  llvm::SmallVector<View*, 4> views = {&result_};
  for (EpilogueStep& step : steps_)
    if (step.view.array >= 0) views.push_back(&step.view);
  for (View* const view : views) {
    std::optional<View> now = changed(*view);
    if (!now) return false;
    *view = std::move(*now);
  }
  return true;
}

llvm::SmallVector<const Instruction*, 8> ChainOf(const Instruction& sums) {
  llvm::SmallVector<const Instruction*, 8> chain = {&sums};
  while (!chain.back()->IsRoot() && chain.back()->users().size() == 1)
    chain.push_back(chain.back()->users().front());
  return chain;
}

}  // namespace hlo::gpu

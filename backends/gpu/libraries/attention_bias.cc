#include "backends/gpu/libraries/attention_bias.h"

#include "ir/by_op_kind.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "passes/analysis/value_facts.h"

namespace hlo::gpu {
namespace {

using Value = AttentionBias::Value;
using Kind = Value::Kind;

/// Sizes without those of 1.
llvm::SmallVector<int64_t, 6> LongSizes(const Shape& shape) {
  llvm::SmallVector<int64_t, 6> sizes(shape.dims());
  llvm::erase(sizes, 1);
  return sizes;
}

/// All dimensions that have several elements.
llvm::SmallBitVector AllOf(const Shape& shape) {
  llvm::SmallBitVector all(static_cast<unsigned>(shape.rank()));
  for (int64_t d = 0; d < shape.rank(); ++d) all[static_cast<unsigned>(d)] = shape.dim(d) > 1;
  return all;
}

/// Finds what a bias is made of, value by value.
class BiasFinder {
 public:
  BiasFinder(const BiasedScores& scores, ElementType of_queries)
      : scores_(scores), before_(SourceOf(scores.before, scores.are_scores)), of_queries_(of_queries) {}

  AttentionBias Find() {
    std::vector<PlacedValue> work = {SourceOf(scores_.behind, scores_.are_scores)};
    // Each twice: before and behind its operands.
    while (!work.empty()) {
      const PlacedValue at = work.back();
      if (numbers_.contains(KeyOf(at))) {
        work.pop_back();
        continue;
      }
      const auto operands = OperandsOf(at);
      const size_t open = work.size();
      for (const PlacedValue& operand : operands)
        if (!numbers_.contains(KeyOf(operand))) work.push_back(operand);
      if (work.size() > open) continue;
      work.pop_back();
      numbers_[KeyOf(at)] = found_.values.size();
      found_.values.push_back(Make(at, operands));
    }
    found_.type = TypeOf();
    return std::move(found_);
  }

 private:
  static std::pair<const Instruction*, const Instruction*> KeyOf(const PlacedValue& at) {
    return {at.inst, at.kernel};
  }
  [[nodiscard]] bool IsScores(const PlacedValue& at) const {
    return at == before_ || scores_.are_scores(at.inst);
  }
  /// What a kernel reads is not looked into, and without kernels nothing that takes more than to look at it.
  [[nodiscard]] bool IsRead(const PlacedValue& at) const {
    if (at.kernel != nullptr || scores_.are_scores(at.inst)) return false;
    return scores_.in_kernels || RuleOf(at) == nullptr;
  }

  [[nodiscard]] llvm::SmallVector<PlacedValue, 3> OperandsOf(const PlacedValue& at) const {
    llvm::SmallVector<PlacedValue, 3> operands;
    if (at == before_ || IsRead(at)) return operands;
    for (const Instruction* operand : at.inst->operands())
      operands.push_back(SourceOf({operand, at.kernel}, scores_.are_scores));
    if (IsMask(at)) operands.erase(operands.begin() + (KeepsFirst(at) ? 2 : 1));
    return operands;
  }
  [[nodiscard]] bool IsMask(const PlacedValue& at) const {
    return at.inst->kind() == OpKind::Select && IsScores(at);
  }
  [[nodiscard]] bool KeepsFirst(const PlacedValue& mask) const {
    return IsScores(SourceOf({mask.inst->operand(1), mask.kernel}, scores_.are_scores));
  }

  Value Make(const PlacedValue& at, llvm::ArrayRef<PlacedValue> operands) {
    Value made{.at = at, .operands = {}, .varies = AllOf(at.inst->shape())};
    for (const PlacedValue& operand : operands) made.operands.push_back(numbers_.lookup(KeyOf(operand)));
    if (at == before_) {
      made.kind = Kind::Scores;
      made.varies.reset();
    } else if (IsRead(at)) {
      made.kind = Kind::Array;
    } else if (const Rule rule = RuleOf(at)) {
      (this->*rule)(made);
    }
    return made;
  }

  using Rule = void (BiasFinder::*)(Value& value);
  static const ByOpKind<Rule> kRules;
  [[nodiscard]] static Rule RuleOf(const PlacedValue& at) {
    if (const Rule rule = kRules[at.inst->kind()]) return rule;
    return at.inst->info().Is(kElementwise) && at.inst->callees().empty() ? &BiasFinder::Each : nullptr;
  }
  [[nodiscard]] const Value& OperandOf(const Value& value, size_t i = 0) const {
    return found_.values[value.operands[i]];
  }
  static const Shape& ShapeOf(const Value& value) { return value.at.inst->shape(); }

  void Number(Value& value) {
    if (SplatConstant(*value.at.inst) == nullptr || ShapeOf(value).rank() > 0) return;
    value.kind = Kind::Number;
  }
  void Numbers(Value& value) {
    value.kind = Kind::Iota;
    value.varies.reset();
    const auto dim = static_cast<unsigned>(value.at.inst->attr<IotaAttrs>().iota_dimension);
    value.varies[dim] = ShapeOf(value).dim(dim) > 1;
  }
  void Repeat(Value& value) {
    const Dims& places = value.at.inst->attr<DimensionsAttrs>().dimensions;
    if (!llvm::is_sorted(places)) return;
    value.kind = Kind::Repeated;
    value.varies.reset();
    for (size_t d = 0; d < places.size(); ++d)
      value.varies[static_cast<unsigned>(places[d])] = OperandOf(value).varies[static_cast<unsigned>(d)];
  }
  void Reshape(Value& value) {
    const Value& operand = OperandOf(value);
    const Shape& before = ShapeOf(operand);
    if (before.element_type() != ShapeOf(value).element_type()) return;
    if (operand.varies.none()) {
      value.kind = Kind::Same;
      value.varies.reset();
      return;
    }
    if (LongSizes(before) != LongSizes(ShapeOf(value))) return;
    value.kind = Kind::Same;
    unsigned from = 0;
    for (unsigned d = 0; d < value.varies.size(); ++d) {
      if (!value.varies[d]) continue;
      while (before.dim(from) == 1) ++from;
      value.varies[d] = operand.varies[from++];
    }
  }
  void Turn(Value& value) {
    value.kind = Kind::Turned;
    const Dims& permutation = value.at.inst->attr<DimensionsAttrs>().dimensions;
    for (size_t d = 0; d < permutation.size(); ++d)
      value.varies[static_cast<unsigned>(d)] = OperandOf(value).varies[static_cast<unsigned>(permutation[d])];
  }
  void Each(Value& value) {
    static constexpr ByOpKind<Kind> kOfScores({{OpKind::Convert, Kind::Kept},
                                               {OpKind::Add, Kind::Sum},
                                               {OpKind::Subtract, Kind::Less},
                                               {OpKind::Select, Kind::Masked}},
                                              Kind::Each);
    value.kind = IsScores(value.at) ? kOfScores[value.at.inst->kind()] : Kind::Each;
    if (value.kind == Kind::Masked && !KeepsFirst(value.at)) value.kind = Kind::LeftOut;
    value.varies.reset();
    for (const size_t operand : value.operands)
      if (found_.values[operand].varies.size() == value.varies.size())
        value.varies |= found_.values[operand].varies;
  }
  /// Before it was widened.
  [[nodiscard]] ElementType AddedBy(const Value& sum) const {
    const Instruction* added = nullptr;
    for (const Instruction* operand : sum.at.inst->operands())
      if (!IsScores(SourceOf({operand, sum.at.kernel}, scores_.are_scores))) added = operand;
    constexpr ByOpKind<bool> kSeen({{OpKind::Broadcast, true},
                                    {OpKind::Reshape, true},
                                    {OpKind::Convert, true},
                                    {OpKind::Transpose, true}});
    while (kSeen[added->kind()] && Info(added->shape().element_type()).type_class == TypeClass::Float) {
      if (added->shape().element_type() != ElementType::F32) break;
      added = added->operand(0);
    }
    return added->shape().element_type();
  }

  /// The narrowest that keeps what is added, and the number for scores that are left out.
  [[nodiscard]] ElementType TypeOf() const {
    const auto is = [](Kind kind) { return [kind](const Value& value) { return value.kind == kind; }; };
    const auto sums = llvm::count_if(found_.values, is(Kind::Sum));
    const bool masked =
        llvm::any_of(found_.values, is(Kind::Masked)) || llvm::any_of(found_.values, is(Kind::LeftOut));
    if (sums > 1 || llvm::any_of(found_.values, is(Kind::Less))) return ElementType::F32;
    const ElementType type = sums == 0 ? of_queries_ : AddedBy(*llvm::find_if(found_.values, is(Kind::Sum)));
    if (type == ElementType::BF16 || (type == ElementType::F16 && !masked)) return type;
    return ElementType::F32;
  }

  const BiasedScores& scores_;
  const PlacedValue before_;
  const ElementType of_queries_;
  AttentionBias found_;
  llvm::DenseMap<std::pair<const Instruction*, const Instruction*>, size_t> numbers_;
};

const ByOpKind<BiasFinder::Rule> BiasFinder::kRules({{OpKind::Constant, &BiasFinder::Number},
                                                     {OpKind::Iota, &BiasFinder::Numbers},
                                                     {OpKind::Broadcast, &BiasFinder::Repeat},
                                                     {OpKind::Reshape, &BiasFinder::Reshape},
                                                     {OpKind::Bitcast, &BiasFinder::Reshape},
                                                     {OpKind::Transpose, &BiasFinder::Turn}});

}  // namespace

PlacedValue SourceOf(PlacedValue value, llvm::function_ref<bool(const Instruction* inst)> are_scores) {
  while (true) {
    if (value.kernel != nullptr) {
      if (value.inst->kind() != OpKind::Parameter) return value;
      value = {value.kernel->operand(value.inst->attr<ParameterAttrs>().number), nullptr};
    }
    if (value.inst->kind() != OpKind::Fusion || !are_scores(value.inst)) return value;
    value = {value.inst->callee()->root(), value.inst};
  }
}

AttentionBias BiasOf(const BiasedScores& scores, ElementType of_queries) {
  return BiasFinder(scores, of_queries).Find();
}

}  // namespace hlo::gpu

// Policies for constants whose values were not printed.
#include "backends/memory_plan.h"
#include "llvm/Support/MathExtras.h"
#include "tools/arrays/fake_arguments.h"
#include "tools/arrays/parameter_walk.h"
#include "tools/modules/inputs.h"

namespace hlo {
namespace {

/// Sum of the bytes of all elided arrays, at most INT64_MAX.
int64_t ElidedBytes(const Literal& literal) {
  if (literal.shape().IsArray()) {
    const int64_t bytes = literal.HasElided() ? ByteSize(literal.shape()) : 0;
    return bytes < 0 ? INT64_MAX : bytes;
  }
  int64_t total = 0;
  for (const Literal& element : literal.elements())
    if (llvm::AddOverflow(total, ElidedBytes(element), total)) return INT64_MAX;
  return total;
}

/// The literal with the elided arrays made up, each by the rule of its leaf; `seed.leaf` counts them, `leaf`
/// all.
Literal Filled(const Literal& literal, llvm::ArrayRef<ValueRule> rules, size_t& leaf, ValueSeed& seed) {
  if (!literal.shape().IsTuple()) {
    const ValueRule& rule = rules[leaf++];
    if (!literal.HasElided()) return literal;
    Literal value = MakeValue(literal.shape(), rule, seed).Pack();
    ++seed.leaf;
    return value;
  }
  std::vector<Literal> elements;
  for (const Literal& element : literal.elements()) elements.push_back(Filled(element, rules, leaf, seed));
  return Literal::MakeTuple(std::move(elements));
}

/// An instruction with elided values, and what is known of them.
struct ElidedValue {
  Instruction* inst;
  Literal known;
};

std::vector<ElidedValue> FindElided(const Module& module) {
  std::vector<ElidedValue> found;
  for (const auto& computation : module.computations())
    for (Instruction* inst : computation->instructions()) {
      if (const auto* constant = inst->attrs().GetIf<ConstantAttrs>(); constant && !constant->literal) {
        found.push_back({inst, constant->partial ? *constant->partial : Literal::Elided(inst->shape())});
      } else if (const auto* call = inst->attrs().GetIf<CustomCallAttrs>()) {
        if (call->literal && call->literal->HasElided()) found.push_back({inst, *call->literal});
      }
    }
  return found;
}

void SetLiteral(Instruction& inst, Literal literal) {
  auto shared = std::make_shared<const Literal>(std::move(literal));
  if (inst.kind() == OpKind::Constant)
    inst.mutable_attrs().Mutable<ConstantAttrs>() = {.literal = std::move(shared), .partial = nullptr};
  else
    inst.mutable_attrs().Mutable<CustomCallAttrs>().literal = std::move(shared);
}

ValueRule RuleOf(ElidedPolicy policy) {
  ValueRule rule;
  rule.kind = policy == ElidedPolicy::Zeros  ? ValueKind::Zeros
              : policy == ElidedPolicy::Iota ? ValueKind::Iota
                                             : ValueKind::Random;
  return rule;
}

}  // namespace

Result<std::optional<Diagnostic>> FillElidedConstants(Module& module, ElidedPolicy policy,
                                                      llvm::StringRef file) {
  if (policy == ElidedPolicy::Keep) return std::nullopt;
  std::vector<ElidedValue> elided = FindElided(module);
  if (elided.empty()) return std::nullopt;
  if (policy == ElidedPolicy::Error) {
    const Instruction& first = *elided.front().inst;
    return Error("elided-constant", first.loc(), "the value of {0} '%{1}' was elided", first.info().text,
                 first.name());
  }
  int64_t bytes = 0;
  for (const ElidedValue& e : elided)
    if (llvm::AddOverflow(bytes, ElidedBytes(e.known), bytes)) bytes = INT64_MAX;
  if (Status status = CheckMemory(bytes, 0, "filling elided constants"); !status) {
    const auto largest = llvm::max_element(elided, [](const ElidedValue& x, const ElidedValue& y) {
      return ElidedBytes(x.known) < ElidedBytes(y.known);
    });
    Diagnostic error = std::move(status).error();
    error.Note(llvm::formatv("{0} of %{1} {2}", FormatBytes(ElidedBytes(largest->known)),
                             largest->inst->name(), ToString(largest->inst->shape(), /*with_layout=*/false))
                   .str());
    return Error(std::move(error));
  }
  // Indices stay within arrays, and weights as large as those that are arguments.
  OperandPositions positions;
  for (size_t i = 0; i < elided.size(); ++i) {
    Instruction& inst = *elided[i].inst;
    const ValueRule base = RuleOf(policy);
    const bool constant = inst.kind() == OpKind::Constant && policy == ElidedPolicy::Random;
    const auto rules =
        constant ? TraceConstraints(inst, base, positions)
                 : std::vector<ValueRule>(static_cast<size_t>(elided[i].known.shape().LeafCount()), base);
    ValueSeed seed{.seed = 0x656c6964, .parameter = static_cast<int64_t>(i)};
    size_t leaf = 0;
    SetLiteral(inst, Filled(elided[i].known, rules, leaf, seed));
  }
  llvm::StringRef word;
  for (const auto& row : kOptionWords<ElidedPolicy>)
    if (row.value == policy) word = row.text;
  Diagnostic warning = MakeError(
      "elided-constant", {},
      "{0} elided constant{1} ({2}) filled by policy '{3}'; results will not match the original program",
      elided.size(), elided.size() == 1 ? "" : "s", FormatBytes(bytes, /*decimal=*/true), word);
  warning.severity = Severity::Warning;
  warning.file = file.str();
  return warning;
}

}  // namespace hlo

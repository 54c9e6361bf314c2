// Policies for constants whose values were not printed.
#include <unistd.h>

#include "tools/fake_values.h"
#include "tools/inputs.h"

namespace hlo {
namespace {

int64_t TotalBytes(const Shape& shape) {
  int64_t total = 0;
  ForEachLeaf(shape, [&](const ShapeIndex&, const Shape& leaf) {
    if (!leaf.IsArray()) return;
    const int64_t bytes = ByteSize(leaf);
    total = bytes < 0 || total > INT64_MAX - bytes ? INT64_MAX : total + bytes;
  });
  return total;
}

ValueRule RuleOf(ElidedPolicy policy) {
  ValueRule rule;
  rule.kind = policy == ElidedPolicy::Zeros  ? ValueKind::Zeros
              : policy == ElidedPolicy::Iota ? ValueKind::Iota
                                             : ValueKind::Random;
  return rule;
}

}  // namespace

Status CheckMemory(int64_t bytes, int64_t limit, llvm::StringRef what) {
  const auto physical =
      static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<int64_t>(sysconf(_SC_PAGESIZE));
  const int64_t bound = limit > 0 ? std::min(limit, physical) : physical;
  if (bytes <= bound) return {};
  return Error("limit-memory", {}, "{0} would take {1}, the limit is {2}", what, FormatBytes(bytes),
               FormatBytes(bound));
}

Result<std::optional<Diagnostic>> FillElidedConstants(Module& module, ElidedPolicy policy,
                                                      llvm::StringRef file) {
  if (policy == ElidedPolicy::Keep) return std::nullopt;
  std::vector<Instruction*> elided;
  int64_t bytes = 0;
  for (const auto& computation : module.computations())
    for (Instruction* inst : computation->instructions()) {
      if (inst->kind() != OpKind::Constant || inst->attr<ConstantAttrs>().literal) continue;
      elided.push_back(inst);
      const int64_t size = TotalBytes(inst->shape());
      bytes = bytes > INT64_MAX - size ? INT64_MAX : bytes + size;
    }
  if (elided.empty()) return std::nullopt;
  if (policy == ElidedPolicy::Error)
    return Error("elided-constant", elided.front()->loc(), "the value of constant '%{0}' was elided",
                 elided.front()->name());
  HLO_CHECK_OK(CheckMemory(bytes, 0, "filling elided constants"));
  for (size_t i = 0; i < elided.size(); ++i) {
    Literal value = MakeValue(elided[i]->shape(), RuleOf(policy),
                              ValueSeed{.seed = 0x656c6964, .parameter = static_cast<int64_t>(i)});
    elided[i]->mutable_attrs().Mutable<ConstantAttrs>().literal =
        std::make_shared<const Literal>(value.Pack());
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

#include "backends/compile/kernel_config.h"

#include "ir/op.h"
#include "ir/support/json.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/fuse.h"

namespace hlo::compile {
namespace {

/// By KernelPath.
constexpr llvm::StringLiteral kPaths[] = {"loops", "chain", "side_by_side"};
// As SetKernelConfig() writes it.
constexpr llvm::StringLiteral kTexts[] = {R"({"kernel":{"path":"loops"}})", R"({"kernel":{"path":"chain"}})",
                                          R"({"kernel":{"path":"side_by_side"}})"};
constexpr llvm::StringLiteral kScheduled = R"({"kernel":{"path":"loops","schedule":")";

/// The configuration as text that SetKernelConfig() wrote; nothing for others.
std::optional<KernelConfig> FromOwnText(llvm::StringRef text) {
  for (size_t path = 0; path < std::size(kTexts); ++path)
    if (text == kTexts[path]) return KernelConfig{static_cast<KernelPath>(path)};
  if (!text.consume_front(kScheduled) || !text.consume_back("\"}}") || text.contains('"') ||
      text.contains('\\'))
    return {};
  return KernelConfig{KernelPath::Loops, text.str()};
}

std::string KindOf(const JsonValue& value) {
  if (value.AsString()) return ("'" + *value.AsString() + "'").str();
  return value.AsObject() != nullptr ? "an object" : value.AsArray() != nullptr ? "a list" : ToString(value);
}

KernelConfig FromJson(const JsonValue& kernel) {
  KernelConfig config;
  const JsonObject* members = kernel.AsObject();
  if (members == nullptr) {
    config.problem = "found " + KindOf(kernel) + ", expected an object with a path";
    return config;
  }
  bool has_path = false;
  for (const auto& [key, value, begin] : *members) {
    const std::optional<llvm::StringRef> word = value.AsString();
    if (key == "path") {
      has_path = true;
      const auto* at = word ? llvm::find(kPaths, *word) : std::end(kPaths);
      if (at == std::end(kPaths))
        config.problem =
            "found the path " + KindOf(value) + " of a kernel, expected loops, chain or side_by_side";
      else
        config.path = static_cast<KernelPath>(at - kPaths);
    } else if (key == "schedule") {
      if (word)
        config.schedule = word->str();
      else
        config.problem = "found the schedule " + KindOf(value) + " of a kernel, expected text";
    } else {
      config.problem = "found '" + key + "' of a kernel, expected path or schedule";
    }
    if (!config.problem.empty()) return config;
  }
  if (!has_path)
    config.problem = "a kernel has the path loops, chain or side_by_side, this one has none";
  else if (config.schedule && config.path == KernelPath::Chain)
    config.problem = "the schedule of a chain is that of the kernel in it";
  else if (config.schedule && config.path == KernelPath::SideBySide)
    config.problem = "kernels side by side have schedules of their own";
  return config;
}

}  // namespace

bool IsKernel(const Instruction& inst) { return KernelConfigOf(inst).has_value(); }

bool IsCompiled(const Module& module) {
  return module.config.is_scheduled && llvm::any_of(module.computations(), [](const auto& computation) {
           return llvm::any_of(computation->instructions(),
                               [](const Instruction* inst) { return IsKernel(*inst); });
         });
}

std::optional<KernelConfig> KernelConfigOf(const Instruction& inst) {
  if (inst.kind() != OpKind::Fusion || !inst.has_extras()) return {};
  const llvm::StringRef text = inst.extras().backend_config;
  if (!text.contains("\"kernel\"")) return {};
  if (auto config = FromOwnText(text)) return config;
  const auto json = ParseJson(text);
  const JsonValue* kernel = json ? json->Find("kernel") : nullptr;
  if (kernel == nullptr) return {};
  return FromJson(*kernel);
}

void SetKernelConfig(Instruction* fusion, const KernelConfig& config) {
  const std::string text = config.schedule ? kScheduled.str() + *config.schedule + "\"}}"
                                           : kTexts[static_cast<size_t>(config.path)].str();
  fusion->MutableExtras().backend_config = fusion->module()->Save(text);
}

void ForgetSchedule(Instruction* fusion) {
  if (const auto config = KernelConfigOf(*fusion); config && config->schedule)
    SetKernelConfig(fusion, {config->path});
}

Instruction* WrapInKernel(Instruction* inst) {
  Instruction* fusion = WrapInFusion(inst, FusionKind::Loop);
  SetKernelConfig(fusion, {KernelPath::Loops});
  return fusion;
}

void SinkConstants(Instruction* fusion) {
  llvm::SmallVector<Instruction*, 4> constants;
  for (Instruction* operand : fusion->operands())
    if (operand->kind() == OpKind::Constant && operand->shape().IsArray() &&
        operand->shape().ElementCount() == 1 && operand->attr<ConstantAttrs>().literal)
      constants.push_back(operand);
  if (constants.empty()) return;
  GrowingFusion growing(fusion);
  for (Instruction* constant : constants) {
    growing.Fuse(constant);
    RemoveIfDead(constant);
  }
}

bool FoldsInOrder(const Instruction& inst) {
  return inst.has_extras() && inst.extras().backend_config == kernel::kInOrder;
}

}  // namespace hlo::compile

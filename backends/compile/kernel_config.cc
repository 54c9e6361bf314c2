#include "backends/compile/kernel_config.h"

#include "ir/op.h"
#include "ir/support/json.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/fuse.h"

namespace hlo::compile {
namespace {

/// By KernelPath.
constexpr llvm::StringLiteral kPaths[] = {"loops", "chain"};

/// As SetKernelConfig() writes it.
llvm::StringRef TextOf(KernelPath path) {
  static const std::vector<std::string> texts = [] {
    std::vector<std::string> all;
    for (const llvm::StringRef word : kPaths) {
      llvm::raw_string_ostream os(all.emplace_back());
      JsonWriter json(os);
      json.Object([&] { json.Object("kernel", [&] { json.Member("path", word); }); });
    }
    return all;
  }();
  return texts[static_cast<size_t>(path)];
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
  for (const KernelPath path : {KernelPath::Loops, KernelPath::Chain})
    if (text == TextOf(path)) return KernelConfig{path, kPaths[static_cast<size_t>(path)].str()};
  if (!text.contains("\"kernel\"")) return {};
  const auto json = ParseJson(text);
  const JsonValue* kernel = json ? json->Object("kernel") : nullptr;
  if (kernel == nullptr) return {};
  KernelConfig config;
  config.word = kernel->String("path").value_or("").str();
  const auto* at = llvm::find(kPaths, config.word);
  if (at != std::end(kPaths)) config.path = static_cast<KernelPath>(at - kPaths);
  return config;
}

void SetKernelConfig(Instruction* fusion, const KernelConfig& config) {
  fusion->MutableExtras().backend_config = fusion->module()->Save(TextOf(*config.path));
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
  for (Instruction* constant : constants) {
    FuseProducer(fusion, constant);
    RemoveIfDead(constant);
  }
}

bool FoldsInOrder(const Instruction& inst) {
  return inst.has_extras() && inst.extras().backend_config == kernel::kInOrder;
}

}  // namespace hlo::compile

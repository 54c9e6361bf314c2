#include "passes/buffer_alias.h"

#include <map>

#include "passes/analysis/live_range.h"

namespace hlo {
namespace {

constexpr PassOptionRow kRows[] = {
    PassOption<&BufferAliasOptions::registered_buffer_donor_only>(
        "registered_buffer_donor_only", "only parameters listed as buffer_donor give their buffers"),
};

int64_t MemorySpace(const Shape& array) { return array.has_layout() ? array.layout().memory_space : 0; }

bool IsAliasedOutput(const ModuleConfig& config, const ShapeIndex& output) {
  return llvm::any_of(config.input_output_alias,
                      [&](const InputOutputAlias& a) { return a.output == output; });
}
bool IsAliasedInput(const ModuleConfig& config, int64_t parameter, const ShapeIndex& index) {
  return llvm::any_of(config.input_output_alias, [&](const InputOutputAlias& a) {
    return a.parameter == parameter && a.parameter_index == index;
  });
}

/// Keeps the list sorted by output.
void AddAlias(ModuleConfig& config, const ShapeIndex& output, int64_t parameter, const ShapeIndex& index) {
  const InputOutputAlias alias{output, parameter, index, false};
  auto& list = config.input_output_alias;
  const auto at = llvm::find_if(list, [&](const InputOutputAlias& a) { return output < a.output; });
  list.insert(at, alias);
}

/// Buffers that can be given away, by size and memory space, in order.
using Donors = std::map<std::pair<int64_t, int64_t>, std::vector<BufferDonor>>;

Donors FindDonors(const Module& module, bool registered_only) {
  Donors donors;
  for (const Instruction* parameter : module.entry()->parameters()) {
    const int64_t number = parameter->attr<ParameterAttrs>().number;
    ForEachLeaf(parameter->shape(), [&](const ShapeIndex& index, const Shape& leaf) {
      const BufferDonor donor{number, index};
      if (!leaf.IsArray() || IsAliasedInput(module.config, number, index)) return;
      if (registered_only && !llvm::is_contained(module.config.buffer_donors, donor)) return;
      donors[{BufferBytes(leaf), MemorySpace(leaf)}].push_back(donor);
    });
  }
  return donors;
}

}  // namespace

llvm::ArrayRef<PassOptionRow> BufferAliasOptions::Rows() { return kRows; }

Result<bool> RunOptimizeBufferAlias(Module& module, const BufferAliasOptions& options, PassContext& context) {
  if (!module.entry()) return false;
  Donors donors = FindDonors(module, options.registered_buffer_donor_only);
  struct Output {
    ShapeIndex index;
    std::pair<int64_t, int64_t> key;
  };
  std::vector<Output> outputs;
  ForEachLeaf(module.entry()->root()->shape(), [&](const ShapeIndex& index, const Shape& leaf) {
    if (leaf.IsArray() && !IsAliasedOutput(module.config, index))
      outputs.push_back({index, {BufferBytes(leaf), MemorySpace(leaf)}});
  });
  llvm::sort(outputs, [](const Output& a, const Output& b) {
    return a.key.first != b.key.first ? a.key.first > b.key.first : a.index < b.index;
  });
  bool changed = false;
  for (const Output& output : outputs) {
    const auto it = donors.find(output.key);
    if (it == donors.end() || it->second.empty() || output.key.first <= 0 || !context.TakeRewrite()) continue;
    const BufferDonor donor = it->second.front();
    it->second.erase(it->second.begin());
    AddAlias(module.config, output.index, donor.parameter, donor.index);
    llvm::erase(module.config.buffer_donors, donor);
    changed = true;
  }
  return changed;
}

Result<bool> RunAliasPassthroughParams(Module& module, const NoPassOptions& options, PassContext& context) {
  (void)options;
  if (!module.entry()) return false;
  const Instruction* root = module.entry()->root();
  bool changed = false;
  const auto alias = [&](const ShapeIndex& output, const Instruction* value) {
    if (value->kind() != OpKind::Parameter || !value->shape().IsArray()) return;
    const int64_t number = value->attr<ParameterAttrs>().number;
    if (IsAliasedOutput(module.config, output) || IsAliasedInput(module.config, number, {})) return;
    if (!context.TakeRewrite()) return;
    AddAlias(module.config, output, number, {});
    llvm::erase(module.config.buffer_donors, BufferDonor{number, {}});
    changed = true;
  };
  if (root->kind() == OpKind::Tuple)
    for (int64_t i = 0; i < root->operand_count(); ++i) alias({i}, root->operand(i));
  else
    alias({}, root);
  return changed;
}

HLO_DEFINE_PASS(OptimizeBufferAlias, BufferAliasOptions);
HLO_DEFINE_PASS(AliasPassthroughParams, NoPassOptions);

}  // namespace hlo

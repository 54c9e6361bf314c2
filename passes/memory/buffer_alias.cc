// optimize_input_output_buffer_alias, alias_passthrough_params: which results take the buffers of parameters.
//
// Require nothing. Preserve everything but copies: new aliases may need some, so copy-insertion comes after.
// Change the module's input_output_alias only:
//  - optimize_input_output_buffer_alias gives each donated parameter buffer (buffer_donor) to a result of the
//    same size and memory space that has none, biggest first; it is no longer listed as donor then. With
//    registered_buffer_donor_only=false every parameter counts as donated.
//  - alias_passthrough_params aliases each result that is a parameter to that parameter, once per parameter.
// All aliases made are may-alias. Entries that stand already are left alone.
#include <deque>
#include <map>
#include <set>

#include "passes/analysis/live_range.h"
#include "passes/pass.h"

namespace hlo {
namespace {

struct BufferAliasOptions {
  bool registered_buffer_donor_only = true;
  static llvm::ArrayRef<PassOptionRow> Rows();
};

constexpr PassOptionRow kRows[] = {
    PassOption<&BufferAliasOptions::registered_buffer_donor_only>(
        "registered_buffer_donor_only", "only parameters listed as buffer_donor give their buffers"),
};

int64_t MemorySpace(const Shape& array) { return array.has_layout() ? array.layout().memory_space : 0; }

/// The aliases of a module while they are extended.
class Aliases {
 public:
  explicit Aliases(ModuleConfig& config) : config_(config) {
    for (const InputOutputAlias& a : config.input_output_alias) {
      outputs_.insert(a.output);
      inputs_.insert({a.parameter, a.parameter_index});
    }
  }

  [[nodiscard]] bool HasOutput(const ShapeIndex& output) const { return outputs_.contains(output); }
  [[nodiscard]] bool HasInput(const BufferDonor& input) const {
    return inputs_.contains({input.parameter, input.index});
  }

  /// The result takes the buffer, which is given away no more.
  void Add(const ShapeIndex& output, const BufferDonor& input) {
    outputs_.insert(output);
    inputs_.insert({input.parameter, input.index});
    added_.push_back({output, input.parameter, input.index, false});
  }

  /// Puts what was added into the module, whose list is sorted by output.
  bool Finish() {
    if (added_.empty()) return false;
    llvm::erase_if(config_.buffer_donors, [&](const BufferDonor& donor) { return HasInput(donor); });
    auto& list = config_.input_output_alias;
    list.insert(list.end(), added_.begin(), added_.end());
    llvm::sort(list,
               [](const InputOutputAlias& a, const InputOutputAlias& b) { return a.output < b.output; });
    return true;
  }

 private:
  ModuleConfig& config_;
  std::set<ShapeIndex> outputs_;
  std::set<std::pair<int64_t, ShapeIndex>> inputs_;
  std::vector<InputOutputAlias> added_;
};

/// Buffers that can be given away, by size and memory space, in order.
using Donors = std::map<std::pair<int64_t, int64_t>, std::deque<BufferDonor>>;

Donors FindDonors(const Module& module, const Aliases& aliases, bool registered_only) {
  Donors donors;
  std::set<std::pair<int64_t, ShapeIndex>> registered;
  for (const BufferDonor& donor : module.config.buffer_donors)
    registered.insert({donor.parameter, donor.index});
  for (const Instruction* parameter : module.entry()->parameters()) {
    const int64_t number = parameter->attr<ParameterAttrs>().number;
    ForEachLeaf(parameter->shape(), [&](const ShapeIndex& index, const Shape& leaf) {
      const BufferDonor donor{number, index};
      if (!leaf.IsArray() || aliases.HasInput(donor)) return;
      if (registered_only && !registered.contains({number, index})) return;
      donors[{BufferBytes(leaf), MemorySpace(leaf)}].push_back(donor);
    });
  }
  return donors;
}

llvm::ArrayRef<PassOptionRow> BufferAliasOptions::Rows() { return kRows; }

Result<bool> RunOptimizeBufferAlias(Module& module, const BufferAliasOptions& options, PassContext& context) {
  if (!module.entry()) return false;
  Aliases aliases(module.config);
  Donors donors = FindDonors(module, aliases, options.registered_buffer_donor_only);
  struct Output {
    ShapeIndex index;
    std::pair<int64_t, int64_t> key;
  };
  std::vector<Output> outputs;
  ForEachLeaf(module.entry()->root()->shape(), [&](const ShapeIndex& index, const Shape& leaf) {
    if (leaf.IsArray() && !aliases.HasOutput(index))
      outputs.push_back({index, {BufferBytes(leaf), MemorySpace(leaf)}});
  });
  llvm::sort(outputs, [](const Output& a, const Output& b) {
    return a.key.first != b.key.first ? a.key.first > b.key.first : a.index < b.index;
  });
  for (const Output& output : outputs) {
    const auto it = donors.find(output.key);
    if (it == donors.end() || it->second.empty() || output.key.first <= 0 || !context.TakeRewrite()) continue;
    aliases.Add(output.index, it->second.front());
    it->second.pop_front();
  }
  return aliases.Finish();
}

Result<bool> RunAliasPassthroughParams(Module& module, const NoPassOptions& options, PassContext& context) {
  (void)options;
  if (!module.entry()) return false;
  const Instruction* root = module.entry()->root();
  Aliases aliases(module.config);
  const auto alias = [&](const ShapeIndex& output, const Instruction* value) {
    if (value->kind() != OpKind::Parameter || !value->shape().IsArray()) return;
    const BufferDonor input{value->attr<ParameterAttrs>().number, {}};
    if (aliases.HasOutput(output) || aliases.HasInput(input) || !context.TakeRewrite()) return;
    aliases.Add(output, input);
  };
  if (root->kind() == OpKind::Tuple)
    for (int64_t i = 0; i < root->operand_count(); ++i) alias({i}, root->operand(i));
  else
    alias({}, root);
  return aliases.Finish();
}

}  // namespace

HLO_DEFINE_PASS(OptimizeBufferAlias, BufferAliasOptions);
HLO_DEFINE_PASS(AliasPassthroughParams, NoPassOptions);

}  // namespace hlo

#include "tools/diff/sides.h"

#include "tools/modules/inputs.h"

namespace hlo {
namespace {

using Modules = std::vector<std::unique_ptr<Module>>;

struct SideInput {
  std::string file;
  InputFormat format = InputFormat::Auto;
};

struct XlaInput {
  std::string HloDiffOptions::*first, HloDiffOptions::*second;
  InputFormat format;
};
constexpr XlaInput kXlaInputs[] = {
    {&HloDiffOptions::first_hlo_text, &HloDiffOptions::second_hlo_text, InputFormat::Hlo},
    {&HloDiffOptions::first_hlo_proto, &HloDiffOptions::second_hlo_proto, InputFormat::Pb},
    {&HloDiffOptions::first_hlo_module_proto, &HloDiffOptions::second_hlo_module_proto, InputFormat::Pb},
    {&HloDiffOptions::first_hlo_snapshot, &HloDiffOptions::second_hlo_snapshot, InputFormat::Snapshot},
};

/// All modules of a file; nothing after errors, which have been reported.
Result<std::optional<Modules>> ReadModules(const HloDiffOptions& options, const SideInput& input,
                                           llvm::StringRef stdin_text, DiagnosticSink& sink) {
  HloDiffOptions reading = options;
  if (input.format != InputFormat::Auto) reading.input_format = input.format;
  InputReader reader(reading, {input.file}, stdin_text, sink);
  Modules modules;
  while (auto module = reader.Next()) {
    if (!module->module) return std::nullopt;
    modules.push_back(std::move(module->module));
  }
  if (modules.empty()) return Error("input-empty", {}, "'{0}': no HLO module in input", input.file);
  return modules;
}

std::vector<DiffModulePair> PairModules(Modules left, Modules right) {
  std::vector<DiffModulePair> pairs;
  const auto pair = [&](std::unique_ptr<Module>& l, std::unique_ptr<Module>& r) {
    pairs.push_back({std::move(l), std::move(r)});
  };
  if (left.size() == 1 && right.size() == 1) {
    pair(left[0], right[0]);
    return pairs;
  }
  for (auto& l : left)
    for (auto& r : right)
      if (l && r && l->name() == r->name()) {
        pair(l, r);
        break;
      }
  std::erase(left, nullptr);
  std::erase(right, nullptr);
  if (left.size() == right.size()) {
    for (size_t i = 0; i < left.size(); ++i) pair(left[i], right[i]);
    return pairs;
  }
  for (auto& l : left) {
    auto none = std::make_unique<Module>(l->name());
    pairs.push_back({std::move(l), std::move(none), /*only_left=*/true, /*only_right=*/false});
  }
  for (auto& r : right) {
    auto none = std::make_unique<Module>(r->name());
    pairs.push_back({std::move(none), std::move(r), /*only_left=*/false, /*only_right=*/true});
  }
  return pairs;
}

/// OLD and NEW as the options of XLA's tool name them, then the arguments.
Result<std::vector<SideInput>> FindInputs(const HloDiffOptions& options, llvm::ArrayRef<std::string> files) {
  std::vector<SideInput> first, second, inputs;
  for (const XlaInput& row : kXlaInputs) {
    if (!(options.*row.first).empty()) first.push_back({options.*row.first, row.format});
    if (!(options.*row.second).empty()) second.push_back({options.*row.second, row.format});
  }
  if (first.size() > 1 || second.size() > 1)
    return Error("usage-option", {}, "found several inputs for one side, expected one");
  inputs.insert(inputs.end(), first.begin(), first.end());
  for (const std::string& file : files) inputs.push_back({file});
  inputs.insert(inputs.end(), second.begin(), second.end());
  if (inputs.empty() || inputs.size() > 2)
    return Error("usage-option", {}, "found {0} inputs, expected two: OLD NEW", inputs.size());
  if (inputs.size() == 2 && inputs[0].file == "-" && inputs[1].file == "-")
    return Error("usage-option", {}, "standard input cannot be both sides; one input with two modules can");
  return inputs;
}

}  // namespace

Result<std::optional<DiffSides>> ReadSides(const HloDiffOptions& options, llvm::ArrayRef<std::string> files,
                                           llvm::StringRef stdin_text, DiagnosticSink& sink) {
  HLO_TRY(const std::vector<SideInput> inputs, FindInputs(options, files));
  HLO_TRY(std::optional<Modules> left, ReadModules(options, inputs.front(), stdin_text, sink));
  if (!left) return std::nullopt;
  std::optional<Modules> right;
  if (inputs.size() == 2) {
    HLO_TRY(right, ReadModules(options, inputs.back(), stdin_text, sink));
    if (!right) return std::nullopt;
  } else {
    if (left->size() != 2)
      return Error("usage-option", {},
                   "found one input with {0} module{1}, expected two inputs, or one with two modules",
                   left->size(), left->size() == 1 ? "" : "s");
    right.emplace();
    right->push_back(std::move(left->back()));
    left->pop_back();
  }
  DiffSides sides;
  const auto shown = [](const std::string& file) { return file == "-" ? "<stdin>" : file; };
  sides.left_file = shown(inputs.front().file);
  sides.right_file = shown(inputs.back().file);
  for (const SideInput& input : inputs) sides.inputs.push_back(input.file);
  sides.pairs = PairModules(std::move(*left), std::move(*right));
  return sides;
}

}  // namespace hlo

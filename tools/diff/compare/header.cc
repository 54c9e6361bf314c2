// What differs between the headers of two modules.
#include "ir/print.h"
#include "llvm/ADT/MapVector.h"
#include "tools/diff/compare/entries.h"
#include "tools/diff/compare/properties.h"

namespace hlo {
namespace {

struct IgnoredAttribute {
  llvm::StringRef name;
  DiffProperty property;
};
constexpr IgnoredAttribute kIgnored[] = {{"is_scheduled", DiffProperty::Schedule},
                                         {"frontend_attributes", DiffProperty::FrontendAttributes},
                                         {"origin_recovery_table", DiffProperty::Metadata},
                                         {"debug_attributes", DiffProperty::Metadata}};

void CompareEntryLayouts(const EntryLayout& a, const EntryLayout& b, const DiffOptions& options,
                         std::vector<PropertyChange>& changes) {
  const bool layout = !options.Ignores(DiffProperty::Layout);
  const auto compare = [&](std::string path, const Shape* x, const Shape* y) {
    if (x && y && SameShapes(*x, *y, options)) return;
    changes.push_back({std::move(path), x ? ToString(*x, layout) : "", y ? ToString(*y, layout) : "", ""});
  };
  for (size_t i = 0; i < std::max(a.parameters.size(), b.parameters.size()); ++i)
    compare("entry_computation_layout, parameter " + std::to_string(i),
            i < a.parameters.size() ? &a.parameters[i] : nullptr,
            i < b.parameters.size() ? &b.parameters[i] : nullptr);
  compare("entry_computation_layout, result", &a.result, &b.result);
}

}  // namespace

std::vector<PropertyChange> CompareHeaders(const DiffMatching& m) {
  const Module &left = m.left.module(), &right = m.right.module();
  const DiffOptions& options = m.options;
  std::vector<PropertyChange> changes;
  if (!options.Ignores(DiffProperty::Names) && left.name() != right.name())
    changes.push_back({"name", left.name().str(), right.name().str(), ""});
  llvm::MapVector<llvm::StringRef, std::pair<std::string, std::string>> attributes;
  for (auto& [name, text] : ModuleAttributeTexts(left)) attributes[name].first = std::move(text);
  for (auto& [name, text] : ModuleAttributeTexts(right)) attributes[name].second = std::move(text);
  for (auto& [name, texts] : attributes) {
    const bool ignored = llvm::any_of(kIgnored, [&, word = name](const IgnoredAttribute& row) {
      return row.name == word && options.Ignores(row.property);
    });
    if (ignored || texts.first == texts.second) continue;
    if (name == "entry_computation_layout" && left.config.entry_layout && right.config.entry_layout)
      CompareEntryLayouts(*left.config.entry_layout, *right.config.entry_layout, options, changes);
    else
      changes.push_back({name.str(), std::move(texts.first), std::move(texts.second), ""});
  }
  if (left.config.unknown_attributes != right.config.unknown_attributes)
    changes.push_back(
        {"unknown attributes", left.config.unknown_attributes, right.config.unknown_attributes, ""});
  for (DiffId cr = 0; cr < m.right.computation_count(); ++cr) {
    const DiffId cl = m.ComputationToLeft(cr);
    if (cl == kNoDiffId) continue;
    const Computation &a = m.left.computation(cl), &b = m.right.computation(cr);
    if (a.execution_thread() != b.execution_thread())
      changes.push_back({"execution_thread of %" + b.name().str(), a.execution_thread().str(),
                         b.execution_thread().str(), ""});
  }
  return changes;
}

}  // namespace hlo

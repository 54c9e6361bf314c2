#include "tools/common/option_relations.h"

namespace hlo {
namespace {

using llvm::StringRef;

/// Names in a message; more of them help nobody.
constexpr size_t kNamed = 4;

/// NAME or NAME=VALUE.
struct Term {
  StringRef name, value;
  bool any_value;
};

std::vector<Term> Terms(StringRef list) {
  std::vector<Term> terms;
  for (const StringRef text : llvm::split(list, '|')) {
    const auto [name, value] = text.split('=');
    terms.push_back({name, value, name.size() == text.size()});
  }
  return terms;
}

class Relations {
 public:
  Relations(llvm::ArrayRef<OptionGroup> groups, llvm::ArrayRef<GivenOption> given)
      : groups_(groups), given_(given) {}

  Status CheckNeed(const OptionRelation& relation) const {
    const GivenOption* use = FirstOf(relation.options, /*written=*/true);
    if (use == nullptr || FirstOf(relation.others, /*written=*/false) != nullptr ||
        IsDefault(relation.others))
      return {};
    std::string names;
    StringRef last;
    size_t count = 0;
    for (const Term& term : Terms(relation.others)) {
      // Further values of an option are synonyms of its first.
      if (term.name == std::exchange(last, term.name) || ++count > kNamed) continue;
      if (count > 1) names += " or ";
      names += (term.name.size() == 1 ? "-" : "--") + term.name.str();
      if (!term.any_value) names += "=" + term.value.str();
    }
    return Error("usage-option", {}, "option '{0}' needs {1}", use->written.split('=').first, names);
  }

  Status CheckExclusion(const OptionRelation& relation) const {
    const GivenOption* use = FirstOf(relation.options, /*written=*/true);
    const GivenOption* other = FirstOf(relation.others, /*written=*/true);
    if (use == nullptr || other == nullptr) return {};
    return Error("usage-option", {}, "options '{0}' and '{1}' exclude each other",
                 Shown(relation.options, *use), Shown(relation.others, *other));
  }

 private:
  /// The last use counts; a flag that is switched off is none.
  [[nodiscard]] const GivenOption* LastUse(StringRef name) const {
    const GivenOption* last = nullptr;
    for (const GivenOption& use : given_)
      if (use.row->name == name) last = &use;
    const bool off = last != nullptr && last->row->arity == OptionArity::Flag && last->value == "off";
    return off ? nullptr : last;
  }

  /// The first option of a list that is given; `written`: on the command line, and not as a flag of XLA's.
  [[nodiscard]] const GivenOption* FirstOf(StringRef list, bool written) const {
    for (const Term& term : Terms(list)) {
      const GivenOption* use = LastUse(term.name);
      if (use == nullptr || (!term.any_value && !use->value.equals_insensitive(term.value))) continue;
      if (!written || (use->of_command_line && !use->written.starts_with("--xla"))) return use;
    }
    return nullptr;
  }

  /// One of a list holds because its option is not given.
  [[nodiscard]] bool IsDefault(StringRef list) const {
    return llvm::any_of(Terms(list), [&](const Term& term) {
      if (term.any_value || LastUse(term.name) != nullptr) return false;
      for (const OptionGroup& group : groups_)
        for (const OptionRow& row : group.rows)
          if (row.name == term.name) return row.default_text == term.value;
      return false;
    });
  }

  /// An option as the message names it, with its value where that is what matters.
  static std::string Shown(StringRef list, const GivenOption& use) {
    for (const Term& term : Terms(list))
      if (term.name == use.row->name && !term.any_value) return (use.written + "=" + use.value).str();
    return use.written.str();
  }

  llvm::ArrayRef<OptionGroup> groups_;
  llvm::ArrayRef<GivenOption> given_;
};

}  // namespace

Status CheckOptionRelations(const ToolInfo& tool, llvm::ArrayRef<OptionGroup> groups,
                            llvm::ArrayRef<GivenOption> given) {
  const Relations relations(groups, given);
  for (const OptionRelation& relation : tool.needs) HLO_CHECK_OK(relations.CheckNeed(relation));
  for (const OptionRelation& relation : tool.excludes) HLO_CHECK_OK(relations.CheckExclusion(relation));
  return {};
}

}  // namespace hlo

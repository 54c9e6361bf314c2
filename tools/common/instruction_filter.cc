#include "tools/common/instruction_filter.h"

#include "ir/computation.h"
#include "ir/source_frames.h"

namespace hlo {
namespace {

struct FilterKey {
  llvm::StringLiteral word;
  bool whole;  // the expression must match all of the text
  std::string (*text)(const Instruction& instruction);
};

std::string OpNameOf(const Instruction& inst) {
  return inst.metadata() ? inst.metadata()->op_name.str() : "";
}
constexpr FilterKey kKeys[] = {
    {"opcode", true, [](const Instruction& i) { return i.info().text.str(); }},
    {"name", false, [](const Instruction& i) { return i.name().str(); }},
    {"shape", false, [](const Instruction& i) { return ToString(i.shape()); }},
    {"computation", false, [](const Instruction& i) { return i.parent()->name().str(); }},
    {"op_name", false, &OpNameOf},
    {"source", false, &SourceText},
};

/// The key that a term begins with; null if it begins with none.
const FilterKey* KeyOf(llvm::StringRef term) {
  const auto [word, rest] = term.split('=');
  if (word.size() == term.size()) return nullptr;
  for (const FilterKey& key : kKeys)
    if (key.word == word.trim()) return &key;
  return nullptr;
}

}  // namespace

Result<InstructionFilter> InstructionFilter::Parse(llvm::StringRef expression, llvm::StringRef option) {
  InstructionFilter filter;
  filter.text_ = expression.str();
  expression.consume_front("%");
  const auto add = [&](const FilterKey& key, llvm::StringRef pattern) -> Status {
    const std::string whole = ("^(?:" + pattern + ")$").str();
    Regex regex;
    HLO_CHECK_OK(ParseOption({option, key.whole ? llvm::StringRef(whole) : pattern}, regex));
    filter.terms_.push_back({key.text, std::move(regex)});
    return {};
  };
  if (expression.empty()) return filter;
  if (!KeyOf(expression)) {
    const auto [word, rest] = expression.split('=');
    llvm::SmallVector<llvm::StringRef> words;
    for (const FilterKey& key : kKeys) words.push_back(key.word);
    if (!rest.empty() && llvm::all_of(word, [](char c) { return llvm::isAlpha(c) || c == '_'; })) {
      const std::string hint = DidYouMeanText(word, words);
      return Error("usage-option", {}, "option '{0}': unknown key '{1}', expected {2}{3}{4}", option, word,
                   llvm::join(words, ", "), hint.empty() ? "" : "; ", hint);
    }
    const FilterKey& key = kKeys[ParseOpKind(expression) ? 0 : 1];
    HLO_CHECK_OK(add(key, expression));
    return filter;
  }
  while (!expression.empty()) {
    const FilterKey* key = KeyOf(expression);
    llvm::StringRef pattern = expression.drop_front(expression.find('=') + 1);
    // Commas of the expression itself end nothing: only what is followed by a key does.
    size_t end = pattern.find(',');
    while (end != llvm::StringRef::npos && !KeyOf(pattern.drop_front(end + 1)))
      end = pattern.find(',', end + 1);
    HLO_CHECK_OK(add(*key, pattern.take_front(end)));
    expression = end == llvm::StringRef::npos ? llvm::StringRef() : pattern.drop_front(end + 1);
  }
  return filter;
}

bool InstructionFilter::Matches(const Instruction& instruction) const {
  return llvm::all_of(terms_, [&](const Term& term) { return term.regex.Matches(term.text(instruction)); });
}

}  // namespace hlo

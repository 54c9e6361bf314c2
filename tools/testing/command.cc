#include "tools/testing/command.h"

#include "llvm/ADT/StringExtras.h"

namespace hlo::testing {
namespace {

struct Token {
  std::string text;
  bool is_operator = false;
};

tl::unexpected<Diagnostic> Malformed(const char* what) { return Decline({}, "RUN line: {0}", what); }

/// Appends the character of `rest` that follows, a substitution or an escaped one; quote is 0 outside quotes.
void TakeCharacter(llvm::StringRef& rest, char quote, const llvm::StringMap<std::string>& substitutions,
                   std::string& word) {
  if (rest.front() == '\\' && quote != '\'' && rest.size() > 1) {
    word += rest[1];
    rest = rest.drop_front(2);
    return;
  }
  if (rest.starts_with("%%")) {
    word += '%';
    rest = rest.drop_front(2);
    return;
  }
  if (rest.front() == '%')
    for (const auto& entry : substitutions)
      if (rest.drop_front().starts_with(entry.getKey())) {
        word += entry.getValue();
        rest = rest.drop_front(1 + entry.getKey().size());
        return;
      }
  word += rest.front();
  rest = rest.drop_front();
}

Result<std::vector<Token>> Tokenize(llvm::StringRef rest, const llvm::StringMap<std::string>& substitutions) {
  std::vector<Token> tokens;
  for (rest = rest.ltrim(); !rest.empty(); rest = rest.ltrim()) {
    if (rest.consume_front("2>&1")) {
      tokens.push_back({"2>&1", true});
      continue;
    }
    if (llvm::is_contained({'|', '<', '>'}, rest.front())) {
      tokens.push_back({rest.take_front().str(), true});
      rest = rest.drop_front();
      continue;
    }
    std::string word;
    char quote = 0;
    while (!rest.empty()) {
      const char c = rest.front();
      if (quote == 0 && (c == ' ' || c == '\t' || c == '|' || c == '<' || c == '>')) break;
      if (c == quote || (quote == 0 && (c == '\'' || c == '"'))) {
        quote = quote == 0 ? c : '\0';
        rest = rest.drop_front();
        continue;
      }
      TakeCharacter(rest, quote, substitutions, word);
    }
    if (quote != 0) return Malformed("unclosed quote");
    tokens.push_back({std::move(word), false});
  }
  return tokens;
}

}  // namespace

Result<std::vector<Stage>> ParseCommand(llvm::StringRef command,
                                        const llvm::StringMap<std::string>& substitutions) {
  HLO_TRY(const std::vector<Token> tokens, Tokenize(command, substitutions));
  std::vector<Stage> stages(1);
  for (size_t i = 0; i < tokens.size(); ++i) {
    const Token& token = tokens[i];
    Stage& stage = stages.back();
    if (!token.is_operator) {
      if (token.text == "not" && stage.words.empty() && !stage.negated)
        stage.negated = true;
      else
        stage.words.push_back(token.text);
    } else if (token.text == "|") {
      stages.emplace_back();
    } else if (token.text == "2>&1") {
      stage.merge_stderr = true;
    } else {
      if (i + 1 == tokens.size() || tokens[i + 1].is_operator) return Malformed("a redirection needs a file");
      (token.text == "<" ? stage.stdin_path : stage.stdout_path) = tokens[++i].text;
    }
  }
  for (const Stage& stage : stages)
    if (stage.words.empty()) return Malformed("a program is missing");
  return stages;
}

}  // namespace hlo::testing

// Reading command lines: CLI11 takes them apart, the option tables say what the parts mean.
#include <CLI/CLI.hpp>
#include <map>

#include "llvm/ADT/StringSet.h"
#include "tools/common/option_relations.h"
#include "tools/common/options.h"

namespace hlo {
namespace {

enum class Source : uint8_t { Config, XlaFlags, CommandLine };

/// An option found in one of the sources, not applied yet.
struct Assignment {
  const OptionRow* row;
  void* object;
  std::string option, value;
  Source source;
};

/// What a spelled name stands for.
struct Target {
  const OptionRow* row = nullptr;
  void* object = nullptr;
  const OptionAlias* alias = nullptr;
  bool negated = false;
  /// Its value is the word that follows, unless one is attached.
  [[nodiscard]] bool TakesWord() const {
    return row != nullptr && row->arity == OptionArity::Value && (alias == nullptr || alias->value.empty());
  }
};

std::string Normalize(llvm::StringRef name) {
  std::string text = name.str();
  std::replace(text.begin(), text.end(), '_', '-');
  return text;
}

/// The options of a tool by name.
class Names {
 public:
  Names(const ToolInfo& tool, llvm::ArrayRef<OptionGroup> groups) : tool_(tool), groups_(groups) {}

  /// Options, then aliases, then `no-` forms of booleans.
  [[nodiscard]] Target Find(llvm::StringRef name) const {
    if (const Target target = FindSpelled(name); target.row != nullptr) return target;
    if (!name.consume_front("no-")) return {};
    Target target = FindSpelled(name);
    const bool boolean = target.row != nullptr && target.row->arity == OptionArity::Flag &&
                         !(target.alias && !target.alias->value.empty());
    if (!boolean) return {};
    target.negated = !target.negated;
    return target;
  }

  [[nodiscard]] Target FindLetter(char letter) const {
    for (const OptionGroup& group : groups_)
      for (const OptionRow& row : group.rows)
        if (row.letter == letter) return {&row, group.object};
    return {};
  }

  /// `--name` or `--name=…` of an option that there is.
  [[nodiscard]] bool IsLong(llvm::StringRef word) const {
    return word.consume_front("--") && Find(Normalize(word.split('=').first)).row != nullptr;
  }

  /// How an unknown option might have been meant; empty: no idea.
  [[nodiscard]] std::string Hint(llvm::StringRef written) const {
    std::vector<std::string> spellings;
    for (const OptionGroup& group : groups_)
      for (const OptionRow& row : group.rows) {
        spellings.push_back("--" + row.name.str());
        if (row.arity == OptionArity::Flag && written.starts_with("--no"))
          spellings.push_back("--no-" + row.name.str());
      }
    for (const OptionAlias& alias : tool_.aliases) spellings.push_back("--" + alias.alias.str());
    const std::vector<llvm::StringRef> candidates(spellings.begin(), spellings.end());
    return DidYouMeanText(written, candidates);
  }

 private:
  [[nodiscard]] Target FindExact(llvm::StringRef name) const {
    for (const OptionGroup& group : groups_)
      for (const OptionRow& row : group.rows)
        if (row.name == name) return {&row, group.object};
    return {};
  }

  [[nodiscard]] Target FindSpelled(llvm::StringRef name) const {
    if (const Target target = FindExact(name); target.row != nullptr) return target;
    for (const OptionAlias& alias : tool_.aliases) {
      if (Normalize(alias.alias) != name) continue;
      Target target = FindExact(alias.name);
      target.alias = &alias;
      target.negated = alias.negated;
      return target;
    }
    return {};
  }

  const ToolInfo& tool_;
  llvm::ArrayRef<OptionGroup> groups_;
};

/// One source of options, read by CLI11. Declared to it are those rows of the tables that the words name: a
/// program starts in less time than all of them would take.
class WordReader {
 public:
  explicit WordReader(const Names& names) : names_(names) {
    app_.allow_extras();
    app_.set_help_flag();
  }

  /// The first error, usage-option, for values that are missing; all else is read.
  Status Read(llvm::ArrayRef<const char*> words) {
    Status status = Declare(words);
    std::reverse(words_.begin(), words_.end());
    try {
      app_.parse(words_);
    } catch (const CLI::ParseError& error) {
      return Error("usage-option", {}, "{0}", error.what());
    }
    return status;
  }

  /// Calls `positional` or `unknown`, for an option that there is not, with each word of that sort.
  template <class Positional, class Unknown>
  void ForEachOther(Positional positional, Unknown unknown) const {
    for (const std::string& word : app_.remaining()) {
      if (llvm::StringRef text = word; text.consume_front(kPositional))
        positional(text);
      else
        unknown(text);
    }
  }

  /// Calls `use(target, written, value)` for each option in order; value: none where there was none.
  template <class Use>
  void ForEach(Use use) const {
    std::map<const CLI::Option*, size_t> seen;
    for (const CLI::Option* option : app_.parse_order()) {
      const auto declared = declared_.find(option);
      if (declared == declared_.end()) continue;
      const std::string& value = option->results()[seen[option]++];
      std::optional<std::string> given;
      if (value != kOn) given = value == kNothing ? "" : value;
      use(declared->second.target, declared->second.written, given);
    }
  }

 private:
  struct Declaration {
    Target target;
    std::string written;  // with its dashes; for messages
  };

  /// Names normalised and declared; values that stand alone told from options.
  Status Declare(llvm::ArrayRef<const char*> words) {
    Status status;
    for (size_t i = 0; i < words.size(); ++i) {
      const llvm::StringRef word = words[i];
      if (word == "--") {
        for (++i; i < words.size(); ++i) words_.push_back(kPositional.str() + words[i]);
        break;
      }
      const OptionRow* expecting = nullptr;  // the word that follows is its value
      std::string written;
      if (word.starts_with("--")) {
        expecting = DeclareLong(word, written);
      } else if (word.starts_with("-") && word != "-") {
        expecting = DeclareShort(word, written);
      } else {
        words_.push_back((kPositional + word).str());
      }
      if (expecting == nullptr) continue;
      // An option name is not taken for a value: `-o --check` is a slip.
      if (i + 1 < words.size() && !names_.IsLong(words[i + 1])) {
        words_.emplace_back(words[++i]);
        continue;
      }
      if (status)
        status = Error("usage-option", {}, "option '{0}' needs a value {1}", written, expecting->argument);
      // Without it, that CLI11 reads the rest.
      words_.back().erase(word.starts_with("--") || word.size() == 2 ? 0 : word.size() - 1);
      if (words_.back().empty()) words_.pop_back();
    }
    return status;
  }

  const OptionRow* DeclareLong(llvm::StringRef word, std::string& written) {
    const auto [spelled, value] = word.split('=');
    const bool attached = spelled.size() < word.size();
    const std::string name = Normalize(spelled.drop_front(2));
    const Target target = names_.Find(name);
    if (target.row == nullptr) {
      words_.push_back(word.str());
      return nullptr;
    }
    written = spelled.str();
    Declare("--" + name, target, written);
    words_.push_back("--" + name);
    if (target.TakesWord()) {
      // CLI11 would take the next word for an empty value.
      if (attached) words_.push_back(value.str());
      return attached ? nullptr : target.row;
    }
    if (attached) words_.back() += ("=" + (value.empty() ? kNothing : value)).str();
    return nullptr;
  }

  /// `-o FILE`, `-oFILE`, `-j4`, `-vv`.
  const OptionRow* DeclareShort(llvm::StringRef word, std::string& written) {
    words_.push_back(word.str());
    for (size_t i = 1; i < word.size(); ++i) {
      const Target target = names_.FindLetter(word[i]);
      if (target.row == nullptr) return nullptr;
      written = {'-', word[i]};
      Declare(written, target, written);
      if (!target.TakesWord()) continue;
      if (i + 1 == word.size()) return target.row;
      if (word[i + 1] == '=') words_.back().erase(i + 1, 1);
      return nullptr;
    }
    return nullptr;
  }

  void Declare(const std::string& name, const Target& target, const std::string& written) {
    if (!known_.insert(name).second) return;
    CLI::Option* option =
        target.TakesWord() ? app_.add_option(name) : app_.add_flag(name + "{" + kOn.str() + "}");
    option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    declared_.emplace(option, Declaration{target, written});
  }

  static constexpr llvm::StringLiteral kOn = "\1";       // the value of a flag without one
  static constexpr llvm::StringLiteral kNothing = "\2";  // that of `--flag=`
  // Before a word that is no option: of words that it has no use for, CLI11 keeps only the text. As an option
  // of its own they would lose their brackets.
  static constexpr llvm::StringLiteral kPositional = "\3";

  const Names& names_;
  CLI::App app_;
  std::vector<std::string> words_;
  llvm::StringSet<> known_;
  std::map<const CLI::Option*, Declaration> declared_;
};

/// The words of XLA_FLAGS, which are quoted as in a shell.
std::vector<std::string> WordsOf(llvm::StringRef text) {
  std::vector<std::string> words;
  bool in_word = false;
  char quote = 0;
  for (const char c : text) {
    if (quote == 0 && llvm::isSpace(c)) {
      in_word = false;
      continue;
    }
    if (!std::exchange(in_word, true)) words.emplace_back();
    if (quote == 0 && (c == '"' || c == '\''))
      quote = c;
    else if (c == quote)
      quote = 0;
    else
      words.back() += c;
  }
  return words;
}

/// `name: value` or `name = value` of a configuration file as a word; such signs inside the value do not
/// count.
std::string ConfigWord(llvm::StringRef line) {
  line.consume_front("--");
  const size_t end = line.find_first_of("=: \t");
  if (end == llvm::StringRef::npos) return "--" + line.str();
  llvm::StringRef value = line.drop_front(end).ltrim();
  value.consume_front(":") || value.consume_front("=");
  value = value.trim();
  if (value.size() > 1 && value.front() == '"' && value.back() == '"') value = value.drop_front().drop_back();
  return ("--" + line.take_front(end) + "=" + value).str();
}

class Parser {
 public:
  Parser(const ToolInfo& tool, llvm::ArrayRef<OptionGroup> groups, const OptionSources& sources)
      : tool_(tool), groups_(groups), names_(tool, groups), sources_(sources) {}

  Result<CommandLine> Run(llvm::ArrayRef<const char*> args) {
    // All that can be understood is set also after an error: how errors are shown is among it.
    Keep(ReadConfig());
    Keep(ReadXlaFlags());
    Keep(Read(args, Source::CommandLine));
    Apply();
    Keep(CheckRelations());
    HLO_CHECK_OK(std::move(first_error_));
    return std::move(result_);
  }

 private:
  void Keep(Status status) {
    if (!status && first_error_) first_error_ = std::move(status);
  }

  Status ReadConfig() {
    llvm::StringRef rest = sources_.config_text;
    for (int number = 1; !rest.empty(); ++number) {
      auto [line, next] = rest.split('\n');
      rest = next;
      line = line.trim();
      if (line.empty() || line.starts_with("#")) continue;
      const std::string word = ConfigWord(line);
      if (auto status = Read({word.c_str()}, Source::Config); !status) {
        Diagnostic error = std::move(status).error();
        error.file = llvm::formatv("{0}:{1}", sources_.config_name, number).str();
        return Error(std::move(error));
      }
    }
    return {};
  }

  Status ReadXlaFlags() {
    for (const std::string& word : WordsOf(sources_.xla_flags)) {
      if (!llvm::StringRef(word).starts_with("--"))
        return Error("usage-option", {}, "XLA_FLAGS: found '{0}', expected an option", word);
      if (auto status = Read({word.c_str()}, Source::XlaFlags); !status) {
        Diagnostic error = std::move(status).error();
        error.message = "XLA_FLAGS: " + error.message;
        return Error(std::move(error));
      }
    }
    return {};
  }

  Status Read(llvm::ArrayRef<const char*> words, Source source) {
    WordReader reader(names_);
    Status first;
    const auto keep = [&](Status status) {
      if (!status && first) first = std::move(status);
    };
    keep(reader.Read(words));
    reader.ForEach([&](const Target& target, llvm::StringRef written, const auto& value) {
      keep(Add(target, written, value, source));
    });
    reader.ForEachOther([&](llvm::StringRef word) { result_.positional.push_back(word.str()); },
                        [&](llvm::StringRef word) { keep(UnknownName(word, source)); });
    return first;
  }

  Status Add(const Target& target, llvm::StringRef written, const std::optional<std::string>& value,
             Source source) {
    const OptionRow& row = *target.row;
    std::string text;
    if (target.alias != nullptr && !target.alias->value.empty()) {
      bool on = true;
      if (value) HLO_CHECK_OK(ParseOption({written, *value}, on));
      if (!on) return {};
      text = target.alias->value.str();
    } else if (row.arity == OptionArity::Flag) {
      bool on = true;
      if (value) HLO_CHECK_OK(ParseOption({written, *value}, on));
      text = on != target.negated ? "on" : "off";
    } else if (value) {
      text = *value;
    } else {
      text = row.arity == OptionArity::Count ? "on" : row.bare.str();
    }
    assignments_.push_back({&row, target.object, written.str(), std::move(text), source});
    return {};
  }

  void Apply() {
    // Read in order of precedence, so that the last one wins.
    llvm::DenseMap<const OptionRow*, Source> last;
    for (const Assignment& a : assignments_) {
      if (a.source == Source::CommandLine) result_.options.emplace_back(a.row->name, a.value);
      const auto [it, inserted] = last.try_emplace(a.row, a.source);
      const bool replaces = !inserted && it->second != a.source;
      it->second = a.source;
      // As XLA takes them, its flags may name nothing.
      if (a.row->wants_text && a.value.empty() && a.source == Source::CommandLine &&
          !llvm::StringRef(a.option).starts_with("--xla"))
        Keep(Error("usage-option", {}, "option '{0}' needs a value {1}", a.option, a.row->argument));
      Keep(a.row->set(a.object, {a.option, a.value, replaces}));
    }
  }

  Status CheckRelations() {
    std::vector<GivenOption> given;
    for (const Assignment& a : assignments_)
      given.push_back({a.row, a.option, a.value, a.source == Source::CommandLine});
    return CheckOptionRelations(tool_, groups_, given);
  }

  Status UnknownName(llvm::StringRef word, Source source) {
    auto [written, text] = word.split('=');
    const bool long_form = written.starts_with("--");
    const std::string name = long_form ? Normalize(written.drop_front(2)) : "";
    for (const UnavailableOption& option : tool_.unavailable) {
      const bool negated =
          option.flag && llvm::StringRef(name).starts_with("no-") && name.substr(3) == option.name;
      if (option.name != name && !negated) continue;
      bool on = true;
      if (option.flag && written.size() < word.size()) HLO_CHECK_OK(ParseOption({written, text}, on));
      // What is not there is off.
      if (option.flag && on == negated) return {};
      return Error("unavailable-feature", {}, "option '{0}': {1} is not available yet", written,
                   option.feature);
    }
    // Flags that only another tool has a use for.
    constexpr llvm::StringLiteral kOfOtherTools[] = {
        "xla-dump-hlo-snapshots", "xla-force-host-platform-device-count", "xla-hlo-graph-sharding-color"};
    if (llvm::is_contained(kOfOtherTools, name)) return {};
    if (llvm::StringRef(name).starts_with("xla-") && !sources_.strict_xla_flags) {
      if (source == Source::XlaFlags && !sources_.warn_xla_flags_variable) return {};
      Diagnostic warning = MakeError("xla-flag-ignored", {}, "ignored unknown flag '{0}'", written);
      warning.severity = Severity::Warning;
      result_.warnings.push_back(std::move(warning));
      return {};
    }
    const std::string hint = names_.Hint(written);
    return Error("usage-option", {}, "unknown option '{0}'{1}{2}", written, hint.empty() ? "" : "; ", hint);
  }

  const ToolInfo& tool_;
  llvm::ArrayRef<OptionGroup> groups_;
  Names names_;
  const OptionSources& sources_;
  std::vector<Assignment> assignments_;
  CommandLine result_;
  Status first_error_;
};

}  // namespace

Result<CommandLine> ParseCommandLine(const ToolInfo& tool, llvm::ArrayRef<OptionGroup> groups,
                                     llvm::ArrayRef<const char*> args, const OptionSources& sources) {
  return Parser(tool, groups, sources).Run(args);
}

}  // namespace hlo

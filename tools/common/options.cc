// Reading the command line against the option tables.
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
};

std::string Normalize(llvm::StringRef name) {
  std::string text = name.str();
  std::replace(text.begin(), text.end(), '_', '-');
  return text;
}

class Parser {
 public:
  Parser(const ToolInfo& tool, llvm::ArrayRef<OptionGroup> groups, const OptionSources& sources)
      : tool_(tool), groups_(groups), sources_(sources) {}

  Result<CommandLine> Run(llvm::ArrayRef<const char*> args) {
    // All that can be understood is set also after an error: how errors are shown is among it.
    Keep(ReadConfig());
    Keep(ReadXlaFlags());
    ReadArguments(args);
    Apply();
    HLO_CHECK_OK(std::move(first_error_));
    return std::move(result_);
  }

 private:
  void Keep(Status status) {
    if (!status && first_error_) first_error_ = std::move(status);
  }

  void ReadArguments(llvm::ArrayRef<const char*> args) {
    for (size_t i = 0; i < args.size(); ++i) {
      const llvm::StringRef arg = args[i];
      if (arg == "--") {
        for (++i; i < args.size(); ++i) result_.positional.emplace_back(args[i]);
      } else if (arg == "-" || !arg.starts_with("-")) {
        result_.positional.push_back(arg.str());
      } else {
        const char* following = i + 1 < args.size() ? args[i + 1] : nullptr;
        bool used_following = false;
        Keep(arg.starts_with("--") ? ReadLong(arg, following, used_following, Source::CommandLine)
                                   : ReadShort(arg, following, used_following));
        i += used_following;
      }
    }
  }

  Status ReadConfig() {
    llvm::StringRef rest = sources_.config_text;
    for (int number = 1; !rest.empty(); ++number) {
      auto [line, next] = rest.split('\n');
      rest = next;
      line = line.trim();
      if (line.empty() || line.starts_with("#")) continue;
      line.consume_front("--");
      std::string text = "--" + line.str();
      // `name: value` or `name = value`; such signs inside the value do not count.
      const size_t end = line.find_first_of("=: \t");
      if (end != llvm::StringRef::npos) {
        llvm::StringRef value = line.drop_front(end).ltrim();
        value.consume_front(":") || value.consume_front("=");
        value = value.trim();
        if (value.size() > 1 && value.front() == '"' && value.back() == '"')
          value = value.drop_front().drop_back();
        text = ("--" + line.take_front(end) + "=" + value).str();
      }
      bool used = false;
      if (auto status = ReadLong(text, nullptr, used, Source::Config); !status) {
        Diagnostic error = std::move(status).error();
        error.file = llvm::formatv("{0}:{1}", sources_.config_name, number).str();
        return Error(std::move(error));
      }
    }
    return {};
  }

  Status ReadXlaFlags() {
    std::string word;
    bool in_word = false;
    char quote = 0;
    auto finish = [&]() -> Status {
      if (!std::exchange(in_word, false)) return {};
      const std::string text = std::exchange(word, "");
      bool used = false;
      if (!llvm::StringRef(text).starts_with("--"))
        return Error("usage-option", {}, "XLA_FLAGS: found '{0}', expected an option", text);
      if (auto status = ReadLong(text, nullptr, used, Source::XlaFlags); !status) {
        Diagnostic error = std::move(status).error();
        error.message = "XLA_FLAGS: " + error.message;
        return Error(std::move(error));
      }
      return {};
    };
    for (const char c : sources_.xla_flags) {
      if (quote == 0 && llvm::isSpace(c)) {
        HLO_CHECK_OK(finish());
      } else if (quote == 0 && (c == '"' || c == '\'')) {
        quote = c;
        in_word = true;
      } else if (c == quote) {
        quote = 0;
      } else {
        word += c;
        in_word = true;
      }
    }
    return finish();
  }

  Status ReadLong(llvm::StringRef arg, const char* following, bool& used_following, Source source) {
    const size_t equals = arg.find('=');
    const llvm::StringRef written = arg.take_front(equals);
    const std::string name = Normalize(written.drop_front(2));
    std::optional<llvm::StringRef> value;
    if (equals != llvm::StringRef::npos) value = arg.drop_front(equals + 1);
    const Target target = Find(name);
    if (target.row == nullptr) return UnknownName(written, name, value, source);
    return Add(target, written, value, following, used_following, source);
  }

  /// `-o FILE`, `-oFILE`, `-j4`, `-vv`.
  Status ReadShort(llvm::StringRef arg, const char* following, bool& used_following) {
    for (size_t i = 1; i < arg.size(); ++i) {
      const Target target = FindLetter(arg[i]);
      const std::string written = {'-', arg[i]};
      if (target.row == nullptr)
        return UnknownName(i == 1 ? arg.split('=').first : written, "", std::nullopt, Source::CommandLine);
      if (target.row->arity == OptionArity::Flag || target.row->arity == OptionArity::Count) {
        HLO_CHECK_OK(Add(target, written, std::nullopt, nullptr, used_following, Source::CommandLine));
        continue;
      }
      llvm::StringRef rest = arg.drop_front(i + 1);
      rest.consume_front("=");
      std::optional<llvm::StringRef> value;
      if (!rest.empty()) value = rest;
      return Add(target, written, value, following, used_following, Source::CommandLine);
    }
    return {};
  }

  Status Add(const Target& target, llvm::StringRef written, std::optional<llvm::StringRef> value,
             const char* following, bool& used_following, Source source) {
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
      text = value->str();
    } else if (row.arity == OptionArity::Count) {
      text = "on";
    } else if (row.arity == OptionArity::OptionalValue) {
      text = row.bare.str();
    } else {
      // An option name is not taken for a value: `-o --check` is a slip.
      const llvm::StringRef next = following == nullptr ? "" : following;
      const bool is_option =
          next.starts_with("--") && Find(Normalize(next.drop_front(2).split('=').first)).row != nullptr;
      if (following == nullptr || is_option)
        return Error("usage-option", {}, "option '{0}' needs a value {1}", written, row.argument);
      text = next.str();
      used_following = true;
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
      Keep(a.row->set(a.object, {a.option, a.value, replaces}));
    }
  }

  Target FindExact(llvm::StringRef name) const {
    for (const OptionGroup& group : groups_)
      for (const OptionRow& row : group.rows)
        if (row.name == name) return {&row, group.object};
    return {};
  }

  /// Options, then aliases, then `no-` forms of booleans.
  Target Find(llvm::StringRef name) const {
    if (const Target target = FindExact(name); target.row != nullptr) return target;
    for (const OptionAlias& alias : tool_.aliases) {
      if (Normalize(alias.alias) != name) continue;
      Target target = FindExact(alias.name);
      target.alias = &alias;
      target.negated = alias.negated;
      return target;
    }
    if (name.consume_front("no-")) {
      Target target = Find(name);
      if (target.row != nullptr && target.row->arity == OptionArity::Flag &&
          !(target.alias && !target.alias->value.empty())) {
        target.negated = !target.negated;
        return target;
      }
    }
    return {};
  }

  Target FindLetter(char letter) const {
    for (const OptionGroup& group : groups_)
      for (const OptionRow& row : group.rows)
        if (row.letter == letter) return {&row, group.object};
    return {};
  }

  Status UnknownName(llvm::StringRef written, llvm::StringRef name, std::optional<llvm::StringRef> value,
                     Source source) {
    for (const UnavailableOption& option : tool_.unavailable) {
      const bool negated = option.flag && name.starts_with("no-") && name.drop_front(3) == option.name;
      if (option.name != name && !negated) continue;
      bool on = true;
      if (option.flag && value) HLO_CHECK_OK(ParseOption({written, *value}, on));
      // What is not there is off.
      if (option.flag && on == negated) return {};
      return Error("unavailable-feature", {}, "option '{0}': {1} is not available yet", written,
                   option.feature);
    }
    // Flags that only another tool has a use for.
    constexpr llvm::StringLiteral kOfOtherTools[] = {
        "xla-dump-hlo-snapshots", "xla-force-host-platform-device-count", "xla-hlo-graph-sharding-color"};
    if (llvm::is_contained(kOfOtherTools, name)) return {};
    if (name.starts_with("xla-") && !sources_.strict_xla_flags) {
      if (source == Source::XlaFlags && !sources_.warn_xla_flags_variable) return {};
      Diagnostic warning = MakeError("xla-flag-ignored", {}, "ignored unknown flag '{0}'", written);
      warning.severity = Severity::Warning;
      result_.warnings.push_back(std::move(warning));
      return {};
    }
    const std::string hint = DidYouMeanText(written, Candidates(written));
    return Error("usage-option", {}, "unknown option '{0}'{1}{2}", written, hint.empty() ? "" : "; ", hint);
  }

  /// All spellings, with dashes. The text lives until the next call.
  llvm::ArrayRef<llvm::StringRef> Candidates(llvm::StringRef written) {
    spellings_.clear();
    candidates_.clear();
    for (const OptionGroup& group : groups_)
      for (const OptionRow& row : group.rows) {
        spellings_.push_back("--" + row.name.str());
        if (row.arity == OptionArity::Flag && written.starts_with("--no"))
          spellings_.push_back("--no-" + row.name.str());
      }
    for (const OptionAlias& alias : tool_.aliases) spellings_.push_back("--" + alias.alias.str());
    for (const std::string& spelling : spellings_) candidates_.emplace_back(spelling);
    return candidates_;
  }

  const ToolInfo& tool_;
  llvm::ArrayRef<OptionGroup> groups_;
  const OptionSources& sources_;
  std::vector<Assignment> assignments_;
  std::vector<std::string> spellings_;
  std::vector<llvm::StringRef> candidates_;
  CommandLine result_;
  Status first_error_;
};

constexpr size_t kHelpColumn = 34;
constexpr size_t kHelpWidth = 110;

/// `-o, --output FILE`.
std::string Usage(const OptionRow& row) {
  std::string text = row.letter != 0 ? std::string{'-', row.letter, ',', ' '} : "";
  const bool negatable =
      row.arity == OptionArity::Flag && llvm::StringRef(row.default_text).starts_with("on");
  text += (negatable ? "--[no-]" : "--") + row.name.str();
  if (row.arity == OptionArity::OptionalValue) text += ("[=" + row.argument + "]").str();
  if (row.arity == OptionArity::Value) text += ("=" + row.argument).str();
  return text;
}

void PrintRow(const OptionRow& row, llvm::raw_ostream& out) {
  const std::string usage = "  " + Usage(row);
  out << usage;
  if (usage.size() + 2 > kHelpColumn)
    out << '\n' << std::string(kHelpColumn, ' ');
  else
    out << std::string(kHelpColumn - usage.size(), ' ');
  std::string help = row.help.str();
  if (!row.default_text.empty()) help += (" [" + row.default_text + "]").str();
  size_t column = kHelpColumn;
  for (const llvm::StringRef word : llvm::split(help, ' ')) {
    if (column > kHelpColumn && column + word.size() + 1 > kHelpWidth) {
      out << '\n' << std::string(kHelpColumn, ' ');
      column = kHelpColumn;
    }
    if (column > kHelpColumn) out << ' ';
    out << word;
    column += word.size() + 1;
  }
  out << '\n';
}

constexpr llvm::StringLiteral kExitCodes =
    "Exit codes: 0 success, 1 negative answer (mismatch), 2 usage, 3 input, 4 verification, 5 compilation,\n"
    "  6 run time, 7 unavailable, 8 limit, 70 internal error, 128+n signal n; the highest of several modules "
    "wins.\n";

}  // namespace

Result<CommandLine> ParseCommandLine(const ToolInfo& tool, llvm::ArrayRef<OptionGroup> groups,
                                     llvm::ArrayRef<const char*> args, const OptionSources& sources) {
  return Parser(tool, groups, sources).Run(args);
}

void PrintHelp(const ToolInfo& tool, llvm::ArrayRef<OptionGroup> groups, bool all, llvm::raw_ostream& out) {
  out << tool.name << ": " << tool.purpose << "\n\nusage: " << tool.name << ' ' << tool.synopsis << '\n';
  for (const OptionGroup& group : groups) {
    const bool hidden =
        group.advanced || llvm::all_of(group.rows, [](const OptionRow& row) { return row.advanced; });
    if (hidden && !all) continue;
    out << '\n' << group.title << ":\n";
    for (const OptionRow& row : group.rows)
      if (all || !row.advanced) PrintRow(row, out);
  }
  if (all) {
    out << "\nOther spellings:\n";
    for (const OptionAlias& alias : tool.aliases) {
      out << "  --" << alias.alias << " = --" << (alias.negated ? "no-" : "") << alias.name;
      if (!alias.value.empty()) out << '=' << alias.value;
      out << '\n';
    }
    if (!tool.unavailable.empty()) out << "\nNot available yet (exit code 7):\n";
    for (const UnavailableOption& option : tool.unavailable) out << "  --" << option.name << '\n';
  }
  out << "\nExamples:\n";
  for (const llvm::StringRef example : tool.examples) out << "  " << example << '\n';
  out << '\n' << kExitCodes;
  if (!all) out << "--help-all lists every option and alias.\n";
}

}  // namespace hlo

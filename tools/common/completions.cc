#include "tools/common/completions.h"

#include <map>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace hlo {
namespace {

using llvm::StringRef;

/// One spelling of an option.
struct Spelling {
  StringRef name;
  bool takes_value;      // attached, or as the next word
  bool may_take_value;   // attached only
  const OptionRow& row;  // of an alias that of its option
  [[nodiscard]] bool own() const { return name == row.name; }
};

/// Every option and every other spelling, in order.
template <class F>
void ForEachName(const ToolInfo& tool, llvm::ArrayRef<OptionGroup> groups, F f) {
  for (const OptionGroup& group : groups)
    for (const OptionRow& row : group.rows) {
      const bool value = row.arity == OptionArity::Value, optional = row.arity == OptionArity::OptionalValue;
      f(Spelling{row.name, value, optional, row});
      for (const OptionAlias& alias : tool.aliases)
        if (alias.name == row.name) {
          const bool free = alias.value.empty() && !alias.negated;
          f(Spelling{alias.alias, value && free, optional && free, row});
        }
    }
}

/// What values an option has, as far as anybody can know.
struct Values {
  std::vector<StringRef> words;
  bool files = false;     // names of files and folders
  bool after_at = false;  // such names stand behind `@`
  [[nodiscard]] bool any() const { return files || !words.empty(); }
};

Values ValuesOf(const OptionRow& row) {
  Values values;
  if (row.words != nullptr) values.words = row.words();
  for (const StringRef part : llvm::split(row.argument, '|')) {
    const bool word = llvm::all_of(part, [](char c) { return llvm::isLower(c) || c == '-'; });
    if (word && !part.empty() && row.words == nullptr) values.words.push_back(part);
  }
  llvm::erase_if(values.words, [](StringRef word) { return word.empty(); });
  for (const StringRef kind : {"FILE", "DIR", "FOLDER", "PREFIX", ".npz"})
    values.files |= row.argument.contains(kind);
  values.files |= row.argument.contains("VALUE") && !row.argument.contains('=');
  values.after_at = values.files && (row.argument.starts_with("@") || row.argument.contains("VALUE"));
  return values;
}

/// What a shell's function is called.
std::string FunctionOf(const ToolInfo& tool) {
  std::string name = "_" + tool.name.str();
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

/// In single quotes, with what `special` names behind backslashes.
std::string Quoted(StringRef text, StringRef special) {
  std::string quoted;
  for (const char c : text) {
    if (special.contains(c)) quoted += '\\';
    quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return quoted;
}

// Bash breaks words at characters of COMP_WORDBREAKS, `=` and `:` among them, and replaces only what stands
// behind the last of these, or from an `@` on: replies are made whole and lose what they have in common with
// the word before that.
constexpr llvm::StringLiteral kBashBody = R"(  case $word in
    --*=*) option=${word%%=*} value=${word#*=} ;;
    -*)
      mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")
      [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace
      return
      ;;
    *) option=${line%"$word"} option=${option%"${option##*[![:space:]]}"} option=${option##*[[:space:]]} value=$word ;;
  esac
)";
constexpr llvm::StringLiteral kBashEnd = R"(    *) [[ $word == --*=* ]] || files=1 ;;
  esac
  local before=${word%"$value"} head=${word%"${word##*[$COMP_WORDBREAKS]}"}
  if [[ $list && $value == *,* ]]; then before+=${value%,*}, value=${value##*,}; fi
  if [[ $files == @ && $value == *@* ]]; then before+=${value%@*}@ value=${value##*@}; fi
  # Quoted as names of files, `@` would be, too.
  if [[ $files == 1 ]]; then compopt -o filenames; fi
  mapfile -t COMPREPLY < <(
    [[ $words ]] && compgen -P "$before" -W "$words" -- "$value"
    [[ $files == 1 || ($files == @ && $before == *@) ]] && compgen -P "$before" -f -- "$value"
  )
  if [[ $files == @ && ${#COMPREPLY[@]} == 1 && -d ${COMPREPLY[0]#"$before"} ]]; then
    COMPREPLY[0]+=/
    compopt -o nospace
  fi
  COMPREPLY=("${COMPREPLY[@]#"${head%@}"}")
}
)";

}  // namespace

bool IsOnByDefault(const OptionRow& row) {
  return row.arity == OptionArity::Flag && row.default_text.starts_with("on");
}

std::string HelpOf(const OptionRow& row) {
  std::string help = row.help.str();
  if (!row.default_text.empty()) help += (" [" + row.default_text + "]").str();
  return help;
}

void PrintBashCompletion(const ToolInfo& tool, llvm::ArrayRef<OptionGroup> groups, llvm::raw_ostream& out) {
  const std::string function = FunctionOf(tool);
  out << "# Completes the options of " << tool.name << " and their values; files otherwise.\n"
      << function << "() {\n"
      << "  local line=${COMP_LINE:0:COMP_POINT}\n  local word=${line##*[[:space:]]} option value words= "
         "list= files=\n"
      << "  local options=\"";
  std::map<std::string, std::string> cases;  // patterns by what they assign
  ForEachName(tool, groups, [&](const Spelling& s) {
    out << " --" << s.name << (s.takes_value ? "=" : "");
    if (IsOnByDefault(s.row) && s.own()) out << " --no-" << s.name;
    const Values values = ValuesOf(s.row);
    if (!(s.takes_value || s.may_take_value) || !values.any()) return;
    if (s.may_take_value) out << " --" << s.name << '=';
    std::string set;
    if (!values.words.empty()) set += "words='" + llvm::join(values.words, " ") + "'";
    if (s.row.list) set += " list=1";
    if (values.files) set += values.after_at ? " files=@" : " files=1";
    std::string& patterns = cases[set];
    if (!patterns.empty()) patterns += " | ";
    if (s.row.letter != 0 && s.own()) patterns += std::string{'-', s.row.letter} + " | ";
    patterns += ("--" + s.name).str();
  });
  out << "\"\n" << kBashBody << "  case $option in\n";
  for (const auto& [set, patterns] : cases)
    out << "    " << patterns << ") " << StringRef(set).ltrim() << " ;;\n";
  out << kBashEnd << "complete -F " << function << ' ' << tool.name << '\n';
}

void PrintZshCompletion(const ToolInfo& tool, llvm::ArrayRef<OptionGroup> groups, llvm::raw_ostream& out) {
  constexpr llvm::StringLiteral kSpecial = "[]:\\";
  const auto action = [](const OptionRow& row) {
    const Values values = ValuesOf(row);
    const std::string words = llvm::join(values.words, " ");
    if (values.after_at) return std::string(" _hlo_files_after_at");
    if (values.files) return words.empty() ? std::string("_files") : " _hlo_words_and_files " + words;
    if (words.empty()) return std::string(" ");
    return row.list ? "_values -s , value " + words : "(" + words + ")";
  };
  out << "#compdef " << tool.name << "\n_hlo_files_after_at() { compset -P @ && _files }\n"
      << "_hlo_words_and_files() { compadd -- \"$@\"; _files }\n_arguments \\\n";
  ForEachName(tool, groups, [&](const Spelling& s) {
    std::string spec = "[" + Quoted(HelpOf(s.row), kSpecial) + "]";
    if (s.takes_value || s.may_take_value)
      spec += (s.takes_value ? ":" : "::") + Quoted(s.row.argument, kSpecial) + ":" + action(s.row);
    out << "  '*--" << s.name << (s.takes_value ? "=" : s.may_take_value ? "=-" : "") << spec << "' \\\n";
    if (s.row.letter != 0 && s.own())
      out << "  '*-" << s.row.letter << (s.takes_value ? "+" : "") << spec << "' \\\n";
    if (IsOnByDefault(s.row) && s.own())
      out << "  '--no-" << s.name << "[not " << Quoted(s.row.help, kSpecial) << "]' \\\n";
  });
  out << "  '*:file:_files'\n";
}

void PrintFishCompletion(const ToolInfo& tool, llvm::ArrayRef<OptionGroup> groups, llvm::raw_ostream& out) {
  out << R"(function __hlo_files_after_at
  set -l word (commandline -ct)
  set -l head (string match -rg '^(?:--[^=]*=)?([^@]*@)' -- $word)
  test -n "$head" && __fish_complete_path (string replace -r '^.*@' '' -- $word) | string replace -r '^' $head
end
)";
  ForEachName(tool, groups, [&](const Spelling& s) {
    out << "complete -c " << tool.name;
    if (s.row.letter != 0 && s.own()) out << " -s " << s.row.letter;
    out << (s.name.size() == 1 ? " -o " : " -l ") << s.name;
    if (s.takes_value || s.may_take_value) {
      const Values values = ValuesOf(s.row);
      const std::string words = llvm::join(values.words, " ");
      out << (s.takes_value ? " -r" : "") << (values.files && !values.after_at ? " -F" : " -f");
      if (values.after_at)
        out << " -a '(__hlo_files_after_at)'";
      else if (s.row.list && !words.empty())
        out << " -a '(__fish_append , " << words << ")'";
      else if (!words.empty())
        out << " -a '" << words << '\'';
    }
    out << " -d '" << Quoted(HelpOf(s.row), "\\") << "'\n";
    if (IsOnByDefault(s.row) && s.own())
      out << "complete -c " << tool.name << " -l no-" << s.name << " -d 'not " << Quoted(s.row.help, "\\")
          << "'\n";
  });
}

}  // namespace hlo

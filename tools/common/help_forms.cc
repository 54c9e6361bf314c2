#include "tools/common/help_forms.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"

namespace hlo {
namespace {

/// Text for troff: backslashes and dashes stand for themselves, no line begins with a request, and characters
/// beyond ASCII are named.
std::string ManText(llvm::StringRef text) {
  std::string escaped;
  llvm::SmallVector<llvm::UTF16> units;
  llvm::convertUTF8ToUTF16String(text, units);
  for (const llvm::UTF16 unit : units) {
    if (unit >= 0x80) {
      escaped += "\\[u" + llvm::utohexstr(unit) + "]";
      continue;
    }
    const char c = static_cast<char>(unit);
    if ((c == '.' || c == '\'') && (escaped.empty() || escaped.back() == '\n')) escaped += "\\&";
    if (c == '\\')
      escaped += "\\e";
    else if (c == '-')
      escaped += "\\-";
    else
      escaped += c;
  }
  return escaped;
}

bool TakesValue(const OptionRow& row) { return row.arity == OptionArity::Value; }

/// Whether `--no-NAME` is worth telling of.
bool IsOnByDefault(const OptionRow& row) {
  return row.arity == OptionArity::Flag && row.default_text.starts_with("on");
}

/// What takes the place of a missing word in help.
std::string HelpOf(const OptionRow& row) {
  std::string help = row.help.str();
  if (!row.default_text.empty()) help += (" [" + row.default_text + "]").str();
  return help;
}

/// Every option and every other spelling, in order: f(name, takes_value, row), a row of an alias being that
/// of its option.
template <class F>
void ForEachName(const ToolInfo& tool, llvm::ArrayRef<OptionGroup> groups, F f) {
  for (const OptionGroup& group : groups)
    for (const OptionRow& row : group.rows) {
      f(row.name, TakesValue(row), row);
      for (const OptionAlias& alias : tool.aliases)
        if (alias.name == row.name)
          f(alias.alias, TakesValue(row) && alias.value.empty() && !alias.negated, row);
    }
}

void PrintMan(const ToolInfo& tool, llvm::ArrayRef<OptionGroup> groups, llvm::raw_ostream& out) {
  out << ".TH " << tool.name.upper() << " 1 \"\" \"hlo-toolkit " HLO_VERSION "\" \"User Commands\"\n";
  out << ".SH NAME\n" << ManText(tool.name) << " \\- " << ManText(tool.purpose) << '\n';
  out << ".SH SYNOPSIS\n.B " << ManText(tool.name) << '\n' << ManText(tool.synopsis) << '\n';
  out << ".SH OPTIONS\n";
  for (const OptionGroup& group : groups) {
    out << ".SS " << ManText(group.title) << '\n';
    for (const OptionRow& row : group.rows) {
      out << ".TP\n.B ";
      if (row.letter != 0) out << "\\-" << row.letter << ", ";
      out << (IsOnByDefault(row) ? "\\-\\-[no\\-]" : "\\-\\-") << ManText(row.name);
      if (row.arity == OptionArity::OptionalValue) out << "[=" << ManText(row.argument) << ']';
      if (TakesValue(row)) out << '=' << ManText(row.argument);
      out << '\n' << ManText(HelpOf(row)) << '\n';
    }
  }
  out << ".SH EXAMPLES\n.nf\n";
  for (const llvm::StringRef example : tool.examples) out << ManText(example) << '\n';
  out << ".fi\n.SH EXIT STATUS\n" << ManText(ExitCodesText()) << ".SH ENVIRONMENT\n";
  out << ".TP\n.B XLA_FLAGS\noptions, below those of the command line\n";
  out << ".TP\n.B XDG_CACHE_HOME\nwhere compiled programs are kept, in hlo\\-toolkit; ~/.cache if it is not "
         "set\n";
  out << ".SH SEE ALSO\n.BR hlo\\-opt (1),\n.BR hlo\\-run (1),\n.BR hlo\\-diff (1),\n.BR hlo\\-viz (1)\n";
}

/// What a shell's function is called.
std::string FunctionOf(const ToolInfo& tool) {
  std::string name = "_" + tool.name.str();
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

void PrintBash(const ToolInfo& tool, llvm::ArrayRef<OptionGroup> groups, llvm::raw_ostream& out) {
  const std::string function = FunctionOf(tool);
  out << "# Completes the options of " << tool.name << "; files otherwise.\n" << function << "() {\n";
  out << "  local word=\"${COMP_WORDS[COMP_CWORD]}\"\n  local options=\"";
  ForEachName(tool, groups, [&](llvm::StringRef name, bool value, const OptionRow& row) {
    out << " --" << name << (value ? "=" : "");
    if (IsOnByDefault(row) && name == row.name) out << " --no-" << name;
  });
  out << "\"\n  case \"$word\" in\n    -*)\n      mapfile -t COMPREPLY < <(compgen -W \"$options\" -- "
         "\"$word\")\n"
         "      [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace\n      ;;\n"
         "    *) mapfile -t COMPREPLY < <(compgen -f -- \"$word\") ;;\n  esac\n}\n";
  out << "complete -o filenames -F " << function << ' ' << tool.name << '\n';
}

/// In single quotes, with what `special` names behind backslashes.
std::string Quoted(llvm::StringRef text, llvm::StringRef special) {
  std::string quoted;
  for (const char c : text) {
    if (special.contains(c)) quoted += '\\';
    quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return quoted;
}

void PrintZsh(const ToolInfo& tool, llvm::ArrayRef<OptionGroup> groups, llvm::raw_ostream& out) {
  constexpr llvm::StringLiteral kSpecial = "[]:\\";
  out << "#compdef " << tool.name << "\n_arguments \\\n";
  ForEachName(tool, groups, [&](llvm::StringRef name, bool value, const OptionRow& row) {
    out << "  '*--" << name << (value ? "=" : "") << '[' << Quoted(HelpOf(row), kSpecial) << ']';
    if (value) out << ':' << Quoted(row.argument, kSpecial) << ":_files";
    out << "' \\\n";
    if (IsOnByDefault(row) && name == row.name)
      out << "  '--no-" << name << "[not " << Quoted(row.help, kSpecial) << "]' \\\n";
  });
  out << "  '*:file:_files'\n";
}

void PrintFish(const ToolInfo& tool, llvm::ArrayRef<OptionGroup> groups, llvm::raw_ostream& out) {
  ForEachName(tool, groups, [&](llvm::StringRef name, bool value, const OptionRow& row) {
    out << "complete -c " << tool.name;
    if (row.letter != 0 && name == row.name) out << " -s " << row.letter;
    out << " -l " << name << (value ? " -r" : "") << " -d '" << Quoted(HelpOf(row), "\\") << "'\n";
    if (IsOnByDefault(row) && name == row.name)
      out << "complete -c " << tool.name << " -l no-" << name << " -d 'not " << Quoted(row.help, "\\")
          << "'\n";
  });
}

constexpr struct {
  llvm::StringLiteral word;
  void (*print)(const ToolInfo&, llvm::ArrayRef<OptionGroup>, llvm::raw_ostream&);
} kForms[] = {{"man", &PrintMan}, {"bash", &PrintBash}, {"zsh", &PrintZsh}, {"fish", &PrintFish}};

}  // namespace

Status PrintHelpAs(llvm::StringRef form, const ToolInfo& tool, llvm::ArrayRef<OptionGroup> groups,
                   llvm::raw_ostream& out) {
  std::vector<llvm::StringRef> words;
  for (const auto& known : kForms) {
    if (known.word == form) {
      known.print(tool, groups, out);
      return {};
    }
    words.push_back(known.word);
  }
  return UnknownWord({"--help-as", form}, words);
}

}  // namespace hlo

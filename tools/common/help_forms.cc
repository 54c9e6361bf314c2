#include "tools/common/help_forms.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"
#include "tools/common/completions.h"

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

constexpr struct {
  llvm::StringLiteral variable, meaning;
} kEnvironment[] = {
    {"XLA_FLAGS", "options, below those of the command line; or a file of them"},
    {"XDG_CACHE_HOME", "where compiled programs are kept, in hlo-toolkit; ~/.cache if it is not set"},
    {"HLO_LAPACK", "the library of linear algebra that is loaded when it is needed, or none"},
    {"HLO_ONEDNN", "that of convolutions, or none"},
    {"HLO_GRAPHVIZ", "that of layouts of pictures, or none"},
    {"HLO_CUDA", "the folder of NVIDIA's toolkit, or none"},
    {"HLO_MPI", "the plugin of --launcher=mpi, or none"},
};

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
      if (row.arity == OptionArity::Value) out << '=' << ManText(row.argument);
      out << '\n' << ManText(HelpOf(row)) << '\n';
    }
  }
  if (!tool.aliases.empty()) out << ".SH OTHER SPELLINGS\n.nf\n";
  for (const OptionAlias& alias : tool.aliases) {
    out << ManText(("--" + alias.alias).str()) << " is " << (alias.negated ? "\\-\\-no\\-" : "\\-\\-")
        << ManText(alias.name);
    if (!alias.value.empty()) out << '=' << ManText(alias.value);
    out << '\n';
  }
  if (!tool.aliases.empty()) out << ".fi\n";
  out << ".SH EXAMPLES\n.nf\n";
  for (const llvm::StringRef example : tool.examples) out << ManText(example) << '\n';
  // Lines of --help are filled anew, as one sentence.
  llvm::StringRef codes = ExitCodesText();
  codes.consume_front("Exit codes: ");
  llvm::SmallVector<llvm::StringRef> words;
  llvm::SplitString(codes, words, " \n");
  out << ".fi\n.SH EXIT STATUS\n" << ManText(llvm::join(words, " ")) << "\n.SH ENVIRONMENT\n";
  for (const auto& [variable, meaning] : kEnvironment)
    out << ".TP\n.B " << variable << '\n' << ManText(meaning) << '\n';
  out << ".SH SEE ALSO\n.BR hlo\\-opt (1),\n.BR hlo\\-run (1),\n.BR hlo\\-diff (1),\n.BR hlo\\-viz (1)\n";
}

constexpr struct {
  llvm::StringLiteral word;
  void (*print)(const ToolInfo&, llvm::ArrayRef<OptionGroup>, llvm::raw_ostream&);
} kForms[] = {{"man", &PrintMan},
              {"bash", &PrintBashCompletion},
              {"zsh", &PrintZshCompletion},
              {"fish", &PrintFishCompletion}};

}  // namespace

Status PrintHelpAs(llvm::StringRef form, const ToolInfo& tool, llvm::ArrayRef<OptionGroup> groups,
                   llvm::raw_ostream& out) {
  for (const auto& known : kForms)
    if (known.word == form) {
      known.print(tool, groups, out);
      return {};
    }
  return UnknownWord({"--help-as", form}, HelpForms());
}

std::vector<llvm::StringRef> HelpForms() {
  std::vector<llvm::StringRef> words;
  for (const auto& known : kForms) words.push_back(known.word);
  return words;
}

}  // namespace hlo

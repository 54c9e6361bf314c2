// What --help prints of the option tables.
#include "tools/common/options.h"

namespace hlo {
namespace {

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

llvm::StringRef ExitCodesText() { return kExitCodes; }

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

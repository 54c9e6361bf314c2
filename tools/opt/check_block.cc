#include "tools/opt/check_block.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace hlo {
namespace {

bool IsNameCharacter(char c) { return llvm::isAlnum(c) || c == '_' || c == '.' || c == '-'; }

/// Names met so far and their variables.
class Generalizer {
 public:
  std::string Line(llvm::StringRef line) {
    std::string result;
    bool quoted = false;
    while (!line.empty()) {
      if (line.front() == '"' && !result.ends_with("\\")) quoted = !quoted;
      if (!quoted && line.front() == '%' && line.size() > 1 && IsNameCharacter(line[1])) {
        const llvm::StringRef name = line.drop_front().take_while(IsNameCharacter);
        result += Variable(name);
        line = line.drop_front(1 + name.size());
      } else if (line.starts_with("{{") || line.starts_with("[[")) {  // special to FileCheck
        const char c = line.front();
        result += std::string("{{\\") + c + "\\" + c + "}}";
        line = line.drop_front(2);
      } else {
        result += line.front();
        line = line.drop_front();
      }
    }
    return result;
  }

 private:
  /// `%[[NAME:pattern]]` where the name is met first, `%[[NAME]]` from then on.
  std::string Variable(llvm::StringRef name) {
    auto [it, inserted] = variables_.try_emplace(name);
    if (!inserted) return "%[[" + it->second + "]]";
    std::string base = name.upper();
    for (char& c : base)
      if (!llvm::isAlnum(c)) c = '_';
    if (llvm::isDigit(base.front())) base.insert(0, "V");
    std::string variable = base;
    for (int i = 1; !used_.insert(variable).second; ++i) variable = base + "_" + std::to_string(i);
    it->second = variable;
    return "%[[" + variable + ":[A-Za-z0-9_.-]+]]";
  }

  llvm::StringMap<std::string> variables_;
  llvm::StringSet<> used_;
};

}  // namespace

bool IsCheckLine(llvm::StringRef line) {
  line = line.trim();
  return line.consume_front("//") && line.ltrim().starts_with("CHECK") && line.contains(':');
}

std::string GenerateChecks(llvm::StringRef output) {
  Generalizer generalizer;
  std::string result;
  llvm::StringRef directive = "CHECK: ";
  llvm::SmallVector<llvm::StringRef> lines;
  output.split(lines, '\n');
  for (const llvm::StringRef line : lines) {
    if (line.trim().empty()) {
      directive = "CHECK: ";
      continue;
    }
    result += "// " + directive.str() + generalizer.Line(line.trim()) + "\n";
    directive = "CHECK-NEXT: ";
  }
  return result;
}

std::optional<std::string> ReplaceCheckBlock(llvm::StringRef text, llvm::StringRef output) {
  const size_t at = text.find(kCheckBanner);
  if (at == llvm::StringRef::npos) return std::nullopt;
  const size_t block = std::min(text.find('\n', at), text.size() - 1) + 1;
  llvm::StringRef rest = text.drop_front(block);
  while (!rest.empty() && IsCheckLine(rest.take_front(rest.find('\n'))))
    rest = rest.drop_front(std::min(rest.find('\n'), rest.size() - 1) + 1);
  std::string result = text.take_front(block).str();
  if (!llvm::StringRef(result).ends_with("\n")) result += '\n';
  return result + GenerateChecks(output) + rest.str();
}

}  // namespace hlo

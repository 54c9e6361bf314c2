#include "tools/common/explain.h"

#include "llvm/ADT/SmallVector.h"

namespace hlo {
namespace {

using llvm::StringRef;

constexpr size_t kWidth = 100;

void PrintParagraph(StringRef text, llvm::raw_ostream& out) {
  size_t column = 0;
  for (const StringRef word : llvm::split(text, ' ')) {
    if (column > 0 && column + 1 + word.size() > kWidth) {
      out << '\n';
      column = 0;
    }
    if (column > 0) out << ' ';
    out << word;
    column += word.size() + (column > 0 ? 1 : 0);
  }
  out << '\n';
}

}  // namespace

StringRef FindExplanation(StringRef id) {
  const std::string heading = ("\n## " + id + "\n").str();
  for (const StringRef text : ExplanationTexts())
    if (const size_t at = text.find(heading); at != StringRef::npos) {
      const StringRef section = text.drop_front(at + heading.size());
      return section.take_front(section.find("\n## ")).trim('\n');
    }
  return {};
}

void PrintExplanation(StringRef section, llvm::raw_ostream& out) {
  constexpr StringRef kFence = "```";
  bool in_block = false;
  for (StringRef line : llvm::split(section, '\n')) {
    if (line.consume_front(kFence)) {
      in_block = !in_block;
      if (in_block) out << (line == "hlo" ? "m.hlo:\n" : "");
    } else if (in_block) {
      out << (line.empty() ? "" : "    ") << line << '\n';
    } else {
      PrintParagraph(line, out);
    }
  }
}

}  // namespace hlo

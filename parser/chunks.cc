// Texts with several modules, and texts with log prefixes (tools.md §1.2).
#include "parser/lexer.h"
#include "parser/parser.h"
#include "parser/scan.h"

namespace hlo {
namespace {

using llvm::StringRef;

bool IsBlankOrComment(StringRef text) {
  Lexer lexer(text, 0, text.size());
  Token token;
  lexer.Lex(token);
  return token.kind == TokenKind::Eof;
}

/// A comment of dashes only that is no separator: `// ---`, `//-----`.
bool LooksLikeMarker(StringRef line) {
  if (!line.consume_front("//")) return false;
  line = line.trim();
  return line.size() >= 3 && line.find_first_not_of('-') == StringRef::npos;
}

/// Length of the log prefix of a line: `I0521 12:04:45.883483 1509 file.cc:186] `; 0 if there is none.
size_t LogPrefixLength(StringRef line) {
  StringRef rest = line;
  const auto digits = [&](size_t least) {
    const size_t n = std::min(rest.find_first_not_of("0123456789"), rest.size());
    rest = rest.drop_front(n);
    return n >= least;
  };
  const auto blanks = [&] {
    const size_t n = rest.size();
    rest = rest.ltrim(' ');
    return rest.size() < n;
  };
  if (rest.empty() || !StringRef("IWEF").contains(rest.front())) return 0;
  rest = rest.drop_front();
  if (!digits(4) || !blanks() || !digits(2) || !rest.consume_front(":") || !digits(2) ||
      !rest.consume_front(":") || !digits(2) || !rest.consume_front(".") || !digits(1) || !blanks() ||
      !digits(1) || !blanks())
    return 0;
  const size_t colon = rest.find_first_of(": ]");
  if (colon == StringRef::npos || colon == 0 || rest[colon] != ':') return 0;
  rest = rest.drop_front(colon + 1);
  if (!digits(1) || !rest.consume_front("]")) return 0;
  rest.consume_front(" ");
  return line.size() - rest.size();
}

}  // namespace

std::vector<Chunk> SplitChunks(const SourceBuffer& source, std::vector<Diagnostic>& warnings) {
  const StringRef text = source.text();
  std::vector<Chunk> chunks;
  size_t begin = 0;
  const auto finish = [&](size_t end) {
    if (!IsBlankOrComment(text.slice(begin, end))) chunks.push_back({begin, end});
  };
  for (size_t at = 0; (at = scan::FindPair(text, at, '/', "/")) < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const size_t line_begin = text.rfind('\n', at) + 1;  // 0 if there is none
    const StringRef line = text.slice(at, end).rtrim();
    const size_t comment = at;
    at = end;
    if (!text.slice(line_begin, comment).trim().empty()) continue;
    if (line == "// -----") {
      finish(line_begin);
      begin = std::min(end + 1, text.size());
    } else if (LooksLikeMarker(line)) {
      Diagnostic d;
      d.severity = Severity::Warning;
      d.id = "split-marker-typo";
      d.message =
          ("found '" + line.take_front(40) + "', expected '// -----' if this separates modules").str();
      const auto offset = static_cast<uint32_t>(comment);
      d.loc = {&source, offset, offset + static_cast<uint32_t>(line.size())};
      warnings.push_back(std::move(d));
    }
  }
  finish(text.size());
  return chunks;
}

std::string BlankLogPrefixes(std::string text) {
  const auto blank = [&](size_t at) {
    const size_t length = LogPrefixLength(StringRef(text).slice(at, StringRef(text).find('\n', at)));
    std::fill_n(text.begin() + static_cast<ptrdiff_t>(at), length, ' ');
  };
  blank(0);
  for (size_t at = 0; (at = scan::FindPair(text, at, '\n', "IWEF")) < text.size(); ++at) blank(at + 1);
  return text;
}

}  // namespace hlo

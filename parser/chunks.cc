// Texts with several modules, and texts with log prefixes (tools.md §1.2).
#include "parser/lexer.h"
#include "parser/parser.h"

namespace hlo {
namespace {

using llvm::StringRef;

bool IsBlankOrComment(StringRef text) {
  Lexer lexer(text, 0, text.size());
  Token token;
  lexer.Lex(token);
  return token.kind == TokenKind::Eof;
}

/// The line without blanks around it if it is a comment, else nothing.
StringRef CommentOf(StringRef line) {
  const char* first = line.begin();
  while (first != line.end() && llvm::isSpace(*first)) ++first;
  return first != line.end() && *first == '/' ? line.trim() : StringRef();
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
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const StringRef line = CommentOf(text.slice(at, end));
    if (line == "// -----") {
      finish(at);
      begin = std::min(end + 1, text.size());
    } else if (LooksLikeMarker(line)) {
      Diagnostic d;
      d.severity = Severity::Warning;
      d.id = "split-marker-typo";
      d.message =
          ("found '" + line.take_front(40) + "', expected '// -----' if this separates modules").str();
      const auto offset = static_cast<uint32_t>(line.data() - text.data());
      d.loc = {&source, offset, offset + static_cast<uint32_t>(line.size())};
      warnings.push_back(std::move(d));
    }
    at = end + 1;
  }
  finish(text.size());
  return chunks;
}

std::string BlankLogPrefixes(std::string text) {
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const char first = text[at];
    if (first == 'I' || first == 'W' || first == 'E' || first == 'F') {
      const size_t length = LogPrefixLength(StringRef(text).slice(at, end));
      std::fill_n(text.begin() + static_cast<ptrdiff_t>(at), length, ' ');
    }
    at = end + 1;
  }
  return text;
}

}  // namespace hlo

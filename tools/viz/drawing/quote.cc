#include "tools/viz/drawing/quote.h"

#include "ir/support/utf8.h"

namespace hlo {
namespace {

constexpr size_t kLongestDotString = 7000;  // escaping at most doubles it: below 16 KB

}  // namespace

std::string PrintableText(llvm::StringRef text, size_t limit) {
  const bool cut = text.size() > limit;
  std::string out = ReplaceMalformed(cut ? text.take_front(limit) : text);
  for (char& c : out)
    if ((static_cast<unsigned char>(c) < 0x20 && c != '\n') || c == 0x7f) c = ' ';
  if (cut) out += "...";
  return out;
}

std::string DotQuoted(llvm::StringRef text, bool left) {
  const std::string clean = PrintableText(text, kLongestDotString);
  std::string out = "\"";
  for (const char c : clean) {
    if (c == '\n') {
      out += left ? "\\l" : "\\n";
      continue;
    }
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  if (left && !clean.empty() && clean.back() != '\n') out += "\\l";
  out += '"';
  return out;
}

void AppendHtml(std::string& out, llvm::StringRef text) {
  for (const char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else
      out += c;
  }
}

}  // namespace hlo

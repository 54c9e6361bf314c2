#include "ir/support/utf8.h"

#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

namespace hlo {
namespace {

bool IsAsciiByte(char c) { return (static_cast<unsigned char>(c) & 0x80U) == 0; }

}  // namespace

size_t CharacterLength(llvm::StringRef text) {
  if (IsAsciiByte(text.front())) return 1;
  const auto* begin = reinterpret_cast<const llvm::UTF8*>(text.begin());
  const auto* end = reinterpret_cast<const llvm::UTF8*>(text.end());
  const unsigned length = llvm::getNumBytesForUTF8(*begin);
  return llvm::isLegalUTF8Sequence(begin, end) != 0 ? length : 1;
}

size_t CountCharacters(llvm::StringRef text) {
  size_t count = 0;
  while (!text.empty()) {
    text = text.drop_front(CharacterLength(text));
    ++count;
  }
  return count;
}

std::string ReplaceMalformed(llvm::StringRef text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const size_t length = CharacterLength(text);
    if (length == 1 && !IsAsciiByte(text.front()))
      result += "\xef\xbf\xbd";
    else
      result += text.take_front(length);
    text = text.drop_front(length);
  }
  return result;
}

std::string EscapeControls(llvm::StringRef text) {
  std::string result;
  llvm::raw_string_ostream os(result);
  while (!text.empty()) {
    const size_t length = CharacterLength(text);
    const auto first = static_cast<unsigned char>(text.front());
    const bool control = (first < 0x20 && first != '\n' && first != '\t') || first == 0x7F;
    if (length == 1 && (control || first >= 0x80))
      os << llvm::format("\\x%02x", first);
    else
      os << text.take_front(length);
    text = text.drop_front(length);
  }
  return result;
}

}  // namespace hlo

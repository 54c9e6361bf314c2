// LLVM's strings and numbers in them, as far as the archive uses them.
#include <algorithm>
#include <string_view>

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"

namespace llvm {

namespace {

std::string_view View(StringRef text) { return {text.data(), text.size()}; }

int CompareLowered(StringRef a, StringRef b) {
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    const auto x = static_cast<unsigned char>(toLower(a[i])), y = static_cast<unsigned char>(toLower(b[i]));
    if (x != y) return x < y ? -1 : 1;
  }
  return a.size() == b.size() ? 0 : a.size() < b.size() ? -1 : 1;
}

/// Takes 0x, 0b, 0o, or the 0 of an octal number away.
unsigned TakeRadix(StringRef& text) {
  constexpr struct {
    StringRef prefix;
    unsigned radix;
  } kPrefixes[] = {{"0x", 16}, {"0b", 2}, {"0o", 8}};
  for (const auto& [prefix, radix] : kPrefixes) {
    if (!text.starts_with_insensitive(prefix)) continue;
    text = text.drop_front(prefix.size());
    return radix;
  }
  if (text.size() < 2 || text[0] != '0' || !isDigit(text[1])) return 10;
  text = text.drop_front();
  return 8;
}

}  // namespace

size_t StringRef::find(StringRef text, size_t from) const { return View(*this).find(View(text), from); }
size_t StringRef::rfind(StringRef text) const { return View(*this).rfind(View(text)); }
size_t StringRef::find_first_of(StringRef any, size_t from) const {
  return View(*this).find_first_of(View(any), from);
}
size_t StringRef::find_first_not_of(StringRef any, size_t from) const {
  return View(*this).find_first_not_of(View(any), from);
}
size_t StringRef::find_last_not_of(char c, size_t before) const {
  return View(*this).substr(0, before).find_last_not_of(c);
}
size_t StringRef::find_last_not_of(StringRef any, size_t before) const {
  return View(*this).substr(0, before).find_last_not_of(View(any));
}
int StringRef::compare_insensitive(StringRef other) const { return CompareLowered(*this, other); }
bool StringRef::starts_with_insensitive(StringRef prefix) const {
  return size() >= prefix.size() && CompareLowered(take_front(prefix.size()), prefix) == 0;
}

void StringRef::split(SmallVectorImpl<StringRef>& parts, char separator, int most, bool keeps_empty) const {
  StringRef rest = *this;
  for (; most != 0; --most) {
    const size_t at = rest.find(separator);
    if (at == npos) break;
    if (keeps_empty || at > 0) parts.push_back(rest.take_front(at));
    rest = rest.drop_front(at + 1);
  }
  if (keeps_empty || !rest.empty()) parts.push_back(rest);
}

// True: no number, or one that is too large.

bool consumeUnsignedInteger(StringRef& text, unsigned radix, unsigned long long& number) {
  StringRef rest = text;
  if (radix == 0) radix = TakeRadix(rest);
  const size_t length = rest.size();
  number = 0;
  for (; !rest.empty(); rest = rest.drop_front()) {
    const unsigned digit = hexDigitValue(rest.front()),
                   letter = static_cast<unsigned>(toLower(rest.front()) - 'a');
    const unsigned value = digit < 16 ? digit : letter < 26 ? letter + 10 : radix;
    if (value >= radix) break;
    if (__builtin_mul_overflow(number, radix, &number) || __builtin_add_overflow(number, value, &number))
      return true;
  }
  if (rest.size() == length) return true;
  text = rest;
  return false;
}

bool consumeSignedInteger(StringRef& text, unsigned radix, long long& number) {
  StringRef rest = text;
  const bool negative = rest.consume_front("-");
  unsigned long long size = 0;
  constexpr auto kMost = static_cast<unsigned long long>(std::numeric_limits<long long>::max());
  if (consumeUnsignedInteger(rest, radix, size) || size > kMost + (negative ? 1 : 0)) return true;
  number = static_cast<long long>(negative ? 0 - size : size);
  text = rest;
  return false;
}

bool getAsUnsignedInteger(StringRef text, unsigned radix, unsigned long long& number) {
  return consumeUnsignedInteger(text, radix, number) || !text.empty();
}
bool getAsSignedInteger(StringRef text, unsigned radix, long long& number) {
  return consumeSignedInteger(text, radix, number) || !text.empty();
}

}  // namespace llvm

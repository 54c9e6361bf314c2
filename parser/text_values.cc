// Values of string and number tokens.
#include <charconv>
#include <limits>

#include "llvm/ADT/StringExtras.h"
#include "parser/lexer.h"

namespace hlo {
namespace {

using llvm::StringRef;

void AppendUtf8(uint32_t c, std::string& out) {
  const auto byte = [&](uint32_t b) { out.push_back(static_cast<char>(b)); };
  const auto tail = [&](uint32_t bits) { byte(0x80 | (bits & 0x3F)); };
  if (c < 0x80) return byte(c);
  if (c < 0x800) {
    byte(0xC0 | c >> 6);
  } else {
    if (c < 0x10000) {
      byte(0xE0 | c >> 12);
    } else {
      byte(0xF0 | c >> 18);
      tail(c >> 12);
    }
    tail(c >> 6);
  }
  tail(c);
}

/// Reads up to `limit` hexadecimal digits; the number read, -1 if there is none.
int64_t TakeHex(StringRef& rest, size_t limit, size_t& count) {
  uint64_t value = 0;
  for (count = 0; count < limit && !rest.empty() && llvm::isHexDigit(rest.front()); ++count) {
    value = std::min<uint64_t>(value << 4 | llvm::hexDigitValue(rest.front()), 0xFFFFFFFF);
    rest = rest.drop_front();
  }
  return count == 0 ? -1 : static_cast<int64_t>(value);
}

/// The part of an escape after the backslash; false if it is malformed.
bool UnescapeOne(StringRef& rest, std::string& out) {
  static constexpr StringRef kLetters = "abfnrtv\\?'\"", kValues = "\a\b\f\n\r\t\v\\?'\"";
  if (rest.empty()) return false;
  const char c = rest.front();
  if (const size_t i = kLetters.find(c); i != StringRef::npos) {
    out.push_back(kValues[i]);
    rest = rest.drop_front();
    return true;
  }
  if (c >= '0' && c <= '7') {
    unsigned value = 0;
    for (int n = 0; n < 3 && !rest.empty() && rest.front() >= '0' && rest.front() <= '7'; ++n) {
      value = value * 8 + static_cast<unsigned>(rest.front() - '0');
      rest = rest.drop_front();
    }
    out.push_back(static_cast<char>(value));
    return value <= 0xFF;
  }
  rest = rest.drop_front();
  size_t digits = 0;
  if (c == 'x' || c == 'X') {
    const int64_t value = TakeHex(rest, SIZE_MAX, digits);
    out.push_back(static_cast<char>(value));
    return value >= 0 && value <= 0xFF;
  }
  if (c != 'u' && c != 'U') return false;
  const size_t wanted = c == 'u' ? 4 : 8;
  const int64_t value = TakeHex(rest, wanted, digits);
  if (digits != wanted || value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF)) return false;
  AppendUtf8(static_cast<uint32_t>(value), out);
  return true;
}

}  // namespace

bool Unescape(StringRef raw, std::string& out, size_t& bad) {
  out.clear();
  out.reserve(raw.size());
  StringRef rest = raw;
  while (!rest.empty()) {
    const size_t plain = std::min(rest.find('\\'), rest.size());
    out.append(rest.begin(), rest.begin() + plain);
    rest = rest.drop_front(plain);
    if (rest.empty()) break;
    bad = static_cast<size_t>(rest.data() - raw.data());
    rest = rest.drop_front();
    if (!UnescapeOne(rest, out)) return false;
  }
  return true;
}

bool IsUtf8(StringRef bytes) {
  const auto at = [&](size_t i) { return static_cast<uint8_t>(bytes[i]); };
  for (size_t i = 0; i < bytes.size();) {
    const uint8_t lead = at(i);
    const size_t length = lead < 0x80                   ? 1
                          : lead >= 0xC2 && lead < 0xE0 ? 2
                          : lead >= 0xE0 && lead < 0xF0 ? 3
                          : lead >= 0xF0 && lead < 0xF5 ? 4
                                                        : 0;
    if (length == 0 || i + length > bytes.size()) return false;
    for (size_t k = 1; k < length; ++k)
      if ((at(i + k) & 0xC0) != 0x80) return false;
    if (lead == 0xE0 && at(i + 1) < 0xA0) return false;
    if (lead == 0xF0 && at(i + 1) < 0x90) return false;
    if (lead == 0xF4 && at(i + 1) > 0x8F) return false;
    i += length;
  }
  return true;
}

double DecimalValue(StringRef text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.begin(), text.end(), value);
  if (error == std::errc::result_out_of_range) {
    // from_chars does not tell overflow from underflow.
    const std::string copy = text.str();
    return std::strtod(copy.c_str(), nullptr);
  }
  return value;
}

uint64_t NanPayload(StringRef text) {
  const size_t x = text.find('x');
  uint64_t payload = 0;
  if (x != StringRef::npos) text.slice(x + 1, text.size() - 1).getAsInteger(16, payload);
  return payload;
}

}  // namespace hlo

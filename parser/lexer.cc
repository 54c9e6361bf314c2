#include "parser/lexer.h"

#include <array>
#include <cassert>
#include <cstring>

#include "ir/support/name_hash.h"
#include "llvm/Support/FormatVariadic.h"
#include "parser/scan.h"

namespace hlo {
namespace {

using llvm::StringRef;

using scan::Is;
using scan::kBlank;
using scan::kDigit;
using scan::kHex;
using scan::kNumberTail;
using scan::kWordStart;

constexpr std::array<TokenKind, 256> MakePunctuation() {
  std::array<TokenKind, 256> t{};
  for (TokenKind& k : t) k = TokenKind::Error;
  t['='] = TokenKind::Equal, t[','] = TokenKind::Comma, t[':'] = TokenKind::Colon, t['*'] = TokenKind::Star;
  t['#'] = TokenKind::Hash, t['+'] = TokenKind::Plus, t['~'] = TokenKind::Tilde;
  t['['] = TokenKind::LBracket, t[']'] = TokenKind::RBracket, t['{'] = TokenKind::LBrace;
  t['}'] = TokenKind::RBrace, t['('] = TokenKind::LParen, t[')'] = TokenKind::RParen;
  return t;
}
constexpr std::array<TokenKind, 256> kPunctuation = MakePunctuation();

// --- Reserved words: keywords and type names, found by a hash of length and two characters ---
struct ReservedWord {
  StringRef text;
  TokenKind kind;
  ElementType type;
};
class ReservedWords {
 public:
  constexpr ReservedWords() {
#define HLO_TOKEN(Kind, description)
#define HLO_KEYWORD(Kind, word) Insert({word, TokenKind::Kind, ElementType::Token});
#include "parser/tokens.def"
    for (const TypeInfo& t : kTypeTable)
      if (t.type != ElementType::Tuple && t.type != ElementType::Buffer)
        Insert({t.text, TokenKind::Type, t.type});
  }
  const ReservedWord* Find(StringRef word) const {
    if (!MayBeReserved(word)) return nullptr;
    for (size_t i = Slot(word);; i = (i + 1) % kSlots) {
      const ReservedWord& entry = slots_[i];
      if (entry.text.empty()) return nullptr;
      if (SameName(entry.text, word)) return &entry;
    }
  }

 private:
  static constexpr size_t kSlots = 512;
  static constexpr size_t Slot(StringRef w) {
    const auto c = [&](size_t i) { return static_cast<size_t>(static_cast<uint8_t>(w.data()[i])); };
    return (c(0) * 31 + c(w.size() / 2) * 7 + c(w.size() - 1) * 97 + w.size() * 13) % kSlots;
  }
  /// Some reserved word has this length and first character: true for few opcodes and names.
  [[nodiscard]] bool MayBeReserved(StringRef word) const {
    return word.size() < 32 && (lengths_[static_cast<uint8_t>(word[0])] >> word.size() & 1) != 0;
  }
  constexpr void Insert(const ReservedWord& word) {
    size_t i = Slot(word.text);
    while (!slots_[i].text.empty()) i = (i + 1) % kSlots;
    slots_[i] = word;
    assert(word.text.size() < 32);
    lengths_[static_cast<uint8_t>(word.text.data()[0])] |= 1u << word.text.size();
  }
  std::array<ReservedWord, kSlots> slots_{};
  std::array<uint32_t, 256> lengths_{};  // by first character: a bit per length
};
constexpr ReservedWords kReservedWords;

// --- Number-like patterns: each returns the end of its longest match at p, or null ---
const char* Digits(const char* p, const char* end) {
  while (p < end && Is(*p, kDigit)) ++p;
  return p;
}
const char* Minus(const char* p, const char* end) { return p < end && *p == '-' ? p + 1 : p; }

/// -?(\d+|\d+\.\d*|\d*\.\d+)[eE][+-]?\d+ | -?(\d+\.\d*|\d*\.\d+)
const char* MatchDecimal(const char* p, const char* end) {
  const char* start = Minus(p, end);
  const char* q = Digits(start, end);
  bool point = false;
  if (q < end && *q == '.') {
    const char* fraction = Digits(q + 1, end);
    if (q > start || fraction > q + 1) {
      point = true;
      q = fraction;
    }
  }
  if (q == start) return nullptr;
  if (q < end && (*q == 'e' || *q == 'E')) {
    const char* e = q + 1;
    if (e < end && (*e == '+' || *e == '-')) ++e;
    const char* stop = Digits(e, end);
    if (stop > e) return stop;
  }
  return point ? q : nullptr;
}

const char* MatchLabelPart(const char* p, const char* end, char one, char two) {
  const char* q = p;
  while (q < end && (Is(*q, kDigit) || *q == one || *q == two || *q == '?')) ++q;
  return q - p >= 2 ? q : nullptr;
}
/// [0-9bf?]{2,}_[0-9io?]{2,}->[0-9bf?]{2,}
const char* MatchDimLabels(const char* p, const char* end) {
  p = MatchLabelPart(p, end, 'b', 'f');
  if (!p || p >= end || *p != '_') return nullptr;
  p = MatchLabelPart(p + 1, end, 'i', 'o');
  if (!p || end - p < 2 || p[0] != '-' || p[1] != '>') return nullptr;
  return MatchLabelPart(p + 2, end, 'b', 'f');
}
/// \d+(x\d+)+
const char* MatchDxD(const char* p, const char* end) {
  const char* q = Digits(p, end);
  if (q == p) return nullptr;
  const char* last = nullptr;
  while (q < end && *q == 'x') {
    const char* r = Digits(q + 1, end);
    if (r == q + 1) break;
    last = q = r;
  }
  return last;
}
/// -?\d+_-?\d+(_\d+)?
const char* MatchPadDim(const char* p, const char* end) {
  const char* low = Minus(p, end);
  const char* q = Digits(low, end);
  if (q == low || q >= end || *q != '_') return nullptr;
  const char* high = Minus(q + 1, end);
  q = Digits(high, end);
  if (q == high) return nullptr;
  if (q < end && *q == '_') {
    const char* interior = Digits(q + 1, end);
    if (interior > q + 1) return interior;
  }
  return q;
}
const char* MatchPad(const char* p, const char* end) {
  const char* q = MatchPadDim(p, end);
  while (q && q < end && *q == 'x') {
    const char* r = MatchPadDim(q + 1, end);
    if (!r) break;
    q = r;
  }
  return q;
}
/// `(0xH…)` after nan, with payload 1 … 2^52-1.
const char* MatchPayload(const char* p, const char* end) {
  const StringRef rest(p, static_cast<size_t>(end - p));
  if (!rest.starts_with("(0x")) return nullptr;
  const char* q = p + 3;
  uint64_t value = 0;
  while (q < end && Is(*q, kHex)) {
    value = value << 4 | llvm::hexDigitValue(*q++);
    if (value >> 52 != 0) return nullptr;
  }
  if (q == p + 3 || value == 0 || q >= end || *q != ')') return nullptr;
  return q + 1;
}

}  // namespace

StringRef Describe(TokenKind kind) {
  static constexpr StringRef kNames[] = {
#define HLO_TOKEN(Kind, description) description,
#include "parser/tokens.def"
  };
  return kNames[static_cast<size_t>(kind)];
}

bool IsTypeWord(StringRef word) {
  const ReservedWord* found = kReservedWords.Find(word);
  return found && found->kind == TokenKind::Type;
}

void Lexer::Finish(Token& token, TokenKind kind, const char* end) {
  token.kind = kind;
  token.end = static_cast<uint32_t>(end - base_);
  at_ = end;
}

void Lexer::Fail(Token& token, const char* end, DiagnosticId id, std::string message) {
  error_ = {id, std::move(message)};
  token.text = StringRef(base_ + token.begin, static_cast<size_t>(end - base_) - token.begin);
  Finish(token, TokenKind::Error, end);
}

/// `/* … */` or `// …`; at_ is at the slash. False: token is an error.
bool Lexer::SkipComment(Token& token) {
  const char next = Peek(1);
  if (next == '/') {
    const char* q = at_ + 2;
    while (q < end_ && *q != '\n' && *q != '\r' && *q != '\0') ++q;
    at_ = q;
    return true;  // a NUL is then an ordinary lexical error
  }
  token.begin = offset();
  if (next != '*') {
    Fail(token, at_ + 1, "parse-character", "found '/', which starts no token or comment");
    return false;
  }
  for (const char* q = at_ + 2; q < end_; ++q) {
    if (*q == '*' && q + 1 < end_ && q[1] == '/') {
      at_ = q + 2;
      return true;
    }
    if (*q == '\0') {
      token.begin = static_cast<uint32_t>(q - base_);
      Fail(token, q + 1, "parse-character", "found a NUL byte in a comment");
      return false;
    }
  }
  Fail(token, at_ + 2, "parse-unterminated", "found '/*' without a closing '*/'");
  at_ = end_;
  return false;
}

bool Lexer::SkipBlanks(Token& token) {
  while (at_ < end_) {
    if (Is(*at_, kBlank)) {
      ++at_;
    } else if (*at_ == '/') {
      if (!SkipComment(token)) return false;
    } else {
      return true;
    }
  }
  return true;
}

void Lexer::Lex(Token& token) {
  const char* p = at_;
  while (p < end_ && Is(*p, kBlank)) ++p;
  at_ = p;
  if (p < end_ && *p == '/') {
    if (!SkipBlanks(token)) return;
    p = at_;
  }
  token.begin = offset();
  if (p >= end_) return Finish(token, TokenKind::Eof, p);
  const char c = *p;
  if (Is(c, kWordStart)) return LexWord(token);
  if (c == '%') return LexPercentName(token);
  if (const TokenKind kind = kPunctuation[static_cast<uint8_t>(c)]; kind != TokenKind::Error)
    return Finish(token, kind, p + 1);
  if (Is(c, kDigit)) return LexDigits(token);
  LexOther(token);
}

/// What starts with no letter, digit, '%' or punctuation of one character. Kept apart, as the rest of Lex()
/// needs no stack frame.
[[gnu::noinline]] void Lexer::LexOther(Token& token) {
  const char c = *at_;
  if (c == '-' || c == '?') return LexSlowNumber(token);
  if (c == '"' || c == '\'') return LexString(token);
  if (c == '<' && Peek(1) == '=') return Finish(token, TokenKind::LessEqual, at_ + 2);
  if (c == '.' && Peek(1) == '.' && Peek(2) == '.') return Finish(token, TokenKind::Ellipsis, at_ + 3);
  const auto byte = static_cast<uint8_t>(c);
  if (byte >= 0x21 && byte < 0x7F)
    return Fail(token, at_ + 1, "parse-character", llvm::formatv("found '{0}', which starts no token", c));
  Fail(token, at_ + 1, "parse-character",
       llvm::formatv("found byte 0x{0}, which may only stand in strings", llvm::utohexstr(byte, false, 2)));
}

void Lexer::LexWord(Token& token) {
  const char* q = scan::EndOfWord(at_ + 1, end_);
  token.text = StringRef(at_, static_cast<size_t>(q - at_));
  token.percent = false;
  if (q < end_ && *q == ':') return Finish(token, TokenKind::Name, q + 1);
  if (q < end_ && *q == '=') return Finish(token, TokenKind::AttrName, q + 1);
  ClassifyWord(token);
}

void Lexer::ClassifyWord(Token& token) {
  const char* q = token.text.end();
  if (const ReservedWord* word = kReservedWords.Find(token.text)) {
    token.type = word->type;
    return Finish(token, word->kind, q);
  }
  if (token.text == "nan") return LexNan(token, q);
  if (const char first = *at_; first == 'b' || first == 'f')
    if (const char* labels = MatchDimLabels(at_, end_)) {
      token.text = StringRef(at_, static_cast<size_t>(labels - at_));
      return Finish(token, TokenKind::DimLabels, labels);
    }
  Finish(token, TokenKind::Ident, q);
}

/// A nan whose word ends at `open`; a `(` there must start a payload.
void Lexer::LexNan(Token& token, const char* open) {
  const char* stop = open;
  if (open < end_ && *open == '(') {
    stop = MatchPayload(open, end_);
    if (!stop)
      return Fail(token, open + 1, "parse-number",
                  "found 'nan(' without a payload, expected '(0x…)' with 1 to 52 significant bits");
  }
  token.text = StringRef(base_ + token.begin, static_cast<size_t>(stop - base_) - token.begin);
  Finish(token, TokenKind::Decimal, stop);
}

void Lexer::LexPercentName(Token& token) {
  const char* q = at_ + 1;
  if (q >= end_ || !Is(*q, kWordStart)) return FailPercent(token);
  q = scan::EndOfWord(q, end_);
  token.text = StringRef(at_ + 1, static_cast<size_t>(q - at_ - 1));
  token.percent = true;
  Finish(token, TokenKind::Name, q);
}

[[gnu::noinline]] void Lexer::FailPercent(Token& token) {
  Fail(token, at_ + 1, "parse-character", "found '%' without a name after it");
}

void Lexer::LexString(Token& token) {
  const char quote = *at_;
  const char* start = at_ + 1;
  token.escaped = false;
  bool ascii = true;
  for (const char* q = start; q < end_; ++q) {
    if (*q == quote) {
      token.text = StringRef(start, static_cast<size_t>(q - start));
      if (!ascii && !IsUtf8(token.text))
        return Fail(token, q + 1, "parse-string",
                    "found a string that is not UTF-8; write such bytes as escapes");
      return Finish(token, TokenKind::String, q + 1);
    }
    if (*q == '\\') {
      token.escaped = true;
      if (++q < end_ && *q == '\n') break;
    }
    if (q < end_) ascii &= static_cast<uint8_t>(*q) < 0x80;
  }
  const void* newline = std::memchr(start, '\n', static_cast<size_t>(end_ - start));
  Fail(token, newline ? static_cast<const char*>(newline) : end_, "parse-unterminated",
       llvm::formatv("found a string without a closing {0}", quote));
}

void Lexer::FinishInt(Token& token, const char* end) {
  const StringRef text(at_, static_cast<size_t>(end - at_));
  token.text = text;
  StringRef digits = text;
  const bool negative = digits.consume_front("-");
  uint64_t value = 0;
  bool overflow = false;
  if (digits.size() <= 18) {
    for (char c : digits) value = value * 10 + static_cast<uint64_t>(c - '0');
  } else {
    overflow = digits.getAsInteger(10, value);
  }
  if (overflow || (negative && value > uint64_t{1} << 63))
    return Fail(token, end, "parse-range",
                llvm::formatv("integer {0} is out of range, expected -2^63 to 2^64-1",
                              text.size() > 40 ? text.take_front(37).str() + "..." : text.str()));
  token.integer = static_cast<int64_t>(negative ? 0 - value : value);
  Finish(token, TokenKind::Int, end);
}

/// Digits, which mostly are a plain integer.
void Lexer::LexDigits(Token& token) {
  constexpr ptrdiff_t kSafeDigits = 18;
  const char* q = at_;
  uint64_t value = 0;
  for (; q < end_ && Is(*q, kDigit); ++q) value = value * 10 + static_cast<uint64_t>(*q - '0');
  if (q - at_ > kSafeDigits || (q < end_ && Is(*q, kNumberTail))) return LexSlowNumber(token);
  token.text = StringRef(at_, static_cast<size_t>(q - at_));
  token.integer = static_cast<int64_t>(value);
  Finish(token, TokenKind::Int, q);
}

/// `->`, Decimal, DimLabels, DxD, Pad, Int, -inf, -nan, `?`: the first that matches.
void Lexer::LexSlowNumber(Token& token) {
  const auto match = [&](TokenKind kind, const char* end) {
    token.text = StringRef(at_, static_cast<size_t>(end - at_));
    Finish(token, kind, end);
  };
  if (*at_ == '-' && Peek(1) == '>') return Finish(token, TokenKind::Arrow, at_ + 2);
  if (const char* q = MatchDecimal(at_, end_)) return match(TokenKind::Decimal, q);
  if (const char* q = MatchDimLabels(at_, end_)) return match(TokenKind::DimLabels, q);
  if (const char* q = MatchDxD(at_, end_)) return match(TokenKind::DxD, q);
  if (const char* q = MatchPad(at_, end_)) return match(TokenKind::Pad, q);
  const char* digits = Minus(at_, end_);
  if (const char* q = Digits(digits, end_); q > digits) return FinishInt(token, q);
  if (Rest().starts_with("-inf")) return match(TokenKind::NegInf, at_ + 4);
  if (Rest().starts_with("-nan")) return LexNan(token, at_ + 4);
  if (*at_ == '?') return Finish(token, TokenKind::Question, at_ + 1);
  Fail(token, at_ + 1, "parse-character", "found '-' without a number after it");
}

uint32_t Lexer::FindJsonEnd(uint32_t open) const {
  size_t depth = 0;
  for (const char* q = base_ + open; q < end_; ++q) {
    if (*q == '{') {
      ++depth;
    } else if (*q == '}') {
      if (--depth == 0) return static_cast<uint32_t>(q + 1 - base_);
    } else if (*q == '"') {
      for (++q; q < end_ && *q != '"'; ++q)
        if (*q == '\\') ++q;
    }
  }
  return 0;
}

}  // namespace hlo

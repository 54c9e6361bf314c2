#include "backends/gpu/ptx/tokens.h"

#include <cstdlib>

#include "llvm/ADT/StringExtras.h"

namespace hlo::ptx {
namespace {

bool IsWordStart(char c) { return llvm::isAlpha(c) || c == '_' || c == '$' || c == '%'; }
bool IsWordPart(char c) { return llvm::isAlnum(c) || c == '_' || c == '$'; }

constexpr llvm::StringRef kPairs[] = {"<<", ">>", "==", "!=", "<=", ">=", "&&", "||"};
constexpr llvm::StringRef kSingles = "(){}[]<>,;:=+-*/|&^~!?@%";

}  // namespace

Token Lexer::Finish(TokenKind kind, size_t begin, uint64_t bits) {
  return {kind, static_cast<uint32_t>(begin), static_cast<uint32_t>(at_), text_.slice(begin, at_), bits};
}

Token Lexer::Fail(size_t begin, const char* why) {
  if (at_ == begin) ++at_;
  error_ = why;
  return Finish(TokenKind::Error, begin);
}

bool Lexer::SkipBlanks() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      ++at_;
    } else if (c == '/' && Peek(1) == '/') {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (c == '/' && Peek(1) == '*') {
      const size_t end = text_.find("*/", at_ + 2);
      if (end == llvm::StringRef::npos) return false;
      at_ = end + 2;
    } else {
      return true;
    }
  }
  return true;
}

Token Lexer::Lex() {
  if (!SkipBlanks()) {
    const size_t begin = at_;
    at_ = text_.size();
    return Fail(begin, "comment has no end");
  }
  const size_t begin = at_;
  if (at_ == text_.size()) return Finish(TokenKind::Eof, begin);
  const char c = Peek();
  if (llvm::isDigit(c)) return LexNumber(begin);
  if (c == '.') return LexDotted(begin);
  // `%` alone is an operator of constant expressions.
  if (IsWordStart(c) && (c != '%' || IsWordPart(Peek(1)))) {
    for (++at_; IsWordPart(Peek());) ++at_;
    return Finish(TokenKind::Word, begin);
  }
  if (c == '"') {
    at_ = text_.find_first_of("\"\n", at_ + 1);
    if (at_ == llvm::StringRef::npos || text_[at_] == '\n') {
      at_ = std::min(at_, text_.size());
      return Fail(begin, "string has no end");
    }
    ++at_;
    return Finish(TokenKind::String, begin);
  }
  for (const llvm::StringRef pair : kPairs)
    if (text_.substr(at_).starts_with(pair)) {
      at_ += 2;
      return Finish(TokenKind::Punctuation, begin);
    }
  if (!kSingles.contains(c)) return Fail(begin, "unknown character");
  ++at_;
  return Finish(TokenKind::Punctuation, begin);
}

Token Lexer::LexDotted(size_t begin) {
  ++at_;
  if (!IsWordPart(Peek())) return Fail(begin, "expected a word after '.'");
  while (IsWordPart(Peek()) || (Peek() == ':' && Peek(1) == ':' && IsWordPart(Peek(2))))
    at_ += Peek() == ':' ? 2 : 1;
  Token token = Finish(TokenKind::Dotted, begin);
  token.text = token.text.drop_front();
  return token;
}

Token Lexer::LexFloatBits(size_t begin, size_t digits, TokenKind kind) {
  at_ = begin + 2;
  while (llvm::isHexDigit(Peek())) ++at_;
  uint64_t bits = 0;
  if (at_ - begin - 2 != digits || text_.slice(begin + 2, at_).getAsInteger(16, bits))
    return Fail(begin, digits == 8 ? "expected 8 hexadecimal digits after 0f"
                                   : "expected 16 hexadecimal digits after 0d");
  return Finish(kind, begin, bits);
}

Token Lexer::LexDecimal(size_t begin) {
  while (llvm::isDigit(Peek())) ++at_;
  if (Peek() == '.') ++at_;
  while (llvm::isDigit(Peek())) ++at_;
  if (Peek() == 'e' || Peek() == 'E') {
    ++at_;
    if (Peek() == '+' || Peek() == '-') ++at_;
    if (!llvm::isDigit(Peek())) return Fail(begin, "malformed number");
    while (llvm::isDigit(Peek())) ++at_;
  }
  const double value = std::strtod(text_.slice(begin, at_).str().c_str(), nullptr);
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return Finish(TokenKind::Float64, begin, bits);
}

Token Lexer::LexNumber(size_t begin) {
  const char kind = Peek() == '0' ? static_cast<char>(Peek(1) | 0x20) : '\0';
  if (kind == 'f') return LexFloatBits(begin, 8, TokenKind::Float32);
  if (kind == 'd') return LexFloatBits(begin, 16, TokenKind::Float64);
  const unsigned radix = kind == 'x' ? 16 : kind == 'b' ? 2 : Peek() == '0' ? 8 : 10;
  if (radix == 16 || radix == 2) at_ += 2;
  const size_t digits = at_;
  while (radix == 16 ? llvm::isHexDigit(Peek()) : llvm::isDigit(Peek())) ++at_;
  if (radix >= 8 && radix != 16 && (Peek() == '.' || Peek() == 'e' || Peek() == 'E')) {
    at_ = begin;
    return LexDecimal(begin);
  }
  uint64_t value = 0;
  for (const char c : text_.slice(digits, at_)) {
    const unsigned digit = llvm::hexDigitValue(c);
    if (digit >= radix) return Fail(begin, "malformed number");
    value = value * radix + digit;
  }
  if (digits == at_) return Fail(begin, "malformed number");
  if (Peek() == 'U') ++at_;
  if (IsWordPart(Peek())) return Fail(begin, "malformed number");
  return Finish(TokenKind::Integer, begin, value);
}

}  // namespace hlo::ptx

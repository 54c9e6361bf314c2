// Tokens of PTX (ptx.md §1.1).
#pragma once
#include <cstdint>
#include <string>

#include "llvm/ADT/StringRef.h"

namespace hlo::ptx {

enum class TokenKind : uint8_t {
  Eof,
  Error,    // what is wrong stands in Lexer::error()
  Word,     // identifiers with their % $ _
  Dotted,   // .word, .shared::cta; `text` is without the dot
  Integer,  // bits of 64, silently wrapped
  Float32,  // 0f…: bits of f32
  Float64,  // 0d… and decimals: bits of f64
  String,
  Punctuation  // one or two characters
};

struct Token {
  TokenKind kind = TokenKind::Eof;
  uint32_t begin = 0, end = 0;
  llvm::StringRef text;
  uint64_t bits = 0;  // of numbers
};

/// Cuts text into tokens on demand. Copying it saves a position.
class Lexer {
 public:
  explicit Lexer(llvm::StringRef text) : text_(text) {}
  Token Lex();
  [[nodiscard]] llvm::StringRef error() const { return error_; }

 private:
  [[nodiscard]] char Peek(size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  /// False: a comment has no end.
  bool SkipBlanks();
  Token Finish(TokenKind kind, size_t begin, uint64_t bits = 0);
  Token Fail(size_t begin, const char* why);
  Token LexNumber(size_t begin);
  Token LexDecimal(size_t begin);
  Token LexFloatBits(size_t begin, size_t digits, TokenKind kind);
  Token LexDotted(size_t begin);

  llvm::StringRef text_;
  size_t at_ = 0;
  llvm::StringRef error_;
};

}  // namespace hlo::ptx

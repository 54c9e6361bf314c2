// Tokens of HLO text (hlo-text §1).
#pragma once
#include <cstdint>
#include <string>

#include "ir/support/diagnostic_id.h"
#include "ir/support/source.h"
#include "ir/types.h"
#include "llvm/ADT/StringRef.h"

namespace hlo {

enum class TokenKind : uint8_t {
#define HLO_TOKEN(Kind, description) Kind,
#include "parser/tokens.def"
};
/// What a token is called in messages: "'('", "a name".
llvm::StringRef Describe(TokenKind kind);

/// One token; a value that points into the source.
struct Token {
  TokenKind kind = TokenKind::Eof;
  ElementType type = ElementType::Token;  // Type
  bool percent = false;                   // Name: written with '%'
  bool escaped = false;                   // String: contents hold backslashes
  uint32_t begin = 0, end = 0;            // source range of the whole spelling
  llvm::StringRef text;  // word without '%', ':' or '='; contents of a string between its quotes
  int64_t integer = 0;   // Int; values from 2^63 on wrap
};

/// A lexical error: the diagnostic's id, message, and place are those of the Error token.
struct LexError {
  DiagnosticId id;
  std::string message;
};

/// Cuts text into tokens on demand. Copying it saves a position.
class Lexer {
 public:
  /// Lexes text[begin, end).
  Lexer(llvm::StringRef text, size_t begin, size_t end)
      : base_(text.data()), at_(text.data() + begin), end_(text.data() + end) {}

  /// Skips blanks and comments and reads one token. Malformed input gives an Error token that covers
  /// at least one byte, and sets error().
  void Lex(Token& token);
  [[nodiscard]] const LexError& error() const { return error_; }

  /// Offset of the first byte not yet read.
  [[nodiscard]] uint32_t offset() const { return static_cast<uint32_t>(at_ - base_); }
  void Seek(uint32_t offset) { at_ = base_ + offset; }
  /// First byte not yet read, without skipping blanks; 0 at the end.
  [[nodiscard]] char Peek(size_t ahead = 0) const { return at_ + ahead < end_ ? at_[ahead] : '\0'; }
  [[nodiscard]] llvm::StringRef Rest() const { return {at_, static_cast<size_t>(end_ - at_)}; }

  /// After a `{` at offset `open` that starts a JSON dict: offset one past the matching `}`; 0 if there
  /// is none. Braces inside double-quoted strings do not count.
  [[nodiscard]] uint32_t FindJsonEnd(uint32_t open) const;

 private:
  bool SkipBlanks(Token& token);
  bool SkipComment(Token& token);
  void LexWord(Token& token);
  void ClassifyWord(Token& token);
  void LexNan(Token& token, const char* open);
  void LexPercentName(Token& token);
  void FailPercent(Token& token);
  void LexString(Token& token);
  void LexDigits(Token& token);
  void LexOther(Token& token);
  void LexSlowNumber(Token& token);
  void Finish(Token& token, TokenKind kind, const char* end);
  void FinishInt(Token& token, const char* end);
  void Fail(Token& token, const char* end, DiagnosticId id, std::string message);

  const char* base_;
  const char* at_;
  const char* end_;
  LexError error_;
};

/// True for the names of element types that are reserved words.
bool IsTypeWord(llvm::StringRef word);
/// Contents of a string token with escapes resolved. False if an escape is malformed; `bad` is then
/// its offset in `raw`.
bool Unescape(llvm::StringRef raw, std::string& out, size_t& bad);
/// True if `bytes` is well-formed UTF-8 (encoded surrogates allowed).
bool IsUtf8(llvm::StringRef bytes);
/// The binary64 value of a Decimal token that is no nan; infinite on overflow.
double DecimalValue(llvm::StringRef text);
/// The payload of `nan(0xH…)` or `-nan(0xH…)`; 0 for plain nan.
uint64_t NanPayload(llvm::StringRef text);

}  // namespace hlo

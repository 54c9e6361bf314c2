// What all parsing functions share: the current token, errors, simple values, caches.
#pragma once
#include <string>
#include <vector>

#include "ir/module.h"
#include "ir/support/diagnostic.h"
#include "ir/support/name_map.h"
#include "llvm/ADT/CachedHashString.h"
#include "llvm/ADT/DenseMap.h"
#include "parser/lexer.h"
#include "parser/parser.h"

namespace hlo {

/// The reading position in one source text. Parsing functions take a Cursor, return false after having
/// reported an error, and else leave it behind what they read. Strings they return live as long as the
/// module: they lie in its source or its arena.
class Cursor {
 public:
  /// Reads source[begin, end). Without `module` no strings with escapes can be read.
  Cursor(const SourceBuffer& source, size_t begin, size_t end, const ParseOptions& options, Module* module);
  Cursor(const Cursor&) = delete;
  Cursor& operator=(const Cursor&) = delete;

  // Tokens.
  [[nodiscard]] const Token& token() const { return token_; }
  [[nodiscard]] TokenKind kind() const { return token_.kind; }
  [[nodiscard]] bool Is(TokenKind kind) const { return token_.kind == kind; }
  [[nodiscard]] bool IsIdent(llvm::StringRef word) const {
    return Is(TokenKind::Ident) && token_.text == word;
  }
  void Advance() {
    previous_end_ = token_.end;
    lexer_.Lex(token_);
  }
  bool Consume(TokenKind kind) {
    if (token_.kind != kind) return false;
    Advance();
    return true;
  }
  /// Consumes a token of this kind or reports what was found instead.
  bool Expect(TokenKind kind, const char* where = "") { return Consume(kind) || Missing(kind, where); }
  /// The token after the current one.
  [[nodiscard]] Token PeekToken() const;
  /// First source byte after the current token.
  [[nodiscard]] char NextByte() const { return lexer_.Peek(); }
  [[nodiscard]] llvm::StringRef RestOfText() const { return lexer_.Rest(); }
  /// Makes the first token at or after `offset` the current one.
  void Seek(uint32_t offset) {
    lexer_.Seek(offset);
    Advance();
  }
  /// The same, for text up to `end` that has been read by other means.
  void SeekPast(uint32_t end) {
    lexer_.Seek(end);
    previous_end_ = end;
    lexer_.Lex(token_);
  }

  /// With a `{` as the current token: end offset of the JSON dict it opens, 0 if it is not closed.
  [[nodiscard]] uint32_t FindJsonEnd() const { return lexer_.FindJsonEnd(token_.begin); }

  // Places.
  [[nodiscard]] const SourceBuffer& source() const { return source_; }
  [[nodiscard]] Loc LocOf(const Token& t) const { return {&source_, t.begin, t.end}; }
  [[nodiscard]] Loc Here() const { return LocOf(token_); }
  /// From `begin` to the end of the last token consumed.
  [[nodiscard]] Loc From(uint32_t begin) const { return {&source_, begin, std::max(begin, previous_end_)}; }
  [[nodiscard]] uint32_t begin() const { return token_.begin; }
  [[nodiscard]] uint32_t previous_end() const { return previous_end_; }
  [[nodiscard]] llvm::StringRef TextFrom(uint32_t begin) const {
    return source_.text().slice(begin, std::max(begin, previous_end_));
  }

  // Errors. Fail() reports and returns false.
  template <class... Args>
  bool Fail(DiagnosticId id, Loc loc, const char* format, Args&&... args) {
    return Report(MakeError(id, loc, format, std::forward<Args>(args)...));
  }
  bool Report(Diagnostic diagnostic);
  void Warn(DiagnosticId id, Loc loc, std::string message);
  /// "found X, expected `what`" at the current token; lexical errors say what is wrong with the token.
  bool Unexpected(llvm::StringRef what);
  /// Unexpected word: with suggestions from the words possible here.
  bool UnknownWord(DiagnosticId id, llvm::StringRef what, llvm::ArrayRef<llvm::StringRef> words);
  [[nodiscard]] unsigned error_count() const { return error_count_; }
  /// Reads no more: moves to the end of the text, and drops further errors.
  void Stop();
  /// True once max_errors were reported: reading has moved to the end of the text.
  [[nodiscard]] bool stopped() const { return stopped_; }
  std::vector<Diagnostic> TakeDiagnostics() { return std::move(diagnostics_); }

  // Simple values.
  bool ParseInt(int64_t& out);
  bool ParseInt32(int32_t& out);
  bool ParseBool(bool& out);
  /// A String token.
  bool ParseString(llvm::StringRef& out);
  /// A String token or a JSON dict, whose raw text is the value.
  bool ParseStringOrJson(llvm::StringRef& out);
  /// A name: Name or Ident.
  bool ParseName(Token& out, llvm::StringRef what);
  /// A number as binary64; Int or Decimal.
  bool ParseNumber(double& out);
  /// `open` item {',' item} `close`, with a comma allowed before `close` if `trailing_comma`.
  template <class Item>
  bool ParseList(TokenKind open, TokenKind close, Item&& item, bool trailing_comma = false) {
    if (!Expect(open)) return false;
    if (Consume(close)) return true;
    do {
      if (trailing_comma && Is(close)) break;
      if (!item()) return false;
    } while (Consume(TokenKind::Comma));
    return Expect(close);
  }

  [[nodiscard]] const ParseOptions& options() const { return options_; }
  [[nodiscard]] Module* module() const { return module_; }
  /// Text that lives as long as the module.
  llvm::StringRef Save(llvm::StringRef text) { return module_->Save(text); }

  /// Shapes by their text, and metadata by theirs: both repeat a lot.
  NameMap<Shape> shapes;
  llvm::DenseMap<llvm::CachedHashStringRef, const OpMetadata*> metadata;
  bool has_stack_frames = false;  // some metadata has a stack_frame_id

 private:
  friend class Nesting;
  bool HasStack();
  bool Missing(TokenKind kind, const char* where);
  const SourceBuffer& source_;
  const ParseOptions& options_;
  Module* module_;
  Lexer lexer_;
  Token token_;
  uint32_t previous_end_ = 0;
  uint32_t end_;
  int depth_ = 0;
  const char* stack_end_;  // down to here there is room for more levels; below nobody has asked
  bool stopped_ = false;
  unsigned error_count_ = 0;
  std::vector<Diagnostic> diagnostics_;
};

/// One level of nesting (operands, shapes, literals, bodies) while it lives. Test it right after
/// construction: false means that the limit was exceeded, which has been reported.
class Nesting {
 public:
  explicit Nesting(Cursor& cursor);
  ~Nesting() { --cursor_.depth_; }
  Nesting(const Nesting&) = delete;
  Nesting& operator=(const Nesting&) = delete;
  explicit operator bool() const { return ok_; }

 private:
  Cursor& cursor_;
  bool ok_;
};

}  // namespace hlo

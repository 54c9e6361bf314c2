#include "backends/gpu/ptx/parser_state.h"

namespace hlo::ptx {

Parser::Parser(const SourcePtr& source) : module_(std::make_shared<Module>()), lexer_(source->text()) {
  module_->source = source;
  scopes_.emplace_back();
  Next();
}

void Parser::Next() { token_ = lexer_.Lex(); }

bool Parser::PeekIs(llvm::StringRef punctuation) const {
  Lexer ahead = lexer_;
  const Token next = ahead.Lex();
  return next.kind == TokenKind::Punctuation && next.text == punctuation;
}

bool Parser::Take(llvm::StringRef punctuation) {
  if (!Is(punctuation)) return false;
  Next();
  return true;
}

bool Parser::TakeDotted(llvm::StringRef word) {
  if (!IsDotted(word)) return false;
  Next();
  return true;
}

tl::unexpected<Diagnostic> Parser::Unexpected(llvm::StringRef expected) const {
  if (token_.kind == TokenKind::Error) return Error("parse-character", Here(), "{0}", lexer_.error());
  if (token_.kind == TokenKind::Eof)
    return Error("parse-unexpected-token", Here(), "found the end of the text, expected {0}", expected);
  const llvm::StringRef dot = token_.kind == TokenKind::Dotted ? "." : "";
  return Error("parse-unexpected-token", Here(), "found '{0}{1}', expected {2}", dot,
               token_.text.take_front(60), expected);
}

Status Parser::Expect(llvm::StringRef punctuation) {
  if (!Take(punctuation)) return Unexpected(("'" + punctuation + "'").str());
  return {};
}

Result<std::string> Parser::TakeName(llvm::StringRef what) {
  if (token_.kind != TokenKind::Word || token_.text == "_") return Unexpected(what);
  std::string name = token_.text.str();
  Next();
  return name;
}

Result<uint64_t> Parser::TakeUnsigned(llvm::StringRef what) {
  if (token_.kind != TokenKind::Integer) return Unexpected(what);
  const uint64_t value = token_.bits;
  Next();
  return value;
}

/// Offsets only grow, so lines are counted once.
uint32_t Parser::LineOf(uint32_t offset) {
  line_ += static_cast<uint32_t>(module_->source->text().slice(line_offset_, offset).count('\n'));
  line_offset_ = std::max(line_offset_, offset);
  return line_;
}

}  // namespace hlo::ptx

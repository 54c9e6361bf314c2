// Going on after an error.
#include "parser/body.h"

namespace hlo {
namespace {

/// True if only blanks stand before the current token on its line.
bool FirstOnLine(const Cursor& c) {
  constexpr size_t kDeepestIndent = 256;  // keeps the cost constant
  const llvm::StringRef text = c.source().text();
  size_t at = c.begin();
  const size_t stop = at > kDeepestIndent ? at - kDeepestIndent : 0;
  while (at > stop && (text[at - 1] == ' ' || text[at - 1] == '\t')) --at;
  return at == 0 || text[at - 1] == '\n' || text[at - 1] == '\r';
}

bool AtInstruction(const Cursor& c) {
  if (c.Is(TokenKind::ROOT)) return true;
  return (c.Is(TokenKind::Name) || c.Is(TokenKind::Ident)) && c.PeekToken().kind == TokenKind::Equal;
}

int Opens(TokenKind kind) {
  switch (kind) {
    case TokenKind::LBrace:
    case TokenKind::LParen:
    case TokenKind::LBracket: return 1;
    case TokenKind::RBrace:
    case TokenKind::RParen:
    case TokenKind::RBracket: return -1;
    default: return 0;
  }
}

}  // namespace

bool AtComputationStart(const Cursor& c) {
  if (c.Is(TokenKind::ENTRY)) return FirstOnLine(c);
  if (!c.Is(TokenKind::Name) && !c.Is(TokenKind::Ident)) return false;
  const bool column_one = c.begin() == 0 || c.source().text()[c.begin() - 1] == '\n';
  if (!column_one) return false;
  const TokenKind next = c.PeekToken().kind;
  return next == TokenKind::LParen || next == TokenKind::LBrace;
}

void RecoverInstruction(Cursor& c, uint32_t start) {
  if (c.stopped() || c.Is(TokenKind::Eof)) return;
  const uint32_t error = c.begin();
  c.Seek(start);
  int depth = 0;
  for (; !c.Is(TokenKind::Eof); c.Advance()) {
    if (c.begin() >= error && (c.begin() > start || c.Is(TokenKind::RBrace))) {
      const bool line = FirstOnLine(c);
      if (c.Is(TokenKind::RBrace) && (depth <= 0 || line)) return;
      if ((depth <= 0 || line) && AtInstruction(c)) return;
      if (line && AtComputationStart(c)) return;
    }
    depth = std::max(0, depth + Opens(c.kind()));
  }
}

void RecoverComputation(Cursor& c, uint32_t start) {
  if (c.stopped()) return;
  if (c.begin() == start) c.Advance();
  int depth = 0;
  for (; !c.Is(TokenKind::Eof); c.Advance()) {
    if (AtComputationStart(c) && c.begin() > start) return;
    if (c.Is(TokenKind::LBrace)) ++depth;
    if (!c.Is(TokenKind::RBrace)) continue;
    const bool column_one = c.begin() == 0 || c.source().text()[c.begin() - 1] == '\n';
    if (--depth <= 0 && (depth == 0 || column_one)) {
      c.Advance();
      return;
    }
    depth = std::max(depth, 0);
  }
}

}  // namespace hlo

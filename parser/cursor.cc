#include "parser/cursor.h"

#include <limits>

#include "ir/support/stack.h"

namespace hlo {
namespace {

/// Stack that nested text takes before it is asked how much there is.
constexpr ptrdiff_t kSurelyThere = 256 << 10;
/// What has to be left for all that does not nest.
constexpr size_t kReserve = 512 << 10;

const char* StackAddress() { return static_cast<const char*>(__builtin_frame_address(0)); }

std::string Quote(llvm::StringRef text) {
  constexpr size_t kLongest = 60;
  if (text.size() <= kLongest) return ("'" + text + "'").str();
  return ("'" + text.take_front(kLongest - 3) + "...'").str();
}

}  // namespace

Cursor::Cursor(const SourceBuffer& source, size_t begin, size_t end, const ParseOptions& options,
               Module* module)
    : source_(source),
      options_(options),
      module_(module),
      lexer_(source.text(), begin, end),
      end_(static_cast<uint32_t>(end)),
      stack_end_(StackAddress() - kSurelyThere) {
  previous_end_ = static_cast<uint32_t>(begin);
  lexer_.Lex(token_);
}

Token Cursor::PeekToken() const {
  Lexer ahead = lexer_;
  Token next;
  ahead.Lex(next);
  return next;
}

bool Cursor::Report(Diagnostic diagnostic) {
  if (stopped_) return false;
  diagnostics_.push_back(std::move(diagnostic));
  ++error_count_;
  if (options_.max_errors != 0 && error_count_ >= options_.max_errors) Stop();
  return false;
}

void Cursor::Stop() {
  stopped_ = true;
  Seek(end_);
}

void Cursor::Warn(DiagnosticId id, Loc loc, std::string message) {
  Diagnostic d;
  d.severity = Severity::Warning;
  d.id = id;
  d.loc = loc;
  d.message = std::move(message);
  diagnostics_.push_back(std::move(d));
}

bool Cursor::Unexpected(llvm::StringRef what) {
  if (Is(TokenKind::Error)) {
    Diagnostic d;
    d.id = lexer_.error().id;
    d.message = lexer_.error().message;
    d.loc = Here();
    return Report(std::move(d));
  }
  const std::string found =
      Is(TokenKind::Eof) ? "end of input" : Quote(source_.text().slice(token_.begin, token_.end));
  return Fail("parse-unexpected-token", Here(), "found {0}, expected {1}", found, what);
}

bool Cursor::UnknownWord(DiagnosticId id, llvm::StringRef what, llvm::ArrayRef<llvm::StringRef> words) {
  Diagnostic d = MakeError(id, Here(), "unknown {0} {1}", what, Quote(token_.text));
  if (std::string hint = DidYouMeanText(token_.text, words); !hint.empty()) d.Note(Here(), std::move(hint));
  return Report(std::move(d));
}

bool Cursor::Missing(TokenKind kind, const char* where) { return Unexpected((Describe(kind) + where).str()); }

bool Cursor::ParseInt(int64_t& out) {
  if (!Is(TokenKind::Int)) return Unexpected("an integer");
  out = token_.integer;
  Advance();
  return true;
}

bool Cursor::ParseInt32(int32_t& out) {
  int64_t value = 0;
  const Loc loc = Here();
  if (!ParseInt(value)) return false;
  if (value != static_cast<int32_t>(value))
    return Fail("parse-range", loc, "value {0} is out of range for int32_t", value);
  out = static_cast<int32_t>(value);
  return true;
}

bool Cursor::ParseBool(bool& out) {
  if (!Is(TokenKind::True) && !Is(TokenKind::False)) return Unexpected("'true' or 'false'");
  out = Is(TokenKind::True);
  Advance();
  return true;
}

bool Cursor::ParseString(llvm::StringRef& out) {
  if (!Is(TokenKind::String)) return Unexpected("a string");
  out = token_.text;
  if (token_.escaped) {
    std::string value;
    size_t bad = 0;
    if (!Unescape(token_.text, value, bad)) {
      const auto at = static_cast<uint32_t>(token_.begin + 1 + bad);
      return Fail("parse-string", {&source_, at, at + 2}, "unknown escape {0} in a string",
                  Quote(token_.text.substr(bad, 2)));
    }
    out = Save(value);
  }
  Advance();
  return true;
}

bool Cursor::ParseStringOrJson(llvm::StringRef& out) {
  if (!Is(TokenKind::LBrace)) {
    if (!Is(TokenKind::String)) return Unexpected("a string or '{'");
    return ParseString(out);
  }
  const uint32_t end = lexer_.FindJsonEnd(token_.begin);
  if (end == 0)
    return Fail("parse-unterminated", Here(), "found '{{' of a JSON dict without the matching '}'");
  out = source_.text().slice(token_.begin, end);
  SeekPast(end);
  return true;
}

bool Cursor::ParseName(Token& out, llvm::StringRef what) {
  if (!Is(TokenKind::Name) && !Is(TokenKind::Ident)) return Unexpected(what);
  out = token_;
  Advance();
  return true;
}

bool Cursor::ParseNumber(double& out) {
  if (Is(TokenKind::Int)) {
    out = static_cast<double>(token_.integer);
  } else if (Is(TokenKind::Decimal)) {
    const bool nan = token_.text.contains('n');
    out = nan ? std::numeric_limits<double>::quiet_NaN() : DecimalValue(token_.text);
  } else {
    return Unexpected("a number");
  }
  Advance();
  return true;
}

bool Cursor::HasStack() {
  const char* const here = StackAddress();
  if (here > stack_end_) return true;
  const size_t left = StackLeft();
  if (left <= kReserve) return false;
  stack_end_ = here - (left - kReserve);
  return true;
}

Nesting::Nesting(Cursor& cursor) : cursor_(cursor) {
  ++cursor_.depth_;
  const bool deep = cursor_.depth_ > kMaxNesting;
  ok_ = !deep && cursor_.HasStack();
  if (ok_) return;
  if (deep)
    cursor_.Fail("limit-nesting", cursor_.Here(),
                 "maximum nesting depth exceeded, expected at most {0} levels", kMaxNesting);
  else
    cursor_.Fail("limit-nesting", cursor_.Here(), "nesting level {0} does not fit into the stack",
                 cursor_.depth_);
  cursor_.Stop();  // every level would have to recover
}

}  // namespace hlo

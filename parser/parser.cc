#include "parser/parser.h"

#include "parser/module_parser.h"
#include "parser/values.h"

namespace hlo {
namespace {

using llvm::StringRef;

constexpr size_t kMaxTextBytes = (size_t{1} << 32) - 2;

/// A cursor over text that stands alone.
template <class T, class Parse>
Result<T> ParseAlone(StringRef text, Parse&& parse) {
  const SourceBuffer source("<string>", text.str());
  const ParseOptions options{.max_errors = 1};
  Module module("");
  Cursor c(source, 0, text.size(), options, &module);
  T value{};
  if (parse(c, value) && (c.Is(TokenKind::Eof) || c.Unexpected("end of input"))) return value;
  Diagnostic error = c.TakeDiagnostics().front();
  // The text dies here: tell the place in words.
  const uint32_t column = FindLineColumn(source, error.loc.begin).column;
  error.loc = {};
  error.message += llvm::formatv(" (column {0})", column).str();
  for (Diagnostic& note : error.notes) note.loc = {};
  return Error(std::move(error));
}

}  // namespace

ParseResult ParseModule(const SourcePtr& source, const ParseOptions& options, size_t begin, size_t end) {
  ParseResult result;
  result.source = source;
  end = std::min(end, source->text().size());
  begin = std::min(begin, end);
  if (end > kMaxTextBytes) {
    result.diagnostics.push_back(
        MakeError("parse-too-large", {}, "the text has {0} bytes, expected less than 4 GiB", end));
    result.diagnostics.back().file = source->name().str();
    return result;
  }
  auto module = std::make_unique<Module>("");
  module->KeepSource(source);
  Cursor c(*source, begin, end, options, module.get());
  if (ModuleParser(c).Parse() && c.error_count() == 0) result.module = std::move(module);
  result.diagnostics = c.TakeDiagnostics();
  return result;
}

ParseResult ParseModule(StringRef text, StringRef name, const ParseOptions& options) {
  return ParseModule(std::make_shared<SourceBuffer>(name.str(), text.str()), options);
}

Result<Shape> ParseShape(StringRef text) {
  return ParseAlone<Shape>(text, [](Cursor& c, Shape& shape) { return ParseShape(c, shape, true); });
}

Result<Literal> ParseLiteral(StringRef text, const Shape& shape) {
  return ParseAlone<Literal>(text, [&](Cursor& c, Literal& literal) {
    LiteralPtr value;
    const Loc loc = c.Here();
    if (!ParseLiteralValue(c, shape, value)) return false;
    if (value->HasElided())
      return c.Fail("parse-literal", loc, "found an elided literal, expected its elements");
    literal = *value;
    return true;
  });
}

Result<Literal> ParseLiteralWithShape(StringRef text) {
  return ParseAlone<Literal>(text, [](Cursor& c, Literal& literal) {
    LiteralPtr value;
    const Loc loc = c.Here();
    if (!ParseShapedLiteral(c, value, /*layout_optional=*/true)) return false;
    if (value->HasElided())
      return c.Fail("parse-literal", loc, "found an elided literal, expected its elements");
    literal = *value;
    return true;
  });
}

}  // namespace hlo

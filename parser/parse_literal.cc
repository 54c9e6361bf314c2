// Literals (hlo-text §6.2).
#include <cmath>
#include <limits>

#include "ir/numeric/narrow_float.h"
#include "parser/values.h"

namespace hlo {
namespace {

using llvm::StringRef;

// More than the elements written may only be allocated up to this size (a bare scalar for an array).
constexpr int64_t kMaxUnwrittenBytes = int64_t{1} << 24;
constexpr uint64_t kDefaultQuietBit = uint64_t{1} << 51;

/// Reads the elements of one array literal.
class DenseParser {
 public:
  DenseParser(Cursor& c, const Shape& shape)
      : c_(c),
        shape_(shape),
        type_(shape.element_type()),
        width_(static_cast<size_t>(Info(type_).host_bytes())) {}

  /// dense = scalar | '{' {dense | ',' | '...'} '}' .
  bool Parse(Literal& out);

 private:
  bool ParseNested();
  bool OpenBrace();
  bool CloseBrace();
  bool ParseElement();
  bool ParseBare();
  bool ParseScalar();
  bool ParseInteger();
  bool ParsePred();
  bool ParseFloat(ElementType type);
  bool ParseComplex();
  bool ParseNan(ElementType type, uint64_t& code);
  bool OutOfRange(const Loc& loc, StringRef text);
  void Append(uint64_t code, size_t width) {
    const size_t at = bytes_.size();
    bytes_.resize(at + width);
    std::memcpy(bytes_.data() + at, &code, width);
  }
  void Build(Literal& out);

  Cursor& c_;
  const Shape& shape_;
  const ElementType type_;
  const size_t width_;
  std::vector<uint8_t> bytes_;
  Dims seen_;  // elements seen so far at each open nesting level
  bool elided_ = false;
};

bool DenseParser::Parse(Literal& out) {
  const uint32_t begin = c_.begin();
  if (shape_.HasUnboundedDimension())
    return c_.Fail("parse-literal", c_.Here(), "found a literal of shape {0}, expected a shape of known size",
                   shape_);
  if (c_.Is(TokenKind::LBrace) ? !ParseNested() : !ParseBare()) return false;
  if (elided_) {
    out = Literal::Elided(shape_);
    return true;
  }
  const int64_t size = ByteSize(shape_);
  if (size < 0 || size > std::max<int64_t>(kMaxUnwrittenBytes, static_cast<int64_t>(bytes_.size())))
    return c_.Fail("parse-literal", c_.From(begin), "{0} elements are too few for shape {1}",
                   bytes_.size() / width_, shape_);
  Build(out);
  return true;
}

void DenseParser::Build(Literal& out) {
  Literal literal = Literal::Make(shape_);
  uint8_t* data = literal.MutableData();
  const size_t given = std::min(bytes_.size(), literal.byte_size());
  if (given > 0) std::memcpy(data, bytes_.data(), given);
  if (given < literal.byte_size()) std::memset(data + given, 0, literal.byte_size() - given);
  out = Info(type_).is_packed() ? literal.Pack() : std::move(literal);
}

/// A scalar. For arrays, too: it sets element 0, the rest is zero.
bool DenseParser::ParseBare() {
  if (shape_.rank() == 0) return ParseScalar();
  const bool value = c_.Is(TokenKind::Int) || c_.Is(TokenKind::Decimal) || c_.Is(TokenKind::Inf) ||
                     c_.Is(TokenKind::NegInf) || c_.Is(TokenKind::True) || c_.Is(TokenKind::False);
  if (!value || IsComplex(type_)) return c_.Unexpected("'{'");
  const Loc loc = c_.Here();
  if (!ParseScalar()) return false;
  if (shape_.ElementCount() > 0) return true;
  return c_.Fail("parse-literal", loc, "found an element of shape {0}, which has none", shape_);
}

bool DenseParser::ParseNested() {
  do {
    switch (c_.kind()) {
      case TokenKind::LBrace:
        if (!OpenBrace()) return false;
        break;
      case TokenKind::RBrace:
        if (!CloseBrace()) return false;
        break;
      case TokenKind::Comma: c_.Advance(); break;
      case TokenKind::Ellipsis:
        if (seen_.size() != 1) return c_.Unexpected("'...' at nesting depth 1 only");
        elided_ = true;
        c_.Advance();
        while (c_.Consume(TokenKind::Comma)) {}
        if (!c_.Is(TokenKind::RBrace)) return c_.Unexpected("'}' after '...'");
        c_.Advance();
        return true;
      default:
        if (!ParseElement()) return false;
    }
  } while (!seen_.empty());
  return true;
}

bool DenseParser::OpenBrace() {
  const int64_t rank = shape_.rank();
  if (static_cast<int64_t>(seen_.size()) == rank)
    return c_.Fail("parse-literal", c_.Here(),
                   "found '{{' at nesting depth {0}, expected nested array in rank {0}", rank);
  if (!seen_.empty()) ++seen_.back();
  seen_.push_back(0);
  c_.Advance();
  return true;
}

bool DenseParser::CloseBrace() {
  const int64_t expected = shape_.dim(static_cast<int64_t>(seen_.size()) - 1);
  if (seen_.back() != expected) {
    std::string index;
    for (size_t i = 0; i + 1 < seen_.size(); ++i) index += (i ? "," : "") + std::to_string(seen_[i] - 1);
    return c_.Fail("parse-literal", c_.Here(), "expects {0} elements in the [{1}]th element, but sees {2}",
                   expected, index, seen_.back());
  }
  seen_.pop_back();
  c_.Advance();
  return true;
}

bool DenseParser::ParseElement() {
  if (c_.Is(TokenKind::Eof)) return c_.Unexpected("'}'");
  if (static_cast<int64_t>(seen_.size()) != shape_.rank())
    return c_.Fail("parse-literal", c_.Here(), "expects nested array in rank {0}, but sees rank {1}",
                   shape_.rank(), seen_.size());
  // Counts are checked at the closing brace; this bounds the memory before.
  if (++seen_.back() > shape_.dim(shape_.rank() - 1))
    return c_.Fail("parse-literal", c_.Here(),
                   "found more elements than the {0} of the innermost dimension of {1}",
                   shape_.dim(shape_.rank() - 1), shape_);
  return ParseScalar();
}

/// scalar = 'true' | 'false' | number | '(' number ',' number ')' .
bool DenseParser::ParseScalar() {
  switch (Info(type_).type_class) {
    case TypeClass::Pred: return ParsePred();
    case TypeClass::Signed:
    case TypeClass::Unsigned: return ParseInteger();
    case TypeClass::Float: return ParseFloat(type_);
    case TypeClass::Complex: return ParseComplex();
    case TypeClass::None: break;
  }
  return c_.Unexpected("no literal: the type has none");
}

bool DenseParser::ParsePred() {
  if (c_.Is(TokenKind::Int)) {
    Append(c_.token().integer != 0 ? 1 : 0, 1);
    c_.Advance();
    return true;
  }
  bool value = false;
  if (!c_.Is(TokenKind::True) && !c_.Is(TokenKind::False))
    return c_.Unexpected("'true', 'false' or an integer");
  if (!c_.ParseBool(value)) return false;
  Append(value ? 1 : 0, 1);
  return true;
}

bool DenseParser::OutOfRange(const Loc& loc, StringRef text) {
  return c_.Fail("parse-range", loc, "value {0} is out of range for literal's primitive type {1}", text,
                 ToString(type_));
}

bool DenseParser::ParseInteger() {
  if (!c_.Is(TokenKind::Int)) return c_.Unexpected(("an integer of type " + ToString(type_)).str());
  const int64_t value = c_.token().integer;
  const int bits = Info(type_).bits;
  if (bits < 64) {
    const bool fits = IsSigned(type_)
                          ? value >= -(int64_t{1} << (bits - 1)) && value < int64_t{1} << (bits - 1)
                          : static_cast<uint64_t>(value) >> bits == 0;
    if (!fits) return OutOfRange(c_.Here(), c_.token().text);
  }
  Append(static_cast<uint64_t>(value), width_);
  c_.Advance();
  return true;
}

/// A Decimal token that spells a nan.
bool DenseParser::ParseNan(ElementType type, uint64_t& code) {
  const StringRef text = c_.token().text;
  const bool negative = text.starts_with("-");
  const uint64_t payload = NanPayload(text);
  if (payload == 0 || payload == kDefaultQuietBit) {
    // Types without NaN take the zero of the other sign.
    code = HasNan(type) ? NanCode(type, negative) : negative ? 0 : NanCode(type);
    return true;
  }
  if (!HasNanPayload(type) || MantissaField(type, payload) != payload)
    return c_.Fail("parse-range", c_.Here(), "tries to set NaN payload 0x{0}, but type {1} {2}",
                   llvm::utohexstr(payload, true), ToString(type_),
                   HasNanPayload(type) ? "has fewer mantissa bits" : "has no payloads");
  code = NanWithPayload(type, negative, payload);
  return true;
}

/// number = Int | Decimal | 'inf' | '-inf' .
bool DenseParser::ParseFloat(ElementType type) {
  const Token& token = c_.token();
  uint64_t code = 0;
  if (c_.Is(TokenKind::Inf) || c_.Is(TokenKind::NegInf)) {
    code = InfinityCode(type, c_.Is(TokenKind::NegInf));
  } else if (c_.Is(TokenKind::Decimal) && token.text.contains('n')) {
    if (!ParseNan(type, code)) return false;
  } else if (c_.Is(TokenKind::Decimal) || c_.Is(TokenKind::Int)) {
    const bool decimal = c_.Is(TokenKind::Decimal);
    const double value = decimal ? DecimalValue(token.text) : static_cast<double>(token.integer);
    if (std::isinf(value))
      return c_.Fail("parse-range", c_.Here(), "constant {0} is out of range for double", token.text);
    // Parts of complex numbers are compared before rounding.
    if (IsComplex(type_) && std::abs(value) > MaxFinite(type)) return OutOfRange(c_.Here(), token.text);
    code = FromDouble(type, value);
    if (!std::isfinite(ToDouble(type, code))) return OutOfRange(c_.Here(), token.text);
  } else {
    return c_.Unexpected(("a number of type " + ToString(type_)).str());
  }
  Append(code, static_cast<size_t>(Info(type).host_bytes()));
  c_.Advance();
  return true;
}

/// '(' number ',' number ')'
bool DenseParser::ParseComplex() {
  const ElementType part = RealPartType(type_);
  if (!c_.Is(TokenKind::LParen)) return c_.Unexpected("a complex number '(real, imaginary)'");
  c_.Advance();
  if (!ParseFloat(part) || !c_.Expect(TokenKind::Comma) || !ParseFloat(part)) return false;
  // errata-2 8: a real part that is no number makes the imaginary part the same.
  const size_t bytes = width_ / 2, at = bytes_.size() - width_;
  uint64_t real = 0;
  std::memcpy(&real, bytes_.data() + at, bytes);
  if (std::isnan(ToDouble(part, real))) std::memcpy(bytes_.data() + at + bytes, &real, bytes);
  return c_.Expect(TokenKind::RParen);
}

bool ParseArrayLiteral(Cursor& c, const Shape& shape, Literal& out) {
  if (!shape.IsArray())
    return c.Fail("parse-literal", c.Here(), "found a literal of shape {0}, expected an array or tuple",
                  shape);
  return DenseParser(c, shape).Parse(out);
}

/// literal = '(' [literal {',' literal}] ')' | dense .
bool ParseInto(Cursor& c, const Shape& shape, Literal& out) {
  if (!shape.IsTuple()) return ParseArrayLiteral(c, shape, out);
  Nesting nesting(c);
  if (!nesting || !c.Expect(TokenKind::LParen)) return false;
  std::vector<Literal> elements;
  for (int64_t i = 0; i < shape.tuple_size(); ++i) {
    if (i > 0 && !c.Expect(TokenKind::Comma)) return false;
    if (!ParseInto(c, shape.tuple_shape(i), elements.emplace_back())) return false;
  }
  if (!c.Expect(TokenKind::RParen)) return false;
  out = Literal::MakeTuple(std::move(elements));
  return true;
}

/// shaped = shape dense | '(' [shaped {',' shaped}] ')' .
bool ParseShapedInto(Cursor& c, Literal& out, bool layout_optional) {
  if (!c.Is(TokenKind::LParen)) {
    Shape shape;
    const bool simple = layout_optional && c.Is(TokenKind::Type);
    if (!(simple ? ParseArrayBeforeLiteral(c, shape) : ParseShape(c, shape, true))) return false;
    if (!shape.IsToken()) return ParseArrayLiteral(c, shape, out);
    out = Literal::MakeToken();  // has no text besides its shape
    return true;
  }
  Nesting nesting(c);
  if (!nesting) return false;
  std::vector<Literal> elements;
  if (!c.ParseList(TokenKind::LParen, TokenKind::RParen,
                   [&] { return ParseShapedInto(c, elements.emplace_back(), layout_optional); }))
    return false;
  out = Literal::MakeTuple(std::move(elements));
  return true;
}

}  // namespace

bool ParseLiteralValue(Cursor& c, const Shape& shape, LiteralPtr& out) {
  Literal literal;
  if (!ParseInto(c, shape, literal)) return false;
  out = std::make_shared<const Literal>(std::move(literal));
  return true;
}

bool ParseShapedLiteral(Cursor& c, LiteralPtr& out, bool layout_optional) {
  Literal literal;
  if (!ParseShapedInto(c, literal, layout_optional)) return false;
  out = std::make_shared<const Literal>(std::move(literal));
  return true;
}

}  // namespace hlo

// Shapes and layouts.
#include "ir/support/stack.h"
#include "parser/scan.h"
#include "parser/values.h"

namespace hlo {
namespace {

using llvm::StringRef;

// --- Finding the end of a shape without parsing it, to look its text up ---

/// End of `[4,<=8]{1,0:T(8)}`, which starts at text[0]; 0 if it is not of that plain form or long. What
/// stands between the brackets and braces does not matter here, as it is looked up.
size_t EndOfArray(StringRef text) {
  constexpr size_t kLongest = 256;
  text = text.take_front(kLongest);
  if (text.empty() || text[0] != '[') return 0;
  const size_t i = static_cast<size_t>(scan::FindByte(text.begin(), text.end(), ']') - text.begin()) + 1;
  if (i > text.size()) return 0;
  if (i + 1 >= text.size() || text[i] != '{') {
    // A layout may follow after blanks and comments.
    size_t next = i;
    while (next < text.size() && llvm::isSpace(text[next])) ++next;
    return next >= text.size() || text[next] == '/' || text[next] == '{' ? 0 : i;
  }
  const char first = text[i + 1];
  if (!llvm::isDigit(first) && first != ':') return first == '}' ? i : 0;
  const size_t end =
      static_cast<size_t>(scan::FindByte(text.begin() + i + 1, text.end(), '}') - text.begin()) + 1;
  return end > text.size() ? 0 : end;
}

/// End of the text up to the `)` that closes a parenthesis before text[0]; 0 if it holds anything unusual.
size_t EndOfTuple(StringRef text) {
  size_t depth = 1;
  for (size_t i = 0; i < text.size(); ++i) {
    switch (text[i]) {
      case '(': ++depth; break;
      case ')':
        if (--depth == 0) return i + 1;
        break;
      case '/': {
        if (i + 1 >= text.size() || text[i + 1] != '*') return 0;
        const size_t close = text.find("*/", i + 2);
        if (close == StringRef::npos) return 0;
        i = close + 1;
        break;
      }
      case '"':
      case '\'':
      case '%':
      case '=':
        if (text[i] != '=' || i == 0 || text[i - 1] != '<') return 0;
        break;
      default: break;
    }
  }
  return 0;
}

/// End offset of the shape at the current token if its text is plain; else 0.
uint32_t FindShapeEnd(const Cursor& c) {
  size_t end = 0;
  if (c.Is(TokenKind::Type)) {
    end = EndOfArray(c.RestOfText());
    if (end != 0) end += c.token().end;
  } else if (c.Is(TokenKind::LParen)) {
    end = EndOfTuple(c.RestOfText());
    if (end != 0) end += c.token().end;
  }
  return static_cast<uint32_t>(end);
}

// --- Layouts ---

bool ParseParenInt(Cursor& c, int64_t& out) {
  return c.Expect(TokenKind::LParen) && c.ParseInt(out) && c.Expect(TokenKind::RParen);
}

/// tile = '(' [(Int|'*') {',' (Int|'*')}] ')' .
bool ParseTile(Cursor& c, Tile& tile) {
  return c.ParseList(TokenKind::LParen, TokenKind::RParen, [&] {
    if (c.Consume(TokenKind::Star)) {
      tile.dims.push_back(Tile::kCombine);
      return true;
    }
    const Loc loc = c.Here();
    int64_t size = 0;
    if (!c.ParseInt(size)) return false;
    if (size < 0) return c.Fail("parse-layout", loc, "found tile size {0}, expected at least 0", size);
    tile.dims.push_back(size);
    return true;
  });
}

/// 'T' tile {tile}
bool ParseTiles(Cursor& c, std::vector<Tile>& tiles) {
  if (!c.Is(TokenKind::LParen)) {
    tiles.emplace_back();
    return true;
  }
  while (c.Is(TokenKind::LParen))
    if (!ParseTile(c, tiles.emplace_back())) return false;
  return true;
}

/// split = '(' Int ':' [Int {',' Int}] ')' .
bool ParseSplits(Cursor& c, std::vector<SplitConfig>& splits) {
  do {
    SplitConfig& split = splits.emplace_back();
    if (!c.Expect(TokenKind::LParen) || !c.ParseInt(split.dimension) || !c.Expect(TokenKind::Colon))
      return false;
    if (!c.Is(TokenKind::RParen)) do {
        if (!c.ParseInt(split.indices.emplace_back())) return false;
      } while (c.Consume(TokenKind::Comma));
    if (!c.Expect(TokenKind::RParen)) return false;
  } while (c.Is(TokenKind::LParen));
  return true;
}

/// 'D' '(' [lvl {',' lvl}] ')' with lvl = ('D'|'C'|'S'|'H') ['+'] ['~'] ; a relic without meaning.
bool SkipDimLevels(Cursor& c) {
  return c.ParseList(TokenKind::LParen, TokenKind::RParen, [&] {
    if (!c.Is(TokenKind::Ident) || c.token().text.size() != 1 ||
        !StringRef("DCSH").contains(c.token().text[0]))
      return c.Unexpected("a dimension level type: 'D', 'C', 'S' or 'H'");
    c.Advance();
    c.Consume(TokenKind::Plus);
    c.Consume(TokenKind::Tilde);
    return true;
  });
}

/// '(' Type ')' of an index or pointer type
bool ParseUnsignedType(Cursor& c, std::optional<ElementType>& out) {
  if (!c.Expect(TokenKind::LParen)) return false;
  if (!c.Is(TokenKind::Type)) return c.Unexpected("an element type");
  if (!IsUnsigned(c.token().type))
    return c.Fail("parse-layout", c.Here(), "found '{0}', expected an unsigned integer type", c.token().text);
  out = c.token().type;
  c.Advance();
  return c.Expect(TokenKind::RParen);
}

/// props = ['D' …] ['T' …] ['L' …] ['#' …] ['*' …] ['E' …] ['S' …] ['SC' …] ['P' …] ['M' …] .
bool ParseLayoutProperties(Cursor& c, Layout& layout) {
  const auto word = [&](StringRef text) {
    if (!c.IsIdent(text)) return false;
    c.Advance();
    return true;
  };
  if (word("D") && !SkipDimLevels(c)) return false;
  if (word("T") && !ParseTiles(c, layout.tiles)) return false;
  if (word("L")) {
    const Loc loc = c.Here();
    if (!ParseParenInt(c, layout.tail_padding_alignment)) return false;
    if (layout.tail_padding_alignment < 1)
      return c.Fail("parse-layout", loc, "found tail padding alignment {0}, expected at least 1",
                    layout.tail_padding_alignment);
  }
  if (c.Consume(TokenKind::Hash) && !ParseUnsignedType(c, layout.index_type)) return false;
  if (c.Consume(TokenKind::Star) && !ParseUnsignedType(c, layout.pointer_type)) return false;
  if (word("E") && !ParseParenInt(c, layout.element_size_bits)) return false;
  if (word("S")) {
    if (!ParseParenInt(c, layout.memory_space)) return false;
    // NOLINTNEXTLINE(bugprone-signed-char-misuse): eight bits with sign
    layout.memory_space = static_cast<int8_t>(layout.memory_space);
  }
  if (word("SC") && !ParseSplits(c, layout.split_configs)) return false;
  if (c.IsIdent("P"))
    return c.Fail("parse-layout", c.Here(),
                  "layout has a physical shape 'P(...)', which is not supported any more");
  if (word("M")) {
    int64_t bytes = 0;
    if (!ParseParenInt(c, bytes)) return false;
    layout.dynamic_shape_metadata_prefix_bytes = std::max<int64_t>(0, bytes);
  }
  return true;
}

/// layout = '{' [Int {',' Int}] [':' props] '}' .
bool ParseLayout(Cursor& c, int64_t rank, Layout& layout) {
  const uint32_t begin = c.begin();
  if (!c.Expect(TokenKind::LBrace)) return false;
  if (c.Is(TokenKind::Int)) do {
      if (!c.ParseInt(layout.minor_to_major.emplace_back())) return false;
    } while (c.Consume(TokenKind::Comma));
  if (c.Consume(TokenKind::Colon) && !ParseLayoutProperties(c, layout)) return false;
  if (!c.Is(TokenKind::RBrace)) return c.Unexpected("'}' or a layout property in the order T L E S SC M");
  c.Advance();
  if (static_cast<int64_t>(layout.minor_to_major.size()) != rank)
    return c.Fail("parse-layout", c.From(begin), "dimensions size is {0}, but minor to major size is {1}",
                  rank, layout.minor_to_major.size());
  return true;
}

bool ValidSplit(const SplitConfig& split, const Shape& array) {
  if (split.dimension < 0 || split.dimension >= array.rank()) return false;
  const int64_t size = array.dim(split.dimension);
  return llvm::all_of(split.indices, [&](int64_t i) { return i >= 0 && i < size; });
}

/// What makes an array unfit as an element of a tuple; alone it is only refused by the verifier. Empty if
/// nothing.
StringRef ProblemInTuple(const Shape& array) {
  if (!array.IsArray()) return "";
  if (ByteSize(array) < 0) return "its size overflows";
  if (!array.has_layout()) return "";
  const Layout& layout = array.layout();
  if (!IsPermutation(layout.minor_to_major)) return "minor to major is no permutation of the dimensions";
  if (layout.index_type || layout.pointer_type) return "it has an index or pointer type";
  if (layout.element_size_bits < 0) return "its element size is negative";
  for (const Tile& tile : layout.tiles)
    if (tile.dims.empty() || llvm::is_contained(tile.dims, 0)) return "it has an empty tile";
  for (const SplitConfig& split : layout.split_configs)
    if (!ValidSplit(split, array)) return "it is split where it has no elements";
  return "";
}

// --- Arrays and tuples ---

/// dim = Int | '<=' Int | '?' .
bool ParseDim(Cursor& c, Dims& dims, llvm::SmallVectorImpl<bool>& dynamic) {
  if (c.Consume(TokenKind::Question)) {
    dims.push_back(kUnboundedSize);
    dynamic.push_back(true);
    return true;
  }
  dynamic.push_back(c.Consume(TokenKind::LessEqual));
  if (!c.Is(TokenKind::Int)) return c.Unexpected("a dimension size");
  const Loc loc = c.Here();
  dims.push_back(c.token().integer);
  c.Advance();
  if (dims.back() >= 0) return true;
  return c.Fail("parse-shape", loc, "found dimension size {0}, expected at least 0", dims.back());
}

/// array = Type '[' [dim {',' dim}] ']' [layout] .
[[gnu::noinline]] bool ParseArray(Cursor& c, Shape& out, bool fill, bool layout_allowed = true) {
  const Token type = c.token();
  if (!c.Is(TokenKind::Type)) return c.Unexpected("an element type");
  c.Advance();
  Dims dims;
  llvm::SmallVector<bool, 8> dynamic;
  const uint32_t open = c.begin();
  if (!c.ParseList(TokenKind::LBracket, TokenKind::RBracket, [&] { return ParseDim(c, dims, dynamic); }))
    return false;
  if (!IsArrayType(type.type)) {
    if (!dims.empty())
      return c.Fail("parse-shape", c.From(open), "'{0}' has no dimensions, expected '[]'", type.text);
    out = type.type == ElementType::Token ? Shape::MakeToken() : Shape::MakeOpaque();
    return true;
  }
  const auto rank = static_cast<int64_t>(dims.size());
  if (rank > kMaxRank)
    return c.Fail("limit-nesting", c.From(open), "found {0} dimensions, expected at most {1}", rank,
                  kMaxRank);
  if (layout_allowed && c.Is(TokenKind::LBrace)) {
    const TokenKind next = c.PeekToken().kind;
    if (next == TokenKind::Int || next == TokenKind::Colon) {
      Layout layout;
      if (!ParseLayout(c, rank, layout)) return false;
      out = Shape::Array(type.type, dims, dynamic).WithLayout(std::move(layout));
      return true;
    }
  }
  out = fill || rank == 0 ? Shape::ArrayWithDefaultLayout(type.type, dims, dynamic)
                          : Shape::Array(type.type, dims, dynamic);
  return true;
}

[[gnu::noinline]] bool ParseBuffer(Cursor& c, Shape& out, bool fill) {
  c.Advance();
  if (!c.Expect(TokenKind::LParen)) return false;
  const Loc loc = c.Here();
  Shape array;
  if (!ParseArray(c, array, fill)) return false;
  if (!array.IsArray())
    return c.Fail("parse-shape", loc, "found {0} in a buffer shape, expected an array", array);
  out = Shape::MakeBuffer(array);
  return c.Expect(TokenKind::RParen);
}

[[gnu::noinline]] bool NotAShape(Cursor& c) {
  if (!c.Is(TokenKind::Ident) || c.NextByte() != '[') return c.Unexpected("a shape");
  llvm::SmallVector<StringRef, 40> types;
  for (const TypeInfo& t : kTypeTable)
    if (ParseElementType(t.text)) types.push_back(t.text);
  return c.UnknownWord("parse-unknown-type", "element type", types);
}

[[gnu::noinline]] bool CheckElement(Cursor& c, const Shape& element, uint32_t begin) {
  const StringRef problem = ProblemInTuple(element);
  return problem.empty() ||
         c.Fail("parse-layout", c.From(begin), "found {0} in a tuple shape: {1}", element, problem);
}

/// shape = array | '(' [shape {',' shape}] ')' | 'b' '(' array ')' . Deep recursion: keeps its frame small.
bool ParseShapeSlowly(Cursor& c, Shape& out, bool fill) {
  if (c.Is(TokenKind::Type)) return ParseArray(c, out, fill);
  if (c.IsIdent("b")) return ParseBuffer(c, out, fill);
  if (!c.Is(TokenKind::LParen)) return NotAShape(c);
  Nesting nesting(c);
  if (!nesting) return false;
  std::vector<Shape> elements;
  if (!c.ParseList(TokenKind::LParen, TokenKind::RParen, [&] {
        // Only the outermost tuple is looked up as a whole: that keeps the work linear in the text.
        Shape& element = elements.emplace_back();
        const uint32_t begin = c.begin();
        if (!(c.Is(TokenKind::Type) ? ParseShape(c, element, fill) : ParseShapeSlowly(c, element, fill)))
          return false;
        return CheckElement(c, element, begin);
      }))
    return false;
  out = Shape::MakeTuple(elements);
  return true;
}

}  // namespace

bool AtShape(const Cursor& c) {
  if (c.Is(TokenKind::Type) || c.Is(TokenKind::LParen)) return true;
  if (!c.Is(TokenKind::Ident)) return false;
  if (c.token().text == "b") return c.PeekToken().kind == TokenKind::LParen;
  return c.NextByte() == '[';  // an unknown element type
}

bool ParseArrayBeforeLiteral(Cursor& c, Shape& out) {
  // Two groups in braces: the first is the layout. One: it is the literal.
  const StringRef text = c.source().text();
  size_t at = std::min(text.find(']', c.begin()), text.size());
  at = std::min(text.find('{', at), text.size());
  const size_t close = text.find_first_of("{}", at + 1);
  const bool flat = close != StringRef::npos && text[close] == '}';
  const StringRef after = flat ? text.substr(close + 1).ltrim() : "";
  const bool layout = !after.empty() && after[0] != ',' && after[0] != ')';
  return ParseArray(c, out, true, layout);
}

bool ParseShape(Cursor& c, Shape& out, bool fill) {
  const uint32_t begin = c.begin();
  // The cache holds shapes as the option says they are by default.
  const uint32_t end = fill == c.options().fill_missing_layouts ? FindShapeEnd(c) : 0;
  if (end == 0) return ParseShapeSlowly(c, out, fill);
  const StringRef text = c.source().text().slice(begin, end);
  if (const Shape* known = c.shapes.Find(text)) {
    out = *known;
    c.SeekPast(end);
    return true;
  }
  if (!ParseShapeSlowly(c, out, fill)) return false;
  if (c.previous_end() == end) c.shapes.Insert(text) = out;
  return true;
}

}  // namespace hlo

// Lists, words and the small value grammars of op attributes (hlo-text §5).
#include "parser/values.h"

namespace hlo {
namespace {

using llvm::StringRef;

/// Int or DxD: sizes of a window field.
bool ParseSizes(Cursor& c, llvm::SmallVectorImpl<int64_t>& out) {
  if (c.Is(TokenKind::Int)) return c.ParseInt(out.emplace_back());
  if (!c.Is(TokenKind::DxD)) return c.Unexpected("sizes like 2x2");
  llvm::SmallVector<StringRef, 4> parts;
  c.token().text.split(parts, 'x');
  for (StringRef part : parts)
    if (part.getAsInteger(10, out.emplace_back()))
      return c.Fail("parse-range", c.Here(), "size {0} is out of range", part);
  c.Advance();
  return true;
}

/// Pad: for each dimension two numbers, or three where `interior`.
bool ParsePadToken(Cursor& c, Padding& out, bool interior) {
  if (!c.Is(TokenKind::Pad))
    return c.Unexpected(interior ? "padding like 0_0 or 0_0_1x2_2_0" : "padding like 0_0x1_1");
  llvm::SmallVector<StringRef, 4> dims;
  c.token().text.split(dims, 'x');
  for (StringRef dim : dims) {
    llvm::SmallVector<StringRef, 3> parts;
    dim.split(parts, '_');
    if (parts.size() > (interior ? 3u : 2u))
      return c.Fail("parse-attribute-value", c.Here(), "found {0} numbers in '{1}', expected 2", parts.size(),
                    dim);
    PaddingDim& p = out.emplace_back();
    int64_t* const targets[] = {&p.low, &p.high, &p.interior};
    for (size_t i = 0; i < parts.size(); ++i)
      if (parts[i].getAsInteger(10, *targets[i]))
        return c.Fail("parse-range", c.Here(), "padding {0} is out of range", parts[i]);
  }
  c.Advance();
  return true;
}

/// One part of dim_labels: `one` and `two` are the letters of its two other dimensions.
struct LabelPart {
  StringRef text;
  char one, two;
  int64_t& first;
  int64_t& second;
  Dims& spatial;
  int64_t& rank;
};

bool ParseLabelPart(Cursor& c, const LabelPart& part) {
  size_t spatial_count = 0;
  for (char label : part.text) spatial_count += llvm::isDigit(label) ? 1 : 0;
  part.spatial.assign(spatial_count, 0);
  uint32_t seen = 0;
  for (size_t i = 0; i < part.text.size(); ++i) {
    const char label = part.text[i];
    const auto position = static_cast<int64_t>(i);
    if (label == '?') continue;
    const unsigned bit = label == part.one   ? 10u
                         : label == part.two ? 11u
                                             : static_cast<unsigned>(label - '0');
    if (bit < 10 && bit >= spatial_count)
      return c.Fail("parse-attribute-value", c.Here(),
                    "found spatial label '{0}' in '{1}', expected less than {2}", label, part.text,
                    spatial_count);
    if ((seen >> bit & 1) != 0)
      return c.Fail("parse-attribute-value", c.Here(), "found label '{0}' twice in '{1}'", label, part.text);
    seen |= 1u << bit;
    (bit == 10 ? part.first : bit == 11 ? part.second : part.spatial[bit]) = position;
  }
  part.rank = static_cast<int64_t>(part.text.size());
  return true;
}

/// '[' Int ':' Int [':' Int] ']'
bool ParseSliceRange(Cursor& c, SliceRange& r) {
  if (!c.Expect(TokenKind::LBracket) || !c.ParseInt(r.start) || !c.Expect(TokenKind::Colon) ||
      !c.ParseInt(r.limit))
    return false;
  if (c.Consume(TokenKind::Colon) && !c.ParseInt(r.stride)) return false;
  return c.Expect(TokenKind::RBracket);
}

bool ParseSparsitySide(Cursor& c, SparsitySide& side) {
  return ParseSubAttrs(c, {"sparsity", "dimension", "stride"}, 7, [&](size_t field) {
    if (field == 1) return c.ParseInt(side.dimension);
    if (field == 2) return c.ParseInt(side.stride);
    llvm::SmallVector<int64_t, 2> sizes;
    const Loc loc = c.Here();
    if (!ParseSizes(c, sizes)) return false;
    if (sizes.size() != 2)
      return c.Fail("parse-attribute-value", loc, "found {0} sizes, expected two like 1x4", sizes.size());
    side.count = sizes[0];
    side.group = sizes[1];
    return true;
  });
}

bool ParseShardingPtr(Cursor& c, ShardingPtr& out) {
  auto sharding = std::make_shared<Sharding>();
  if (!ParseSharding(c, *sharding)) return false;
  out = std::move(sharding);
  return true;
}

}  // namespace

bool ParseSubAttrs(Cursor& c, llvm::ArrayRef<StringRef> names, uint32_t required,
                   llvm::function_ref<bool(size_t)> parse, std::string* unknown) {
  const uint32_t begin = c.begin();
  if (!c.Expect(TokenKind::LBrace)) return false;
  uint32_t seen = 0;
  while (!c.Is(TokenKind::RBrace)) {
    c.Consume(TokenKind::Comma);
    if (!c.Is(TokenKind::AttrName)) return c.Unexpected("a sub-attribute 'name=' or '}'");
    const auto* at = llvm::find(names, c.token().text);
    const Token name = c.token();
    if (at == names.end()) {
      if (!unknown) return c.UnknownWord("parse-unknown-attribute", "sub-attribute", names);
      StringRef value;
      c.Advance();
      if (!SkipUnknownValue(c, value)) return false;
      c.Warn("parse-unknown-field", c.LocOf(name),
             ("unknown field '" + name.text + "' is kept as it is").str());
      if (!unknown->empty()) *unknown += ' ';
      *unknown += (name.text + "=" + value).str();
      continue;
    }
    const auto i = static_cast<size_t>(at - names.begin());
    if ((seen >> i & 1) != 0)
      return c.Fail("parse-duplicate-attribute", c.LocOf(name), "sub-attribute {0} already exists",
                    name.text);
    seen |= 1u << i;
    c.Advance();
    if (!parse(i)) return false;
  }
  c.Advance();
  for (size_t i = 0; i < names.size(); ++i)
    if ((required & ~seen) >> i & 1)
      return c.Fail("parse-missing-attribute", c.From(begin), "sub-attribute {0} is expected but not seen",
                    names[i]);
  return true;
}

bool SkipUnknownValue(Cursor& c, StringRef& text) {
  const uint32_t begin = c.begin();
  if (c.Is(TokenKind::LBrace) || c.Is(TokenKind::String)) {
    // Kept as it is written: with its quotes and escapes.
    if (!c.ParseStringOrJson(text)) return false;
    text = c.TextFrom(begin);
    return true;
  }
  size_t depth = 0;
  for (bool first = true;; first = false) {
    switch (c.kind()) {
      case TokenKind::Eof:
      case TokenKind::Error: return c.Unexpected("a value");
      case TokenKind::LBracket:
      case TokenKind::LParen:
      case TokenKind::LBrace: ++depth; break;
      case TokenKind::RBracket:
      case TokenKind::RParen:
      case TokenKind::RBrace:
        if (depth == 0 && first) return c.Unexpected("a value");
        if (depth == 0) {
          text = c.TextFrom(begin);
          return true;
        }
        --depth;
        break;
      case TokenKind::Comma:
        if (depth == 0 && first) return c.Unexpected("a value");
        if (depth == 0) {
          text = c.TextFrom(begin);
          return true;
        }
        break;
      default:
        // A value of several tokens continues only without a blank: `[2,4]<=[8]T(1,0)`.
        if (depth == 0 && !first && c.previous_end() != c.begin()) {
          text = c.TextFrom(begin);
          return true;
        }
    }
    c.Advance();
  }
}

bool IsPermutation(llvm::ArrayRef<int64_t> order) {
  llvm::SmallVector<bool, 8> seen(order.size(), false);
  for (int64_t i : order) {
    if (i < 0 || i >= static_cast<int64_t>(order.size()) || seen[static_cast<size_t>(i)]) return false;
    seen[static_cast<size_t>(i)] = true;
  }
  return true;
}

/// '{' [Int {',' Int}] '}'
bool ParseIntList(Cursor& c, Dims& out) {
  return c.ParseList(TokenKind::LBrace, TokenKind::RBrace, [&] { return c.ParseInt(out.emplace_back()); });
}

/// '{' [intlist {',' intlist}] '}'
bool ParseIntLists(Cursor& c, std::vector<Dims>& out) {
  return c.ParseList(TokenKind::LBrace, TokenKind::RBrace,
                     [&] { return ParseIntList(c, out.emplace_back()); });
}

bool ParseShapeIndex(Cursor& c, ShapeIndex& out) {
  return c.ParseList(
      TokenKind::LBrace, TokenKind::RBrace, [&] { return c.ParseInt(out.emplace_back()); },
      /*trailing_comma=*/true);
}

bool ParseEnumWord(Cursor& c, const EnumInfo& info, StringRef what, uint8_t& out) {
  if (!c.Is(TokenKind::Ident)) {
    std::string words;
    for (StringRef word : info.words) words += (words.empty() ? "'" : ", '") + word.str() + "'";
    return c.Unexpected("one of " + words);
  }
  const std::optional<uint8_t> value = ParseEnum(info, c.token().text);
  if (!value) return c.UnknownWord("parse-unknown-word", what, info.words);
  out = *value;
  c.Advance();
  return true;
}

/// '{' {('size' | 'stride' | 'lhs_dilate' | 'rhs_dilate' | 'rhs_reversal') '=' (Int|DxD) | 'pad' '=' Pad} '}'
bool ParseWindow(Cursor& c, Window& out) {
  static constexpr StringRef kFields[] = {"size",       "stride",     "pad",
                                          "lhs_dilate", "rhs_dilate", "rhs_reversal"};
  llvm::SmallVector<int64_t, 2> values[std::size(kFields)];
  Padding pads;
  const uint32_t begin = c.begin();
  if (!c.Expect(TokenKind::LBrace)) return false;
  while (!c.Consume(TokenKind::RBrace)) {
    if (!c.Is(TokenKind::AttrName)) return c.Unexpected("a window field like 'size=' or '}'");
    const auto* at = llvm::find(kFields, c.token().text);
    if (at == std::end(kFields)) return c.UnknownWord("parse-unknown-attribute", "window field", kFields);
    const auto i = static_cast<size_t>(at - kFields);
    if (!values[i].empty() || (i == 2 && !pads.empty()))
      return c.Fail("parse-duplicate-attribute", c.Here(), "window field {0} already exists", kFields[i]);
    c.Advance();
    if (i == 2 ? !ParsePadToken(c, pads, false) : !ParseSizes(c, values[i])) return false;
  }
  const size_t rank = values[0].size();
  for (size_t i = 1; i < std::size(kFields); ++i) {
    const size_t size = i == 2 ? pads.size() : values[i].size();
    if (size != 0 && size != rank)
      return c.Fail("parse-attribute-value", c.From(begin),
                    "window field {0} has {1} dimensions, but size has {2}", kFields[i], size, rank);
  }
  for (size_t d = 0; d < rank; ++d) {
    const auto value = [&](size_t field, int64_t otherwise) {
      return values[field].empty() ? otherwise : values[field][d];
    };
    const PaddingDim pad = pads.empty() ? PaddingDim{} : pads[d];
    out.dims.push_back(
        {values[0][d], value(1, 1), pad.low, pad.high, value(3, 1), value(4, 1), value(5, 0) == 1});
  }
  return true;
}

bool ParseConvLabels(Cursor& c, ConvDimLabels& out) {
  if (!c.Is(TokenKind::DimLabels)) return c.Unexpected("dimension labels like b01f_01io->b01f");
  const auto [input, rest] = c.token().text.split('_');
  const auto [kernel, output] = rest.split("->");
  if (!ParseLabelPart(
          c, {input, 'b', 'f', out.input_batch, out.input_feature, out.input_spatial, out.input_rank}) ||
      !ParseLabelPart(c, {kernel, 'i', 'o', out.kernel_input_feature, out.kernel_output_feature,
                          out.kernel_spatial, out.kernel_rank}) ||
      !ParseLabelPart(
          c, {output, 'b', 'f', out.output_batch, out.output_feature, out.output_spatial, out.output_rank}))
    return false;
  if (out.input_spatial.size() != out.kernel_spatial.size() ||
      out.input_spatial.size() != out.output_spatial.size())
    return c.Fail("parse-attribute-value", c.Here(), "numbers of spatial labels differ: {0}, {1} and {2}",
                  out.input_spatial.size(), out.kernel_spatial.size(), out.output_spatial.size());
  c.Advance();
  return true;
}

bool ParsePadding(Cursor& c, Padding& out) { return ParsePadToken(c, out, true); }

/// '{' [range {',' range}] '}'
bool ParseSliceRanges(Cursor& c, SliceRanges& out) {
  return c.ParseList(TokenKind::LBrace, TokenKind::RBrace,
                     [&] { return ParseSliceRange(c, out.emplace_back()); });
}

/// '{' [precision {',' precision}] '}'
bool ParsePrecisions(Cursor& c, Precisions& out) {
  if (!c.ParseList(TokenKind::LBrace, TokenKind::RBrace, [&] {
        uint8_t value = 0;
        if (!ParseEnumWord(c, EnumInfoOf<Precision>(), "precision", value)) return false;
        out.push_back(static_cast<Precision>(value));
        return true;
      }))
    return false;
  // All default is what an absent attribute means.
  if (llvm::all_of(out, [](Precision p) { return p == Precision::Default; })) out.clear();
  return true;
}

/// '{' [index ':' '(' Int ',' index ')' {',' …}] '}'
bool ParseAliasing(Cursor& c, Aliasing& out) {
  return c.ParseList(
      TokenKind::LBrace, TokenKind::RBrace,
      [&] {
        OutputOperandAlias& a = out.emplace_back();
        return ParseShapeIndex(c, a.output) && c.Expect(TokenKind::Colon) && c.Expect(TokenKind::LParen) &&
               c.ParseInt(a.operand) && c.Expect(TokenKind::Comma) && ParseShapeIndex(c, a.operand_index) &&
               c.Expect(TokenKind::RParen);
      },
      /*trailing_comma=*/true);
}

bool ParseSparsity(Cursor& c, SparsityConfig& out) {
  return ParseSubAttrs(c, {"lhs", "rhs"}, 0, [&](size_t i) {
    return ParseSparsitySide(c, (i == 0 ? out.lhs : out.rhs).emplace());
  });
}

bool ParseDomain(Cursor& c, DomainSpec& out) {
  return ParseSubAttrs(c, {"kind", "entry", "exit"}, 7, [&](size_t i) {
    if (i == 0) {
      StringRef kind;
      const Loc loc = c.Here();
      if (!c.ParseString(kind)) return false;
      if (kind != "sharding")
        return c.Fail("parse-attribute-value", loc, "unsupported domain kind '{0}', expected 'sharding'",
                      kind);
      out.kind = kind.str();
      return true;
    }
    return ParseShardingPtr(c, i == 1 ? out.entry : out.exit);
  });
}

}  // namespace hlo

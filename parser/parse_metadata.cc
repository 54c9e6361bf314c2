// Attributes every instruction may have: metadata, frontend attributes, statistics, accuracy, origin.
#include "llvm/Support/xxhash.h"
#include "parser/values.h"

namespace hlo {
namespace {

using llvm::StringRef;

constexpr StringRef kMetadataFields[] = {"op_type",           "op_name",         "source_file",
                                         "source_line",       "source_end_line", "source_column",
                                         "source_end_column", "profile_type",    "deduplicated_name",
                                         "scheduling_name",   "stack_frame_id",  "metadata_payload"};

/// '{' Int {',' Int} '}' with values 0 to 3
bool ParseProfileTypes(Cursor& c, std::vector<int32_t>& out) {
  return c.ParseList(TokenKind::LBrace, TokenKind::RBrace, [&] {
    const Loc loc = c.Here();
    if (!c.ParseInt32(out.emplace_back())) return false;
    if (out.back() >= 0 && out.back() <= 3) return true;
    return c.Fail("parse-range", loc, "found profile type {0}, expected 0 to 3", out.back());
  });
}

bool ParseMetadataField(Cursor& c, size_t field, OpMetadata& m, std::vector<int32_t>& profile) {
  StringRef* const strings[] = {
      &m.op_type, &m.op_name,           &m.source_file,     nullptr, nullptr,   nullptr, nullptr,
      nullptr,    &m.deduplicated_name, &m.scheduling_name, nullptr, &m.payload};
  int32_t* const ints[] = {nullptr,
                           nullptr,
                           nullptr,
                           &m.source_line,
                           &m.source_end_line,
                           &m.source_column,
                           &m.source_end_column,
                           nullptr,
                           nullptr,
                           nullptr,
                           &m.stack_frame_id,
                           nullptr};
  if (strings[field]) return c.ParseString(*strings[field]);
  if (ints[field]) return c.ParseInt32(*ints[field]);
  return ParseProfileTypes(c, profile);
}

/// leaf = '{' [String [index]] '}' .
bool ParseOriginLeaf(Cursor& c, Origin& out) {
  if (!c.Expect(TokenKind::LBrace)) return false;
  if (c.Is(TokenKind::String)) {
    out.has_name = true;
    if (!c.ParseString(out.name)) return false;
    if (c.Is(TokenKind::LBrace) && !ParseShapeIndex(c, out.index)) return false;
  }
  return c.Expect(TokenKind::RBrace);
}

/// tree = leaf | '(' [tree {',' tree}] ')' .
bool ParseOriginTree(Cursor& c, Origin& out) {
  if (!c.Is(TokenKind::LParen)) return ParseOriginLeaf(c, out);
  Nesting nesting(c);
  if (!nesting) return false;
  out.is_tuple = true;
  return c.ParseList(TokenKind::LParen, TokenKind::RParen,
                     [&] { return ParseOriginTree(c, out.elements.emplace_back()); });
}

/// '{' {('atol' | 'rtol' | 'ulps') '=' number [',']} '}'
bool ParseTolerance(Cursor& c, ResultAccuracy& out) {
  return c.ParseList(TokenKind::LBrace, TokenKind::RBrace, [&] {
    static constexpr StringRef kFields[] = {"atol", "rtol", "ulps"};
    if (!c.Is(TokenKind::AttrName)) return c.Unexpected("'atol=', 'rtol=' or 'ulps='");
    const auto* at = llvm::find(kFields, c.token().text);
    if (at == std::end(kFields)) return c.UnknownWord("parse-unknown-attribute", "tolerance", kFields);
    c.Advance();
    const Loc loc = c.Here();
    double value = 0;
    if (!c.ParseNumber(value)) return false;
    if (!(value >= 0) || !(value < 0x1p63))
      return c.Fail("parse-range", loc,
                    "found a tolerance that is negative or not finite, expected at least 0");
    if (at - kFields == 2)
      out.ulps = static_cast<int64_t>(value);
    else
      (at == kFields ? out.atol : out.rtol) = value;
    return true;
  });
}

}  // namespace

bool ParseMetadata(Cursor& c, const OpMetadata*& out) {
  const uint32_t begin = c.begin();
  llvm::CachedHashStringRef key("", 0);
  if (c.Is(TokenKind::LBrace)) {
    if (const uint32_t end = c.FindJsonEnd()) {
      const StringRef text = c.source().text().slice(begin, end);
      key = {text, static_cast<uint32_t>(llvm::xxh3_64bits(text))};
      if (auto it = c.metadata.find(key); it != c.metadata.end()) {
        out = it->second;
        c.SeekPast(end);
        return true;
      }
    }
  }
  OpMetadata m;
  std::vector<int32_t> profile;
  std::string unknown;
  if (!ParseSubAttrs(
          c, kMetadataFields, 0, [&](size_t i) { return ParseMetadataField(c, i, m, profile); }, &unknown))
    return false;
  m.profile_type = profile;
  if (!unknown.empty()) m.unknown_fields = c.Save(unknown);
  c.has_stack_frames |= m.stack_frame_id != 0;
  out = c.module()->Save(m);
  if (c.previous_end() == begin + key.size()) c.metadata.try_emplace(key, out);
  return true;
}

/// '{' [AttrName (String|json) {',' …}] '}'
bool ParseFrontendAttributes(Cursor& c, std::vector<FrontendAttribute>& out) {
  if (!c.ParseList(TokenKind::LBrace, TokenKind::RBrace, [&] {
        if (!c.Is(TokenKind::AttrName)) return c.Unexpected("an attribute 'key='");
        FrontendAttribute& a = out.emplace_back();
        a.key = c.token().text;
        c.Advance();
        return c.ParseStringOrJson(a.value);
      }))
    return false;
  // Sorted by key; of equal keys the last one counts.
  std::reverse(out.begin(), out.end());
  SortUnique(out, [](const FrontendAttribute& a, const FrontendAttribute& b) { return a.key < b.key; });
  return true;
}

/// '{' AttrName Int {',' AttrName number} '}'
bool ParseStatistics(Cursor& c, Statistics& out) {
  if (!c.Expect(TokenKind::LBrace)) return false;
  if (!c.Is(TokenKind::AttrName)) return c.Unexpected("'visualizing_index='");
  c.Advance();
  if (!c.ParseInt(out.visualizing_index)) return false;
  while (c.Consume(TokenKind::Comma)) {
    if (!c.Is(TokenKind::AttrName)) return c.Unexpected("a statistic 'name='");
    Statistic& s = out.values.emplace_back();
    s.name = c.token().text;
    c.Advance();
    if (!c.ParseNumber(s.value)) return false;
  }
  return c.Expect(TokenKind::RBrace);
}

/// '{' 'mode' '=' ('default' | 'highest') '}' | '{' 'tolerance' '=' tolerance '}'
bool ParseResultAccuracy(Cursor& c, ResultAccuracy& out) {
  static constexpr StringRef kModes[] = {"default", "highest"}, kFields[] = {"mode", "tolerance"};
  if (!c.Expect(TokenKind::LBrace)) return false;
  if (!c.Is(TokenKind::AttrName)) return c.Unexpected("'mode=' or 'tolerance='");
  if (c.token().text == "mode") {
    c.Advance();
    uint8_t value = 0;
    static const EnumInfo kInfo{kModes, true};
    if (!ParseEnumWord(c, kInfo, "accuracy mode", value)) return false;
    out.highest = value == 1;
  } else if (c.token().text == "tolerance") {
    c.Advance();
    out.has_tolerance = true;
    if (!ParseTolerance(c, out)) return false;
  } else {
    return c.UnknownWord("parse-unknown-attribute", "sub-attribute", kFields);
  }
  return c.Expect(TokenKind::RBrace);
}

/// '{' tree '}' | '{' '[' 'synthetic_call' ']' '}'
bool ParseOrigin(Cursor& c, Origin& out) {
  if (!c.Expect(TokenKind::LBrace)) return false;
  if (c.Consume(TokenKind::LBracket)) {
    if (!c.IsIdent("synthetic_call")) return c.Unexpected("'synthetic_call'");
    c.Advance();
    out.synthetic_call = true;
    return c.Expect(TokenKind::RBracket) && c.Expect(TokenKind::RBrace);
  }
  if (c.Consume(TokenKind::RBrace)) {
    out.is_tuple = true;
    return true;
  }
  return ParseOriginTree(c, out) && c.Expect(TokenKind::RBrace);
}

}  // namespace hlo

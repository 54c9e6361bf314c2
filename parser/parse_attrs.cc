// Attributes of instructions: one parsing function per field kind, found by index, the attributes every
// opcode has, and those accepted and ignored (hlo-text §4, §5, §8, §10).
#include <limits>

#include "parser/body.h"
#include "parser/values.h"

namespace hlo {
namespace {

using llvm::StringRef;

// --- Op attributes, by field kind ---
struct FieldContext {
  BodyParser& body;
  Cursor& c;
  Draft& draft;
  const FieldInfo& field;
  llvm::SmallVectorImpl<Computation*>& callees;
};

bool ParseBoolField(FieldContext& f, bool& out) { return f.c.ParseBool(out); }
bool ParseOptBoolField(FieldContext& f, std::optional<bool>& out) { return f.c.ParseBool(out.emplace()); }
bool ParseIntField(FieldContext& f, int64_t& out) { return f.c.ParseInt(out); }
bool ParseStringField(FieldContext& f, std::string& out) {
  StringRef text;
  if (!f.c.ParseString(text)) return false;
  out = text.str();
  return true;
}
/// Int, or `{Int}`.
bool ParseOptIntField(FieldContext& f, std::optional<int64_t>& out) {
  if ((f.field.flags & kBraced) == 0) return f.c.ParseInt(out.emplace());
  const uint32_t begin = f.c.begin();
  Dims dims;
  if (!ParseIntList(f.c, dims)) return false;
  if (dims.size() != 1)
    return f.c.Fail("parse-attribute-value", f.c.From(begin), "found {0} dimensions, expected 1",
                    dims.size());
  out = dims[0];
  return true;
}
bool ParseFloatField(FieldContext& f, float& out) {
  const Loc loc = f.c.Here();
  double value = 0;
  if (!f.c.ParseNumber(value)) return false;
  if (std::abs(value) > std::numeric_limits<float>::max())
    return f.c.Fail("parse-range", loc, "value is out of range for float");
  out = static_cast<float>(value);
  return true;
}
bool ParseBoolListField(FieldContext& f, llvm::SmallVector<bool, 4>& out) {
  return f.c.ParseList(TokenKind::LBrace, TokenKind::RBrace, [&] {
    bool value = false;
    if (!f.c.ParseBool(value)) return false;
    out.push_back(value);
    return true;
  });
}
bool ParseEnumField(FieldContext& f, uint8_t& out) {
  return ParseEnumWord(f.c, *f.field.enum_info, f.field.name, out);
}
bool ParseOptEnumField(FieldContext& f, std::optional<CompareType>& out) {
  uint8_t value = 0;
  if (!ParseEnumWord(f.c, *f.field.enum_info, f.field.name, value)) return false;
  out = static_cast<CompareType>(value);
  return true;
}
bool ParseOptWindowField(FieldContext& f, std::optional<Window>& out) {
  return ParseWindow(f.c, out.emplace());
}
bool ParseConvLabelsField(FieldContext& f, std::optional<ConvDimLabels>& out) {
  return ParseConvLabels(f.c, out.emplace());
}
bool ParseShapeField(FieldContext& f, Shape& out) { return ParseShape(f.c, out); }
bool ParseShapeListField(FieldContext& f, std::optional<ShapeList>& out) {
  // Layouts are the point of these shapes: a missing one is seen by the rule of the opcode.
  ShapeList& list = out.emplace();
  return f.c.ParseList(TokenKind::LBrace, TokenKind::RBrace,
                       [&] { return ParseShape(f.c, list.emplace_back(), false); });
}
bool ParseLiteralField(FieldContext& f, LiteralPtr& out) { return ParseShapedLiteral(f.c, out); }

template <class T, bool (*Parse)(Cursor&, T&)>
bool OnCursor(FieldContext& f, void* member) {
  return Parse(f.c, *static_cast<T*>(member));
}
template <class T, bool (*Parse)(FieldContext&, T&)>
bool OnContext(FieldContext& f, void* member) {
  return Parse(f, *static_cast<T*>(member));
}

bool ParseCalleeField(FieldContext& f, void*) {
  Computation* callee = nullptr;
  if (!f.body.ParseCallee(callee)) return false;
  const auto i = static_cast<size_t>(f.field.callee);
  if (f.callees.size() <= i) f.callees.resize(i + 1);
  f.callees[i] = callee;
  return true;
}
bool ParseCalleesField(FieldContext& f, void*) {
  f.callees.clear();
  return f.c.ParseList(TokenKind::LBrace, TokenKind::RBrace,
                       [&] { return f.body.ParseCallee(f.callees.emplace_back()); });
}

using FieldParser = bool (*)(FieldContext& f, void* member);
// One row per FieldKind, in its order.
constexpr FieldParser kFieldParsers[] = {
    OnContext<bool, ParseBoolField>,
    OnContext<int64_t, ParseIntField>,
    OnContext<std::optional<int64_t>, ParseOptIntField>,
    OnContext<float, ParseFloatField>,
    OnContext<std::string, ParseStringField>,
    OnCursor<Dims, ParseIntList>,
    OnCursor<std::vector<Dims>, ParseIntLists>,
    OnContext<llvm::SmallVector<bool, 4>, ParseBoolListField>,
    OnContext<uint8_t, ParseEnumField>,
    OnContext<std::optional<CompareType>, ParseOptEnumField>,
    OnCursor<Precisions, ParsePrecisions>,
    OnCursor<Window, ParseWindow>,
    OnContext<std::optional<Window>, ParseOptWindowField>,
    OnContext<std::optional<ConvDimLabels>, ParseConvLabelsField>,
    OnCursor<SliceRanges, ParseSliceRanges>,
    OnCursor<Padding, ParsePadding>,
    OnCursor<ReplicaGroups, ParseReplicaGroups>,
    OnContext<Shape, ParseShapeField>,
    OnContext<std::optional<ShapeList>, ParseShapeListField>,
    OnContext<LiteralPtr, ParseLiteralField>,
    OnCursor<Aliasing, ParseAliasing>,
    OnCursor<SparsityConfig, ParseSparsity>,
    OnCursor<DomainSpec, ParseDomain>,
    OnContext<std::optional<bool>, ParseOptBoolField>,
    ParseCalleeField,
    ParseCalleesField,
};
static_assert(std::size(kFieldParsers) == kFieldKindCount);

// --- Attributes of every opcode ---
bool ParseShardingAttr(BodyParser& b, Draft& d) {
  auto sharding = std::make_shared<Sharding>();
  if (!ParseSharding(b.cursor(), *sharding)) return false;
  d.Extras().sharding = std::move(sharding);
  return true;
}
bool ParseFrontendAttr(BodyParser& b, Draft& d) {
  return ParseFrontendAttributes(b.cursor(), d.Extras().frontend_attributes);
}
/// '{' name {',' name} '}'
bool ParseControlAttr(BodyParser& b, Draft& d) {
  Cursor& c = b.cursor();
  if (!c.Expect(TokenKind::LBrace)) return false;
  do {
    bool failed = false;
    Instruction* i = b.ParseReference(failed);
    if (!i && !failed) return false;
    if (i) d.Rare().control_predecessors.push_back(i);
    d.incomplete |= failed;
  } while (c.Consume(TokenKind::Comma));
  return c.Expect(TokenKind::RBrace);
}
bool ParseStatisticsAttr(BodyParser& b, Draft& d) {
  return ParseStatistics(b.cursor(), d.Extras().statistics.emplace());
}
bool ParseAccuracyAttr(BodyParser& b, Draft& d) {
  return ParseResultAccuracy(b.cursor(), d.Extras().result_accuracy);
}
bool ParseOriginAttr(BodyParser& b, Draft& d) {
  auto origin = std::make_shared<Origin>();
  if (!ParseOrigin(b.cursor(), *origin)) return false;
  d.Extras().origin = std::move(origin);
  return true;
}
bool ParseMetadataAttr(BodyParser& b, Draft& d) { return ParseMetadata(b.cursor(), d.metadata); }

/// Removes every `"wait_on_operation_queues": [],`, as XLA does.
StringRef DropEmptyQueues(Cursor& c, StringRef text) {
  static constexpr StringRef kKey = "\"wait_on_operation_queues\"";
  std::string result;
  bool changed = false;
  while (true) {
    const size_t at = text.find(kKey);
    if (at == StringRef::npos) break;
    StringRef rest = text.substr(at + kKey.size());
    bool match = true;
    for (StringRef part : {":", "[", "]", ","})
      match = match && (rest = rest.ltrim(" \t\n\r\f\v")).consume_front(part);
    changed |= match;
    result += match ? text.take_front(at) : text.take_front(at + kKey.size());
    text = match ? rest : text.substr(at + kKey.size());
  }
  if (!changed) return {};
  return c.Save(result + text.str());
}
bool ParseBackendConfigAttr(BodyParser& b, Draft& d) {
  StringRef text;
  if (!b.cursor().ParseStringOrJson(text)) return false;
  if (text.contains("\"wait_on_operation_queues\""))
    if (const StringRef shorter = DropEmptyQueues(b.cursor(), text); shorter.data()) text = shorter;
  d.Extras().backend_config = text;
  return true;
}

struct GenericAttr {
  StringRef name;
  bool (*parse)(BodyParser&, Draft&);
};
constexpr GenericAttr kGenericAttrs[] = {
    {"metadata", ParseMetadataAttr},
    {"sharding", ParseShardingAttr},
    {"backend_config", ParseBackendConfigAttr},
    {"frontend_attributes", ParseFrontendAttr},
    {"control-predecessors", ParseControlAttr},
    {"statistics", ParseStatisticsAttr},
    {"result_accuracy", ParseAccuracyAttr},
    {"origin", ParseOriginAttr},
};
constexpr size_t kAccuracyIndex = 6;

// --- Attributes accepted leniently (hlo-text §8) ---
bool SkipMode(BodyParser& b, Draft&) {
  static constexpr StringRef kModes[] = {"cross_replica", "cross_partition", "cross_replica_and_partition",
                                         "flattened_id"};
  static const EnumInfo kInfo{kModes, false};
  uint8_t value = 0;
  return ParseEnumWord(b.cursor(), kInfo, "mode", value);
}
bool SkipDimensions(BodyParser& b, Draft&) {
  Dims dims;
  const uint32_t begin = b.cursor().begin();
  if (!ParseIntList(b.cursor(), dims)) return false;
  if (dims.size() == 1) return true;
  return b.cursor().Fail("parse-attribute-value", b.cursor().From(begin), "found {0} dimensions, expected 1",
                         dims.size());
}
bool ParseCustomCallToApply(BodyParser& b, Draft& d) {
  auto& callees = d.wrapped ? d.Rare().wrapped_callees : d.callees;
  callees.clear();
  return b.ParseCallee(callees.emplace_back());
}
bool ParseAsyncCalls(BodyParser& b, Draft& d) {
  auto& callees = d.Rare().wrapped_callees;
  callees.clear();
  return b.ParseCallee(callees.emplace_back());
}
bool ParseAsyncThread(BodyParser& b, Draft& d) { return b.cursor().ParseString(d.Rare().async_thread); }

struct LenientAttr {
  OpKind kind;
  StringRef name;
  bool (*parse)(BodyParser&, Draft&);
};
constexpr LenientAttr kLenientAttrs[] = {
    {OpKind::AllReduce, "mode", SkipMode},
    {OpKind::AllReduceStart, "mode", SkipMode},
    {OpKind::ReduceScatter, "mode", SkipMode},
    {OpKind::RaggedAllToAll, "dimensions", SkipDimensions},
    {OpKind::CustomCall, "to_apply", ParseCustomCallToApply},
    {OpKind::AsyncUpdate, "calls", ParseAsyncCalls},
    {OpKind::AsyncDone, "calls", ParseAsyncCalls},
    {OpKind::AsyncUpdate, "async_execution_thread", ParseAsyncThread},
    {OpKind::AsyncDone, "async_execution_thread", ParseAsyncThread},
};
static_assert(std::size(kLenientAttrs) <= 32);

// --- One attribute ---
enum class Outcome : uint8_t { Parsed, Failed, NotFound };

bool Repeated(Cursor& c, const Token& name, uint32_t& seen, size_t bit) {
  if ((seen >> bit & 1) != 0) {
    c.Fail("parse-duplicate-attribute", c.LocOf(name), "attribute {0} already exists", name.text);
    return true;
  }
  seen |= 1u << bit;
  return false;
}

Outcome ParseField(BodyParser& b, Draft& d, const Token& name, const AttrInfo& info, Attrs& attrs,
                   llvm::SmallVectorImpl<Computation*>& callees, uint32_t& seen) {
  for (size_t i = 0; i < info.fields.size(); ++i) {
    const FieldInfo& field = info.fields[i];
    if (field.name != name.text || (field.flags & kPositional) != 0) continue;
    // The computation of a sugared async-start is made from the wrapped op.
    if (d.wrapped && &info == &AsyncStartAttrs::kInfo && !field.access) continue;
    Cursor& c = b.cursor();
    if (Repeated(c, name, seen, i)) return Outcome::Failed;
    c.Advance();
    if (!attrs.data()) attrs = Attrs::Default(info);
    FieldContext f{b, c, d, field, callees};
    void* member = field.access ? field.access(attrs.mutable_data()) : nullptr;
    return kFieldParsers[static_cast<size_t>(field.kind)](f, member) ? Outcome::Parsed : Outcome::Failed;
  }
  return Outcome::NotFound;
}

Outcome ParseGeneric(BodyParser& b, Draft& d, const Token& name) {
  for (size_t i = 0; i < std::size(kGenericAttrs); ++i) {
    if (kGenericAttrs[i].name != name.text) continue;
    const OpKind kind = d.wrapped ? *d.wrapped : d.kind;
    if (i == kAccuracyIndex && !Info(kind).Is(kAccuracy)) return Outcome::NotFound;
    if (Repeated(b.cursor(), name, d.generic_seen, i)) return Outcome::Failed;
    b.cursor().Advance();
    return kGenericAttrs[i].parse(b, d) ? Outcome::Parsed : Outcome::Failed;
  }
  return Outcome::NotFound;
}

Outcome ParseLenient(BodyParser& b, Draft& d, const Token& name) {
  const OpKind kind = d.wrapped && d.kind == OpKind::AsyncStart ? *d.wrapped : d.kind;
  for (size_t i = 0; i < std::size(kLenientAttrs); ++i) {
    if (kLenientAttrs[i].kind != kind || kLenientAttrs[i].name != name.text) continue;
    if (Repeated(b.cursor(), name, d.extra_seen, i)) return Outcome::Failed;
    b.cursor().Advance();
    return kLenientAttrs[i].parse(b, d) ? Outcome::Parsed : Outcome::Failed;
  }
  return Outcome::NotFound;
}

bool UnknownAttribute(Cursor& c, Draft& d, const Token& name) {
  const auto mode = c.options().unknown_attributes;
  if (mode != UnknownAttributes::Error) {
    c.Advance();
    StringRef value;
    if (!SkipUnknownValue(c, value)) return false;
    if (mode == UnknownAttributes::Warn)
      c.Warn("parse-unknown-attribute", c.LocOf(name),
             ("unknown attribute '" + name.text + "' is ignored").str());
    else
      d.Rare().unknown_attributes += (", " + name.text + "=" + value).str();
    return true;
  }
  llvm::SmallVector<StringRef, 24> allowed;
  for (const FieldInfo& f : Info(d.wrapped ? *d.wrapped : d.kind).attrs->fields)
    if ((f.flags & kPositional) == 0) allowed.push_back(f.name);
  for (const GenericAttr& g : kGenericAttrs)
    if (g.name != name.text) allowed.push_back(g.name);
  Diagnostic e = MakeError("parse-unknown-attribute", c.LocOf(name),
                           "unexpected attribute '{0}' on opcode '{1}'", name.text, d.opcode.text);
  if (std::string hint = DidYouMeanText(name.text, allowed); !hint.empty())
    e.Note(c.LocOf(name), std::move(hint));
  else
    e.Note(c.LocOf(name), "allowed attributes: " + llvm::join(allowed, ", "));
  return c.Report(std::move(e));
}

/// attr = AttrName value .
bool ParseAttribute(BodyParser& b, Draft& d) {
  Cursor& c = b.cursor();
  if (!c.Is(TokenKind::AttrName)) return c.Unexpected("an attribute 'name='");
  const Token name = c.token();
  Outcome outcome = ParseGeneric(b, d, name);
  if (outcome == Outcome::NotFound)
    outcome = ParseField(b, d, name, *Info(d.kind).attrs, d.attrs, d.callees, d.seen);
  if (outcome == Outcome::NotFound && d.wrapped && d.kind == OpKind::AsyncStart) {
    Draft::RareParts& rare = d.Rare();
    outcome = ParseField(b, d, name, *Info(*d.wrapped).attrs, rare.wrapped_attrs, rare.wrapped_callees,
                         rare.wrapped_seen);
  }
  if (outcome == Outcome::NotFound) outcome = ParseLenient(b, d, name);
  if (outcome == Outcome::NotFound) return UnknownAttribute(c, d, name);
  return outcome == Outcome::Parsed;
}

bool CheckRequired(Cursor& c, const Draft& d, const AttrInfo& info, uint32_t seen) {
  for (size_t i = 0; i < info.fields.size(); ++i)
    if ((info.fields[i].flags & kRequired) != 0 && (seen >> i & 1) == 0)
      return c.Fail("parse-missing-attribute", c.LocOf(d.opcode), "attribute {0} is expected but not seen",
                    info.fields[i].name);
  return true;
}

}  // namespace

bool Draft::Seen(StringRef field) const {
  const auto fields = Info(kind).attrs->fields;
  for (size_t i = 0; i < fields.size(); ++i)
    if (fields[i].name == field) return (seen >> i & 1) != 0;
  return false;
}

bool ParseAttributes(BodyParser& body, Draft& draft) {
  while (body.cursor().Consume(TokenKind::Comma))
    if (!ParseAttribute(body, draft)) return false;
  return true;
}

bool CheckRequiredAttributes(Cursor& c, const Draft& d) {
  // A scalar is broadcast without `dimensions`.
  if (d.kind == OpKind::Broadcast && !d.operands.empty() && d.operands[0]->shape().IsScalar()) return true;
  if (d.wrapped) {
    if (d.kind != OpKind::AsyncStart) return true;
    return CheckRequired(c, d, *Info(*d.wrapped).attrs, d.rare ? d.rare->wrapped_seen : 0);
  }
  return CheckRequired(c, d, *Info(d.kind).attrs, d.seen);
}

}  // namespace hlo

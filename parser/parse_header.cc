// Attributes of the module header (hlo-text §3).
#include <tuple>

#include "parser/module_parser.h"
#include "parser/values.h"

namespace hlo {
namespace {

using llvm::StringRef;

bool ParseScheduled(Cursor& c, ModuleConfig& m) { return c.ParseBool(m.is_scheduled); }

/// '{' [index ':' '(' Int ',' index [',' kind] ')' {',' …}] '}'
bool ParseInputOutputAlias(Cursor& c, ModuleConfig& m) {
  return c.ParseList(
      TokenKind::LBrace, TokenKind::RBrace,
      [&] {
        InputOutputAlias a;
        if (!ParseShapeIndex(c, a.output) || !c.Expect(TokenKind::Colon) || !c.Expect(TokenKind::LParen))
          return false;
        const Loc loc = c.Here();
        if (!c.ParseInt(a.parameter)) return false;
        if (a.parameter < 0)
          return c.Fail("parse-alias", loc, "found parameter {0}, expected at least 0", a.parameter);
        if (!c.Expect(TokenKind::Comma) || !ParseShapeIndex(c, a.parameter_index)) return false;
        if (c.Consume(TokenKind::Comma)) {
          static constexpr StringRef kKinds[] = {"may-alias", "must-alias"};
          static const EnumInfo kInfo{kKinds, false};
          uint8_t kind = 0;
          if (!ParseEnumWord(c, kInfo, "alias kind", kind)) return false;
          a.must_alias = kind == 1;
        }
        m.input_output_alias.push_back(std::move(a));
        return c.Expect(TokenKind::RParen);
      },
      /*trailing_comma=*/true);
}

/// '{' ['(' Int ',' index ')' {',' …}] '}'
bool ParseBufferDonor(Cursor& c, ModuleConfig& m) {
  return c.ParseList(
      TokenKind::LBrace, TokenKind::RBrace,
      [&] {
        BufferDonor& d = m.buffer_donors.emplace_back();
        return c.Expect(TokenKind::LParen) && c.ParseInt(d.parameter) && c.Expect(TokenKind::Comma) &&
               ParseShapeIndex(c, d.index) && c.Expect(TokenKind::RParen);
      },
      /*trailing_comma=*/true);
}

bool ParsePassthrough(Cursor& c, ModuleConfig& m) { return c.ParseBool(m.alias_passthrough_params); }

/// '{' '(' [shape {',' shape}] ')' '->' shape '}'
bool ParseEntryLayout(Cursor& c, ModuleConfig& m) {
  EntryLayout& layout = m.entry_layout.emplace();
  const bool fill = c.options().fill_missing_layouts && !c.options().keep_module_auto_layouts;
  return c.Expect(TokenKind::LBrace) &&
         c.ParseList(
             TokenKind::LParen, TokenKind::RParen,
             [&] { return ParseShape(c, layout.parameters.emplace_back(), fill); },
             /*trailing_comma=*/true) &&
         c.Expect(TokenKind::Arrow) && ParseShape(c, layout.result, fill) && c.Expect(TokenKind::RBrace);
}

/// bool | '{' [bool {',' bool}] '}'
bool ParseBools(Cursor& c, llvm::SmallVector<bool, 2>& out) {
  bool value = false;
  if (!c.Is(TokenKind::LBrace)) {
    if (!c.ParseBool(value)) return false;
    out.assign(1, value);
    return true;
  }
  llvm::SmallVector<bool, 2> list;
  if (!c.ParseList(TokenKind::LBrace, TokenKind::RBrace, [&] {
        if (!c.ParseBool(value)) return false;
        list.push_back(value);
        return true;
      }))
    return false;
  if (!list.empty()) out = std::move(list);
  return true;
}
bool ParseToParameters(Cursor& c, ModuleConfig& m) { return ParseBools(c, m.spmd_propagation_to_parameters); }
bool ParseToOutput(Cursor& c, ModuleConfig& m) { return ParseBools(c, m.spmd_propagation_to_output); }
bool ParseReplicaCount(Cursor& c, ModuleConfig& m) { return c.ParseInt(m.replica_count); }
bool ParseNumPartitions(Cursor& c, ModuleConfig& m) { return c.ParseInt(m.num_partitions); }
bool ParseFrontend(Cursor& c, ModuleConfig& m) { return ParseFrontendAttributes(c, m.frontend_attributes); }

/// '{' [String [index]] '}'
bool ParseTensorName(Cursor& c, StringRef& name, ShapeIndex& index) {
  if (!c.Expect(TokenKind::LBrace)) return false;
  if (c.Consume(TokenKind::RBrace)) return true;
  if (!c.ParseString(name) || (c.Is(TokenKind::LBrace) && !ParseShapeIndex(c, index))) return false;
  return c.Expect(TokenKind::RBrace);
}

/// '{' {old ':' new [',' String]} '}'
bool ParseRecoveryTable(Cursor& c, ModuleConfig& m) {
  if (!c.Expect(TokenKind::LBrace)) return false;
  while (!c.Consume(TokenKind::RBrace)) {
    OriginRecovery r;
    if (!ParseTensorName(c, r.old_name, r.old_index) || !c.Expect(TokenKind::Colon) ||
        !ParseTensorName(c, r.new_name, r.new_index))
      return false;
    if (c.Consume(TokenKind::Comma)) {
      const Loc loc = c.Here();
      StringRef text;
      if (!c.ParseString(text)) return false;
      ParseResult inner = ParseModule(text, "<origin_recovery_table>", c.options());
      if (!inner.module) {
        Diagnostic e = MakeError("parse-recovery-module", loc, "the recovery module is malformed");
        if (!inner.diagnostics.empty()) e.Note(loc, inner.diagnostics.front().message);
        return c.Report(std::move(e));
      }
      r.recovery = std::move(inner.module);
    }
    m.origin_recovery_table.push_back(std::move(r));
  }
  // Sorted by name and index; of equal keys the first counts.
  const auto less = [](const OriginRecovery& a, const OriginRecovery& b) {
    return std::tie(a.old_name, a.old_index) < std::tie(b.old_name, b.old_index);
  };
  SortUnique(m.origin_recovery_table, less);
  return true;
}

bool ParseDebugItem(Cursor& c, DebugAttribute::Item& item) {
  return ParseSubAttrs(c, {"log_mode", "callback_id", "partitioned", "op_id"}, 0, [&](size_t i) {
    if (i == 1) return c.ParseInt(item.callback_id);
    if (i == 2) return c.ParseBool(item.partitioned);
    if (i == 3) return c.ParseInt(item.op_id);
    static constexpr StringRef kModes[] = {"default", "fusion_debugger"};
    static const EnumInfo kInfo{kModes, false};
    uint8_t mode = 0;
    if (!ParseEnumWord(c, kInfo, "log mode", mode)) return false;
    item.fusion_debugger = mode == 1;
    item.default_log_mode = mode == 0;
    return true;
  });
}

/// '{' ['{' String '}' ':' (items | '(' items {',' items} ')') {',' …}] '}'
bool ParseDebugAttributes(Cursor& c, ModuleConfig& m) {
  return c.ParseList(TokenKind::LBrace, TokenKind::RBrace, [&] {
    DebugAttribute& d = m.debug_attributes.emplace_back();
    ShapeIndex index;
    if (!ParseTensorName(c, d.name, index) || !c.Expect(TokenKind::Colon)) return false;
    const auto item = [&] { return ParseDebugItem(c, d.items.emplace_back()); };
    return c.Is(TokenKind::LParen) ? c.ParseList(TokenKind::LParen, TokenKind::RParen, item) : item();
  });
}

struct HeaderAttr {
  StringRef name;
  bool (*parse)(Cursor&, ModuleConfig&);
};
constexpr HeaderAttr kHeaderAttrs[] = {
    {"is_scheduled", ParseScheduled},
    {"input_output_alias", ParseInputOutputAlias},
    {"buffer_donor", ParseBufferDonor},
    {"alias_passthrough_params", ParsePassthrough},
    {"entry_computation_layout", ParseEntryLayout},
    {"allow_spmd_sharding_propagation_to_parameters", ParseToParameters},
    {"allow_spmd_sharding_propagation_to_output", ParseToOutput},
    {"replica_count", ParseReplicaCount},
    {"num_partitions", ParseNumPartitions},
    {"frontend_attributes", ParseFrontend},
    {"origin_recovery_table", ParseRecoveryTable},
    {"debug_attributes", ParseDebugAttributes},
};

}  // namespace

bool ModuleParser::ParseHeaderAttribute() {
  if (!c_.Is(TokenKind::AttrName)) return c_.Unexpected("a module attribute 'name='");
  const Token name = c_.token();
  c_.Advance();
  for (size_t i = 0; i < std::size(kHeaderAttrs); ++i) {
    if (kHeaderAttrs[i].name != name.text) continue;
    if ((header_seen_ >> i & 1) != 0)
      return c_.Fail("parse-duplicate-attribute", c_.LocOf(name), "attribute {0} already exists", name.text);
    header_seen_ |= 1u << i;
    if (kHeaderAttrs[i].parse == ParseInputOutputAlias) alias_loc_ = c_.LocOf(name);
    if (!kHeaderAttrs[i].parse(c_, module_.config)) return false;
    const ModuleConfig& config = module_.config;
    propagation_written_ |=
        (kHeaderAttrs[i].parse == ParseToParameters && !config.spmd_propagation_to_parameters.empty()) ||
        (kHeaderAttrs[i].parse == ParseToOutput && !config.spmd_propagation_to_output.empty());
    return true;
  }
  StringRef value;
  if (!SkipUnknownValue(c_, value)) return false;
  module_.config.unknown_attributes += (", " + name.text + "=" + value).str();
  std::string message = ("unknown module attribute '" + name.text + "' is kept as it is").str();
  c_.Warn("parse-unknown-field", c_.LocOf(name), std::move(message));
  return true;
}

bool ModuleParser::CheckAliasing() {
  auto& aliases = module_.config.input_output_alias;
  for (const InputOutputAlias& a : aliases)
    if (!entry_->root()->shape().Subshape(a.output))
      return c_.Fail("parse-alias", alias_loc_, "output index {0} does not exist in the result shape {1}",
                     ToString(a.output), entry_->root()->shape());
  // In pre-order of the output index; of equal ones the first counts.
  SortUnique(aliases,
             [](const InputOutputAlias& a, const InputOutputAlias& b) { return a.output < b.output; });
  SortUnique(module_.config.buffer_donors, [](const BufferDonor& a, const BufferDonor& b) {
    return std::tie(a.parameter, a.index) < std::tie(b.parameter, b.index);
  });
  return true;
}

}  // namespace hlo

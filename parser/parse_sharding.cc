// Shardings in the forms V1 and V2, and replica groups (hlo-text §5).
#include "ir/sharding.h"
#include "parser/values.h"

namespace hlo {
namespace {

using llvm::StringRef;

/// Product of sizes; -1 if one is not positive or the product is above 2^40.
int64_t CheckedProduct(llvm::ArrayRef<int64_t> sizes) {
  int64_t product = 1;
  for (int64_t s : sizes)
    if (s <= 0 || __builtin_mul_overflow(product, s, &product) || product > int64_t{1} << 40) return -1;
  return product;
}

bool ParseBracketInts(Cursor& c, Dims& out) {
  return c.ParseList(TokenKind::LBracket, TokenKind::RBracket,
                     [&] { return c.ParseInt(out.emplace_back()); });
}

/// The items of one sharding as written, before they are put together.
struct Items {
  std::optional<ShardingKind> kind;
  std::optional<int64_t> device;
  Loc devices_loc;
  bool has_devices = false;
  bool last_tile_dims_seen = false;
};

void SetKind(Items& items, ShardingKind kind) {
  // Of several kinds the first of replicated, maximal, manual, unknown, unreduced wins.
  if (!items.kind || kind < *items.kind) items.kind = kind;
}

/// 'devices' '=' '[' dims ']' (Int {',' Int} | '<=' iota)
bool ParseDevices(Cursor& c, Items& items, Sharding& out) {
  items.has_devices = true;
  out.tile_dims.clear();
  if (!ParseBracketInts(c, out.tile_dims)) return false;
  if (c.Is(TokenKind::LessEqual)) return ParseIotaDevices(c, out.iota.emplace());
  std::vector<int64_t>& list = out.device_list.emplace();
  do {
    if (!c.ParseInt(list.emplace_back())) return false;
  } while (c.Consume(TokenKind::Comma));
  return true;
}

/// '{' [type {',' type}] '}'
bool ParseLastTileDims(Cursor& c, Sharding& out) {
  return c.ParseList(TokenKind::LBrace, TokenKind::RBrace, [&] {
    switch (c.kind()) {
      case TokenKind::Maximal: out.subgroups.push_back(SubgroupType::Maximal); break;
      case TokenKind::Manual: out.subgroups.push_back(SubgroupType::Manual); break;
      case TokenKind::Unreduced: out.subgroups.push_back(SubgroupType::Unreduced); break;
      case TokenKind::Replicated: out.subgroups.push_back(SubgroupType::Replicated); break;
      default: return c.Unexpected("'maximal', 'manual', 'unreduced' or 'replicated'");
    }
    c.Advance();
    return true;
  });
}

/// metadata | '{' [metadata {',' metadata}] '}'
bool ParseShardingMetadata(Cursor& c, Sharding& out) {
  out.has_metadata = true;
  const auto one = [&] {
    const OpMetadata* m = nullptr;
    if (!ParseMetadata(c, m)) return false;
    out.metadata.push_back(*m);
    return true;
  };
  const TokenKind next = c.Is(TokenKind::LBrace) ? c.PeekToken().kind : TokenKind::Error;
  if (next == TokenKind::LBrace || next == TokenKind::RBrace)
    return c.ParseList(TokenKind::LBrace, TokenKind::RBrace, one);
  return one();
}

bool ParseNamedItem(Cursor& c, Items& items, Sharding& out) {
  static constexpr StringRef kNames[] = {"device", "devices", "last_tile_dims", "metadata"};
  const auto* at = llvm::find(kNames, c.token().text);
  if (at == std::end(kNames)) return c.UnknownWord("parse-unknown-attribute", "sharding item", kNames);
  const auto loc = c.Here();
  c.Advance();
  switch (at - kNames) {
    case 0: return c.ParseInt(items.device.emplace());
    case 1: items.devices_loc = loc; return ParseDevices(c, items, out);
    case 2: items.last_tile_dims_seen = true; return ParseLastTileDims(c, out);
    default: return ParseShardingMetadata(c, out);
  }
}

bool ParseItem(Cursor& c, Items& items, Sharding& out) {
  const TokenKind kind = c.kind();
  switch (kind) {
    case TokenKind::AttrName: return ParseNamedItem(c, items, out);
    case TokenKind::Replicated: SetKind(items, ShardingKind::Replicated); break;
    case TokenKind::Maximal: SetKind(items, ShardingKind::Maximal); break;
    case TokenKind::Manual: SetKind(items, ShardingKind::Manual); break;
    case TokenKind::Unknown: SetKind(items, ShardingKind::Unknown); break;
    case TokenKind::Unreduced: SetKind(items, ShardingKind::Unreduced); break;
    case TokenKind::LastTileDimReplicate: out.replicate_last_tile_dim = true; break;
    case TokenKind::ShardAs:
    case TokenKind::ShardLike:
      c.Advance();
      return c.ParseInt((kind == TokenKind::ShardAs ? out.shard_as : out.shard_like).emplace(0));
    default: return c.Unexpected("a sharding item");
  }
  c.Advance();
  return true;
}

bool CheckTiles(Cursor& c, const Items& items, const Loc& loc, const Sharding& s) {
  if (s.replicate_last_tile_dim && items.last_tile_dims_seen)
    return c.Fail("parse-sharding", loc, "found both last_tile_dims and last_tile_dim_replicate");
  if (s.subgroups.size() > s.tile_dims.size() || (s.replicate_last_tile_dim && s.tile_dims.empty()))
    return c.Fail("parse-sharding", loc, "found more last_tile_dims than the {0} tile dimensions",
                  s.tile_dims.size());
  if (!s.device_list) return true;
  const auto count = static_cast<int64_t>(s.device_list->size());
  if (count < 2)
    return c.Fail("parse-sharding", items.devices_loc, "found {0} device, expected at least 2", count);
  if (CheckedProduct(s.tile_dims) != count)
    return c.Fail("parse-sharding", items.devices_loc, "found {0} devices, expected one per tile", count);
  return true;
}

/// Puts the items together.
bool Finish(Cursor& c, const Items& items, const Loc& loc, Sharding& out) {
  if (!items.kind) {
    if (!items.has_devices)
      return c.Fail("parse-sharding", loc, "found no kind and no devices in a sharding");
    out.kind = ShardingKind::Tiled;
    if (!CheckTiles(c, items, loc, out)) return false;
    Canonicalize(out);
    return true;
  }
  out.kind = *items.kind;
  if (items.has_devices)
    return c.Fail("parse-sharding", items.devices_loc,
                  "found devices beside a sharding kind, expected only one of them");
  if (out.kind == ShardingKind::Maximal) {
    if (!items.device) return c.Fail("parse-sharding", loc, "found 'maximal' without 'device='");
    out.device = *items.device;
  } else if (items.device) {
    return c.Fail("parse-sharding", loc, "found 'device=' without 'maximal'");
  }
  out.subgroups.clear();
  out.replicate_last_tile_dim = false;
  return true;
}

/// single = '{' {item} '}' | '{' mesh … '}' .
bool ParseSingle(Cursor& c, Sharding& out) {
  const uint32_t begin = c.begin();
  if (!c.Expect(TokenKind::LBrace)) return false;
  if (AtMesh(c)) return ParseMeshSharding(c, out) && c.Expect(TokenKind::RBrace);
  Items items;
  while (!c.Is(TokenKind::RBrace))
    if (!ParseItem(c, items, out)) return false;
  c.Advance();
  if (out.shard_as) out.shard_like.reset();
  return Finish(c, items, c.From(begin), out);
}

/// '[' groups ',' size ']' '<=' …
bool ParseIotaGroups(Cursor& c, ReplicaGroups& out) {
  const uint32_t begin = c.begin();
  Dims sizes;
  if (!ParseBracketInts(c, sizes)) return false;
  if (sizes.size() != 2)
    return c.Fail("parse-attribute-value", c.From(begin),
                  "found {0} sizes of replica groups, expected [groups,size]", sizes.size());
  ReplicaGroups::Iota& iota = out.iota.emplace(ReplicaGroups::Iota{});
  iota.group_count = sizes[0];
  iota.group_size = sizes[1];
  if (!c.Is(TokenKind::LessEqual)) return c.Unexpected("'<='");
  return ParseIotaDevices(c, iota.devices);
}

}  // namespace

bool ParseIotaDevices(Cursor& c, IotaDevices& out) {
  return c.Expect(TokenKind::LessEqual) && ParseIotaBody(c, out);
}

bool ParseIotaBody(Cursor& c, IotaDevices& out) {
  const uint32_t begin = c.begin();
  if (!ParseBracketInts(c, out.reshape_dims)) return false;
  if (c.IsIdent("T")) {
    c.Advance();
    if (!c.ParseList(TokenKind::LParen, TokenKind::RParen,
                     [&] { return c.ParseInt(out.permutation.emplace_back()); }))
      return false;
  } else if (out.reshape_dims.size() <= 1) {
    out.permutation.assign(out.reshape_dims.size(), 0);
  }
  if (out.reshape_dims.empty() || out.permutation.size() != out.reshape_dims.size() ||
      !IsPermutation(out.permutation))
    return c.Fail("parse-attribute-value", c.From(begin),
                  "found '{0}', expected reshape sizes and a permutation of them like [4,2]T(1,0)",
                  c.TextFrom(begin));
  Canonicalize(out);
  return true;
}

bool ParseSharding(Cursor& c, Sharding& out) {
  if (!c.Is(TokenKind::LBrace)) return c.Unexpected("'{'");
  const TokenKind next = c.PeekToken().kind;
  if (next != TokenKind::LBrace && next != TokenKind::RBrace) return ParseSingle(c, out);
  out.kind = ShardingKind::Tuple;
  return c.ParseList(TokenKind::LBrace, TokenKind::RBrace,
                     [&] { return ParseSingle(c, out.elements.emplace_back()); });
}

bool ParseReplicaGroups(Cursor& c, ReplicaGroups& out) {
  if (c.Is(TokenKind::LBracket)) return ParseIotaGroups(c, out);
  if (!AtMesh(c)) return ParseIntLists(c, out.groups);
  ReplicaGroups::MeshAxes& mesh = out.mesh.emplace(ReplicaGroups::MeshAxes{});
  if (!ParseMesh(c, mesh.mesh)) return false;
  c.Consume(TokenKind::Comma);
  return ParseAxes(c, mesh.mesh, mesh.axes);
}

}  // namespace hlo

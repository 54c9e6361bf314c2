// Meshes, their axes, and shardings in the form V3 (hlo-text §5).
#include "parser/values.h"

namespace hlo {
namespace {

using llvm::StringRef;

/// String '=' Int
bool ParseMeshAxis(Cursor& c, Mesh& mesh) {
  StringRef name;
  const Loc loc = c.Here();
  if (!c.ParseString(name) || !c.Expect(TokenKind::Equal)) return false;
  for (const MeshAxis& other : mesh.axes)
    if (other.name == name) return c.Fail("parse-sharding", loc, "mesh axis '{0}' already exists", name);
  mesh.axes.push_back({name.str(), 0});
  return c.ParseInt(mesh.axes.back().size);
}

int64_t MeshSize(const Mesh& mesh) {
  int64_t size = 1;
  for (const MeshAxis& axis : mesh.axes)
    if (axis.size <= 0 || __builtin_mul_overflow(size, axis.size, &size)) return -1;
  return size;
}

bool CheckDeviceList(Cursor& c, const Loc& loc, const Mesh& mesh, llvm::ArrayRef<int64_t> ids) {
  const auto count = static_cast<int64_t>(ids.size());
  if (count != MeshSize(mesh))
    return c.Fail("parse-sharding", loc, "found {0} device ids, expected one per device of the mesh", count);
  std::vector<bool> seen(ids.size(), false);
  for (int64_t id : ids) {
    if (id < 0 || id >= count || seen[static_cast<size_t>(id)])
      return c.Fail("parse-sharding", loc, "device ids are no permutation of 0 to {0}", count - 1);
    seen[static_cast<size_t>(id)] = true;
  }
  if (llvm::is_sorted(ids))
    return c.Fail("parse-sharding", loc, "device ids are in order, expected none to be written");
  return true;
}

/// 'device_ids' '=' '(' ('[' dims ']' ['T' perm] | Int {',' Int}) ')'
bool ParseDeviceIds(Cursor& c, Mesh& mesh) {
  const uint32_t begin = c.begin();
  c.Advance();
  if (!c.Expect(TokenKind::LParen)) return false;
  if (c.Is(TokenKind::LBracket)) {
    if (!ParseIotaBody(c, mesh.iota_devices.emplace()) || !c.Expect(TokenKind::RParen)) return false;
    // Whether the sizes fit the mesh is the verifier's business. The plain order needs no mention.
    const Dims& dims = mesh.iota_devices->reshape_dims;
    if (dims.size() <= 1 && (dims.empty() ? 1 : dims[0]) == MeshSize(mesh)) mesh.iota_devices.reset();
    return true;
  }
  std::vector<int64_t>& ids = mesh.device_ids.emplace();
  do {
    if (!c.ParseInt(ids.emplace_back())) return false;
  } while (c.Consume(TokenKind::Comma));
  return c.Expect(TokenKind::RParen) && CheckDeviceList(c, c.From(begin), mesh, ids);
}

/// Number of the axis `name`; an index string such as '0' stands for a number. -1 if there is none.
int64_t FindAxis(const Mesh& mesh, StringRef name) {
  for (size_t i = 0; i < mesh.axes.size(); ++i)
    if (mesh.axes[i].name == name) return static_cast<int64_t>(i);
  int64_t index = -1;
  if (name.getAsInteger(10, index) || index < 0 || index >= static_cast<int64_t>(mesh.axes.size())) return -1;
  return index;
}

/// axis = String [':' '(' Int ')' Int] .
bool ParseAxis(Cursor& c, const Mesh& mesh, AxisRef& out) {
  const uint32_t begin = c.begin();
  StringRef name;
  if (!c.ParseString(name)) return false;
  out.axis = FindAxis(mesh, name);
  if (out.axis < 0) {
    Diagnostic d = MakeError("parse-sharding", c.From(begin), "unknown mesh axis '{0}'", name);
    llvm::SmallVector<StringRef, 8> names;
    for (const MeshAxis& axis : mesh.axes) names.push_back(axis.name);
    if (std::string hint = DidYouMeanText(name, names); !hint.empty()) d.Note(c.From(begin), std::move(hint));
    return c.Report(std::move(d));
  }
  if (!c.Consume(TokenKind::Colon)) return true;
  auto& [pre, size] = out.sub_axis.emplace();
  if (!c.Expect(TokenKind::LParen) || !c.ParseInt(pre) || !c.Expect(TokenKind::RParen) || !c.ParseInt(size))
    return false;
  const int64_t full = mesh.axes[static_cast<size_t>(out.axis)].size;
  int64_t product = 0;
  if (pre < 1 || size < 2 || size == full || __builtin_mul_overflow(pre, size, &product) || product > full ||
      full % product != 0)
    return c.Fail("parse-sharding", c.From(begin), "sub-axis ({0}){1} does not divide the axis of size {2}",
                  pre, size, full);
  return true;
}

/// True if `a` followed by `b` could be written as one axis.
bool CanMerge(const AxisRef& a, const AxisRef& b) {
  return a.axis == b.axis && a.sub_axis && b.sub_axis &&
         a.sub_axis->first * a.sub_axis->second == b.sub_axis->first;
}

bool Overlap(const AxisRef& a, const AxisRef& b) {
  if (a.axis != b.axis) return false;
  if (!a.sub_axis || !b.sub_axis) return true;
  const auto [pre_a, size_a] = *a.sub_axis;
  const auto [pre_b, size_b] = *b.sub_axis;
  return pre_a < pre_b * size_b && pre_b < pre_a * size_a;
}

bool CheckMerge(Cursor& c, const Loc& loc, llvm::ArrayRef<AxisRef> axes) {
  for (size_t i = 1; i < axes.size(); ++i)
    if (CanMerge(axes[i - 1], axes[i]))
      return c.Fail("parse-sharding", loc, "adjacent sub-axes of one axis, expected them to be merged");
  return true;
}

/// '{' [axis {',' axis}] [',' '?'] '}'
bool ParseDimAxes(Cursor& c, const Mesh& mesh, MeshSharding::Dim& dim) {
  const uint32_t begin = c.begin();
  if (!c.ParseList(TokenKind::LBrace, TokenKind::RBrace, [&] {
        if (dim.open) return c.Unexpected("'}' after '?'");
        if (c.Consume(TokenKind::Question)) {
          dim.open = true;
          return true;
        }
        return ParseAxis(c, mesh, dim.axes.emplace_back());
      }))
    return false;
  return CheckMerge(c, c.From(begin), dim.axes);
}

bool ParseReduction(Cursor& c, ReductionOp& op) {
  if (!c.Is(TokenKind::Ident)) return true;
  static constexpr StringRef kWords[] = {"sum", "max", "min"};
  const auto* at = llvm::find(kWords, c.token().text);
  if (at == std::end(kWords)) return c.UnknownWord("parse-unknown-word", "reduction", kWords);
  op = static_cast<ReductionOp>(at - kWords);
  c.Advance();
  return true;
}

bool ParseOrderedAxes(Cursor& c, const Mesh& mesh, std::vector<AxisRef>& out) {
  const uint32_t begin = c.begin();
  if (!ParseAxes(c, mesh, out)) return false;
  const auto key = [](const AxisRef& a) {
    return std::make_pair(a.axis, a.sub_axis ? a.sub_axis->first : 0);
  };
  if (llvm::is_sorted(out, [&](const AxisRef& a, const AxisRef& b) { return key(a) < key(b); })) return true;
  return c.Fail("parse-sharding", c.From(begin), "axes are not in mesh order");
}

/// All axes of the mesh with more than one device.
std::vector<AxisRef> AllAxes(const Mesh& mesh) {
  std::vector<AxisRef> axes;
  for (size_t i = 0; i < mesh.axes.size(); ++i)
    if (mesh.axes[i].size > 1) axes.push_back({static_cast<int64_t>(i), std::nullopt});
  return axes;
}

/// 'replicated' '=' axes | 'unreduced' '=' [op] [axes] | 'manual' '=' axes
bool ParseAxisAttribute(Cursor& c, MeshSharding& m, bool short_form) {
  static constexpr StringRef kNames[] = {"replicated", "unreduced", "manual"};
  const auto* at = llvm::find(kNames, c.token().text);
  if (at == std::end(kNames)) return c.UnknownWord("parse-unknown-attribute", "sharding part", kNames);
  std::vector<AxisRef>* const lists[] = {&m.replicated, &m.unreduced, &m.manual};
  const auto i = static_cast<size_t>(at - kNames);
  if (!lists[i]->empty())
    return c.Fail("parse-duplicate-attribute", c.Here(), "sharding part {0} already exists", *at);
  c.Advance();
  if (i == 1) {
    const bool has_op = c.Is(TokenKind::Ident);
    if (!ParseReduction(c, m.unreduced_op)) return false;
    if (short_form && has_op && !c.Is(TokenKind::LBrace)) {
      m.unreduced = AllAxes(m.mesh);
      return true;
    }
  }
  return ParseOrderedAxes(c, m.mesh, *lists[i]);
}

/// 'replicated' | 'manual' | 'unreduced' ['=' …]
bool ParseShortForm(Cursor& c, MeshSharding& m) {
  switch (c.kind()) {
    case TokenKind::Replicated: break;
    case TokenKind::Manual: m.manual = AllAxes(m.mesh); break;
    case TokenKind::Unreduced: m.unreduced = AllAxes(m.mesh); break;
    case TokenKind::AttrName:
      if (c.token().text == "unreduced") return ParseAxisAttribute(c, m, true);
      [[fallthrough]];
    default: return c.Unexpected("'[', 'replicated', 'manual' or 'unreduced'");
  }
  c.Advance();
  return true;
}

bool CheckAxesUsedOnce(Cursor& c, const Loc& loc, const MeshSharding& m) {
  llvm::SmallVector<AxisRef, 16> used;
  const auto add = [&](llvm::ArrayRef<AxisRef> axes) { used.append(axes.begin(), axes.end()); };
  for (const MeshSharding::Dim& dim : m.dims) add(dim.axes);
  add(m.replicated);
  add(m.unreduced);
  add(m.manual);
  for (size_t i = 0; i < used.size(); ++i)
    for (size_t k = 0; k < i; ++k)
      if (Overlap(used[i], used[k]))
        return c.Fail("parse-sharding", loc, "mesh axis '{0}' is used twice",
                      m.mesh.axes[static_cast<size_t>(used[i].axis)].name);
  return true;
}

bool ParseMeshMetadata(Cursor& c, Sharding& out) {
  c.Advance();
  out.has_metadata = true;
  return c.ParseList(TokenKind::LBrace, TokenKind::RBrace, [&] {
    const OpMetadata* m = nullptr;
    if (!ParseMetadata(c, m)) return false;
    out.metadata.push_back(*m);
    return true;
  });
}

}  // namespace

bool AtMesh(const Cursor& c) { return c.IsIdent("mesh") || c.IsIdent("maximal_mesh"); }

bool ParseMesh(Cursor& c, Mesh& out) {
  const bool maximal = c.IsIdent("maximal_mesh");
  c.Advance();
  if (maximal) {
    if (!c.Expect(TokenKind::LBracket)) return false;
    if (!c.Is(TokenKind::AttrName) || c.token().text != "device_id") return c.Unexpected("'device_id='");
    c.Advance();
    return c.ParseInt(out.maximal_device.emplace()) && c.Expect(TokenKind::RBracket);
  }
  if (!c.ParseList(TokenKind::LBracket, TokenKind::RBracket, [&] { return ParseMeshAxis(c, out); }))
    return false;
  if (!c.Is(TokenKind::Comma)) return true;
  const Token next = c.PeekToken();
  if (next.kind != TokenKind::AttrName || next.text != "device_ids") return true;
  c.Advance();
  return ParseDeviceIds(c, out);
}

bool ParseAxes(Cursor& c, const Mesh& mesh, std::vector<AxisRef>& out) {
  const uint32_t begin = c.begin();
  return c.ParseList(TokenKind::LBrace, TokenKind::RBrace, [&] {
    return ParseAxis(c, mesh, out.emplace_back());
  }) && CheckMerge(c, c.From(begin), out);
}

/// mesh [[','] spec [',' 'metadata' '=' …]]
bool ParseMeshSharding(Cursor& c, Sharding& out) {
  const uint32_t begin = c.begin();
  out.kind = ShardingKind::Mesh;
  MeshSharding& m = out.mesh.emplace();
  if (!ParseMesh(c, m.mesh)) return false;
  const auto at_metadata = [&] { return c.Is(TokenKind::AttrName) && c.token().text == "metadata"; };
  c.Consume(TokenKind::Comma);
  if (m.mesh.maximal_device) return at_metadata() ? ParseMeshMetadata(c, out) : true;
  if (c.Is(TokenKind::LBracket)) {
    m.has_dims = true;
    if (!c.ParseList(TokenKind::LBracket, TokenKind::RBracket,
                     [&] { return ParseDimAxes(c, m.mesh, m.dims.emplace_back()); }))
      return false;
  } else if (!ParseShortForm(c, m)) {
    return false;
  }
  while (c.Consume(TokenKind::Comma)) {
    if (at_metadata()) {
      if (!ParseMeshMetadata(c, out)) return false;
      break;
    }
    if (!c.Is(TokenKind::AttrName) || !m.has_dims) return c.Unexpected("'metadata='");
    if (!ParseAxisAttribute(c, m, false)) return false;
  }
  if (m.dims.empty()) m.has_dims = false;
  return CheckAxesUsedOnce(c, c.From(begin), m);
}

}  // namespace hlo

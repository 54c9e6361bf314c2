// Parsing functions of attribute values and other parts, one per grammar production. Each returns false after
// having reported an error (see Cursor).
#pragma once
#include "ir/attrs.h"
#include "parser/cursor.h"

namespace hlo {

// --- Shapes (parse_shape.cc) ---
/// True if a shape starts at the current token.
bool AtShape(const Cursor& c);
/// Fills missing layouts if `fill` (scalars always have one).
bool ParseShape(Cursor& c, Shape& out, bool fill);
inline bool ParseShape(Cursor& c, Shape& out) { return ParseShape(c, out, c.options().fill_missing_layouts); }

/// An array shape whose literal follows: `f32[2] {1,2}` has no layout.
bool ParseArrayBeforeLiteral(Cursor& c, Shape& out);

// --- Literals (parse_literal.cc) ---
/// A literal of the given shape. Arrays in it may be elided, `{...}`.
bool ParseLiteralValue(Cursor& c, const Shape& shape, LiteralPtr& out);
/// Literal with the shapes written at its leaves. As XLA does, a `{` and an integer behind a shape are read
/// as its layout, unless `layout_optional`.
bool ParseShapedLiteral(Cursor& c, LiteralPtr& out, bool layout_optional = false);

// --- Lists and words (parse_values.cc) ---
/// True if `order` holds 0 to size-1, each once.
bool IsPermutation(llvm::ArrayRef<int64_t> order);
bool ParseIntList(Cursor& c, Dims& out);
bool ParseIntLists(Cursor& c, std::vector<Dims>& out);
/// `{1,0}`, `{1,0,}`.
bool ParseShapeIndex(Cursor& c, ShapeIndex& out);
bool ParseEnumWord(Cursor& c, const EnumInfo& info, llvm::StringRef what, uint8_t& out);
bool ParseWindow(Cursor& c, Window& out);
bool ParseConvLabels(Cursor& c, ConvDimLabels& out);
bool ParsePadding(Cursor& c, Padding& out);
bool ParseSliceRanges(Cursor& c, SliceRanges& out);
bool ParsePrecisions(Cursor& c, Precisions& out);
bool ParseAliasing(Cursor& c, Aliasing& out);
bool ParseSparsity(Cursor& c, SparsityConfig& out);
bool ParseDomain(Cursor& c, DomainSpec& out);

// --- Shardings (parse_sharding.cc, parse_mesh.cc) ---
bool ParseSharding(Cursor& c, Sharding& out);
bool ParseReplicaGroups(Cursor& c, ReplicaGroups& out);
/// `<=[4,2]T(1,0)`, from the `<=` on; canonicalised.
bool ParseIotaDevices(Cursor& c, IotaDevices& out);
/// `[4,2]T(1,0)`, the part after the `<=`.
bool ParseIotaBody(Cursor& c, IotaDevices& out);
/// `mesh['a'=2,…]`, `maximal_mesh[device_id=5]`, with device ids; at the Ident.
bool ParseMesh(Cursor& c, Mesh& out);
bool AtMesh(const Cursor& c);
/// Axes joined with commas between braces.
bool ParseAxes(Cursor& c, const Mesh& mesh, std::vector<AxisRef>& out);
/// The sharding `{mesh…, spec}` from the mesh on.
bool ParseMeshSharding(Cursor& c, Sharding& out);

// --- Generic attributes (parse_metadata.cc) ---
bool ParseMetadata(Cursor& c, const OpMetadata*& out);
bool ParseFrontendAttributes(Cursor& c, std::vector<FrontendAttribute>& out);
bool ParseStatistics(Cursor& c, Statistics& out);
bool ParseResultAccuracy(Cursor& c, ResultAccuracy& out);
bool ParseOrigin(Cursor& c, Origin& out);

/// subattrs = '{' {[','] attr} '}' . `parse(i)` reads the value of names[i]. Names not listed are reported,
/// or, if `unknown` is given, kept there as text with a warning.
bool ParseSubAttrs(Cursor& c, llvm::ArrayRef<llvm::StringRef> names, uint32_t required,
                   llvm::function_ref<bool(size_t)> parse, std::string* unknown = nullptr);
/// Sorts; of equal elements only the first is kept.
template <class T, class Less>
void SortUnique(std::vector<T>& items, Less less) {
  std::vector<size_t> order(items.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  llvm::sort(order, [&](size_t a, size_t b) {
    return less(items[a], items[b]) || (a < b && !less(items[b], items[a]));
  });
  std::vector<T> result;
  result.reserve(items.size());
  for (size_t i : order)
    if (result.empty() || less(result.back(), items[i])) result.push_back(std::move(items[i]));
  items = std::move(result);
}
/// Moves past the value of an unknown attribute; `text` is the value.
bool SkipUnknownValue(Cursor& c, llvm::StringRef& text);

}  // namespace hlo

#include "tools/proto/values.h"

#include "llvm/Support/Endian.h"

namespace hlo {
namespace {

void WriteLayout(ProtoWriter& out, const Layout& layout) {
  out.Packed(1, layout.minor_to_major);
  for (const Tile& tile : layout.tiles) out.Message(6, [&](ProtoWriter& t) { t.Packed(1, tile.dims); });
  out.Number(7, layout.element_size_bits);
  out.Number(8, layout.memory_space);
  if (layout.index_type) out.Number(11, Info(*layout.index_type).primitive_type);
  if (layout.pointer_type) out.Number(12, Info(*layout.pointer_type).primitive_type);
  out.Number(15, layout.dynamic_shape_metadata_prefix_bytes);
  out.Number(16, layout.tail_padding_alignment);
  for (const SplitConfig& split : layout.split_configs)
    out.Message(17, [&](ProtoWriter& s) {
      s.Number(1, split.dimension);
      s.Packed(2, split.indices);
    });
}

/// In which field of a literal elements of a type lie; numbers of a list, or their bytes.
struct LiteralField {
  ElementType type;
  int field;
  bool varint = false;
};
constexpr LiteralField kLiteralFields[] = {
    {ElementType::Pred, 2},        {ElementType::S32, 4, true},
    {ElementType::S64, 5, true},   {ElementType::U32, 6, true},
    {ElementType::U64, 7, true},   {ElementType::F32, 8},
    {ElementType::F64, 9},         {ElementType::F16, 11},
    {ElementType::C64, 12},        {ElementType::BF16, 13},
    {ElementType::S8, 15},         {ElementType::U8, 3},
    {ElementType::U16, 16},        {ElementType::S16, 17},
    {ElementType::C128, 18},       {ElementType::F8E5M2, 19},
    {ElementType::F8E4M3FN, 20},   {ElementType::S4, 21},
    {ElementType::U4, 22},         {ElementType::F8E4M3B11FNUZ, 23},
    {ElementType::F8E5M2FNUZ, 24}, {ElementType::F8E4M3FNUZ, 25},
    {ElementType::S2, 26},         {ElementType::U2, 27},
    {ElementType::F8E4M3, 28},     {ElementType::F8E3M4, 29},
    {ElementType::S1, 30},         {ElementType::U1, 31},
    {ElementType::F4E2M1FN, 32},   {ElementType::F8E8M0FNU, 33},
};

/// The bytes of an array in the order of its layout.
std::string PhysicalBytes(const Literal& literal) {
  const Literal plain = literal.Unpack();
  const Shape& shape = plain.shape();
  const TypeInfo& type = Info(shape.element_type());
  const auto bytes = static_cast<size_t>(type.host_bytes());
  const auto* data = reinterpret_cast<const char*>(plain.data());
  std::string out(data, static_cast<size_t>(shape.ElementCount()) * bytes);
  if (shape.has_layout() && !shape.layout().IsDescending()) {
    const int64_t rank = shape.rank();
    Dims strides(static_cast<size_t>(rank), 1), index(static_cast<size_t>(rank), 0);
    for (int64_t d = rank - 2; d >= 0; --d)
      strides[static_cast<size_t>(d)] = strides[static_cast<size_t>(d) + 1] * shape.dim(d + 1);
    const Dims& order = shape.layout().minor_to_major;
    int64_t linear = 0;
    for (int64_t to = 0; to < shape.ElementCount(); ++to) {
      std::memcpy(out.data() + static_cast<size_t>(to) * bytes, data + static_cast<size_t>(linear) * bytes,
                  bytes);
      for (const int64_t d : order) {
        const auto at = static_cast<size_t>(d);
        linear += strides[at];
        if (++index[at] < shape.dim(d)) break;
        linear -= strides[at] * index[at];
        index[at] = 0;
      }
    }
  }
  // Sign bits beyond the element's own are not stored.
  if (type.is_packed())
    for (char& c : out) c = static_cast<char>(c & ((1 << type.bits) - 1));
  return out;
}

std::string PackedNumbers(llvm::StringRef bytes, ElementType type) {
  std::string out;
  const size_t width = static_cast<size_t>(Info(type).host_bytes());
  for (size_t at = 0; at < bytes.size(); at += width) {
    const char* from = bytes.data() + at;
    uint64_t value =
        width == 8 ? llvm::support::endian::read64le(from) : llvm::support::endian::read32le(from);
    if (width == 4 && IsSigned(type)) value = static_cast<uint64_t>(int64_t{static_cast<int32_t>(value)});
    ProtoWriter::AppendVarint(out, value);
  }
  return out;
}

constexpr int kShardingKinds[] = {/*Replicated=*/0, /*Maximal=*/1, /*Manual=*/4, /*Unknown=*/5,
                                  /*Unreduced=*/-1, /*Tiled=*/3,   /*Mesh=*/-1,  /*Tuple=*/2};
constexpr int kSubgroupKinds[] = {/*Maximal=*/1, /*Manual=*/4, /*Unreduced=*/-1, /*Replicated=*/0};

}  // namespace

void WriteProto(ProtoWriter& out, const Shape& shape) {
  out.Number(2, Info(shape.element_type()).primitive_type);
  if (shape.IsTuple())
    for (const Shape& element : shape.tuple_shapes())
      out.Message(4, [&](ProtoWriter& e) { WriteProto(e, element); });
  if (shape.IsBuffer()) out.Message(4, [&](ProtoWriter& e) { WriteProto(e, shape.buffer_shape()); });
  if (!shape.IsArray()) return;
  out.Packed(3, shape.dims());
  if (shape.has_layout()) out.Message(5, [&](ProtoWriter& l) { WriteLayout(l, shape.layout()); });
  Dims dynamic;
  for (int64_t d = 0; d < shape.rank(); ++d) dynamic.push_back(shape.is_dynamic(d));
  out.Packed(6, dynamic);
}

void WriteProgramShape(ProtoWriter& out, llvm::ArrayRef<Shape> parameters, const Shape& result,
                       llvm::ArrayRef<std::string> names) {
  for (const Shape& shape : parameters) out.Message(1, [&](ProtoWriter& s) { WriteProto(s, shape); });
  out.Message(2, [&](ProtoWriter& s) { WriteProto(s, result); });
  for (const std::string& name : names) out.BytesAlways(3, name);
}

Status WriteProto(ProtoWriter& out, const Literal& literal) {
  out.Message(1, [&](ProtoWriter& s) { WriteProto(s, literal.shape()); });
  if (literal.shape().IsTuple()) {
    for (const Literal& element : literal.elements()) {
      HLO_CHECK_OK(out.TryMessage(10, [&](ProtoWriter& inner) { return WriteProto(inner, element); }));
    }
    return {};
  }
  if (!literal.shape().IsArray()) return {};
  const ElementType type = literal.shape().element_type();
  const auto* row = llvm::find_if(kLiteralFields, [&](const LiteralField& f) { return f.type == type; });
  if (row == std::end(kLiteralFields))
    return Error("unavailable-feature", {}, "constants of {0} have no form as protocol buffer",
                 ToString(type));
  const std::string bytes = PhysicalBytes(literal);
  out.Text(row->field, row->varint ? PackedNumbers(bytes, type) : bytes);
  return {};
}

void WriteProto(ProtoWriter& out, const OpMetadata& m) {
  out.Text(1, m.op_type);
  out.Text(2, m.op_name);
  out.Text(3, m.source_file);
  out.Number(4, m.source_line);
  out.PackedList(5, m.profile_type);
  out.Text(12, m.deduplicated_name);
  out.Number(15, m.stack_frame_id);
  out.Text(16, m.scheduling_name);
  out.Number(17, m.source_end_line);
  out.Number(18, m.source_column);
  out.Number(19, m.source_end_column);
}

Status WriteProto(ProtoWriter& out, const Sharding& sharding) {
  const int kind = kShardingKinds[static_cast<size_t>(sharding.kind)];
  auto known = [](SubgroupType t) { return kSubgroupKinds[static_cast<size_t>(t)] >= 0; };
  if (kind < 0 || !llvm::all_of(sharding.subgroups, known))
    return Error("unavailable-feature", {},
                 "shardings over meshes and unreduced ones have no form as protocol buffer yet");
  out.Number(1, kind);
  out.Packed(3, sharding.tile_dims);
  if (sharding.kind == ShardingKind::Maximal) out.Packed(4, {sharding.device});
  if (sharding.device_list) out.Packed(4, *sharding.device_list);
  for (const Sharding& element : sharding.elements) {
    HLO_CHECK_OK(out.TryMessage(5, [&](ProtoWriter& inner) { return WriteProto(inner, element); }));
  }
  out.Number(6, sharding.replicate_last_tile_dim);
  for (const OpMetadata& m : sharding.metadata) out.Message(7, [&](ProtoWriter& w) { WriteProto(w, m); });
  Dims subgroups;
  for (const SubgroupType t : sharding.subgroups) subgroups.push_back(kSubgroupKinds[static_cast<size_t>(t)]);
  out.Packed(8, subgroups);
  if (sharding.iota) {
    out.Packed(9, sharding.iota->reshape_dims);
    out.Packed(10, sharding.iota->permutation);
  }
  if (sharding.shard_as || sharding.shard_like) {
    out.Number(11, 1);
    out.Number(12, sharding.shard_as ? *sharding.shard_as : *sharding.shard_like);
    out.Number(13, sharding.shard_as ? 0 : 1);
  }
  return {};
}

}  // namespace hlo

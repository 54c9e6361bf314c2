#include "tools/proto/values.h"

#include "llvm/Support/Endian.h"
#include "tools/proto/fields.h"
#include "tools/proto/mesh_proto.h"
#include "tools/proto/value_tables.h"

namespace hlo {
namespace {

void WriteLayout(ProtoWriter& out, const Layout& layout) {
  WriteFields(out, layout);
  if (layout.index_type) out.Number(11, Info(*layout.index_type).primitive_type);
  if (layout.pointer_type) out.Number(12, Info(*layout.pointer_type).primitive_type);
}

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

void WriteProto(ProtoWriter& out, const OpMetadata& metadata) {
  WriteFields(out, metadata);
  out.PackedList(5, metadata.profile_type);
}

namespace {

void WriteShardGroup(ProtoWriter& out, const Sharding& sharding) {
  if (!sharding.shard_as && !sharding.shard_like) return;
  out.Number(11, 1);
  out.Number(12, sharding.shard_as ? *sharding.shard_as : *sharding.shard_like);
  out.Number(13, sharding.shard_as ? 0 : 1);
}

}  // namespace

Status WriteProto(ProtoWriter& out, const Sharding& sharding) {
  if (sharding.mesh) {
    HLO_CHECK_OK(out.TryMessage(kProtoMeshSharding, [&](ProtoWriter& mesh) -> Status {
      HLO_CHECK_OK(WriteProto(mesh, *sharding.mesh));
      for (const OpMetadata& m : sharding.metadata)
        mesh.Message(6, [&](ProtoWriter& w) { WriteProto(w, m); });
      return {};
    }));
    return WriteShardGroup(out, sharding), Status();
  }
  const int kind = kShardingKinds[static_cast<size_t>(sharding.kind)];
  auto known = [](SubgroupType t) { return kSubgroupKinds[static_cast<size_t>(t)] >= 0; };
  if (kind < 0 || !llvm::all_of(sharding.subgroups, known))
    return Error("unavailable-feature", {}, "a sharding has no form as protocol buffer");
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
  WriteShardGroup(out, sharding);
  return {};
}

}  // namespace hlo

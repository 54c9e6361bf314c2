#include "tools/proto/read_values.h"

#include "ir/support/stack.h"
#include "llvm/Support/Endian.h"
#include "tools/proto/fields.h"
#include "tools/proto/mesh_proto.h"
#include "tools/proto/value_tables.h"

namespace hlo {
namespace {

/// The type that a PrimitiveType stands for; nothing after an error.
std::optional<ElementType> FindType(int64_t primitive, ProtoProblems& problems) {
  for (const TypeInfo& info : kTypeTable)
    if (info.primitive_type == primitive) return info.type;
  problems.Fail("found element type {0}, which is none", primitive);
  return std::nullopt;
}

std::optional<ElementType> ReadLayoutType(ProtoMessage& in, int field) {
  const int64_t primitive = in.Number(field);
  return primitive == 0 ? std::nullopt : FindType(primitive, in.problems());
}

Layout ReadLayout(ProtoMessage& in) {
  Layout layout;
  ReadFields(in, layout);
  if (layout.tail_padding_alignment == 0) layout.tail_padding_alignment = 1;
  layout.index_type = ReadLayoutType(in, 11);
  layout.pointer_type = ReadLayoutType(in, 12);
  constexpr int kFormat = 9, kLevelTypes = 4;  // of sparse layouts in old files
  if (in.Has(kLevelTypes)) in.problems().Fail("sparse layouts are not supported");
  in.Ignore(kFormat);
  return layout;
}

Shape ReadArray(ElementType type, ProtoMessage& in) {
  ProtoProblems& problems = in.problems();
  Dims dims, flags;
  in.Numbers(3, dims);
  in.Numbers(6, flags);
  if (!flags.empty() && flags.size() != dims.size())
    problems.Fail("found {0} dynamic flags for {1} dimensions", flags.size(), dims.size());
  if (static_cast<int64_t>(dims.size()) > kMaxRank)
    problems.Fail(MakeError("limit-nesting", {}, "found a shape with {0} dimensions, expected at most {1}",
                            dims.size(), kMaxRank));
  llvm::SmallVector<bool, 8> dynamic;
  if (llvm::is_contained(flags, 1)) dynamic.assign(flags.begin(), flags.end());
  ProtoMessage* layout = in.Message(5, "LayoutProto");
  if (problems.failed()) return Shape::Array(type, {});
  const Shape shape = Shape::Array(type, dims, dynamic);
  return layout ? shape.WithLayout(ReadLayout(*layout)) : shape;
}

bool IsPermutation(llvm::ArrayRef<int64_t> order, int64_t rank) {
  llvm::SmallVector<bool, 8> seen(static_cast<size_t>(rank));
  if (static_cast<int64_t>(order.size()) != rank) return false;
  for (const int64_t d : order)
    if (d < 0 || d >= rank || std::exchange(seen[static_cast<size_t>(d)], true)) return false;
  return true;
}

/// The bytes that a list of varints stands for; as far as they go.
std::string UnpackNumbers(llvm::StringRef packed, size_t width) {
  std::string out;
  char bytes[8];
  for (uint64_t value = 0; !packed.empty() && TakeVarint(packed, value);) {
    llvm::support::endian::write64le(bytes, value);
    out.append(bytes, width);
  }
  return out;
}

/// Moves elements that lie in the order of the layout to row-major order.
void ToRowMajor(llvm::StringRef from, const Shape& shape, size_t width, uint8_t* to) {
  const auto rank = static_cast<size_t>(shape.rank());
  Dims strides(rank, 1), index(rank, 0);
  for (size_t d = rank; d-- > 1;) strides[d - 1] = strides[d] * shape.dim(static_cast<int64_t>(d));
  int64_t linear = 0;
  for (int64_t at = 0; at < shape.ElementCount(); ++at) {
    std::memcpy(to + static_cast<size_t>(linear) * width,
                from.substr(static_cast<size_t>(at) * width, width).begin(), width);
    for (const int64_t dim : shape.layout().minor_to_major) {
      const auto d = static_cast<size_t>(dim);
      linear += strides[d];
      if (++index[d] < shape.dim(dim)) break;
      linear -= strides[d] * index[d];
      index[d] = 0;
    }
  }
}

/// Brings bytes into the form that elements of the type have.
void Normalise(ElementType type, uint8_t* bytes, size_t count) {
  const TypeInfo& info = Info(type);
  if (IsPred(type))
    for (size_t i = 0; i < count; ++i) bytes[i] = bytes[i] != 0 ? 1 : 0;
  if (!info.is_packed()) return;
  const auto mask = static_cast<uint8_t>((1U << info.bits) - 1),
             sign = static_cast<uint8_t>(1U << (info.bits - 1));
  for (size_t i = 0; i < count; ++i) {
    bytes[i] &= mask;
    if (IsSigned(type) && (bytes[i] & sign) != 0) bytes[i] = static_cast<uint8_t>(bytes[i] | ~mask);
  }
}

Literal ReadArrayLiteral(ProtoMessage& in, const Shape& shape) {
  ProtoProblems& problems = in.problems();
  const ElementType type = shape.element_type();
  const auto* row = llvm::find_if(kLiteralFields, [&](const LiteralField& f) { return f.type == type; });
  if (row == std::end(kLiteralFields)) problems.Fail("found a literal of {0}", ToString(type));
  const bool sized = llvm::all_of(shape.dims(), [](int64_t dim) { return dim >= 0; });
  if (!sized || ByteSize(shape) < 0) problems.Fail("found a literal of shape {0}", shape);
  if (shape.has_layout() && !IsPermutation(shape.layout().minor_to_major, shape.rank()))
    problems.Fail("minor to major of a literal is no permutation of the dimensions");
  if (problems.failed()) return {};
  const auto width = static_cast<size_t>(Info(type).host_bytes());
  const llvm::StringRef field = in.Text(row->field);
  const std::string numbers = row->varint ? UnpackNumbers(field, width) : std::string();
  const llvm::StringRef bytes = row->varint ? llvm::StringRef(numbers) : field;
  const auto count = static_cast<uint64_t>(shape.ElementCount());
  if (bytes.size() != count * width) {
    problems.Fail("found {0} bytes for a literal of shape {1}, expected {2}", bytes.size(), shape,
                  count * width);
    return {};
  }
  Literal literal = Literal::Make(shape);
  uint8_t* to = literal.MutableData();
  if (shape.has_layout() && !shape.layout().IsDescending())
    ToRowMajor(bytes, shape, width, to);
  else if (!bytes.empty())
    std::memcpy(to, bytes.begin(), bytes.size());
  Normalise(type, to, count);
  return literal.Pack();
}

template <size_t N>
std::optional<size_t> FindKind(const int (&kinds)[N], int64_t number) {
  const auto* found = std::find(std::begin(kinds), std::end(kinds), number);
  return found == std::end(kinds) || number < 0 ? std::nullopt : std::optional<size_t>(found - kinds);
}

void ReadTiles(ProtoMessage& in, Sharding& sharding) {
  in.Numbers(3, sharding.tile_dims);
  std::vector<int64_t> devices;
  in.Numbers(4, devices);
  if (sharding.kind == ShardingKind::Maximal)
    sharding.device = devices.empty() ? 0 : devices.front();
  else if (!devices.empty())
    sharding.device_list = std::move(devices);
  sharding.replicate_last_tile_dim = in.Number(6) != 0;
  in.ForEachNumber(8, [&](int64_t number) {
    if (const auto kind = FindKind(kSubgroupKinds, number))
      sharding.subgroups.push_back(static_cast<SubgroupType>(*kind));
    else
      in.problems().Fail("found {0} as the type of a sharding's subgroup", number);
  });
  IotaDevices iota;
  in.Numbers(9, iota.reshape_dims);
  in.Numbers(10, iota.permutation);
  if (iota.reshape_dims.empty()) return;
  if (!IsPermutation(iota.permutation, static_cast<int64_t>(iota.reshape_dims.size())) ||
      llvm::any_of(iota.reshape_dims, [](int64_t dim) { return dim <= 0; }))
    in.problems().Fail("found devices of a sharding whose permutation does not fit its dimensions");
  else
    sharding.iota = std::move(iota);
}

/// As the text must have it.
void CheckTiles(const Sharding& s, ProtoProblems& problems) {
  int64_t tiles = 1;
  bool fits = s.subgroups.size() <= s.tile_dims.size() &&
              !(s.replicate_last_tile_dim && s.tile_dims.empty()) &&
              !(s.replicate_last_tile_dim && !s.subgroups.empty());
  for (const int64_t dim : s.tile_dims) fits = fits && dim > 0 && !__builtin_mul_overflow(tiles, dim, &tiles);
  if (!fits)
    problems.Fail("the tile dimensions of a sharding do not fit together");
  else if (s.device_list && static_cast<int64_t>(s.device_list->size()) != tiles)
    problems.Fail("found {0} devices in a sharding, expected {1}", s.device_list->size(), tiles);
}

void ReadShardingMetadata(ProtoMessage& in, int field, Sharding& sharding, Module& module) {
  in.ForEach(field, "OpMetadata", [&](ProtoMessage& message) {
    const OpMetadata* metadata = ReadMetadata(message, module);
    sharding.metadata.push_back(metadata ? *metadata : OpMetadata());
  });
  sharding.has_metadata = !sharding.metadata.empty();
}

void ReadShardGroup(ProtoMessage& in, Sharding& sharding) {
  const int64_t group = in.Number(12);
  const bool like = in.Number(13) != 0;
  if (in.Number(11) != 0) (like ? sharding.shard_like : sharding.shard_as) = group;
}

Sharding ReadPlainSharding(ProtoMessage& in, Module& module) {
  Sharding sharding;
  const int64_t number = in.Number(1);
  const auto kind = FindKind(kShardingKinds, number);
  if (!kind) {
    in.problems().Fail("found {0} as the type of a sharding", number);
    return sharding;
  }
  if (ProtoMessage* mesh = in.Message(kProtoMeshSharding, "NamedShardingProto")) {
    sharding.kind = ShardingKind::Mesh;
    sharding.mesh = ReadMeshSharding(*mesh);
    ReadShardingMetadata(*mesh, 6, sharding, module);
    return ReadShardGroup(in, sharding), sharding;
  }
  sharding.kind = static_cast<ShardingKind>(*kind);
  ReadTiles(in, sharding);
  if (sharding.kind == ShardingKind::Tiled) CheckTiles(sharding, in.problems());
  in.ForEach(5, "OpSharding",
             [&](ProtoMessage& element) { sharding.elements.push_back(ReadPlainSharding(element, module)); });
  ReadShardingMetadata(in, 7, sharding, module);
  ReadShardGroup(in, sharding);
  return sharding;
}

}  // namespace

Shape ReadShape(ProtoMessage& in) {
  ProtoProblems& problems = in.problems();
  const auto type = FindType(in.Number(2), problems);
  if (!type || problems.failed()) return Shape::MakeToken();
  if (*type == ElementType::Token) return in.Ignore(6), Shape::MakeToken();
  if (*type == ElementType::Opaque) return in.Ignore(6), Shape::MakeOpaque();
  if (IsArrayType(*type)) return ReadArray(*type, in);
  std::vector<Shape> parts;
  in.ForEach(4, "ShapeProto", [&](ProtoMessage& part) { parts.push_back(ReadShape(part)); });
  if (*type == ElementType::Tuple) return Shape::MakeTuple(parts);
  if (parts.size() == 1 && parts[0].IsArray()) return Shape::MakeBuffer(parts[0]);
  problems.Fail("found a buffer that is not one of an array");
  return Shape::MakeToken();
}

EntryLayout ReadProgramShape(ProtoMessage& in) {
  EntryLayout layout;
  in.ForEach(1, "ShapeProto", [&](ProtoMessage& shape) { layout.parameters.push_back(ReadShape(shape)); });
  ProtoMessage* result = in.Message(2, "ShapeProto");
  layout.result = result ? ReadShape(*result) : Shape::MakeTuple({});
  in.Ignore(3);
  return layout;
}

Literal ReadLiteral(ProtoMessage& in) {
  ProtoProblems& problems = in.problems();
  ProtoMessage* message = in.Message(1, "ShapeProto");
  if (!message) problems.Fail("found a literal without shape");
  if (problems.failed()) return {};
  const Shape shape = ReadShape(*message);
  if (problems.failed()) return {};
  if (shape.IsArray()) return ReadArrayLiteral(in, shape);
  if (!shape.IsTuple()) return Literal::Make(shape);
  std::vector<Literal> elements;
  in.ForEach(10, "LiteralProto", [&](ProtoMessage& element) { elements.push_back(ReadLiteral(element)); });
  if (!problems.failed() && static_cast<int64_t>(elements.size()) != shape.tuple_size())
    problems.Fail("found {0} elements of a literal of shape {1}", elements.size(), shape);
  for (size_t i = 0; !problems.failed() && i < elements.size(); ++i)
    if (!Compatible(elements[i].shape(), shape.tuple_shapes()[i]))
      problems.Fail("found an element of shape {0} in a literal of shape {1}", elements[i].shape(), shape);
  return problems.failed() ? Literal() : Literal::MakeTuple(std::move(elements));
}

const OpMetadata* ReadMetadata(ProtoMessage& in, Module& module) {
  OpMetadata metadata;
  ReadFields(in, metadata);
  llvm::SmallVector<int32_t, 4> types;
  in.Numbers(5, types);
  metadata.profile_type = types;
  return metadata == OpMetadata() ? nullptr : module.Save(metadata);
}

Sharding ReadSharding(ProtoMessage& in, Module& module) {
  Sharding sharding = ReadPlainSharding(in, module);
  if (!in.problems().failed()) Canonicalize(sharding);
  return sharding;
}

std::vector<FrontendAttribute> ReadFrontendAttributes(ProtoMessage& in) {
  std::vector<FrontendAttribute> attributes;
  in.ForEach(1, "FrontendAttributes.Entry",
             [&](ProtoMessage& entry) { attributes.push_back({entry.Text(1), entry.Text(2)}); });
  llvm::sort(attributes, [](const auto& a, const auto& b) { return a.key < b.key; });
  return attributes;
}

}  // namespace hlo

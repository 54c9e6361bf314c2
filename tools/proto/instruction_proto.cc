#include "tools/proto/instruction_proto.h"

#include <map>

#include "tools/proto/fields.h"
#include "tools/proto/instruction_fields.h"
#include "tools/proto/mesh_proto.h"
#include "tools/proto/origin_proto.h"

namespace hlo {
namespace {

/// Writes one attribute under a field number.
using Encode = Status (*)(ProtoWriter& out, int number, const FieldInfo& field, const void* attrs,
                          const ProtoField& row);
#define HLO_ENCODER(Name)                                                                             \
  Status Name([[maybe_unused]] ProtoWriter& out, [[maybe_unused]] int number, const FieldInfo& field, \
              const void* attrs, [[maybe_unused]] const ProtoField& row)

void WriteNumber(ProtoWriter& out, int number, int64_t value, const ProtoField& row) {
  if ((row.flags & kAsList) == 0)
    out.Number(number, value);
  else if (value >= 0)
    out.Packed(number, {value});
}

HLO_ENCODER(EncodeBool) { return out.Number(number, field.Get<bool>(attrs)), Status(); }
HLO_ENCODER(EncodeInt) { return WriteNumber(out, number, field.Get<int64_t>(attrs), row), Status(); }
HLO_ENCODER(EncodeOptInt) {
  const auto& value = field.Get<std::optional<int64_t>>(attrs);
  if (value && (row.flags & kPresence) != 0)
    out.NumberAlways(number, *value);
  else if (value)
    WriteNumber(out, number, *value, row);
  return {};
}
HLO_ENCODER(EncodeFloat) { return out.Float(number, field.Get<float>(attrs)), Status(); }
HLO_ENCODER(EncodeString) { return out.Text(number, field.Get<std::string>(attrs)), Status(); }
HLO_ENCODER(EncodeDims) { return out.Packed(number, field.Get<Dims>(attrs)), Status(); }
HLO_ENCODER(EncodeBools) {
  return out.PackedList(number, field.Get<llvm::SmallVector<bool, 4>>(attrs)), Status();
}
HLO_ENCODER(EncodePrecisions) { return out.PackedList(number, field.Get<Precisions>(attrs)), Status(); }
HLO_ENCODER(EncodeDimLists) {
  const auto& lists = field.Get<std::vector<Dims>>(attrs);
  if (field.name == "source_target_pairs") {
    for (const Dims& pair : lists)
      out.Message(number, [&](ProtoWriter& p) {
        for (size_t i = 0; i < std::min<size_t>(2, pair.size()); ++i)
          p.Number(static_cast<int>(i) + 1, pair[i]);
      });
    return {};
  }
  Dims all;
  for (const Dims& list : lists) all.append(list.begin(), list.end());
  return out.Packed(number, all), Status();
}
void WriteEnum(ProtoWriter& out, int number, const FieldInfo& field, uint8_t value, const ProtoField& row) {
  if ((row.flags & kWord) != 0)
    out.Text(number, field.enum_info->words[value]);
  else
    out.Number(number, IsDotAlgorithm(row) ? kDotAlgorithms[value] : value);
}
HLO_ENCODER(EncodeEnum) { return WriteEnum(out, number, field, field.Get<uint8_t>(attrs), row), Status(); }
HLO_ENCODER(EncodeOptEnum) {
  if (const auto& value = field.Get<std::optional<CompareType>>(attrs))
    WriteEnum(out, number, field, static_cast<uint8_t>(*value), row);
  return {};
}
template <class T>
void WriteMessage(ProtoWriter& out, int number, const T& value) {
  out.Message(number, [&](ProtoWriter& inner) { WriteFields(inner, value); });
}
HLO_ENCODER(EncodeWindow) { return WriteMessage(out, number, field.Get<Window>(attrs)), Status(); }
HLO_ENCODER(EncodeOptWindow) {
  if (const auto& window = field.Get<std::optional<Window>>(attrs)) WriteMessage(out, number, *window);
  return {};
}
HLO_ENCODER(EncodeLabels) {
  if (const auto& labels = field.Get<std::optional<ConvDimLabels>>(attrs)) WriteMessage(out, number, *labels);
  return {};
}
HLO_ENCODER(EncodeSlices) {
  FieldWriter{out}.Messages(number, "", field.Get<SliceRanges>(attrs));
  return {};
}
HLO_ENCODER(EncodePadding) {
  out.Message(number, [&](ProtoWriter& p) { FieldWriter{p}.Messages(1, "", field.Get<Padding>(attrs)); });
  return {};
}
HLO_ENCODER(EncodeGroups) {
  const auto& groups = field.Get<ReplicaGroups>(attrs);
  if (groups.iota) {
    return WriteMessage(out, kProtoIotaGroups, *groups.iota), Status();
  }
  if (groups.mesh) {
    out.Message(kProtoMeshGroups, [&](ProtoWriter& mesh) { WriteProto(mesh, *groups.mesh); });
    return {};
  }
  out.Message(number, [&](ProtoWriter& all) {
    for (const Dims& group : groups.groups) all.Message(1, [&](ProtoWriter& g) { g.Packed(1, group); });
  });
  return {};
}
HLO_ENCODER(EncodeShape) {
  const auto& shape = field.Get<Shape>(attrs);
  if (shape.valid()) out.Message(number, [&](ProtoWriter& s) { WriteProto(s, shape); });
  return {};
}
HLO_ENCODER(EncodeShapes) {
  const auto& shapes = field.Get<std::optional<ShapeList>>(attrs);
  if (!shapes) return {};
  out.Number(kProtoConstrainLayout, 1);
  for (const Shape& shape : *shapes) out.Message(number, [&](ProtoWriter& s) { WriteProto(s, shape); });
  return {};
}
HLO_ENCODER(EncodeLiteral) {
  const auto& literal = field.Get<LiteralPtr>(attrs);
  if (!literal) return {};
  return out.TryMessage(number, [&](ProtoWriter& inner) { return WriteProto(inner, *literal); });
}
HLO_ENCODER(EncodeAliasing) {
  FieldWriter{out}.Messages(number, "", field.Get<Aliasing>(attrs));
  return {};
}
HLO_ENCODER(EncodeSparsity) {
  if (field.Get<SparsityConfig>(attrs) == SparsityConfig()) return out.BytesAlways(number, ""), Status();
  return Error("unavailable-feature", {}, "sparse operands have no form as protocol buffer yet");
}
HLO_ENCODER(EncodeDomain) {
  const auto& domain = field.Get<DomainSpec>(attrs);
  for (const ShardingPtr& sharding : {domain.entry, domain.exit}) {
    ProtoWriter inner;
    if (sharding) HLO_CHECK_OK(WriteProto(inner, *sharding));
    out.BytesAlways(number++, inner.bytes());
  }
  return {};
}
HLO_ENCODER(EncodeOptBool) {
  if (const auto& value = field.Get<std::optional<bool>>(attrs)) out.Number(number, *value);
  return {};
}
#undef HLO_ENCODER

/// By FieldKind; none for called computations, which all instructions list alike.
constexpr std::array<Encode, kFieldKindCount> kEncoders = {
    &EncodeBool,      &EncodeInt,     &EncodeOptInt,   &EncodeFloat,    &EncodeString,     &EncodeDims,
    &EncodeDimLists,  &EncodeBools,   &EncodeEnum,     &EncodeOptEnum,  &EncodePrecisions, &EncodeWindow,
    &EncodeOptWindow, &EncodeLabels,  &EncodeSlices,   &EncodePadding,  &EncodeGroups,     &EncodeShape,
    &EncodeShapes,    &EncodeLiteral, &EncodeAliasing, &EncodeSparsity, &EncodeDomain,     &EncodeOptBool,
    nullptr,          nullptr};

/// Messages by field number, with the messages within.
struct Tree {
  ProtoWriter fields;
  std::map<int, Tree> inner;
  void Write(ProtoWriter& out) const {
    out.Raw(fields.bytes());
    for (const auto& [number, tree] : inner) out.Message(number, [&](ProtoWriter& m) { tree.Write(m); });
  }
};

Status WriteAttributes(Tree& tree, const Instruction& inst) {
  const AttrInfo& info = inst.attrs().info();
  const void* data = inst.attrs().data();
  for (const FieldInfo& field : info.fields) {
    const Encode encode = kEncoders[static_cast<size_t>(field.kind)];
    if (!encode || !field.access) continue;
    const ProtoField* row = FindProtoField(info, field);
    if (!row) {
      if (FieldIsDefault(info, field, data)) continue;
      return Error("unavailable-feature", inst.loc(),
                   "attribute '{0}' of %{1} has no form as protocol buffer yet", field.name, inst.name());
    }
    ProtoWriter leaf;
    const int last = row->depth();
    HLO_CHECK_OK(encode(leaf, row->path[static_cast<size_t>(last)], field, data, *row));
    if ((row->flags & kOptional) != 0 && leaf.empty()) continue;
    Tree* at = &tree;
    for (int i = 0; i < last; ++i) at = &at->inner[row->path[static_cast<size_t>(i)]];
    at->fields.Raw(leaf.bytes());
  }
  return {};
}

/// What XLA writes though the text does not say it.
void WriteImplied(Tree& tree, const Instruction& inst) {
  if (const auto* compare = inst.attrs().GetIf<CompareAttrs>(); compare && !compare->type) {
    tree.fields.Text(72, ImpliedCompareType(inst.operand(0)->shape().element_type()));
  }
  // Precisions stand for every operand of a product.
  const auto precision = tree.inner.find(51);
  if (precision != tree.inner.end() &&
      (inst.info().category == OpCategory::Contraction || inst.info().category == OpCategory::Custom) &&
      !llvm::StringRef(precision->second.fields.bytes()).starts_with("\x0a"))
    precision->second.fields.PackedList(1, llvm::SmallVector<int64_t, 4>(inst.operands().size(), 0));
}

Status WriteExtras(ProtoWriter& out, const Instruction& inst, const ProtoIds& ids) {
  const InstructionExtras& extras = inst.extras();
  llvm::SmallVector<int64_t, 4> before;
  for (const Instruction* p : extras.control_predecessors) before.push_back(ids.instructions.lookup(p));
  out.Packed(37, before);
  if (extras.sharding) {
    ProtoWriter sharding;
    HLO_CHECK_OK(WriteProto(sharding, *extras.sharding));
    out.BytesAlways(40, sharding.bytes());
  }
  out.Text(43, extras.backend_config);
  out.Message(68, [&](ProtoWriter& map) { WriteFrontendAttributes(map, extras.frontend_attributes); });
  if (extras.origin) out.Message(kProtoOrigin, [&](ProtoWriter& o) { WriteOrigin(o, *extras.origin); });
  out.Message(82, [&](ProtoWriter& s) {
    if (extras.statistics) WriteFields(s, *extras.statistics);
  });
  if (const ResultAccuracy& accuracy = extras.result_accuracy; !accuracy.is_default())
    out.Message(91, [&](ProtoWriter& a) {
      if (accuracy.highest) a.Number(1, 1);
      if (accuracy.has_tolerance)
        a.Message(2, [&](ProtoWriter& t) {
          t.Double(1, accuracy.atol);
          t.Double(2, accuracy.rtol);
          t.Number(3, accuracy.ulps);
        });
    });
  return {};
}

}  // namespace

void WriteFrontendAttributes(ProtoWriter& out, llvm::ArrayRef<FrontendAttribute> attributes) {
  for (const FrontendAttribute& attribute : attributes)
    out.Message(1, [&](ProtoWriter& entry) {
      entry.BytesAlways(1, attribute.key);
      entry.BytesAlways(2, attribute.value);
    });
}

Status WriteProto(ProtoWriter& out, const Instruction& inst, const ProtoIds& ids) {
  out.Text(1, inst.name());
  out.Text(2, inst.info().text);
  out.Message(3, [&](ProtoWriter& shape) { WriteProto(shape, inst.shape()); });
  out.Message(7, [&](ProtoWriter& metadata) {
    if (inst.metadata()) WriteProto(metadata, *inst.metadata());
  });
  out.Number(35, ids.instructions.lookup(&inst));
  llvm::SmallVector<int64_t, 4> operands, callees;
  for (const Instruction* operand : inst.operands()) operands.push_back(ids.instructions.lookup(operand));
  for (const Computation* callee : inst.callees()) callees.push_back(ids.computations.lookup(callee));
  out.Packed(36, operands);
  out.Packed(38, callees);
  Tree tree;
  HLO_CHECK_OK(WriteAttributes(tree, inst));
  WriteImplied(tree, inst);
  tree.Write(out);
  return WriteExtras(out, inst, ids);
}

}  // namespace hlo

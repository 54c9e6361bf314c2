#include "tools/proto/read_attributes.h"

#include "tools/proto/fields.h"
#include "tools/proto/instruction_fields.h"
#include "tools/proto/mesh_proto.h"
#include "tools/proto/read_values.h"

namespace hlo {
namespace {

/// Where one attribute is read from.
struct Place {
  ProtoMessage& in;           // the message that holds the field
  ProtoMessage& instruction;  // the outermost
  int number;                 // of the field
  const ProtoField& row;
  Module& module;
};

/// Reads one attribute; what is missing reads as zero or, where that can be said, as absent.
using Decode = void (*)(const Place& at, const FieldInfo& field, void* attrs);
#define HLO_DECODER(Name) \
  void Name([[maybe_unused]] const Place& at, const FieldInfo& field, [[maybe_unused]] void* attrs)

/// The number, which may stand in a list; nothing if that is empty.
std::optional<int64_t> ReadNumber(const Place& at) {
  if ((at.row.flags & kAsList) == 0) {
    const int64_t number = at.in.Number(at.number);
    return number == 0 && (at.row.flags & kOneIfMissing) != 0 ? 1 : number;
  }
  Dims list;
  at.in.Numbers(at.number, list);
  return list.empty() ? std::nullopt : std::optional<int64_t>(list.front());
}

HLO_DECODER(DecodeBool) { field.Mutable<bool>(attrs) = at.in.Number(at.number) != 0; }
HLO_DECODER(DecodeInt) {
  if (const auto number = ReadNumber(at)) field.Mutable<int64_t>(attrs) = *number;
}
HLO_DECODER(DecodeOptInt) {
  const auto number = ReadNumber(at);
  const bool given =
      (at.row.flags & kPresence) != 0 ? at.in.Has(at.number) : (at.row.flags & kAsList) != 0 || number != 0;
  field.Mutable<std::optional<int64_t>>(attrs) = given ? number : std::nullopt;
}
HLO_DECODER(DecodeFloat) { field.Mutable<float>(attrs) = at.in.Float(at.number); }
HLO_DECODER(DecodeString) {
  const llvm::StringRef text = at.in.Text(at.number);
  // The thread that is not named is the main one.
  if (!text.empty() || at.row.name != "async_execution_thread")
    field.Mutable<std::string>(attrs) = text.str();
}
HLO_DECODER(DecodeDims) {
  auto& list = field.Mutable<Dims>(attrs);
  list.clear();
  at.in.Numbers(at.number, list);
}
HLO_DECODER(DecodeBools) {
  auto& list = field.Mutable<llvm::SmallVector<bool, 4>>(attrs);
  list.clear();
  at.in.ForEachNumber(at.number, [&](int64_t n) { list.push_back(n != 0); });
}
HLO_DECODER(DecodePrecisions) {
  auto& list = field.Mutable<Precisions>(attrs);
  list.clear();
  at.in.ForEachNumber(at.number, [&](int64_t n) {
    if (n < 0 || n > static_cast<int64_t>(Precision::Highest))
      at.in.problems().Fail("found precision {0}, which is none", n);
    else
      list.push_back(static_cast<Precision>(n));
  });
  // That of every operand is what none says.
  if (llvm::all_of(list, [](Precision p) { return p == Precision::Default; })) list.clear();
}
HLO_DECODER(DecodeDimLists) {
  auto& lists = field.Mutable<std::vector<Dims>>(attrs);
  lists.clear();
  if (field.name == "source_target_pairs")
    at.in.ForEach(at.number, "SourceTarget",
                  [&](ProtoMessage& pair) { lists.push_back({pair.Number(1), pair.Number(2)}); });
  else if (at.in.Has(at.number))
    at.in.problems().Fail("lists of slice sizes are not read from protocol buffers");
}
HLO_DECODER(DecodeEnum) {
  const auto count = field.enum_info->words.size();
  auto& value = field.Mutable<uint8_t>(attrs);
  if ((at.row.flags & kWord) != 0) {
    const llvm::StringRef word = at.in.Text(at.number);
    if (const auto parsed = ParseEnum(*field.enum_info, word))
      value = *parsed;
    else if (!word.empty())
      at.in.problems().Fail("found '{0}' as {1}, which is none", word, field.name);
  } else if (IsDotAlgorithm(at.row)) {
    const int64_t number = at.in.Number(at.number);
    const auto* found = llvm::find(kDotAlgorithms, number);
    if (found == std::end(kDotAlgorithms))
      return at.in.problems().Fail("found algorithm {0}, which is none", number);
    value = static_cast<uint8_t>(found - std::begin(kDotAlgorithms));
  } else {
    value = static_cast<uint8_t>(at.in.Number(at.number, count));
  }
}
HLO_DECODER(DecodeOptEnum) {
  const llvm::StringRef word = at.in.Text(at.number);
  auto& value = field.Mutable<std::optional<CompareType>>(attrs);
  value = std::nullopt;
  if (const auto parsed = ParseEnum(*field.enum_info, word))
    value = static_cast<CompareType>(*parsed);
  else if (!word.empty())
    at.in.problems().Fail("found '{0}' as {1}, which is none", word, field.name);
}
HLO_DECODER(DecodeWindow) {
  if (ProtoMessage* window = at.in.Message(at.number, "Window"))
    ReadFields(*window, field.Mutable<Window>(attrs));
}
HLO_DECODER(DecodeOptWindow) {
  auto& window = field.Mutable<std::optional<Window>>(attrs);
  window = std::nullopt;
  if (ProtoMessage* message = at.in.Message(at.number, "Window")) ReadFields(*message, window.emplace());
}
/// Whether the numbers name different dimensions of an array.
bool AreDimensions(int64_t a, int64_t b, llvm::ArrayRef<int64_t> rest) {
  llvm::SmallVector<int64_t, 8> all(rest);
  all.append({a, b});
  llvm::sort(all);
  return all.front() >= 0 && all.back() < static_cast<int64_t>(all.size()) &&
         std::adjacent_find(all.begin(), all.end()) == all.end();
}
HLO_DECODER(DecodeLabels) {
  auto& labels = field.Mutable<std::optional<ConvDimLabels>>(attrs);
  labels = std::nullopt;
  ProtoMessage* message = at.in.Message(at.number, "ConvolutionDimensionNumbers");
  if (!message) return;
  ConvDimLabels& l = labels.emplace();
  ReadFields(*message, l);
  l.input_rank = static_cast<int64_t>(l.input_spatial.size()) + 2;
  l.kernel_rank = static_cast<int64_t>(l.kernel_spatial.size()) + 2;
  l.output_rank = static_cast<int64_t>(l.output_spatial.size()) + 2;
  if (!AreDimensions(l.input_batch, l.input_feature, l.input_spatial) ||
      !AreDimensions(l.kernel_input_feature, l.kernel_output_feature, l.kernel_spatial) ||
      !AreDimensions(l.output_batch, l.output_feature, l.output_spatial))
    at.in.problems().Fail("the dimension numbers of a convolution do not name each dimension once");
}
HLO_DECODER(DecodeSlices) {
  FieldReader{at.in}.Messages(at.number, "SliceDimensions", field.Mutable<SliceRanges>(attrs));
}
HLO_DECODER(DecodePadding) {
  if (ProtoMessage* padding = at.in.Message(at.number, "PaddingConfig"))
    FieldReader{*padding}.Messages(1, "PaddingConfigDimension", field.Mutable<Padding>(attrs));
}
void ReadGroups(ProtoMessage& in, int field, ReplicaGroups& groups) {
  in.ForEach(field, "ReplicaGroup",
             [&](ProtoMessage& group) { group.Numbers(1, groups.groups.emplace_back()); });
}
void ReadIotaGroups(ProtoMessage* in, ReplicaGroups& groups) {
  if (!in) return;
  ReplicaGroups::Iota iota;
  ReadFields(*in, iota);
  groups.iota = std::move(iota);
}
HLO_DECODER(DecodeGroups) {
  auto& groups = field.Mutable<ReplicaGroups>(attrs);
  groups = {};
  constexpr int kOldForm = 49;
  ReadGroups(at.in, kOldForm, groups);
  if (ProtoMessage* list = at.in.Message(at.number, "CollectiveDeviceListProto")) {
    groups.groups.clear();
    ReadGroups(*list, 1, groups);
    ReadIotaGroups(list->Message(2, "IotaReplicaGroupListProto"), groups);
  }
  ReadIotaGroups(at.in.Message(kProtoIotaGroups, "IotaReplicaGroupListProto"), groups);
  if (ProtoMessage* mesh = at.in.Message(kProtoMeshGroups, "MeshAxesReplicaGroupListProto"))
    groups.mesh = ReadMeshAxes(*mesh);
  if (groups.iota || groups.mesh) groups.groups.clear();
  if (groups.mesh) groups.iota.reset();
}
HLO_DECODER(DecodeShape) {
  if (ProtoMessage* shape = at.in.Message(at.number, "ShapeProto"))
    field.Mutable<Shape>(attrs) = ReadShape(*shape).WithDefaultLayouts();
}
HLO_DECODER(DecodeShapes) {
  auto& shapes = field.Mutable<std::optional<ShapeList>>(attrs);
  shapes = std::nullopt;
  if (at.in.Number(kProtoConstrainLayout) == 0) return at.in.Ignore(at.number);
  at.in.ForEach(at.number, "ShapeProto",
                [&, &list = shapes.emplace()](ProtoMessage& shape) { list.push_back(ReadShape(shape)); });
}
HLO_DECODER(DecodeLiteral) {
  auto& literal = field.Mutable<LiteralPtr>(attrs);
  literal = nullptr;
  if (ProtoMessage* message = at.in.Message(at.number, "LiteralProto"))
    literal = std::make_shared<const Literal>(ReadLiteral(*message));
}
HLO_DECODER(DecodeAliasing) {
  FieldReader{at.in}.Messages(at.number, "OutputOperandAliasing", field.Mutable<Aliasing>(attrs));
}
HLO_DECODER(DecodeSparsity) {
  if (!at.in.Text(at.number).empty())
    at.in.problems().Fail("{0} is not read from protocol buffers", field.name);
}
HLO_DECODER(DecodeDomain) {
  auto& domain = field.Mutable<DomainSpec>(attrs);
  domain.kind = "sharding";
  int number = at.number;
  for (ShardingPtr* sharding : {&domain.entry, &domain.exit})
    if (ProtoMessage* message = at.in.Message(number++, "OpSharding"))
      *sharding = std::make_shared<const Sharding>(ReadSharding(*message, at.module));
}
HLO_DECODER(DecodeOptBool) {
  field.Mutable<std::optional<bool>>(attrs) =
      at.in.Has(at.number) ? std::optional<bool>(at.in.Number(at.number) != 0) : std::nullopt;
}
#undef HLO_DECODER

/// By FieldKind; none for called computations, which all instructions list alike, and for what is not
/// written.
constexpr std::array<Decode, kFieldKindCount> kDecoders = {
    &DecodeBool,      &DecodeInt,     &DecodeOptInt,   &DecodeFloat,    &DecodeString,     &DecodeDims,
    &DecodeDimLists,  &DecodeBools,   &DecodeEnum,     &DecodeOptEnum,  &DecodePrecisions, &DecodeWindow,
    &DecodeOptWindow, &DecodeLabels,  &DecodeSlices,   &DecodePadding,  &DecodeGroups,     &DecodeShape,
    &DecodeShapes,    &DecodeLiteral, &DecodeAliasing, &DecodeSparsity, &DecodeDomain,     &DecodeOptBool,
    nullptr,          nullptr};

}  // namespace

Attrs ReadAttributes(ProtoMessage& in, OpKind kind, Module& module) {
  const AttrInfo& info = *Info(kind).attrs;
  Attrs attrs = Attrs::Default(info);
  for (const FieldInfo& field : info.fields) {
    const Decode decode = kDecoders[static_cast<size_t>(field.kind)];
    const ProtoField* row = FindProtoField(info, field);
    if (!decode || !field.access || !row) continue;
    static constexpr llvm::StringLiteral kAround = "DimensionNumbers";
    ProtoMessage* at = &in;
    for (int i = 0; at && i < row->depth(); ++i) at = at->Message(row->path[static_cast<size_t>(i)], kAround);
    if (at && !in.problems().failed())
      decode({*at, in, row->path[static_cast<size_t>(row->depth())], *row, module}, field,
             attrs.mutable_data());
  }
  return attrs;
}

}  // namespace hlo

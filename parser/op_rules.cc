// Rules of single opcodes that belong to reading: shapes that are replaced, and conditions under which XLA's
// parser refuses an instruction (hlo-text §2 "Shape omitted", §9). A table over opcodes.
#include "parser/body.h"

namespace hlo {
namespace {

using llvm::StringRef;

struct OpContext {
  Cursor& c;
  Draft& d;
  [[nodiscard]] const Shape& operand(size_t i) const { return d.operands[i]->shape(); }
  [[nodiscard]] size_t count() const { return d.operands.size(); }
  template <class... Args>
  bool Fail(const char* format, Args&&... args) const {
    return c.Fail("parse-op-rule", c.LocOf(d.opcode), format, std::forward<Args>(args)...);
  }
};
using OpRule = bool (*)(OpContext&);

Shape U32() { return Shape::ArrayWithDefaultLayout(ElementType::U32, {}); }

// --- Shapes that replace the written one ---
bool TokenResult(OpContext& o) {
  if (o.d.shape.valid()) o.d.shape = Shape::MakeToken();
  return true;
}
bool Operand0Result(OpContext& o) {
  o.d.shape = o.operand(0);
  return true;
}
bool SendResult(OpContext& o) {
  if (o.d.shape.valid()) o.d.shape = Shape::MakeTuple({o.operand(0), U32(), Shape::MakeToken()});
  return true;
}
bool NonEmptyTuple(OpContext& o, const Shape& shape, StringRef what) {
  if (!shape.valid() || (shape.IsTuple() && shape.tuple_size() > 0)) return true;
  return o.Fail("found {0} {1} of {2}, which must have a non-empty tuple shape", what, shape,
                o.d.opcode.text);
}
bool RecvResult(OpContext& o) {
  if (!NonEmptyTuple(o, o.d.shape, "shape")) return false;
  if (o.d.shape.valid()) o.d.shape = Shape::MakeTuple({o.d.shape.tuple_shape(0), U32(), Shape::MakeToken()});
  return true;
}
bool InfeedResult(OpContext& o) {
  if (!NonEmptyTuple(o, o.d.shape, "shape")) return false;
  if (o.d.shape.valid()) o.d.shape = Shape::MakeTuple({o.d.shape.tuple_shape(0), Shape::MakeToken()});
  return true;
}
/// The channel of a send or recv operand is that of the done.
bool SameChannel(OpContext& o, OpKind start) {
  if (o.d.operands[0]->kind() != start) return true;
  const auto& theirs = o.d.operands[0]->attr<SendRecvAttrs>().channel_id;
  const auto* attrs = o.d.attrs.GetIf<SendRecvAttrs>();
  const auto ours = attrs ? attrs->channel_id : std::nullopt;
  if (ours == theirs) return true;
  const auto text = [](std::optional<int64_t> id) { return id ? std::to_string(*id) : std::string("none"); };
  return o.Fail("channel_id {0} differs from {1} of the operand '{2}'", text(ours), text(theirs),
                o.d.operands[0]->name());
}
bool SendDoneResult(OpContext& o) { return SameChannel(o, OpKind::Send) && TokenResult(o); }
bool RecvDoneResult(OpContext& o) {
  if (!NonEmptyTuple(o, o.operand(0), "operand") || !SameChannel(o, OpKind::Recv)) return false;
  if (o.d.shape.valid()) o.d.shape = Shape::MakeTuple({o.operand(0).tuple_shape(0), Shape::MakeToken()});
  return true;
}

// --- Conditions ---
bool EvenOperands(OpContext& o) {
  return o.count() % 2 == 0 ? true : o.Fail("expects an even number of operands, but has {0}", o.count());
}
bool OddOperands(OpContext& o) {
  return o.count() % 2 == 1 ? true : o.Fail("expects an odd number of operands, but has {0}", o.count());
}
bool OneDimension(OpContext& o) {
  const auto& dims = o.d.attrs.info().fields;
  for (const FieldInfo& f : dims) {
    if (f.name != "dimensions" || f.kind != FieldKind::DimList) continue;
    const size_t count = f.Get<Dims>(o.d.attrs.data()).size();
    if (count != 1) return o.Fail("found {0} dimensions, expected 1", count);
  }
  return true;
}
/// Indices of dynamic-slice and dynamic-update-slice: one rank-1 operand, or one per dimension.
bool SliceIndices(OpContext& o, size_t before) {
  if (o.count() <= before) return o.Fail("wrong number of operands: {0}", o.count());
  const Shape& first = o.operand(before);
  if (o.count() == before + 1 && first.IsArray() && first.rank() == 1) return true;
  const Shape& base = o.operand(0);
  const int64_t rank = base.IsArray() ? base.rank() : 0;
  if (static_cast<int64_t>(o.count() - before) == rank) return true;
  return o.Fail("wrong number of operands: found {0} indices, expected {1} or one of rank 1",
                o.count() - before, rank);
}
bool DynamicSliceIndices(OpContext& o) {
  return o.count() == 1 && o.operand(0).IsScalar() ? true : SliceIndices(o, 1);
}
bool DynamicUpdateIndices(OpContext& o) {
  return o.count() == 2 && o.operand(0).IsScalar() ? true : SliceIndices(o, 2);
}

bool ConditionalBranches(OpContext& o) {
  const Shape& selector = o.operand(0);
  const bool pred = selector.IsScalarOf(ElementType::Pred), index = selector.IsScalarOf(ElementType::S32);
  if (!pred && !index)
    return o.Fail("the first operand must be a scalar of type PRED or S32, but is {0}", selector);
  const bool has_true = o.d.Seen("true_computation"), has_false = o.d.Seen("false_computation"),
             has_list = o.d.Seen("branch_computations");
  if (pred && (!has_true || !has_false))
    return o.Fail("attribute {0} is expected but not seen",
                  has_true ? "false_computation" : "true_computation");
  if (pred && has_list)
    return o.Fail("unexpected attribute branch_computations with a selector of type pred");
  if (index && (has_true || has_false))
    return o.Fail("unexpected attribute true_computation or false_computation with a selector of type s32");
  if (index && !has_list) return o.Fail("attribute branch_computations is expected but not seen");
  if (o.d.callees.empty() || o.d.callees.size() != o.count() - 1)
    return o.Fail("found {0} branches and {1} branch operands, expected one operand per branch",
                  o.d.callees.size(), o.count() - 1);
  return true;
}

bool CompareDefaultType(OpContext& o) {
  auto& type = o.d.attrs.Mutable<CompareAttrs>().type;
  if (!type || !o.operand(0).IsArray()) return true;
  const ElementType t = o.operand(0).element_type();
  const CompareType usual = IsFloat(t) || IsComplex(t) ? CompareType::Float
                            : IsSigned(t)              ? CompareType::Signed
                                                       : CompareType::Unsigned;
  if (*type == usual) type.reset();
  return true;
}

bool ParameterReplication(OpContext& o) {
  if (!o.d.shape.valid() || !o.d.Seen("parameter_replication")) return true;
  const size_t given = o.d.attrs.Get<ParameterAttrs>().parameter_replication.size();
  const auto leaves = static_cast<size_t>(o.d.shape.LeafCount());
  if (given == leaves) return true;
  return o.Fail("parameter has {0} leaf buffers, but parameter_replication has {1} elements", leaves, given);
}

bool GlobalDeviceIds(OpContext& o) {
  const AttrInfo& info = o.d.attrs.info();
  bool global = false, channel = o.d.extra_seen != 0;  // `mode=` counts as a channel
  for (const FieldInfo& f : info.fields) {
    if (f.name == "use_global_device_ids") global = f.Get<bool>(o.d.attrs.data());
    if (f.name == "channel_id") channel |= f.Get<std::optional<int64_t>>(o.d.attrs.data()).has_value();
  }
  return !global || channel ? true : o.Fail("use_global_device_ids is set, but channel_id is not");
}
bool ReduceScatterRule(OpContext& o) { return GlobalDeviceIds(o) && OneDimension(o); }

bool CollectivePermuteRule(OpContext& o) {
  const auto& a = o.d.attrs.Get<CollectivePermuteAttrs>();
  for (const Dims& pair : a.source_target_pairs)
    if (pair.size() != 2) return o.Fail("found a source-target pair of {0} numbers, expected 2", pair.size());
  if (o.d.Seen("slice_sizes") && o.count() != 4)
    return o.Fail("slice_sizes needs 4 operands, but there are {0}", o.count());
  return true;
}

bool ScanRule(OpContext& o) {
  if (!OneDimension(o)) return false;
  const int64_t carries = o.d.attrs.Get<ScanAttrs>().num_carries;
  if (carries < 0 || carries > static_cast<int64_t>(o.count()))
    return o.Fail("num_carries is {0}, but there are {1} operands", carries, o.count());
  const size_t parameters = o.d.callees[0]->parameters().size();
  if (parameters != o.count())
    return o.Fail("found {0} operands, expected one per parameter of to_apply, which has {1}", o.count(),
                  parameters);
  return true;
}

bool MapNeedsDimensions(OpContext& o) {
  if (!o.d.shape.valid() && !o.d.Seen("dimensions"))
    return o.Fail("attribute dimensions is expected but not seen, as the result shape is not written");
  // Whatever is written, all dimensions are mapped.
  auto& dims = o.d.attrs.Mutable<MapAttrs>().dimensions;
  const Shape& shape = o.d.shape.valid() || o.count() == 0 ? o.d.shape : o.operand(0);
  dims.clear();
  if (shape.valid() && shape.IsArray())
    for (int64_t i = 0; i < shape.rank(); ++i) dims.push_back(i);
  return true;
}
bool TriangularSolveRule(OpContext& o) {
  if (o.d.shape.valid() || o.d.Seen("transpose_a")) return true;
  return o.Fail("attribute transpose_a is expected but not seen, as the result shape is not written");
}
bool GteRule(OpContext& o) {
  if (o.d.shape.valid()) return true;
  const int64_t index = o.d.attrs.Get<GetTupleElementAttrs>().index;
  const Shape& tuple = o.operand(0);
  if (tuple.IsTuple() && index >= 0 && index < tuple.tuple_size()) return true;
  return o.Fail("index {0} is no element of the operand's shape {1}", index, tuple);
}
bool TupleRule(OpContext& o) {
  if (!o.d.shape.valid()) return true;
  if (!o.d.shape.IsTuple()) return o.Fail("found shape {0}, expected a tuple shape", o.d.shape);
  const auto expected = static_cast<size_t>(o.d.shape.tuple_size());
  return o.count() == expected ? true
                               : o.Fail("expects {0} operands, but has {1} operands", expected, o.count());
}
bool ReshapeRule(OpContext& o) {
  const Shape& from = o.operand(0);
  const Shape& to = o.d.shape;
  if (!to.valid() || !to.IsArray() || !from.IsArray() || from.HasDynamicDimension() ||
      to.HasDynamicDimension())
    return true;
  if (from.ElementCount() == to.ElementCount()) return true;
  return o.Fail("shape {0} has {1} elements, but the operand {2} has {3}", to, to.ElementCount(), from,
                from.ElementCount());
}
bool DeviceIdRule(OpContext& o) {
  if (!o.d.shape.valid() || o.d.shape.IsScalarOf(ElementType::U32)) return true;
  return o.Fail("found shape {0}, expected u32[]", o.d.shape);
}
bool OutfeedRule(OpContext& o) {
  auto& attrs = o.d.attrs.Mutable<OutfeedAttrs>();
  if (!attrs.outfeed_shape.valid()) attrs.outfeed_shape = o.operand(0);
  return TokenResult(o);
}

bool CustomCallRule(OpContext& o) {
  auto& a = o.d.attrs.Mutable<CustomCallAttrs>();
  if (o.d.Seen("api_version") && a.api_version == ApiVersion::Unspecified)
    return o.Fail("api_version is unspecified, expected one of the others");
  if (!a.operand_layout_constraints) return true;
  ShapeList& layouts = *a.operand_layout_constraints;
  if (layouts.size() != o.count())
    return o.Fail("found {0} operand layout constraints for {1} operands", layouts.size(), o.count());
  for (size_t i = 0; i < layouts.size(); ++i) {
    layouts[i] = layouts[i].WithDefaultLayouts();
    if (o.operand(i).valid() && !Compatible(layouts[i], o.operand(i)))
      return o.Fail("operand layout constraint {0} is not compatible with operand {1}", layouts[i],
                    o.operand(i));
  }
  o.d.callees.clear();
  return true;
}

struct RuleRow {
  OpKind kind;
  OpRule rule;
};
constexpr RuleRow kRules[] = {
    {OpKind::AfterAll, TokenResult},
    {OpKind::Outfeed, OutfeedRule},
    {OpKind::SendDone, SendDoneResult},
    {OpKind::AddDependency, Operand0Result},
    {OpKind::Send, SendResult},
    {OpKind::Recv, RecvResult},
    {OpKind::RecvDone, RecvDoneResult},
    {OpKind::Infeed, InfeedResult},
    {OpKind::Reduce, EvenOperands},
    {OpKind::ReduceWindow, EvenOperands},
    {OpKind::Scatter, OddOperands},
    {OpKind::DynamicSlice, DynamicSliceIndices},
    {OpKind::DynamicUpdateSlice, DynamicUpdateIndices},
    {OpKind::Conditional, ConditionalBranches},
    {OpKind::Compare, CompareDefaultType},
    {OpKind::Parameter, ParameterReplication},
    {OpKind::AllReduce, GlobalDeviceIds},
    {OpKind::AllReduceStart, GlobalDeviceIds},
    {OpKind::ReduceScatter, ReduceScatterRule},
    {OpKind::AllGather, OneDimension},
    {OpKind::AllGatherStart, OneDimension},
    {OpKind::Sort, OneDimension},
    {OpKind::Concatenate, OneDimension},
    {OpKind::GetDimensionSize, OneDimension},
    {OpKind::SetDimensionSize, OneDimension},
    {OpKind::Scan, ScanRule},
    {OpKind::CollectivePermute, CollectivePermuteRule},
    {OpKind::CollectivePermuteStart, CollectivePermuteRule},
    {OpKind::Map, MapNeedsDimensions},
    {OpKind::TriangularSolve, TriangularSolveRule},
    {OpKind::GetTupleElement, GteRule},
    {OpKind::Tuple, TupleRule},
    {OpKind::Reshape, ReshapeRule},
    {OpKind::ReplicaId, DeviceIdRule},
    {OpKind::PartitionId, DeviceIdRule},
    {OpKind::CustomCall, CustomCallRule},
};

constexpr std::array<OpRule, 256> kRuleOf = [] {
  std::array<OpRule, 256> t{};
  for (const RuleRow& row : kRules) t[static_cast<size_t>(row.kind)] = row.rule;
  return t;
}();

}  // namespace

bool ApplyOpRules(BodyParser& body, Draft& draft) {
  if (draft.wrapped) return true;
  const OpRule rule = kRuleOf[static_cast<size_t>(draft.kind)];
  if (!rule) return true;
  if (!draft.attrs.data()) draft.attrs = Attrs::Default(*Info(draft.kind).attrs);
  OpContext context{body.cursor(), draft};
  return rule(context);
}

}  // namespace hlo

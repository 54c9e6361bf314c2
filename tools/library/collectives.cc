// Operations that replicas do together.
#include "hlo/ops.h"
#include "tools/library/builder_state.h"

namespace hlo_toolkit {

using internal::Emission;
using internal::Emit;
using internal::NotImplemented;
using internal::Wrong;
using InstructionOr = hlo::Result<hlo::Instruction*>;

namespace {

hlo::ReplicaGroups Groups(Span<const ReplicaGroup> groups) {
  hlo::ReplicaGroups made;
  for (const ReplicaGroup& group : groups) made.groups.push_back(internal::ToDims(group.replica_ids()));
  return made;
}

/// What all collectives with these fields have.
template <class Attrs>
Attrs Collective(Span<const ReplicaGroup> groups, const std::optional<ChannelHandle>& channel,
                 bool use_global_device_ids) {
  Attrs attrs;
  attrs.replica_groups = Groups(groups);
  if (channel) attrs.channel_id = channel->handle();
  attrs.use_global_device_ids = use_global_device_ids;
  return attrs;
}

/// Elements of a tuple, or the operand itself.
hlo::Result<llvm::SmallVector<hlo::Instruction*, 4>> Parts(Emission& e) {
  llvm::SmallVector<hlo::Instruction*, 4> parts;
  if (!e.shape(0).IsTuple()) return parts.push_back(e.operand(0)), parts;
  for (int64_t i = 0; i < e.shape(0).tuple_size(); ++i) {
    hlo::GetTupleElementAttrs attrs;
    attrs.index = i;
    HLO_TRY(parts.emplace_back(), e.Add(hlo::OpKind::GetTupleElement, {e.operand(0)}, attrs));
  }
  return parts;
}

/// The shape of part i of a collective's result.
using PartShape = llvm::function_ref<hlo::Result<hlo::Shape>(const hlo::Shape&)>;

/// A collective on the operand or, of a tuple, on all its elements, with the result in the same form.
InstructionOr AddOnParts(Emission& e, hlo::OpKind kind, hlo::Attrs attrs, PartShape shape_of,
                         llvm::ArrayRef<hlo::Computation*> callees = {}) {
  HLO_TRY(const auto parts, Parts(e));
  if (parts.empty()) return Wrong("a collective on an empty tuple");
  std::vector<hlo::Shape> shapes;
  for (const hlo::Instruction* part : parts) {
    if (!part->shape().IsArray()) return Wrong("a collective on {0}, which is no array", part->shape());
    HLO_TRY(shapes.emplace_back(), shape_of(part->shape()));
  }
  const hlo::Shape shape = shapes.size() == 1 ? shapes[0] : hlo::Shape::MakeTuple(shapes);
  HLO_TRY(hlo::Instruction * made, e.AddWithShape(kind, shape, parts, std::move(attrs), callees));
  if (!e.shape(0).IsTuple() || parts.size() > 1) return made;
  return e.Add(hlo::OpKind::Tuple, {made});
}

hlo::Result<hlo::Shape> Same(const hlo::Shape& shape) { return shape; }

/// With dimension d times `factor` as large, or that part of it.
hlo::Result<hlo::Shape> Scaled(const hlo::Shape& shape, int64_t d, int64_t factor, bool larger) {
  if (d < 0 || d >= shape.rank()) return Wrong("{0} has no dimension {1}", shape, d);
  if (factor <= 0) return Wrong("a shard count of {0}", factor);
  if (shape.is_dynamic(d))
    return NotImplemented("shards of dimension {0} of {1}, which is dynamic", d, shape);
  std::vector<int64_t> sizes(shape.dims().begin(), shape.dims().end());
  int64_t& size = sizes[static_cast<size_t>(d)];
  if (!larger && size % factor != 0)
    return Wrong("dimension {0} of {1} is no multiple of {2} shards", d, shape, factor);
  if (!larger)
    size /= factor;
  else if (__builtin_mul_overflow(size, factor, &size))
    return Wrong("{0} times as large a dimension {1} of {2} exceeds 64 bits", factor, d, shape);
  const llvm::ArrayRef<bool> dynamic = shape.dynamic_flags();
  return internal::ToShape(Shape(internal::FromElementType(shape.element_type()), sizes,
                                 std::vector<bool>(dynamic.begin(), dynamic.end())));
}

XlaOp EmitSum(XlaBuilder* builder, XlaOp operand, const std::vector<ReplicaGroup>& groups,
              const Location& location) {
  return Emit(builder, {operand}, location, [&](Emission& e) -> InstructionOr {
    const hlo::Shape* first = &e.shape(0);
    if (first->IsTuple() && first->tuple_size() > 0) first = &first->tuple_shape(0);
    if (!first->IsArray()) return Wrong("a sum of {0}, which is no array", e.shape(0));
    const hlo::ElementType type = first->element_type();
    HLO_TRY(hlo::Computation * add,
            e.state().Reducer(hlo::IsPred(type) ? hlo::OpKind::Or : hlo::OpKind::Add, type));
    return AddOnParts(e, hlo::OpKind::AllReduce, Collective<hlo::AllReduceAttrs>(groups, std::nullopt, false),
                      Same, {add});
  });
}

hlo::Result<hlo::Instruction*> AddReshape(Emission& e, hlo::Instruction* x, llvm::ArrayRef<int64_t> sizes) {
  return e.AddWithShape(hlo::OpKind::Reshape,
                        hlo::Shape::ArrayWithDefaultLayout(x->shape().element_type(), sizes), {x});
}

/// Moves blocks that lie behind each other along `split` to `concat`: reshape, transpose, reshape.
InstructionOr MoveBlocks(Emission& e, hlo::Instruction* x, int64_t split, int64_t concat, int64_t count) {
  hlo::Dims sizes(x->shape().dims()), permutation;
  sizes[static_cast<size_t>(split)] /= count;
  hlo::Dims with_blocks = sizes;
  with_blocks.insert(with_blocks.begin() + split, count);
  HLO_TRY(x, AddReshape(e, x, with_blocks));
  // Dimension d of the blocks is d or d + 1; the number of the block goes in front of `concat`.
  for (int64_t d = 0; d < static_cast<int64_t>(sizes.size()); ++d) {
    if (d == concat) permutation.push_back(split);
    permutation.push_back(d < split ? d : d + 1);
  }
  hlo::DimensionsAttrs attrs;
  attrs.dimensions = permutation;
  HLO_TRY(x, e.Add(hlo::OpKind::Transpose, {x}, std::move(attrs)));
  x->set_shape(x->shape().WithoutLayout().WithDefaultLayouts());
  sizes[static_cast<size_t>(concat)] *= count;
  return AddReshape(e, x, sizes);
}

}  // namespace

namespace ops {

XlaOp CrossReplicaSum(XlaBuilder* builder, XlaOp operand, Span<const ReplicaGroup> replica_groups,
                      Location location) {
  return EmitSum(builder, operand, replica_groups.ToVector(), location);
}

XlaOp CrossReplicaSum(XlaBuilder* builder, XlaOp operand, Span<const int64_t> replica_group_ids,
                      Location location) {
  std::map<int64_t, ReplicaGroup> groups;
  for (size_t i = 0; i < replica_group_ids.size(); ++i)
    groups[replica_group_ids[i]].add_replica_ids(static_cast<int64_t>(i));
  std::vector<ReplicaGroup> in_order;
  for (const auto& [id, group] : groups) in_order.push_back(group);
  return EmitSum(builder, operand, in_order, location);
}

XlaOp CrossReplicaSum(XlaBuilder* builder, XlaOp operand, std::initializer_list<ReplicaGroup> replica_groups,
                      Location location) {
  return EmitSum(builder, operand, replica_groups, location);
}

XlaOp AllReduce(XlaBuilder* builder, XlaOp operand, const XlaComputation& computation,
                Span<const ReplicaGroup> replica_groups, const std::optional<ChannelHandle>& channel_id,
                bool use_global_device_ids, Location location) {
  return Emit(builder, {operand}, location, [&](Emission& e) -> InstructionOr {
    HLO_TRY(hlo::Computation * callee, e.state().Import(computation));
    return AddOnParts(e, hlo::OpKind::AllReduce,
                      Collective<hlo::AllReduceAttrs>(replica_groups, channel_id, use_global_device_ids),
                      Same, {callee});
  });
}

XlaOp AllGather(XlaBuilder* builder, XlaOp operand, int64_t all_gather_dimension, int64_t shard_count,
                Span<const ReplicaGroup> replica_groups, const std::optional<ChannelHandle>& channel_id,
                bool use_global_device_ids, Location location) {
  return Emit(builder, {operand}, location, [&](Emission& e) {
    auto attrs = Collective<hlo::AllGatherAttrs>(replica_groups, channel_id, use_global_device_ids);
    attrs.dimensions = {all_gather_dimension};
    return AddOnParts(e, hlo::OpKind::AllGather, std::move(attrs), [&](const hlo::Shape& shape) {
      return Scaled(shape, all_gather_dimension, shard_count, true);
    });
  });
}

XlaOp ReduceScatter(XlaBuilder* builder, XlaOp operand, const XlaComputation& computation,
                    int64_t scatter_dimension, int64_t shard_count, Span<const ReplicaGroup> replica_groups,
                    const std::optional<ChannelHandle>& channel_id, bool use_global_device_ids,
                    Location location) {
  return Emit(builder, {operand}, location, [&](Emission& e) -> InstructionOr {
    HLO_TRY(hlo::Computation * callee, e.state().Import(computation));
    auto attrs = Collective<hlo::ReduceScatterAttrs>(replica_groups, channel_id, use_global_device_ids);
    attrs.dimensions = {scatter_dimension};
    return AddOnParts(
        e, hlo::OpKind::ReduceScatter, std::move(attrs),
        [&](const hlo::Shape& shape) { return Scaled(shape, scatter_dimension, shard_count, false); },
        {callee});
  });
}

XlaOp AllToAll(XlaBuilder* builder, XlaOp operand, int64_t split_dimension, int64_t concat_dimension,
               int64_t split_count, Span<const ReplicaGroup> replica_groups, Location location) {
  return Emit(builder, {operand}, location, [&](Emission& e) -> InstructionOr {
    HLO_TRY(const hlo::Shape* shape, e.Array(0));
    HLO_CHECK_OK(Scaled(*shape, split_dimension, split_count, false));
    HLO_CHECK_OK(Scaled(*shape, concat_dimension, split_count, true));
    if (split_dimension != concat_dimension && shape->HasDynamicDimension())
      return NotImplemented("moving blocks of {0}, which has dynamic dimensions", *shape);
    hlo::AllToAllAttrs attrs;
    attrs.replica_groups = Groups(replica_groups);
    attrs.dimension = split_dimension;
    HLO_TRY(hlo::Instruction * made,
            e.AddWithShape(hlo::OpKind::AllToAll, *shape, e.operands(), std::move(attrs)));
    if (split_dimension == concat_dimension) return made;
    return MoveBlocks(e, made, split_dimension, concat_dimension, split_count);
  });
}

XlaOp CollectivePermute(XlaBuilder* builder, XlaOp operand,
                        Span<const std::pair<int64_t, int64_t>> source_target_pairs, Location location) {
  return Emit(builder, {operand}, location, [&](Emission& e) {
    hlo::CollectivePermuteAttrs attrs;
    for (const auto& [source, target] : source_target_pairs)
      attrs.source_target_pairs.push_back({source, target});
    return AddOnParts(e, hlo::OpKind::CollectivePermute, std::move(attrs), Same);
  });
}

XlaOp CollectiveBroadcast(XlaBuilder* builder, XlaOp operand, Span<const ReplicaGroup> replica_groups,
                          Location location) {
  return Emit(builder, {operand}, location, [&](Emission& e) {
    hlo::CollectiveBroadcastAttrs attrs;
    attrs.replica_groups = Groups(replica_groups);
    return AddOnParts(e, hlo::OpKind::CollectiveBroadcast, std::move(attrs), Same);
  });
}

}  // namespace ops
}  // namespace hlo_toolkit

// The members of what a module consists of, for ir/support/binary.h.
#pragma once
#include "ir/module.h"
#include "ir/support/binary.h"

namespace hlo {

template <>
inline constexpr uint64_t kEnumerators<ElementType> = kElementTypeCount;
template <>
inline constexpr uint64_t kEnumerators<CompareType> = 4;
template <>
inline constexpr uint64_t kEnumerators<Precision> = 3;
template <>
inline constexpr uint64_t kEnumerators<ReductionOp> = 3;
template <>
inline constexpr uint64_t kEnumerators<ShardingKind> = 8;
template <>
inline constexpr uint64_t kEnumerators<SubgroupType> = 4;

HLO_BINARY_MEMBERS(Tile, v.dims)
HLO_BINARY_MEMBERS(SplitConfig, v.dimension, v.indices)
HLO_BINARY_MEMBERS(Layout, v.minor_to_major, v.tiles, v.tail_padding_alignment, v.index_type, v.pointer_type,
                   v.element_size_bits, v.memory_space, v.split_configs,
                   v.dynamic_shape_metadata_prefix_bytes)
HLO_BINARY_MEMBERS(WindowDim, v.size, v.stride, v.pad_low, v.pad_high, v.base_dilation, v.window_dilation,
                   v.reversal)
HLO_BINARY_MEMBERS(Window, v.dims)
HLO_BINARY_MEMBERS(ConvDimLabels, v.input_batch, v.input_feature, v.kernel_input_feature,
                   v.kernel_output_feature, v.output_batch, v.output_feature, v.input_spatial,
                   v.kernel_spatial, v.output_spatial, v.input_rank, v.kernel_rank, v.output_rank)
HLO_BINARY_MEMBERS(SliceRange, v.start, v.limit, v.stride)
HLO_BINARY_MEMBERS(PaddingDim, v.low, v.high, v.interior)
HLO_BINARY_MEMBERS(OutputOperandAlias, v.output, v.operand, v.operand_index)
HLO_BINARY_MEMBERS(SparsitySide, v.group, v.count, v.dimension, v.stride)
HLO_BINARY_MEMBERS(SparsityConfig, v.lhs, v.rhs)

// Where an instruction comes from.
template <class A>
void Archive(A& a, OpMetadata& v) {
  ArchiveAll(a, v.op_type, v.op_name, v.source_file, v.deduplicated_name, v.scheduling_name, v.payload,
             v.source_line, v.source_end_line, v.source_column, v.source_end_column, v.stack_frame_id,
             v.unknown_fields);
  llvm::SmallVector<int32_t, 4> types(v.profile_type.begin(), v.profile_type.end());
  Archive(a, types);
  if constexpr (A::kReads) v.profile_type = a.KeepList(std::move(types));
}
HLO_BINARY_MEMBERS(Statistic, v.name, v.value)
HLO_BINARY_MEMBERS(Statistics, v.visualizing_index, v.values)
HLO_BINARY_MEMBERS(ResultAccuracy, v.highest, v.has_tolerance, v.atol, v.rtol, v.ulps)
HLO_BINARY_MEMBERS(Origin, v.synthetic_call, v.is_tuple, v.elements, v.has_name, v.name, v.index)
HLO_BINARY_MEMBERS(FrontendAttribute, v.key, v.value)

// Shardings and device groups.
HLO_BINARY_MEMBERS(IotaDevices, v.reshape_dims, v.permutation)
HLO_BINARY_MEMBERS(MeshAxis, v.name, v.size)
HLO_BINARY_MEMBERS(Mesh, v.axes, v.maximal_device, v.iota_devices, v.device_ids)
HLO_BINARY_MEMBERS(AxisRef, v.axis, v.sub_axis)
HLO_BINARY_MEMBERS(MeshSharding::Dim, v.axes, v.open)
HLO_BINARY_MEMBERS(MeshSharding, v.mesh, v.has_dims, v.dims, v.replicated, v.unreduced, v.manual,
                   v.unreduced_op)
HLO_BINARY_MEMBERS(Sharding, v.kind, v.device, v.tile_dims, v.device_list, v.iota, v.replicate_last_tile_dim,
                   v.subgroups, v.mesh, v.elements, v.shard_as, v.shard_like, v.metadata, v.has_metadata,
                   v.reduction)
HLO_BINARY_MEMBERS(ReplicaGroups::Iota, v.group_count, v.group_size, v.devices)
HLO_BINARY_MEMBERS(ReplicaGroups::MeshAxes, v.mesh, v.axes)
HLO_BINARY_MEMBERS(ReplicaGroups, v.groups, v.iota, v.mesh)
/// What is shared and immutable is written where it is met.
template <class A, class T>
void Archive(A& a, std::shared_ptr<const T>& v) {
  bool has = v != nullptr;
  Archive(a, has);
  if constexpr (A::kReads) {
    v = nullptr;
    if (!has) return;
    auto value = std::make_shared<T>();
    Archive(a, *value);
    v = std::move(value);
  } else if (has) {
    Archive(a, const_cast<T&>(*v));
  }
}
HLO_BINARY_MEMBERS(DomainSpec, v.kind, v.entry, v.exit)

// The header of a module.
HLO_BINARY_MEMBERS(InputOutputAlias, v.output, v.parameter, v.parameter_index, v.must_alias)
HLO_BINARY_MEMBERS(BufferDonor, v.parameter, v.index)
HLO_BINARY_MEMBERS(EntryLayout, v.parameters, v.result)
HLO_BINARY_MEMBERS(DebugAttribute::Item, v.fusion_debugger, v.default_log_mode, v.callback_id, v.op_id,
                   v.partitioned)
HLO_BINARY_MEMBERS(DebugAttribute, v.name, v.items)
HLO_BINARY_MEMBERS(StackTables::Location, v.file, v.function, v.line, v.end_line, v.column, v.end_column)
HLO_BINARY_MEMBERS(StackTables::Frame, v.location, v.parent)
HLO_BINARY_MEMBERS(StackTables, v.files, v.functions, v.locations, v.frames)
template <class A>
void Archive(A& a, OriginRecovery& v) {
  ArchiveAll(a, v.old_name, v.new_name, v.old_index, v.new_index);
  a.Module(v.recovery);
}
HLO_BINARY_MEMBERS(ModuleConfig, v.is_scheduled, v.input_output_alias, v.buffer_donors,
                   v.alias_passthrough_params, v.entry_layout, v.spmd_propagation_to_parameters,
                   v.spmd_propagation_to_output, v.replica_count, v.num_partitions, v.frontend_attributes,
                   v.origin_recovery_table, v.debug_attributes, v.unknown_attributes)

}  // namespace hlo

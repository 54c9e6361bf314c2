// Meshes, and what is spread over them, as messages: NamedShardingProto and MeshAxesReplicaGroupListProto.
// Field numbers as XLA writes them, found by what it makes of texts.
#pragma once
#include "ir/sharding.h"
#include "tools/proto/message.h"
#include "tools/proto/wire.h"

namespace hlo {

/// Less the metadata, which is the sharding's. Error unavailable-feature for reductions other than sums.
Status WriteProto(ProtoWriter& out, const MeshSharding& sharding);
/// Axes that the mesh lacks, names and devices given twice, sizes that do not fit are problems of the
/// message.
MeshSharding ReadMeshSharding(ProtoMessage& in);

void WriteProto(ProtoWriter& out, const ReplicaGroups::MeshAxes& groups);
ReplicaGroups::MeshAxes ReadMeshAxes(ProtoMessage& in);

}  // namespace hlo

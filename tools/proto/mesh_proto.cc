#include "tools/proto/mesh_proto.h"

namespace hlo {
namespace {

void WriteMesh(ProtoWriter& out, const Mesh& mesh) {
  for (const MeshAxis& axis : mesh.axes)
    out.Message(1, [&](ProtoWriter& a) {
      a.Text(1, axis.name);
      a.Number(2, axis.size);
    });
  if (mesh.maximal_device) out.Packed(2, {*mesh.maximal_device});
  if (mesh.device_ids) out.Packed(2, *mesh.device_ids);
  if (mesh.iota_devices)
    out.Message(3, [&](ProtoWriter& iota) {
      iota.Packed(1, mesh.iota_devices->reshape_dims);
      iota.Packed(2, mesh.iota_devices->permutation);
    });
}

void WriteAxes(ProtoWriter& out, int field, llvm::ArrayRef<AxisRef> axes) {
  for (const AxisRef& axis : axes)
    out.Message(field, [&](ProtoWriter& a) {
      a.Number(1, axis.axis);
      if (axis.sub_axis)
        a.Message(2, [&](ProtoWriter& sub) {
          sub.Number(1, axis.sub_axis->first);
          sub.Number(2, axis.sub_axis->second);
        });
    });
}

/// Of all axes together; -1 if there is no such number.
int64_t DeviceCount(const Mesh& mesh) {
  int64_t count = 1;
  for (const MeshAxis& axis : mesh.axes)
    if (axis.size <= 0 || __builtin_mul_overflow(count, axis.size, &count)) return -1;
  return count;
}

bool IsPermutation(llvm::ArrayRef<int64_t> ids) {
  std::vector<bool> seen(ids.size(), false);
  for (const int64_t id : ids) {
    if (id < 0 || id >= static_cast<int64_t>(ids.size()) || seen[static_cast<size_t>(id)]) return false;
    seen[static_cast<size_t>(id)] = true;
  }
  return true;
}

void CheckMesh(const Mesh& mesh, ProtoProblems& problems) {
  for (size_t i = 0; i < mesh.axes.size(); ++i)
    for (size_t k = 0; k < i; ++k)
      if (mesh.axes[i].name == mesh.axes[k].name)
        return problems.Fail("found mesh axis '{0}' twice", mesh.axes[i].name);
  if (mesh.device_ids && (static_cast<int64_t>(mesh.device_ids->size()) != DeviceCount(mesh) ||
                          !IsPermutation(*mesh.device_ids)))
    problems.Fail("found device ids of a mesh that are no permutation of its devices");
  if (const auto& iota = mesh.iota_devices)
    if (iota->permutation.size() != iota->reshape_dims.size() || !IsPermutation(iota->permutation) ||
        llvm::any_of(iota->reshape_dims, [](int64_t dim) { return dim <= 0; }))
      problems.Fail("found devices of a mesh whose permutation does not fit its dimensions");
}

Mesh ReadMesh(ProtoMessage& in) {
  Mesh mesh;
  in.ForEach(1, "MeshAxis",
             [&](ProtoMessage& axis) { mesh.axes.push_back({axis.Text(1).str(), axis.Number(2)}); });
  std::vector<int64_t> ids;
  in.Numbers(2, ids);
  // One device, of a mesh without axes.
  if (mesh.axes.empty() && ids.size() == 1)
    mesh.maximal_device = ids[0];
  else if (!ids.empty())
    mesh.device_ids = std::move(ids);
  if (ProtoMessage* message = in.Message(3, "IotaTransform")) {
    IotaDevices& iota = mesh.iota_devices.emplace();
    message->Numbers(1, iota.reshape_dims);
    message->Numbers(2, iota.permutation);
  }
  CheckMesh(mesh, in.problems());
  if (!in.problems().failed() && mesh.iota_devices) {
    Canonicalize(*mesh.iota_devices);
    // The order that devices have anyway.
    const Dims& dims = mesh.iota_devices->reshape_dims;
    if (dims.size() <= 1 && (dims.empty() ? 1 : dims[0]) == DeviceCount(mesh)) mesh.iota_devices.reset();
  }
  return mesh;
}

/// Whether the part of an axis is one: a factor of its size behind another.
bool Fits(const AxisRef& ref, const Mesh& mesh) {
  if (ref.axis < 0 || ref.axis >= static_cast<int64_t>(mesh.axes.size())) return false;
  if (!ref.sub_axis) return true;
  const auto [pre, size] = *ref.sub_axis;
  const int64_t full = mesh.axes[static_cast<size_t>(ref.axis)].size;
  int64_t product = 0;
  return pre >= 1 && size >= 2 && size != full && !__builtin_mul_overflow(pre, size, &product) &&
         product <= full && full % product == 0;
}

std::vector<AxisRef> ReadAxes(ProtoMessage& in, int field, const Mesh& mesh) {
  std::vector<AxisRef> axes;
  in.ForEach(field, "AxisRefProto", [&](ProtoMessage& message) {
    AxisRef& axis = axes.emplace_back();
    axis.axis = message.Number(1);
    if (ProtoMessage* sub = message.Message(2, "SubAxis"))
      axis.sub_axis.emplace(sub->Number(1), sub->Number(2));
    if (!Fits(axis, mesh))
      in.problems().Fail("found axis {0} of a mesh, which is none or no part of it", axis.axis);
  });
  return axes;
}

}  // namespace

Status WriteProto(ProtoWriter& out, const MeshSharding& sharding) {
  if (sharding.unreduced_op != ReductionOp::Sum)
    return Error("unavailable-feature", {},
                 "unreduced maxima and minima over meshes have no form as protocol buffer");
  out.Message(2, [&](ProtoWriter& mesh) { WriteMesh(mesh, sharding.mesh); });
  for (const MeshSharding::Dim& dim : sharding.dims)
    out.Message(3, [&](ProtoWriter& d) {
      WriteAxes(d, 1, dim.axes);
      d.Number(2, !dim.open);
    });
  WriteAxes(out, 4, sharding.replicated);
  WriteAxes(out, 5, sharding.unreduced);
  WriteAxes(out, 7, sharding.manual);
  return {};
}

MeshSharding ReadMeshSharding(ProtoMessage& in) {
  MeshSharding sharding;
  if (ProtoMessage* mesh = in.Message(2, "MeshProto")) sharding.mesh = ReadMesh(*mesh);
  const Mesh& mesh = sharding.mesh;
  in.ForEach(3, "DimensionSharding", [&](ProtoMessage& message) {
    MeshSharding::Dim& dim = sharding.dims.emplace_back();
    dim.axes = ReadAxes(message, 1, mesh);
    dim.open = message.Number(2) == 0;
  });
  sharding.has_dims = !sharding.dims.empty();
  sharding.replicated = ReadAxes(in, 4, mesh);
  sharding.unreduced = ReadAxes(in, 5, mesh);
  sharding.manual = ReadAxes(in, 7, mesh);
  return sharding;
}

void WriteProto(ProtoWriter& out, const ReplicaGroups::MeshAxes& groups) {
  out.Message(1, [&](ProtoWriter& mesh) { WriteMesh(mesh, groups.mesh); });
  WriteAxes(out, 2, groups.axes);
}

ReplicaGroups::MeshAxes ReadMeshAxes(ProtoMessage& in) {
  ReplicaGroups::MeshAxes groups;
  if (ProtoMessage* mesh = in.Message(1, "MeshProto")) groups.mesh = ReadMesh(*mesh);
  groups.axes = ReadAxes(in, 2, groups.mesh);
  return groups;
}

}  // namespace hlo

#include "tools/run/devices.h"

#include "ir/sharding.h"

namespace hlo {
namespace {

using llvm::StringRef;

/// The attribute `name` of an instruction, or null.
template <class T>
const T* Attribute(const Instruction& inst, StringRef name) {
  for (const FieldInfo& field : inst.attrs().info().fields)
    if (field.name == name && field.access != nullptr && inst.attrs().data() != nullptr)
      return &field.Get<T>(inst.attrs().data());
  return nullptr;
}

bool HasChannel(const Instruction& inst) {
  const auto* channel = Attribute<std::optional<int64_t>>(inst, "channel_id");
  return channel != nullptr && channel->has_value();
}

/// What one collective says about the counts; 0: nothing.
struct Needs {
  int64_t replicas = 0, partitions = 0, total = 0;
};

/// Without groups, how much all-gather and reduce-scatter grow or shrink their dimension.
int64_t FactorOf(const Instruction& inst) {
  const auto* dimensions = Attribute<Dims>(inst, "dimensions");
  if (dimensions == nullptr || dimensions->empty() || inst.operand_count() == 0) return 0;
  const Shape& from = inst.operand(0)->shape();
  const Shape& to =
      inst.shape().IsTuple() && inst.shape().tuple_size() > 0 ? inst.shape().tuple_shape(0) : inst.shape();
  const int64_t d = dimensions->front();
  if (!from.IsArray() || !to.IsArray() || d < 0 || d >= from.rank() || d >= to.rank()) return 0;
  const int64_t small = std::min(from.dim(d), to.dim(d)), large = std::max(from.dim(d), to.dim(d));
  return small > 0 && large > small && large % small == 0 ? large / small : 0;
}

Needs NeedsOf(const Instruction& inst) {
  Needs needs;
  const bool channel = HasChannel(inst);
  if (const auto* pairs = Attribute<std::vector<Dims>>(inst, "source_target_pairs")) {
    int64_t top = -1;
    for (const Dims& pair : *pairs)
      for (const int64_t id : pair) top = std::max(top, id);
    (channel ? needs.partitions : needs.replicas) = top + 1;
    return needs;
  }
  const auto* groups = Attribute<ReplicaGroups>(inst, "replica_groups");
  if (groups == nullptr) return needs;
  int64_t ids = 0;
  if (const auto lists = Expand(*groups))
    for (const Dims& group : *lists) ids += static_cast<int64_t>(group.size());
  if (ids == 0) ids = FactorOf(inst);
  if (ids == 0) return needs;
  const auto* global = Attribute<bool>(inst, "use_global_device_ids");
  if (!channel)
    needs.replicas = ids;
  else if (global == nullptr)
    needs.partitions = ids;
  else if (*global)
    needs.total = ids;
  else
    needs.replicas = ids;
  return needs;
}

/// Ops whose value or effect depends on the device they run on.
bool DependsOnDevice(const Instruction& inst) {
  return inst.kind() == OpKind::PartitionId || inst.kind() == OpKind::ReplicaId ||
         inst.info().category == OpCategory::Communication ||
         Attribute<ReplicaGroups>(inst, "replica_groups") != nullptr ||
         Attribute<std::vector<Dims>>(inst, "source_target_pairs") != nullptr;
}

/// Raises `count` to what a collective needs, or says that two disagree.
Status Raise(int64_t& count, int64_t wanted, const Instruction& inst, const char* what) {
  if (wanted == 0 || wanted == count) return {};
  if (count > 1)
    return Error("usage-devices", inst.loc(),
                 "%{0} is for {1} {2}, another collective for {3}; give --num-replicas and --num-partitions",
                 inst.name(), wanted, what, count);
  count = wanted;
  return {};
}

Result<DeviceCount> Infer(const Module& module) {
  DeviceCount count;
  int64_t total = 1;
  for (const auto& computation : module.computations())
    for (const Instruction* inst : computation->instructions()) {
      const Needs needs = NeedsOf(*inst);
      HLO_CHECK_OK(Raise(count.replicas, needs.replicas, *inst, "replicas"));
      HLO_CHECK_OK(Raise(count.partitions, needs.partitions, *inst, "partitions"));
      HLO_CHECK_OK(Raise(total, needs.total, *inst, "devices"));
    }
  if (total > 1 && count.total() == 1) count.partitions = total;
  if (total > 1 && count.total() != total) {
    if (count.partitions == 1 && total % count.replicas == 0)
      count.partitions = total / count.replicas;
    else if (count.replicas == 1 && total % count.partitions == 0)
      count.replicas = total / count.partitions;
    else
      return Error("usage-devices", {},
                   "the collectives are for {0} devices and {1} replicas, {2} partitions; give "
                   "--num-replicas and --num-partitions",
                   total, count.replicas, count.partitions);
  }
  return count;
}

}  // namespace

Result<DeviceCount> CountDevices(const Module& module, const RunOptions& options) {
  constexpr int64_t kMaxDevices = 4096;
  DeviceCount count{std::max<int64_t>(module.config.replica_count, 1),
                    std::max<int64_t>(module.config.num_partitions, 1)};
  const bool asked = options.num_replicas || options.num_partitions;
  if (!asked && count.total() == 1) {
    HLO_TRY(count, Infer(module));
  }
  if (options.num_replicas) count.replicas = *options.num_replicas;
  if (options.num_partitions) count.partitions = *options.num_partitions;
  if (!asked && options.input_scope == InputScope::Global) {
    bool depends = options.is_partitioned || options.output_devices == OutputDevices::All ||
                   llvm::any_of(options.input, NamesDevice);
    for (const auto& computation : module.computations())
      for (const Instruction* inst : computation->instructions()) depends |= DependsOnDevice(*inst);
    if (!depends) count = {};
  }
  // Of processes that nothing tells how to share the work, each is a replica.
  if (!asked && count.total() == 1) count.replicas = options.processes;
  if (count.total() % options.processes != 0)
    return Error("usage-devices", {},
                 "{0} processes cannot share {1} replicas and {2} partitions evenly; give --num-replicas and "
                 "--num-partitions, or start another number of processes",
                 options.processes, count.replicas, count.partitions);
  const int64_t most = std::min(options.device_limit.value_or(kMaxDevices), kMaxDevices);
  if (count.replicas > most || count.partitions > most || count.total() > most)
    return Error("usage-devices", {},
                 "{0} replicas and {1} partitions are more than the {2} devices that can be simulated",
                 count.replicas, count.partitions, most);
  return count;
}

Result<std::vector<bool>> DonatedParameters(const Module& module, StringRef donate) {
  const auto count = module.entry()->parameters().size();
  std::vector<bool> donated(count, donate == "all");
  if (donate == "all" || donate == "none") return donated;
  if (donate == "auto") {
    for (const InputOutputAlias& alias : module.config.input_output_alias)
      if (static_cast<size_t>(alias.parameter) < count) donated[static_cast<size_t>(alias.parameter)] = true;
    for (const BufferDonor& donor : module.config.buffer_donors)
      if (static_cast<size_t>(donor.parameter) < count) donated[static_cast<size_t>(donor.parameter)] = true;
    return donated;
  }
  for (StringRef item : llvm::split(donate, ',')) {
    item = item.trim();
    item.consume_front("%");
    size_t number = count;
    for (size_t i = 0; i < count; ++i)
      if (module.entry()->parameters()[i]->name() == item) number = i;
    if (number == count && (item.getAsInteger(10, number) || number >= count))
      return Error("usage-name", {},
                   "option '--donate': no parameter '{0}'; expected auto, none, all or a list of parameters",
                   item);
    donated[number] = true;
  }
  return donated;
}

Result<std::vector<Diagnostic>> CheckAliases(const Module& module, const std::vector<bool>& donated,
                                             AliasMode mode) {
  std::vector<Diagnostic> warnings;
  for (const InputOutputAlias& alias : module.config.input_output_alias) {
    if (static_cast<size_t>(alias.parameter) >= donated.size() ||
        donated[static_cast<size_t>(alias.parameter)])
      continue;
    const Instruction* parameter = module.entry()->parameter(alias.parameter);
    if (mode == AliasMode::Strict)
      return Error("alias-not-donated", parameter->loc(),
                   "output {0} is aliased to parameter %{1}, which is not donated", ToString(alias.output),
                   parameter->name());
    if (!alias.must_alias) continue;
    Diagnostic warning = MakeError("alias-copied", parameter->loc(),
                                   "output {0} must alias parameter %{1}, which is not donated; copied",
                                   ToString(alias.output), parameter->name());
    warning.severity = Severity::Warning;
    warnings.push_back(std::move(warning));
  }
  return warnings;
}

}  // namespace hlo

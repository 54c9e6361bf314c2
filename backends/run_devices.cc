#include "backends/run_devices.h"

#include <thread>

#include "ir/eval/custom_call.h"
#include "ir/eval/custom_call_library.h"
#include "ir/eval/device_network.h"
#include "ir/support/parallel.h"
#include "ir/support/work.h"

namespace hlo {
namespace {

/// Called computations of `from`, itself included.
void Reach(const Computation& from, llvm::DenseMap<const Computation*, bool>& seen) {
  std::vector<const Computation*> stack = {&from};
  while (!stack.empty()) {
    const Computation* c = stack.back();
    stack.pop_back();
    if (!seen.try_emplace(c, true).second) continue;
    for (const Instruction* i : c->instructions())
      stack.insert(stack.end(), i->callees().begin(), i->callees().end());
  }
}

Status CheckCustomCall(const Instruction& inst, const ExecutionOptions& options) {
  const std::string& target = inst.attr<CustomCallAttrs>().custom_call_target;
  if (FindCustomCallTarget(target)) return CheckCustomCall(inst);
  const CustomCallLibraries* libraries = options.custom_call_libraries.get();
  if (libraries != nullptr && libraries->Find(target).address != nullptr) return CheckLibraryCall(inst);
  const auto it = options.missing_custom_calls.find(target);
  if (it != options.missing_custom_calls.end() && it->second != "error") return {};
  Diagnostic error = MakeError("unsupported-custom-call", inst.loc(),
                               "%{0}: no implementation of custom-call target '{1}'", inst.name(), target);
  if (libraries != nullptr)
    error.Note(llvm::formatv("there is no symbol '{0}' in {1:$[, ]}", target,
                             llvm::make_range(libraries->names().begin(), libraries->names().end()))
                   .str());
  return Error(std::move(error));
}

Status CheckInstruction(const Instruction& inst, const ExecutionOptions& options) {
  if (inst.kind() == OpKind::CustomCall) HLO_CHECK_OK(CheckCustomCall(inst, options));
  if (inst.kind() == OpKind::Constant && !inst.attr<ConstantAttrs>().literal)
    return Error("elided-constant", inst.loc(), "%{0} is an elided constant; its value is not known",
                 inst.name());
  if (inst.shape().HasUnboundedDimension())
    return Error("unsupported-shape", inst.loc(), "%{0} has shape {1}; unbounded dimensions cannot be run",
                 inst.name(), inst.shape());
  Status too_large;
  ForEachLeaf(inst.shape(), [&](const ShapeIndex&, const Shape& leaf) {
    if (too_large && leaf.IsArray() && ByteSize(leaf) < 0)
      too_large = Error("unsupported-shape", inst.loc(), "%{0} has shape {1}, more than 2^63 bytes",
                        inst.name(), leaf);
  });
  return too_large;
}

}  // namespace

Status CheckSupported(const Module& module, const ExecutionOptions& options) {
  llvm::DenseMap<const Computation*, bool> reachable;
  Reach(*module.entry(), reachable);
  for (const auto& computation : module.computations()) {
    if (!reachable.contains(computation.get())) continue;
    for (const Instruction* inst : computation->instructions())
      HLO_CHECK_OK(CheckInstruction(*inst, options));
  }
  return {};
}

Result<ExecutionResult> RunOnDevices(std::vector<std::vector<Literal>> arguments,
                                     const ExecutionOptions& options, DeviceProgram program) {
  const WorkContext work = CurrentWork();
  DeviceGroup group(options.replica_count, options.partition_count, options.rng_seed,
                    options.collective_timeout);
  group.SetMissingCustomCalls(options.missing_custom_calls);
  group.SetCustomCallLibraries(options.custom_call_libraries);
  group.SetHost(options.host);
  const auto devices = static_cast<size_t>(group.size());
  DeviceNetwork* const network = options.only_device ? nullptr : options.network;
  StopToken stop(work.stop);
  if (network != nullptr) {
    group.SpreadOver(network);
    HLO_CHECK_OK(network->Begin(group, options.collective_timeout, stop));
  }
  ExecutionResult result;
  result.results.resize(devices);
  result.outfeeds.resize(devices);
  auto run = [&](size_t d) {
    Device& device = group.device(static_cast<int64_t>(d));
    if (d < options.infeeds.size())
      device.infeed.assign(options.infeeds[d].begin(), options.infeeds[d].end());
    std::vector<Literal> mine;
    mine.reserve(arguments[d].size());
    for (Literal& a : arguments[d]) mine.push_back(std::exchange(a, {}).Unpack());
    Result<Literal> value = program(device, std::move(mine));
    if (value) {
      result.results[d] = std::move(*value);
      result.outfeeds[d] = std::move(device.outfeed);
      group.Finish(device);
    } else {
      group.Fail(value.error());
    }
  };
  llvm::SmallVector<size_t, 1> here;
  for (size_t d = 0; d < devices; ++d)
    if (network == nullptr || network->IsHere(static_cast<int64_t>(d), group.size())) here.push_back(d);
  const WorkScope scope({network != nullptr ? &stop : work.stop, work.pool});
  std::vector<std::thread> others;
  if (options.only_device) {
    group.RunOnly(*options.only_device);
    run(static_cast<size_t>(*options.only_device));
  } else {
    // Each needs a thread of its own: they wait for each other.
    for (const size_t d : llvm::drop_begin(here)) {
      if (group.failed()) break;
      others.push_back(TryThread([&run, work = CurrentWork(), d] {
        const WorkScope mine(work);
        run(d);
      }));
      if (others.back().joinable()) continue;
      others.pop_back();
      group.Fail(MakeError("runtime-memory", {}, "out of threads: device {0} of {1} has none", d, devices));
    }
    if (!group.failed()) run(here.front());
  }
  for (std::thread& t : others) t.join();
  if (network != nullptr) HLO_CHECK_OK(network->End(group));
  if (group.failed()) return Error(group.failure());
  return result;
}

}  // namespace hlo

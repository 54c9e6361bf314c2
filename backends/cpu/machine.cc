#include "backends/cpu/machine.h"

#include <memory>

#include "backends/llvm/deferred.h"
#include "backends/llvm/processor_check.h"
#include "ir/support/cpu_features.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"

namespace hlo::cpu {
namespace {

OtherTargets other_targets;

std::unique_ptr<llvm::MCSubtargetInfo> Subtarget(llvm::StringRef cpu, llvm::StringRef features,
                                                 const std::string& triple = llvm::sys::getProcessTriple()) {
  codegen::RunDeferredInitializers();
  InitializeOtherTargets();
  LLVMInitializeX86TargetInfo();
  LLVMInitializeX86TargetMC();
  std::string why;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, why);
  if (target == nullptr) return nullptr;
  return std::unique_ptr<llvm::MCSubtargetInfo>(target->createMCSubtargetInfo(triple, cpu, features));
}

Status CheckFeatures(llvm::StringRef features, const llvm::MCSubtargetInfo& generic) {
  llvm::SmallVector<llvm::StringRef> items;
  features.split(items, ',', -1, /*KeepEmpty=*/false);
  for (const llvm::StringRef item : items) {
    const bool known = llvm::any_of(generic.getAllProcessorFeatures(),
                                    [&](const auto& f) { return item.drop_front() == f.Key; });
    if (!item.starts_with("+") && !item.starts_with("-"))
      return Error("usage-option", {}, "option '--mattr': found '{0}', expected +FEATURE or -FEATURE", item);
    if (!known)
      return Error("usage-option", {}, "option '--mattr': unknown feature '{0}'", item.drop_front());
  }
  return {};
}

/// What `wanted` has and this machine lacks; empty: nothing.
std::string MissingHere(const llvm::MCSubtargetInfo& wanted) {
  std::string missing;
  const llvm::StringMap<bool> here = llvm::sys::getHostCPUFeatures();
  for (const llvm::StringRef feature : codegen::FeaturesToCheck()) {
    if (here.lookup(feature) || !wanted.checkFeatures("+" + feature.str())) continue;
    missing += (missing.empty() ? "" : ", ") + feature.str();
  }
  return missing;
}

}  // namespace

std::string Machine::Triple() const { return triple.empty() ? llvm::sys::getProcessTriple() : triple; }

void SetOtherTargets(const OtherTargets& targets) { other_targets = targets; }
void InitializeOtherTargets() {
  if (other_targets.initialize != nullptr) other_targets.initialize();
}

bool HasArchive(llvm::StringRef triple) {
  if (triple.empty()) return true;
  const llvm::Triple wanted(llvm::Triple::normalize(triple)),
      has(llvm::Triple::normalize(other_targets.archive));
  return !other_targets.archive.empty() && wanted.getArch() == has.getArch() &&
         wanted.getOS() == has.getOS() && wanted.getEnvironment() == has.getEnvironment();
}

bool HasFeatures(const Machine& machine, llvm::StringRef features) {
  if (!machine.triple.empty()) return false;
  // What is named needs no table of what implies what.
  llvm::SmallVector<llvm::StringRef> wanted, named;
  features.split(wanted, ',');
  llvm::StringRef(machine.features).split(named, ',');
  const bool takes_away = llvm::any_of(named, [](llvm::StringRef f) { return f.starts_with("-"); });
  if (!takes_away && llvm::all_of(wanted, [&](llvm::StringRef f) { return llvm::is_contained(named, f); }))
    return true;
  const auto subtarget = Subtarget(machine.cpu, machine.features);
  return subtarget && subtarget->checkFeatures(features.str());
}

std::vector<llvm::StringRef> FeaturesNeeded(const Machine& machine) {
  std::vector<llvm::StringRef> needed;
  const auto subtarget = Subtarget(machine.cpu, machine.features, machine.Triple());
  if (!subtarget || !subtarget->getTargetTriple().isX86()) return needed;
  for (const llvm::StringRef feature : codegen::FeaturesToCheck())
    if (subtarget->checkFeatures("+" + feature.str())) needed.push_back(feature);
  return needed;
}

Machine HostMachine() {
  Machine machine;
  // The features count, not the name: virtual machines report names that do not fit. Only those that matter
  // to code: LLVM takes microseconds for each, several times.
  for (const llvm::StringRef feature : KnownCpuFeatures())
    if (HasCpuFeatures({feature}))
      machine.features += (machine.features.empty() ? "+" : ",+") + feature.str();
  return machine;
}

namespace {

Result<Machine> OtherMachine(llvm::StringRef cpu, llvm::StringRef features, const std::string& triple) {
  const auto generic = Subtarget("", "", triple);
  if (!generic)
    return Error("unavailable-cpu", {}, "option '--target': this program has no code generator for {0}",
                 triple);
  const bool any = cpu.empty() || cpu == "native";
  if (!any && !generic->isCPUStringValid(cpu))
    return Error("usage-option", {}, "option '--mcpu': unknown CPU '{0}'", cpu);
  HLO_CHECK_OK(CheckFeatures(features, *generic));
  return Machine{any ? "generic" : cpu.str(), features.str(), triple};
}

}  // namespace

Result<Machine> MachineFor(llvm::StringRef cpu, llvm::StringRef features, bool runs_here,
                           llvm::StringRef triple) {
  if (!triple.empty()) return OtherMachine(cpu, features, triple.str());
  const bool native = cpu.empty() || cpu == "native";
  if (native && features.empty()) return HostMachine();
  const auto generic = Subtarget("", "");
  if (!generic)
    return Error("unavailable-cpu", {}, "code generation for this kind of machine is not built in");
  if (!native && !generic->isCPUStringValid(cpu))
    return Error("usage-option", {}, "option '--mcpu': unknown CPU '{0}'", cpu);
  HLO_CHECK_OK(CheckFeatures(features, *generic));
  Machine machine = native ? HostMachine() : Machine{cpu.str(), ""};
  if (!features.empty()) machine.features += (machine.features.empty() ? "" : ",") + features.str();
  const auto wanted = Subtarget(machine.cpu, machine.features);
  if (!wanted->checkFeatures("+64bit,+sse2,-soft-float"))
    return Error("usage-option", {}, "option '{0}': code is made for 64 bits and SSE2, which {1} has not",
                 native ? "--mattr" : "--mcpu", native ? features : cpu);
  if (!runs_here) return machine;
  const std::string missing = MissingHere(*wanted);
  if (!missing.empty())
    return Error("unavailable-cpu", {}, "this machine cannot run code for {0}: it lacks {1}",
                 native ? features : cpu, missing);
  return machine;
}

}  // namespace hlo::cpu

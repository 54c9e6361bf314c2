#include "backends/cpu/ahead_of_time.h"

#include "backends/cpu/build.h"
#include "backends/cpu/c_header.h"
#include "backends/cpu/c_names.h"
#include "backends/cpu/host_steps.h"
#include "backends/cpu/machine.h"
#include "backends/cpu/prepare.h"
#include "backends/cpu/product_step.h"
#include "backends/cpu/routine_step.h"
#include "backends/cpu/weights.h"
#include "backends/run_devices.h"
#include "ir/print.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/TargetParser/Triple.h"

namespace hlo {
namespace {

using codegen::EntryPoint;
using cpu::CInterface;
using cpu::Program;
using cpu::Slice;

/// Functions of other libraries that the object calls.
Result<std::vector<std::string>> SymbolsNeeded(const std::string& object) {
  const auto failed = [](llvm::Error error) {
    return Error("compile-kernels", {}, "LLVM: {0}", llvm::toString(std::move(error)));
  };
  auto file = llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(object, "object"));
  if (!file) return failed(file.takeError());
  std::vector<std::string> needed;
  for (const llvm::object::SymbolRef& symbol : (*file)->symbols()) {
    auto flags = symbol.getFlags();
    if (!flags) return failed(flags.takeError());
    auto name = symbol.getName();
    if (!name) return failed(name.takeError());
    if ((*flags & llvm::object::SymbolRef::SF_Undefined) != 0 && !name->empty())
      needed.push_back(name->str());
  }
  return needed;
}

Diagnostic Refusal(const cpu::Step& step, const ModuleConfig& config, CodeHost host) {
  const Instruction& inst = *step.instruction;
  if (host == CodeHost::Archive)
    return MakeError("unsupported-ahead-of-time", inst.loc(), "%{0}: {1} is not computed ahead of time: {2}",
                     inst.name(), inst.info().text, cpu::ObstacleToHostStep(step, config));
  return MakeError("unsupported-ahead-of-time", inst.loc(), "%{0}: {1} is not computed by code alone ({2})",
                   inst.name(), inst.info().text, cpu::RunnerOf(step).Explain());
}

Status CheckSizes(const Instruction& boundary) {
  Status status;
  ForEachLeaf(boundary.shape(), [&](const ShapeIndex&, const Shape& shape) {
    if (status && shape.IsArray() && shape.HasDynamicDimension())
      status = Error("unsupported-ahead-of-time", boundary.loc(),
                     "%{0}: arrays of dynamic size do not pass the boundary of a function of C: {1}",
                     boundary.name(), ToString(shape));
  });
  return status;
}

/// What LLVM does to loops within loops of one function grows with the cube of their levels: 256 take half a
/// second, 2000 minutes.
constexpr int64_t kMostLoopLevels = 256;

Status CheckLoops(const Module& module) {
  llvm::DenseMap<const Computation*, int64_t> levels;
  for (const Computation* c : module.PostOrder()) {
    int64_t here = 0;
    for (const Instruction* inst : c->instructions()) {
      const int64_t within = inst->kind() == OpKind::While ? 1 : 0;
      for (const Computation* callee : inst->callees()) here = std::max(here, levels.lookup(callee) + within);
      if (here > kMostLoopLevels)
        return Error("limit-nesting", inst->loc(),
                     "%{0}: loops within loops of one function may have {1} levels", inst->name(),
                     kMostLoopLevels);
    }
    levels[c] = here;
  }
  return {};
}

/// Steps of a routine, where there are too many for one.
constexpr size_t kStepsOfPart = 256;

/// Functions that do all steps of a program, one after the other, the slices of their slots, and what they
/// leave to their host.
struct Routines {
  std::vector<int32_t> numbers;
  std::vector<std::vector<Slice>> slots;
  cpu::HostCalls host;
};

class RoutineMaker {
 public:
  RoutineMaker(const Program& program, const CInterface& interface, CodeHost host)
      : program_(program), host_(host), in_parts_(program.entry.size() > kernel::kMostSteps) {
    read_later_ = interface.ResultSlices();
    if (!in_parts_) return;
    read_later_.clear();
    for (size_t i = 0; i < program.buffers.size(); ++i)
      read_later_.push_back({.buffer = static_cast<int32_t>(i), .size = program.buffers[i].size});
  }

  /// `kernels`: the host cuts large ones.
  Result<Routines> Make(bool kernels) const {
    Routines routines;
    HLO_CHECK_OK(ForEachPart(kernels, routines, [&](cpu::RoutineBuilder builder) {
      auto [routine, slots] = std::move(builder).Finish(program_.buffers);
      routines.numbers.push_back(program_.jit->AddRoutine(routine));
      routines.slots.push_back(std::move(slots));
    }));
    return routines;
  }
  /// Some steps are the host's.
  Result<bool> NeedsHost() const {
    Routines routines;
    HLO_CHECK_OK(ForEachPart(false, routines, [](const cpu::RoutineBuilder&) {}));
    return !routines.host.steps.empty();
  }

 private:
  Status ForEachPart(bool kernels, Routines& routines,
                     llvm::function_ref<void(cpu::RoutineBuilder)> take) const {
    llvm::ArrayRef<std::unique_ptr<cpu::Step>> rest = program_.entry;
    do {
      const auto steps = in_parts_ ? rest.take_front(kStepsOfPart) : rest;
      rest = rest.drop_front(steps.size());
      cpu::RoutineBuilder builder(read_later_);
      const ModuleConfig& config = program_.module->config;
      if (host_ == CodeHost::Archive) {
        routines.host.cuts_kernels = kernels;
        builder.HaveHost(routines.host,
                         [&](const cpu::Step& s) { return cpu::ObstacleToHostStep(s, config); });
      }
      if (const cpu::Step* refused = builder.AddAll(steps)) return Error(Refusal(*refused, config, host_));
      take(std::move(builder));
    } while (!rest.empty());
    return {};
  }

  const Program& program_;
  CodeHost host_;
  bool in_parts_;
  std::vector<Slice> read_later_;
};

}  // namespace

class AheadOfTimeCompiler::State {
 public:
  explicit State(bool weights_file) : weights_file_(weights_file) {}

  Status Add(const Module& module, llvm::ArrayRef<CpuOptions> options, llvm::StringRef symbol) {
    const std::string obstacle = symbol.empty() ? "" : cpu::ObstacleToName(symbol);
    if (!obstacle.empty())
      return Error("usage-option", {}, "option '--entry-name': '{0}' {1}", symbol, obstacle);
    const std::string name = symbol.empty() ? cpu::FunctionName(module.name()) : symbol.str();
    if (llvm::any_of(functions_, [&](const Function& f) { return f.symbol == name; }))
      return Error("usage-name", {}, "two functions of the object are called '{0}'; --entry-name gives names",
                   name);
    for (const Instruction* parameter : module.entry()->parameters()) HLO_CHECK_OK(CheckSizes(*parameter));
    HLO_CHECK_OK(CheckSizes(*module.entry()->root()));
    if (machines_.empty()) HLO_CHECK_OK(StartMachines(options));
    Function& function = functions_.emplace_back();
    function.symbol = name;
    for (Machine& machine : machines_)
      HLO_CHECK_OK(Build(module, options[machine.option], machine, function.versions.emplace_back()));
    HLO_CHECK_OK(CheckAlike(function, module));
    HLO_CHECK_OK(TakeNames(function));
    Status made = Complete(function, options.front().host);
    for (size_t v = 0; v < machines_.size(); ++v)
      machines_[v].jit = std::move(function.versions[v].program->jit);
    return made;
  }

  Result<AheadOfTime> Finish() {
    AheadOfTime result;
    TakeWeights(result);
    codegen::Front front;
    cpu::CObject object;
    std::vector<cpu::Jit::Version> versions;
    for (const Machine& machine : machines_) {
      front.features.push_back(machine.features);
      object.machines.push_back(&machine.machine);
      versions.push_back({machine.jit.get(), {}});
    }
    object.asks = front.asks();
    for (const Function& function : functions_) {
      front.functions.push_back({function.symbol, function.has_archive, function.has_weights});
      const Version& first = function.versions.front();
      cpu::CFunction& of_c = object.functions.emplace_back(
          cpu::CFunction{first.interface.get(), function.symbol, first.program->module->name().str(), 0,
                         function.has_archive, function.has_weights});
      for (size_t v = 0; v < machines_.size(); ++v) {
        const Version& version = function.versions[v];
        of_c.temp_bytes = std::max(of_c.temp_bytes, version.interface->temp_bytes());
        versions[v].entries.push_back({&version.entry, version.routines});
      }
    }
    HLO_TRY(result.object, cpu::Jit::MakeObject(versions, front));
    HLO_TRY(object.symbols_needed, SymbolsNeeded(result.object));
    result.header = cpu::HeaderOf(object);
    result.description = cpu::DescriptionOf(object);
    return result;
  }

 private:
  /// What code is for.
  struct Machine {
    cpu::Machine machine;
    std::vector<llvm::StringRef> features;  // that it needs
    size_t option;                          // its number among the options
    std::unique_ptr<cpu::Jit> jit;          // between functions, which share it
  };
  /// A function for one of the machines.
  struct Version {
    std::unique_ptr<Program> program;
    std::unique_ptr<CInterface> interface;
    std::vector<int32_t> routines;
    EntryPoint entry;
    std::string steps;  // of its host
  };
  struct Function {
    std::string symbol;
    std::deque<Version> versions;  // by machine
    bool has_archive = false, has_weights = false;
  };

  /// Those that have most come first.
  Status StartMachines(llvm::ArrayRef<CpuOptions> options) {
    std::vector<Machine> machines;
    for (size_t i = 0; i < options.size(); ++i) {
      const CpuOptions& o = options[i];
      HLO_TRY(cpu::Machine machine, cpu::MachineFor(o.cpu, o.features, /*runs_here=*/false, o.triple));
      if (options.size() > 1 && !llvm::Triple(machine.Triple()).isX86())
        return Error("unsupported-ahead-of-time", {},
                     "option '--mcpu': objects have code for several CPUs on x86-64 only");
      std::vector<llvm::StringRef> features = cpu::FeaturesNeeded(machine);
      for (const Machine& other : machines)
        if (other.features == features)
          return Error("usage-option", {}, "option '--mcpu': code for '{0}' and '{1}' would be the same",
                       options[other.option].cpu, o.cpu);
      machines.push_back({std::move(machine), std::move(features), i, nullptr});
    }
    llvm::sort(machines, [](const Machine& a, const Machine& b) {
      return std::pair(b.features.size(), a.option) < std::pair(a.features.size(), b.option);
    });
    for (Machine& machine : machines) {
      machine.jit = std::make_unique<cpu::Jit>(machine.machine);
      machine.jit->KeepTogether(&machine == &machines.front() ? nullptr : machines.front().jit.get());
    }
    machines_ = std::move(machines);
    return {};
  }

  Status Build(const Module& module, CpuOptions options, Machine& machine, Version& version) {
    options.tier = Tier::Compile;
    // The code of those before would be lost.
    options.broken_kernels_fail |= functions_.size() > 1;
    HLO_CHECK_OK(CheckSupported(module, {}));
    std::unique_ptr<Module> copy = module.Clone();
    HLO_CHECK_OK(cpu::Prepare(*copy, options));
    HLO_CHECK_OK(CheckLoops(*copy));
    HLO_TRY(version.program,
            cpu::BuildProgram(std::move(copy), std::move(machine.jit), options, /*compile=*/false));
    version.interface = std::make_unique<CInterface>(*version.program);
    return {};
  }

  /// Callers know one interface.
  static Status CheckAlike(const Function& function, const Module& module) {
    const auto written = [](const Version& version) {
      std::vector<int64_t> arguments;
      for (const cpu::CArray& result : version.interface->results()) arguments.push_back(result.argument);
      return arguments;
    };
    for (const Version& version : function.versions)
      if (written(version) != written(function.versions.front()))
        return Error("unsupported-ahead-of-time", module.entry()->root()->loc(),
                     "which results are written over arguments depends on the processor");
    return {};
  }

  /// Of all that the header has of a function.
  Status TakeNames(const Function& function) {
    const CInterface& interface = *function.versions.front().interface;
    for (const std::string& name :
         cpu::NamesOf(function.symbol, interface.arguments().size(), interface.results().size())) {
      const auto [entry, is_new] = names_.try_emplace(name, function.symbol);
      if (!is_new)
        return Error("usage-name", {},
                     "the functions '{0}' and '{1}' would both have '{2}' in the header; --entry-name gives "
                     "names",
                     entry->second, function.symbol, name);
    }
    return {};
  }

  Status Complete(Function& function, CodeHost host) {
    std::deque<RoutineMaker> makers;
    for (const Version& version : function.versions) {
      const RoutineMaker& maker = makers.emplace_back(*version.program, *version.interface, host);
      HLO_TRY(const bool needs_host, maker.NeedsHost());
      function.has_archive |= needs_host;
      function.has_weights |=
          weights_file_ && llvm::any_of(version.program->buffers, cpu::WeightsWriter::Takes);
    }
    function.has_archive |= function.has_weights;
    for (size_t v = 0; v < machines_.size(); ++v) {
      Version& version = function.versions[v];
      const Program& program = *version.program;
      HLO_TRY(Routines routines, makers[v].Make(/*kernels=*/function.has_archive));
      version.routines = std::move(routines.numbers);
      version.entry = version.interface->EntryFor(routines.slots);
      version.entry.symbol = function.symbol;
      version.entry.version = v;
      if (!function.has_archive) continue;
      version.steps = cpu::WriteHostSteps(*program.module, program.buffers, routines.host.steps,
                                          cpu::ProductTarget(machines_[v].machine).rates);
      version.entry.archive = {llvm::arrayRefFromStringRef(version.steps),
                               version.interface->temp_bytes(),
                               std::move(routines.host.kernels),
                               {}};
    }
    return {};
  }

  void TakeWeights(AheadOfTime& result) {
    if (!weights_file_) return;
    cpu::WeightsWriter weights;
    const auto for_each = [&](auto&& does) {
      for (Function& function : functions_)
        if (function.has_weights)
          for (Version& version : function.versions) does(version.entry);
    };
    for_each([&](EntryPoint& entry) { weights.Take(entry); });
    result.weights = weights.Finish();
    for_each([&](EntryPoint& entry) { entry.archive->weights = {weights.bytes(), weights.hash()}; });
  }

  bool weights_file_;
  std::vector<Machine> machines_;
  std::deque<Function> functions_;
  llvm::StringMap<std::string> names_;  // in the header, and the functions that have them
};

AheadOfTimeCompiler::AheadOfTimeCompiler(bool weights_file) : state_(std::make_unique<State>(weights_file)) {}
AheadOfTimeCompiler::~AheadOfTimeCompiler() = default;
Status AheadOfTimeCompiler::Add(const Module& module, llvm::ArrayRef<CpuOptions> versions,
                                llvm::StringRef symbol) {
  return state_->Add(module, versions, symbol);
}
Result<AheadOfTime> AheadOfTimeCompiler::Finish() { return state_->Finish(); }

}  // namespace hlo

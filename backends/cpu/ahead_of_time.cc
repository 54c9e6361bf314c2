#include "backends/cpu/ahead_of_time.h"

#include "backends/cpu/build.h"
#include "backends/cpu/c_header.h"
#include "backends/cpu/host_steps.h"
#include "backends/cpu/machine.h"
#include "backends/cpu/prepare.h"
#include "backends/cpu/product_step.h"
#include "backends/cpu/routine_step.h"
#include "backends/cpu/weights.h"
#include "backends/run_devices.h"
#include "ir/print.h"
#include "llvm/Object/ObjectFile.h"

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

  Status Add(const Module& module, const CpuOptions& options, llvm::StringRef symbol) {
    if (!symbol.empty() && cpu::CIdentifier(symbol) != symbol)
      return Error("usage-option", {}, "option '--entry-name': '{0}' is no identifier of C", symbol);
    const std::string name = symbol.empty() ? cpu::CIdentifier(module.name()) : symbol.str();
    if (llvm::any_of(functions_, [&](const Function& f) { return f.entry.symbol == name; }))
      return Error("usage-name", {}, "two functions of the object are called '{0}'; --entry-name gives names",
                   name);
    for (const Instruction* parameter : module.entry()->parameters()) HLO_CHECK_OK(CheckSizes(*parameter));
    HLO_CHECK_OK(CheckSizes(*module.entry()->root()));
    if (jit_ == nullptr) {
      HLO_TRY(machine_, cpu::MachineFor(options.cpu, options.features, /*runs_here=*/false, options.triple));
      jit_ = std::make_unique<cpu::Jit>(machine_);
      jit_->KeepTogether();
    }
    Function& function = functions_.emplace_back();
    HLO_TRY(function.program, Build(module, options));
    function.interface = std::make_unique<CInterface>(*function.program);
    Status made = Complete(function, options.host);
    jit_ = std::move(function.program->jit);
    function.entry.symbol = name;
    return made;
  }

  Result<AheadOfTime> Finish() {
    AheadOfTime result;
    cpu::WeightsWriter weights;
    std::vector<cpu::Jit::Entry> entries;
    for (Function& function : functions_) {
      if (function.has_weights) weights.Take(function.entry);
      entries.push_back({&function.entry, function.routines});
    }
    if (weights_file_) result.weights = weights.Finish();
    for (Function& function : functions_)
      if (function.has_weights) function.entry.archive->weights = {weights.bytes(), weights.hash()};
    HLO_TRY(result.object, jit_->MakeObject(entries));
    cpu::CObject object;
    object.machine = &machine_;
    HLO_TRY(object.symbols_needed, SymbolsNeeded(result.object));
    for (const Function& function : functions_)
      object.functions.push_back({function.interface.get(), function.entry.symbol,
                                  function.program->module->name().str(), function.entry.archive.has_value(),
                                  function.has_weights});
    result.header = cpu::HeaderOf(object);
    result.description = cpu::DescriptionOf(object);
    return result;
  }

 private:
  struct Function {
    std::unique_ptr<Program> program;
    std::unique_ptr<CInterface> interface;
    std::vector<int32_t> routines;
    EntryPoint entry;
    std::string steps;  // of its host
    bool has_weights = false;
  };

  Result<std::unique_ptr<Program>> Build(const Module& module, CpuOptions options) {
    options.tier = Tier::Compile;
    // The code of those before would be lost.
    options.broken_kernels_fail |= functions_.size() > 1;
    HLO_CHECK_OK(CheckSupported(module, {}));
    std::unique_ptr<Module> copy = module.Clone();
    HLO_CHECK_OK(cpu::Prepare(*copy, options));
    HLO_CHECK_OK(CheckLoops(*copy));
    return cpu::BuildProgram(std::move(copy), std::move(jit_), options, /*compile=*/false);
  }

  Status Complete(Function& function, CodeHost host) {
    const Program& program = *function.program;
    const RoutineMaker maker(program, *function.interface, host);
    HLO_TRY(bool has_host, maker.NeedsHost());
    function.has_weights = weights_file_ && llvm::any_of(program.buffers, cpu::WeightsWriter::Takes);
    has_host |= function.has_weights;
    HLO_TRY(Routines routines, maker.Make(/*kernels=*/has_host));
    function.routines = std::move(routines.numbers);
    function.entry = function.interface->EntryFor(routines.slots);
    if (!has_host) return {};
    function.steps = cpu::WriteHostSteps(*program.module, program.buffers, routines.host.steps,
                                         cpu::ProductTarget(machine_).rates);
    function.entry.archive = {llvm::arrayRefFromStringRef(function.steps),
                              function.interface->temp_bytes(),
                              std::move(routines.host.kernels),
                              {}};
    return {};
  }

  bool weights_file_;
  cpu::Machine machine_;
  std::unique_ptr<cpu::Jit> jit_;  // between functions, which share it
  std::deque<Function> functions_;
};

AheadOfTimeCompiler::AheadOfTimeCompiler(bool weights_file) : state_(std::make_unique<State>(weights_file)) {}
AheadOfTimeCompiler::~AheadOfTimeCompiler() = default;
Status AheadOfTimeCompiler::Add(const Module& module, const CpuOptions& options, llvm::StringRef symbol) {
  return state_->Add(module, options, symbol);
}
Result<AheadOfTime> AheadOfTimeCompiler::Finish() { return state_->Finish(); }

}  // namespace hlo

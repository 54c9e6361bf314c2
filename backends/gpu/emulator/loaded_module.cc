#include "backends/gpu/emulator/loaded_module.h"

#include "backends/gpu/emulator/emit.h"
#include "backends/gpu/emulator/host_code.h"
#include "backends/llvm/deferred.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/MathExtras.h"

namespace hlo::gpu {
namespace {

using ptx::Space;

/// Bytes of a variable whose initialiser names addresses.
void Relocate(const ptx::Variable& variable, uint8_t* bytes, const Layout& layout) {
  for (const ptx::Variable::Pointer& pointer : variable.pointers) {
    uint64_t address = static_cast<uint64_t>(pointer.addend);
    if (const ptx::Variable* to = pointer.variable) {
      address += to->space == Space::Global ? layout.global.lookup(to) : to->offset;
      if (pointer.generic && to->space == Space::Const) address += layout.const_base;
    }
    for (unsigned i = 0; i < pointer.bytes; ++i)
      bytes[pointer.at + i] = static_cast<uint8_t>(address >> (8 * i + pointer.shift));
  }
}

}  // namespace

#if defined(__clang__)
[[clang::no_sanitize("function")]]
#endif
void RunKernel(KernelCode* code, Thread* thread) {
  code(thread);
}

LoadedModule::LoadedModule(std::unique_ptr<State> state) : state_(std::move(state)) {}
LoadedModule::~LoadedModule() {
  for (const uint64_t address : state_->allocations) state_->device->memory().Release(address);
}

const ptx::Module& LoadedModule::module() const { return *state_->module; }

std::optional<std::pair<uint64_t, uint64_t>> LoadedModule::FindVariable(llvm::StringRef name) const {
  for (const ptx::Variable& variable : state_->module->variables) {
    if (variable.name != name || variable.external) continue;
    if (variable.space == Space::Global) return std::pair(state_->global.lookup(&variable), variable.size);
    if (variable.space == Space::Const) return std::pair(state_->const_base + variable.offset, variable.size);
  }
  return std::nullopt;
}

Result<std::unique_ptr<LoadedModule>> LoadedModule::Load(std::shared_ptr<const ptx::Module> module,
                                                         Device& device) {
  auto state = std::make_unique<State>();
  state->module = std::move(module);
  state->device = &device;
  auto loaded = std::unique_ptr<LoadedModule>(new LoadedModule(std::move(state)));
  State& s = *loaded->state_;
  HLO_CHECK_OK(PlaceVariables(s));
  HLO_CHECK_OK(Compile(s, nullptr));
  return loaded;
}

Status LoadedModule::PlaceVariables(State& s) {
  DeviceMemory& memory = s.device->memory();
  const auto allocate = [&](uint64_t bytes) -> Result<uint64_t> {
    const auto address = memory.Allocate(bytes);
    if (!address)
      return Error("limit-memory", {}, "the device has no memory for {0} bytes of variables", bytes);
    s.allocations.push_back(*address);
    memory.SetWritten(*address, bytes, true);
    return *address;
  };
  if (s.module->const_bytes != 0) {
    HLO_TRY(s.const_base, allocate(s.module->const_bytes));
  }
  for (const ptx::Variable& variable : s.module->variables)
    if (variable.space == Space::Global && !variable.external) {
      HLO_TRY(s.global[&variable], allocate(variable.size));
    }
  const Layout layout{s.global, s.const_base, 0, false, nullptr};
  for (const ptx::Variable& variable : s.module->variables) {
    const bool constant = variable.space == Space::Const;
    if (variable.external || (!constant && variable.space != Space::Global)) continue;
    const uint64_t address = constant ? s.const_base + variable.offset : s.global[&variable];
    auto* bytes = reinterpret_cast<uint8_t*>(address);  // NOLINT(performance-no-int-to-ptr)
    std::copy(
        variable.init.begin(),
        variable.init.begin() + static_cast<int64_t>(std::min<uint64_t>(variable.init.size(), variable.size)),
        bytes);
    Relocate(variable, bytes, layout);
  }
  return {};
}

KernelCode* LoadedModule::CodeOf(State& s, const ptx::Function& entry,
                                 std::chrono::steady_clock::duration more) {
  // About what it takes to compile a kernel well.
  constexpr std::chrono::milliseconds kLong{30};
  State::Hot& hot = s.hot[&entry];
  if (hot.kernel != nullptr) return hot.kernel;
  const bool was_long = hot.spent > kLong;
  hot.spent += more;
  if (hot.spent > kLong && !was_long) (void)Compile(s, &entry);  // without it goes on as before
  return hot.kernel != nullptr ? hot.kernel : s.code.Of(entry.name);
}

Status LoadedModule::Compile(State& s, const ptx::Function* only) {
  // Code from the cache comes without anything of LLVM's having run.
  codegen::RunDeferredInitializers();
  llvm::LLVMContext context;
  llvm::Module code("ptx", context);
  HLO_CHECK_OK(PrepareForHost(code));
  for (const ptx::Function& function : s.module->functions) {
    if (!function.defined || (only != nullptr && function.entry && &function != only)) continue;
    const DeviceOptions& options = s.device->options();
    const bool unwatched = !options.count && !options.check_races;
    const Layout layout{s.global, s.const_base, DynamicSharedOffset(*s.module, function), options.count,
                        unwatched ? &s.device->memory() : nullptr};
    HLO_CHECK_OK(FunctionEmitter(code, function, layout, s.sites).Emit());
  }
  HostCode made;
  HLO_TRY(const std::string object, MakeHostObject(code, /*quick=*/only == nullptr));
  HLO_TRY(const codegen::CodeImage image, codegen::LinkObjects({object}, made.functions));
  HLO_TRY(made.image, codegen::LoadedCode::Load(image));
  if (only == nullptr) {
    s.code = std::move(made);
    return {};
  }
  State::Hot& hot = s.hot[only];
  hot.code = std::move(made);
  hot.kernel = hot.code.Of(only->name);
  return {};
}

uint64_t DynamicSharedOffset(const ptx::Module& module, const ptx::Function&) {
  // One place for all functions, which may call each other: behind the most that any has.
  uint64_t end = module.shared_bytes, align = 16;
  for (const ptx::Function& function : module.functions) end = std::max(end, function.shared_bytes);
  for (const ptx::Variable& variable : module.variables)
    if (variable.space == Space::Shared && variable.external) align = std::max(align, variable.align);
  return llvm::alignTo(end, align);
}

}  // namespace hlo::gpu

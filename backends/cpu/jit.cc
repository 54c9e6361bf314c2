#include "backends/cpu/jit.h"

#include <deque>

#include "backends/llvm/emit_kernel.h"
#include "backends/llvm/emit_routine.h"
#include "backends/llvm/types.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/xxhash.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"

namespace hlo::cpu {
namespace {

void InitializeLlvm() {
  static const bool done = [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    return true;
  }();
  (void)done;
}

/// Only objects are linked: LLJIT need not find out about the machine, nor make a code generator for it.
class NoCompiler final : public llvm::orc::IRCompileLayer::IRCompiler {
 public:
  NoCompiler() : IRCompiler(llvm::orc::IRSymbolMapper::ManglingOptions()) {}
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> operator()(llvm::Module&) override {
    return llvm::createStringError("there is nothing to compile");
  }
};

Diagnostic CompileError(const std::string& why) { return MakeError("compile-kernels", {}, "LLVM: {0}", why); }

}  // namespace

class Jit::State {
 public:
  State(Machine machine, CacheKey key, ObjectCache cache)
      : machine_(std::move(machine)), find_key_(std::move(key)), cache_(std::move(cache)) {}

  Result<int32_t> Add(kernel::Kernel kernel) {
    std::string text;
    llvm::raw_string_ostream os(text);
    kernel::Print(os, kernel, /*with_name=*/false);
    const int32_t number = Number(text, "k", [&](std::string name) {
      kernel.name = std::move(name);
      return std::move(kernel);
    });
    const auto n = static_cast<size_t>(number);
    ++uses_[n];
    if (!kernels_[n].failure.empty()) return Error("kernel-unsupported", {}, "{0}", kernels_[n].failure);
    return number;
  }

  int32_t AddRoutine(const kernel::Routine& routine) {
    const int32_t number =
        Number("routine\n" + ToString(routine), "r", [&](const std::string&) { return routine; });
    ++uses_[static_cast<size_t>(number)];
    ForEachCall(routine.body,
                [&](const kernel::CallStep& call) { --uses_[static_cast<size_t>(call.kernel)]; });
    return number;
  }

  Status Compile() {
    if (replaying_ && kernels_.size() != cached_.kernels.size()) {
      replaying_ = false;
      EmitWaiting();
    }
    HLO_CHECK_OK(broken_);
    from_cache_ = replaying_;
    if (llvm::all_of(kernels_, [](const auto& kernel) { return !kernel.failure.empty(); })) return {};
    std::string object = replaying_ ? std::move(cached_.object) : "";
    if (!replaying_) {
      HLO_TRY(object, GenerateCode());
      if (!key_.empty()) cache_.Store(key_, {kernels_, object});
    }
    return Link(object);
  }

  Result<std::string> Print(CodeForm form, const std::map<int32_t, std::string>& headings) {
    HLO_CHECK_OK(broken_);
    HLO_CHECK_OK(Start());
    std::string result;
    llvm::raw_string_ostream os(result);
    std::vector<llvm::StringRef> texts(kernels_.size());
    for (const auto& entry : numbers_) texts[static_cast<size_t>(entry.second)] = entry.first();
    for (size_t k = 0; k < kernels_.size(); ++k) {
      const std::string& name = names_[k];
      const auto heading = headings.find(static_cast<int32_t>(k));
      llvm::Function* function = module_->getFunction(name);
      if (heading == headings.end()) {
        uses_[k] = 0;
      } else if (form == CodeForm::KernelIr) {
        const auto [kind, text] = texts[k].split(texts[k].starts_with("routine") ? "routine" : "kernel");
        os << "// " << heading->second << '\n'
           << (name[0] == 'r' ? "routine " : "kernel ") << name << text << '\n';
      } else if (form == CodeForm::LlvmIr) {
        os << "; " << heading->second << '\n' << *function << '\n';
      } else if (form == CodeForm::Assembly) {
        os << "# " << name << ": " << heading->second << '\n';
      }
    }
    if (form == CodeForm::KernelIr || form == CodeForm::LlvmIr) return result;
    HLO_TRY(const std::string code,
            GenerateCode(form == CodeForm::Object ? llvm::CodeGenFileType::ObjectFile
                                                  : llvm::CodeGenFileType::AssemblyFile));
    return result + code;
  }

  [[nodiscard]] const KernelFn* Function(int32_t kernel) const {
    return &functions_[static_cast<size_t>(kernel)];
  }
  [[nodiscard]] const Machine& machine() const { return machine_; }
  [[nodiscard]] size_t kernel_count() const {
    return static_cast<size_t>(
        llvm::count_if(kernels_, [](const auto& kernel) { return kernel.failure.empty(); }));
  }
  [[nodiscard]] bool from_cache() const { return from_cache_; }
  [[nodiscard]] const std::string& remark() const { return remark_; }

 private:
  using Waiting = std::variant<kernel::Kernel, kernel::Routine>;

  /// The number of what has this text; if it is new, what `make` says of its name waits for emission.
  int32_t Number(const std::string& text, const char* prefix,
                 llvm::function_ref<Waiting(std::string name)> make) {
    const auto [it, added] = numbers_.try_emplace(text, static_cast<int32_t>(kernels_.size()));
    if (added) {
      if (kernels_.empty()) LoadCache();
      const llvm::XXH128_hash_t hash = llvm::xxh3_128bits(llvm::arrayRefFromStringRef(text));
      names_.push_back(prefix + std::to_string(kernels_.size()));
      kernels_.push_back({{hash.low64, hash.high64}, ""});
      functions_.emplace_back();
      uses_.push_back(0);
      waiting_.push_back(make(names_.back()));
      Admit(kernels_.size() - 1);
    }
    return it->second;
  }

  void LoadCache() {
    if (find_key_) key_ = find_key_();
    if (key_.empty()) return;
    if (auto entry = cache_.Load(key_, remark_)) {
      cached_ = std::move(*entry);
      replaying_ = true;
    }
  }

  /// Says whether the newest kernel has code: as the cache remembers, as long as it knows all kernels so far.
  void Admit(size_t number) {
    if (replaying_) {
      if (number < cached_.kernels.size() &&
          cached_.kernels[number].text_hash == kernels_[number].text_hash) {
        kernels_[number].failure = cached_.kernels[number].failure;
        return;
      }
      replaying_ = false;
    }
    EmitWaiting();
  }

  void EmitWaiting() {
    if (broken_ = Start(); !broken_) return;  // Compile() tells
    for (const Waiting& waiting : waiting_) std::visit([&](const auto& w) { Emit(w); }, waiting);
    waiting_.clear();
  }

  void Emit(const kernel::Kernel& kernel) {
    CachedObject::Kernel& entry = kernels_[emitted_++];
    const Status status = codegen::EmitKernel(kernel, *module_);
    llvm::Function* function = module_->getFunction(kernel.name);
    if (status) return SetTarget(*function);
    if (function != nullptr) function->eraseFromParent();
    entry.failure = status.error().message;
  }

  void Emit(const kernel::Routine& routine) {
    llvm::Function* function =
        codegen::EmitRoutine(routine, names_[emitted_++], *module_,
                             [&](int32_t kernel) { return names_[static_cast<size_t>(kernel)]; });
    SetTarget(*function);
    codegen::OptimizeRoutine(*function, *target_);
  }

  void SetTarget(llvm::Function& function) const {
    function.addFnAttr("target-cpu", machine_.cpu);
    function.addFnAttr("target-features", machine_.features);
    function.addFnAttr("prefer-vector-width", "512");
  }

  /// Functions that only routines call, or nobody.
  void HideUnused() {
    for (size_t i = kernels_.size(); i-- > 0;) {
      llvm::Function* function = module_->getFunction(names_[i]);
      if (function == nullptr || uses_[i] > 0) continue;
      function->setLinkage(llvm::Function::InternalLinkage);
      if (function->use_empty()) function->eraseFromParent();
    }
  }

  Result<std::string> GenerateCode(llvm::CodeGenFileType type = llvm::CodeGenFileType::ObjectFile) {
    HideUnused();
    // Functions that kernels share were made on the way.
    for (llvm::Function& function : *module_)
      if (!function.isDeclaration() && !function.hasFnAttribute("target-cpu")) SetTarget(function);
#ifndef NDEBUG
    if (llvm::verifyModule(*module_, &llvm::errs())) llvm::report_fatal_error("invalid LLVM IR");
#endif
    llvm::SmallVector<char, 0> object;
    llvm::raw_svector_ostream os(object);
    llvm::legacy::PassManager passes;
    if (target_->addPassesToEmitFile(passes, os, nullptr, type))
      return Error(CompileError("the target cannot emit this form of code"));
    passes.run(*module_);
    module_.reset();
    return std::string(object.begin(), object.end());
  }

  Status Link(llvm::StringRef object) {
    InitializeLlvm();
    llvm::orc::JITTargetMachineBuilder target((llvm::Triple(llvm::sys::getProcessTriple())));
    auto jit = llvm::orc::LLJITBuilder()
                   .setJITTargetMachineBuilder(std::move(target))
                   .setCompileFunctionCreator([](const llvm::orc::JITTargetMachineBuilder&) {
                     return std::make_unique<NoCompiler>();
                   })
                   .create();
    if (!jit) return Error(CompileError(llvm::toString(jit.takeError())));
    jit_ = std::move(*jit);
    if (auto error = jit_->addObjectFile(llvm::MemoryBuffer::getMemBufferCopy(object)))
      return Error(CompileError(llvm::toString(std::move(error))));
    for (size_t i = 0; i < kernels_.size(); ++i) {
      if (!kernels_[i].failure.empty() || uses_[i] == 0) continue;
      auto address = jit_->lookup(names_[i]);
      if (!address) return Error(CompileError(llvm::toString(address.takeError())));
      functions_[i] = KernelFn(address->toPtr<KernelFn::Code*>());
    }
    return {};
  }

  /// LLVM is started by the first kernel that the cache does not have.
  Status Start() {
    if (module_) return {};
    InitializeLlvm();
    context_ = std::make_unique<llvm::LLVMContext>();
    module_ = std::make_unique<llvm::Module>("kernels", *context_);
    const std::string triple = llvm::sys::getProcessTriple();
    std::string why;
    const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, why);
    if (target == nullptr) return Error(CompileError(why));
    llvm::TargetOptions options;
    target_.reset(target->createTargetMachine(triple, machine_.cpu, machine_.features, options,
                                              llvm::Reloc::PIC_, llvm::CodeModel::Small,
                                              llvm::CodeGenOptLevel::Less, /*JIT=*/true));
    module_->setTargetTriple(triple);
    module_->setDataLayout(target_->createDataLayout());
    const llvm::MCSubtargetInfo& has = *target_->getMCSubtargetInfo();
    codegen::SetVectorUnit(*module_, has.checkFeatures("+avx512f") ? codegen::VectorUnit::Avx512
                                     : has.checkFeatures("+avx2")  ? codegen::VectorUnit::Avx2
                                                                   : codegen::VectorUnit::Common);
    return {};
  }

  Machine machine_;
  CacheKey find_key_;
  std::string key_;  // empty: no cache
  ObjectCache cache_;
  CachedObject cached_;     // while replaying
  bool replaying_ = false;  // all kernels so far are those of the cached object
  bool from_cache_ = false;
  std::string remark_;
  std::unique_ptr<llvm::LLVMContext> context_;
  std::unique_ptr<llvm::Module> module_;
  std::unique_ptr<llvm::TargetMachine> target_;
  std::unique_ptr<llvm::orc::LLJIT> jit_;
  llvm::StringMap<int32_t> numbers_;  // by text
  std::vector<CachedObject::Kernel> kernels_;
  std::vector<std::string> names_;  // of their functions
  std::vector<int32_t> uses_;       // those of a number that need its function's address
  std::deque<Waiting> waiting_;     // not in module_ yet
  size_t emitted_ = 0;
  Status broken_;  // there is no code generator
  std::deque<KernelFn> functions_;
};

Jit::Jit(Machine machine, CacheKey cache_key, ObjectCache cache)
    : state_(std::make_unique<State>(std::move(machine), std::move(cache_key), std::move(cache))) {}
Jit::~Jit() = default;
Result<int32_t> Jit::Add(kernel::Kernel kernel) { return state_->Add(std::move(kernel)); }
int32_t Jit::AddRoutine(const kernel::Routine& routine) { return state_->AddRoutine(routine); }
Status Jit::Compile() { return state_->Compile(); }
Result<std::string> Jit::Print(CodeForm form, const std::map<int32_t, std::string>& headings) {
  return state_->Print(form, headings);
}
const KernelFn* Jit::FunctionPlace(int32_t kernel) const { return state_->Function(kernel); }
const Machine& Jit::machine() const { return state_->machine(); }
size_t Jit::kernel_count() const { return state_->kernel_count(); }
bool Jit::from_cache() const { return state_->from_cache(); }
const std::string& Jit::cache_remark() const { return state_->remark(); }

}  // namespace hlo::cpu

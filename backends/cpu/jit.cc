#include "backends/cpu/jit.h"

#include <deque>

#include "backends/cpu/code_generator.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/xxhash.h"

namespace hlo::cpu {

class Jit::State {
 public:
  State(Machine machine, CacheKey key, ObjectCache cache)
      : machine_(std::move(machine)), find_key_(std::move(key)), cache_(std::move(cache)) {}

  Result<int32_t> Add(kernel::Kernel kernel) {
    std::string text;
    llvm::raw_string_ostream os(text);
    kernel::Print(os, kernel, /*with_name=*/false);
    const int32_t number = Number(text, "k", [&] { return std::move(kernel); });
    const auto n = static_cast<size_t>(number);
    ++uses_[n];
    if (!kernels_[n].failure.empty()) return Error("kernel-unsupported", {}, "{0}", kernels_[n].failure);
    return number;
  }

  int32_t AddRoutine(const kernel::Routine& routine) {
    const int32_t number = Number("routine\n" + ToString(routine), "r", [&] { return routine; });
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
    if (!replaying_) {
      HLO_CHECK_OK(GenerateCode());
      if (!key_.empty()) cache_.Store(key_, {kernels_, cached_.image});
    }
    HLO_TRY(code_, LoadedCode::Load(cached_.image));
    for (size_t i = 0; i < kernels_.size(); ++i) {
      const uint64_t place = replaying_ ? cached_.kernels[i].place : kernels_[i].place;
      if (place == CachedObject::kNoCode || uses_[i] == 0) continue;
      functions_[i] = KernelFn(reinterpret_cast<KernelFn::Code*>(code_.begin() + place));
    }
    cached_ = {};
    return {};
  }

  void KeepTogether() { together_ = true; }

  Result<std::string> Print(CodeForm form, const std::map<int32_t, std::string>& headings) {
    HLO_CHECK_OK(broken_);
    std::string result;
    llvm::raw_string_ostream os(result);
    std::vector<llvm::StringRef> texts(kernels_.size());
    for (const auto& entry : numbers_) texts[static_cast<size_t>(entry.second)] = entry.first();
    for (size_t k = 0; k < kernels_.size(); ++k) {
      const std::string& name = names_[k];
      const auto heading = headings.find(static_cast<int32_t>(k));
      if (heading == headings.end()) {
        uses_[k] = 0;
      } else if (form == CodeForm::KernelIr) {
        const auto [kind, text] = texts[k].split(texts[k].starts_with("routine") ? "routine" : "kernel");
        os << "// " << heading->second << '\n'
           << (name[0] == 'r' ? "routine " : "kernel ") << name << text << '\n';
      } else if (form == CodeForm::LlvmIr) {
        os << "; " << heading->second << '\n' << generator_->PrintFunction(k) << '\n';
      } else if (form == CodeForm::Assembly) {
        os << "# " << name << ": " << heading->second << '\n';
      }
    }
    if (form == CodeForm::KernelIr || form == CodeForm::LlvmIr) return result;
    HLO_TRY(const auto code, GenerateParts(form == CodeForm::Assembly));
    for (const std::string& part : code) os << part;
    return result;
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
  /// The number of what has this text; if it is new, what `make` says of its name waits for emission.
  int32_t Number(const std::string& text, const char* prefix, llvm::function_ref<CodeSource()> make) {
    const auto [it, added] = numbers_.try_emplace(text, static_cast<int32_t>(kernels_.size()));
    if (added) {
      if (kernels_.empty()) LoadCache();
      const llvm::XXH128_hash_t hash = llvm::xxh3_128bits(llvm::arrayRefFromStringRef(text));
      names_.push_back(prefix + std::to_string(kernels_.size()));
      kernels_.push_back({{hash.low64, hash.high64}, "", CachedObject::kNoCode});
      functions_.emplace_back();
      uses_.push_back(0);
      waiting_.push_back(make());
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
    if (!generator_) generator_ = std::make_unique<CodeGenerator>(machine_, together_);
    for (CodeSource& waiting : waiting_) {
      const Status status = generator_->Add(std::move(waiting), names_[emitted_]);
      if (!status && status.error().id == "kernel-unsupported")
        kernels_[emitted_].failure = status.error().message;
      else if (!status)
        broken_ = status;  // Compile() tells
      ++emitted_;
    }
    waiting_.clear();
  }

  Result<std::vector<std::string>> GenerateParts(bool assembly) {
    if (!generator_) return std::vector<std::string>();
    return generator_->Generate(assembly, [&](size_t number) { return uses_[number] > 0; });
  }

  Status GenerateCode() {
    HLO_TRY(const auto objects, GenerateParts(/*assembly=*/false));
    llvm::StringMap<uint64_t> functions;
    HLO_TRY(cached_.image, LinkObjects(objects, functions));
    for (size_t i = 0; i < kernels_.size(); ++i)
      if (const auto it = functions.find(names_[i]); it != functions.end()) kernels_[i].place = it->second;
    return {};
  }

  Machine machine_;
  CacheKey find_key_;
  std::string key_;  // empty: no cache
  ObjectCache cache_;
  CachedObject cached_;
  bool replaying_ = false;  // all kernels so far are those of the cached object
  bool from_cache_ = false;
  std::string remark_;
  bool together_ = false;
  std::unique_ptr<CodeGenerator> generator_;  // from the first kernel on that the cache does not have
  LoadedCode code_;
  llvm::StringMap<int32_t> numbers_;  // by text
  std::vector<CachedObject::Kernel> kernels_;
  std::vector<std::string> names_;  // of their functions
  std::vector<int32_t> uses_;       // those of a number that need its function's address
  std::deque<CodeSource> waiting_;  // for generator_
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
void Jit::KeepTogether() { state_->KeepTogether(); }
Result<std::string> Jit::Print(CodeForm form, const std::map<int32_t, std::string>& headings) {
  return state_->Print(form, headings);
}
const KernelFn* Jit::FunctionPlace(int32_t kernel) const { return state_->Function(kernel); }
const Machine& Jit::machine() const { return state_->machine(); }
size_t Jit::kernel_count() const { return state_->kernel_count(); }
bool Jit::from_cache() const { return state_->from_cache(); }
const std::string& Jit::cache_remark() const { return state_->remark(); }

}  // namespace hlo::cpu

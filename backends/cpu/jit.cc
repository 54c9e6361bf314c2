#include "backends/cpu/jit.h"

#include <deque>

#include "backends/compile/kernel_numbers.h"
#include "backends/cpu/code_generator.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/LLVMContext.h"

namespace hlo::cpu {

class Jit::State {
 public:
  explicit State(Machine machine) : machine_(std::move(machine)) {}

  Result<int32_t> Add(kernel::Kernel kernel) {
    const auto [number, added] = numbers_.Of(kernel);
    if (added) Generate(std::move(kernel));
    const auto n = static_cast<size_t>(number);
    ++uses_[n];
    if (!failures_[n].empty()) return Decline({}, "{0}", failures_[n]);
    return number;
  }

  int32_t AddRoutine(const kernel::Routine& routine) {
    if (restored_) return code_.routines[routines_++];
    const auto [number, added] = numbers_.Of(routine);
    if (added) Generate(routine);
    ++uses_[static_cast<size_t>(number)];
    ForEachCall(routine.body,
                [&](const kernel::CallStep& call) { --uses_[static_cast<size_t>(call.kernel)]; });
    code_.routines.push_back(number);
    return number;
  }

  Status Compile() {
    HLO_CHECK_OK(broken_);
    code_.places.assign(functions_.size(), CompiledCode::kNoCode);
    if (llvm::all_of(failures_, [](const std::string& failure) { return !failure.empty(); })) return {};
    HLO_CHECK_OK(GenerateCode());
    return Link();
  }

  CompiledCode TakeCode() { return std::move(code_); }

  Status Restore(CompiledCode code) {
    restored_ = true;
    code_ = std::move(code);
    functions_.resize(code_.places.size());
    return code_.image.bytes.empty() ? Status() : Link();
  }

  void KeepTogether(const State* with) {
    together_ = with == nullptr ? std::make_shared<llvm::LLVMContext>() : with->together_;
  }
  [[nodiscard]] bool together() const { return together_ != nullptr; }

  Result<std::string> Print(CodeForm form, const std::map<int32_t, CodeNote>& shown, bool lines) {
    HLO_CHECK_OK(broken_);
    std::string result;
    llvm::raw_string_ostream os(result);
    CodeGenerator::Notes notes;
    notes.lines = lines;
    std::vector<NotedSymbol> symbols;
    for (size_t k = 0; k < functions_.size(); ++k) {
      const auto note = shown.find(static_cast<int32_t>(k));
      if (note == shown.end()) {
        uses_[k] = 0;
      } else if (form == CodeForm::KernelIr) {
        os << "// " << note->second.heading << '\n' << numbers_.TextOf(k) << '\n';
      } else {
        notes.by_number.emplace(k, note->second);
        const std::string& name = numbers_.NameOf(k);
        symbols.push_back({name, SymbolOf(name, note->second), note->second.heading});
      }
    }
    if (form == CodeForm::KernelIr) return result;
    // By CodeForm; the first is no form of code.
    using enum CodeGenerator::Form;
    constexpr CodeGenerator::Form kForms[] = {Object, LlvmBefore, LlvmAfter, Assembly, Object};
    HLO_TRY(const auto code, GenerateParts(kForms[static_cast<size_t>(form)], notes));
    for (const std::string& part : code)
      os << (form == CodeForm::Assembly ? WithHeadings(part, symbols) : part);
    return result;
  }

  /// The functions of C for this machine.
  Result<CodeGenerator*> MakeBodies(llvm::ArrayRef<Entry> entries) {
    HLO_CHECK_OK(broken_);
    assert(together_ && generator_);
    for (const Entry& entry : entries) generator_->AddEntryPoint(*entry.point, entry.routines);
    return generator_.get();
  }

  [[nodiscard]] const KernelFn* Function(int32_t kernel) const {
    return &functions_[static_cast<size_t>(kernel)];
  }
  [[nodiscard]] const Machine& machine() const { return machine_; }

 private:
  /// Gives what was numbered last to the generator.
  void Generate(CodeSource source) {
    functions_.emplace_back();
    uses_.push_back(0);
    std::string& failure = failures_.emplace_back();
    if (!generator_) generator_ = std::make_unique<CodeGenerator>(machine_, together_);
    const Status status = generator_->Add(std::move(source), numbers_.NameOf(functions_.size() - 1));
    if (!status && IsDeclined(status.error()))
      failure = status.error().message;
    else if (!status)
      broken_ = status;  // Compile() tells
  }

  Result<std::vector<std::string>> GenerateParts(CodeGenerator::Form form,
                                                 const CodeGenerator::Notes& notes) {
    if (!generator_) return std::vector<std::string>();
    return generator_->Generate(form, [&](size_t number) { return uses_[number] > 0; }, notes);
  }

  Status GenerateCode() {
    HLO_TRY(const auto objects, GenerateParts(CodeGenerator::Form::Object, {}));
    llvm::StringMap<uint64_t> functions;
    HLO_TRY(code_.image, LinkObjects(objects, functions));
    for (size_t i = 0; i < functions_.size(); ++i)
      if (const auto it = functions.find(numbers_.NameOf(i)); it != functions.end() && uses_[i] > 0)
        code_.places[i] = it->second;
    return {};
  }

  Status Link() {
    HLO_TRY(loaded_, LoadedCode::Load(code_.image));
    for (size_t i = 0; i < functions_.size(); ++i)
      if (code_.places[i] < code_.image.bytes.size())
        functions_[i] = KernelFn(reinterpret_cast<KernelFn::Code*>(loaded_.begin() + code_.places[i]));
    return {};
  }

  Machine machine_;
  std::shared_ptr<llvm::LLVMContext> together_;
  bool restored_ = false;
  size_t routines_ = 0;                       // how many were asked for since then
  std::unique_ptr<CodeGenerator> generator_;  // from the first kernel on
  CompiledCode code_;
  LoadedCode loaded_;
  compile::KernelNumbers numbers_;
  std::vector<std::string> failures_;  // why there is no code; by number, empty if there is
  std::vector<int32_t> uses_;          // those of a number that need its function's address
  Status broken_;                      // there is no code generator
  std::deque<KernelFn> functions_;
};

Jit::Jit(Machine machine) : state_(std::make_unique<State>(std::move(machine))) {}
Jit::~Jit() = default;
Result<int32_t> Jit::Add(kernel::Kernel kernel) { return state_->Add(std::move(kernel)); }
int32_t Jit::AddRoutine(const kernel::Routine& routine) { return state_->AddRoutine(routine); }
Status Jit::Compile() { return state_->Compile(); }
CompiledCode Jit::TakeCode() { return state_->TakeCode(); }
Status Jit::Restore(CompiledCode code) { return state_->Restore(std::move(code)); }
void Jit::KeepTogether(const Jit* with) {
  state_->KeepTogether(with == nullptr ? nullptr : with->state_.get());
}
Result<std::string> Jit::Print(CodeForm form, const std::map<int32_t, CodeNote>& shown, bool lines) {
  return state_->Print(form, shown, lines);
}
Result<std::string> Jit::MakeObject(llvm::ArrayRef<Version> versions, const codegen::Front& front) {
  std::vector<CodeGenerator*> generators;
  for (const Version& version : versions) {
    HLO_TRY(CodeGenerator* const generator, version.code->state_->MakeBodies(version.entries));
    generators.push_back(generator);
  }
  return CodeGenerator::GenerateObject(generators, front);
}
const KernelFn* Jit::FunctionPlace(int32_t kernel) const { return state_->Function(kernel); }
std::unique_ptr<Jit> Jit::Fresh() const {
  auto fresh = std::make_unique<Jit>(machine());
  if (state_->together()) fresh->KeepTogether(this);
  return fresh;
}
const Machine& Jit::machine() const { return state_->machine(); }

}  // namespace hlo::cpu

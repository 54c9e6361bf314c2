#include "backends/compile/program_cache.h"

#include "ir/binary.h"
#include "ir/support/binary.h"
#include "ir/support/build_id.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/BLAKE3.h"

namespace hlo::compile {
namespace {

/// Bytes of a literal from which on an entry refers to the module's.
constexpr size_t kLarge = 256;

/// The module as bytes; of large literals a hash that nobody finds two of, as another literal would give
/// wrong results.
std::string ModuleText(const Module& module) {
  std::string hashes;
  uint64_t count = 0;
  BinaryLiterals literals;
  literals.number_of = [&](const LiteralPtr& literal) -> std::optional<uint64_t> {
    if (literal->byte_size() < kLarge) return std::nullopt;
    for (const uint8_t byte : llvm::BLAKE3::hash(llvm::ArrayRef(literal->data(), literal->byte_size())))
      hashes += static_cast<char>(byte);
    return count++;
  };
  return ToBinary(module, &literals) + hashes;
}

}  // namespace

std::optional<std::string> KeyOfPasses(const PassSelection& selection, const RewriteControls& controls,
                                       llvm::ArrayRef<PipelineItem> pipeline) {
  const bool limited = selection.pass_limit >= 0 || !selection.start_from.empty() || !controls.fuel.empty() ||
                       !controls.rule_limit.empty() || controls.on_rewrite;
  if (limited) return std::nullopt;
  std::vector<std::string> names;
  const auto add = [&](char what, const llvm::StringSet<>& set) {
    for (const auto& entry : set) names.push_back(what + entry.first().str());
  };
  add('d', selection.disabled);
  add('e', selection.enabled_only);
  add('r', selection.required);
  add('D', controls.disabled_rules);
  add('E', controls.enabled_rules);
  add('t', controls.execution_threads);
  llvm::sort(names);
  BinaryWriter key;
  for (const bool choice :
       {controls.policy.fast_math, controls.policy.strict_fp, controls.policy.deterministic})
    key.Number(choice ? 1 : 0);
  key.Text(PipelineText(pipeline));
  for (const std::string& name : names) key.Text(name);
  return std::move(key).Take();
}

ProgramCache::ProgramCache(const Module& module, llvm::StringRef key, const ProgramStore& store)
    : module_(module), own_(store.own) {
  if (store.on_disk) cache_.emplace(store.folder);
  const llvm::StringRef build = BuildId();
  if (key.empty() || build.empty()) return;
  BinaryWriter whole;
  whole.Text(build);
  whole.Text(key);
  whole.Text(ModuleText(module));
  key_ = std::move(whole).Take();
}

std::vector<LiteralPtr> ProgramCache::LargeLiterals() const {
  std::vector<LiteralPtr> literals;
  for (const auto& computation : module_.computations())
    for (const Instruction* constant : computation->InstructionsOf(OpKind::Constant))
      if (const LiteralPtr& literal = constant->attr<ConstantAttrs>().literal;
          literal != nullptr && literal->byte_size() >= kLarge)
        literals.push_back(literal);
  return literals;
}

std::optional<CachedProgram> ProgramCache::Find(std::string& remark) const {
  if (own_ != nullptr && !own_->empty())
    if (std::optional<CachedProgram> entry = FromBytes(key_, *own_)) return entry;
  std::optional<CachedProgram> entry = cache_ ? cache_->Load(key_, remark) : std::nullopt;
  if (own_ != nullptr) *own_ = entry ? ToBytes(key_, *entry) : "";
  return entry;
}

std::optional<ProgramCache::Entry> ProgramCache::Load(std::string& remark) const {
  if (key_.empty()) return std::nullopt;
  std::optional<CachedProgram> stored = Find(remark);
  if (!stored) return std::nullopt;
  BinaryLiterals literals;
  literals.by_number = [known = LargeLiterals()](uint64_t number) {
    return number < known.size() ? known[number] : nullptr;
  };
  Entry entry{FromBinary(stored->module, module_.sources(), &literals), stored->program, stored->code,
              std::move(stored->file)};
  if (entry.module != nullptr) return entry;
  remark = Unfit();
  return std::nullopt;
}

void ProgramCache::KeepModule(const Module& prepared) {
  if (key_.empty()) return;
  llvm::DenseMap<const Literal*, uint64_t> numbers;
  for (const LiteralPtr& literal : LargeLiterals()) numbers.try_emplace(literal.get(), numbers.size());
  BinaryLiterals literals;
  literals.number_of = [&](const LiteralPtr& literal) -> std::optional<uint64_t> {
    const auto it = numbers.find(literal.get());
    return it == numbers.end() ? std::nullopt : std::optional(it->second);
  };
  prepared_ = ToBinary(prepared, &literals);
}

void ProgramCache::Store(llvm::StringRef program, llvm::StringRef code) const {
  if (key_.empty()) return;
  const CachedProgram entry{prepared_, program, code, nullptr};
  if (own_ != nullptr) *own_ = ToBytes(key_, entry);
  if (cache_) cache_->Store(key_, entry);
}

}  // namespace hlo::compile

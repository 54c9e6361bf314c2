#include "backends/cpu/program_cache.h"

#include <cstdlib>

#include "ir/binary.h"
#include "ir/support/binary.h"
#include "ir/support/build_id.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/BLAKE3.h"

namespace hlo::cpu {
namespace {

/// Bytes of a literal from which on an entry refers to the module's.
constexpr size_t kLarge = 256;

/// The options that change what passes do; nothing if the cache had better be left alone.
std::optional<std::string> PassKey(const CpuOptions& options) {
  const PassSelection& selection = options.selection;
  const RewriteControls& controls = options.controls;
  const bool limited = selection.pass_limit >= 0 || !selection.start_from.empty() || !controls.fuel.empty() ||
                       !controls.rule_limit.empty() || controls.on_rewrite || options.watched;
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
  for (const int64_t number : {int64_t{options.optimization_level}, int64_t{controls.policy.fast_math},
                               int64_t{controls.policy.strict_fp}, int64_t{controls.policy.deterministic},
                               int64_t{options.self_contained}, static_cast<int64_t>(options.tier),
                               std::min(options.executions, CpuOptions::kManyExecutions)})
    key.Number(static_cast<uint64_t>(number));
  key.Text(options.cpu);
  key.Text(options.features);
  key.Text(PipelineText(options.pipeline));
  for (const std::string& name : names) key.Text(name);
  return std::move(key).Take();
}

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

/// What decides which program comes out: the module, the options, the machine, and this program itself, each
/// where it cannot be taken for another. Empty: no cache.
std::string KeyOf(const Module& module, const CpuOptions& options, const Machine& machine) {
  const llvm::StringRef build = BuildId();
  if (!options.cache || options.check_memory || !options.force_path.empty() || build.empty()) return "";
  const std::optional<std::string> passes = PassKey(options);
  if (!passes) return "";
  const char* onednn = std::getenv("HLO_ONEDNN");
  BinaryWriter key;
  for (const llvm::StringRef part :
       {build, llvm::StringRef(*passes), llvm::StringRef(machine.cpu), llvm::StringRef(machine.features),
        llvm::StringRef(onednn == nullptr ? "" : onednn)})
    key.Text(part);
  key.Text(ModuleText(module));
  return std::move(key).Take();
}

}  // namespace

ProgramCache::ProgramCache(const Module& module, const CpuOptions& options, const Machine& machine)
    : module_(module), machine_(machine), key_(KeyOf(module, options, machine)) {}

std::vector<LiteralPtr> ProgramCache::LargeLiterals() const {
  std::vector<LiteralPtr> literals;
  for (const auto& computation : module_.computations())
    for (const Instruction* constant : computation->InstructionsOf(OpKind::Constant))
      if (const LiteralPtr& literal = constant->attr<ConstantAttrs>().literal;
          literal != nullptr && literal->byte_size() >= kLarge)
        literals.push_back(literal);
  return literals;
}

std::unique_ptr<Program> ProgramCache::Load(std::string& remark) const {
  if (key_.empty()) return nullptr;
  std::optional<CachedProgram> entry = cache_.Load(key_, remark);
  if (!entry) return nullptr;
  BinaryLiterals literals;
  literals.by_number = [known = LargeLiterals()](uint64_t number) {
    return number < known.size() ? known[number] : nullptr;
  };
  std::unique_ptr<Module> module = FromBinary(entry->module, module_.sources(), &literals);
  if (module != nullptr)
    if (auto program = LoadProgram(std::move(module), std::make_unique<Jit>(machine_), entry->program,
                                   std::move(entry->code)))
      return program;
  remark = "the entry of this module does not fit it; not used";
  return nullptr;
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

void ProgramCache::Store(Program& program) const {
  CompiledCode code = program.jit->TakeCode();
  if (key_.empty()) return;
  const std::string steps = ToBinary(program);
  cache_.Store(key_, {prepared_, steps, std::move(code), nullptr});
}

}  // namespace hlo::cpu

#include "backends/cpu/program_cache.h"

#include <sys/stat.h>

#include "ir/binary.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/xxhash.h"

namespace hlo::cpu {
namespace {

/// Bytes of a literal from which on an entry refers to the module's.
constexpr size_t kLarge = 256;

std::string HashText(llvm::StringRef bytes) {
  const llvm::XXH128_hash_t hash = llvm::xxh3_128bits(llvm::arrayRefFromStringRef(bytes));
  return llvm::utohexstr(hash.high64, /*LowerCase=*/true, 16) + llvm::utohexstr(hash.low64, true, 16);
}

/// The options that change what passes do; nothing if the cache had better be left alone.
std::optional<std::string> PassKey(const CpuOptions& options) {
  const PassSelection& selection = options.selection;
  const RewriteControls& controls = options.controls;
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
  return llvm::formatv("O{0} {1}{2}{3} {4} {5} {6} {7} {8}", options.optimization_level,
                       controls.policy.fast_math, controls.policy.strict_fp, controls.policy.deterministic,
                       static_cast<int>(options.tier),
                       std::min(options.executions, CpuOptions::kManyExecutions), options.cpu,
                       options.features, llvm::join(names, ","))
      .str();
}

/// The module as bytes, of large literals only hashes: 128 bits of each, as another literal would give wrong
/// results.
std::string ModuleText(const Module& module) {
  std::string high;  // the halves that do not fit a number
  BinaryLiterals literals;
  literals.number_of = [&](const LiteralPtr& literal) -> std::optional<uint64_t> {
    if (literal->byte_size() < kLarge) return std::nullopt;
    const llvm::XXH128_hash_t hash =
        llvm::xxh3_128bits(llvm::ArrayRef(literal->data(), literal->byte_size()));
    high.append(reinterpret_cast<const char*>(&hash.high64), sizeof hash.high64);
    return hash.low64;
  };
  return ToBinary(module, &literals) + high;
}

/// What decides which program comes out: the module, the options, the machine, and this program itself.
std::string KeyOf(const Module& module, const CpuOptions& options, const Machine& machine) {
  struct stat self{};
  if (!options.cache || options.check_memory || ::stat("/proc/self/exe", &self) != 0) return "";
  const std::optional<std::string> passes = PassKey(options);
  if (!passes) return "";
  std::string text = ModuleText(module);
  llvm::raw_string_ostream os(text);
  os << ' ' << *passes << ' ' << machine.cpu << ' ' << machine.features << ' ' << self.st_size << ' '
     << self.st_mtim.tv_sec << ' ' << self.st_mtim.tv_nsec;
  return HashText(text);
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
  std::optional<BuildRecord> record = BuildRecordFromBinary(entry->build);
  if (module != nullptr && record)
    if (auto program = RebuildProgram(std::move(module), std::make_unique<Jit>(machine_), std::move(*record),
                                      std::move(entry->code)))
      return program;
  remark = "the entry '" + key_ + "' does not fit its module; not used";
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

void ProgramCache::Store(Program& program, const BuildRecord& record) const {
  CompiledCode code = program.jit->TakeCode();
  if (key_.empty()) return;
  const std::string build = ToBinary(record);
  cache_.Store(key_, {prepared_, build, std::move(code), nullptr});
}

}  // namespace hlo::cpu

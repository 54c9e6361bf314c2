#include "backends/cpu/program_cache.h"

#include <sys/stat.h>

#include <cstdlib>

#include "ir/support/binary.h"
#include "llvm/Support/MemoryBuffer.h"

namespace hlo::codegen {

HLO_BINARY_MEMBERS(CodeImage::Import, v.at, v.function)
HLO_BINARY_MEMBERS(CodeImage::Pointer, v.at, v.target)
HLO_BINARY_MEMBERS(CodeImage, v.bytes, v.imports, v.pointers)

}  // namespace hlo::codegen

namespace hlo::cpu {

HLO_BINARY_MEMBERS(CompiledCode, v.places, v.routines, v.image)

namespace {

/// What decides which libraries a program was made with, and what they can do: the variables that name them,
/// and the dynamic linker's cache, which changes when one is installed or removed.
void AddLibraries(BinaryWriter& key) {
  for (const char* const name : {"HLO_ONEDNN", "HLO_LAPACK", "LD_LIBRARY_PATH"}) {
    const char* const value = std::getenv(name);
    key.Text(value == nullptr ? "" : value);
  }
  struct stat linker{};
  if (::stat("/etc/ld.so.cache", &linker) != 0) linker = {};
  for (const auto number : {linker.st_size, linker.st_mtim.tv_sec, linker.st_mtim.tv_nsec})
    key.Number(static_cast<uint64_t>(number));
}

/// Options and machine. Empty: no cache.
std::string KeyOf(const CpuOptions& options, const Machine& machine) {
  if (!options.store.exists() || options.check_memory || !options.force_path.empty() || options.watched)
    return "";
  const std::optional<std::string> passes =
      compile::KeyOfPasses(options.selection, options.controls, options.pipeline);
  if (!passes) return "";
  BinaryWriter key;
  key.Text("cpu");
  for (const int64_t number :
       {int64_t{options.optimization_level}, static_cast<int64_t>(options.host),
        static_cast<int64_t>(options.tier), std::min(options.executions, CpuOptions::kManyExecutions)})
    key.Number(static_cast<uint64_t>(number));
  for (const llvm::StringRef part :
       {llvm::StringRef(*passes), llvm::StringRef(options.cpu), llvm::StringRef(options.features),
        llvm::StringRef(machine.cpu), llvm::StringRef(machine.features)})
    key.Text(part);
  AddLibraries(key);
  return std::move(key).Take();
}

}  // namespace

ProgramCache::ProgramCache(const Module& module, const CpuOptions& options, const Machine& machine)
    : machine_(machine), cache_(module, KeyOf(options, machine), options.store) {}

std::unique_ptr<Program> ProgramCache::Load(std::string& remark) const {
  std::optional<compile::ProgramCache::Entry> entry = cache_.Load(remark);
  if (!entry) return nullptr;
  BinaryReader reader(entry->code);
  CompiledCode code;
  Archive(reader, code);
  if (!reader.failed() && reader.at_end())
    if (auto program = LoadProgram(std::move(entry->module), std::make_unique<Jit>(machine_), entry->program,
                                   std::move(code)))
      return program;
  remark = compile::ProgramCache::Unfit();
  return nullptr;
}

void ProgramCache::Store(Program& program) const {
  CompiledCode code = program.jit->TakeCode();
  if (!cache_.exists()) return;
  BinaryWriter writer;
  Archive(writer, code);
  cache_.Store(ToBinary(program), std::move(writer).Take());
}

}  // namespace hlo::cpu

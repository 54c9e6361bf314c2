// Programs from the cache of earlier runs.
#pragma once
#include "backends/compile/object_cache.h"
#include "ir/module.h"
#include "passes/pass_manager.h"

namespace hlo::compile {

/// The options that change what passes do, as text that no others have; nothing if what comes of them had
/// better not be kept.
std::optional<std::string> KeyOfPasses(const PassSelection& selection, const RewriteControls& controls,
                                       llvm::ArrayRef<PipelineItem> pipeline);

/// Where the entry of a compilation is looked for and kept.
struct ProgramStore {
  bool on_disk = true;
  std::string folder;          // empty: that of the user
  std::string* own = nullptr;  // of the caller: an entry that is used if it fits, and the entry afterwards
  [[nodiscard]] bool exists() const { return on_disk || own != nullptr; }
};

/// The entry of one compilation: the same module, down to names and positions, with the same options, by this
/// very program. What a compilation reports is not kept: one that reports is not to be stored.
class ProgramCache {
 public:
  /// `key`: backend, options, machine, each where it cannot be taken for another. Empty: no cache.
  ProgramCache(const Module& module, llvm::StringRef key, const ProgramStore& store);

  /// What an earlier run stored. Strings lie in `file`.
  struct Entry {
    std::unique_ptr<Module> module;
    llvm::StringRef program, code;
    std::shared_ptr<llvm::MemoryBuffer> file;
  };
  /// `remark` says why an entry was left aside.
  std::optional<Entry> Load(std::string& remark) const;
  /// What to say of an entry of which no program can be made.
  static std::string Unfit() { return "the entry of this module does not fit it; not used"; }
  /// Takes the module that the passes left, before it is built.
  void KeepModule(const Module& prepared);
  void Store(llvm::StringRef program, llvm::StringRef code) const;
  [[nodiscard]] bool exists() const { return !key_.empty(); }

 private:
  /// Constants that are not repeated in the entry, in the order of the module.
  [[nodiscard]] std::vector<LiteralPtr> LargeLiterals() const;

  [[nodiscard]] std::optional<CachedProgram> Find(std::string& remark) const;

  const Module& module_;
  std::optional<ObjectCache> cache_;
  std::string* own_;
  std::string key_;       // empty: no cache
  std::string prepared_;  // in binary form
};

}  // namespace hlo::compile

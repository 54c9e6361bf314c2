// Compiled kernels on disk, so that a module that ran before starts without LLVM.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace hlo::cpu {

/// What was compiled for one module: every different kernel in the order in which it was added, and one
/// object with the code of those that have some.
struct CachedObject {
  struct Kernel {
    std::array<uint64_t, 2> text_hash{};  // of its text, with whose name left out
    std::string failure;                  // why it has no code; empty if it has
  };
  std::vector<Kernel> kernels;
  std::string object;  // ELF
};

/// A folder of such entries, one file each, for any number of processes: files appear whole or not at all,
/// carry a checksum, and count only if they and the folder belong to this user and nobody else may write
/// them. When the folder grows beyond a limit the entries that were not used for longest go.
class ObjectCache {
 public:
  /// `folder` empty: $XDG_CACHE_HOME/hlo-toolkit or ~/.cache/hlo-toolkit.
  explicit ObjectCache(std::string folder = "");
  /// The entry, if there is one that is whole and trustworthy. `remark` says why one was left aside.
  std::optional<CachedObject> Load(llvm::StringRef key, std::string& remark) const;
  /// Failures are silent: a cache that cannot be written is none.
  void Store(llvm::StringRef key, const CachedObject& object) const;

 private:
  [[nodiscard]] std::string PathOf(llvm::StringRef key) const;
  void Trim() const;
  std::string folder_;
};

}  // namespace hlo::cpu

// Compiled programs on disk, so that a module that ran before starts without passes and without LLVM.
#pragma once
#include <memory>
#include <optional>
#include <string>

#include "llvm/ADT/StringRef.h"

namespace llvm {
class MemoryBuffer;
}  // namespace llvm

namespace hlo::compile {

/// $XDG_CACHE_HOME/hlo-toolkit or ~/.cache/hlo-toolkit; empty, if there is neither.
std::string CacheFolder();

/// What was made of one module: the module that the passes left (ir/binary.h), its program and the code of
/// its kernels, as a backend stores them.
struct CachedProgram {
  llvm::StringRef module, program, code;
  std::shared_ptr<llvm::MemoryBuffer> file;  // an entry that was loaded: where these lie
};

/// An entry with its key, for who keeps it elsewhere than in a folder.
std::string ToBytes(llvm::StringRef key, const CachedProgram& program);
/// The entry of this very key; nothing if the bytes are another's, or damaged.
std::optional<CachedProgram> FromBytes(llvm::StringRef key, llvm::StringRef bytes);

/// A folder of such entries, one file each, for any number of processes: files appear whole or not at all,
/// carry a checksum and their whole key, and count only if they and the folder belong to this user and nobody
/// else may write them. The files are spread over folders by their keys; when one of these holds more than
/// its share, the entries that were not used for longest go, so that storing costs the same however much is
/// kept.
class ObjectCache {
 public:
  /// Of all entries together. An entry with more than a folder's share of the bytes is not kept.
  struct Limits {
    uint64_t bytes = uint64_t{512} << 20;
    uint64_t entries = 16384;
  };
  static constexpr uint64_t kFolders = 64;

  /// `folder` empty: CacheFolder().
  explicit ObjectCache(std::string folder = "");
  /// Names the file of a key; keys may share a name.
  using Name = std::string(llvm::StringRef key);
  ObjectCache(std::string folder, Limits limits, Name* name = HashOf);
  /// The entry of this very key, if there is one that is whole and trustworthy. `remark` says why one was
  /// left aside.
  std::optional<CachedProgram> Load(llvm::StringRef key, std::string& remark) const;
  /// Failures are silent: a cache that cannot be written is none.
  void Store(llvm::StringRef key, const CachedProgram& program) const;

 private:
  static std::string HashOf(llvm::StringRef key);
  [[nodiscard]] std::string FolderOf(llvm::StringRef name) const;
  [[nodiscard]] std::string PathOf(llvm::StringRef name) const;
  /// Makes room for `bytes` more in the folder.
  void Trim(const std::string& folder, uint64_t bytes) const;
  std::string folder_;
  Limits limits_;
  Name* name_;
};

}  // namespace hlo::compile

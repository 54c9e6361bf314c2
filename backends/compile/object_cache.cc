#include "backends/compile/object_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "ir/support/binary.h"
#include "ir/support/temporary_files.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/xxhash.h"

namespace hlo::compile {
namespace {

constexpr llvm::StringLiteral kMagic = "hlo-program 3\n";
constexpr llvm::StringLiteral kSuffix = ".kernels";

template <class A>
void ArchiveEntry(A& a, llvm::StringRef& key, CachedProgram& v) {
  ArchiveAll(a, key, v.module, v.program, v.code);
}

/// What cannot be removed stays.
void Remove(const llvm::Twine& path) {
  [[maybe_unused]] const std::error_code ignored = llvm::sys::fs::remove(path);
}

bool IsOurs(const struct stat& info) {
  return info.st_uid == ::geteuid() && (info.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

bool BelongsToUs(const std::string& path) {
  struct stat info{};
  return ::stat(path.c_str(), &info) == 0 && IsOurs(info);
}

/// A file, asked about what was opened: another may have the name by now, and what is no file may never end.
struct OpenedFile {
  explicit OpenedFile(const std::string& path)
      : descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    if (descriptor >= 0) regular = ::fstat(descriptor, &info) == 0 && S_ISREG(info.st_mode);
  }
  ~OpenedFile() {
    if (descriptor >= 0) ::close(descriptor);
  }
  OpenedFile(const OpenedFile&) = delete;
  OpenedFile& operator=(const OpenedFile&) = delete;

  int descriptor;
  bool regular = false;
  struct stat info{};
};

}  // namespace

std::string CacheFolder() {
  llvm::SmallString<128> folder;
  if (const char* given = std::getenv("XDG_CACHE_HOME"); given != nullptr && *given == '/')
    folder = given;
  else if (!llvm::sys::path::home_directory(folder))
    return "";
  else
    llvm::sys::path::append(folder, ".cache");
  llvm::sys::path::append(folder, "hlo-toolkit");
  return folder.str().str();
}

namespace {

/// Of what follows.
struct Checksum {
  uint64_t low, high;
  explicit Checksum(llvm::StringRef text) {
    const llvm::XXH128_hash_t sum = llvm::xxh3_128bits(llvm::arrayRefFromStringRef(text));
    low = sum.low64;
    high = sum.high64;
  }
  [[nodiscard]] llvm::StringRef bytes() const { return {reinterpret_cast<const char*>(this), sizeof *this}; }
};

std::string Encode(llvm::StringRef key, const CachedProgram& entry) {
  BinaryWriter body;
  ArchiveEntry(body, key, const_cast<CachedProgram&>(entry));
  const std::string text = std::move(body).Take();
  return (kMagic + Checksum(text).bytes() + text).str();
}

/// Of whole entries, with the key of each.
std::optional<CachedProgram> Decode(llvm::StringRef text, llvm::StringRef& key) {
  if (!text.consume_front(kMagic) || text.size() < sizeof(Checksum)) return {};
  const llvm::StringRef body = text.drop_front(sizeof(Checksum));
  if (!text.starts_with(Checksum(body).bytes())) return {};
  BinaryReader reader(body);
  CachedProgram entry;
  ArchiveEntry(reader, key, entry);
  if (reader.failed() || !reader.at_end()) return {};
  return entry;
}

}  // namespace

std::string ToBytes(llvm::StringRef key, const CachedProgram& program) { return Encode(key, program); }

std::optional<CachedProgram> FromBytes(llvm::StringRef key, llvm::StringRef bytes) {
  std::shared_ptr<llvm::MemoryBuffer> copy = llvm::MemoryBuffer::getMemBufferCopy(bytes);
  llvm::StringRef whole_key;
  std::optional<CachedProgram> entry = Decode(copy->getBuffer(), whole_key);
  if (!entry || whole_key != key) return {};
  entry->file = std::move(copy);
  return entry;
}

ObjectCache::ObjectCache(std::string folder) : ObjectCache(std::move(folder), Limits{}) {}
ObjectCache::ObjectCache(std::string folder, Limits limits, Name* name)
    : folder_(folder.empty() ? CacheFolder() : std::move(folder)), limits_(limits), name_(name) {}

std::string ObjectCache::HashOf(llvm::StringRef key) {
  constexpr unsigned kDigits = 2 * sizeof(uint64_t);
  const llvm::XXH128_hash_t hash = llvm::xxh3_128bits(llvm::arrayRefFromStringRef(key));
  return llvm::utohexstr(hash.high64, /*LowerCase=*/true, kDigits) +
         llvm::utohexstr(hash.low64, true, kDigits);
}

std::string ObjectCache::FolderOf(llvm::StringRef name) const {
  const uint64_t number = llvm::xxh3_64bits(name) % kFolders;
  return folder_ + "/" + llvm::utohexstr(number, /*LowerCase=*/true, 2);
}

std::string ObjectCache::PathOf(llvm::StringRef name) const {
  return FolderOf(name) + "/" + name.str() + kSuffix.str();
}

std::optional<CachedProgram> ObjectCache::Load(llvm::StringRef key, std::string& remark) const {
  if (folder_.empty()) return {};
  const std::string name = name_(key), path = PathOf(name);
  const OpenedFile opened(path);
  if (!opened.regular) return {};
  if (!BelongsToUs(folder_) || !BelongsToUs(FolderOf(name)) || !IsOurs(opened.info)) {
    // Another process may have taken it away meanwhile.
    if (llvm::sys::fs::exists(path)) remark = "'" + path + "' may be written by others; not used";
    return {};
  }
  auto file =
      llvm::MemoryBuffer::getOpenFile(opened.descriptor, path, static_cast<uint64_t>(opened.info.st_size),
                                      /*RequiresNullTerminator=*/false);
  if (!file) return {};
  llvm::StringRef whole_key;
  auto entry = Decode((*file)->getBuffer(), whole_key);
  if (!entry) {
    remark = "'" + path + "' is damaged; not used";
    return {};
  }
  if (whole_key != key) {
    remark = "'" + path + "' holds another program; not used";
    return {};
  }
  // Marks the entry as used.
  ::utimensat(AT_FDCWD, path.c_str(), nullptr, 0);
  entry->file = std::move(*file);
  return entry;
}

void ObjectCache::Store(llvm::StringRef key, const CachedProgram& program) const {
  if (folder_.empty()) return;
  const std::string entry_name = name_(key), folder = FolderOf(entry_name);
  if (llvm::sys::fs::create_directories(folder, true, llvm::sys::fs::perms::owner_all)) return;
  if (!BelongsToUs(folder_) || !BelongsToUs(folder)) return;
  const std::string text = Encode(key, program);
  if (text.size() > limits_.bytes / kFolders) return;
  Trim(folder, text.size());
  [[maybe_unused]] const std::error_code ignored = WriteWholeFile(PathOf(entry_name), text);
}

void ObjectCache::Trim(const std::string& folder, uint64_t bytes) const {
  struct Entry {
    std::string path;
    llvm::sys::TimePoint<> used;
    uint64_t size;
  };
  const uint64_t most_bytes = limits_.bytes / kFolders, most_entries = limits_.entries / kFolders;
  std::vector<Entry> entries;
  uint64_t total = bytes;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const llvm::StringRef path = at->path();
    if (!path.ends_with(kSuffix) && !path.ends_with(".tmp")) continue;
    const auto status = at->status();
    if (!status) continue;
    entries.push_back({path.str(), status->getLastModificationTime(), status->getSize()});
    total += status->getSize();
  }
  uint64_t count = entries.size() + 1;
  if (total <= most_bytes && count <= most_entries) return;
  llvm::sort(entries, [](const Entry& x, const Entry& y) { return x.used < y.used; });
  constexpr int kPartFreed = 4;  // a quarter at once, so that this is rare
  for (const Entry& entry : entries) {
    if (total <= most_bytes - most_bytes / kPartFreed && count <= most_entries - most_entries / kPartFreed)
      break;
    Remove(entry.path);
    total -= entry.size;
    --count;
  }
}

}  // namespace hlo::compile

#include "backends/cpu/object_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/xxhash.h"

namespace hlo::cpu {
namespace {

constexpr llvm::StringLiteral kMagic = "hlo-kernels 2\n";
constexpr llvm::StringLiteral kSuffix = ".kernels";

/// Numbers and strings in a row, little-endian.
class Writer {
 public:
  void Number(uint64_t value) { text_.append(reinterpret_cast<const char*>(&value), sizeof value); }
  void String(llvm::StringRef text) {
    Number(text.size());
    text_ += text;
  }
  std::string text_;
};
class Reader {
 public:
  explicit Reader(llvm::StringRef text) : text_(text) {}
  uint64_t Number() {
    uint64_t value = 0;
    const llvm::StringRef bytes = Take(sizeof value);
    if (bytes.size() == sizeof value) std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
  llvm::StringRef String() { return Take(Number()); }
  [[nodiscard]] bool failed() const { return failed_; }
  [[nodiscard]] bool at_end() const { return text_.empty(); }

 private:
  llvm::StringRef Take(uint64_t size) {
    failed_ |= size > text_.size();
    if (failed_) return {};
    const llvm::StringRef taken = text_.take_front(size);
    text_ = text_.drop_front(size);
    return taken;
  }
  llvm::StringRef text_;
  bool failed_ = false;
};

/// What cannot be removed stays.
void Remove(const llvm::Twine& path) {
  [[maybe_unused]] const std::error_code ignored = llvm::sys::fs::remove(path);
}

bool BelongsToUs(const std::string& path) {
  struct stat info;
  return ::stat(path.c_str(), &info) == 0 && info.st_uid == ::geteuid() && (info.st_mode & 022) == 0;
}

std::string DefaultFolder() {
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

std::string Encode(const CachedObject& entry) {
  Writer body;
  body.Number(entry.kernels.size());
  for (const CachedObject::Kernel& kernel : entry.kernels) {
    body.Number(kernel.text_hash[0]);
    body.Number(kernel.text_hash[1]);
    body.String(kernel.failure);
    body.Number(kernel.place);
  }
  body.String(entry.image.bytes);
  body.Number(entry.image.imports.size());
  for (const CodeImage::Import& import : entry.image.imports) {
    body.Number(import.at);
    body.String(import.function);
  }
  body.Number(entry.image.pointers.size());
  for (const CodeImage::Pointer& pointer : entry.image.pointers) {
    body.Number(pointer.at);
    body.Number(pointer.target);
  }
  Writer whole;
  whole.text_ = kMagic.str();
  const llvm::XXH128_hash_t sum = llvm::xxh3_128bits(llvm::arrayRefFromStringRef(body.text_));
  whole.Number(sum.low64);
  whole.Number(sum.high64);
  whole.text_ += body.text_;
  return std::move(whole.text_);
}

std::optional<CachedObject> Decode(llvm::StringRef text) {
  if (!text.consume_front(kMagic)) return {};
  Reader head(text);
  const uint64_t low = head.Number(), high = head.Number();
  if (head.failed()) return {};
  text = text.drop_front(16);
  const llvm::XXH128_hash_t sum = llvm::xxh3_128bits(llvm::arrayRefFromStringRef(text));
  if (sum.low64 != low || sum.high64 != high) return {};
  Reader body(text);
  CachedObject entry;
  for (uint64_t left = body.Number(); left > 0 && !body.failed(); --left) {
    CachedObject::Kernel kernel;
    kernel.text_hash = {body.Number(), body.Number()};
    kernel.failure = body.String().str();
    kernel.place = body.Number();
    entry.kernels.push_back(std::move(kernel));
  }
  entry.image.bytes = body.String().str();
  for (uint64_t left = body.Number(); left > 0 && !body.failed(); --left) {
    const uint64_t at = body.Number();
    entry.image.imports.push_back({at, body.String().str()});
  }
  for (uint64_t left = body.Number(); left > 0 && !body.failed(); --left) {
    const uint64_t at = body.Number();
    entry.image.pointers.push_back({at, body.Number()});
  }
  if (body.failed() || !body.at_end()) return {};
  return entry;
}

}  // namespace

ObjectCache::ObjectCache(std::string folder) : ObjectCache(std::move(folder), Limits{}) {}
ObjectCache::ObjectCache(std::string folder, Limits limits)
    : folder_(folder.empty() ? DefaultFolder() : std::move(folder)), limits_(limits) {}

std::string ObjectCache::FolderOf(llvm::StringRef key) const {
  const uint64_t number = llvm::xxh3_64bits(key) % kFolders;
  return folder_ + "/" + llvm::utohexstr(number, /*LowerCase=*/true, 2);
}

std::string ObjectCache::PathOf(llvm::StringRef key) const {
  return FolderOf(key) + "/" + key.str() + kSuffix.str();
}

std::optional<CachedObject> ObjectCache::Load(llvm::StringRef key, std::string& remark) const {
  if (folder_.empty()) return {};
  const std::string path = PathOf(key);
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!file) return {};
  if (!BelongsToUs(folder_) || !BelongsToUs(FolderOf(key)) || !BelongsToUs(path)) {
    remark = "'" + path + "' may be written by others; not used";
    return {};
  }
  auto entry = Decode((*file)->getBuffer());
  if (!entry) {
    remark = "'" + path + "' is damaged; not used";
    return {};
  }
  // Marks the entry as used.
  ::utimensat(AT_FDCWD, path.c_str(), nullptr, 0);
  return entry;
}

void ObjectCache::Store(llvm::StringRef key, const CachedObject& object) const {
  if (folder_.empty()) return;
  const std::string folder = FolderOf(key);
  if (llvm::sys::fs::create_directories(folder, true, llvm::sys::fs::perms::owner_all)) return;
  if (!BelongsToUs(folder_) || !BelongsToUs(folder)) return;
  const std::string text = Encode(object);
  if (text.size() > limits_.bytes / kFolders) return;
  Trim(folder, text.size());
  llvm::SmallString<128> temporary;
  int descriptor = -1;
  if (llvm::sys::fs::createUniqueFile(folder + "/%%%%%%%%.tmp", descriptor, temporary, llvm::sys::fs::OF_None,
                                      llvm::sys::fs::owner_read | llvm::sys::fs::owner_write))
    return;
  {
    llvm::raw_fd_ostream os(descriptor, /*shouldClose=*/true);
    os << text;
    os.flush();
    if (os.has_error()) {
      os.clear_error();
      Remove(temporary);
      return;
    }
  }
  if (llvm::sys::fs::rename(temporary, PathOf(key))) Remove(temporary);
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
  for (const Entry& entry : entries) {
    // Down to three quarters, so that this is rare.
    if (total <= most_bytes / 4 * 3 && count <= most_entries / 4 * 3) break;
    Remove(entry.path);
    total -= entry.size;
    --count;
  }
}

}  // namespace hlo::cpu

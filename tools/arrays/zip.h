// ZIP archives as NumPy's .npz uses them: stored or deflated members, ZIP64 for large ones.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "ir/support/result.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

namespace hlo {

/// One member: its name and its bytes, which lie in the archive (stored) or in memory of their own.
struct ZipMember {
  std::string name;
  llvm::StringRef data;
  std::shared_ptr<const void> owner;
};

/// All members, in the order of the central directory. Sizes, offsets and checksums are verified before
/// anything is allocated or decompressed. Errors: input-array.
Result<std::vector<ZipMember>> ReadZip(llvm::StringRef bytes, const std::shared_ptr<const void>& owner);

/// Writes an archive of stored members front to back. Contents are aligned to 64 bytes, so that mapped
/// arrays can be used in place.
class ZipWriter {
 public:
  explicit ZipWriter(llvm::raw_ostream& out) : out_(out) {}
  /// A member whose contents are `pieces` one after another.
  void Add(llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> pieces);
  /// Writes the directory; nothing may follow.
  void Finish();

 private:
  struct Entry {
    std::string name;
    uint64_t size = 0, offset = 0;
    uint32_t crc = 0;
  };
  void Write(llvm::StringRef bytes);

  llvm::raw_ostream& out_;
  uint64_t position_ = 0;
  std::vector<Entry> entries_;
};

}  // namespace hlo

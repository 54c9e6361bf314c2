#include "ir/support/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "ir/support/interrupt.h"

namespace hlo {
namespace {

using Buffer = std::unique_ptr<llvm::MemoryBuffer>;

uint64_t HalfOfMemory() {
  return static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) / 2;
}

/// A descriptor that is closed, but for that of the standard input.
class Opened {
 public:
  explicit Opened(llvm::StringRef path)
      : descriptor_(path == "-" ? STDIN_FILENO : open(path.str().c_str(), O_RDONLY | O_CLOEXEC)) {}
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;
  ~Opened() {
    if (descriptor_ > STDIN_FILENO) close(descriptor_);
  }
  [[nodiscard]] int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

llvm::ErrorOr<Buffer> ReadStream(int descriptor, llvm::StringRef name, uint64_t most) {
  constexpr size_t kPiece = size_t{1} << 20;
  std::vector<std::unique_ptr<char[]>> pieces;
  uint64_t bytes = 0;
  for (;;) {
    if (Interrupted()) return std::make_error_code(std::errc::operation_canceled);
    if (bytes % kPiece == 0) pieces.push_back(std::make_unique_for_overwrite<char[]>(kPiece));
    const ssize_t got = read(descriptor, pieces.back().get() + bytes % kPiece, kPiece - bytes % kPiece);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::error_code(errno, std::generic_category());
    if (got == 0) break;
    bytes += static_cast<uint64_t>(got);
    if (bytes > most) return std::make_error_code(std::errc::file_too_large);
  }
  auto whole = llvm::WritableMemoryBuffer::getNewUninitMemBuffer(bytes, name);
  if (whole == nullptr) return std::make_error_code(std::errc::not_enough_memory);
  for (uint64_t at = 0; at < bytes; at += kPiece) {
    std::unique_ptr<char[]>& piece = pieces[at / kPiece];
    std::copy_n(piece.get(), std::min<uint64_t>(kPiece, bytes - at), whole->getBufferStart() + at);
    piece.reset();
  }
  return Buffer(std::move(whole));
}

}  // namespace

llvm::ErrorOr<Buffer> ReadInputFile(llvm::StringRef path, uint64_t most) {
  const Opened file(path);
  if (file.descriptor() < 0) return std::error_code(errno, std::generic_category());
  struct stat info = {};
  if (fstat(file.descriptor(), &info) != 0) return std::error_code(errno, std::generic_category());
  if (S_ISDIR(info.st_mode)) return std::make_error_code(std::errc::is_a_directory);
  if (!S_ISREG(info.st_mode)) return ReadStream(file.descriptor(), path, most == 0 ? HalfOfMemory() : most);
  if (path == "-") return llvm::MemoryBuffer::getSTDIN();
  return llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
}

}  // namespace hlo

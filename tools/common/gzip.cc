#include "tools/common/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <cassert>
#include <cstdint>

namespace hlo {
namespace {

constexpr int kGzipWindow = 15 + 16;
constexpr size_t kPiece = size_t{1} << 30;  // what the counters of zlib can hold
constexpr size_t kBuffer = size_t{1} << 16;

}  // namespace

bool LooksLikeGzip(llvm::StringRef bytes) { return bytes.starts_with("\x1f\x8b"); }

Result<std::string> Gunzip(llvm::StringRef bytes) {
  z_stream stream{};
  if (inflateInit2(&stream, kGzipWindow) != Z_OK)
    return Error("input-format", {}, "gzip: cannot start decompression");
  std::string text, buffer(kBuffer, '\0');
  int code = Z_OK;
  while (code == Z_OK && text.size() <= UINT32_MAX) {
    const size_t taken = std::min(bytes.size(), kPiece);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream.avail_in = static_cast<uInt>(taken);
    stream.next_out = reinterpret_cast<Bytef*>(buffer.data());
    stream.avail_out = static_cast<uInt>(buffer.size());
    code = inflate(&stream, Z_NO_FLUSH);
    text.append(buffer, 0, buffer.size() - stream.avail_out);
    bytes = bytes.drop_front(taken - stream.avail_in);
    if (code == Z_STREAM_END && LooksLikeGzip(bytes)) code = inflateReset(&stream);  // another member
  }
  inflateEnd(&stream);
  if (text.size() > UINT32_MAX) return Error("input-format", {}, "gzip: more than 4 GB of text");
  if (code == Z_BUF_ERROR) return Error("input-format", {}, "gzip: the data end too early");
  if (code != Z_STREAM_END) return Error("input-format", {}, "gzip: the data are corrupt");
  return text;
}

std::string Gzipped(llvm::StringRef bytes) {
  z_stream stream{};
  [[maybe_unused]] const int ready =
      deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipWindow, 8, Z_DEFAULT_STRATEGY);
  assert(ready == Z_OK);
  std::string out;
  std::string buffer(kBuffer, '\0');
  do {
    const llvm::StringRef piece = bytes.take_front(kPiece);
    bytes = bytes.drop_front(piece.size());
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(piece.data()));
    stream.avail_in = static_cast<uInt>(piece.size());
    do {
      stream.next_out = reinterpret_cast<Bytef*>(buffer.data());
      stream.avail_out = static_cast<uInt>(buffer.size());
      deflate(&stream, bytes.empty() ? Z_FINISH : Z_NO_FLUSH);
      out.append(buffer, 0, buffer.size() - stream.avail_out);
    } while (stream.avail_out == 0);
  } while (!bytes.empty());
  deflateEnd(&stream);
  return out;
}

}  // namespace hlo

#include "tools/arrays/zip.h"

#include <zlib.h>

#include "llvm/Support/Endian.h"

namespace hlo {
namespace {

using llvm::StringRef;
namespace le = llvm::support::endian;

// Signatures and fixed sizes of the records (PKWARE APPNOTE 4.3).
constexpr uint32_t kLocal = 0x04034b50, kCentral = 0x02014b50, kEnd = 0x06054b50, kEnd64 = 0x06064b50,
                   kLocator64 = 0x07064b50;
constexpr size_t kLocalSize = 30, kCentralSize = 46, kEndSize = 22, kEnd64Size = 56, kLocator64Size = 20;
constexpr uint32_t kMax32 = 0xffffffff;
constexpr uint16_t kMax16 = 0xffff, kZip64Extra = 1, kPaddingExtra = 0xd935;
constexpr uint16_t kStored = 0, kDeflated = 8;
constexpr uint16_t kEncrypted = 1;
constexpr size_t kAlignment = 64;
// Deflate cannot shrink data more than this, so a larger claim is a lie.
constexpr uint64_t kMaxDeflateRatio = 1032;

uint16_t Get16(StringRef s, size_t at) { return le::read16le(s.data() + at); }
uint32_t Get32(StringRef s, size_t at) { return le::read32le(s.data() + at); }
uint64_t Get64(StringRef s, size_t at) { return le::read64le(s.data() + at); }

template <class... Args>
tl::unexpected<Diagnostic> Bad(const char* format, Args&&... args) {
  return Error("input-array", {}, format, std::forward<Args>(args)...);
}

/// Where the central directory is.
struct Directory {
  uint64_t count = 0, size = 0, offset = 0;
};

Result<Directory> FindDirectory(StringRef bytes) {
  const size_t window = std::min<size_t>(bytes.size(), kEndSize + kMax16);
  size_t at = StringRef::npos;
  for (size_t back = kEndSize; back <= window && at == StringRef::npos; ++back)
    if (Get32(bytes, bytes.size() - back) == kEnd) at = bytes.size() - back;
  if (at == StringRef::npos) return Bad("no end of a zip archive found, is the file truncated?");
  Directory found{Get16(bytes, at + 10), Get32(bytes, at + 12), Get32(bytes, at + 16)};
  const bool is64 = found.count == kMax16 || found.size == kMax32 || found.offset == kMax32;
  if (is64 && at >= kLocator64Size && Get32(bytes, at - kLocator64Size) == kLocator64) {
    const uint64_t end64 = Get64(bytes, at - kLocator64Size + 8);
    if (end64 > bytes.size() || bytes.size() - end64 < kEnd64Size || Get32(bytes, end64) != kEnd64)
      return Bad("malformed ZIP64 directory");
    found = {Get64(bytes, end64 + 32), Get64(bytes, end64 + 40), Get64(bytes, end64 + 48)};
  }
  if (found.offset > at || found.size > at - found.offset || found.count > found.size / kCentralSize)
    return Bad("the directory of the zip archive lies outside the file");
  return found;
}

/// One row of the central directory.
struct Entry {
  StringRef name;
  uint16_t flags = 0, method = 0;
  uint32_t crc = 0;
  uint64_t compressed = 0, size = 0, offset = 0;
};

/// Takes the 64-bit values from the extra field, for those that do not fit 32.
Status ReadZip64(StringRef extra, Entry& entry) {
  while (extra.size() >= 4) {
    const uint16_t id = Get16(extra, 0), size = Get16(extra, 2);
    extra = extra.drop_front(4);
    if (size > extra.size()) break;
    StringRef body = extra.take_front(size);
    extra = extra.drop_front(size);
    if (id != kZip64Extra) continue;
    for (uint64_t* value : {&entry.size, &entry.compressed, &entry.offset}) {
      if (*value != kMax32) continue;
      if (body.size() < 8) return Bad("malformed ZIP64 field of member '{0}'", entry.name);
      *value = Get64(body, 0);
      body = body.drop_front(8);
    }
  }
  return {};
}

Result<Entry> ReadEntry(StringRef& directory) {
  if (directory.size() < kCentralSize || Get32(directory, 0) != kCentral)
    return Bad("malformed directory of the zip archive");
  Entry e;
  e.flags = Get16(directory, 8);
  e.method = Get16(directory, 10);
  e.crc = Get32(directory, 16);
  e.compressed = Get32(directory, 20);
  e.size = Get32(directory, 24);
  e.offset = Get32(directory, 42);
  const size_t name = Get16(directory, 28), extra = Get16(directory, 30), comment = Get16(directory, 32);
  if (directory.size() - kCentralSize < name + extra + comment)
    return Bad("malformed directory of the zip archive");
  e.name = directory.substr(kCentralSize, name);
  HLO_CHECK_OK(ReadZip64(directory.substr(kCentralSize + name, extra), e));
  directory = directory.drop_front(kCentralSize + name + extra + comment);
  return e;
}

Result<ZipMember> Inflate(const Entry& entry, StringRef packed) {
  if (entry.size / kMaxDeflateRatio > packed.size())
    return Bad("member '{0}' claims more data than it can hold", entry.name);
  auto buffer = std::make_shared<std::vector<char>>(entry.size);
  z_stream stream = {};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
    return Bad("cannot start decompression of member '{0}'", entry.name);
  size_t in = 0, out = 0;
  int code = Z_OK;
  // zlib counts in 32 bits.
  while (code == Z_OK) {
    const auto in_now = static_cast<uInt>(std::min<size_t>(packed.size() - in, 1u << 30));
    const auto out_now = static_cast<uInt>(std::min<size_t>(buffer->size() - out, 1u << 30));
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data() + in));
    stream.avail_in = in_now;
    stream.next_out = reinterpret_cast<Bytef*>(buffer->data() + out);
    stream.avail_out = out_now;
    code = inflate(&stream, Z_NO_FLUSH);
    in += in_now - stream.avail_in;
    out += out_now - stream.avail_out;
    if (in_now == stream.avail_in && out_now == stream.avail_out && code == Z_OK) break;
  }
  inflateEnd(&stream);
  if (code != Z_STREAM_END || out != entry.size)
    return Bad("the compressed data of member '{0}' are corrupt", entry.name);
  return ZipMember{entry.name.str(), StringRef(buffer->data(), buffer->size()), buffer};
}

Result<ZipMember> ReadMember(StringRef bytes, const std::shared_ptr<const void>& owner, const Entry& entry) {
  if ((entry.flags & kEncrypted) != 0) return Bad("member '{0}' is encrypted", entry.name);
  if (entry.offset > bytes.size() || bytes.size() - entry.offset < kLocalSize ||
      Get32(bytes, entry.offset) != kLocal)
    return Bad("member '{0}' lies outside the file, is it truncated?", entry.name);
  const uint64_t header =
      kLocalSize + uint64_t{Get16(bytes, entry.offset + 26)} + Get16(bytes, entry.offset + 28);
  const uint64_t room = bytes.size() - entry.offset;
  if (header > room || entry.compressed > room - header)
    return Bad("member '{0}' lies outside the file, is it truncated?", entry.name);
  const StringRef packed = bytes.substr(entry.offset + header, entry.compressed);
  ZipMember member{entry.name.str(), packed, owner};
  if (entry.method == kDeflated) {
    HLO_TRY(member, Inflate(entry, packed));
  } else if (entry.method != kStored) {
    return Bad("member '{0}' uses compression method {1}, expected stored (0) or deflated (8)", entry.name,
               entry.method);
  } else if (entry.size != entry.compressed) {
    return Bad("the sizes of stored member '{0}' differ", entry.name);
  }
  const auto crc = crc32_z(0, reinterpret_cast<const Bytef*>(member.data.data()), member.data.size());
  if (crc != entry.crc) return Bad("the checksum of member '{0}' is wrong, the file is corrupt", entry.name);
  return member;
}

/// Little-endian fields of a record.
class Record {
 public:
  Record& U16(uint64_t v) { return Append(v, 2); }
  Record& U32(uint64_t v) { return Append(v, 4); }
  Record& U64(uint64_t v) { return Append(v, 8); }
  Record& Text(StringRef s) {
    bytes_ += s;
    return *this;
  }
  [[nodiscard]] StringRef bytes() const { return bytes_; }

 private:
  Record& Append(uint64_t v, int size) {
    for (int i = 0; i < size; ++i) bytes_ += static_cast<char>(v >> (8 * i));
    return *this;
  }
  std::string bytes_;
};

constexpr uint64_t kVersion = 45;  // ZIP64
constexpr uint64_t kDate = 33;     // 1980-01-01, so that equal contents give equal files

}  // namespace

Result<std::vector<ZipMember>> ReadZip(StringRef bytes, const std::shared_ptr<const void>& owner) {
  HLO_TRY(const Directory directory, FindDirectory(bytes));
  StringRef rest = bytes.substr(directory.offset, directory.size);
  std::vector<ZipMember> members;
  for (uint64_t i = 0; i < directory.count; ++i) {
    HLO_TRY(const Entry entry, ReadEntry(rest));
    HLO_TRY(ZipMember member, ReadMember(bytes, owner, entry));
    members.push_back(std::move(member));
  }
  return members;
}

void ZipWriter::Write(StringRef bytes) {
  out_ << bytes;
  position_ += bytes.size();
}

void ZipWriter::Add(StringRef name, llvm::ArrayRef<StringRef> pieces) {
  Entry entry;
  entry.name = name.str();
  entry.offset = position_;
  uLong crc = 0;
  for (const StringRef piece : pieces) {
    entry.size += piece.size();
    crc = crc32_z(crc, reinterpret_cast<const Bytef*>(piece.data()), piece.size());
  }
  entry.crc = static_cast<uint32_t>(crc);
  const bool large = entry.size >= kMax32;
  const size_t fixed = kLocalSize + name.size() + (large ? 20 : 0) + 4;
  const size_t padding = (kAlignment - (position_ + fixed) % kAlignment) % kAlignment;
  Record local;
  local.U32(kLocal).U16(kVersion).U16(0).U16(kStored).U16(0).U16(kDate).U32(entry.crc);
  const uint64_t size32 = large ? kMax32 : entry.size;
  local.U32(size32).U32(size32).U16(name.size()).U16((large ? 20 : 0) + 4 + padding).Text(name);
  if (large) local.U16(kZip64Extra).U16(16).U64(entry.size).U64(entry.size);
  local.U16(kPaddingExtra).U16(padding).Text(std::string(padding, '\0'));
  Write(local.bytes());
  for (const StringRef piece : pieces) Write(piece);
  entries_.push_back(std::move(entry));
}

void ZipWriter::Finish() {
  const uint64_t start = position_;
  for (const Entry& e : entries_) {
    const bool large = e.size >= kMax32, far = e.offset >= kMax32;
    const uint64_t size32 = large ? kMax32 : e.size;
    const uint64_t extra = (large ? 16 : 0) + (far ? 8 : 0);
    Record row;
    row.U32(kCentral).U16(kVersion).U16(kVersion).U16(0).U16(kStored).U16(0).U16(kDate).U32(e.crc);
    row.U32(size32)
        .U32(size32)
        .U16(e.name.size())
        .U16(extra == 0 ? 0 : extra + 4)
        .U16(0)
        .U16(0)
        .U16(0)
        .U32(0);
    row.U32(far ? kMax32 : e.offset).Text(e.name);
    if (extra > 0) row.U16(kZip64Extra).U16(extra);
    if (large) row.U64(e.size).U64(e.size);
    if (far) row.U64(e.offset);
    Write(row.bytes());
  }
  const uint64_t size = position_ - start, count = entries_.size();
  if (count >= kMax16 || start >= kMax32 || size >= kMax32) {
    Record end64;
    end64.U32(kEnd64)
        .U64(kEnd64Size - 12)
        .U16(kVersion)
        .U16(kVersion)
        .U32(0)
        .U32(0)
        .U64(count)
        .U64(count)
        .U64(size)
        .U64(start);
    end64.U32(kLocator64).U32(0).U64(position_).U32(1);
    Write(end64.bytes());
  }
  const uint64_t count16 = std::min<uint64_t>(count, kMax16);
  Record end;
  end.U32(kEnd).U16(0).U16(0).U16(count16).U16(count16).U32(std::min<uint64_t>(size, kMax32));
  end.U32(std::min<uint64_t>(start, kMax32)).U16(0);
  Write(end.bytes());
}

}  // namespace hlo

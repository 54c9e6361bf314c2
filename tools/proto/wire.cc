#include "tools/proto/wire.h"

#include <bit>

#include "llvm/Support/Endian.h"

namespace hlo {
namespace {

enum WireType { kVarint = 0, kFixed64 = 1, kLengthDelimited = 2, kFixed32 = 5 };

template <class T>
void AppendFixed(std::string& out, T value) {
  char buffer[sizeof(T)];
  llvm::support::endian::write<T, llvm::endianness::little>(buffer, value);
  out.append(buffer, sizeof(T));
}

}  // namespace

void ProtoWriter::AppendVarint(std::string& out, uint64_t value) {
  for (; value >= 128; value >>= 7) out += static_cast<char>(value | 128);
  out += static_cast<char>(value);
}

void ProtoWriter::NumberAlways(int field, int64_t value) {
  Tag(field, kVarint);
  AppendVarint(bytes_, static_cast<uint64_t>(value));
}

void ProtoWriter::BytesAlways(int field, llvm::StringRef bytes) {
  Tag(field, kLengthDelimited);
  AppendVarint(bytes_, bytes.size());
  bytes_ += bytes;
}

void ProtoWriter::Float(int field, float value) {
  if (std::bit_cast<uint32_t>(value) == 0) return;
  Tag(field, kFixed32);
  AppendFixed(bytes_, std::bit_cast<uint32_t>(value));
}

void ProtoWriter::Double(int field, double value) {
  if (std::bit_cast<uint64_t>(value) == 0) return;
  Tag(field, kFixed64);
  AppendFixed(bytes_, std::bit_cast<uint64_t>(value));
}

void ProtoWriter::Packed(int field, llvm::ArrayRef<int64_t> values) {
  if (values.empty()) return;
  std::string packed;
  for (const int64_t value : values) AppendVarint(packed, static_cast<uint64_t>(value));
  BytesAlways(field, packed);
}

void ProtoWriter::Message(int field, llvm::function_ref<void(ProtoWriter&)> write) {
  ProtoWriter inner;
  write(inner);
  BytesAlways(field, inner.bytes_);
}

}  // namespace hlo

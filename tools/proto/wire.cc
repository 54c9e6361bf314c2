#include "tools/proto/wire.h"

#include <bit>

#include "llvm/Support/Endian.h"
#include "llvm/Support/LEB128.h"

namespace hlo {
namespace {

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
  Tag(field, kProtoVarint);
  AppendVarint(bytes_, static_cast<uint64_t>(value));
}

void ProtoWriter::BytesAlways(int field, llvm::StringRef bytes) {
  Tag(field, kProtoBytes);
  AppendVarint(bytes_, bytes.size());
  bytes_ += bytes;
}

void ProtoWriter::Float(int field, float value) {
  if (std::bit_cast<uint32_t>(value) == 0) return;
  Tag(field, kProtoFixed32);
  AppendFixed(bytes_, std::bit_cast<uint32_t>(value));
}

void ProtoWriter::Double(int field, double value) {
  if (std::bit_cast<uint64_t>(value) == 0) return;
  Tag(field, kProtoFixed64);
  AppendFixed(bytes_, std::bit_cast<uint64_t>(value));
}

void ProtoWriter::Packed(int field, llvm::ArrayRef<int64_t> values) {
  if (values.empty()) return;
  std::string packed;
  for (const int64_t value : values) AppendVarint(packed, static_cast<uint64_t>(value));
  BytesAlways(field, packed);
}

void ProtoWriter::Message(int field, llvm::function_ref<void(ProtoWriter&)> write) {
  (void)TryMessage(field, [&](ProtoWriter& inner) { return write(inner), Status(); });
}

Status ProtoWriter::TryMessage(int field, llvm::function_ref<Status(ProtoWriter&)> write) {
  Tag(field, kProtoBytes);
  const size_t number = inner_.size(), before = bytes_.size() + length_bytes_;
  inner_.push_back({bytes_.size(), 0});
  HLO_CHECK_OK(write(*this));
  inner_[number].length = bytes_.size() + length_bytes_ - before;
  length_bytes_ += llvm::getULEB128Size(inner_[number].length);
  return {};
}

std::string ProtoWriter::bytes() const {
  std::string all;
  all.reserve(bytes_.size() + length_bytes_);
  size_t at = 0;
  for (const Inner& inner : inner_) {
    all.append(bytes_, at, inner.begin - at);
    AppendVarint(all, inner.length);
    at = inner.begin;
  }
  return all.append(bytes_, at);
}

}  // namespace hlo

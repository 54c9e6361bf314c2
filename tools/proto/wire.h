// The wire format of protocol buffers, writing side.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "ir/support/result.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

namespace hlo {

/// How a field's value is written.
enum ProtoWireType : int { kProtoVarint = 0, kProtoFixed64 = 1, kProtoBytes = 2, kProtoFixed32 = 5 };

/// Bytes of one message under construction. As in proto3, zeros and empty texts are left out unless asked
/// for by the Always forms.
class ProtoWriter {
 public:
  void Number(int field, int64_t value) {
    if (value != 0) NumberAlways(field, value);
  }
  void NumberAlways(int field, int64_t value);
  void Text(int field, llvm::StringRef bytes) {
    if (!bytes.empty()) BytesAlways(field, bytes);
  }
  void BytesAlways(int field, llvm::StringRef bytes);
  void Float(int field, float value);
  void Double(int field, double value);
  void Packed(int field, llvm::ArrayRef<int64_t> values);
  template <class List>
  void PackedList(int field, const List& list) {
    llvm::SmallVector<int64_t, 8> values;
    for (const auto& value : list) values.push_back(static_cast<int64_t>(value));
    Packed(field, values);
  }
  /// A message within, even if it is empty. `write` goes on with this writer: nothing is copied level by
  /// level.
  void Message(int field, llvm::function_ref<void(ProtoWriter&)> write);
  /// As Message, for what may fail; the message is incomplete then.
  Status TryMessage(int field, llvm::function_ref<Status(ProtoWriter&)> write);
  /// Appends fields that are bytes already.
  void Raw(llvm::StringRef fields) { bytes_ += fields; }

  [[nodiscard]] bool empty() const { return bytes_.empty(); }
  /// All of it, outside of messages within.
  [[nodiscard]] std::string bytes() const;
  static void AppendVarint(std::string& out, uint64_t value);

 private:
  void Tag(int field, int wire_type) { AppendVarint(bytes_, static_cast<uint64_t>(field) << 3 | wire_type); }
  /// Where a message within begins in bytes_, and its length, which is put there at the end.
  struct Inner {
    size_t begin;
    uint64_t length;
  };
  std::string bytes_;  // without the lengths of messages within
  std::vector<Inner> inner_;
  size_t length_bytes_ = 0;  // that those lengths will take
};

}  // namespace hlo

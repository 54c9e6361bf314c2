// The wire format of protocol buffers, writing side.
#pragma once
#include <cstdint>
#include <string>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

namespace hlo {

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
  /// A message within, even if it is empty.
  void Message(int field, llvm::function_ref<void(ProtoWriter&)> write);
  /// Appends fields that are bytes already.
  void Raw(llvm::StringRef fields) { bytes_ += fields; }

  [[nodiscard]] const std::string& bytes() const { return bytes_; }
  static void AppendVarint(std::string& out, uint64_t value);

 private:
  void Tag(int field, int wire_type) { AppendVarint(bytes_, static_cast<uint64_t>(field) << 3 | wire_type); }
  std::string bytes_;
};

}  // namespace hlo

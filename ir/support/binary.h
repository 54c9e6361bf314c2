// Values as bytes and back: one list of members serves both ways.
#pragma once
#include <cstring>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

namespace hlo {

/// Appends to a string. Numbers take as few bytes as they need.
class BinaryWriter {
 public:
  static constexpr bool kReads = false;
  void Number(uint64_t value) {
    for (; value >= 128; value >>= 7) bytes_ += static_cast<char>(value | 128);
    bytes_ += static_cast<char>(value);
  }
  void Bytes(const void* data, size_t size) { bytes_.append(static_cast<const char*>(data), size); }
  void Text(llvm::StringRef text) {
    Number(text.size());
    bytes_ += text;
  }
  [[nodiscard]] bool failed() const { return false; }
  std::string Take() && { return std::move(bytes_); }

 private:
  std::string bytes_;
};

/// Reads what a BinaryWriter wrote. After bytes that it cannot have written it has failed, and everything it
/// gives is zero or empty. Strings point into the bytes.
class BinaryReader {
 public:
  static constexpr bool kReads = true;
  explicit BinaryReader(llvm::StringRef bytes) : at_(bytes.begin()), end_(bytes.end()) {}
  uint64_t Number() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (at_ == end_) break;
      const auto byte = static_cast<uint8_t>(*at_++);
      value |= static_cast<uint64_t>(byte & 127) << shift;
      if (byte < 128) return value;
    }
    Fail();
    return 0;
  }
  /// A number below `limit`.
  uint64_t Number(uint64_t limit) {
    const uint64_t value = Number();
    if (value < limit) return value;
    Fail();
    return 0;
  }
  /// How many elements follow, each of at least one byte.
  size_t Count() { return Number(static_cast<uint64_t>(end_ - at_) + 1); }
  const char* Bytes(uint64_t size) {
    if (size > static_cast<uint64_t>(end_ - at_)) {
      Fail();
      return nullptr;
    }
    return std::exchange(at_, at_ + size);
  }
  llvm::StringRef Text() {
    const size_t size = Count();
    const char* data = Bytes(size);
    return data == nullptr ? llvm::StringRef() : llvm::StringRef(data, size);
  }
  void Fail() {
    failed_ = true;
    at_ = end_;
  }
  [[nodiscard]] bool failed() const { return failed_; }
  [[nodiscard]] bool at_end() const { return at_ == end_; }

 private:
  const char *at_, *end_;
  bool failed_ = false;
};

// Archive(a, value) writes or reads a value. Structs have an overload that lists their members.
template <class A>
void Archive(A& a, uint64_t& value) {
  if constexpr (A::kReads)
    value = a.Number();
  else
    a.Number(value);
}
template <class A>
void Archive(A& a, int64_t& value) {  // small negative numbers are small
  auto bits = static_cast<uint64_t>(value);
  uint64_t folded = (bits << 1) ^ (value < 0 ? ~uint64_t{0} : 0);
  Archive(a, folded);
  if constexpr (A::kReads) value = static_cast<int64_t>((folded >> 1) ^ (~(folded & 1) + 1));
}
template <class A>
void Archive(A& a, int32_t& value) {
  int64_t wide = value;
  Archive(a, wide);
  value = static_cast<int32_t>(wide);
}
template <class A>
void Archive(A& a, bool& value) {
  if constexpr (A::kReads)
    value = a.Number(2) != 0;
  else
    a.Number(value ? 1 : 0);
}
template <class A, class T>
  requires std::is_floating_point_v<T>
void Archive(A& a, T& value) {
  if constexpr (A::kReads) {
    const char* data = a.Bytes(sizeof value);
    value = 0;
    if (data != nullptr) std::memcpy(&value, data, sizeof value);
  } else {
    a.Bytes(&value, sizeof value);
  }
}
/// How many enumerators a type has, for those of which others would do harm.
template <class T>
inline constexpr uint64_t kEnumerators = 256;
template <class A, class T>
  requires std::is_enum_v<T>
void Archive(A& a, T& value) {
  if constexpr (A::kReads)
    value = static_cast<T>(a.Number(kEnumerators<T>));
  else
    a.Number(static_cast<uint64_t>(value));
}
template <class A>
void Archive(A& a, llvm::StringRef& value) {
  if constexpr (A::kReads)
    value = a.Text();
  else
    a.Text(value);
}
template <class A>
void Archive(A& a, std::string& value) {
  llvm::StringRef text = value;
  Archive(a, text);
  if constexpr (A::kReads) value = text.str();
}
template <class A, class T, class U>
void Archive(A& a, std::pair<T, U>& value) {
  Archive(a, value.first);
  Archive(a, value.second);
}
template <class A, class V>
void ArchiveList(A& a, V& values) {
  if constexpr (A::kReads) {
    values.clear();
    for (size_t left = a.Count(); left > 0 && !a.failed(); --left) {
      typename V::value_type value{};
      Archive(a, value);
      values.push_back(std::move(value));
    }
  } else {
    a.Number(values.size());
    for (auto& value : values) Archive(a, value);
  }
}
template <class A, class T>
void Archive(A& a, std::vector<T>& values) {
  ArchiveList(a, values);
}
template <class A, class T, unsigned N>
void Archive(A& a, llvm::SmallVector<T, N>& values) {
  ArchiveList(a, values);
}
template <class A, class T>
void Archive(A& a, std::optional<T>& value) {
  bool has = value.has_value();
  Archive(a, has);
  if constexpr (A::kReads) value = has ? std::optional<T>(T{}) : std::nullopt;
  if (has) Archive(a, *value);
}
template <class A, class... T>
void ArchiveAll(A& a, T&... members) {
  (Archive(a, members), ...);
}
/// Lists the members of a struct, of which `v` is one.
#define HLO_BINARY_MEMBERS(Type, ...) \
  template <class A>                  \
  void Archive(A& a, Type& v) {       \
    ArchiveAll(a, __VA_ARGS__);       \
  }

}  // namespace hlo

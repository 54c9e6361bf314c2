// Names of one scope and what they stand for.
#pragma once
#include <cstdint>
#include <vector>

#include "ir/support/name_hash.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace hlo {

/// An insertion-ordered map from names to values: a flat table of hashes in front of the entries, made for
/// the names of operands, whose lookup is the hottest part of parsing. Names are not copied.
template <class Value>
class NameMap {
 public:
  struct Entry {
    llvm::StringRef name;
    Value value;
  };

  /// Null if the name is unknown. Valid until the next Insert.
  [[nodiscard]] Value* Find(llvm::StringRef name) {
    if (slots_.empty()) return nullptr;
    const uint32_t number = FindSlot(name, Hash(name))->entry;
    return number == 0 ? nullptr : &entries_[number - 1].value;
  }
  /// The value of the name, which is added (default-constructed) if it is unknown. Valid until the next
  /// Insert.
  Value& Insert(llvm::StringRef name) { return entries_[InsertNumber(name)].value; }
  /// The same as the number of the entry: entries are numbered from 0 on in order of insertion.
  size_t InsertNumber(llvm::StringRef name) {
    if ((entries_.size() + 1) * 2 > slots_.size()) Grow();
    const uint32_t hash = Hash(name);
    Slot* slot = FindSlot(name, hash);
    if (slot->entry == 0) {
      entries_.push_back({name, Value()});
      *slot = {hash, static_cast<uint32_t>(entries_.size())};
    }
    return slot->entry - 1;
  }
  [[nodiscard]] llvm::ArrayRef<Entry> entries() const { return entries_; }
  /// The value of entry `number`.
  Value& at(size_t number) { return entries_[number].value; }
  /// Forgets all names but keeps the memory for others.
  void Clear() {
    slots_.clear();
    entries_.clear();
  }

 private:
  struct Slot {
    uint32_t hash = 0;
    uint32_t entry = 0;  // number plus one; 0: free
  };
  static uint32_t Hash(llvm::StringRef name) { return static_cast<uint32_t>(HashName(name)); }
  [[gnu::always_inline]] Slot* FindSlot(llvm::StringRef name, uint32_t hash) {
    const size_t mask = slots_.size() - 1;
    for (size_t i = hash & mask;; i = (i + 1) & mask) {
      Slot& slot = slots_[i];
      if (slot.entry == 0 || (slot.hash == hash && SameName(entries_[slot.entry - 1].name, name)))
        return &slot;
    }
  }
  void Grow() {
    std::swap(slots_, outgrown_);
    slots_.assign(std::max<size_t>(16, outgrown_.size() * 2), {});
    const size_t mask = slots_.size() - 1;
    for (const Slot& slot : outgrown_) {
      if (slot.entry == 0) continue;
      size_t i = slot.hash & mask;
      while (slots_[i].entry != 0) i = (i + 1) & mask;
      slots_[i] = slot;
    }
  }

  std::vector<Slot> slots_;
  std::vector<Slot> outgrown_;  // memory of the previous, smaller table
  std::vector<Entry> entries_;
};

}  // namespace hlo

// Unique names of a module; private to ir/module.cc and ir/clone.cc.
#pragma once
#include "ir/module.h"
#include "llvm/ADT/DenseSet.h"

namespace hlo {

/// Which `root.id` names are taken (hlo-text §7.2).
class Module::NameTable {
 public:
  /// The wanted name if nobody has it, else the root with the smallest free id. `wanted` itself is
  /// returned when it can stay as it is.
  llvm::StringRef Take(llvm::StringRef wanted, Module& module) {
    int64_t id = 0;
    llvm::StringRef root = wanted;
    const bool has_suffix = SplitSuffix(wanted, root, id);
    Ids& ids = roots_[root];
    if (ids.Insert(id)) {
      if (!has_suffix || IsCanonicalSuffix(wanted.drop_front(root.size() + 1))) return wanted;
      return module.Save((root + "." + llvm::Twine(id)).str());
    }
    id = ids.InsertFree();
    if (id == 0 && !has_suffix) return module.Save(root);
    return module.Save((root + "." + llvm::Twine(id)).str());
  }

 private:
  /// The ids of one root: bits where they lie close together, a set for the rest.
  class Ids {
   public:
    /// False if it was there.
    bool Insert(int64_t id) {
      const auto word = static_cast<uint64_t>(id) / 64;
      if (id < 0 || word >= bits_.size()) {
        if (id < 0 || word > 4 + count_ / 8) return !HasBit(id) && sparse_.insert(id).second;
        bits_.resize(word + 1 + word / 2);
      }
      uint64_t& bits = bits_[word];
      const uint64_t bit = uint64_t{1} << (id % 64);
      if ((bits & bit) != 0 || sparse_.contains(id)) return false;
      bits |= bit;
      ++count_;
      return true;
    }
    /// Inserts the smallest id not there.
    int64_t InsertFree() {
      while (!Insert(next_)) ++next_;
      return next_;
    }

   private:
    [[nodiscard]] bool HasBit(int64_t id) const {
      const auto word = static_cast<uint64_t>(id) / 64;
      return id >= 0 && word < bits_.size() && (bits_[word] >> (id % 64) & 1) != 0;
    }
    llvm::SmallVector<uint64_t, 2> bits_;
    llvm::SmallDenseSet<int64_t, 1> sparse_;
    uint64_t count_ = 0;
    int64_t next_ = 0;
  };

  /// Splits `root.<integer>`; false if there is no such suffix. Leading zeros are dropped from the id.
  static bool SplitSuffix(llvm::StringRef name, llvm::StringRef& root, int64_t& id) {
    size_t begin = name.size();
    while (begin > 0 && llvm::isDigit(name[begin - 1])) --begin;
    if (begin == name.size()) return false;
    if (begin > 0 && name[begin - 1] == '-') --begin;
    if (begin < 2 || name[begin - 1] != '.') return false;
    constexpr int64_t kLimit = int64_t{1} << 60;  // keeps clear of the set's reserved keys
    int64_t value = 0;
    if (name.size() - begin <= 15 && name[begin] != '-')
      for (const char c : name.drop_front(begin)) value = value * 10 + (c - '0');
    else if (name.drop_front(begin).getAsInteger(10, value) || value > kLimit || value < -kLimit)
      return false;
    root = name.take_front(begin - 1);
    id = value;
    return true;
  }
  static bool IsCanonicalSuffix(llvm::StringRef digits) {
    return digits.size() == 1 || (digits[0] != '0' && digits != "-0" && !digits.starts_with("-0"));
  }

  llvm::StringMap<Ids> roots_;
};

}  // namespace hlo

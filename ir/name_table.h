// Unique names of a module; private to ir/module.cc and ir/clone.cc.
#pragma once
#include "ir/module.h"
#include "ir/support/name_hash.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/Twine.h"

namespace hlo {

/// Which `root.id` names are taken (hlo-text §7.2).
class Module::NameTable {
 public:
  /// The wanted name if nobody has it, else the root with the smallest free id. `wanted` itself is
  /// returned when it can stay as it is.
  llvm::StringRef Take(llvm::StringRef wanted, Module& module) {
    int64_t id = 0;
    llvm::StringRef text = wanted;
    const bool has_suffix = SplitSuffix(wanted, text, id);
    const auto [it, is_new] = roots_.try_emplace_with_hash(text, static_cast<uint32_t>(HashName(text)));
    Root& root = it->second;
    if (is_new) root.number = static_cast<uint32_t>(roots_.size());
    if (Insert(root.number, id)) {
      if (!has_suffix || IsCanonicalSuffix(wanted.drop_front(text.size() + 1))) return wanted;
      return module.Save((text + "." + llvm::Twine(id)).str());
    }
    while (!Insert(root.number, root.next)) ++root.next;
    id = root.next;
    if (id == 0 && !has_suffix) return module.Save(text);
    return module.Save((text + "." + llvm::Twine(id)).str());
  }

 private:
  struct Root {
    uint32_t number = 0;
    int64_t next = 0;  // all smaller ids are taken
  };

  /// False if the id of that root was there.
  bool Insert(uint32_t root, int64_t id) {
    constexpr int64_t kDense = int64_t{1} << 32;  // block numbers stay far below those reserved in the map
    if (id < 0 || id >= kDense) return far_.insert({root, id}).second;
    uint64_t& block = blocks_[static_cast<uint64_t>(root) << 26 | static_cast<uint64_t>(id) >> 6];
    const uint64_t bit = uint64_t{1} << (id & 63);
    return (std::exchange(block, block | bit) & bit) == 0;
  }

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

  llvm::StringMap<Root> roots_;
  llvm::DenseMap<uint64_t, uint64_t> blocks_;         // (root, id / 64) -> bit per id: ids lie close together
  llvm::DenseSet<std::pair<uint32_t, int64_t>> far_;  // the ids beyond
};

}  // namespace hlo

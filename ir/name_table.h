// Unique names of a module; private to ir/module.cc and ir/clone.cc.
#pragma once
#include "ir/module.h"
#include "ir/support/name_map.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/Twine.h"

namespace hlo {

/// Which `root.id` names are taken (hlo-text §7.2).
class Module::NameTable {
 public:
  /// The wanted name if nobody has it, else the root with the smallest free id. `wanted`, which must live as
  /// long as the table, is itself returned when it can stay as it is.
  llvm::StringRef Take(llvm::StringRef wanted, Module& module) {
    int64_t id = 0;
    llvm::StringRef text = wanted;
    const bool has_suffix = SplitSuffix(wanted, text, id);
    // Names in a row often have the same root.
    if (roots_.entries().empty() || !SameName(roots_.entries()[last_].name, text))
      last_ = roots_.InsertNumber(text);
    if (Insert(last_, id)) {
      if (!has_suffix || IsCanonicalSuffix(wanted.drop_front(text.size() + 1))) return wanted;
      return module.Save((text + "." + llvm::Twine(id)).str());
    }
    int64_t& next = roots_.at(last_).next;
    while (!Insert(last_, next)) ++next;
    if (next == 0 && !has_suffix) return module.Save(text);
    return module.Save((text + "." + llvm::Twine(next)).str());
  }

  /// Makes this a copy of `from` with texts of its own in `module`.
  void Assign(const NameTable& from, Module& module) {
    *this = from;
    roots_.Clear();
    for (const auto& root : from.roots_.entries()) roots_.Insert(module.Save(root.name)) = root.value;
  }

 private:
  struct Root {
    int64_t next = 0;              // all smaller ids are taken
    uint64_t latest = UINT64_MAX;  // id / 64 of the block used last
    uint32_t latest_block = 0;     // and its number
  };

  /// False if the id of that root was there.
  bool Insert(size_t root, int64_t id) {
    constexpr int64_t kDense = int64_t{1} << 32;  // block numbers stay far below those reserved in the map
    if (id < 0 || id >= kDense) return far_.insert({static_cast<uint32_t>(root), id}).second;
    Root& r = roots_.at(root);
    const uint64_t place = static_cast<uint64_t>(id) >> 6;
    if (r.latest != place) {
      const auto fresh = static_cast<uint32_t>(blocks_.size());
      const auto [it, is_new] = block_numbers_.try_emplace(static_cast<uint64_t>(root) << 26 | place, fresh);
      if (is_new) blocks_.push_back(0);
      r.latest = place;
      r.latest_block = it->second;
    }
    uint64_t& block = blocks_[r.latest_block];
    const uint64_t bit = uint64_t{1} << (id & 63);
    return (std::exchange(block, block | bit) & bit) == 0;
  }

  /// Splits `root.<integer>`; false if there is no such suffix. Leading zeros are dropped from the id.
  static bool SplitSuffix(llvm::StringRef name, llvm::StringRef& root, int64_t& id) {
    int64_t value = 0, unit = 1;
    size_t begin = name.size();
    for (; begin > 0 && llvm::isDigit(name[begin - 1]) && name.size() - begin < 16; unit *= 10)
      value += unit * (name[--begin] - '0');
    if (begin == name.size() || begin < 2) return false;
    if (name[begin - 1] != '.' && !SplitRareSuffix(name, begin, value)) return false;
    root = name.take_front(begin - 1);
    id = value;
    return true;
  }
  /// The same for long and negative integers. `begin` moves to the integer.
  static bool SplitRareSuffix(llvm::StringRef name, size_t& begin, int64_t& value) {
    constexpr int64_t kLimit = int64_t{1} << 60;  // keeps clear of the set's reserved keys
    while (begin > 0 && llvm::isDigit(name[begin - 1])) --begin;
    if (begin > 0 && name[begin - 1] == '-') --begin;
    if (begin < 2 || name[begin - 1] != '.') return false;
    return !name.drop_front(begin).getAsInteger(10, value) && value <= kLimit && value >= -kLimit;
  }
  static bool IsCanonicalSuffix(llvm::StringRef digits) {
    return digits.size() == 1 || (digits[0] != '0' && digits != "-0" && !digits.starts_with("-0"));
  }

  NameMap<Root> roots_;
  size_t last_ = 0;                                   // the root of the latest name
  llvm::DenseMap<uint64_t, uint32_t> block_numbers_;  // (root, id / 64) -> block
  std::vector<uint64_t> blocks_;                      // a bit per id: ids lie close together
  llvm::DenseSet<std::pair<uint32_t, int64_t>> far_;  // (root, id): the ids beyond
};

}  // namespace hlo

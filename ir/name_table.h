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
    if (ids.used.insert(id).second) {
      if (!has_suffix || IsCanonicalSuffix(wanted.drop_front(root.size() + 1))) return wanted;
      return module.Save((root + "." + llvm::Twine(id)).str());
    }
    while (!ids.used.insert(ids.next).second) ++ids.next;
    id = ids.next;
    if (id == 0 && !has_suffix) return module.Save(root);
    return module.Save((root + "." + llvm::Twine(id)).str());
  }

 private:
  struct Ids {
    llvm::SmallDenseSet<int64_t, 4> used;
    int64_t next = 0;
  };

  /// Splits `root.<integer>`; false if there is no such suffix. Leading zeros are dropped from the id.
  static bool SplitSuffix(llvm::StringRef name, llvm::StringRef& root, int64_t& id) {
    const size_t dot = name.rfind('.');
    if (dot == llvm::StringRef::npos || dot == 0 || dot + 1 == name.size()) return false;
    constexpr int64_t kLimit = int64_t{1} << 60;  // keeps clear of the set's reserved keys
    int64_t value = 0;
    if (name.drop_front(dot + 1).getAsInteger(10, value) || value > kLimit || value < -kLimit) return false;
    root = name.take_front(dot);
    id = value;
    return true;
  }
  static bool IsCanonicalSuffix(llvm::StringRef digits) {
    return digits.size() == 1 || (digits[0] != '0' && digits != "-0" && !digits.starts_with("-0"));
  }

  llvm::StringMap<Ids> roots_;
};

}  // namespace hlo

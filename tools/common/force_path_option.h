// --force-path.
#pragma once
#include "backends/cpu/compile.h"
#include "tools/common/options.h"

namespace hlo {

/// One of ProductPaths(), or empty.
struct ForcedPath {
  std::string name;
};

inline Status ParseOption(const OptionUse& use, ForcedPath& value) {
  const std::vector<llvm::StringRef> names = ProductPaths();
  if (!llvm::is_contained(names, use.value)) return UnknownWord(use, names);
  value.name = use.value.str();
  return {};
}

}  // namespace hlo

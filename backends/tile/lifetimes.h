// Where the values of a kernel are used.
#pragma once
#include "backends/kernel/kernel.h"

namespace hlo::tile {

struct Lifetime {
  const kernel::Region* region = nullptr;  // that defines it
  int32_t last = -1;                       // the last of its statements that uses it; the yields count as one
  int32_t uses = 0;
};

/// Of each value.
std::vector<Lifetime> FindLifetimes(const kernel::Kernel& kernel);

/// The statement, or one in it, stores.
bool Stores(const kernel::Stmt& stmt, llvm::function_ref<bool(const kernel::StoreStmt&)> counts);

}  // namespace hlo::tile

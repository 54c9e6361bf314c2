// Names of XLA's passes that stand for nothing here, each with the reason.
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace hlo {

/// A row of absent.def.
struct AbsentPass {
  llvm::StringRef name;
  llvm::StringRef why;  // ends the sentence "is not here: …"
};

llvm::ArrayRef<AbsentPass> AbsentPasses();  // sorted by reason, then by name

}  // namespace hlo

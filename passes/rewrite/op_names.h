// Operation names of what a call stands for.
#pragma once
#include "ir/module.h"
#include "llvm/ADT/DenseMap.h"

namespace hlo {

/// Metadata of the instructions of a callee: the call's operation name, then their own (passes.md §4.7).
class MetadataPrefix {
 public:
  explicit MetadataPrefix(const Instruction& call) : module_(*call.module()), call_(call.metadata()) {}
  /// The metadata for a copy of `inner`; `inner`'s own if the call has none or the name would be too long.
  const OpMetadata* Of(const Instruction& inner);

 private:
  const OpMetadata* Renamed(const OpMetadata* metadata);

  Module& module_;
  const OpMetadata* call_;
  llvm::DenseMap<const OpMetadata*, const OpMetadata*> renamed_;
};

}  // namespace hlo

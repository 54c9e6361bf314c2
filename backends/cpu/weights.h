// Constants of objects as a file.
#pragma once
#include <string>

#include "backends/compile/program.h"
#include "backends/llvm/emit_entry.h"

namespace hlo::cpu {

/// Collects large constants of functions.
class WeightsWriter {
 public:
  WeightsWriter();
  /// What lies there would be part of the file.
  static bool Takes(const compile::Buffer& buffer);
  /// Says in the entry which of its constants lie where in the file.
  void Take(codegen::EntryPoint& entry);
  /// The file, after which its size and hash are known.
  std::string Finish();
  [[nodiscard]] uint64_t bytes() const { return bytes_; }
  [[nodiscard]] uint64_t hash() const { return hash_; }

 private:
  std::string file_;
  uint64_t bytes_ = 0, hash_ = 0;
};

}  // namespace hlo::cpu

// Constants of objects as a file.
#pragma once
#include <map>
#include <string>

#include "backends/compile/program.h"
#include "backends/llvm/emit_entry.h"

namespace hlo::cpu {

/// Collects large constants of functions, each once.
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
  size_t PlaceOf(llvm::StringRef constant);

  std::string file_;
  std::multimap<uint64_t, std::pair<size_t, size_t>> places_;  // of constants, by hash: where, how many bytes
  uint64_t bytes_ = 0, hash_ = 0;
};

}  // namespace hlo::cpu

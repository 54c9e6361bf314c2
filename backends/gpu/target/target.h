// What GPU code is made for: descriptions of cards, as text that is read and checked.
#pragma once
#include <string>
#include <vector>

#include "backends/compile/machine.h"
#include "ir/support/result.h"
#include "ir/support/source.h"
#include "llvm/ADT/SmallVector.h"

namespace hlo {

/// The texts of the descriptions that are built in: a100, b200, h100, h200.
llvm::ArrayRef<llvm::StringRef> GpuTargetTexts();

}  // namespace hlo

namespace hlo::gpu {

/// A card, from lines `key = number`; `#` begins a comment. Sizes are in bytes, rates per second, work per
/// clock that of a multiprocessor.
struct Target {
  std::string name;
  std::string arch;  // LLVM's: sm_90
  std::string ptx;   // the version of PTX that is written: 8.5
  int64_t multiprocessors = 0;
  int64_t threads_per_multiprocessor = 0, blocks_per_multiprocessor = 0;
  int64_t threads_per_block = 0;
  int64_t warp = 0;
  int64_t registers_per_multiprocessor = 0, registers_per_thread = 0;  // of 32 bits
  int64_t shared_memory_per_multiprocessor = 0, shared_memory_per_block = 0;
  int64_t static_shared_memory = 0;  // of a block without asking for more when it is launched
  int64_t l2_bytes = 0, memory_bytes = 0, memory_bandwidth = 0, clock_hz = 0;
  int64_t sector_bytes = 0;  // in which memory is read and written
  int64_t access_bytes = 0;  // of one thread at once
  int64_t f32_per_clock = 0, f64_per_clock = 0, special_per_clock = 0;
  /// `matrix = TYPE ROWS COLUMNS DEPTH [MULTIPLY-ADDS PER CLOCK]`, a line for each.
  llvm::SmallVector<compile::Machine::MatrixUnit, 5> matrix_units;
  /// What the units do, in their order; 0: it is not said.
  llvm::SmallVector<int64_t, 5> matrix_per_clock;

  /// Multiply-adds per second of products of a type on the units for it; 0 without one whose rate is known.
  [[nodiscard]] double MatrixRate(ElementType type) const;
};

/// Reads a description. Errors: parse-…, at the place of the text.
Result<Target> ParseTarget(const SourceBuffer& source);
/// A description that ParseTarget() reads.
std::string ToString(const Target& target);

std::vector<std::string> TargetNames();

/// The one of a name, or of a file; nothing given: h100. Errors: those of ParseTarget(), usage-option,
/// input-open.
Result<Target> FindTarget(llvm::StringRef name_or_file);

/// What passes and analyses ask. `target` is of ParseTarget().
compile::Machine MachineOf(const Target& target);

}  // namespace hlo::gpu

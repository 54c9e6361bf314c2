// What libraries do for steps of programs, each in its own way.
#pragma once
#include <memory>
#include <string>

#include "backends/gpu/libraries/load.h"
#include "ir/instruction.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace hlo::gpu {

/// A number for each array of a step: those of its operands, and those of its result, leaf by leaf.
struct LibraryArrays {
  llvm::SmallVector<uint64_t, 4> operands, results;
};

/// As libraries take addresses.
inline void* AtAddress(uint64_t address) {
  return reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr)
}

/// What a member of a collective tells the others, by rank.
using MemberNumbers = llvm::SmallVector<uint64_t, 8>;

/// One call of what a library was told to do.
struct LibraryCall {
  LibraryArrays at;        // addresses
  uint64_t workspace = 0;  // the address of as many bytes as the plan wants
  void* stream = nullptr;  // that everything is to be asked for on
  /// Bytes from one place of the GPU to another, in the order of the stream.
  llvm::function_ref<Status(uint64_t to, uint64_t from, size_t bytes)> copy;
  /// Bytes of the host, which may change once this returns.
  llvm::function_ref<Status(uint64_t to, const void* from, size_t bytes)> upload;
  int gpu = 0;  // its number
  /// Of plans that meet others: once all members of the collective have come, each with its numbers, the last
  /// one asks for what all do. Declines, of all alike, where two have the same GPU or `ask` declines.
  llvm::function_ref<Status(const MemberNumbers& mine,
                            llvm::function_ref<Status(llvm::ArrayRef<MemberNumbers> all)> ask)>
      meet;
};

/// What a library does for a step, made once for a GPU and run often, by several threads at once.
class LibraryPlan {
 public:
  LibraryPlan() = default;
  LibraryPlan(const LibraryPlan&) = delete;
  LibraryPlan& operator=(const LibraryPlan&) = delete;
  virtual ~LibraryPlan() = default;
  /// Of memory that Run() needs.
  [[nodiscard]] virtual size_t workspace_bytes() const = 0;
  /// Whether it is one for several GPUs.
  [[nodiscard]] virtual bool meets_others() const { return false; }
  /// Asks a stream for it. Declines where the library cannot do it after all, and nothing was asked for;
  /// runtime-gpu.
  virtual Status Run(const LibraryCall& call) const = 0;
};

/// A library on one GPU; several threads may use it at once.
class OpenLibraryOnGpu {
 public:
  OpenLibraryOnGpu() = default;
  OpenLibraryOnGpu(const OpenLibraryOnGpu&) = delete;
  OpenLibraryOnGpu& operator=(const OpenLibraryOnGpu&) = delete;
  virtual ~OpenLibraryOnGpu() = default;
};
using LibraryPtr = std::shared_ptr<OpenLibraryOnGpu>;

/// What a library is told: read of an instruction, before anybody knows whether there is a library.
class LibraryWork {
 public:
  LibraryWork() = default;
  LibraryWork(const LibraryWork&) = delete;
  LibraryWork& operator=(const LibraryWork&) = delete;
  virtual ~LibraryWork() = default;
  /// Every figure of it, for --explain-codegen; operands by their names.
  [[nodiscard]] virtual std::string ToString(const Instruction& inst) const = 0;
  /// How the library does it, for arrays whose addresses are multiples of `alignments` (powers of 2). The
  /// library is that of the row of the table. Declines what it does not have. Errors: runtime-gpu.
  [[nodiscard]] virtual Result<std::unique_ptr<LibraryPlan>> Plan(LibraryPtr library,
                                                                  const LibraryArrays& alignments) const = 0;
};

/// A row of libraries.def.
struct LibraryInfo {
  llvm::StringLiteral name;
  /// Whether there is anything in an instruction that the library knows of.
  bool (*concerns)(const Instruction& inst);
  /// What it does for the whole of an instruction. Declines, saying why, where that is not its kind or pays
  /// no call.
  Result<std::unique_ptr<LibraryWork>> (*describe)(const Instruction& inst);
  /// Whether it can be loaded; no GPU is needed for that.
  bool (*is_there)(const LibraryOptions& options);
  /// Loads it the first time, and starts it on the GPU that calls are for; `lent` for the emulated GPU.
  /// Errors: unavailable-library; runtime-gpu.
  Result<LibraryPtr> (*open)(const LibraryOptions& options, const LentDriver* lent);
};
llvm::ArrayRef<LibraryInfo> Libraries();

#define LIBRARY(Id, name)                                                     \
  bool Concerns##Id(const Instruction& inst);                                 \
  Result<std::unique_ptr<LibraryWork>> Describe##Id(const Instruction& inst); \
  bool Is##Id##There(const LibraryOptions& options);                          \
  Result<LibraryPtr> Open##Id(const LibraryOptions& options, const LentDriver* lent);
#include "backends/gpu/libraries/libraries.def"

}  // namespace hlo::gpu

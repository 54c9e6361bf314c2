// A routine as a function of C: arrays in, arrays out, nothing else.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "llvm/ADT/ArrayRef.h"

namespace llvm {
class Function;
}  // namespace llvm

namespace hlo::codegen {

/// Where the slots of a routine lie when a function of C calls it.
struct EntryPoint {
  enum class Base : uint8_t { Nowhere, Argument, Result, Temporary, Constant };
  struct Place {
    Base base = Base::Nowhere;
    size_t number = 0;  // of the argument, result or constant
    int64_t offset = 0;
  };
  /// Of bytes that are part of a result but are computed elsewhere; they may be the same bytes.
  struct Copy {
    Place from, to;
    int64_t bytes;
  };
  /// What the function returns.
  enum Code : uint8_t { kDone = 0, kNullPointer = 1, kMisaligned = 2, kOtherMachine = 8 };

  /// A kernel that the archive runs in pieces, which is its host's call of that number or, if that is a step,
  /// a part of it: the kernel's number, the iterations of its parallel loop, and how many make a piece.
  struct Kernel {
    int32_t call, kernel;
    int64_t extent, grain;
  };
  /// What identifies a file of constants; no bytes: there is none.
  struct Weights {
    uint64_t bytes = 0, hash = 0;
  };
  /// What the code calls of the archive of loops: the steps that the archive computes, as bytes, and kernels;
  /// and how much temporary memory the code itself needs.
  struct Archive {
    llvm::ArrayRef<uint8_t> steps;
    int64_t temp_bytes = 0;
    std::vector<Kernel> kernels;
    Weights weights;
  };

  std::string symbol;
  size_t version = 0;                    // of the function
  std::vector<bool> arguments, results;  // whether they have bytes: others may be null
  bool temporary = false;                // there is temporary memory
  int64_t alignment = 1;                 // of results and temporary memory
  std::vector<llvm::ArrayRef<uint8_t>> constants;
  std::vector<int64_t>
      in_weights;  // where constants lie in the file; -1: in the object. Empty: all are there
  std::vector<std::vector<Place>> slots;  // of each routine
  std::vector<Copy> copies;               // at the end, in order
  std::optional<Archive> archive;         // nothing: the code calls nobody
};

/// Adds the body of a function of C, `int (void* const* args, void* const* results, void* temp)`, to the
/// module of `routines`, which EmitRoutine() made and which it calls one after the other. Constants become
/// data of the module. With an archive also what that is told (runtime::Program). Both have the names of
/// emit_front.h, which makes what programs call. `kernels`: of the archive's kernels, in their order.
llvm::Function* EmitEntryPoint(const EntryPoint& entry, llvm::ArrayRef<llvm::Function*> routines,
                               llvm::ArrayRef<llvm::Function*> kernels = {});

}  // namespace hlo::codegen

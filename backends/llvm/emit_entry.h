// A routine as a function of C: arrays in, arrays out, nothing else.
#pragma once
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
  enum Code : uint8_t { kDone = 0, kNullPointer = 1, kMisaligned = 2 };

  std::string symbol;
  std::vector<bool> arguments, results;  // whether they have bytes: others may be null
  bool temporary = false;                // there is temporary memory
  int64_t alignment = 1;                 // of results and temporary memory
  std::vector<llvm::ArrayRef<uint8_t>> constants;
  std::vector<std::vector<Place>> slots;  // of each routine
  std::vector<Copy> copies;               // at the end, in order
};

/// Adds `int SYMBOL(void* const* args, void* const* results, void* temp)` to the module of `routines`, which
/// EmitRoutine() made and which it calls one after the other. Constants become data of the module.
llvm::Function* EmitEntryPoint(const EntryPoint& entry, llvm::ArrayRef<llvm::Function*> routines);

}  // namespace hlo::codegen

// What programs in C and C++ have to know of functions that were compiled ahead of time, in words.
#pragma once
#include "backends/cpu/c_interface.h"
#include "backends/cpu/machine.h"

namespace hlo::cpu {

/// One function.
struct CFunction {
  const CInterface* interface;
  std::string symbol, module;
  int64_t temp_bytes = 0;    // of code itself
  bool has_archive = false;  // it calls the archive of loops
  bool has_weights = false;  // its large constants are in a file
};

/// All that is in an object.
struct CObject {
  std::vector<CFunction> functions;
  std::vector<const Machine*> machines;     // which code is for, the one that has most first
  bool asks = false;                        // whether the processor is one of them
  std::vector<std::string> symbols_needed;  // of others
};

/// For C11 and C++, with the shapes of arrays as types.
std::string HeaderOf(const CObject& object);
/// JSON, hlo.aot/1: one function at the top, or several as a list.
std::string DescriptionOf(const CObject& object);

}  // namespace hlo::cpu

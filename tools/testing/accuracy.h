// Accuracy of compiled elementary functions against the C library in higher precision.
#pragma once
#include <cstdint>
#include <string>

#include "ir/support/result.h"
#include "ir/types.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/raw_ostream.h"

namespace hlo::testing {

struct AccuracyOptions {
  uint64_t stride = 1;  // every which f32 value is looked at
  /// Values of f64 and pairs of operands, in units of 2^20.
  uint64_t samples = 16;
  /// Names of functions and of types that count; empty: all.
  llvm::SmallVector<std::string> functions, types;
  unsigned threads = 2;
  /// Where the machine runs code for Haswell, whether that gives the same bits.
  bool compare_isas = true;
};

/// Looks at f32 functions of one operand with `stride`, at narrower types whole, at f64 and at functions of
/// two operands in samples and on special values. Prints one line per function and type: the number of
/// operands, the largest error in units of the last place and its bound, where that is, how many special
/// values (NaN, infinities, zeros and their signs) are wrong, how many results differ in code for Haswell.
/// Returns how many lines are short of what they should be.
int64_t CheckAccuracy(const AccuracyOptions& options, llvm::raw_ostream& os);

/// Prints how long functions of f32 take per element, one thread, operands in the first-level cache.
void PrintSpeed(const AccuracyOptions& options, llvm::raw_ostream& os);

}  // namespace hlo::testing

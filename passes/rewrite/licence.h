// What rules and passes may change in floats, and when: one vocabulary for both.
#pragma once
#include <cstdint>
#include <string>

#include "llvm/ADT/StringRef.h"

namespace hlo {

/// What may change in results of floating or complex type.
enum FloatChanges : uint8_t {
  kRounding = 1,    // the result is rounded elsewhere or oftener or less often
  kSignedZero = 2,  // zeros may change their sign
  kNan = 4,         // NaN may become a number or a number NaN; payloads may change
  kRange = 8,       // intermediate results may overflow or underflow where they did not, and the reverse
  kOrder = 16,      // sums and products are taken in another order (reassociated)
};

/// When a rule or a pass may run. Results of integer and pred type are always exact.
struct Licence {
  uint8_t changes = 0;           // FloatChanges; 0: exact for every input
  bool needs_fast_math = false;  // on floats only with RewritePolicy::fast_math
  /// Why it runs under --strict-fp as well: nothing prescribes the steps or the order of what it changes.
  llvm::StringRef unprescribed = "";
  [[nodiscard]] constexpr bool exact() const { return changes == 0; }
  /// Changes no bit under --strict-fp.
  [[nodiscard]] constexpr bool exact_if_strict() const { return unprescribed.empty(); }
};
inline constexpr Licence Exact = {};  // NOLINT(readability-identifier-naming): a word of rules
/// On by default, as in XLA; off under --strict-fp where floats are concerned.
constexpr Licence Changes(int changes) { return {static_cast<uint8_t>(changes), false}; }
/// Where floats are concerned only with --fast-math (passes.md: INT or FM).
constexpr Licence FastMath(int changes) { return {static_cast<uint8_t>(changes), true}; }
/// Changes the last places of what the language leaves open, whatever the policy.
constexpr Licence Unprescribed(llvm::StringRef why) { return {kRounding, false, why}; }

/// `rounding, signed zero`; empty: none.
std::string ToString(FloatChanges changes);
/// `exact`, `may change floats: rounding`, `needs fast math on floats: NaN`, with why if unprescribed.
std::string ToString(const Licence& licence);

}  // namespace hlo

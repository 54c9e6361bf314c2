// Comparing arrays within tolerances (tools.md §3.4).
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ir/literal.h"
#include "ir/support/result.h"
#include "tools/run/options.h"

namespace hlo {

/// The codes of a floating type in the order of their values, neighbours one apart, both zeros equal.
int64_t Ordinal(ElementType type, uint64_t bits);

/// Bounds for one array. An element fails if it exceeds abs, rel and ulp, as far as they are given.
struct Tolerance {
  double abs = 0, rel = 0;
  std::optional<double> ulp;
  std::optional<double> rms;  // the root mean square of the differences must not exceed it, either
  int64_t others = 0;         // that many integers, infinities and NaN may differ
  bool exact = false;         // bitwise
  /// Instead of all these, one bound for each number (two of a complex element): those without room for
  /// rounding have the same bits, or both are NaN; infinite ones say nothing.
  std::shared_ptr<const std::vector<double>> each{};
  NanMode nan = NanMode::Equal;
};

/// The tolerances the options ask for, by type and output name.
class Tolerances {
 public:
  /// Errors: usage-option.
  static Result<Tolerances> Parse(const RunOptions& options);
  /// `name` is the instruction that makes the output, may be empty.
  [[nodiscard]] Tolerance For(ElementType type, llvm::StringRef name) const;
  /// Whether an option says something about it; where none does, bounds are measured (rounding_bounds.h).
  [[nodiscard]] bool Given(ElementType type, llvm::StringRef name) const;
  [[nodiscard]] NanMode nan() const { return nan_; }
  /// Whether bounds are measured for each element rather than for whole arrays.
  [[nodiscard]] bool by_element() const { return by_element_; }
  /// The outputs that rules name.
  [[nodiscard]] std::vector<llvm::StringRef> Names() const;

 private:
  struct Rule {
    std::string key;  // a type, %name, or empty for all
    std::optional<double> abs, rel, ulp;
    bool exact = false;
  };
  static Result<Rule> ParseRule(llvm::StringRef text);
  /// Those about an output, later ones win.
  [[nodiscard]] std::vector<const Rule*> About(ElementType type, llvm::StringRef name) const;
  std::vector<Rule> rules_;
  NanMode nan_ = NanMode::Equal;
  bool by_element_ = false;
};

/// One element that fails, or merely differs.
struct ElementError {
  int64_t linear = 0;
  double abs = 0, rel = 0, ulp = 0;  // ulp < 0: infinite or not a number
};

/// The outcome for one array.
struct Comparison {
  int64_t elements = 0, mismatches = 0;
  int64_t nan_mismatches = 0, infinite_mismatches = 0;  // that no bound would let pass
  double max_abs = 0, max_rel = 0, max_ulp = 0;         // over all elements that differ
  double rms = 0;                                       // of the finite differences, where it is bounded
  double pass_abs = 0, pass_rel = 0;                    // largest finite errors of mismatching elements
  std::vector<ElementError> worst;                      // at most 5 mismatching elements, by index
  Tolerance tolerance;
  std::string vacuous;  // why it proves nothing that they match; empty if it does
  [[nodiscard]] bool matched() const { return mismatches == 0; }
};

/// Compares two array literals of compatible shapes.
Comparison Compare(const Literal& actual, const Literal& expected, const Tolerance& tolerance);
/// pred of the same sizes, true where elements fail.
Literal MismatchMask(const Literal& actual, const Literal& expected, const Tolerance& tolerance);

}  // namespace hlo

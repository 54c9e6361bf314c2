// How far results may lie apart that only rounding tells apart. A module says itself how much that is: some
// multiply the last place by thousands (a variance over a few elements, a difference of near numbers), others
// choose (a maximum, a token) and jump. So it is measured: with d = actual - expected, u one unit in the last
// place and s what noise does (rounding_noise.h), the root mean square of d must be within twice, its largest
// element within four times the largest of several s + u expected. What two programs round differently is at
// most a unit per instruction, the noise nearly twice that.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "backends/executable.h"
#include "tools/arrays/array_distance.h"
#include "tools/run/compare.h"

namespace hlo {

/// The bounds within which nothing needs to be measured: 4 units in the last place of the root mean square of
/// what is expected, 16 of its largest element.
Tolerance PlainTolerance(const Literal& expected, NanMode nan);
/// Bounds where nothing can be measured: a part of each element, or of the array's root mean square.
Tolerance ScaleTolerance(const Literal& expected, NanMode nan);

/// What noise does to one array.
struct NoiseEffect {
  Extent moved;        // at most, over the draws
  int64_t others = 0;  // elements that are integers or not finite, and differ
  /// Noise moves the array by half of itself, or half of its elements: comparing it proves nothing.
  bool silent = false;
  std::vector<double> each{};  // of each number, if asked for (RaiseToDistances)
};
Tolerance MeasuredTolerance(const Literal& expected, const NoiseEffect& effect, NanMode nan);
/// A bound for each element: four times what noise does to it, and four units in its last place where the
/// array rounds at all. What noise leaves as it is, data that are moved say, has to have the same bits.
Tolerance ElementTolerance(const Literal& expected, const NoiseEffect& effect, NanMode nan);

/// Measures what rounding does to the results of a module.
class RoundingMeter {
 public:
  /// Runs a program on the arguments in question; `seed` for ExecutionOptions::rng_seed where it is given.
  using Runner =
      std::function<Result<std::vector<Literal>>(const Executable& program, std::optional<uint64_t> seed)>;
  /// `memory_limit`: bytes that the programs may take; 0: what the machine has.
  RoundingMeter(const Module& module, int64_t devices, int64_t memory_limit, Runner run)
      : module_(module), devices_(devices), memory_limit_(memory_limit), run_(std::move(run)) {}

  /// Effects are to say what happens to each element.
  void MeasureElements() { by_element_ = true; }
  /// `count` draws more. Errors: those of compiling, memory and running. Declines modules
  /// whose own random numbers would change with the draw.
  Status Draw(int64_t count);
  /// Of result `device`, the array at `index`.
  [[nodiscard]] NoiseEffect Effect(size_t device, const ShapeIndex& index) const;
  [[nodiscard]] int64_t draws() const { return draws_; }

 private:
  Status Prepare();
  Result<std::unique_ptr<Executable>> Compile(const Module& module) const;
  const Module& module_;
  int64_t devices_, memory_limit_;
  Runner run_;
  std::unique_ptr<Executable> noisy_;
  std::vector<Literal> quiet_;                              // without noise
  std::vector<std::map<ShapeIndex, NoiseEffect>> effects_;  // by device and index
  int64_t draws_ = 0;
  bool by_element_ = false;
};

/// Two arrays to be compared; `device` and `index` say which of the results they are.
struct ComparedPair {
  const Literal* actual;
  const Literal* expected;
  size_t device;
  ShapeIndex index;
  Comparison* result;
};
/// Compares pairs within bounds that are measured where plain ones do not do, or scaled where there is no
/// meter or it fails; where that decides about a pair, `unmeasured` says why. Tells what is vacuous. Errors:
/// interrupted.
Status CompareWithinRounding(llvm::ArrayRef<ComparedPair> pairs, NanMode nan, RoundingMeter* meter,
                             std::string& unmeasured);
/// Compares pairs element by element: equal, or within bounds that are measured. Without a meter, or if it
/// fails, which `unmeasured` then says, equal is what they have to be. Errors: interrupted.
Status CompareElementsWithinRounding(llvm::ArrayRef<ComparedPair> pairs, NanMode nan, RoundingMeter* meter,
                                     std::string& unmeasured);
/// The remark that bounds are scaled, as CompareWithinRounding says why.
Diagnostic UnmeasuredRemark(llvm::StringRef unmeasured);
/// The warning that comparing proves nothing about some of `outputs` outputs, each named with its reason;
/// there is at least one.
Diagnostic VacuousWarning(llvm::ArrayRef<std::string> vacuous, int64_t outputs);
/// Says so where an array proves nothing, whatever its bounds are.
void FindVacuous(const Literal& actual, Comparison& comparison);

}  // namespace hlo

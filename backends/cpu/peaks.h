// What this machine can do at most: operations and bytes per second (tools.md §3.5, roofline).
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace hlo::cpu {

/// Rates of all threads of ThreadCount() together, per second.
struct Peaks {
  double f32 = 0, f64 = 0;                    // multiply-adds count 2
  double bf16 = 0, s8 = 0;                    // of products; at least that of f32
  double f32_products = 0, f64_products = 0;  // at least those of f32 and f64
  /// Where as many bytes fit, read and written at this rate; the last one takes all.
  struct Level {
    const char* name = "";  // L1, L2, L3, memory
    int64_t bytes = 0;
    double bandwidth = 0;
  };
  std::vector<Level> levels;  // by size
  std::string device;         // what these are the rates of; empty: this machine's processor

  [[nodiscard]] const Level& LevelOf(double bytes) const;
};

/// Measured at the first call, which takes about a tenth of a second.
const Peaks& MeasuredPeaks();

}  // namespace hlo::cpu

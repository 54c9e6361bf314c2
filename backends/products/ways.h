// The table of ways in which products and convolutions are computed.
#pragma once
#include "backends/products/dot/arrange.h"

namespace hlo::gemm {

/// A row. To add a way is to add a row and the file that it names functions of (README).
struct Way {
  /// As --force-path=NAME has it, and what it is in a few words.
  const char* name;
  const char* what;
  /// The form of problems that the other functions get.
  Arranged (*arrange)(const Problem& problem, const Target& target);
  /// Whether it can compute a problem with steps, and suits it.
  Fit (*fit)(const Problem& problem, const Target& target);
  std::unique_ptr<Plan> (*plan)(Problem problem, const Target& target);
  /// Nanoseconds that one thread needs which gets `share` of what the target multiplies.
  double (*cost)(const Problem& problem, const Target& target, double share);
  /// Of all that the target multiplies in lanes of floats, measured on problems that suit the way
  /// (scripts/bench_ways); ways with more of it stand before others.
  double share;
  /// Some rows can be computed apart, for a caller who cuts them.
  bool by_rows;
  Padding padding;
  /// It asks a library, which may refuse: another way is made ready as well.
  bool by_library = false;
};

/// All ways: those for special problems by falling share, then tiles; the last one can compute every problem.
/// Whatever suits a special one is faster by it than by tiles, whose cost says nothing of what it takes to
/// pack windows; so the first that suits is taken.
llvm::ArrayRef<Way> Ways();
/// The way of a name; null: there is none.
const Way* WayNamed(llvm::StringRef name);

/// Whether a way can compute a problem, and suits it.
Fit FitOf(const Way& way, const Problem& problem, const Target& target);

/// What a way is for a problem.
struct Assessment {
  const Way* way;
  Fit fit;
  double cost;  // nanoseconds of one thread, if it suits
};
/// All ways, the one that is taken first, then others that suit, those that can, and the rest.
std::vector<Assessment> Assess(const Problem& problem, const Target& target);

}  // namespace hlo::gemm

// Where the time goes, beside what the machine allows: tables, the object hlo.profile/1 (tools.md §3.5).
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "backends/cpu/peaks.h"
#include "backends/profile.h"
#include "tools/run/options.h"
#include "tools/run/result.h"

namespace hlo {

/// What one row costs the machine at least; the unknown adds nothing.
struct ProfileWork {
  double flops = 0, transcendentals = 0, bytes_read = 0, bytes_written = 0;
  double compute_ns = 0, memory_ns = 0;  // at the peaks

  void Add(const ProfileWork& other);
  void Scale(double by);
  [[nodiscard]] double minimum_ns() const { return std::max(compute_ns, memory_ns); }
};
/// An instruction, or what --group-by puts together; sums over calls and runs.
struct ProfileRow {
  std::string computation, name, opcode, shape, source;  // groups: what all have in common, else empty
  std::string library;                                   // that did it; empty: none
  int64_t more_sources = 0;  // lines besides `source` whose instructions were fused into this one
  int64_t calls = 0, time_ns = 0;
  ProfileWork work;
  /// What the device counted of one run, if it does; of instructions without parts.
  std::optional<DeviceCounts> counts;
  /// Lines of the input, and opcodes, of what a row of one instruction computes: all parts of a fusion.
  std::vector<std::pair<int64_t, llvm::StringRef>> origins;

  /// Share of the time that the machine needs at least; 0 if it does nothing that is counted.
  [[nodiscard]] double Roofline() const;
  /// compute or memory, whichever needs longer; overhead if neither explains a twentieth of the time.
  [[nodiscard]] const char* Bound() const;
};

/// Peaks as --peaks gives them: `auto` (measured) or `flops=X,bandwidth=Y`. Error usage-option.
Result<cpu::Peaks> PeaksOf(llvm::StringRef option);
/// The rows, longest time first, then by name. By source and op_name a fusion's time is divided among its
/// parts, by what they cost. A loop that ran as one counts as often as its trip count says, as of unknown
/// cost without one.
std::vector<ProfileRow> ProfileRows(const Profile& profile, const Module& module, const cpu::Peaks& peaks,
                                    GroupBy group);
/// The `top` rows (0: all), times and work per run. `profile` is that of the run of median length.
void PrintProfile(llvm::raw_ostream& out, const ModuleResult& result, const Profile& profile,
                  const cpu::Peaks& peaks, llvm::ArrayRef<ProfileRow> rows, int64_t top);
/// The `top` rows by what a device counted of one run, those first that take longest at the peaks.
void PrintCounts(llvm::raw_ostream& out, const ModuleResult& result, const Profile& profile,
                 const cpu::Peaks& peaks, std::vector<ProfileRow> rows, int64_t top);
/// The object hlo.profile/1, on one line without `indent`.
std::string ProfileJson(const ModuleResult& result, const Profile& profile, const cpu::Peaks& peaks,
                        llvm::ArrayRef<ProfileRow> rows, int64_t indent);

}  // namespace hlo

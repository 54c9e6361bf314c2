// Which bytes of which allocation every value occupies (passes.md §5.6).
#pragma once
#include <optional>

#include "ir/support/result.h"
#include "llvm/Support/raw_ostream.h"
#include "passes/analysis/heap_simulator.h"

namespace hlo {

enum class AllocationKind : uint8_t {
  Parameter,    // an entry parameter or a part of one; the caller's
  Constant,     // never written
  LiveOut,      // a result of the program
  ThreadLocal,  // inside map, reduce, sort …: one per thread that runs the computation
  TupleTable,   // pointers to the elements of tuples that are no parameters or results
  Temp,
};
llvm::StringRef ToString(AllocationKind kind);

struct BufferOptions {
  /// Sequential: temporaries are packed by the heap simulator under the module's schedule (post-order where
  /// there is none). Dependency: what shares bytes may do so in every legal order.
  Ordering::Kind order = Ordering::Kind::Sequential;
  int64_t alignment = 64;
  /// Bytes before and after each temporary that nothing lies in while it is in use; a multiple of alignment.
  int64_t red_zone = 0;
  /// Temporaries may lie where results will.
  bool use_results = false;
  /// Results take the place of operands that die where this says so of a fusion; without it, or where it says
  /// nothing, of those that are read elementwise.
  MayWriteOver may_write_over = nullptr;
};

/// A value within an allocation.
struct AssignedValue {
  const Instruction* instruction = nullptr;
  Place place = kNoPlace;  // none of thread-local values
  int64_t leaf = 0;        // of a thread-local one: the number of the part among those that are no tuples
  int64_t offset = 0, size = 0;
  LiveRange live;  // on the time line; of the whole program for thread-local values
};

struct Allocation {
  AllocationKind kind = AllocationKind::Temp;
  int64_t size = 0;
  int64_t memory_space = 0;
  int64_t parameter = -1;                     // its number, if it is one
  Place part = kNoPlace;                      // which part of the parameter
  bool live_out = false;                      // holds a result of the program
  const Computation* computation = nullptr;   // of a thread-local one
  std::vector<AssignedValue> values;          // by offset, then by start
  HeapOrder heap_order = HeapOrder::Running;  // of a heap: the order that won
  int64_t lower_bound = 0;                    // of a heap: no placement needs less
};

/// Where a value lies. Values without bytes (tokens, empty arrays) lie nowhere: allocation -1.
struct BufferSlice {
  int64_t allocation = -1;
  int64_t offset = 0, size = 0;
  bool operator==(const BufferSlice&) const = default;
};

/// The plan for a module; which must not change while it is used. Results are the same for equal modules.
class BufferAssignment {
 public:
  /// Errors: pass-buffers-shared if the call graph is not flat; pass-buffers-conflict if values that must
  /// share a buffer are in use at the same time (copy-insertion cures both kinds); pass-buffers-size if a
  /// size cannot be counted.
  static Result<BufferAssignment> Compute(const Module& module, const BufferOptions& options = {});

  [[nodiscard]] llvm::ArrayRef<Allocation> allocations() const { return allocations_; }
  /// Where a part of an instruction's result lies; instructions inside fusions lie nowhere.
  [[nodiscard]] BufferSlice Of(const Instruction& instruction, llvm::ArrayRef<int64_t> index = {}) const;
  [[nodiscard]] BufferSlice Of(Place place) const {
    return slices_[static_cast<size_t>(flow_->Value(place))];
  }
  /// Which part of its instruction's result a value is.
  [[nodiscard]] ShapeIndex IndexOf(const AssignedValue& value) const;
  /// Sum of the sizes of the allocations of a kind.
  [[nodiscard]] int64_t Total(AllocationKind kind) const;
  [[nodiscard]] int64_t Total() const;
  /// Most bytes of temporaries in use at one time, and the instruction at which that is.
  [[nodiscard]] const MemoryPeak& peak() const { return peak_; }
  /// Bytes of temporary allocations beyond the peak.
  [[nodiscard]] int64_t Fragmentation() const { return Total(AllocationKind::Temp) - peak_.bytes; }
  [[nodiscard]] const BufferOptions& options() const { return options_; }
  [[nodiscard]] const Module& module() const { return flow_->module(); }
  [[nodiscard]] const Dataflow& flow() const { return *flow_; }
  [[nodiscard]] const Timeline& timeline() const { return *timeline_; }

 private:
  friend class BufferAssigner;
  explicit BufferAssignment(BufferOptions options) : options_(std::move(options)) {}
  BufferOptions options_;
  std::unique_ptr<CallGraph> calls_;
  std::unique_ptr<Dataflow> flow_;
  std::unique_ptr<Timeline> timeline_;
  std::vector<Allocation> allocations_;
  std::vector<BufferSlice> slices_;                                                   // by defining place
  llvm::DenseMap<std::pair<const Instruction*, int64_t>, BufferSlice> local_slices_;  // by number of the leaf
  MemoryPeak peak_;
};

/// Allocations, values, totals, peak and fragmentation, one per line.
void Print(llvm::raw_ostream& os, const BufferAssignment& assignment);
/// The same as an object with schema hlo.buffers/1.
void WriteJson(llvm::raw_ostream& os, const BufferAssignment& assignment, unsigned indent);

/// Sets of values that must lie in one buffer, each in the order of definition; the sets by their first
/// value. Tables of tuples, tokens and opaque values are left out.
std::vector<std::vector<Place>> BufferClasses(const Dataflow& flow, const Timeline& timeline);
/// Two values of a set that are in use at the same time or of which one must not be overwritten; nothing if
/// all sets can be buffers.
struct BufferConflict {
  Place first = kNoPlace, second = kNoPlace;
  bool read_only = false;
};
std::optional<BufferConflict> FindConflict(const Ordering& ordering,
                                           llvm::ArrayRef<std::vector<Place>> classes);
/// Constants, and entry parameters that no result is declared to overwrite.
bool IsReadOnly(const Dataflow& flow, Place value);

}  // namespace hlo

// Collects steps that become one compiled function.
#pragma once
#include <functional>
#include <map>
#include <tuple>

#include "backends/compile/build.h"
#include "backends/cpu/frame.h"
#include "backends/cpu/host_steps.h"
#include "backends/kernel/routine.h"

namespace hlo::cpu {

/// Arrays up to this size may come to lie in registers, element by element.
constexpr int64_t kMaxScalar = 64;
using compile::kMaxConstant;

/// Collects what steps do as a routine. Each function adds to the end and returns false if the step cannot be
/// part of a routine, because it does too much at once, or needs a host where there is none.
class RoutineBuilder {
 public:
  /// For a loop, with threads and interruptions around it.
  RoutineBuilder() = default;
  /// For a program as a whole, which has no host and does as much as there is; `results` as in While().
  explicit RoutineBuilder(llvm::ArrayRef<Slice> results) : whole_(true), results_(results) {
    routine_.polls = false;
  }
  /// `code`: the kernel's number in the Jit.
  bool Call(const KernelCall& call, int32_t code);
  bool Copy(const Slice& from, const Slice& to);
  /// A function on the bytes of `slices`, those from `first_result` on written as a whole and not read (or
  /// also operands). `call` must outlive the routine.
  bool Host(kernel::HostCall call, llvm::ArrayRef<Slice> slices, size_t first_result);
  /// `results`: what anybody reads afterwards of all that the loop writes. `constants`: (from, to), counters
  /// that begin as constants, and where they do; only those of outermost loops are used.
  bool While(const Slice& predicate, const Sequence& condition, const Sequence& body,
             llvm::ArrayRef<Slice> results, llvm::ArrayRef<std::pair<Slice, Slice>> constants);
  bool Branch(const Slice& selector, bool by_predicate, llvm::ArrayRef<Sequence> branches);
  using Obstacle = std::function<std::string(const Step&)>;
  /// From now on steps that code does not compute are calls of its host, unless `obstacle` says why its host
  /// cannot; and so are large kernels, if they are to be cut. `calls` outlive the builder.
  void HaveHost(HostCalls& calls, Obstacle obstacle) {
    host_ = &calls;
    obstacle_ = std::move(obstacle);
  }
  /// The first step that cannot be part of it, or null.
  const Step* AddAll(llvm::ArrayRef<std::unique_ptr<Step>> sequence);

  /// The routine, and the slices of its slots. `buffers`: of the program.
  std::pair<kernel::Routine, std::vector<Slice>> Finish(llvm::ArrayRef<Buffer> buffers) &&;
  /// By the numbers of the routine's host steps.
  std::vector<kernel::HostCall> TakeHostCalls() { return std::move(hosts_); }

 private:
  kernel::SlotId SlotOf(const Slice& slice, bool written);
  bool AddAll(llvm::ArrayRef<std::unique_ptr<Step>> sequence, kernel::RoutineBody& body);
  bool Add(const Step& step);
  void AddHost(int32_t number, llvm::ArrayRef<Slice> slices, size_t first_result, uint64_t defined);

  kernel::Routine routine_;
  bool whole_ = false;
  HostCalls* host_ = nullptr;
  Obstacle obstacle_;
  bool in_memory_ = false;         // no slot is scalar: rows of steps are too long for one function
  const Step* refused_ = nullptr;  // the innermost one that could not be added
  kernel::RoutineBody* at_ = &routine_.body;
  int depth_ = 0;                        // loops and branches that lie around it
  std::vector<kernel::HostCall> hosts_;  // by number
  std::vector<Slice> slices_;            // by slot
  std::vector<Slice> results_;           // that are read afterwards
  std::vector<Slice> constants_;         // that it begins with
  std::map<std::tuple<int32_t, int64_t, int64_t>, kernel::SlotId> numbers_;  // by buffer, offset, size
};

}  // namespace hlo::cpu

// What a process knows of a meeting of devices.
#pragma once
#include "backends/processes/run.h"

namespace hlo::processes {

struct Run::Meeting {
  struct Member {
    std::optional<Brought> brought;      // once it has come
    const Instruction* inst = nullptr;   // of a device of this process
    Values values;                       // the same
    bool in_pieces = false;              // so it comes
    std::optional<WireArrival> arrival;  // of a device of another process,
    int from = 0;                        // which is this
  };
  std::vector<Member> members;
  size_t arrived = 0, here = 0, taken = 0;  // all, those of this process, of which so many have their results
  bool in_pieces = false;
  bool received = false;  // what others send is received, or has been
  Engine::Tickets sends;
  std::vector<Literal> sent;                        // what is on its way
  std::map<int, std::vector<int32_t>> result_tags;  // by process, of the results of pieces that it gets
  bool done = false;
  std::vector<Values> results;
};

/// The elements from `begin` on, `size` in number.
struct Range {
  int64_t begin = 0, size = 0;
};
/// The part of `count` elements that process `number` among `processes` computes.
inline Range PartOf(int64_t count, size_t number, size_t processes) {
  const auto at = [&](size_t n) {
    return count / static_cast<int64_t>(processes) * static_cast<int64_t>(n) +
           count % static_cast<int64_t>(processes) * static_cast<int64_t>(n) /
               static_cast<int64_t>(processes);
  };
  return {at(number), at(number + 1) - at(number)};
}
/// Parts are computed and sent in pieces of so many bytes, which stay in the caches.
inline constexpr int64_t kPieceBytes = int64_t{1} << 19;
/// The same of whole elements.
inline size_t PieceBytes(int64_t width) { return static_cast<size_t>(kPieceBytes / width * width); }

/// The last device of this process at a meeting, which does what there is to do for all of them.
struct Run::Coming {
  const Device& self;
  const Instruction& inst;
  Meeting& meeting;
  llvm::ArrayRef<int64_t> members;
  llvm::ArrayRef<size_t> here;  // ranks among these
};

}  // namespace hlo::processes

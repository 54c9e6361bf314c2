// Values that several loops over a row compute.
#pragma once
#include "backends/kernel/kernel.h"

namespace hlo::kernel {

/// Elements of a row that a thread takes: where two of these are equal, it takes the same ones in that order.
struct RowShare {
  int64_t extent = 0, width = 1;  // of the row, and how many neighbours a thread takes
  bool whole = false;             // of whole rounds of all threads; else of what is left
  bool operator==(const RowShare&) const = default;
};
/// What a loop over a row does with an element: of the `count` elements that a thread takes, the one at
/// `kept`.
struct RowBody {
  Region* body = nullptr;
  Address kept = {};
  int64_t count = 0;
  RowShare share = {};
};

/// Values that are made with functions (exponential and the like) of what loops over a row have read, and
/// that a later loop makes again of the same: it finds them where the first one has left them, in local
/// arrays. `bodies`: in the order in which threads run them. At most `most` elements are kept.
void KeepValues(Kernel& kernel, llvm::ArrayRef<RowBody> bodies, int64_t most);

}  // namespace hlo::kernel

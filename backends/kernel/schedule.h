// How the loops of a kernel are run: as data, applied by changing the kernel's dimensions.
#pragma once
#include "backends/kernel/kernel.h"
#include "backends/kernel/product_steps.h"
#include "backends/kernel/target.h"

namespace hlo::kernel {

/// One change of a kernel's loops, as text:
///   split i0 by 16 into i5, i6   i5 counts blocks of i0, i6 the iterations of a block; both are new. The
///                                last block may be smaller. Not for reductions that keep an order.
///   reorder i6, i5               nested loops, one directly in the other but for statements that may as
///                                well be in the innermost, in a new order (all, outermost first)
///   fuse i0, i1 into i2          nested loops (all of them, outermost first) as one, which counts through
///                                the iterations of all
///   join i0, i1 into i2          the outermost loops (all of them) as one that runs side by side the loops
///                                that each of them holds, or in its first iteration one that holds more
///   distribute i0, i1            the outermost loops (all of them): each loop that stands in them beside
///                                others gets loops of its own around it, all of them new
///   once into i0                 all that the kernel does is the one iteration of a new loop
///   team i0 by 128 vector 4      iterations of i0, which is bound, are run by 128 threads together, each of
///                                which takes four neighbours at once (team.h); `keep` behind it: and keeps
///                                what it read of a row for the loops that read it again
///   team i0 by 16 across         iterations of i0, which is bound to thread.x, are run by 16 threads each,
///   in
///                                the direction of thread.y: neighbours in i0 stay neighbours
///   tile i0, i1 by 128 vector 2 into i2
///                                tiles of two nested loops, 64 iterations of each, by 128 threads that take
///                                two neighbours at once: what i1 does not go along, but i0, goes through
///                                shared memory; i2 counts the tiles and is for blocks (tile_steps.h)
///   product i0, i1 by 128, 64, 32 warps 2, 4 unit bf16 16x8x16 stages 3 into i2
///                                tiles of 128 rows and 64 columns of the sums of products in the innermost
///                                loop, by 2 x 4 warps; the factors come to shared memory in pieces of depth
///                                32, three at a time, and are multiplied in tiles of a unit; i2 counts the
///                                tiles and is for blocks (product_steps.h)
///   vector i6 by 16 unroll 4     16 iterations are lanes, 4 vectors interleaved (a power of two of both)
///   unroll i5 by 16              iterations that are written out; those of a reduction that keeps no order
///                                are folded pairwise; of one that does, the last one of several loops
///   unroll i0 by 2               of the one outermost loop: iterations side by side, each statement for one
///                                after the other, with local buffers of their own; 2 must divide it
///   parallel i5                  pieces on several threads: the outermost loops, all or none
///   atomic i0                    i0 and loops in it, which are ordered, need no order: what is read, changed
///                                by an operation on integers and written again is one atomic operation
///   bind i5 to block.x           its iterations are the blocks of a grid or the threads of a block in a
///                                direction, or lanes: block.x … z, thread.x … z, lane (threads.h)
struct ScheduleStep {
  enum class Kind : uint8_t {
    Split,
    Reorder,
    Vector,
    Unroll,
    Parallel,
    Bind,
    Fuse,
    Once,
    Team,
    Join,
    Tile,
    Atomic,
    Product,
    Distribute
  };
  Kind kind;
  llvm::SmallVector<LoopId, 3> loops;  // split, fuse: those that there are, then the new ones
  int64_t by = 1;                      // split, vector, unroll, team, tile
  int64_t unroll = 1;                  // vector; the width of a team and in a tile
  Binding binding = Binding::None;     // bind
  bool keep = false, across = false;   // team
  ProductShape product = {};           // product; its rows are `by`
  bool operator==(const ScheduleStep&) const = default;
};
using Schedule = std::vector<ScheduleStep>;

/// Steps end with semicolons or lines; `//` begins a comment. Errors: kernel-schedule, naming the step.
Result<Schedule> ParseSchedule(llvm::StringRef text);
/// `split i0 by 16 into i5, i6; vector i6 by 16`
std::string ToString(const Schedule& schedule);

/// Changes the loops of `kernel` step by step; what a kernel computes stays but for the order in which
/// reductions fold. Errors: kernel-schedule, naming the step that is not legal; `kernel` is then spoilt.
Status ApplySchedule(Kernel& kernel, const Schedule& schedule);

/// Whether several iterations of the loop may run side by side, each with local buffers of its own: it is the
/// one outermost loop, not ordered, and outside of it nothing is written, folded, or read of what is written.
bool MayRunSideBySide(const Kernel& kernel, const LoopStmt& loop);

/// Makes one loop of two nested ones wherever every address treats them as one. Returns how many.
int64_t MergeLoops(Kernel& kernel);

/// Chooses the loops that become vectors (innermost, or the folded dimension of a reduction that runs along
/// memory), tiles transposes and lets the outermost loop run in pieces. Depends on the kernel and the target
/// only; always legal.
Schedule ChooseSchedule(const Kernel& kernel, const Target& target);

/// The same for machines of blocks and threads, which ChooseSchedule() asks where `target` has blocks.
Schedule ChooseThreads(const Kernel& kernel, const Target& target);

/// What ChooseThreads() says, and others that do the same with tiles and blocks of other sizes, each once.
std::vector<Schedule> AlternativeThreads(const Kernel& kernel, const Target& target);

/// Applies what ChooseSchedule() says. Errors: kernel-schedule, a broken invariant.
Status ScheduleLoops(Kernel& kernel, const Target& target);

}  // namespace hlo::kernel

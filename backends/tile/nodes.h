// The operations of a program.
#pragma once
#include "backends/tile/functions.h"
#include "backends/tile/program.h"
#include "ir/eval/strided_copy.h"

namespace hlo::tile {

using kernel::BufferId;
using kernel::LoopId;
using kernel::ValueId;

/// What changes while a program runs. Values are arrays of `lanes` elements, or one where they are the same
/// in all lanes.
struct State {
  uint8_t** at;     // by value: its elements
  int64_t* loops;   // by loop: the variable; of the loop whose iterations are lanes, that of the first lane
  uint8_t** bases;  // by buffer
  int64_t lanes = 1;
  int64_t begin, end;  // of the parallel loops
};

/// One operation.
class Node {
 public:
  Node() = default;
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
  virtual ~Node() = default;
  virtual void Run(State& state) const = 0;
  /// About what it takes on so many lanes.
  [[nodiscard]] virtual double Nanoseconds(int64_t lanes) const = 0;
};

inline void RunBlock(const Block& block, State& state) {
  for (const auto& node : block) node->Run(state);
}
double Nanoseconds(const Block& block, int64_t lanes);

/// Number of an element: offset, loop variables and values times their factors; from lane to lane it grows by
/// `stride`, and by what differs in the values of `lanes`.
struct Place {
  template <class Id>
  using Terms = llvm::SmallVector<kernel::Address::Term<Id>, 2>;
  int64_t offset = 0;
  Terms<LoopId> loops;
  Terms<ValueId> values;  // equal in all lanes
  Terms<ValueId> lanes;
  int64_t stride = 0;

  /// Of the first lane, without `lanes`.
  [[nodiscard]] int64_t First(const State& state) const;
  void All(const State& state, int64_t* numbers) const;
  [[nodiscard]] bool IsRun() const { return stride == 1 && lanes.empty(); }
};

/// Which memory a load or store is about, and which lanes.
struct Access {
  BufferId buffer;
  size_t width;  // bytes of an element
  Place place;
  ValueId mask = -1;      // none: all lanes
  ValueId numbers = -1;   // s64 of each lane: where place has `lanes`
  bool one_mask = false;  // the mask is the same in all lanes
};

// How many lanes: all of a tile, or one.
enum class Lanes : uint8_t { One, All };

std::unique_ptr<Node> MakeConstant(ValueId value, ElementType type, const uint64_t bits[2]);
/// The s64 numbers of a place.
std::unique_ptr<Node> MakeIndex(ValueId value, Place place, Lanes lanes);
/// Elements by a function of elements. Operands have as many lanes as the result.
std::unique_ptr<Node> MakeOp(ValueId value, const Function& function, llvm::ArrayRef<ValueId> operands,
                             Lanes lanes);
/// Lets the value be memory of a buffer: neighbouring elements, none masked.
std::unique_ptr<Node> MakeView(ValueId value, Access access);
/// Where the mask is false, the elements of `otherwise`.
std::unique_ptr<Node> MakeLoad(ValueId value, Access access, ValueId otherwise, Lanes lanes);
std::unique_ptr<Node> MakeStore(Access access, ValueId value, Lanes lanes);
/// The one element of `from` in `count` lanes (0: in those there are).
std::unique_ptr<Node> MakeSplat(ValueId to, ValueId from, size_t width, int64_t count);
std::unique_ptr<Node> MakeCopy(ValueId to, ValueId from, size_t width, Lanes lanes);
/// Copies a block of elements between buffers: what lies at the places, and `dims` further on.
std::unique_ptr<Node> MakeMove(Access to, Access from, llvm::ArrayRef<CopyDim> dims);
/// `to` is from now on where `from` is.
std::unique_ptr<Node> MakeAlias(ValueId to, ValueId from);

/// How often a loop runs: a constant, or what is left of a cut loop.
struct Extent {
  int64_t extent = 0;
  LoopId outer = -1;
  int64_t limit = 0;
  [[nodiscard]] int64_t Of(const State& state) const {
    if (outer < 0) return extent;
    return std::min(extent, limit - state.loops[outer] * extent);
  }
};

struct LoopPlan {
  LoopId loop = -1;
  Extent extent;
  bool tiles = false;        // its iterations are lanes
  int64_t before_this = -1;  // parallel: iterations of the parallel loops before; else -1
  Block body;
};
std::unique_ptr<Node> MakeLoop(LoopPlan plan);

/// A reduction. The accumulators are values with places of their own.
struct ReducePlan {
  enum class Fold : uint8_t {
    Each,     // `combine` after each iteration of the body, in all lanes
    InOrder,  // iterations of the last loop are lanes; `combine` for one after the other
    Groups,   // the same; one function folds groups of them into as many partial results
    List,     // init and elements are put into a list, whose second half one function folds into the first
  };
  struct Loop {
    LoopId loop;
    Extent extent;
  };
  struct Folded {
    ValueId accumulator;
    size_t width;
    ValueId element, parameter;  // InOrder: what the body yields, and how the combiner calls it
    bool one_element;            // InOrder: the same in all lanes
  };
  Fold fold = Fold::Each;
  llvm::SmallVector<Loop, 2> loops;
  Block start;  // puts the inits into the accumulators
  Block body;
  Block combine;  // accumulators and elements to accumulators; Each and InOrder
  llvm::SmallVector<Folded, 2> folded;
  // Groups and List: of one value.
  Function function;
  bool swapped = false;  // function(element, accumulator)
  ValueId partial = -1, init = -1;
  int64_t width = 1, group = 1;
  llvm::SmallVector<ValueId, 9> list;  // init, then the elements
  Lanes lanes = Lanes::One;
  std::array<uint8_t, 16> neutral{};
};
std::unique_ptr<Node> MakeReduce(ReducePlan plan);

}  // namespace hlo::tile

// From Kernel IR to programs.
#pragma once
#include <map>

#include "backends/tile/lifetimes.h"
#include "backends/tile/nodes.h"
#include "llvm/ADT/DenseMap.h"

namespace hlo::tile {

/// Decides which loops become tiles, which values are arrays, and where they are. A value is an array if it
/// differs between the iterations of the loop whose tiles are being worked on.
class Compiler {
 public:
  explicit Compiler(const kernel::Kernel& kernel);
  Result<Program> Run() &&;

 private:
  using Region = kernel::Region;

  // A place in the frame, to be given back.
  struct Held {
    ValueId value;
    int64_t offset, bytes;
  };
  /// A region being compiled.
  struct Scope {
    const Region* region = nullptr;
    Block* block = nullptr;
    llvm::SmallVector<Held, 8> held;
    llvm::SmallDenseMap<ValueId, ValueId> splats;
  };

  /// Appends to `block`. What the region yields keeps its place until EndScope().
  Status CompileRegion(const Region& region, Block& block);
  void EndScope();
  Status Compile(const kernel::ConstantStmt& stmt, size_t index);
  Status Compile(const kernel::IndexStmt& stmt, size_t index);
  Status Compile(const kernel::OpStmt& stmt, size_t index);
  Status Compile(const kernel::LoadStmt& stmt, size_t index);
  Status Compile(const kernel::StoreStmt& stmt, size_t index);
  Status Compile(const kernel::LoopStmt& stmt, size_t index);
  Status Compile(const kernel::ReduceStmt& stmt, size_t index);
  /// Program::Make() refuses kernels of threads.
  static Status Compile(const kernel::ThreadStmt auto&, size_t) {
    llvm::report_fatal_error("a statement of threads in tiles");
  }

  // Reductions: one function per way to fold.
  Status FoldEach(const kernel::ReduceStmt& stmt, ReducePlan& plan);
  Status FoldInOrder(const kernel::ReduceStmt& stmt, ReducePlan& plan);
  Status FoldList(const kernel::ReduceStmt& stmt, ReducePlan& plan);
  /// The operation that folds two values, into plan.function.
  Status FindFold(const kernel::ReduceStmt& stmt, ReducePlan& plan) const;
  Status FoldGroups(const kernel::ReduceStmt& stmt, ReducePlan& plan);
  /// The combiner, into plan.combine; parameters have their places.
  Status Combine(const kernel::ReduceStmt& stmt, ReducePlan& plan, Lanes lanes);
  /// The statement that is the whole of a combiner, if it may write over the accumulator.
  const kernel::OpStmt* SingleOp(const kernel::ReduceStmt& stmt) const;
  [[nodiscard]] bool CombinerVaries(const kernel::ReduceStmt& stmt) const;

  // Loops.
  /// Two loops that do nothing but copy elements to other places, as those of transposed tiles, as one node.
  [[nodiscard]] std::unique_ptr<Node> MoveOf(const kernel::LoopStmt& stmt);
  [[nodiscard]] bool BecomesTiles(const kernel::Dimension& loop, const Region& body) const;
  /// Between the two, iterations of the loop are lanes. `prologue` is for what stays the same.
  void BeginTiles(const kernel::Dimension& loop, Block& prologue);
  void EndTiles();
  static Extent ExtentOf(const kernel::Dimension& loop) { return {loop.extent, loop.outer, loop.limit}; }

  // Values.
  [[nodiscard]] size_t Width(ValueId value) const;
  [[nodiscard]] bool Varies(ValueId value) const { return varies_[static_cast<size_t>(value)]; }
  [[nodiscard]] bool Varies(const kernel::Address& address) const;
  ValueId NewValue(ElementType type);
  void Mark(ValueId value, Lanes lanes);
  /// A place for the value until its last use.
  void Hold(ValueId value, Lanes lanes) { Hold(value, Bytes(Width(value), lanes), scopes_.back()); }
  void Hold(ValueId value, int64_t bytes, Scope& scope);
  /// The place of another value, which keeps it.
  void Share(ValueId value, ValueId owner);
  [[nodiscard]] int64_t Bytes(size_t width, Lanes lanes) const {
    return static_cast<int64_t>(width) * (lanes == Lanes::All ? lanes_ : 1);
  }
  /// The value with as many lanes; where it is the same in all, an array that is made before the tiles if it
  /// can be.
  ValueId InLanes(ValueId value, Lanes lanes);
  Place PlaceOf(const kernel::Address& address) const;
  Access AccessOf(BufferId buffer, const kernel::Address& address, ValueId mask, Lanes lanes);
  /// Nothing between a load and the last use of its value writes the memory that it reads.
  [[nodiscard]] bool StaysInMemory(const kernel::LoadStmt& stmt, size_t index) const;
  /// The statement after an operation stores its result, which nobody else uses, to neighbouring elements.
  const kernel::StoreStmt* StoredNext(const kernel::OpStmt& stmt, size_t index) const;

  void Append(std::unique_ptr<Node> node) { scopes_.back().block->push_back(std::move(node)); }

  const kernel::Kernel& kernel_;
  Program program_;
  const std::vector<Lifetime> lifetimes_;
  std::vector<ElementType> types_;  // by value
  std::vector<bool> varies_, in_tiles_;
  std::vector<int64_t> offsets_;  // by value: its place in the frame, or -1
  std::vector<Scope> scopes_;
  std::map<int64_t, llvm::SmallVector<int64_t, 4>> free_;  // places by size
  LoopId tiled_ = -1;                                      // whose iterations are lanes
  int64_t lanes_ = 1;                                      // at most
  Block* prologue_ = nullptr;
  std::vector<Held> in_prologue_;
  llvm::SmallDenseMap<ValueId, ValueId> prologue_splats_;
  int64_t parallel_before_ = 0;
};

}  // namespace hlo::tile

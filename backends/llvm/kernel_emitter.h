// The walk over a kernel's statements: what emit_kernel.cc and its parts share.
#pragma once
#include "backends/kernel/kernel.h"
#include "backends/kernel/selection.h"
#include "backends/kernel/threads.h"
#include "backends/llvm/code_target.h"
#include "backends/llvm/types.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/IR/Module.h"

namespace hlo::codegen {

class KernelEmitter {
 public:
  KernelEmitter(const kernel::Kernel& kernel, llvm::Module& module)
      : kernel_(kernel),
        module_(module),
        target_(CodeTargetOf(module)),
        threads_(target_.threads()),
        context_(module.getContext()),
        b_(context_) {}
  Status Run();

 private:
  using Value = llvm::Value;
  /// The loop whose iterations are lanes, while its body is emitted.
  struct VectorLoop {
    kernel::LoopId loop = -1;
    unsigned width = 1;
    Value* mask = nullptr;  // lanes that exist; null: all
  };
  /// begin <= i < end of a loop, as i64.
  struct Range {
    Value* begin;
    Value* end;
  };
  using Accumulators = llvm::SmallVector<Value*, 4>;

  Status EmitRegion(const kernel::Region& region);
  Status Emit(const kernel::ConstantStmt& stmt);
  Status Emit(const kernel::IndexStmt& stmt);
  Status Emit(const kernel::OpStmt& stmt);
  Status Emit(const kernel::LoadStmt& stmt);
  Status Emit(const kernel::StoreStmt& stmt);
  Status Emit(const kernel::LoopStmt& stmt);
  Status Emit(const kernel::ReduceStmt& stmt);
  Status Emit(const kernel::BarrierStmt& stmt);
  Status Emit(const kernel::AtomicStmt& stmt);
  Status Emit(const kernel::ShuffleStmt& stmt);
  Status Emit(const kernel::LaneReduceStmt& stmt);
  Status Emit(const kernel::LoadMatrixStmt& stmt);
  Status Emit(const kernel::MultiplyMatrixStmt& stmt);
  Status Emit(const kernel::CopyStmt& stmt);
  Status Emit(const kernel::CommitCopiesStmt& stmt);
  Status Emit(const kernel::WaitForCopiesStmt& stmt);

  void FindKeptInBits();
  void FindOnlyStored();
  void EnterCall();

  // On machines of blocks and threads, see emit_threads.cc.
  void EnterOnThreads();
  void SetArray(unsigned argument, const kernel::Buffer& buffer);
  Value* SharedBuffer(kernel::BufferId id);
  /// A loop that is bound: the iteration of this block or thread, if it has one.
  Status EmitBound(const kernel::LoopStmt& stmt);
  Status EmitSection(const kernel::LoopStmt& stmt);
  Value* NumberOf(const kernel::Dimension& d);
  Value* NumberInSection(size_t direction);
  // Matrices, see emit_matrices.cc.
  /// The lane's number, as i64.
  Value* LaneNumber();
  llvm::SmallVector<Value*, 4> LoadRows(const kernel::LoadMatrixStmt& stmt);
  llvm::SmallVector<Value*, 4> LoadWords(const kernel::LoadMatrixStmt& stmt);
  /// Whether neighbours of all lanes are more than stays together of a shared array whose pieces change
  /// places, and these, whole pieces one by one.
  [[nodiscard]] bool IsInPieces(kernel::BufferId buffer) const;
  Value* LoadPieces(kernel::BufferId buffer, Value* first);
  /// Words of the thread's own, and where they are.
  Value* WordPointer(kernel::BufferId buffer, const kernel::Address& address, int64_t word);
  llvm::SmallVector<Value*, 4> WordsOf(const kernel::MultiplyMatrixStmt::Words& words, int64_t count);
  /// What another lane has of a value's bits, as it is stored.
  Value* ShuffleBits(kernel::ShuffleMode mode, Value* stored, Value* by);
  Emitted Operate(OpKind kind, ElementType type, const Emitted& x, const Emitted& y);
  /// What the element was before, as it is stored.
  Value* EmitAtomic(const kernel::AtomicStmt& stmt, Value* pointer);
  /// Of lane 0 of an access that begins at the address.
  [[nodiscard]] llvm::Align AlignAt(kernel::BufferId id, const kernel::Address& address,
                                    llvm::Align of_element) const;
  /// A vector by a scalar, in floats.
  bool DividesByInvariant(const kernel::OpStmt& stmt);

  // Loops.
  Status ScalarLoop(kernel::LoopId loop, Range range, int64_t step, llvm::function_ref<Status()> body);
  /// `body(group)` emits one group of lanes; `group` counts those that are interleaved.
  Status VectorLoops(const kernel::Dimension& dimension, Range range, Accumulators& carried,
                     llvm::function_ref<Status(int group)> body);
  /// A loop with values carried from one iteration to the next: `body` changes them in place.
  Status CarriedLoop(kernel::LoopId loop, Range range, Value* step, Accumulators& carried,
                     llvm::function_ref<Status()> body);
  /// Asks for the line of memory so many bytes behind the pointer, to read or to write it. `far`: into the
  /// second cache.
  void Fetch(Value* pointer, int64_t bytes, bool write, bool far = false);
  /// Rows of iterations to come are fetched while an ordered loop goes from row to row by numbers that it
  /// reads: no processor foresees them.
  Status FetchRowsToCome(const kernel::LoopStmt& stmt, Range range);
  Status ReduceLevel(const kernel::ReduceStmt& stmt, size_t level, Accumulators& accumulators);
  /// Of windows that slide along memory, several rows at a time: what the innermost loop around comes to
  /// soon. Processors foresee little of so many short runs.
  void FetchWindowsToCome(const kernel::ReduceStmt& stmt);
  /// Where a row is read once more, from a cache, or rows are folded block by block, memory has time to bring
  /// what is next. `pointer`: where the load of whole neighbours begins.
  void FetchNextRow(const kernel::LoadStmt& load, Value* pointer);
  /// How many elements the innermost scalar loop around moves the address from iteration to iteration.
  [[nodiscard]] int64_t StepAround(const kernel::Address& address) const;
  Status FoldElements(const kernel::ReduceStmt& stmt, llvm::MutableArrayRef<Value*> accumulators);
  Result<Accumulators> Combine(const kernel::ReduceStmt& stmt, llvm::ArrayRef<Value*> x,
                               llvm::ArrayRef<Value*> y);
  /// Maxima and minima of floats in vectors: by three folds of their bits, see emit_extremes.cc.
  [[nodiscard]] bool FoldsBits(const kernel::ReduceStmt& stmt) const;
  void FoldBits(const kernel::ReduceStmt& stmt, llvm::MutableArrayRef<Value*> accumulators);
  Result<Value*> ReduceBits(const kernel::ReduceStmt& stmt);
  // Reductions that select, see emit_selection.cc.
  Result<Accumulators> FoldSelection(const kernel::ReduceStmt& stmt, const kernel::Selection& selection);
  /// `best`: what lanes have found. `rare`, of floats: lanes that have met NaN, and keys that are small where
  /// they have met zeros and subnormals that only an order tells apart.
  Status SelectElements(const kernel::ReduceStmt& stmt, const kernel::Selection& selection,
                        llvm::MutableArrayRef<Value*> best, llvm::MutableArrayRef<Value*> rare);
  Value* ComesBefore(const kernel::ReduceStmt& stmt, const kernel::Selection& selection,
                     llvm::ArrayRef<Value*> x, llvm::ArrayRef<Value*> y);
  Value* IsRare(Value* value, llvm::ArrayRef<Value*> rare);
  /// `best`, or what an order makes of `folded`.
  Result<Accumulators> FoldRareInOrder(const kernel::ReduceStmt& stmt, Value* rare, Accumulators folded,
                                       llvm::ArrayRef<Value*> best);
  Result<Value*> FoldPairwise(const kernel::ReduceStmt& stmt);
  Result<Value*> FoldLanes(const kernel::ReduceStmt& stmt, llvm::ArrayRef<Value*> groups);
  Value* Neutral(OpKind kind, ElementType type);
  /// What of a launch's [begin, end) falls to the next of the parallel loops; sets whole_groups_.
  Range NextPart(const kernel::Dimension& dimension);
  Range WholeRange(const kernel::Dimension& dimension);

  // Addresses. `scalar` is the element number of lane 0; lanes are `stride` apart, or at `lanes` if not null.
  struct Place {
    Value* scalar;
    int64_t stride = 0;
    Value* lanes = nullptr;
  };
  Place PlaceOf(const kernel::Address& address);
  Value* LaneOffsets(const Place& place);  // element numbers of all lanes
  Value* Pointer(kernel::BufferId buffer, Value* element);
  /// So many elements behind the pointer: accesses have room for a number that is known.
  Value* Behind(Value* pointer, int64_t count, llvm::Type* type);
  /// Where an element and so many `known` ones lie in an array whose pieces change places: what is known of
  /// the place is worked out here as far as it does not meet what varies.
  Value* PlaceInLines(Value* base, Value* element, int64_t known, int64_t bytes,
                      kernel::Buffer::Swizzle swizzle);
  /// `element`, or the first one where one mask for all lanes forbids it and it may be far away.
  Value* WithinReach(kernel::BufferId id, kernel::ValueId mask, const kernel::Address& address,
                     Value* element);
  /// Whether the place, which a mask may forbid, may be a page or more away from the array: processors take
  /// hundreds of cycles for what is no memory even if nothing is moved.
  bool MayBeFar(kernel::BufferId id, const kernel::Address& address) const;
  void FindExtents();
  bool OneForAll(kernel::ValueId mask);
  Value* Pointers(kernel::BufferId buffer, const Place& place);
  Value* Iota(unsigned width);
  /// The lanes that exist and for which `mask` (a value, or -1) holds; null: all.
  Value* LaneMask(kernel::ValueId mask);
  Value* LoadVector(const kernel::LoadStmt& stmt, const Place& place);
  /// Vectors of i128 move under masks as vectors of twice as many doubles, for which there are instructions.
  llvm::Type* MovedType(llvm::Type* type);
  Value* MovedMask(Value* mask, llvm::Type* type);
  /// Elements `stride` apart by loads of neighbours and shuffles.
  Value* LoadStrided(const kernel::LoadStmt& stmt, const Place& place, llvm::FixedVectorType* type);
  /// The vector of the iteration of the written-out loop that is being emitted, where that loop runs along
  /// memory and the lanes do not: the vectors of all its iterations are loaded and transposed at the first.
  Value* LoadFromTile(const kernel::LoadStmt& stmt, const Place& place, llvm::FixedVectorType* type);
  void Deinterleave(llvm::ArrayRef<Value*> neighbours, size_t first, size_t step,
                    llvm::MutableArrayRef<Value*> rows);
  /// Past the caches.
  void StreamVector(Value* value, Value* pointer);
  [[nodiscard]] bool InTile(const kernel::LoadStmt& stmt, const Place& place) const;
  /// A short scalar loop whose few iterations are written one behind the other: few statements, too,
  /// those of inner loops counted as often as they are written.
  [[nodiscard]] bool IsTiny(const kernel::Dimension& dimension, const kernel::Region& body) const;
  /// Whether what a thread keeps is numbered by the loop, which is written out: registers have no numbers
  /// that are computed.
  [[nodiscard]] bool CountsRegisters(const kernel::Dimension& dimension, const kernel::Region& body) const;
  /// A loop that is written out.
  Status EmitUnrolled(const kernel::LoopStmt& stmt);
  Status EmitOnCondition(const kernel::LoopStmt& stmt);
  /// A loop that ends before a value.
  Status EmitBefore(const kernel::LoopStmt& stmt);
  /// Whether the loop is a short row within lanes, which writes what lies side by side when all its
  /// iterations are done.
  [[nodiscard]] bool IsShortRow(const kernel::LoopStmt& stmt) const;
  Status EmitShortRow(const kernel::LoopStmt& stmt);
  /// `rows` by turns, one vector after the other in memory.
  void StoreByTurns(llvm::ArrayRef<Value*> rows, Value* pointer, llvm::Align align);
  /// The vectors that lie side by side where rows by turns give `unit` neighbours each.
  void Interleave(llvm::ArrayRef<Value*> rows, unsigned unit, llvm::SmallVectorImpl<Value*>& vectors);
  /// Of a vector loop's body: stores whose lanes are as far apart as there are of them, side by side.
  void FindStoresByTurns(const kernel::Region& region);
  /// Whether the store is one of those; the last one writes what all have got.
  bool StoresByTurns(const kernel::StoreStmt& stmt, Value* value);
  /// `unroll` iterations at once, each statement for one after the other, so that what one waits for is
  /// hidden behind the others; each has local buffers of its own.
  Status EmitSideBySide(const kernel::LoopStmt& stmt, Range range);
  Value* LocalBuffer(kernel::BufferId id);
  /// Narrow floats of the kernel's own buffers lie there as f32: what is rounded need not be narrowed and
  /// widened. Not where NaNs of the caller's go through them to what tells their bits apart.
  [[nodiscard]] bool IsKeptAsComputed(kernel::BufferId id) const;
  [[nodiscard]] llvm::Type* TypeInMemory(kernel::BufferId id) const;
  [[nodiscard]] llvm::Value* FormInMemory(kernel::BufferId id, const Emitted& value) const;
  Value* LoadScalar(const kernel::LoadStmt& stmt, Value* element);
  /// Behind a branch on the load's mask, a scalar.
  Value* LoadWhere(const kernel::LoadStmt& stmt, llvm::Type* type, Value* element, llvm::Align align,
                   Value* otherwise);

  [[nodiscard]] Emitted& At(kernel::ValueId value) { return values_[static_cast<size_t>(value)]; }
  [[nodiscard]] bool in_vector() const { return vector_.loop >= 0; }
  llvm::BasicBlock* Block(const char* name) { return llvm::BasicBlock::Create(context_, name, function_); }
  Value* Int64(int64_t value) { return b_.getInt64(static_cast<uint64_t>(value)); }

  const kernel::Kernel& kernel_;
  llvm::Module& module_;
  const CodeTarget& target_;
  const ThreadTarget* threads_;       // null: kernels are called
  kernel::BlockShape shape_, block_;  // of the threads here, which are those of a section or of the block
  bool in_section_ = false;
  llvm::LLVMContext& context_;
  llvm::IRBuilder<> b_;
  llvm::Function* function_ = nullptr;
  std::vector<Value*> bases_;        // by buffer
  std::vector<Emitted> values_;      // by value
  llvm::BitVector kept_in_bits_;     // by buffer
  std::vector<bool> only_stored_;    // by value: goes into the caller's memory and nowhere else
  std::vector<int64_t> extents_;     // by loop
  std::vector<Value*> loop_values_;  // by loop; of a vector loop, that of lane 0
  VectorLoop vector_;
  int group_ = 0;  // of the interleaved ones
  struct Around {
    kernel::LoopId id;
    int64_t step;  // iterations at once
    bool ordered = false;
  };
  llvm::SmallVector<Around, 4> around_;  // the scalar loops that are being emitted
  /// Rows that loops in the innermost of these read: the first that did, and the one that fetches the next
  /// row.
  struct Pass {
    kernel::BufferId buffer;
    kernel::Address row;
    kernel::LoopId first, second = -1;
  };
  llvm::SmallVector<Pass, 4> passes_;
  bool in_order_ = false;        // wide reductions are emitted as if they were not
  bool streams_ = false;         // some stores go past the caches
  int64_t parallel_before_ = 0;  // iterations of the parallel loops before
  bool whole_groups_ = false;    // parts of the parallel loop begin and end with groups of its lanes
  /// The innermost written-out loop while its iterations are emitted; the vector loop in it is whole.
  struct Tile {
    kernel::LoopId loop = -1;
    size_t iteration = 0, iterations = 0;
    int loops = 0;  // being emitted inside of it: what they load is not there for the next iteration
    /// A load that is written several times in an iteration, as in inner loops that are written out too, has
    /// a tile for each: `met` counts them.
    llvm::DenseMap<const kernel::LoadStmt*, llvm::SmallVector<llvm::SmallVector<Value*, 16>, 1>> loaded;
    llvm::DenseMap<const kernel::LoadStmt*, size_t> met;
    void Begin(size_t number) {
      iteration = number;
      met.clear();
    }
  };
  std::unique_ptr<Tile> tile_;
  /// Stores that together write whole vectors.
  struct Turns {
    const kernel::StoreStmt* first = nullptr;  // at the lowest address
    llvm::SmallVector<Value*, 4> values;
    size_t stored = 0;
  };
  llvm::DenseMap<const kernel::StoreStmt*, std::pair<std::shared_ptr<Turns>, size_t>> turns_;
  llvm::DenseMap<kernel::ValueId, Value*> subtracted_;  // scalars, by what they are subtracted in of vectors
  /// Of the short row that is being emitted: what each store has got, iteration by iteration.
  std::unique_ptr<llvm::MapVector<const kernel::StoreStmt*, llvm::SmallVector<Value*, 4>>> row_stores_;
};

/// Declines what machines of blocks and threads cannot run.
Status CheckThreads(const kernel::Kernel& kernel, const ThreadTarget& target);

struct DivisionFacts {
  bool only_stored = false;  // the result goes into memory and nowhere else
  bool bounded = false;      // dividends are at most 1 in magnitude, or NaN
  bool any_speed = false;    // instructions divide subnormals as fast as others
};
/// x / divisor, a float vector by one number, to the last bit what division instructions give.
Emitted DivideByInvariant(llvm::IRBuilderBase& b, ElementType type, llvm::Value* x, llvm::Value* divisor,
                          const DivisionFacts& facts);

}  // namespace hlo::codegen

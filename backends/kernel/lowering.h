// One attempt at lowering a fused computation: what lower.cc and its parts share.
#pragma once
#include <map>
#include <set>

#include "backends/kernel/builder.h"
#include "backends/kernel/lower.h"

namespace hlo::kernel {

/// One index per dimension.
using Indices = llvm::SmallVector<Address, 4>;

/// A dimension of a loop nest: (number of the nest, dimension).
using NestDimension = std::pair<int, int64_t>;

/// How loops have to be made, found out by attempts at lowering.
struct LoopPlan {
  /// Dimensions that have to be several loops so that indices behind a reshape stay sums: the extents of the
  /// loops, outermost first.
  std::map<NestDimension, llvm::SmallVector<int64_t, 2>> splits;
  /// Dimensions whose iterations are several loops, one behind the other, so that each knows which part of a
  /// concatenation or padding it reads: where all but the first begin, ascending.
  std::map<NestDimension, std::set<int64_t>> cuts;
  /// Reduced dimensions of few elements, each of which is read from another part: folded without a loop.
  std::set<NestDimension> written_out;
};

/// Walks from the outputs to the parameters, making loops for outputs and reductions. Where a reshape needs a
/// finer loop than there is, it adds to the plan's splits: then the result is of no use and the next attempt
/// succeeds.
class Lowering {
 public:
  /// With `divide` indices are divided where a split would do better.
  Lowering(const Computation& fused, LoopPlan& plan, const Target& target, bool divide)
      : fused_(fused), plan_(plan), target_(target), divide_(divide), builder_(lowered_.kernel) {}
  Result<LoweredKernel> Run(llvm::StringRef name);
  [[nodiscard]] bool wants_split() const { return wants_split_; }
  /// Whether Run failed because the kernel has more values than kernels may have.
  [[nodiscard]] bool too_long() const { return too_long_; }
  /// Cuts that would spare masks, as far as they leave loops worth having.
  [[nodiscard]] std::map<NestDimension, std::set<int64_t>> WorthyCuts() const;
  /// Reductions whose elements come from different parts of concatenations.
  [[nodiscard]] const std::set<NestDimension>& WantedWrittenOut() const { return wanted_written_out_; }
  /// Whether a loop that was cut has its index divided, which is dearer than what the cut spares.
  [[nodiscard]] bool divides_cut() const { return divides_cut_; }
  /// See HasLoops.
  static bool Has(OpKind kind) {
    return kind == OpKind::Scatter || kind == OpKind::Sort || FindEmitter(kind) != nullptr;
  }

 private:
  /// Values of a kernel: beyond these, elements are being computed in ever more ways.
  static constexpr size_t kMostValues = 1 << 14;
  static constexpr int kMostLevels = 1 << 13;  // of operands within operands: emitting goes down with them

  using Values = llvm::SmallVector<ValueId, 1>;
  using Elements = llvm::function_ref<Result<Values>()>;
  using Combine = llvm::function_ref<Result<Values>(llvm::ArrayRef<ValueId> parameters)>;
  /// The value or (variadic reductions) values of an element of `inst`; read only where `mask` is true.
  Result<Values> Emit(const Instruction& inst, const Indices& at, ValueId mask);
  Result<ValueId> EmitOne(const Instruction& inst, const Indices& at, ValueId mask);

  // One function per kind of op, found by table.
  using EmitFn = Result<Values> (Lowering::*)(const Instruction& inst, const Indices& at, ValueId mask);
  static EmitFn FindEmitter(OpKind kind);
  Result<Values> EmitParameter(const Instruction& inst, const Indices& at, ValueId mask);
  Result<Values> EmitConstant(const Instruction& inst, const Indices& at, ValueId mask);
  Result<Values> EmitIota(const Instruction& inst, const Indices& at, ValueId mask);
  Result<Values> EmitElementwise(const Instruction& inst, const Indices& at, ValueId mask);
  Result<Values> EmitIdentity(const Instruction& inst, const Indices& at, ValueId mask);
  Result<Values> EmitBitcastConvert(const Instruction& inst, const Indices& at, ValueId mask);
  Result<Values> EmitBroadcast(const Instruction& inst, const Indices& at, ValueId mask);
  Result<Values> EmitTranspose(const Instruction& inst, const Indices& at, ValueId mask);
  Result<Values> EmitSlice(const Instruction& inst, const Indices& at, ValueId mask);
  Result<Values> EmitReverse(const Instruction& inst, const Indices& at, ValueId mask);
  Result<Values> EmitReshape(const Instruction& inst, const Indices& at, ValueId mask);
  Result<Values> EmitConcatenate(const Instruction& inst, const Indices& at, ValueId mask);
  Result<Values> EmitPad(const Instruction& inst, const Indices& at, ValueId mask);
  Result<Values> EmitDynamicSlice(const Instruction& inst, const Indices& at, ValueId mask);
  Result<Values> EmitGather(const Instruction& inst, const Indices& at, ValueId mask);
  Result<Values> EmitDynamicUpdateSlice(const Instruction& inst, const Indices& at, ValueId mask);
  Result<Values> EmitReduce(const Instruction& inst, const Indices& at, ValueId mask);
  Result<Values> EmitReduceHere(const Instruction& inst, const Indices& at, ValueId mask);
  Result<Values> EmitReduceWindowHere(const Instruction& inst, const Indices& at, ValueId mask);
  Result<Values> EmitDotHere(const Instruction& inst, const Indices& at, ValueId mask);
  Result<Values> EmitConvolutionHere(const Instruction& inst, const Indices& at, ValueId mask);
  /// The sum over `loops` of the products of elements of the operands. `place` says where they are: the
  /// indices, and whether there are such elements, -1 if always.
  struct Factors {
    Indices left, right;
    ValueId inside = -1;
  };
  Result<Values> SumProducts(const Instruction& inst, llvm::ArrayRef<LoopId> loops, ValueId mask,
                             llvm::function_ref<Result<Factors>()> place);
  Result<Values> EmitTupleElement(const Instruction& inst, const Indices& at, ValueId mask);
  Result<Values> EmitCall(const Instruction& inst, const Indices& at, ValueId mask);

  Result<void> LowerOutputs(llvm::ArrayRef<const Instruction*> outputs);
  /// A nest that computes outputs of equal dimensions; `numbers`: which outputs.
  Result<void> LowerNest(llvm::ArrayRef<const Instruction*> outputs, llvm::ArrayRef<int64_t> numbers);
  /// root = dynamic-update-slice(parameter, …): only the update is written.
  Result<void> LowerUpdate(const Instruction& root, int64_t number);
  /// root = concatenate(…): a nest per operand, inside of the loops over the dimensions before.
  Result<void> LowerConcatenate(const Instruction& root, int64_t number);
  /// root = pad(…) without interior padding: a nest per border, and one for the operand.
  Result<void> LowerPad(const Instruction& root, int64_t number);
  /// root = scatter(parameters, …): windows of the operands are changed, row by row.
  Result<void> LowerScatter(const Instruction& root, llvm::ArrayRef<int64_t> numbers);
  /// root = sort(…) of rows, for machines of blocks and threads: a block has a row in shared memory.
  class SortNetwork;
  class NumberNetwork;
  Result<void> LowerSort(const Instruction& root);
  /// root = reduce-window(…) that is a scan of rows (IsRowScan), for machines of blocks and threads: a block
  /// has a row.
  class RowScan;
  Result<void> LowerRowScan(const Instruction& root, int64_t number);
  Result<void> LowerOneScatter(const Instruction& root, int64_t number);
  /// The windows of a scatter's updates.
  struct ScatterWindow {
    Dims sizes;                                 // those that updates have
    Dims of_operand;                            // in all dimensions of the operand, …
    llvm::SmallVector<size_t, 4> operand_dims;  // … and which of these the former are
    bool apart = false;  // windows of different rows are the same, or have nothing in common
  };
  static ScatterWindow WindowOf(const Instruction& root, int64_t count);
  /// Where the window of a row begins in the operand, whether it lies in there, and where its updates are
  /// read; -1: it does, and everywhere.
  struct ScatterStart {
    Indices at;
    ValueId inside = -1, reads = -1;
  };
  /// Of windows that are apart: the same number for the same window.
  static Address NumberOfWindow(const ScatterWindow& window, const ScatterStart& start, const Shape& operand);
  Result<ScatterStart> EmitScatterStart(const Instruction& root, int64_t count, const ScatterWindow& window,
                                        const Indices& row);
  /// An element of an update: where it goes, what is there, what arrives.
  struct ScatterUpdate {
    Indices to;
    Values current, arriving;
  };
  Result<ScatterUpdate> EmitScatterUpdate(const Instruction& root, llvm::ArrayRef<int64_t> numbers,
                                          const ScatterWindow& window, const ScatterStart& start,
                                          const Indices& row, const Indices& offsets);
  /// Combines both, and writes what that gives.
  Result<Values> EmitScatterElement(const Instruction& root, llvm::ArrayRef<int64_t> numbers,
                                    const ScatterUpdate& update, ValueId inside);
  /// For few elements on machines of blocks and threads: each goes through all rows in their order, and takes
  /// what is its own, so that nobody waits for what was written.
  [[nodiscard]] bool IsByElements(const Instruction& root, const ScatterWindow& window,
                                  const Dims& rows) const;
  Result<void> LowerScatterByElements(const Instruction& root, llvm::ArrayRef<int64_t> numbers,
                                      const ScatterWindow& window, const Dims& rows);
  /// For many rows and elements.
  class ScatterByTeams;
  /// For threads, each of which goes through all rows in their order but takes only those whose windows are
  /// its own: elements are independent of each other, whoever else changes them does so in the same thread.
  Result<void> LowerScatterApart(
      const Instruction& root, int64_t count, const ScatterWindow& window, const Dims& rows,
      llvm::function_ref<Result<void>(const ScatterStart&, const Indices&, const Indices&)> element);
  /// A nest of its own for an output, if its root has one.
  using LowerRoot = Result<void> (Lowering::*)(const Instruction& root, int64_t number);
  [[nodiscard]] LowerRoot FindRootLowering(const Instruction& root) const;
  /// Stores an element of output `number`.
  void StoreOutput(int64_t number, const Shape& shape, const Indices& at, ValueId value, ValueId mask = -1);
  /// Read where it stands, zero where the mask is false.
  ValueId LoadHere(BufferId buffer, const Address& address, ValueId mask = -1);
  /// Opens loops over dimensions, calls `body` with the indices, closes them.
  Result<void> InLoops(llvm::ArrayRef<int64_t> dims, llvm::function_ref<Result<void>(const Indices& at)> body,
                       bool ordered = false);
  /// Opens one loop as it is, but for its number, calls `body` with its index, closes it.
  Result<void> InLoop(Dimension loop, llvm::function_ref<Result<void>(const Address& index)> body);
  /// Folds what `elements` makes of an iteration of `loops` (made, not opened) into `inits`, for an element
  /// of `inst`.
  Result<Values> Fold(const Instruction& inst, llvm::ArrayRef<LoopId> loops, const Values& inits,
                      Elements elements, Combine combine);
  /// The same without a loop, `extent` elements one after the other, which `index` counts.
  Result<Values> FoldWrittenOut(Address& index, int64_t extent, Values inits, Elements elements,
                                Combine combine);
  /// An index of any integer type as s64; u64 beyond it as the largest.
  ValueId AsIndex(ValueId value);
  /// Element `component` of the index vector of a gather or scatter at batch indices, as s64.
  Result<ValueId> IndexComponent(const Instruction& indices, const Indices& batch, int64_t vector_dim,
                                 int64_t component, ValueId mask);
  /// The positions in the operands that a window at `at` reads, with loops over its elements (not opened).
  Result<Indices> WindowPositions(const Instruction& inst, const Indices& at,
                                  llvm::SmallVectorImpl<LoopId>& loops);
  /// The initial values of a reduce-window.
  Result<Values> WindowInits(const Instruction& inst, ValueId mask);
  /// Whether window positions may lie in the padding or between dilated elements.
  [[nodiscard]] bool MayLeaveBase(const Window& window, llvm::ArrayRef<int64_t> base,
                                  const Indices& positions) const;
  /// Makes window positions indices of an array with dimensions `base`; whether there is an element, -1 if
  /// always.
  Result<ValueId> IndexBase(const Instruction& inst, const Window& window, llvm::ArrayRef<int64_t> base,
                            Indices& positions);
  /// A value that changes no fold which began with `init`, if the combiner is one operation that has such.
  std::optional<ValueId> NeutralIn(const Computation& combiner, ValueId init);
  /// The loops of a dimension of nest `nest`, made but not opened, and the index they form. An extent of one
  /// needs no loop, but may have one.
  Address MakeLoops(NestDimension dimension, int64_t extent, llvm::SmallVectorImpl<LoopId>& loops,
                    bool always = false);
  /// Loops over the dimensions from `at.size()` on, once for each part of those that are cut.
  struct Nest {
    int number;
    llvm::ArrayRef<int64_t> dims;
    llvm::function_ref<Result<void>(const Indices& at)> body;
    bool ordered;
  };
  Result<void> InDimension(const Nest& nest, Indices& at);
  /// Notes that a cut of the loop would tell whether low <= address < high.
  void WantCuts(const Address& address, int64_t low, int64_t high);
  /// The same for windows that slide along the innermost dimension of a nest.
  void WantWindowCuts(const Address& address, int64_t low, int64_t high);
  /// Values of a scalar computation; arguments by parameter.
  Result<Values> InlineScalars(const Computation& computation, llvm::ArrayRef<ValueId> arguments);
  /// Clamped start indices of a dynamic slice or update.
  Result<Indices> Starts(const Instruction& inst, int64_t first_index, llvm::ArrayRef<int64_t> dims,
                         llvm::ArrayRef<int64_t> sizes, ValueId mask);
  /// Indices into `dims` of the element with row-major number `linear`.
  Indices Delinearize(const Address& linear, llvm::ArrayRef<int64_t> dims);
  /// Indices into `to` of the element that has indices `at` into `from`, in the same order of elements: of
  /// dimensions that have the same elements on either side those alone.
  Indices Reshaped(llvm::ArrayRef<Address> at, llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> to);
  /// The part of `linear` that counts units of `unit`, below `unit * extent` unless it is the outermost one;
  /// nothing if it is no sum yet (a split has then been asked for, or there is none that helps).
  std::optional<Address> DigitOf(const Address& linear, int64_t unit, int64_t extent, bool outermost);
  /// The same by divisions, of numbers below `count`.
  Address Divided(const Address& linear, int64_t unit, int64_t extent, int64_t count);
  /// Whether it is more than one number in the loops that it is made of.
  [[nodiscard]] bool Varies(const Address& index) const;
  /// Smallest and largest value; nothing if it depends on values.
  [[nodiscard]] std::optional<std::pair<int64_t, int64_t>> RangeOf(const Address& address) const;
  /// low <= address < high as a pred; -1 if that is always so. `never` tells if it never is.
  ValueId InRange(const Address& address, int64_t low, int64_t high, bool& never);
  ValueId ZeroOf(ElementType type) { return builder_.Constant(type, 0); }

  struct Memo {
    const Instruction* inst;
    Indices at;
    ValueId mask;
    Values values;
  };
  using MemoLevel = llvm::DenseMap<const Instruction*, llvm::SmallVector<Memo, 1>>;
  struct LoopOrigin {
    NestDimension dimension;
    size_t part;
  };

  const Computation& fused_;
  LoopPlan& plan_;
  const Target& target_;
  bool divide_;
  LoweredKernel lowered_;
  KernelBuilder builder_;
  std::vector<LoopOrigin> origins_;  // by loop
  /// By level of the regions: elements computed there.
  std::vector<MemoLevel> memo_;
  int nests_ = 0;
  int level_of_operands_ = 0;
  bool wants_split_ = false, divides_cut_ = false, too_long_ = false;
  /// Nests of outputs, whose loops may be cut: the extents of their dimensions, and where cuts would help.
  std::map<int, llvm::SmallVector<int64_t, 4>> nest_dims_;
  std::map<NestDimension, std::set<int64_t>> wanted_cuts_;
  std::set<NestDimension> short_reductions_;  // loops that may be written out
  std::set<NestDimension> wanted_written_out_;
};

/// The row-major number of an element.
Address Linearize(const Indices& at, llvm::ArrayRef<int64_t> dims);

}  // namespace hlo::kernel

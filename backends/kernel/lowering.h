// One attempt at lowering a fused computation: what lower.cc and its parts share.
#pragma once
#include <map>

#include "backends/kernel/builder.h"
#include "backends/kernel/lower.h"

namespace hlo::kernel {

/// One index per dimension.
using Indices = llvm::SmallVector<Address, 4>;

/// Dimensions of loop nests that have to be several loops so that indices behind a reshape stay sums: by
/// (nest, dimension) the extents of the loops, outermost first.
using LoopSplits = std::map<std::pair<int, int64_t>, llvm::SmallVector<int64_t, 2>>;

/// Walks from the outputs to the parameters, making loops for outputs and reductions. Where a reshape needs a
/// finer loop than there is, it adds to `splits`: then the result is of no use and the next attempt succeeds.
class Lowering {
 public:
  /// With `divide` indices are divided where a split would do better.
  Lowering(const Computation& fused, LoopSplits& splits, bool divide)
      : fused_(fused), splits_(splits), divide_(divide), builder_(lowered_.kernel) {}
  Result<LoweredKernel> Run(llvm::StringRef name);
  [[nodiscard]] bool wants_split() const { return wants_split_; }
  /// See HasLoops.
  static bool Has(OpKind kind) { return kind == OpKind::Scatter || FindEmitter(kind) != nullptr; }

 private:
  using Values = llvm::SmallVector<ValueId, 1>;
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
  Result<void> LowerOneScatter(const Instruction& root, int64_t number);
  Result<void> EmitScatterRow(const Instruction& root, llvm::ArrayRef<int64_t> numbers, const Indices& row);
  /// A nest of its own for an output, if its root has one.
  using LowerRoot = Result<void> (Lowering::*)(const Instruction& root, int64_t number);
  static LowerRoot FindRootLowering(const Instruction& root);
  /// Stores an element of output `number`.
  void StoreOutput(int64_t number, const Shape& shape, const Indices& at, ValueId value, ValueId mask = -1);
  /// Opens loops over dimensions, calls `body` with the indices, closes them.
  Result<void> InLoops(llvm::ArrayRef<int64_t> dims, llvm::function_ref<Result<void>(const Indices& at)> body,
                       bool ordered = false);
  /// Folds what `elements` makes of an iteration of `loops` (made, not opened) into `inits`.
  Result<Values> Fold(llvm::ArrayRef<LoopId> loops, const Values& inits,
                      llvm::function_ref<Result<Values>()> elements,
                      llvm::function_ref<Result<Values>(llvm::ArrayRef<ValueId> parameters)> combine);
  /// An index of any integer type as s64; u64 beyond it as the largest.
  ValueId AsIndex(ValueId value);
  /// Element `component` of the index vector of a gather or scatter at batch indices, as s64.
  Result<ValueId> IndexComponent(const Instruction& indices, const Indices& batch, int64_t vector_dim,
                                 int64_t component, ValueId mask);
  /// A value that changes no fold which began with `init`, if the combiner is one operation that has such.
  std::optional<ValueId> NeutralIn(const Computation& combiner, ValueId init);
  /// The loops of a dimension of nest `nest`, made but not opened, and the index they form.
  Address MakeLoops(int nest, int64_t dimension, int64_t extent, llvm::SmallVectorImpl<LoopId>& loops);
  /// Values of a scalar computation; arguments by parameter.
  Result<Values> InlineScalars(const Computation& computation, llvm::ArrayRef<ValueId> arguments);
  /// Clamped start indices of a dynamic slice or update.
  Result<Indices> Starts(const Instruction& inst, int64_t first_index, llvm::ArrayRef<int64_t> dims,
                         llvm::ArrayRef<int64_t> sizes, ValueId mask);
  /// Indices into `dims` of the element with row-major number `linear`.
  Indices Delinearize(const Address& linear, llvm::ArrayRef<int64_t> dims);
  /// The part of `linear` that counts units of `unit`, below `unit * extent`; nothing if it is no sum yet (a
  /// split has then been asked for, or there is none that helps).
  std::optional<Address> DigitOf(const Address& linear, int64_t unit, int64_t extent);
  Address Divided(const Address& linear, int64_t unit, int64_t extent);
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
    int nest;
    int64_t dimension;
    size_t part;
  };

  const Computation& fused_;
  LoopSplits& splits_;
  bool divide_;
  LoweredKernel lowered_;
  KernelBuilder builder_;
  std::vector<LoopOrigin> origins_;  // by loop
  /// By level of the regions: elements computed there.
  std::vector<MemoLevel> memo_;
  int nests_ = 0;
  bool wants_split_ = false;
};

/// The row-major number of an element.
Address Linearize(const Indices& at, llvm::ArrayRef<int64_t> dims);

}  // namespace hlo::kernel

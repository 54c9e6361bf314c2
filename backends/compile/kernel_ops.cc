#include "backends/compile/kernel_ops.h"

#include "backends/compile/kernel_config.h"
#include "backends/kernel/lower.h"
#include "ir/attrs.h"
#include "ir/op.h"
#include "ir/prefix_reduction.h"
#include "llvm/ADT/DenseSet.h"
#include "passes/analysis/reducers.h"

namespace hlo::compile {
namespace {

/// Positions of a window; beyond those that a kernel takes one by one it does not matter how many.
int64_t Taps(const Instruction& inst, const Machine& machine) {
  const int64_t most = machine.kernels.code.taps;
  int64_t taps = 1;
  for (const WindowDim& w : inst.attr<ReduceWindowAttrs>().window.dims)
    taps = w.size > most ? most + 1 : std::min(taps * w.size, most + 1);
  return taps;
}

/// A vector times a matrix that is widened on the way: reading it is all the work, so it is never stored
/// wide.
bool ReadsNarrowWeights(const Instruction& inst, const Machine& machine) {
  if (inst.shape().element_type() != ElementType::F32 ||
      ContractedElements(inst) > machine.products.contracted)
    return false;
  for (const int i : {0, 1}) {
    const Instruction &weights = *inst.operand(i), &vector = *inst.operand(1 - i);
    if (weights.kind() != OpKind::Convert || weights.users().size() != 1) continue;
    if (Info(weights.operand(0)->shape().element_type()).bits > 8) continue;
    if (vector.shape().ElementCount() == ContractedElements(inst)) return true;
  }
  return false;
}

/// Whether a loop runs the computation.
bool RunsInLoop(const Computation& computation) {
  llvm::SmallVector<const Computation*, 8> pending = {&computation};
  llvm::SmallDenseSet<const Computation*, 8> seen = {&computation};
  while (!pending.empty())
    for (const Instruction* caller : pending.pop_back_val()->callers()) {
      if (caller->kind() == OpKind::While) return true;
      if (seen.insert(caller->parent()).second) pending.push_back(caller->parent());
    }
  return false;
}

/// Of numbers that kernels compute with as they are.
bool IsMatrixVectorInLoop(const Instruction& inst) {
  const ElementType type = inst.shape().element_type();
  const auto is_plain = [&](const Instruction* factor) { return factor->shape().element_type() == type; };
  const auto is_vector = [&](const Instruction* factor) {
    return factor->shape().ElementCount() == ContractedElements(inst);
  };
  return (type == ElementType::F32 || type == ElementType::F64) && llvm::all_of(inst.operands(), is_plain) &&
         llvm::any_of(inst.operands(), is_vector) && RunsInLoop(*inst.parent());
}

/// Rows of a few numbers times one vector, or pairs and the like times as few of them: there is more to read
/// than to multiply.
bool IsProductOfShortRows(const Instruction& inst, const Machine::Products& products) {
  const int64_t contracted = ContractedElements(inst);
  const bool is_batch = !inst.attr<DotAttrs>().lhs_batch_dims.empty();
  const auto is_small = [&](const Instruction* factor) {
    const int64_t count = factor->shape().ElementCount();
    const int64_t most = factor == inst.operand(1) ? products.small_right : products.small_left;
    return count == contracted || (count <= most && !is_batch);
  };
  return contracted <= products.short_row && llvm::any_of(inst.operands(), is_small);
}

bool IsSmallDot(const Instruction& inst, const Machine& machine) {
  const auto is_plain = [](const Shape& shape) {
    return !IsPred(shape.element_type()) && Info(shape.element_type()).bits >= 8;
  };
  if (!kernel::HasSums(inst) || inst.shape().element_type() == ElementType::C128 || !is_plain(inst.shape()) ||
      !is_plain(inst.operand(0)->shape()) || !is_plain(inst.operand(1)->shape()))
    return false;
  const int64_t products = inst.shape().ElementCount() * ContractedElements(inst);
  return products <= machine.products.all ||
         (products <= machine.products.in_loops && IsMatrixVectorInLoop(inst)) ||
         ReadsNarrowWeights(inst, machine) || IsProductOfShortRows(inst, machine.products);
}

int64_t ReducedElements(const Instruction& inst) {
  int64_t count = 1;
  for (const int64_t d : inst.attr<ReduceAttrs>().dimensions) count *= inst.operand(0)->shape().dim(d);
  return count;
}

int64_t Plain(const Machine& machine) { return machine.kernels.ops.plain.operations; }
int64_t PlainCost(const Instruction&, const Machine& machine) { return Plain(machine); }
int64_t NoCost(const Instruction&, const Machine&) { return 0; }
int64_t ReadCost(const Instruction&, const Machine& machine) { return machine.costs.read; }
int64_t IndexedCost(const Instruction&, const Machine& machine) { return machine.costs.indexed; }
/// Between elements that are padding there are divisions, and reads that leave elements out.
int64_t PadCost(const Instruction& inst, const Machine& machine) {
  const bool inside =
      llvm::any_of(inst.attr<PadAttrs>().padding, [](const auto& d) { return d.interior > 0; });
  return inside ? machine.costs.padded : Plain(machine);
}
int64_t CalledCost(const Instruction&, const Machine& machine) { return machine.costs.called; }
int64_t ReduceCost(const Instruction& inst, const Machine& machine) {
  return Plain(machine) * ReducedElements(inst);
}
int64_t ReduceWindowCost(const Instruction& inst, const Machine& machine) {
  constexpr int64_t kOfScan = 4;  // steps for each element
  if (IsScanOfBlocks(inst, machine)) return Plain(machine) * kOfScan;
  return Plain(machine) * Taps(inst, machine);
}
/// Neither bits of bytes nor complex numbers, whose halves have an order of their own.
bool IsWholeBytes(const Instruction& inst) {
  for (const Shape* shape : {&inst.shape(), &inst.operand(0)->shape()}) {
    const ElementType type = shape->element_type();
    if (IsComplex(type) || IsPred(type) || Info(type).bits < 8) return false;
  }
  return true;
}
/// Elements are made of several narrower ones.
int64_t BitcastCost(const Instruction& inst, const Machine& machine) {
  const int64_t from = Info(inst.operand(0)->shape().element_type()).bits;
  return Plain(machine) * std::max<int64_t>(1, 2 * int64_t{Info(inst.shape().element_type()).bits} / from);
}
int64_t ProductCost(const Instruction& inst, const Machine& machine) {
  return Plain(machine) * ContractedElements(inst);
}

struct Row {
  OpKind kind;
  int64_t (*cost)(const Instruction&, const Machine&);
};
/// What moves elements or takes several for one of the result.
constexpr Row kRows[] = {
    {OpKind::Copy, NoCost},
    {OpKind::Iota, PlainCost},
    {OpKind::Broadcast, NoCost},
    {OpKind::Transpose, ReadCost},
    {OpKind::Reshape, NoCost},
    {OpKind::Slice, NoCost},
    {OpKind::Reverse, ReadCost},
    {OpKind::Concatenate, PlainCost},
    {OpKind::Pad, PadCost},
    {OpKind::DynamicSlice, ReadCost},
    {OpKind::DynamicUpdateSlice, ReadCost},
    {OpKind::Reduce, ReduceCost},
    {OpKind::ReduceWindow, ReduceWindowCost},
    {OpKind::Dot, ProductCost},
    {OpKind::Convolution, ProductCost},
    {OpKind::BitcastConvert, BitcastCost},
    {OpKind::Gather, IndexedCost},
    {OpKind::Scatter, IndexedCost},
    {OpKind::Map, CalledCost},
};
/// Ops that kernels contain but that are no reason to make one: there is nothing to compute.
constexpr OpKind kWithoutWork[] = {OpKind::Parameter, OpKind::Constant, OpKind::Copy, OpKind::Bitcast,
                                   OpKind::GetTupleElement};

/// Edges that are no operands, which fusions do not have.
bool HasOrder(const Instruction& inst) {
  return !inst.extras().control_predecessors.empty() || !inst.extras().control_successors.empty();
}
bool HasDynamicDimensions(const Instruction& inst) {
  return inst.shape().HasDynamicDimension() ||
         llvm::any_of(inst.operands(), [](const Instruction* x) { return x->shape().HasDynamicDimension(); });
}

/// Why ops are left to the evaluator, by category.
constexpr struct {
  OpCategory category;
  const char* why;
} kReasons[] = {
    {OpCategory::Communication, "other devices or the host take part"},
    {OpCategory::Async, "other devices or the host take part"},
    {OpCategory::Custom, "a function of a library"},
    {OpCategory::Control, "a token, or an order that is no operand"},
    {OpCategory::Random, "numbers that depend on those drawn before"},
    {OpCategory::Dynamic, "dynamic dimensions"},
    {OpCategory::Source, "a property of the device"},
};

}  // namespace

int64_t ContractedElements(const Instruction& product) {
  int64_t count = 1;
  if (product.kind() == OpKind::Convolution) {
    const auto& attrs = product.attr<ConvolutionAttrs>();
    for (const WindowDim& d : attrs.window.dims) count *= d.size;
    return count * product.operand(1)->shape().dim(attrs.dim_labels->kernel_input_feature);
  }
  for (const int64_t d : product.attr<DotAttrs>().lhs_contracting_dims)
    count *= product.operand(0)->shape().dim(d);
  return count;
}

ProductDimension KindOfDimension(const Instruction& product, int64_t dimension) {
  using enum ProductDimension;
  if (product.kind() == OpKind::Convolution)
    return dimension == product.attr<ConvolutionAttrs>().dim_labels->output_feature ? Right : Left;
  const auto& attrs = product.attr<DotAttrs>();
  const auto batches = static_cast<int64_t>(attrs.lhs_batch_dims.size());
  if (dimension < batches) return Batch;
  const auto contracted = static_cast<int64_t>(attrs.lhs_contracting_dims.size());
  return dimension < product.operand(0)->shape().rank() - contracted ? Left : Right;
}

int64_t ElementsInOrder(const Instruction& inst, const Machine& machine) {
  const ElementType type = inst.shape().IsArray() ? inst.shape().element_type() : ElementType::Token;
  if (!IsFloat(type) && !IsComplex(type)) return 1;
  if (inst.kind() == OpKind::Dot || inst.kind() == OpKind::Convolution) return ContractedElements(inst);
  // Combiners of several operations are folded in order everywhere.
  const auto op = PlainReductionOp(inst);
  if (op != OpKind::Add && op != OpKind::Multiply) return 1;
  return inst.kind() == OpKind::Reduce ? ReducedElements(inst) : Taps(inst, machine);
}

bool HasLoops(const Instruction& inst) {
  // Sorts are kernels by themselves, or none, which their pass decides.
  return inst.kind() != OpKind::Sort && !HasOrder(inst) && !HasDynamicDimensions(inst) &&
         inst.extras().result_accuracy.is_default() && !llvm::is_contained(kWithoutWork, inst.kind()) &&
         kernel::HasLoops(inst.kind());
}

bool HasKernel(const Instruction& inst, const Machine& machine) {
  if (!HasLoops(inst) || FoldsInOrder(inst)) return false;
  if (inst.kind() == OpKind::ReduceWindow)
    return IsScanOfBlocks(inst, machine) || Taps(inst, machine) <= machine.kernels.code.taps;
  if (inst.kind() == OpKind::Dot) return IsSmallDot(inst, machine);
  if (inst.kind() == OpKind::Convolution) return false;
  return inst.kind() != OpKind::BitcastConvert || IsWholeBytes(inst);
}

bool IsLargeProduct(const Instruction& inst, const Machine& machine) {
  return machine.products.with_results &&
         (inst.kind() == OpKind::Dot || inst.kind() == OpKind::Convolution) && HasLoops(inst) &&
         !FoldsInOrder(inst) && !HasKernel(inst, machine) && kernel::HasSums(inst);
}

std::string WhyNoKernel(const Instruction& inst) {
  if (HasDynamicDimensions(inst)) return "dynamic dimensions";
  if (HasOrder(inst)) return "control predecessors or successors";
  if (!inst.extras().result_accuracy.is_default()) return "an accuracy that is asked for";
  if (inst.kind() == OpKind::ReduceWindow) return "windows of many elements";
  if (inst.shape().IsArray() && inst.shape().ElementCount() == 0) return "no elements";
  for (const auto& [category, why] : kReasons)
    if (category == inst.info().category) return why;
  return "an op without code of its own";
}

int64_t CostPerElement(const Instruction& inst, const Machine& machine) {
  for (const Row& row : kRows)
    if (row.kind == inst.kind()) return row.cost(inst, machine);
  return machine.kernels.CostOf(inst.kind()).operations;
}

const Shape& IterationShape(const Instruction& inst) {
  if (inst.kind() == OpKind::DynamicUpdateSlice) return inst.operand(1)->shape();
  return inst.shape().IsTuple() ? inst.shape().tuple_shape(0) : inst.shape();
}

bool IsScanOfBlocks(const Instruction& inst, const Machine& machine) {
  return machine.gpu.block > 0 && IsRowScan(inst);
}

bool HasOwnNest(const Instruction& inst) {
  constexpr OpKind kKinds[] = {OpKind::Concatenate, OpKind::Pad, OpKind::DynamicUpdateSlice, OpKind::Scatter};
  return inst.shape().IsTuple() || llvm::is_contained(kKinds, inst.kind()) || IsRowScan(inst);
}

bool KeepsOrder(const Instruction& product) {
  constexpr int64_t kFewest = int64_t{1} << 17;  // products that are worth another way
  if (!product.shape().IsArray() || product.shape().element_type() != ElementType::C128) return false;
  const int64_t count = product.shape().ElementCount();
  if (product.kind() != OpKind::Dot && product.kind() != OpKind::Convolution) return false;
  return count * ContractedElements(product) < kFewest;
}

bool MovesMinorDimension(const Instruction& inst, const Machine& machine) {
  if (inst.kind() != OpKind::Transpose) return false;
  const Dims& permutation = inst.attr<DimensionsAttrs>().dimensions;
  const int64_t minor = inst.shape().rank() - 1;
  return minor > 0 && permutation.back() != minor &&
         inst.shape().ElementCount() >= machine.transposes.elements &&
         inst.shape().dim(minor) >= machine.transposes.line &&
         inst.operand(0)->shape().dim(minor) >= machine.transposes.line;
}

bool FoldsAlongMemory(const Instruction& inst, const Machine& machine) {
  const auto is_last = [&](const Shape& shape, llvm::ArrayRef<int64_t> folded) {
    return folded.size() == 1 && folded[0] == shape.rank() - 1 &&
           shape.dim(folded[0]) > machine.kernels.vectors.full_row;
  };
  if (inst.kind() != OpKind::Reduce && inst.kind() != OpKind::Dot) return false;
  const Shape& x = inst.operand(0)->shape();
  if (inst.kind() == OpKind::Reduce) return is_last(x, inst.attr<ReduceAttrs>().dimensions);
  const auto& attrs = inst.attr<DotAttrs>();
  return is_last(x, attrs.lhs_contracting_dims) &&
         is_last(inst.operand(1)->shape(), attrs.rhs_contracting_dims);
}

bool IsFold(const Instruction& inst) {
  const OpCategory category = inst.info().category;
  return category == OpCategory::Contraction ||
         (category == OpCategory::Reduction && !inst.info().Is(kElementwise));
}

bool IsReadAcross(const Instruction& inst, const Machine& machine) {
  if (inst.kind() != OpKind::Transpose || inst.shape().ElementCount() < machine.transposes.elements)
    return false;
  const auto counts = [](int64_t size) { return size != 1; };
  const auto dims = llvm::ArrayRef(inst.shape().dims()),
             from = llvm::ArrayRef(inst.operand(0)->shape().dims());
  int64_t minor = inst.shape().rank() - 1;
  while (minor > 0 && dims[static_cast<size_t>(minor)] == 1) --minor;
  const int64_t source = inst.attr<DimensionsAttrs>().dimensions[static_cast<size_t>(minor)];
  return llvm::any_of(from.drop_front(static_cast<size_t>(source) + 1), counts);
}

}  // namespace hlo::compile

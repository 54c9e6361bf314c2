// parallel-reduction-splitter: large reductions become reductions of parts, which threads take, and one of
// the results: those of all elements to a scalar, and sums over the leading dimensions of arrays that the
// caches of one core do not hold. For machines of blocks of threads: those that leave most of the machine
// idle and go on for longer than another kernel takes to start; where no divisor will do, what is missing is
// init; what lies along dimensions apart is reduced along the longest run of neighbours first; and pairs of
// which one is chosen, as by argmax, in parts that single threads go through.
//
// Requires row-major. Preserves flat-calls, row-major. Sums and products of floats come out in another order:
// not with --strict-fp.
#include <cmath>
#include <limits>

#include "backends/compile/machine.h"
#include "ir/op.h"
#include "passes/analysis/pair_reducers.h"
#include "passes/analysis/reducers.h"
#include "passes/analysis/value_facts.h"
#include "passes/pass.h"
#include "passes/rewrite/dots.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/maker.h"

namespace hlo::compile {
namespace {

/// Below Machine::Threads::worthwhile one thread is done before another one has started.
bool MayBeSplit(const Instruction& inst, const Machine& machine) {
  if (inst.kind() != OpKind::Reduce || inst.has_extras()) return false;
  const std::optional<OpKind> op = PlainReductionOp(inst);
  if (!op || inst.shape().rank() != 0 || !MayRepeatInit(*op, *inst.operand(1))) return false;
  const Shape& x = inst.operand(0)->shape();
  const ElementType type = x.element_type();
  // Narrow floats that are not widened are rounded at every step: products would come out differently.
  if (x.HasDynamicDimension() || (IsFloat(type) && Info(type).bits < 32) || IsComplex(type)) return false;
  return x.ElementCount() >= machine.threads.worthwhile;
}

int64_t LargestDivisor(int64_t n, int64_t most) {
  int64_t divisor = std::min(n, most);
  while (n % divisor != 0) --divisor;
  return divisor;
}

/// Dimensions of `dims` with at most one of them cut in two, and how many of the first ones count the parts.
/// Several are never merged: their elements would have to be found by divisions.
std::pair<Dims, int64_t> PartsOf(llvm::ArrayRef<int64_t> dims, int64_t count,
                                 const Machine::Threads& threads) {
  Dims result(dims.begin(), dims.end());
  int64_t parts = 1;
  for (size_t d = 0; d < dims.size(); ++d) {
    const int64_t q = LargestDivisor(dims[d], threads.parts / parts), here = static_cast<int64_t>(d);
    if (q == dims[d]) {
      parts *= q;
      continue;
    }
    if (parts * q < threads.least_parts && parts * dims[d] * threads.least_part <= count)
      return {result, here + 1};
    if (q == 1) return {result, parts > 1 ? here : 0};
    result[d] = dims[d] / q;
    result.insert(result.begin() + here, q);
    return {result, here + 1};
  }
  return {result, 0};
}

/// False if there is nothing to cut.
bool Split(Instruction* reduce, const Machine& machine, PassContext& context) {
  Maker make(reduce);
  Instruction* x = reduce->operand(0);
  Instruction* init = reduce->operand(1);
  const auto [dims, kept] = PartsOf(x->shape().dims(), x->shape().ElementCount(), machine.threads);
  if (kept == 0 || !context.TakeRewrite()) return false;
  Instruction* parts = make.Reshape(x, dims);
  Instruction* sums =
      make.Reduce(parts, init, Range(kept, static_cast<int64_t>(dims.size()) - kept), reduce->callee());
  ReplaceAndRemove(reduce, make.Reduce(sums, init, Range(0, kept), reduce->callee()));
  return true;
}

/// How many parts the rows of a sum across memory are cut into, of arrays that the caches of one core do not
/// hold: the part of each thread is read in one direction. 1 if they stay together.
int64_t RowParts(const Instruction& inst, const Machine& machine) {
  if (inst.kind() != OpKind::Reduce || inst.has_extras() || inst.shape().rank() == 0) return 1;
  const std::optional<OpKind> op = PlainReductionOp(inst);
  const Shape& x = inst.operand(0)->shape();
  const ElementType type = x.element_type();
  const bool added = op == OpKind::Add && (type == ElementType::F32 || type == ElementType::F64);
  if (!added || !MayRepeatInit(*op, *inst.operand(1)) || x.HasDynamicDimension()) return 1;
  const Dims dims = ReducedDims(inst);
  if (dims != Range(0, static_cast<int64_t>(dims.size()))) return 1;
  const int64_t columns = inst.shape().ElementCount(), bytes = Info(type).host_bytes();
  if (x.ElementCount() * bytes < 2 * machine.caches.second ||
      columns * bytes < machine.kernels.caches.least_row)
    return 1;
  const int64_t rows = x.ElementCount() / columns;
  const int64_t most = std::min(machine.threads.row_parts, rows / machine.threads.least_rows);
  if (most < machine.threads.least_row_parts) return 1;
  const int64_t parts = LargestDivisor(x.dim(0), most);
  return parts < machine.threads.least_row_parts ? 1 : parts;
}

void SplitRows(Instruction* reduce, int64_t count) {
  Maker make(reduce);
  Instruction* init = reduce->operand(1);
  Dims dims(reduce->operand(0)->shape().dims());
  dims[0] /= count;
  dims.insert(dims.begin(), count);
  Instruction* parts = make.Reshape(reduce->operand(0), dims);
  Instruction* sums =
      make.Reduce(parts, init, Range(1, static_cast<int64_t>(ReducedDims(*reduce).size())), reduce->callee());
  ReplaceAndRemove(reduce, make.Reduce(sums, init, {0}, reduce->callee()));
}

/// Bytes that one of `parts` processors moves while a kernel is started.
int64_t BytesOfLaunch(const Machine& machine) {
  return machine.costs.launch / (machine.memory.back().operations_per_byte * machine.threads.parts);
}

llvm::ArrayRef<Instruction*> ArraysOf(const Instruction& reduce) {
  return llvm::ArrayRef(reduce.operands()).take_front(static_cast<size_t>(reduce.operand_count() / 2));
}

/// Pairs of which one is chosen, as by argmax, are chosen the same way from those of parts. Comparisons may
/// take subnormals for zeros.
bool MayChooseInParts(const Instruction& reduce) {
  const Instruction& init = *reduce.operand(2);
  if (ArraysOf(reduce).size() != 2 || reduce.operand(0)->shape().HasDynamicDimension() ||
      init.kind() != OpKind::Constant)
    return false;
  const double first = std::abs(LiteralValue(*init.attr<ConstantAttrs>().literal, 0));
  return !(first < std::numeric_limits<float>::min()) && MayGroupPairs(*reduce.callee());
}

/// A reduction that a machine of blocks may make in parts, if that is worth it.
bool MayBeOfBlocks(const Instruction& inst, const Machine& machine) {
  if (inst.kind() != OpKind::Reduce || inst.has_extras()) return false;
  if (inst.operand_count() != 2) return MayChooseInParts(inst);
  const std::optional<OpKind> op = PlainReductionOp(inst);
  const Shape& x = inst.operand(0)->shape();
  const ElementType type = x.element_type();
  if (!op || !MayRepeatInit(*op, *inst.operand(1)) || x.HasDynamicDimension() || IsComplex(type))
    return false;
  const bool narrow = IsFloat(type) && Info(type).bits < 32;
  // Parts of less would be made by the kernel that folds them.
  return (!narrow || !RoundsByOrder(*op, type)) && x.ElementCount() >= machine.threads.worthwhile;
}

/// Elements of a result.
int64_t ResultsPer(const Instruction& reduce) {
  const Shape& shape = reduce.shape();
  return (shape.IsTuple() ? shape.tuple_shapes().front() : shape).ElementCount();
}

/// The longest run of neighbours among reduced dimensions, of those as long the last: where it begins and
/// ends. Nothing if all are neighbours.
std::optional<std::pair<size_t, size_t>> LongestRun(const Instruction& reduce, llvm::ArrayRef<int64_t> dims) {
  std::pair<size_t, size_t> longest;
  int64_t most = 0;
  for (size_t begin = 0, end = 0; begin < dims.size(); begin = end) {
    int64_t elements = 1;
    for (end = begin; end < dims.size() && dims[end] == dims[begin] + static_cast<int64_t>(end - begin);
         ++end)
      elements *= reduce.operand(0)->shape().dim(dims[end]);
    // Pairs stay in their order: only the last run has neighbours of the whole.
    if (elements >= most || reduce.shape().IsTuple()) longest = {begin, end}, most = elements;
  }
  return longest.second - longest.first == dims.size() ? std::nullopt : std::optional(longest);
}

/// What is reduced first of dimensions that lie apart: the longest run, whose results are rows of their own.
/// Nothing where there is but one run, or what is left would be too large to be worth it.
std::optional<Dims> RunReducedFirst(const Instruction& reduce, const Machine& machine) {
  constexpr int64_t kLeast = 8;  // elements of the run: so many times less is moved again
  const Dims dims = ReducedDims(reduce);
  const auto run = LongestRun(reduce, dims);
  if (!run || ResultsPer(reduce) >= machine.threads.worthwhile) return std::nullopt;
  Dims first(dims.begin() + static_cast<int64_t>(run->first),
             dims.begin() + static_cast<int64_t>(run->second));
  return ProductOf(reduce.operand(0)->shape(), first) < kLeast ? std::nullopt : std::optional(first);
}

/// The same reduction of other arrays along other dimensions.
Instruction* ReduceAgain(Maker& make, const Instruction& reduce, llvm::ArrayRef<Instruction*> arrays,
                         Dims dimensions) {
  std::vector<Instruction*> operands(arrays.begin(), arrays.end());
  for (size_t i = 0; i < arrays.size(); ++i)
    operands.push_back(reduce.operand(static_cast<int64_t>(arrays.size() + i)));
  ReduceAttrs attrs;
  attrs.dimensions = std::move(dimensions);
  return make.Add(OpKind::Reduce, operands, std::move(attrs), {reduce.callee()});
}
/// What it gives, by array.
std::vector<Instruction*> ResultsOf(Maker& make, Instruction* reduce) {
  if (!reduce->shape().IsTuple()) return {reduce};
  std::vector<Instruction*> results;
  for (size_t i = 0; i < reduce->shape().tuple_shapes().size(); ++i)
    results.push_back(make.Gte(reduce, static_cast<int64_t>(i)));
  return results;
}

/// The reduction of `first`, whose results are reduced along the other dimensions.
Instruction* SplitRuns(Instruction* reduce, const Dims& first) {
  Dims left;
  for (const int64_t d : ReducedDims(*reduce))
    if (!llvm::is_contained(first, d))
      left.push_back(d - llvm::count_if(first, [&](int64_t before) { return before < d; }));
  Maker make(reduce);
  Instruction* rows = ReduceAgain(make, *reduce, ArraysOf(*reduce), first);
  ReplaceAndRemove(reduce, ReduceAgain(make, *reduce, ResultsOf(make, rows), left));
  return rows;
}

/// Pairs of a part, and those that stay in one.
constexpr int64_t kPairs = 64, kLongestOfPairs = 256;

/// How many parts keep a machine of blocks busy with a reduction: 1 if it stays whole.
int64_t BlockParts(const Instruction& inst, const Machine& machine) {
  if (!MayBeOfBlocks(inst, machine)) return 1;
  const Shape& x = inst.operand(0)->shape();
  const ElementType type = x.element_type();
  const Dims dims = ReducedDims(inst);
  const int64_t count = static_cast<int64_t>(dims.size());
  if (count == 0 || dims != Range(dims[0], count)) return 1;
  const int64_t results = ResultsPer(inst), length = x.ElementCount() / std::max<int64_t>(results, 1);
  // One thread goes through pairs: parts are short, and so many that the machine is busy.
  if (inst.operand_count() > 2)
    return length < kLongestOfPairs || results >= machine.threads.worthwhile / kLongestOfPairs
               ? 1
               : length / kPairs;
  // Rows have a block each; of what is folded across memory as many results as there are lanes.
  const int64_t together = dims.back() + 1 == x.rank() ? 1 : std::min(machine.gpu.warp, results);
  const int64_t blocks = (results + together - 1) / together;
  const int64_t bytes = length * together * Info(type).host_bytes();
  const int64_t parts = std::min(bytes / BytesOfLaunch(machine), 2 * machine.threads.parts / blocks);
  return parts < machine.threads.least_row_parts ? 1 : parts;
}

/// An array with its first reduced dimension as long as a multiple of `parts`, of what changes no fold.
Instruction* Padded(Maker& make, Instruction* x, Instruction* init, int64_t dimension, int64_t parts) {
  std::vector<PaddingDim> padding(static_cast<size_t>(x->shape().rank()));
  const int64_t size = x->shape().dim(dimension);
  padding[static_cast<size_t>(dimension)].high = (size + parts - 1) / parts * parts - size;
  return make.Pad(x, init, padding);
}

/// The reduction of the results of parts; null if the dimensions cannot be cut so.
Instruction* SplitForBlocks(Instruction* reduce, int64_t most, const Machine& machine, PassContext& context) {
  Maker make(reduce);
  const Dims reduced = ReducedDims(*reduce);
  const int64_t first = reduced[0], count = static_cast<int64_t>(reduced.size());
  const auto sizes = llvm::ArrayRef(reduce->operand(0)->shape().dims());
  Machine::Threads threads = machine.threads;
  threads.parts = most;
  auto [dims, kept] = PartsOf(sizes.slice(static_cast<size_t>(first), static_cast<size_t>(count)),
                              ProductOf(reduce->operand(0)->shape(), reduced), threads);
  int64_t parts = 1;
  for (const int64_t size : llvm::ArrayRef(dims).take_front(static_cast<size_t>(kept))) parts *= size;
  const bool pads = parts * 2 < most;
  if ((pads && count > 1) || !context.TakeRewrite()) return nullptr;
  std::vector<Instruction*> arrays = ArraysOf(*reduce).vec();
  if (pads) {
    for (size_t i = 0; i < arrays.size(); ++i)
      arrays[i] =
          Padded(make, arrays[i], reduce->operand(static_cast<int64_t>(arrays.size() + i)), first, most);
    dims = {most, arrays[0]->shape().dim(first) / most}, kept = 1;
  }
  Dims all(sizes.take_front(static_cast<size_t>(first)));
  all.append(dims.begin(), dims.end());
  const auto behind = sizes.drop_front(static_cast<size_t>(first + count));
  all.append(behind.begin(), behind.end());
  const int64_t inner = static_cast<int64_t>(dims.size()) - kept;
  for (Instruction*& array : arrays) array = make.Reshape(array, all);
  Instruction* folded = ReduceAgain(make, *reduce, arrays, Range(first + kept, inner));
  Instruction* outer = ReduceAgain(make, *reduce, ResultsOf(make, folded), Range(first, kept));
  ReplaceAndRemove(reduce, outer);
  return outer;
}

/// Runs of dimensions after each other, and what is still long in parts.
bool SplitOnBlocks(Instruction* reduce, const Machine& machine, PassContext& context) {
  bool changed = false;
  while (const auto first = RunReducedFirst(*reduce, machine)) {
    if (!context.TakeRewrite()) return changed;
    reduce = SplitRuns(reduce, *first);
    changed = true;
  }
  for (;;) {
    const int64_t parts = BlockParts(*reduce, machine);
    Instruction* outer = parts > 1 ? SplitForBlocks(reduce, parts, machine, context) : nullptr;
    if (outer == nullptr) return changed;
    changed = true;
    // The results of parts are few, but for pairs.
    if (!outer->shape().IsTuple()) return changed;
    reduce = outer;
  }
}

Result<bool> RunParallelReductionSplitter(Module& module, const NoPassOptions&, PassContext& context) {
  bool changed = false;
  const Machine& machine = MachineOf(context);
  const auto allowed = [&](const Instruction& reduce) {
    return !context.policy().strict_fp || reduce.shape().IsTuple() ||
           !RoundsByOrder(*PlainReductionOp(reduce), reduce.shape().element_type());
  };
  for (Computation* computation : context.Computations(module)) {
    std::vector<Instruction*> found;
    if (machine.gpu.warp > 0) {
      for (Instruction* inst : computation->instructions())
        if (MayBeOfBlocks(*inst, machine) && allowed(*inst)) found.push_back(inst);
      for (Instruction* reduce : found) changed |= SplitOnBlocks(reduce, machine, context);
      continue;
    }
    for (Instruction* inst : computation->instructions())
      if (MayBeSplit(*inst, machine) && allowed(*inst)) found.push_back(inst);
    for (Instruction* reduce : found) changed |= Split(reduce, machine, context);
    found.clear();
    for (Instruction* inst : computation->instructions())
      if (RowParts(*inst, machine) > 1 && allowed(*inst)) found.push_back(inst);
    for (Instruction* reduce : found) {
      if (!context.TakeRewrite()) return changed;
      SplitRows(reduce, RowParts(*reduce, machine));
      changed = true;
    }
  }
  return changed;
}

}  // namespace

HLO_DEFINE_PASS(ParallelReductionSplitter, NoPassOptions);

}  // namespace hlo::compile

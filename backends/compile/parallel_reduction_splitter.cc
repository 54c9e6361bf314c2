// parallel-reduction-splitter: large reductions become reductions of parts, which threads take, and one of
// the results: those of all elements to a scalar, and sums over the leading dimensions of arrays that the
// caches of one core do not hold. For machines of blocks of threads: those that leave most of the machine
// idle and go on for longer than another kernel takes to start; where no divisor will do, what is missing is
// init.
//
// Requires row-major. Preserves flat-calls, row-major. Sums and products of floats come out in another order:
// not with --strict-fp.
#include "backends/compile/machine.h"
#include "ir/op.h"
#include "passes/analysis/reducers.h"
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

/// How many parts keep a machine of blocks busy with a reduction: 1 if it stays whole.
int64_t BlockParts(const Instruction& inst, const Machine& machine) {
  if (inst.kind() != OpKind::Reduce || inst.has_extras() || inst.operand_count() != 2) return 1;
  const std::optional<OpKind> op = PlainReductionOp(inst);
  const Shape& x = inst.operand(0)->shape();
  const ElementType type = x.element_type();
  if (!op || !MayRepeatInit(*op, *inst.operand(1)) || x.HasDynamicDimension() || IsComplex(type)) return 1;
  const bool narrow = IsFloat(type) && Info(type).bits < 32;
  // Parts of less would be made by the kernel that folds them.
  if ((narrow && RoundsByOrder(*op, type)) || x.ElementCount() < machine.threads.worthwhile) return 1;
  const Dims dims = ReducedDims(inst);
  const int64_t count = static_cast<int64_t>(dims.size());
  if (count == 0 || dims != Range(dims[0], count)) return 1;
  // Rows have a block each; of what is folded across memory as many results as there are lanes.
  const int64_t results = inst.shape().ElementCount(), length = x.ElementCount() / results;
  const int64_t together = dims.back() + 1 == x.rank() ? 1 : std::min(machine.gpu.warp, results);
  const int64_t blocks = (results + together - 1) / together;
  const int64_t bytes = length * together * Info(type).host_bytes();
  const int64_t parts = std::min(bytes / BytesOfLaunch(machine), 2 * machine.threads.parts / blocks);
  return parts < machine.threads.least_row_parts ? 1 : parts;
}

/// The operand with its first reduced dimension as long as a multiple of `parts`, of what changes no fold.
Instruction* Padded(Maker& make, const Instruction& reduce, int64_t dimension, int64_t parts) {
  Instruction* x = reduce.operand(0);
  std::vector<PaddingDim> padding(static_cast<size_t>(x->shape().rank()));
  const int64_t size = x->shape().dim(dimension);
  padding[static_cast<size_t>(dimension)].high = (size + parts - 1) / parts * parts - size;
  return make.Pad(x, reduce.operand(1), padding);
}

/// False if the dimensions cannot be cut so.
bool SplitForBlocks(Instruction* reduce, int64_t most, const Machine& machine, PassContext& context) {
  Maker make(reduce);
  const Dims reduced = ReducedDims(*reduce);
  const int64_t first = reduced[0], count = static_cast<int64_t>(reduced.size());
  Instruction* x = reduce->operand(0);
  const auto sizes = llvm::ArrayRef(x->shape().dims());
  Machine::Threads threads = machine.threads;
  threads.parts = most;
  auto [dims, kept] = PartsOf(sizes.slice(static_cast<size_t>(first), static_cast<size_t>(count)),
                              ProductOf(x->shape(), reduced), threads);
  int64_t parts = 1;
  for (const int64_t size : llvm::ArrayRef(dims).take_front(static_cast<size_t>(kept))) parts *= size;
  const bool pads = parts * 2 < most;
  if ((pads && count > 1) || !context.TakeRewrite()) return false;
  if (pads) {
    x = Padded(make, *reduce, first, most);
    dims = {most, x->shape().dim(first) / most}, kept = 1;
  }
  Dims all(sizes.take_front(static_cast<size_t>(first)));
  all.append(dims.begin(), dims.end());
  const auto behind = sizes.drop_front(static_cast<size_t>(first + count));
  all.append(behind.begin(), behind.end());
  Instruction* init = reduce->operand(1);
  const int64_t inner = static_cast<int64_t>(dims.size()) - kept;
  Instruction* sums = make.Reduce(make.Reshape(x, all), init, Range(first + kept, inner), reduce->callee());
  ReplaceAndRemove(reduce, make.Reduce(sums, init, Range(first, kept), reduce->callee()));
  return true;
}

Result<bool> RunParallelReductionSplitter(Module& module, const NoPassOptions&, PassContext& context) {
  bool changed = false;
  const Machine& machine = MachineOf(context);
  const auto allowed = [&](const Instruction& reduce) {
    return !context.policy().strict_fp ||
           !RoundsByOrder(*PlainReductionOp(reduce), reduce.shape().element_type());
  };
  for (Computation* computation : context.Computations(module)) {
    std::vector<Instruction*> found;
    if (machine.gpu.warp > 0) {
      for (Instruction* inst : computation->instructions())
        if (BlockParts(*inst, machine) > 1 && allowed(*inst)) found.push_back(inst);
      for (Instruction* reduce : found)
        changed |= SplitForBlocks(reduce, BlockParts(*reduce, machine), machine, context);
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

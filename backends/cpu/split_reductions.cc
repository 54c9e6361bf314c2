#include "backends/cpu/split_reductions.h"

#include "ir/eval/elementwise.h"
#include "ir/op.h"
#include "passes/analysis/reducers.h"
#include "passes/rewrite/dots.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/maker.h"

namespace hlo::cpu {
namespace {

/// Elements below which one thread is done before another one has started.
constexpr int64_t kMinElements = int64_t{1} << 18;
constexpr int64_t kMostParts = 64;
/// Elements of a part.
constexpr int64_t kMinPart = 64;

bool MayBeSplit(const Instruction& inst) {
  if (inst.kind() != OpKind::Reduce || inst.has_extras()) return false;
  const std::optional<OpKind> op = PlainReductionOp(inst);
  if (!op || inst.shape().rank() != 0 || !MayRepeatInit(*op, *inst.operand(1))) return false;
  const Shape& x = inst.operand(0)->shape();
  const ElementType type = x.element_type();
  // Narrow floats that are not widened are rounded at every step: products would come out differently.
  if (x.HasDynamicDimension() || (IsFloat(type) && Info(type).bits < 32) || IsComplex(type)) return false;
  return x.ElementCount() >= kMinElements;
}

int64_t LargestDivisor(int64_t n, int64_t most) {
  int64_t divisor = std::min(n, most);
  while (n % divisor != 0) --divisor;
  return divisor;
}

/// Dimensions of `dims` with at most one of them cut in two, and how many of the first ones count the parts.
/// Several are never merged: their elements would have to be found by divisions.
std::pair<Dims, int64_t> PartsOf(llvm::ArrayRef<int64_t> dims, int64_t count) {
  Dims result(dims.begin(), dims.end());
  int64_t parts = 1;
  for (size_t d = 0; d < dims.size(); ++d) {
    const int64_t q = LargestDivisor(dims[d], kMostParts / parts), here = static_cast<int64_t>(d);
    if (q == dims[d]) {
      parts *= q;
      continue;
    }
    if (parts * q < kMostParts / 8 && parts * dims[d] * kMinPart <= count) return {result, here + 1};
    if (q == 1) return {result, parts > 1 ? here : 0};
    result[d] = dims[d] / q;
    result.insert(result.begin() + here, q);
    return {result, here + 1};
  }
  return {result, 0};
}

void Split(Instruction* reduce) {
  Maker make(reduce);
  Instruction* x = reduce->operand(0);
  Instruction* init = reduce->operand(1);
  const auto [dims, kept] = PartsOf(x->shape().dims(), x->shape().ElementCount());
  if (kept == 0) return;
  Instruction* parts = make.Reshape(x, dims);
  Instruction* sums =
      make.Reduce(parts, init, Range(kept, static_cast<int64_t>(dims.size()) - kept), reduce->callee());
  ReplaceAndRemove(reduce, make.Reduce(sums, init, Range(0, kept), reduce->callee()));
}

/// Sums across memory of arrays that the caches of one core do not hold: a part of the rows for each thread
/// is read in one direction.
constexpr int64_t kLeastBytes = int64_t{4} << 20, kMostRowParts = 16, kLeastRowParts = 4, kLeastRows = 64,
                  kLeastRow = 256;

/// How many parts the rows are cut into; 1 if they stay together.
int64_t RowParts(const Instruction& inst) {
  if (inst.kind() != OpKind::Reduce || inst.has_extras() || inst.shape().rank() == 0) return 1;
  const std::optional<OpKind> op = PlainReductionOp(inst);
  const Shape& x = inst.operand(0)->shape();
  const ElementType type = x.element_type();
  const bool added = op == OpKind::Add && (type == ElementType::F32 || type == ElementType::F64);
  if (!added || !MayRepeatInit(*op, *inst.operand(1)) || x.HasDynamicDimension()) return 1;
  const Dims dims = ReducedDims(inst);
  if (dims != Range(0, static_cast<int64_t>(dims.size()))) return 1;
  const int64_t columns = inst.shape().ElementCount(), bytes = Info(type).host_bytes();
  if (x.ElementCount() * bytes < kLeastBytes || columns * bytes < kLeastRow) return 1;
  const int64_t rows = x.ElementCount() / columns;
  const int64_t most = std::min(kMostRowParts, rows / kLeastRows);
  if (most < kLeastRowParts) return 1;
  const int64_t parts = LargestDivisor(x.dim(0), most);
  return parts < kLeastRowParts ? 1 : parts;
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

/// A sum whose steps would each be rounded to a narrow type.
bool IsNarrowSum(const Instruction& inst) {
  if (inst.kind() != OpKind::Reduce || inst.has_extras() || !IsSum(inst)) return false;
  const ElementType type = inst.shape().element_type();
  return IsFloat(type) && Info(type).bits < 32 && type != ElementType::F8E8M0FNU &&
         !inst.operand(0)->shape().HasDynamicDimension();
}

void Widen(Instruction* sum) {
  Maker make(sum);
  Instruction* x = make.Convert(sum->operand(0), ElementType::F32);
  Instruction* init = sum->operand(1);
  init = init->kind() == OpKind::Constant
             ? make.Constant(ConvertLiteral(*init->attr<ConstantAttrs>().literal, ElementType::F32))
             : make.Convert(init, ElementType::F32);
  Instruction* wide = make.Reduce(x, init, ReducedDims(*sum), OpKind::Add);
  ReplaceAndRemove(sum, make.Convert(wide, sum->shape().element_type()));
}

}  // namespace

void WidenSums(Module& module) {
  for (Computation* computation : module.PostOrder()) {
    if (computation->IsFusion()) continue;
    std::vector<Instruction*> found;
    for (Instruction* inst : computation->instructions())
      if (IsNarrowSum(*inst)) found.push_back(inst);
    for (Instruction* sum : found) Widen(sum);
  }
}

void SplitFullReductions(Module& module) {
  for (Computation* computation : module.PostOrder()) {
    if (computation->IsFusion()) continue;
    std::vector<Instruction*> found;
    for (Instruction* inst : computation->instructions())
      if (MayBeSplit(*inst)) found.push_back(inst);
    for (Instruction* reduce : found) Split(reduce);
    found.clear();
    for (Instruction* inst : computation->instructions())
      if (RowParts(*inst) > 1) found.push_back(inst);
    for (Instruction* reduce : found) SplitRows(reduce, RowParts(*reduce));
  }
}

}  // namespace hlo::cpu

// sort-front: long rows that are read at their beginning only are sorted part by part.
//
// Requires nothing. Preserves flat-calls, layouts, fusions.
// Changes: a sort, stable or not, of whose rows only the first k elements are read, becomes a stable sort of
// parts of about `part` elements each, and one of the first k of all of them, which are taken in parts as
// long as there are many. Parts have equal lengths where there is a number near `part` that divides the
// row's. Left alone: k beyond an eighth of a part, rows of at most two parts, dynamic shapes.
#include "backends/gpu/passes/sort_rows.h"
#include "llvm/Support/MathExtras.h"
#include "passes/pass.h"
#include "passes/rewrite/expander.h"

namespace hlo::gpu {
namespace {

struct SortFrontOptions {
  int64_t part = 1024;
  static llvm::ArrayRef<PassOptionRow> Rows() {
    static const PassOptionRow rows[] = {
        PassOption<&SortFrontOptions::part>("part", "elements that are sorted at once")};
    return rows;
  }
};

/// Parts that many elements of which are read are hardly fewer than before.
constexpr int64_t kFewer = 8;

/// How many elements are read, where that is few.
std::optional<int64_t> FrontOf(const Instruction& inst, int64_t part) {
  const auto rows = RowsOfSort(inst);
  if (!rows || (rows->length + 1) / 2 <= part) return {};
  const int64_t read = ElementsRead(inst, *rows);
  return read * kFewer <= part ? std::optional(read) : std::nullopt;
}

/// The length of parts: of those near `part` that divide the row's the one that fills networks best.
int64_t PartOf(int64_t length, int64_t part) {
  const auto filled = [](int64_t n) {
    return static_cast<double>(n) / static_cast<double>(llvm::PowerOf2Ceil(static_cast<uint64_t>(n)));
  };
  int64_t best = 0;
  for (int64_t n = part / 2; n <= 2 * part; ++n)
    if (length % n == 0 && (best == 0 || filled(n) >= filled(best))) best = n;
  return best == 0 ? part : best;
}

using State = llvm::SmallVector<Expr, 4>;

State Sorted(Computation& comparator, const State& x) {
  Maker& make = x[0].make();
  llvm::SmallVector<Instruction*, 4> operands(x.begin(), x.end());
  SortAttrs attrs;
  attrs.dimensions = {1};
  attrs.is_stable = true;
  const Expr sorted(make, make.Add(OpKind::Sort, operands, std::move(attrs), {&comparator}));
  if (!sorted.shape().IsTuple()) return {sorted};
  State results;
  for (size_t k = 0; k < x.size(); ++k) results.push_back(sorted.Gte(static_cast<int64_t>(k)));
  return results;
}

/// The first elements of parts [first, last) of rows, in rows again.
State Fronts(Computation& comparator, const State& x, std::pair<int64_t, int64_t> range, int64_t part,
             int64_t front) {
  const int64_t rows = x[0].dim(0), parts = (range.second - range.first) / part;
  State pieces;
  for (const Expr& one : x)
    pieces.push_back(one.Slice(1, range.first, range.second).Reshape({rows * parts, part}));
  pieces = Sorted(comparator, pieces);
  for (Expr& piece : pieces)
    piece = piece.Slice(1, 0, std::min(front, part)).Reshape({rows, parts * std::min(front, part)});
  return pieces;
}

Instruction* ByParts(Instruction* sort, int64_t front, int64_t part) {
  Maker make(sort);
  const SortRows rows = *RowsOfSort(*sort);
  State x;
  for (Instruction* operand : sort->operands()) x.push_back(AsRows({make, operand}, rows));
  while (x[0].dim(1) > 2 * part) {
    const int64_t length = x[0].dim(1), each = PartOf(length, part), whole = length / each * each;
    State fronts = Fronts(*sort->callee(), x, {0, whole}, each, front);
    if (whole < length) {
      const State last = Fronts(*sort->callee(), x, {whole, length}, length - whole, front);
      for (size_t k = 0; k < x.size(); ++k) fronts[k] = Concat({fronts[k], last[k]}, 1);
    }
    x = fronts;
  }
  llvm::SmallVector<Instruction*, 4> sorted;
  for (const Expr& one : Sorted(*sort->callee(), x))
    sorted.push_back(FromRows(Filled(one.Slice(1, 0, front), rows.length), sort->operand(0)->shape(), rows));
  return sort->shape().IsTuple() ? make.Tuple(sorted) : sorted[0];
}

Result<bool> RunSortFront(Module& module, const SortFrontOptions& options, PassContext& context) {
  if (options.part < kFewer)
    return Error("usage-pass-option", {},
                 "option 'part' of pass 'sort-front': found {0}, expected at least {1}", options.part,
                 kFewer);
  return ExpandMatches(
      module, context, [&](const Instruction& inst) { return FrontOf(inst, options.part).has_value(); },
      [&](Instruction* inst) -> Result<Instruction*> {
        return ByParts(inst, *FrontOf(*inst, options.part), options.part);
      });
}

}  // namespace

HLO_DEFINE_PASS(SortFront, SortFrontOptions);

}  // namespace hlo::gpu

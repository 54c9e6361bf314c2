// scatter_expander, gpu_scatter_expander: scatters as loops of dynamic updates (passes.md §4.10).
//
// Require nothing. Preserve flat-calls, fusions.
// Change: a scatter becomes a loop over its index vectors, in order; a window that is not wholly within the
// array changes nothing. scatter_expander takes all, with mode=simple those of one index vector, with
// mode=indeterministic those whose result would depend on the order of updates; gpu_scatter_expander what
// has no atomic update: several arrays, elements of more than 64 bits. Left alone: empty updates, dynamic
// shapes, combiners on other types than those of the arrays.
#include "passes/analysis/reducers.h"
#include "passes/analysis/reshape_facts.h"
#include "passes/pass.h"
#include "passes/rewrite/batching_dims.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/expr.h"
#include "passes/rewrite/index_matrix.h"

namespace hlo {
namespace {

struct ScatterExpanderOptions {
  std::string mode = "all";
  static llvm::ArrayRef<PassOptionRow> Rows();
};

constexpr PassOptionRow kRows[] = {
    PassOption<&ScatterExpanderOptions::mode>("mode", "all, simple: of one index vector, or indeterministic"),
};

int64_t ArrayCount(const Instruction& scatter) { return scatter.operand_count() / 2; }

bool CanExpand(const Instruction& inst) {
  if (inst.kind() != OpKind::Scatter || !HasStaticShapes(inst)) return false;
  const int64_t n = ArrayCount(inst);
  const Computation& combiner = *inst.callee();
  for (int64_t k = 0; k < n; ++k) {
    const ElementType type = inst.operand(k)->shape().element_type();
    const Shape& root = combiner.root()->shape();
    if (!combiner.parameter(k)->shape().IsScalarOf(type) ||
        !combiner.parameter(n + k)->shape().IsScalarOf(type) ||
        !(root.IsTuple() ? root.tuple_shape(k) : root).IsScalarOf(type))
      return false;
  }
  return inst.operand(n + 1)->shape().ElementCount() != 0 && inst.operand(0)->shape().rank() != 0;
}

/// What gives element `k` of the combined values alone.
Computation* CombinerOf(const Instruction& scatter, int64_t k) {
  if (!scatter.shape().IsTuple()) return scatter.callee();
  Computation* combiner = CloneComputation(*scatter.callee());
  Instruction* root = combiner->root();
  combiner->set_root(root->kind() == OpKind::Tuple ? root->operand(k) : Maker(*combiner, root).Gte(root, k));
  RemoveIfDead(root);
  return combiner;
}

/// Combines one window of each array of updates into the arrays, if it lies within.
llvm::SmallVector<Expr, 6> UpdatesAt(Maker& make, llvm::ArrayRef<Expr> arrays, const Expr& row,
                                     llvm::ArrayRef<Expr> windows, const Instruction& scatter) {
  const Dims& places = scatter.attr<ScatterAttrs>().scatter_dims_to_operand_dims;
  const Shape shape = arrays[0].shape(), window = windows[0].shape();
  const Expr zero(make, make.ScalarInt(row.type(), 0));
  llvm::SmallVector<Expr, 6> starts(static_cast<size_t>(shape.rank()), zero);
  Expr within(make, make.ScalarInt(ElementType::Pred, 1));
  for (size_t k = 0; k < places.size(); ++k) {
    const Expr start = row.Slice(1, static_cast<int64_t>(k), static_cast<int64_t>(k) + 1).Reshape({});
    starts[static_cast<size_t>(places[k])] = start;
    within = within & Ge(start, 0) & Le(start, shape.dim(places[k]) - window.dim(places[k]));
  }
  llvm::SmallVector<Instruction*, 6> combined;
  for (const Expr& x : arrays) combined.push_back(DynamicSliceOf(x, starts, window.dims()));
  combined.append(windows.begin(), windows.end());
  llvm::SmallVector<Expr, 6> updated;
  for (size_t k = 0; k < arrays.size(); ++k) {
    MapAttrs map;
    for (int64_t d = 0; d < shape.rank(); ++d) map.dimensions.push_back(d);
    Computation* combiner = CombinerOf(scatter, static_cast<int64_t>(k));
    Instruction* after = make.Add(OpKind::Map, combined, std::move(map), {combiner});
    const Expr chosen(make, make.Select(within, after, combined[k]));
    updated.push_back(DynamicUpdateOf(arrays[k], chosen, starts));
  }
  return updated;
}

/// The arrays after the loop.
llvm::SmallVector<Instruction*, 4> Loop(Maker& make, Instruction* inst) {
  const auto& a = inst->attr<ScatterAttrs>();
  const auto n = static_cast<size_t>(ArrayCount(*inst));
  // Signed and wide, so that every index beyond the array is seen as such.
  const Expr matrix(make, IndexMatrix(make, inst->operands()[n], a.index_vector_dim));
  llvm::SmallVector<Expr, 6> init = {matrix.To(ElementType::S64)};
  for (Instruction* array : inst->operands().take_front(n)) init.emplace_back(make, array);
  for (Instruction* update : inst->operands().drop_front(n + 1))
    init.emplace_back(make, UpdateMatrix(make, update, a, init[1].shape().rank()));
  Dims sizes(init.back().shape().dims());
  sizes[0] = 1;
  const Dims window(llvm::ArrayRef<int64_t>(sizes).drop_front());
  const auto state = CountedLoop(
      make, "scatter", init[0].dim(0), init, [&](Maker& body, const Expr& i, llvm::ArrayRef<Expr> s) {
        llvm::SmallVector<Expr, 6> starts(sizes.size(), Expr(0));
        starts[0] = i;
        const Expr row = DynamicSliceOf(s[0], {i, 0}, {1, s[0].dim(1)});
        llvm::SmallVector<Expr, 6> windows, next = {s[0]};
        for (const Expr& updates : s.drop_front(1 + n))
          windows.push_back(DynamicSliceOf(updates, starts, sizes).Reshape(window));
        next.append(UpdatesAt(body, s.slice(1, n), row, windows, *inst));
        next.append(s.begin() + 1 + static_cast<ptrdiff_t>(n), s.end());
        return next;
      });
  return {state.begin() + 1, state.begin() + 1 + static_cast<ptrdiff_t>(n)};
}

Result<Instruction*> Expanded(Instruction* inst) {
  Maker make(inst);
  llvm::SmallVector<Instruction*, 4> arrays(
      inst->operands().take_front(static_cast<size_t>(ArrayCount(*inst))));
  if (arrays[0]->shape().ElementCount() != 0) {
    Instruction* plain = HasBatchingDims(*inst) ? WithoutBatchingDims(make, inst) : inst;
    arrays = Loop(make, plain);
    if (plain != inst) plain->parent()->Remove(plain);
  }
  return inst->shape().IsTuple() ? make.Tuple(arrays) : arrays[0];
}

bool HasOneIndexVector(const Instruction& scatter) {
  const Shape& indices = scatter.operand(ArrayCount(scatter))->shape();
  const int64_t vector = scatter.attr<ScatterAttrs>().index_vector_dim;
  const int64_t size = vector < indices.rank() ? indices.dim(vector) : 1;
  return indices.ElementCount() == size;
}

/// Updates of one element give another result in another order.
bool DependsOnOrder(const Instruction& scatter) {
  if (scatter.attr<ScatterAttrs>().unique_indices) return false;
  const std::optional<OpKind> op = ReducerOp(*scatter.callee());
  return !op || RoundsByOrder(*op, scatter.shape().element_type());
}

bool HasNoAtomicUpdate(const Instruction& scatter) {
  return ArrayCount(scatter) > 1 || Info(scatter.operand(0)->shape().element_type()).bits > 64;
}

struct Mode {
  llvm::StringLiteral name;
  bool (*takes)(const Instruction& scatter);
};
constexpr Mode kModes[] = {
    {"all", [](const Instruction&) { return true; }},
    {"indeterministic", DependsOnOrder},
    {"simple", HasOneIndexVector},
};

Result<bool> ExpandScatters(Module& module, PassContext& context, bool (*takes)(const Instruction&)) {
  return ExpandMatches(
      module, context, [&](const Instruction& inst) { return CanExpand(inst) && takes(inst); }, Expanded);
}

llvm::ArrayRef<PassOptionRow> ScatterExpanderOptions::Rows() { return kRows; }

Result<bool> RunScatterExpander(Module& module, const ScatterExpanderOptions& options, PassContext& context) {
  const Mode* mode = llvm::find_if(kModes, [&](const Mode& m) { return m.name == options.mode; });
  if (mode == std::end(kModes))
    return Error("usage-pass-option", Loc(),
                 "scatter_expander: found mode '{0}', expected all, indeterministic or simple", options.mode);
  return ExpandScatters(module, context, mode->takes);
}
Result<bool> RunGpuScatterExpander(Module& module, const NoPassOptions&, PassContext& context) {
  return ExpandScatters(module, context, HasNoAtomicUpdate);
}

}  // namespace

HLO_DEFINE_PASS(ScatterExpander, ScatterExpanderOptions);
HLO_DEFINE_PASS(GpuScatterExpander, NoPassOptions);

}  // namespace hlo

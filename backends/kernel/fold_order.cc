#include "backends/kernel/fold_order.h"

#include "backends/kernel/visit.h"
#include "llvm/ADT/DenseMap.h"

namespace hlo::kernel {
namespace {

/// How a reduce folds: elements that are counted together, partial results of these (0: each is one), parts
/// that a change of the kernel made. All zero: in order.
struct FoldOrder {
  int64_t extent = 0, partials = 0, parts = 0;
  bool operator==(const FoldOrder&) const = default;
};

/// Nothing if every order gives the same.
std::optional<FoldOrder> OrderOf(const ReduceStmt& reduce, const Kernel& kernel) {
  const ElementType type = kernel.TypeOf(reduce.results[0]);
  if (!IsFloat(type) && !IsComplex(type)) return std::nullopt;
  FoldOrder order;
  order.parts = reduce.parts;
  if (reduce.parts == 0) {
    // Combiners of several operations keep the order, or select.
    const auto op = ReductionOp(reduce);
    if (op && *op != OpKind::Add && *op != OpKind::Multiply) return std::nullopt;
    if (!op) return order;
  }
  const Dimension& last = reduce.loops.back();
  if (last.width > 1 || (last.unroll > 1 && !IsWrittenInOrder(reduce))) {
    order.extent = last.extent;
    order.partials = FoldsPairwise(reduce) ? 0 : int64_t{last.width} * last.unroll;
  }
  return order;
}

}  // namespace

Folds FoldsThatDiffer(const Kernel& kernel, const Folds& written_out) {
  llvm::DenseMap<const Instruction*, FoldOrder> orders;
  for (const Instruction* fold : written_out) orders[fold] = {};
  Folds differ;
  ForEachStmt(kernel.body, [&](const Stmt& stmt) {
    const auto* reduce = std::get_if<ReduceStmt>(&stmt);
    if (reduce == nullptr || reduce->origin == nullptr) return;
    const std::optional<FoldOrder> order = OrderOf(*reduce, kernel);
    if (!order) return;
    const auto [it, added] = orders.try_emplace(reduce->origin, *order);
    if (!added && it->second != *order) differ.insert(reduce->origin);
  });
  return differ;
}

void KeepOrder(Kernel& kernel, const Folds& folds) {
  ForEachStmt(kernel.body, [&](Stmt& stmt) {
    auto* reduce = std::get_if<ReduceStmt>(&stmt);
    if (reduce != nullptr && folds.contains(reduce->origin)) reduce->in_order = true;
  });
}

}  // namespace hlo::kernel

// Sums of products in nests of loops, and what each factor goes along.
#include "backends/kernel/product_steps.h"
#include "backends/kernel/visit.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace hlo::kernel {
namespace {

class Finder {
 public:
  Finder(const Kernel& kernel, llvm::ArrayRef<Dimension> nest, const Region& innermost)
      : kernel_(kernel), nest_(nest), innermost_(innermost) {
    ForEachStmt(kernel.body, [&](const Stmt& stmt) {
      if (const ValueId result = ResultOf(stmt); result >= 0) definitions_[result] = &stmt;
    });
  }

  std::optional<Product> Run() {
    const ReduceStmt* reduce = TheReduction();
    if (reduce == nullptr || !IsSum(*reduce)) return std::nullopt;
    const OpStmt* product = ProductOf(reduce->body->yields[0]);
    if (product == nullptr) return std::nullopt;
    Product found;
    found.padded = product->result != reduce->body->yields[0] && !IsIntegral(product->type);
    found.sum = kernel_.TypeOf(reduce->results[0]);
    found.depth.assign(reduce->loops.begin(), reduce->loops.end());
    found.left.value = product->operands[0], found.right.value = product->operands[1];
    llvm::DenseSet<LoopId> left, right;
    if (!Follow(found.left.value, left)) return std::nullopt;
    followed_.clear();
    if (!Follow(found.right.value, right)) return std::nullopt;
    if (left.contains(nest_.back().id)) {
      std::swap(found.left, found.right);
      std::swap(left, right);
    }
    for (const Dimension& d : nest_) {
      const bool of_left = left.contains(d.id), of_right = right.contains(d.id);
      if (!of_left && !of_right) return std::nullopt;
      (of_left && of_right ? found.batch : of_left ? found.left.loops : found.right.loops).push_back(d);
    }
    if (found.left.loops.empty() || found.right.loops.empty()) return std::nullopt;
    // Each goes along all of what is summed over.
    for (const Dimension& d : found.depth)
      if (!left.contains(d.id) || !right.contains(d.id)) return std::nullopt;
    return found;
  }

 private:
  /// The only one of the innermost body, beside which there are values and stores; null: there is none.
  [[nodiscard]] const ReduceStmt* TheReduction() const {
    const ReduceStmt* found = nullptr;
    for (const Stmt& stmt : innermost_.stmts) {
      const auto* reduce = std::get_if<ReduceStmt>(&stmt);
      const auto* store = std::get_if<StoreStmt>(&stmt);
      if (store != nullptr && kernel_.buffers[static_cast<size_t>(store->buffer)].IsLocal()) return nullptr;
      if (store == nullptr && (reduce == nullptr ? ResultOf(stmt) < 0 : found != nullptr)) return nullptr;
      if (reduce != nullptr) found = reduce;
    }
    return found;
  }
  [[nodiscard]] bool IsSum(const ReduceStmt& reduce) const {
    if (reduce.results.size() != 1 || reduce.in_order || ReductionOp(reduce) != OpKind::Add) return false;
    for (const Dimension& d : reduce.loops)
      if (d.width > 1 || d.unroll > 1 || HasEnd(d) || d.ordered) return false;
    return IsZero(reduce.inits[0]);
  }
  [[nodiscard]] bool IsZero(ValueId value) const {
    const Stmt* stmt = definitions_.lookup(value);
    const auto* zero = stmt == nullptr ? nullptr : std::get_if<ConstantStmt>(stmt);
    return zero != nullptr && zero->bits[0] == 0 && zero->bits[1] == 0;
  }
  /// What is summed up: a product, or zero where a factor is, which is read nowhere else. Tiles multiply such
  /// zeros, which of floats makes NaN of infinite factors that padding never meets: Product::padded.
  [[nodiscard]] const OpStmt* ProductOf(ValueId element) const {
    if (const auto* product = OpOf(element, OpKind::Multiply)) return product;
    const auto* select = OpOf(element, OpKind::Select);
    if (select == nullptr || !IsZero(select->operands[2])) return nullptr;
    const auto* product = OpOf(select->operands[1], OpKind::Multiply);
    const auto is_zero_outside = [&](ValueId factor) {
      while (const auto* convert = OpOf(factor, OpKind::Convert)) factor = convert->operands[0];
      const Stmt* stmt = definitions_.lookup(factor);
      const auto* load = stmt == nullptr ? nullptr : std::get_if<LoadStmt>(stmt);
      return load != nullptr && load->mask == select->operands[0] && IsZero(load->otherwise);
    };
    return product != nullptr && llvm::any_of(product->operands, is_zero_outside) ? product : nullptr;
  }
  [[nodiscard]] const OpStmt* OpOf(ValueId value, OpKind kind) const {
    const Stmt* stmt = definitions_.lookup(value);
    const auto* op = stmt == nullptr ? nullptr : std::get_if<OpStmt>(stmt);
    return op != nullptr && op->kind == kind ? op : nullptr;
  }

  /// The loops that a value depends on; whether it is made of elements and numbers alone.
  [[nodiscard]] bool Follow(ValueId value, llvm::DenseSet<LoopId>& loops) {
    if (!followed_.insert(value).second) return true;
    const Stmt* stmt = definitions_.lookup(value);
    if (stmt == nullptr) return false;
    const auto* load = std::get_if<LoadStmt>(stmt);
    if (load != nullptr && kernel_.buffers[static_cast<size_t>(load->buffer)].written) return false;
    const auto* index = std::get_if<IndexStmt>(stmt);
    if (const Address* address = index != nullptr ? &index->address : PlaceOf(*stmt))
      for (const auto& term : address->loops) loops.insert(term.id);
    bool known = true;
    ForEachUse(*stmt, [&](ValueId used) { known = known && Follow(used, loops); });
    return known;
  }

  const Kernel& kernel_;
  llvm::ArrayRef<Dimension> nest_;
  const Region& innermost_;
  llvm::DenseMap<ValueId, const Stmt*> definitions_;
  llvm::DenseSet<ValueId> followed_;
};

/// Conversions that change no number.
constexpr std::pair<ElementType, ElementType> kExact[] = {{ElementType::BF16, ElementType::F32},
                                                          {ElementType::F16, ElementType::F32},
                                                          {ElementType::S8, ElementType::S32}};

}  // namespace

int64_t ExtentOf(llvm::ArrayRef<Dimension> loops) {
  int64_t extent = 1;
  for (const Dimension& d : loops) extent *= d.extent;
  return extent;
}

std::optional<Product> FindProduct(const Kernel& kernel, llvm::ArrayRef<Dimension> nest,
                                   const Region& innermost) {
  return Finder(kernel, nest, innermost).Run();
}

ValueId FactorOf(const Kernel& kernel, ValueId factor, ElementType type) {
  if (kernel.TypeOf(factor) == type) return factor;
  if (!llvm::is_contained(kExact, std::pair(type, kernel.TypeOf(factor)))) return -1;
  ValueId found = -1;
  ForEachStmt(kernel.body, [&](const Stmt& stmt) {
    const auto* op = std::get_if<OpStmt>(&stmt);
    if (op != nullptr && op->result == factor && op->kind == OpKind::Convert &&
        kernel.TypeOf(op->operands[0]) == type)
      found = op->operands[0];
  });
  return found;
}

}  // namespace hlo::kernel

#include "backends/kernel/row_values.h"

#include "backends/kernel/visit.h"
#include "ir/op.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

namespace hlo::kernel {
namespace {

/// What two loops do alike with an element.
class Alike {
 public:
  Alike(const RowBody& first, const RowBody& again) : first_(first), again_(again) {
    for (const Stmt& stmt : again.body->stmts) {
      const ValueId value = ResultOf(stmt);
      if (value >= 0) own_.insert(value);
      const ValueId same = value < 0 ? -1 : Same(stmt);
      if (same < 0) continue;
      same_[value] = same;
      if (const auto* op = std::get_if<OpStmt>(&stmt); op != nullptr && IsOfFunctions(*op))
        made_.insert(value);
    }
  }

  /// Values of the later loop, made with functions, that something else than such values reads.
  [[nodiscard]] llvm::SmallVector<ValueId, 2> Wanted() const {
    llvm::SetVector<ValueId> wanted;
    const auto reads = [&](ValueId value) {
      if (made_.contains(value)) wanted.insert(value);
    };
    for (const Stmt& stmt : again_.body->stmts)
      if (!same_.contains(ResultOf(stmt))) ForEachUse(stmt, reads);
    llvm::for_each(again_.body->yields, reads);
    return llvm::to_vector<2>(wanted.getArrayRef());
  }
  [[nodiscard]] ValueId InFirst(ValueId value) const { return same_.lookup(value); }

 private:
  /// That of the first loop; -1: it has none.
  [[nodiscard]] ValueId Same(const Stmt& stmt) const {
    for (const Stmt& other : first_.body->stmts) {
      const auto *load = std::get_if<LoadStmt>(&stmt), *read = std::get_if<LoadStmt>(&other);
      const auto* kept = std::get_if<StoreStmt>(&other);
      if (load != nullptr && kept != nullptr && IsKept(*load) && kept->buffer == load->buffer &&
          kept->address == first_.kept && kept->mask < 0)
        return kept->value;
      if (load != nullptr && read != nullptr && IsKept(*load) && read->buffer == load->buffer &&
          read->address == first_.kept && read->mask < 0)
        return read->result;
      const auto *op = std::get_if<OpStmt>(&stmt), *made = std::get_if<OpStmt>(&other);
      if (op != nullptr && made != nullptr && IsSame(*op, *made)) return made->result;
    }
    return -1;
  }
  [[nodiscard]] bool IsKept(const LoadStmt& load) const {
    return load.mask < 0 && load.address == again_.kept;
  }
  [[nodiscard]] bool IsSame(const OpStmt& op, const OpStmt& made) const {
    if (op.kind != made.kind || op.type != made.type || op.operands.size() != made.operands.size() ||
        !(op.attrs == made.attrs))
      return false;
    for (size_t i = 0; i < op.operands.size(); ++i) {
      const auto it = same_.find(op.operands[i]);
      const ValueId operand = it != same_.end()               ? it->second
                              : own_.contains(op.operands[i]) ? -1
                                                              : op.operands[i];
      if (operand != made.operands[i]) return false;
    }
    return true;
  }
  [[nodiscard]] bool IsOfFunctions(const OpStmt& op) const {
    return Info(op.kind).rounding == OpRounding::Approximate ||
           llvm::any_of(op.operands, [&](ValueId operand) { return made_.contains(operand); });
  }

  const RowBody &first_, &again_;
  llvm::DenseSet<ValueId> own_, made_;
  llvm::DenseMap<ValueId, ValueId> same_;  // of the later loop: that of the first one
};

std::vector<Stmt>::iterator Defining(Region& region, ValueId value) {
  return llvm::find_if(region.stmts, [&](const Stmt& stmt) { return ResultOf(stmt) == value; });
}

}  // namespace

void KeepValues(Kernel& kernel, llvm::ArrayRef<RowBody> bodies, int64_t most) {
  for (size_t i = 0; i < bodies.size(); ++i) {
    llvm::DenseMap<ValueId, BufferId> locals;  // of values of this loop
    for (size_t j = i + 1; j < bodies.size(); ++j) {
      const RowBody &first = bodies[i], &again = bodies[j];
      if (first.body == again.body || first.count != again.count || first.whole != again.whole) continue;
      const Alike alike(first, again);
      for (const ValueId value : alike.Wanted()) {
        const ValueId made = alike.InFirst(value);
        const auto at = locals.find(made);
        if (at == locals.end() && most < first.count) continue;
        const BufferId local = at != locals.end() ? at->second : static_cast<BufferId>(kernel.buffers.size());
        if (at == locals.end()) {
          most -= first.count;
          locals[made] = local;
          kernel.buffers.push_back(
              {.type = kernel.TypeOf(made), .count = first.count, .written = true, .space = Space::Local});
          first.body->stmts.insert(Defining(*first.body, made) + 1, StoreStmt{local, first.kept, made});
        }
        *Defining(*again.body, value) = LoadStmt{value, local, again.kept};
      }
    }
  }
}

}  // namespace hlo::kernel

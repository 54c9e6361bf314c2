#include "backends/kernel/row_values.h"

#include <unordered_map>

#include "backends/kernel/visit.h"
#include "ir/op.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace hlo::kernel {
namespace {

/// What a loop does with an element, found by what it does.
class Known {
 public:
  explicit Known(const RowBody& body) {
    for (const Stmt& stmt : body.body->stmts) {
      if (const auto* load = std::get_if<LoadStmt>(&stmt); load != nullptr && IsKept(*load, body))
        kept_[load->buffer] = load->result;
      if (const auto* store = std::get_if<StoreStmt>(&stmt);
          store != nullptr && store->mask < 0 && store->address == body.kept)
        kept_[store->buffer] = store->value;
      if (const auto* op = std::get_if<OpStmt>(&stmt))
        ops_[Hash(op->kind, op->type, op->operands)].push_back(op);
    }
  }
  static bool IsKept(const LoadStmt& load, const RowBody& body) {
    return load.mask < 0 && load.address == body.kept;
  }
  /// What it has of the element of a buffer, or makes of these operands; -1: nothing.
  [[nodiscard]] ValueId ElementOf(BufferId buffer) const {
    const auto it = kept_.find(buffer);
    return it == kept_.end() ? -1 : it->second;
  }
  [[nodiscard]] ValueId MadeOf(const OpStmt& op, llvm::ArrayRef<ValueId> operands) const {
    const auto it = ops_.find(Hash(op.kind, op.type, operands));
    if (it == ops_.end()) return -1;
    const auto is_same = [&](const OpStmt* made) {
      return made->kind == op.kind && made->type == op.type && made->attrs == op.attrs &&
             llvm::ArrayRef<ValueId>(made->operands) == operands;
    };
    const auto* found = llvm::find_if(it->second, is_same);
    return found == it->second.end() ? -1 : (*found)->result;
  }

 private:
  static uint64_t Hash(OpKind kind, ElementType type, llvm::ArrayRef<ValueId> operands) {
    return llvm::hash_combine(kind, type, llvm::hash_combine_range(operands.begin(), operands.end()));
  }

  llvm::DenseMap<BufferId, ValueId> kept_;
  std::unordered_map<uint64_t, llvm::SmallVector<const OpStmt*, 1>> ops_;
};

/// What a later loop does that one before it did with the same element.
class Alike {
 public:
  Alike(const Known& first, const RowBody& again) : first_(first), again_(again) {
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
    if (const auto* load = std::get_if<LoadStmt>(&stmt))
      return Known::IsKept(*load, again_) ? first_.ElementOf(load->buffer) : -1;
    const auto* op = std::get_if<OpStmt>(&stmt);
    if (op == nullptr) return -1;
    llvm::SmallVector<ValueId, 3> operands;
    for (const ValueId operand : op->operands) {
      const auto it = same_.find(operand);
      if (it == same_.end() && own_.contains(operand)) return -1;
      operands.push_back(it == same_.end() ? operand : it->second);
    }
    return first_.MadeOf(*op, operands);
  }
  [[nodiscard]] bool IsOfFunctions(const OpStmt& op) const {
    return Info(op.kind).rounding == OpRounding::Approximate ||
           llvm::any_of(op.operands, [&](ValueId operand) { return made_.contains(operand); });
  }

  const Known& first_;
  const RowBody& again_;
  llvm::DenseSet<ValueId> own_, made_;
  llvm::DenseMap<ValueId, ValueId> same_;  // of the later loop: that of the first one
};

std::vector<Stmt>::iterator Defining(Region& region, ValueId value) {
  return llvm::find_if(region.stmts, [&](const Stmt& stmt) { return ResultOf(stmt) == value; });
}

}  // namespace

void KeepValues(Kernel& kernel, llvm::ArrayRef<RowBody> bodies, int64_t most) {
  for (size_t i = 0; i < bodies.size(); ++i) {
    const RowBody& first = bodies[i];
    llvm::MapVector<ValueId, BufferId> locals;  // of values of this loop
    {
      const Known known(first);
      for (const RowBody& again : bodies.drop_front(i + 1)) {
        if (first.body == again.body || first.share != again.share) continue;
        const Alike alike(known, again);
        for (const ValueId value : alike.Wanted()) {
          const ValueId made = alike.InFirst(value);
          if (!locals.contains(made)) {
            if (most < first.count) continue;
            most -= first.count;
            locals[made] = static_cast<BufferId>(kernel.buffers.size());
            kernel.buffers.push_back(
                {.type = kernel.TypeOf(made), .count = first.count, .written = true, .space = Space::Local});
          }
          *Defining(*again.body, value) = LoadStmt{value, locals[made], again.kept};
        }
      }
    }
    for (const auto& [made, local] : locals)
      first.body->stmts.insert(Defining(*first.body, made) + 1, StoreStmt{local, first.kept, made});
  }
}

}  // namespace hlo::kernel

#include "backends/kernel/share.h"

#include "backends/kernel/visit.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

namespace hlo::kernel {
namespace {

/// A loop of one dimension, or a reduction over one.
struct Body {
  const Dimension* loop = nullptr;
  Region* region = nullptr;
};
Body BodyOf(Stmt& stmt) {
  if (auto* loop = std::get_if<LoopStmt>(&stmt))
    return loop->loop.ordered || loop->loop.binding != Binding::None ? Body{}
                                                                     : Body{&loop->loop, loop->body.get()};
  auto* reduce = std::get_if<ReduceStmt>(&stmt);
  if (reduce == nullptr || reduce->loops.size() != 1) return {};
  return {reduce->loops.data(), reduce->body.get()};
}

/// Compares what two bodies compute in iterations of the same number.
class Comparison {
 public:
  Comparison(const Kernel& kernel, const Body& first, const Body& second)
      : kernel_(kernel), first_(first), second_(second) {
    for (const Stmt& stmt : first.region->stmts) in_first_[ResultOf(stmt)] = &stmt;
    for (const Stmt& stmt : second.region->stmts) in_second_[ResultOf(stmt)] = &stmt;
    // Not those of statements without a result.
    in_first_.erase(-1);
    in_second_.erase(-1);
  }

  bool Equal(ValueId a, ValueId b) {
    const auto x = in_first_.find(a);
    const auto y = in_second_.find(b);
    if (x == in_first_.end() || y == in_second_.end())
      return x == in_first_.end() && y == in_second_.end() && a == b;
    const auto [it, added] = known_.try_emplace({a, b}, false);
    if (!added) return it->second;
    const bool equal = EqualStmts(*x->second, *y->second);
    known_[{a, b}] = equal;
    return equal;
  }

 private:
  bool EqualStmts(const Stmt& a, const Stmt& b) {
    if (a.index() != b.index()) return false;
    if (const auto* x = std::get_if<ConstantStmt>(&a)) {
      const auto& y = std::get<ConstantStmt>(b);
      return x->type == y.type && x->bits[0] == y.bits[0] && x->bits[1] == y.bits[1];
    }
    if (const auto* x = std::get_if<IndexStmt>(&a)) return Equal(x->address, std::get<IndexStmt>(b).address);
    if (const auto* x = std::get_if<LoadStmt>(&a)) {
      const auto& y = std::get<LoadStmt>(b);
      return x->buffer == y.buffer && !kernel_.buffers[static_cast<size_t>(x->buffer)].written &&
             Equal(x->address, y.address) && EqualOrNone(x->mask, y.mask) &&
             EqualOrNone(x->otherwise, y.otherwise);
    }
    const auto* x = std::get_if<OpStmt>(&a);
    if (x == nullptr) return false;
    const auto& y = std::get<OpStmt>(b);
    if (x->kind != y.kind || x->type != y.type || x->operands.size() != y.operands.size()) return false;
    if (!(x->attrs == y.attrs)) return false;
    for (size_t i = 0; i < x->operands.size(); ++i)
      if (!Equal(x->operands[i], y.operands[i])) return false;
    return true;
  }
  bool EqualOrNone(ValueId a, ValueId b) { return a < 0 || b < 0 ? a == b : Equal(a, b); }
  bool Equal(const Address& a, const Address& b) {
    if (a.offset != b.offset || a.loops.size() != b.loops.size() || a.values.size() != b.values.size())
      return false;
    for (const auto& term : a.loops)
      if (b.FactorOf(term.id == first_.loop->id ? second_.loop->id : term.id) != term.factor) return false;
    for (size_t i = 0; i < a.values.size(); ++i)
      if (a.values[i].factor != b.values[i].factor || !Equal(a.values[i].id, b.values[i].id)) return false;
    return true;
  }

  const Kernel& kernel_;
  const Body &first_, &second_;
  llvm::DenseMap<ValueId, const Stmt*> in_first_, in_second_;
  llvm::DenseMap<std::pair<ValueId, ValueId>, bool> known_;
};

/// Rounding to a type that processors do not compute with takes more operations than what is rounded.
bool RoundsToNarrow(const OpStmt& op) {
  constexpr OpKind kKinds[] = {OpKind::Add, OpKind::Subtract, OpKind::Multiply, OpKind::Sqrt,
                               OpKind::Convert};
  return IsFloat(op.type) && Info(op.type).bits < 32 && llvm::is_contained(kKinds, op.kind);
}

class Sharer {
 public:
  Sharer(Kernel& kernel, const Target& target) : kernel_(kernel), target_(target) {}

  int64_t Run() {
    Visit(kernel_.body);
    return shared_;
  }

 private:
  void Visit(Region& region) {
    // A loop that has no loop in it may become a vector, whose lanes would share the buffer.
    const bool scalar = &region == &kernel_.body || llvm::any_of(region.stmts, [](const Stmt& stmt) {
      return std::holds_alternative<LoopStmt>(stmt);
    });
    for (size_t i = 0; i < region.stmts.size(); ++i) {
      if (auto* loop = std::get_if<LoopStmt>(&region.stmts[i])) Visit(*loop->body);
      const Body second = BodyOf(region.stmts[i]);
      for (size_t j = 0; scalar && j < i && second.region != nullptr; ++j) {
        const Body first = BodyOf(region.stmts[j]);
        if (first.region != nullptr && first.loop->extent == second.loop->extent) Share(first, second);
      }
    }
  }

  void Share(const Body& first, const Body& second) {
    Comparison comparison(kernel_, first, second);
    bool any = false;
    // From the end: what the shared values were made of is gone then.
    for (size_t i = second.region->stmts.size(); i-- > 0;) {
      const auto* op = std::get_if<OpStmt>(&second.region->stmts[i]);
      if (op == nullptr || !(target_.IsExpensive(op->kind) || RoundsToNarrow(*op)) ||
          !IsUsed(*second.region, op->result))
        continue;
      for (size_t j = 0; j < first.region->stmts.size(); ++j) {
        const auto* other = std::get_if<OpStmt>(&first.region->stmts[j]);
        if (other == nullptr || other->kind != op->kind || !comparison.Equal(other->result, op->result))
          continue;
        any |= Replace(first, j, second, i);
        break;
      }
    }
    InsertStores(*first.region);
    if (any) RemoveUnused(*second.region);
  }

  /// Only now: the comparison looks at statements where they were.
  void InsertStores(Region& region) {
    llvm::sort(stores_, [](const auto& a, const auto& b) { return a.first > b.first; });
    for (auto& [position, store] : stores_)
      region.stmts.insert(region.stmts.begin() + static_cast<int64_t>(position), std::move(store));
    stores_.clear();
  }

  bool Replace(const Body& first, size_t stored, const Body& second, size_t loaded) {
    const ValueId value = std::get<OpStmt>(first.region->stmts[stored]).result;
    auto [it, added] = buffers_.try_emplace(value, static_cast<BufferId>(kernel_.buffers.size()));
    if (added) {
      const ElementType type = kernel_.TypeOf(value);
      const int64_t bytes = first.loop->extent * (IsFloat(type) ? std::max(Info(type).host_bytes(),
                                                                           static_cast<int>(sizeof(float)))
                                                                : Info(type).host_bytes());
      if (local_bytes_ + bytes > target_.caches.local) {
        buffers_.erase(it);
        return false;
      }
      local_bytes_ += bytes;
      kernel_.buffers.push_back({type, first.loop->extent, /*written=*/true, Space::Local});
      StoreStmt store{it->second, {}, value};
      store.address.AddLoop(first.loop->id, 1);
      stores_.emplace_back(stored + 1, std::move(store));
    }
    LoadStmt load{std::get<OpStmt>(second.region->stmts[loaded]).result, it->second, {}};
    load.address.AddLoop(second.loop->id, 1);
    second.region->stmts[loaded] = std::move(load);
    ++shared_;
    return true;
  }

  static bool IsUsed(const Region& region, ValueId value) {
    bool used = llvm::is_contained(region.yields, value);
    for (const Stmt& stmt : region.stmts)
      if (const auto* op = std::get_if<OpStmt>(&stmt))
        used |= llvm::is_contained(op->operands, value);
      else
        used |= UsesOf(stmt).contains(value);
    return used;
  }

  /// Values that a statement, or one below it, reads.
  static llvm::DenseSet<ValueId> UsesOf(const Stmt& stmt) {
    llvm::DenseSet<ValueId> uses;
    const auto one = [&](const Stmt& s) { ForEachUse(s, [&](ValueId value) { uses.insert(value); }); };
    one(stmt);
    if (const auto* x = std::get_if<LoopStmt>(&stmt)) ForEachStmt(std::as_const(*x->body), one);
    if (const auto* x = std::get_if<ReduceStmt>(&stmt)) {
      ForEachStmt(std::as_const(*x->body), one);
      ForEachStmt(std::as_const(*x->combiner), one);
    }
    return uses;
  }

  static void RemoveUnused(Region& region) {
    llvm::DenseSet<ValueId> used(region.yields.begin(), region.yields.end());
    std::vector<Stmt> kept;
    for (Stmt& stmt : llvm::reverse(region.stmts)) {
      const ValueId result = ResultOf(stmt);
      if (result >= 0 && !used.contains(result)) continue;
      for (const ValueId value : UsesOf(stmt)) used.insert(value);
      kept.push_back(std::move(stmt));
    }
    std::reverse(kept.begin(), kept.end());
    region.stmts = std::move(kept);
  }

  Kernel& kernel_;
  const Target& target_;
  std::vector<std::pair<size_t, StoreStmt>> stores_;  // positions in the first body and what goes there
  llvm::DenseMap<ValueId, BufferId> buffers_;         // of shared values
  int64_t local_bytes_ = 0, shared_ = 0;
};

}  // namespace

int64_t ShareBetweenLoops(Kernel& kernel, const Target& target) { return Sharer(kernel, target).Run(); }

}  // namespace hlo::kernel

#include "backends/kernel/fold.h"

#include <cstring>
#include <numeric>

#include "backends/kernel/visit.h"
#include "ir/eval/kernel.h"

namespace hlo::kernel {
namespace {

bool IsFoldable(ElementType type) { return IsIntegral(type) || IsPred(type); }

/// Calls `f` for each value that the statement itself uses, not those in its regions but for what they yield.
template <class F>
void ForEachUse(Stmt& stmt, F f) {
  const auto all = [&](llvm::MutableArrayRef<ValueId> values) {
    for (ValueId& value : values) f(value);
  };
  const auto address = [&](Address& a) {
    const auto terms = std::exchange(a.values, {});
    for (auto term : terms) {
      f(term.id);
      a.AddValue(term.id, term.factor);
    }
  };
  const auto mask = [&](ValueId& value) {
    if (value >= 0) f(value);
  };
  if (auto* s = std::get_if<IndexStmt>(&stmt)) address(s->address);
  if (auto* s = std::get_if<OpStmt>(&stmt)) all(s->operands);
  if (auto* s = std::get_if<LoadStmt>(&stmt)) address(s->address), mask(s->mask), mask(s->otherwise);
  if (auto* s = std::get_if<StoreStmt>(&stmt)) address(s->address), f(s->value), mask(s->mask);
  if (auto* s = std::get_if<LoopStmt>(&stmt)) all(s->body->yields);
  if (auto* s = std::get_if<ReduceStmt>(&stmt)) {
    all(s->inits);
    all(s->body->yields);
    all(s->combiner->yields);
  }
}

class Folder {
 public:
  explicit Folder(Kernel& kernel)
      : kernel_(kernel), same_(kernel.value_types.size()), known_(kernel.value_types.size()) {
    std::iota(same_.begin(), same_.end(), 0);
  }

  void Run() {
    Fold(kernel_.body);
    uses_.resize(kernel_.value_types.size());
    ForEachStmt(kernel_.body, [&](Stmt& stmt) {
      ForEachUse(stmt, [&](ValueId& value) { ++uses_[static_cast<size_t>(value)]; });
    });
    RemoveUnused(kernel_.body);
    Renumber();
  }

 private:
  /// In unpacked storage.
  struct alignas(16) Bits : std::array<uint8_t, 16> {};

  const std::optional<Bits>& Known(ValueId value) const { return known_[static_cast<size_t>(value)]; }

  ConstantStmt MakeConstant(ValueId result, ElementType type, const Bits& bits) {
    known_[static_cast<size_t>(result)] = bits;
    ConstantStmt constant{result, type, {0, 0}};
    std::memcpy(constant.bits, bits.data(), static_cast<size_t>(Info(type).host_bytes()));
    return constant;
  }

  /// What the statement becomes; nothing if something else stands for it.
  std::optional<Stmt> Replacement(Stmt stmt) {
    ForEachUse(stmt, [&](ValueId& value) { value = same_[static_cast<size_t>(value)]; });
    if (auto* s = std::get_if<ConstantStmt>(&stmt)) {
      if (IsFoldable(s->type)) {
        Bits& bits = known_[static_cast<size_t>(s->result)].emplace();
        std::memcpy(bits.data(), s->bits, sizeof s->bits);
      }
    } else if (auto* index = std::get_if<IndexStmt>(&stmt)) {
      Substitute(index->address);
      Bits bits{};
      std::memcpy(bits.data(), &index->address.offset, sizeof index->address.offset);
      if (index->address.IsConstant()) return MakeConstant(index->result, ElementType::S64, bits);
    } else if (auto* op = std::get_if<OpStmt>(&stmt)) {
      return FoldOp(std::move(*op));
    } else if (auto* load = std::get_if<LoadStmt>(&stmt)) {
      Substitute(load->address);
      if (load->mask >= 0 && Known(load->mask)) {
        if (!IsTrue(load->mask)) return StandFor(load->result, load->otherwise);
        load->mask = load->otherwise = -1;
      }
    } else if (auto* store = std::get_if<StoreStmt>(&stmt)) {
      Substitute(store->address);
      if (store->mask >= 0 && Known(store->mask)) {
        if (!IsTrue(store->mask)) return std::nullopt;
        store->mask = -1;
      }
    } else if (auto* loop = std::get_if<LoopStmt>(&stmt)) {
      Fold(*loop->body);
    } else if (auto* reduce = std::get_if<ReduceStmt>(&stmt)) {
      Fold(*reduce->body);
      Fold(*reduce->combiner);
    }
    return stmt;
  }

  std::optional<Stmt> StandFor(ValueId result, ValueId value) {
    same_[static_cast<size_t>(result)] = value;
    return std::nullopt;
  }

  [[nodiscard]] bool IsTrue(ValueId pred) const { return (*Known(pred))[0] != 0; }

  std::optional<Stmt> FoldOp(OpStmt op) {
    const auto& operands = op.operands;
    if (op.kind == OpKind::Select && Known(operands[0]))
      return StandFor(op.result, operands[IsTrue(operands[0]) ? 1 : 2]);
    if (op.kind == OpKind::And && IsPred(op.type))
      for (const size_t i : {0, 1})
        if (Known(operands[i]) && IsTrue(operands[i])) return StandFor(op.result, operands[1 - i]);
    if (!IsFoldable(op.type) || !llvm::all_of(operands, [&](ValueId v) { return Known(v).has_value(); }))
      return op;
    llvm::SmallVector<ElementType, 3> types;
    const void* in[hlo::Kernel::kMaxOperands] = {};
    for (const ValueId operand : operands) {
      in[types.size()] = Known(operand)->data();
      types.push_back(kernel_.TypeOf(operand));
    }
    const auto kernel = FindKernel(op.kind, types, op.type, op.attrs);
    if (!kernel) return op;
    Bits bits{};
    kernel->Run(bits.data(), in, 1);
    return MakeConstant(op.result, op.type, bits);
  }

  void Substitute(Address& address) {
    for (const auto& term : llvm::SmallVector<Address::Term<ValueId>, 1>(address.values)) {
      if (!Known(term.id)) continue;
      int64_t value = 0;
      std::memcpy(&value, Known(term.id)->data(), sizeof value);
      address.offset += value * term.factor;
      address.AddValue(term.id, -term.factor);
    }
  }

  void Fold(Region& region) {
    std::vector<Stmt> stmts;
    for (Stmt& stmt : region.stmts)
      if (auto replacement = Replacement(std::move(stmt))) stmts.push_back(std::move(*replacement));
    region.stmts = std::move(stmts);
    for (ValueId& value : region.yields) value = same_[static_cast<size_t>(value)];
  }

  void RemoveUnused(Region& region) {
    std::vector<Stmt> kept;
    for (Stmt& stmt : llvm::reverse(region.stmts)) {
      if (const ValueId result = ResultOf(stmt); result >= 0 && uses_[static_cast<size_t>(result)] == 0) {
        ForEachUse(stmt, [&](ValueId& value) { --uses_[static_cast<size_t>(value)]; });
        continue;
      }
      if (auto* loop = std::get_if<LoopStmt>(&stmt)) RemoveUnused(*loop->body);
      if (auto* reduce = std::get_if<ReduceStmt>(&stmt)) {
        RemoveUnused(*reduce->combiner);
        RemoveUnused(*reduce->body);
      }
      kept.push_back(std::move(stmt));
    }
    std::reverse(kept.begin(), kept.end());
    region.stmts = std::move(kept);
  }

  /// In the order of definition.
  void Renumber() {
    std::vector<ElementType> types;
    const auto define = [&](ValueId& value) {
      same_[static_cast<size_t>(value)] = static_cast<ValueId>(types.size());
      types.push_back(kernel_.TypeOf(value));
      value = same_[static_cast<size_t>(value)];
    };
    const auto walk = [&](Region& region, const auto& self) -> void {
      for (Stmt& stmt : region.stmts) {
        if (auto* reduce = std::get_if<ReduceStmt>(&stmt)) {
          for (ValueId& value : reduce->inits) value = same_[static_cast<size_t>(value)];
          self(*reduce->body, self);
          for (ValueId& value : reduce->parameters) define(value);
          self(*reduce->combiner, self);
          for (ValueId& value : reduce->results) define(value);
          continue;
        }
        if (auto* loop = std::get_if<LoopStmt>(&stmt)) {
          self(*loop->body, self);
          continue;
        }
        ForEachUse(stmt, [&](ValueId& value) { value = same_[static_cast<size_t>(value)]; });
        std::visit(
            [&](auto& s) {
              if constexpr (requires { s.result; }) define(s.result);
            },
            stmt);
      }
      for (ValueId& value : region.yields) value = same_[static_cast<size_t>(value)];
    };
    walk(kernel_.body, walk);
    kernel_.value_types = std::move(types);
  }

  Kernel& kernel_;
  std::vector<ValueId> same_;               // by value: what stands for it
  std::vector<std::optional<Bits>> known_;  // by value
  std::vector<int64_t> uses_;               // by value
};

}  // namespace

void FoldConstants(Kernel& kernel) { Folder(kernel).Run(); }

}  // namespace hlo::kernel

#include "backends/kernel/fold.h"

#include <cstring>
#include <numeric>

#include "backends/kernel/visit.h"
#include "ir/eval/kernel.h"
#include "llvm/ADT/DenseMap.h"

namespace hlo::kernel {
namespace {

bool IsFoldable(ElementType type) { return IsIntegral(type) || IsPred(type); }

/// Numbers beyond which indices are not followed, far from overflow.
constexpr int64_t kMostIndex = int64_t{1} << 40, kMostFactor = int64_t{1} << 20;

int64_t IntegerFrom(ElementType type, const void* bits) {
  const size_t bytes = static_cast<size_t>(Info(type).host_bytes());
  uint64_t value = 0;
  std::memcpy(&value, bits, std::min(bytes, sizeof value));
  const auto shift = static_cast<unsigned>(CHAR_BIT * (sizeof value - std::min(bytes, sizeof value)));
  return IsUnsigned(type) || IsPred(type) ? static_cast<int64_t>(value)
                                          : static_cast<int64_t>(value << shift) >> shift;
}

/// Whether integers of the type take all values from low to high.
bool Holds(ElementType type, int64_t low, int64_t high) {
  if (low < -kMostIndex || high > kMostIndex) return false;
  const int bits = Info(type).bits;
  if (IsUnsigned(type)) return low >= 0 && (bits > 40 || high < int64_t{1} << bits);
  return bits > 40 || (low >= -(int64_t{1} << (bits - 1)) && high < int64_t{1} << (bits - 1));
}

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
  if (auto* s = std::get_if<AtomicStmt>(&stmt)) {
    address(s->address), f(s->value);
    for (ValueId* value : {&s->expected, &s->mask, &s->otherwise}) mask(*value);
  }
  if (auto* s = std::get_if<ShuffleStmt>(&stmt)) f(s->value), address(s->by);
  if (auto* s = std::get_if<LaneReduceStmt>(&stmt)) f(s->value);
  ForEachMatrixPlace(stmt, [&](BufferId, Address& place) { address(place); });
  if (auto* s = std::get_if<CopyStmt>(&stmt)) mask(s->mask);
  if (auto* s = std::get_if<LoopStmt>(&stmt)) {
    all(s->body->yields);
    mask(s->loop.when), mask(s->loop.before);
  }
  if (auto* s = std::get_if<ReduceStmt>(&stmt)) {
    all(s->inits);
    all(s->body->yields);
    all(s->combiner->yields);
  }
}

class Folder {
 public:
  explicit Folder(Kernel& kernel)
      : kernel_(kernel),
        same_(kernel.value_types.size()),
        known_(kernel.value_types.size()),
        linear_(kernel.value_types.size()) {
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
    ForEachMatrixPlace(stmt, [&](BufferId, Address& place) { Substitute(place); });
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
      if (index->address.values.empty()) SetLinear(index->result, index->address);
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
    } else if (auto* atomic = std::get_if<AtomicStmt>(&stmt)) {
      Substitute(atomic->address);
    } else if (auto* shuffle = std::get_if<ShuffleStmt>(&stmt)) {
      Substitute(shuffle->by);
    } else if (auto* copy = std::get_if<CopyStmt>(&stmt); copy != nullptr && copy->mask >= 0) {
      if (Known(copy->mask) && IsTrue(copy->mask)) copy->mask = -1;
    } else if (auto* loop = std::get_if<LoopStmt>(&stmt)) {
      extents_[loop->loop.id] = loop->loop.extent;
      Fold(*loop->body);
    } else if (auto* reduce = std::get_if<ReduceStmt>(&stmt)) {
      for (const Dimension& d : reduce->loops) extents_[d.id] = d.extent;
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
    if (!IsFoldable(op.type)) return op;
    if (!llvm::all_of(operands, [&](ValueId v) { return Known(v).has_value(); }))
      return FoldLinear(std::move(op));
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
      const std::optional<Address> linear = LinearOf(term.id);
      if (!linear) continue;
      address.AddValue(term.id, -term.factor);
      address.Add(*linear, term.factor);
    }
  }

  /// What an integer is a sum of: a number and multiples of loop variables. Nothing if it is no such sum.
  [[nodiscard]] std::optional<Address> LinearOf(ValueId value) const {
    if (!Known(value) || !IsIntegral(kernel_.TypeOf(value))) return linear_[static_cast<size_t>(value)];
    const ElementType type = kernel_.TypeOf(value);
    Address constant;
    constant.offset = IntegerFrom(type, Known(value)->data());
    // Large numbers without sign are none of Address.
    return Holds(type, constant.offset, constant.offset) ? std::optional(constant) : std::nullopt;
  }

  void SetLinear(ValueId result, const Address& address) {
    const auto [low, high] = RangeOf(address);
    if (Holds(kernel_.TypeOf(result), low, high)) linear_[static_cast<size_t>(result)] = address;
  }

  [[nodiscard]] std::pair<int64_t, int64_t> RangeOf(const Address& address) const {
    int64_t low = address.offset, high = address.offset;
    for (const auto& term : address.loops) {
      const int64_t extent = extents_.lookup(term.id);
      if (extent <= 0 || extent > kMostIndex / std::max<int64_t>(std::abs(term.factor), 1))
        return {INT64_MIN, INT64_MAX};
      (term.factor < 0 ? low : high) += term.factor * (extent - 1);
    }
    return {low, high};
  }

  /// Integers that follow from loop variables: what is known of their range decides comparisons and bounds.
  std::optional<Stmt> FoldLinear(OpStmt op) {
    llvm::SmallVector<Address, 3> in;
    for (const ValueId operand : op.operands) {
      const std::optional<Address> linear =
          IsIntegral(kernel_.TypeOf(operand)) ? LinearOf(operand) : std::nullopt;
      if (!linear) return op;
      in.push_back(*linear);
    }
    switch (op.kind) {
      case OpKind::Convert: SetLinear(op.result, in[0]); break;
      case OpKind::Add:
      case OpKind::Subtract:
        in[0].Add(in[1], op.kind == OpKind::Add ? 1 : -1);
        SetLinear(op.result, in[0]);
        break;
      case OpKind::Multiply:
        if (!in[1].IsConstant()) std::swap(in[0], in[1]);
        if (!in[1].IsConstant() || std::abs(in[1].offset) > kMostFactor) break;
        SetLinear(op.result, Times(in[0], in[1].offset));
        break;
      case OpKind::Clamp: {
        const auto [low, high] = RangeOf(in[1]);
        if (low >= RangeOf(in[0]).second && high <= RangeOf(in[2]).first)
          return StandFor(op.result, op.operands[1]);
        break;
      }
      case OpKind::Compare: return FoldCompare(std::move(op), in[0], in[1]);
      default: break;
    }
    return op;
  }

  static Address Times(const Address& address, int64_t factor) {
    Address product;
    product.Add(address, factor);
    return product;
  }

  std::optional<Stmt> FoldCompare(OpStmt op, const Address& x, const Address& y) {
    const auto [low, high] = RangeOf(x);
    const auto [from, to] = RangeOf(y);
    const auto decide = [&](bool always, bool never) -> std::optional<Stmt> {
      if (!always && !never) return op;
      Bits bits{};
      bits[0] = always ? 1 : 0;
      return MakeConstant(op.result, ElementType::Pred, bits);
    };
    switch (op.attrs.Get<CompareAttrs>().direction) {
      case Direction::LT: return decide(high < from, low >= to);
      case Direction::LE: return decide(high <= from, low > to);
      case Direction::GT: return decide(low > to, high <= from);
      case Direction::GE: return decide(low >= to, high < from);
      default: return op;
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
          for (ValueId* value : {&loop->loop.when, &loop->loop.before})
            if (*value >= 0) *value = same_[static_cast<size_t>(*value)];
          self(*loop->body, self);
          continue;
        }
        ForEachUse(stmt, [&](ValueId& value) { value = same_[static_cast<size_t>(value)]; });
        std::visit(
            [&](auto& s) {
              if constexpr (requires { s.result; })
                if (s.result >= 0) define(s.result);
            },
            stmt);
      }
      for (ValueId& value : region.yields) value = same_[static_cast<size_t>(value)];
    };
    walk(kernel_.body, walk);
    kernel_.value_types = std::move(types);
  }

  Kernel& kernel_;
  std::vector<ValueId> same_;                   // by value: what stands for it
  std::vector<std::optional<Bits>> known_;      // by value
  std::vector<std::optional<Address>> linear_;  // by value: integers that follow from loop variables
  llvm::DenseMap<LoopId, int64_t> extents_;     // of the loops seen so far
  std::vector<int64_t> uses_;                   // by value
};

}  // namespace

void FoldConstants(Kernel& kernel) { Folder(kernel).Run(); }

}  // namespace hlo::kernel

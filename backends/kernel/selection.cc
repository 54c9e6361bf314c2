#include "backends/kernel/selection.h"

#include <array>

#include "llvm/ADT/DenseMap.h"

namespace hlo::kernel {
namespace {

/// How the accumulator's value lies to the element's.
enum class Order : uint8_t { Less, Equal, Greater };
constexpr std::array<Order, 3> kOrders = {Order::Less, Order::Equal, Order::Greater};

Order Reversed(Order order) {
  return order == Order::Less ? Order::Greater : order == Order::Greater ? Order::Less : Order::Equal;
}

bool Holds(Direction direction, Order order) {
  switch (direction) {
    case Direction::EQ: return order == Order::Equal;
    case Direction::NE: return order != Order::Equal;
    case Direction::GE: return order != Order::Less;
    case Direction::GT: return order == Order::Greater;
    case Direction::LE: return order != Order::Greater;
    case Direction::LT: return order == Order::Less;
  }
  return false;
}

/// A combiner run on what is known of its parameters: how each accumulator compares with its element.
class Trial {
 public:
  Trial(const ReduceStmt& reduce, std::array<Order, 2> orders) : orders_(orders) {
    for (size_t slot = 0; slot < 2; ++slot)
      for (const bool element : {false, true})
        parameters_[reduce.parameters[slot + (element ? 2 : 0)]] = {slot, element};
    for (const Stmt& stmt : reduce.combiner->stmts)
      if (const auto* op = std::get_if<OpStmt>(&stmt); op == nullptr || !Run(*op)) return;
    known_ = llvm::all_of(reduce.combiner->yields, [&](ValueId v) { return parameters_.contains(v); });
    if (!known_) return;
    for (size_t slot = 0; slot < 2; ++slot) {
      const Side side = parameters_[reduce.combiner->yields[slot]];
      known_ &= side.slot == slot;
      takes_element_[slot] = side.element;
    }
  }
  [[nodiscard]] bool known() const { return known_; }
  [[nodiscard]] bool TakesElement(size_t slot) const { return takes_element_[slot]; }

 private:
  struct Side {
    size_t slot;
    bool element;
  };

  bool Run(const OpStmt& op) {
    const auto truth = [&](size_t i) { return truths_.find(op.operands[i]); };
    const auto side = [&](size_t i) { return parameters_.find(op.operands[i]); };
    const auto none = truths_.end();
    switch (op.kind) {
      case OpKind::Compare: {
        const auto x = side(0), y = side(1);
        const auto& attrs = op.attrs.Get<CompareAttrs>();
        if (x == parameters_.end() || y == parameters_.end() || x->second.slot != y->second.slot ||
            attrs.type == CompareType::TotalOrder)
          return false;
        Order order = orders_[x->second.slot];
        if (x->second.element) order = Reversed(order);
        if (x->second.element == y->second.element) order = Order::Equal;
        truths_[op.result] = Holds(attrs.direction, order);
        return true;
      }
      case OpKind::And:
      case OpKind::Or:
        if (truth(0) == none || truth(1) == none) return false;
        truths_[op.result] = op.kind == OpKind::And ? truth(0)->second && truth(1)->second
                                                    : truth(0)->second || truth(1)->second;
        return true;
      case OpKind::Not:
        if (truth(0) == none) return false;
        truths_[op.result] = !truth(0)->second;
        return true;
      case OpKind::Select: {
        const size_t chosen = truth(0) != none && truth(0)->second ? 1 : 2;
        if (truth(0) == none || side(chosen) == parameters_.end()) return false;
        const Side taken = side(chosen)->second;
        parameters_[op.result] = taken;
        return true;
      }
      default: return false;
    }
  }

  std::array<Order, 2> orders_;
  llvm::DenseMap<ValueId, Side> parameters_;
  llvm::DenseMap<ValueId, bool> truths_;
  bool known_ = false;
  std::array<bool, 2> takes_element_{};
};

}  // namespace

std::optional<Selection> FindSelection(const ReduceStmt& reduce, const Kernel& kernel) {
  if (reduce.inits.size() != 2) return std::nullopt;
  const ElementType value = kernel.TypeOf(reduce.inits[0]), index = kernel.TypeOf(reduce.inits[1]);
  if (IsComplex(value) || IsPred(value) || value == ElementType::F8E8M0FNU || !IsIntegral(index))
    return std::nullopt;
  // Whether the element is taken if it is less, of equal ones if its index is less.
  std::optional<bool> takes_less, takes_less_index;
  const auto agrees = [](std::optional<bool>& known, bool now) {
    if (!known) known = now;
    return *known == now;
  };
  for (const Order first : kOrders)
    for (const Order second : kOrders) {
      const Trial trial(reduce, {first, second});
      if (!trial.known()) return std::nullopt;
      const bool takes_value = trial.TakesElement(0), takes_index = trial.TakesElement(1);
      if (first != Order::Equal) {
        if (takes_value != takes_index || !agrees(takes_less, takes_value == (first == Order::Greater)))
          return std::nullopt;
      } else if (second != Order::Equal &&
                 !agrees(takes_less_index, takes_index == (second == Order::Greater))) {
        return std::nullopt;
      }
    }
  return Selection{*takes_less, *takes_less_index};
}

bool HasPartialResults(const ReduceStmt& reduce, const Kernel& kernel) {
  return ReductionOp(reduce).has_value() || FindSelection(reduce, kernel).has_value();
}

}  // namespace hlo::kernel

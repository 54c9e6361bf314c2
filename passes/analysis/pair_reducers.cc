#include "passes/analysis/pair_reducers.h"

#include <array>
#include <optional>
#include <variant>

#include "ir/op.h"
#include "llvm/ADT/DenseMap.h"

namespace hlo {
namespace {

/// A number of which is known how it compares with the others of a trial. Zeros of both signs are equal and
/// two.
struct Number {
  int8_t place = 0;
  bool nan = false, negative_zero = false;
  bool operator==(const Number&) const = default;
};
constexpr std::array<Number, 5> kFloats = {{{-1}, {0, false, true}, {0}, {1}, {0, true}}};
constexpr std::array<Number, 3> kIntegers = {{{-1}, {0}, {1}}};
using Pair = std::array<Number, 2>;

bool Holds(Direction direction, const Number& x, const Number& y) {
  const bool ordered = !x.nan && !y.nan, less = ordered && x.place < y.place,
             equal = ordered && x.place == y.place;
  switch (direction) {
    case Direction::EQ: return equal;
    case Direction::NE: return !equal;
    case Direction::GE: return ordered && !less;
    case Direction::GT: return ordered && !less && !equal;
    case Direction::LE: return less || equal;
    case Direction::LT: return less;
  }
  return false;
}

/// The reducer on numbers; nothing where it does anything but compare and choose.
class Trial {
 public:
  explicit Trial(const Computation& reducer) : reducer_(reducer), order_(reducer.PostOrder()) {}

  std::optional<Pair> Fold(const Pair& accumulated, const Pair& element) {
    for (size_t i = 0; i < 2; ++i) {
      values_[reducer_.parameter(static_cast<int64_t>(i))] = accumulated[i];
      values_[reducer_.parameter(static_cast<int64_t>(i + 2))] = element[i];
    }
    for (const Instruction* inst : order_)
      if (inst->kind() != OpKind::Parameter && inst != reducer_.root() && !Run(*inst)) return std::nullopt;
    Pair result;
    for (size_t i = 0; i < 2; ++i) {
      const auto* number = std::get_if<Number>(&values_[reducer_.root()->operand(static_cast<int64_t>(i))]);
      if (number == nullptr) return std::nullopt;
      result[i] = *number;
    }
    return result;
  }

 private:
  template <class T>
  const T* Operand(const Instruction& inst, int64_t i) {
    const auto it = values_.find(inst.operand(i));
    return it == values_.end() ? nullptr : std::get_if<T>(&it->second);
  }

  bool Run(const Instruction& inst) {
    static constexpr std::pair<OpKind, bool (Trial::*)(const Instruction&)> kRows[] = {
        {OpKind::Compare, &Trial::Compare},
        {OpKind::And, &Trial::Both},
        {OpKind::Or, &Trial::Either},
        {OpKind::Not, &Trial::Not},
        {OpKind::Select, &Trial::Select}};
    const auto* row = llvm::find_if(kRows, [&](const auto& r) { return r.first == inst.kind(); });
    return row != std::end(kRows) && (this->*row->second)(inst);
  }
  bool Compare(const Instruction& inst) {
    const auto *x = Operand<Number>(inst, 0), *y = Operand<Number>(inst, 1);
    const auto& attrs = inst.attr<CompareAttrs>();
    if (x == nullptr || y == nullptr || attrs.type == CompareType::TotalOrder) return false;
    return Set(inst, Holds(attrs.direction, *x, *y));
  }
  bool Both(const Instruction& inst) {
    const auto *x = Operand<bool>(inst, 0), *y = Operand<bool>(inst, 1);
    return x != nullptr && y != nullptr && Set(inst, *x && *y);
  }
  bool Either(const Instruction& inst) {
    const auto *x = Operand<bool>(inst, 0), *y = Operand<bool>(inst, 1);
    return x != nullptr && y != nullptr && Set(inst, *x || *y);
  }
  bool Not(const Instruction& inst) {
    const bool* x = Operand<bool>(inst, 0);
    return x != nullptr && Set(inst, !*x);
  }
  bool Select(const Instruction& inst) {
    const bool* chosen = Operand<bool>(inst, 0);
    const Number* number = chosen == nullptr ? nullptr : Operand<Number>(inst, *chosen ? 1 : 2);
    return number != nullptr && Set(inst, *number);
  }
  bool Set(const Instruction& inst, std::variant<Number, bool> value) {
    values_[&inst] = value;
    return true;
  }

  const Computation& reducer_;
  std::vector<Instruction*> order_;
  llvm::DenseMap<const Instruction*, std::variant<Number, bool>> values_;
};

bool IsOfPairs(const Computation& reducer) {
  constexpr int64_t kMost = 24;  // instructions: those of argmax have about ten
  const Instruction& root = *reducer.root();
  if (reducer.parameters().size() != 4 || root.kind() != OpKind::Tuple || root.operand_count() != 2 ||
      static_cast<int64_t>(reducer.instruction_count()) > kMost)
    return false;
  const auto is_real = [](const Instruction* parameter) {
    const ElementType type = parameter->shape().element_type();
    return parameter->shape().IsScalar() && !IsComplex(type) && !IsPred(type);
  };
  return llvm::all_of(reducer.parameters(), is_real);
}

std::vector<Pair> PairsOf(const Computation& reducer) {
  std::vector<Pair> pairs;
  const auto numbers = [&](int64_t parameter) -> llvm::ArrayRef<Number> {
    if (IsFloat(reducer.parameter(parameter)->shape().element_type())) return kFloats;
    return kIntegers;
  };
  for (const Number& value : numbers(0))
    for (const Number& index : numbers(1)) pairs.push_back({value, index});
  return pairs;
}

}  // namespace

bool MayGroupPairs(const Computation& reducer) {
  if (!IsOfPairs(reducer)) return false;
  Trial trial(reducer);
  const std::vector<Pair> pairs = PairsOf(reducer);
  const bool floats = IsFloat(reducer.parameter(0)->shape().element_type());
  for (const Pair& x : pairs)
    for (const Pair& y : pairs) {
      const auto xy = trial.Fold(x, y);
      if (!xy) return false;
      // x as initial values once more, behind what was there. Of zeros of both signs the last may be handed
      // on.
      const bool zero = floats && x[0].place == 0 && !x[0].nan;
      if (!zero && trial.Fold(*xy, x) != xy) return false;
      for (const Pair& z : pairs) {
        const auto yz = trial.Fold(y, z);
        if (!yz || trial.Fold(*xy, z) != trial.Fold(x, *yz)) return false;
      }
    }
  return true;
}

}  // namespace hlo

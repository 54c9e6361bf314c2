#include "passes/analysis/loop_facts.h"

#include "passes/analysis/scalar_eval.h"
#include "passes/analysis/side_effects.h"

namespace hlo {
namespace {

__extension__ using Wide = __int128;  // holds every 64-bit integer and sums of some

/// The element of `parameter` that the instruction reads.
std::optional<int64_t> ElementRead(const Instruction& inst, const Instruction& parameter) {
  if (inst.kind() != OpKind::GetTupleElement || inst.operand(0) != &parameter) return std::nullopt;
  return inst.attr<GetTupleElementAttrs>().index;
}

Wide IntegerOf(const Literal& literal) {
  const TypeInfo& info = Info(literal.shape().element_type());
  const uint64_t bits = literal.Bits(0);
  if (info.type_class != TypeClass::Signed) return bits;
  const int unused = 64 - info.bits;
  return static_cast<int64_t>(bits << unused) >> unused;
}

bool FitsType(Wide value, ElementType type) {
  const int bits = Info(type).bits;
  const Wide span = Wide{1} << bits;
  return IsSigned(type) ? value >= -(span / 2) && value < span / 2 : value >= 0 && value < span;
}

/// An expression over elements of the loop state, at most one of which varies.
class StateExpression {
 public:
  StateExpression(const TupleLoop& loop, const Instruction& scalar, const Instruction& parameter) {
    auto expression = ScalarExpression(scalar, [&](const Instruction& inst) {
      return inst.shape().IsScalar() && ElementRead(inst, parameter).has_value();
    });
    if (!expression) return;
    order_ = std::move(*expression);
    for (const Instruction* inst : order_) {
      const auto element = ElementRead(*inst, parameter);
      if (!element) continue;
      const Instruction* init = loop.InitElement(*element);
      std::optional<Literal> value;
      if (init && loop.IsInvariant(*element)) value = ScalarConstantValue(*init);
      if (value) {
        known_[inst] = std::move(*value);
      } else if (variable_ < 0 || variable_ == *element) {
        variable_ = *element;
        reads_.push_back(inst);
      } else {
        return;
      }
    }
    valid_ = true;
  }

  [[nodiscard]] bool valid() const { return valid_; }
  /// The element that varies; -1: none.
  [[nodiscard]] int64_t variable() const { return variable_; }
  [[nodiscard]] std::optional<Literal> Evaluate(const Literal& variable) const {
    KnownScalars known = known_;
    for (const Instruction* read : reads_) known[read] = variable;
    return EvaluateScalar(order_, std::move(known));
  }
  /// The value of a part of the expression that does not vary.
  [[nodiscard]] std::optional<Literal> Invariant(const Instruction& part) const {
    const auto expression = ScalarExpression(
        part, [&](const Instruction& inst) { return inst.kind() == OpKind::GetTupleElement; });
    if (!expression) return std::nullopt;
    return EvaluateScalar(*expression, known_);
  }

 private:
  std::vector<const Instruction*> order_;
  llvm::SmallVector<const Instruction*, 2> reads_;
  KnownScalars known_;
  int64_t variable_ = -1;
  bool valid_ = false;
};

const Instruction& SkipCopies(const Instruction& inst) {
  const Instruction* at = &inst;
  while (at->kind() == OpKind::Copy) at = at->operand(0);
  return *at;
}

bool Reads(const Instruction& inst, const Instruction& parameter, int64_t element) {
  return ElementRead(SkipCopies(inst), parameter) == element;
}

/// The constant that the update adds to the element.
std::optional<Wide> StepOf(const TupleLoop& loop, const StateExpression& update, int64_t element) {
  const Instruction& sum = SkipCopies(*loop.body_root->operand(element));
  if (!IsIntegral(sum.shape().element_type())) return std::nullopt;
  if (sum.kind() != OpKind::Add && sum.kind() != OpKind::Subtract) return std::nullopt;
  const bool left = Reads(*sum.operand(0), *loop.body_parameter, element);
  const bool right = Reads(*sum.operand(1), *loop.body_parameter, element);
  if (left == right || (right && sum.kind() == OpKind::Subtract)) return std::nullopt;
  const auto step = update.Invariant(*sum.operand(left ? 1 : 0));
  if (!step) return std::nullopt;
  // Adding a large unsigned number is subtracting a small one; that stays unknown.
  return sum.kind() == OpKind::Add ? IntegerOf(*step) : -IntegerOf(*step);
}

Direction Mirrored(Direction direction) {
  switch (direction) {
    case Direction::LT: return Direction::GT;
    case Direction::LE: return Direction::GE;
    case Direction::GT: return Direction::LT;
    case Direction::GE: return Direction::LE;
    default: return direction;
  }
}

/// How often i = init, init + step, … satisfies `i direction bound` before it first does not, all numbers
/// being unlimited.
std::optional<Wide> CountAffine(Direction direction, Wide init, Wide step, Wide bound) {
  if (direction == Direction::GT || direction == Direction::GE)
    return CountAffine(Mirrored(direction), -init, -step, -bound);
  if (direction == Direction::EQ)
    return init != bound ? Wide{0} : step != 0 ? std::optional<Wide>(1) : std::nullopt;
  if (direction == Direction::NE) {
    if (init == bound) return 0;
    const Wide distance = bound - init;
    if (step == 0 || distance % step != 0 || distance / step < 0) return std::nullopt;
    return distance / step;
  }
  const Wide distance = bound - init + (direction == Direction::LE ? 1 : 0);
  if (distance <= 0) return 0;
  if (step <= 0) return std::nullopt;
  return (distance + step - 1) / step;
}

std::optional<LoopCount> CountByPattern(const TupleLoop& loop, const StateExpression& condition,
                                        const StateExpression& update, const Literal& init) {
  const int64_t element = condition.variable();
  const Instruction& compare = SkipCopies(*loop.condition->root());
  const ElementType type = init.shape().element_type();
  if (compare.kind() != OpKind::Compare || !IsIntegral(type)) return std::nullopt;
  const bool left = Reads(*compare.operand(0), *loop.condition_parameter, element);
  const bool right = Reads(*compare.operand(1), *loop.condition_parameter, element);
  if (left == right) return std::nullopt;
  const auto bound = condition.Invariant(*compare.operand(left ? 1 : 0));
  const auto step = StepOf(loop, update, element);
  if (!bound || !step) return std::nullopt;
  const Direction written = compare.attr<CompareAttrs>().direction;
  const auto count =
      CountAffine(left ? written : Mirrored(written), IntegerOf(init), *step, IntegerOf(*bound));
  // The value that ends the loop must not have wrapped on its way.
  if (!count || *count > INT64_MAX || !FitsType(IntegerOf(init) + *count * *step, type)) return std::nullopt;
  LoopCount result{static_cast<int64_t>(*count), element, std::nullopt, std::nullopt};
  if (IntegerOf(init) <= INT64_MAX && *step <= INT64_MAX) {
    result.init = static_cast<int64_t>(IntegerOf(init));
    result.step = static_cast<int64_t>(*step);
  }
  return result;
}

std::optional<LoopCount> CountByEvaluation(const StateExpression& condition, const StateExpression& update,
                                           Literal value, int64_t max_evaluated) {
  for (int64_t count = 0; count <= max_evaluated; ++count) {
    const auto goes_on = condition.Evaluate(value);
    if (!goes_on) return std::nullopt;
    if (goes_on->Bits(0) == 0) return LoopCount{count, condition.variable(), std::nullopt, std::nullopt};
    auto next = update.Evaluate(value);
    if (!next) return std::nullopt;
    value = std::move(*next);
  }
  return std::nullopt;
}

}  // namespace

Instruction* TupleLoop::InitElement(int64_t i) const {
  return init()->kind() == OpKind::Tuple ? init()->operand(i) : nullptr;
}

bool TupleLoop::IsInvariant(int64_t i) const {
  return ElementRead(*body_root->operand(i), *body_parameter) == i;
}

std::optional<TupleLoop> AsTupleLoop(Instruction& inst) {
  if (inst.kind() != OpKind::While || !inst.shape().IsTuple()) return std::nullopt;
  const Instruction& init = *inst.operand(0);
  if (init.kind() == OpKind::Tuple)
    for (int64_t i = 0; i < init.operand_count(); ++i)
      if (IsSharedStart(init, i)) return std::nullopt;
  TupleLoop loop{&inst, inst.callee(0), inst.callee(1), nullptr, nullptr, inst.callee(0)->root()};
  loop.body_parameter = loop.body->parameter(0);
  loop.condition_parameter = loop.condition->parameter(0);
  if (loop.body_root->kind() != OpKind::Tuple) return std::nullopt;
  return loop;
}

std::optional<LoopCount> CountTrips(const TupleLoop& loop, int64_t max_evaluated) {
  const StateExpression condition(loop, *loop.condition->root(), *loop.condition_parameter);
  if (!condition.valid()) return std::nullopt;
  const int64_t element = condition.variable();
  if (element < 0) {
    const auto goes_on = condition.Evaluate({});
    if (!goes_on || goes_on->Bits(0) != 0) return std::nullopt;
    return LoopCount{};
  }
  if (!loop.InitElement(element)) return std::nullopt;
  const auto init = ScalarConstantValue(*loop.InitElement(element));
  if (!init) return std::nullopt;
  const StateExpression update(loop, *loop.body_root->operand(element), *loop.body_parameter);
  if (!update.valid() || (update.variable() >= 0 && update.variable() != element)) return std::nullopt;
  if (auto counted = CountByPattern(loop, condition, update, *init)) return counted;
  return CountByEvaluation(condition, update, *init, max_evaluated);
}

std::optional<int64_t> TripCountUpperBound(const TupleLoop& loop) {
  if (const auto counted = CountTrips(loop)) return counted->count;
  const StateExpression condition(loop, *loop.condition->root(), *loop.condition_parameter);
  if (!condition.valid() || condition.variable() < 0) return std::nullopt;
  const auto after = ScalarConstantValue(*loop.body_root->operand(condition.variable()));
  if (!after) return std::nullopt;
  const auto goes_on = condition.Evaluate(*after);
  return goes_on && goes_on->Bits(0) == 0 ? std::optional<int64_t>(1) : std::nullopt;
}

}  // namespace hlo

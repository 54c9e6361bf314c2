// masks-of-extremes: whether a number is larger than another one is asked of the larger of both.
//
// Requires nothing. Preserves flat-calls, layouts, row-major, fusions. No value changes.
// Changes: x > y and x <= y where max(x, y) is there, x < y and x >= y where min(x, y) is, ask that, if
// nothing else needs x: the gradient of a rectifier then reads what the next layer reads, and x itself is
// stored nowhere. NaN, which extremes hand on, compares as before.
#include "passes/pass.h"

namespace hlo::gpu {
namespace {

/// `x` of a question about x and y; the question is asked as if x stood first.
struct Question {
  Direction direction;
  OpKind extreme;  // of which it may be asked
};
constexpr Question kQuestions[] = {
    {Direction::GT, OpKind::Maximum},
    {Direction::LE, OpKind::Maximum},
    {Direction::LT, OpKind::Minimum},
    {Direction::GE, OpKind::Minimum},
};

Direction Mirrored(Direction direction) {
  switch (direction) {
    case Direction::GT: return Direction::LT;
    case Direction::LT: return Direction::GT;
    case Direction::GE: return Direction::LE;
    case Direction::LE: return Direction::GE;
    default: return direction;
  }
}

const Question* QuestionAbout(const Instruction& compare, int64_t operand) {
  const auto& attrs = compare.attr<CompareAttrs>();
  if (attrs.type == CompareType::TotalOrder) return nullptr;
  const Direction direction = operand == 0 ? attrs.direction : Mirrored(attrs.direction);
  const auto* found = llvm::find_if(kQuestions, [&](const Question& q) { return q.direction == direction; });
  return found == std::end(kQuestions) ? nullptr : found;
}

/// The extreme of a compare's operand and the other one, which is then the only one that needs the operand
/// besides compares with the same; null: there is none.
Instruction* ExtremeFor(const Instruction& compare, int64_t operand) {
  const Question* question = QuestionAbout(compare, operand);
  const Instruction *x = compare.operand(operand), *y = compare.operand(1 - operand);
  if (question == nullptr || x == y || x->IsRoot() || !x->shape().IsArray()) return nullptr;
  const auto takes_both = [&](const Instruction& user) {
    return user.operand_count() == 2 && (user.operand(0) == y || user.operand(1) == y);
  };
  Instruction* extreme = nullptr;
  for (Instruction* user : x->users()) {
    if (!takes_both(*user)) return nullptr;
    if (user->kind() == question->extreme && extreme == nullptr)
      extreme = user;
    else if (user->kind() != OpKind::Compare)
      return nullptr;
  }
  if (extreme == nullptr || extreme->shape().element_type() != x->shape().element_type()) return nullptr;
  // It may have to come behind the compare.
  return extreme->extras().control_predecessors.empty() ? extreme : nullptr;
}

Result<bool> RunMasksOfExtremes(Module& module, const NoPassOptions&, PassContext& context) {
  bool changed = false;
  for (Computation* computation : context.AllComputations(module))
    for (Instruction* compare : computation->InstructionsOf(OpKind::Compare))
      for (const int64_t operand : {0, 1}) {
        Instruction* extreme = ExtremeFor(*compare, operand);
        if (extreme == nullptr || !context.TakeRewrite()) continue;
        compare->SetOperand(operand, extreme);
        changed = true;
        break;
      }
  return changed;
}

}  // namespace

HLO_DEFINE_PASS(MasksOfExtremes, NoPassOptions);

}  // namespace hlo::gpu

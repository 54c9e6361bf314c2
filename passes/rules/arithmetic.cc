// Arithmetic (passes.md §3.1).
#include "passes/analysis/value_facts.h"
#include "passes/rules/rules.h"

namespace hlo {

llvm::ArrayRef<Rule> ArithmeticRules() {
  using namespace pattern;
  static const Rule rules[] = {
      {"abs.1", Abs(A.If(IsNonNegative)), A},
      {"neg.1", Negate(Negate(A)), A},
      {"not.1", Not(Not(A)), A},
      {"add.1", Add(A, Zero), A, Changes(kSignedZero)},
      {"mul.1", Multiply(A, One), A},
      {"mul.2", Multiply(A, Zero), Zero, FastMath(kSignedZero | kNan)},
  };
  return rules;
}

}  // namespace hlo

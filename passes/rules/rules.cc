#include "passes/rules/rules.h"

namespace hlo {

const RuleIndex& AlgsimpRules() {
  static const RuleIndex index({ArithmeticRules(), LogicRules(), StructureRules(), ReshapeRules(),
                                SliceRules(), ReductionRules(), ContractionRules()});
  return index;
}

}  // namespace hlo

#include "passes/rules/rules.h"

namespace hlo {

llvm::ArrayRef<Rule> LogicRules() { return {}; }

}  // namespace hlo

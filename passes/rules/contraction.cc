#include "passes/rules/rules.h"

namespace hlo {

llvm::ArrayRef<Rule> ContractionRules() { return {}; }

}  // namespace hlo

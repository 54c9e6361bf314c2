#include "passes/rules/rules.h"

namespace hlo {

llvm::ArrayRef<Rule> StructureRules() { return {}; }

}  // namespace hlo

#include "passes/rewrite/rule.h"

namespace hlo {

std::vector<Rule> WithGuard(std::vector<Rule> rules, Guard guard) {
  for (Rule& rule : rules) rule.guards.insert(rule.guards.begin(), guard);
  return rules;
}

bool StaticShapes(const Match& m) {
  auto is_static = [](const Instruction* inst) { return !inst || !inst->shape().HasDynamicDimension(); };
  return is_static(m.root) && llvm::all_of(m.root->operands(), is_static) && llvm::all_of(m.bound, is_static);
}

bool Integral(const Match& m) { return m.shape().IsArray() && IsIntegral(m.type()); }
bool Floating(const Match& m) { return m.shape().IsArray() && IsFloat(m.type()); }
bool LayoutInsensitive(const Match& m) { return !m.layout_sensitive; }
bool LayoutSensitive(const Match& m) { return m.layout_sensitive; }

}  // namespace hlo

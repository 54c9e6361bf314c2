#include "passes/rewrite/rule.h"

namespace hlo {

bool Integral(const Match& m) { return m.shape().IsArray() && IsIntegral(m.type()); }
bool Floating(const Match& m) { return m.shape().IsArray() && IsFloat(m.type()); }
bool LayoutInsensitive(const Match& m) { return !m.layout_sensitive; }
bool LayoutSensitive(const Match& m) { return m.layout_sensitive; }
bool IntegralOrFastMath(const Match& m) { return Integral(m) || m.context.policy().fast_math; }

}  // namespace hlo

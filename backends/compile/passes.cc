#include "backends/compile/passes.h"

#include "passes/pass.h"
#include "passes/pipeline.h"

namespace hlo::compile {

#define HLO_PASS(name, Stem, ...) extern const PassHooks k##Stem##Pass;
#include "backends/compile/passes.def"
#undef HLO_PASS

void RegisterPasses() {
  static constexpr PassInfo kPasses[] = {
#define HLO_PASS(name, Stem, requires_, preserves_, summary, ...) \
  {name,                                                          \
   summary,                                                       \
   static_cast<ModuleFacts>(requires_),                           \
   static_cast<ModuleFacts>(preserves_),                          \
   &k##Stem##Pass,                                                \
   Licence(__VA_ARGS__)},
#include "backends/compile/passes.def"
#undef HLO_PASS
  };
  static const PassRegistration registration(kPasses, {});
}

}  // namespace hlo::compile

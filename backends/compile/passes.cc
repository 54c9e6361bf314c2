#include "backends/compile/passes.h"

#include "passes/pass_row.h"
#include "passes/pipeline.h"

namespace hlo::compile {

#define HLO_PASS HLO_DECLARE_PASS
#include "backends/compile/passes.def"
#undef HLO_PASS

void RegisterPasses() {
  static constexpr PassInfo kPasses[] = {
#define HLO_PASS HLO_PASS_INFO
#include "backends/compile/passes.def"
#undef HLO_PASS
  };
  static const PassRegistration registration(kPasses, {});
}

}  // namespace hlo::compile

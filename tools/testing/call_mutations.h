// What can be wrong with a custom call.
#pragma once
#include "tools/testing/call_text.h"

namespace hlo::testing {

/// Changes a call in one way, which may or may not make it unfit; false if the way is none for this call.
struct CallMutation {
  llvm::StringRef name;
  bool (*apply)(CallText& call, Dice& dice);
};
llvm::ArrayRef<CallMutation> AllCallMutations();

}  // namespace hlo::testing

// hlo-cross: the tools with a code generator for AArch64 as well, which takes 8 MB.
#include "backends/cpu/machine.h"
#include "llvm/Support/TargetSelect.h"

namespace hlo {
namespace {

void Initialize() {
  LLVMInitializeAArch64TargetInfo();
  LLVMInitializeAArch64Target();
  LLVMInitializeAArch64TargetMC();
  LLVMInitializeAArch64AsmPrinter();
}
const bool kSet = [] {
#ifdef HLO_CROSS_ARCHIVE
  cpu::SetOtherTargets({&Initialize, HLO_CROSS_ARCHIVE});
#else
  cpu::SetOtherTargets({&Initialize});
#endif
  return true;
}();

}  // namespace
}  // namespace hlo

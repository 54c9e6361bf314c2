// LLVM knows the passes that are left out by these names.
#include "backends/gpu/codegen/emit_ptx.h"

#include "backends/gpu/codegen/ptx_module.h"
#include "gtest/gtest.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

namespace hlo::gpu {
namespace {

TEST(EmitPtx, LeavesOutAllPassesThatItNames) {
  ASSERT_TRUE(PtxModule::Create(*FindTarget("h100")));  // makes LLVM know the target
  constexpr const char* kTriple = "nvptx64-nvidia-cuda";
  std::string why;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(kTriple, why);
  ASSERT_NE(target, nullptr) << why;
  const std::unique_ptr<llvm::TargetMachine> machine(
      target->createTargetMachine(kTriple, "sm_90", "", {}, llvm::Reloc::PIC_));
  llvm::LLVMContext context;
  llvm::Module module("none", context);
  module.setTargetTriple(kTriple);
  module.setDataLayout(machine->createDataLayout());
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream os(text);
  const auto left_out = EmitPtx(module, *machine, os);
  ASSERT_TRUE(left_out);
  EXPECT_EQ(*left_out, PassesLeftOut().size());
  EXPECT_TRUE(os.str().contains(".target sm_90"));
}

}  // namespace
}  // namespace hlo::gpu

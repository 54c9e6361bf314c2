#include "backends/gpu/codegen/emit_ptx.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Pass.h"
#include "llvm/Target/TargetMachine.h"

namespace hlo::gpu {
namespace {

/// A third of the time that kernels take to become PTX goes into these.
constexpr llvm::StringLiteral kLeftOut[] = {
    // It gives each access of a loop a pointer of its own that goes on from iteration to iteration: these
    // fill
    // registers, and NVIDIA's assembler, which finds such things by itself, no longer sees how often a loop
    // runs.
    "Loop Strength Reduction",
    // Vectors are written out by the emitter.
    "GPU Load and Store Vectorizer",
    // What places have in common is summed once in what the emitter writes.
    "Nary reassociation",
    "Straight line strength reduction",
};

/// Hands passes on to another pass manager, but for those that are left out.
class PassFilter final : public llvm::legacy::PassManagerBase {
 public:
  explicit PassFilter(llvm::legacy::PassManagerBase& passes) : passes_(passes) {}
  void add(llvm::Pass* pass) override {
    if (!llvm::is_contained(kLeftOut, pass->getPassName())) return passes_.add(pass);
    ++left_out_;
    delete pass;
  }
  [[nodiscard]] size_t left_out() const { return left_out_; }

 private:
  llvm::legacy::PassManagerBase& passes_;
  size_t left_out_ = 0;
};

}  // namespace

llvm::ArrayRef<llvm::StringLiteral> PassesLeftOut() { return kLeftOut; }

Result<size_t> EmitPtx(llvm::Module& module, llvm::TargetMachine& machine, llvm::raw_pwrite_stream& os) {
  llvm::legacy::PassManager passes;
  PassFilter filter(passes);
  if (machine.addPassesToEmitFile(filter, os, nullptr, llvm::CodeGenFileType::AssemblyFile))
    return Error("compile-kernels", {}, "LLVM: the target cannot emit this form of code");
  passes.run(module);
  return filter.left_out();
}

}  // namespace hlo::gpu

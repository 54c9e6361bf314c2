#include "backends/llvm/code_target.h"

#include <mutex>

#include "backends/llvm/x86_target.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

namespace hlo::codegen {
namespace {

constexpr llvm::StringLiteral kFlag = "hlo.code-target";

class AnyTarget final : public CodeTarget {
 public:
  AnyTarget() : CodeTarget({.name = "generic"}) {}
};

const CodeTarget& Generic() {
  static const AnyTarget target;
  return target;
}

/// Those of other folders.
struct Added {
  std::mutex mutex;
  std::vector<const CodeTarget*> targets;
};
Added& AddedTargets() {
  static Added added;
  return added;
}

}  // namespace

llvm::Value* CodeTarget::ScaleOrZero(Builder&, Value*, Value*, Value*) const { return nullptr; }
std::pair<llvm::Value*, llvm::Value*> CodeTarget::Split(Builder&, Value*) const { return {}; }
llvm::Value* CodeTarget::Lookup(Builder&, llvm::ArrayRef<double>, Value*) const { return nullptr; }
llvm::Value* CodeTarget::AndElseOr(Builder&, Value*, Value*, Value*) const { return nullptr; }
llvm::Value* CodeTarget::RoundBitsToBf16(Builder&, Value*, Value*) const { return nullptr; }
llvm::Value* CodeTarget::NormalToBf16(Builder&, Value*) const { return nullptr; }
llvm::Value* CodeTarget::AnySubnormal(Builder&, Value*, bool) const { return nullptr; }
llvm::Value* CodeTarget::ToBf16(Builder&, Value*) const { return nullptr; }
llvm::Value* CodeTarget::RoundToBf16(Builder&, Value*) const { return nullptr; }
llvm::Value* CodeTarget::FromBf16(Builder&, Value*) const { return nullptr; }
llvm::Value* CodeTarget::Remainder(Builder&, Value*, Value*) const { return nullptr; }

llvm::Value* CodeTarget::AnyLane(Builder& b, Value* conditions) const {
  if (facts_.lanes > 1) return b.CreateOrReduce(conditions);
  const auto* type = llvm::cast<llvm::FixedVectorType>(conditions->getType());
  Value* any = b.CreateExtractElement(conditions, uint64_t{0});
  for (unsigned i = 1; i < type->getNumElements(); ++i)
    any = b.CreateOr(any, b.CreateExtractElement(conditions, i));
  return any;
}

const CodeTarget& CodeTargetFor(const llvm::TargetMachine& machine) {
  return machine.getTargetTriple().isX86() ? X86TargetFor(*machine.getMCSubtargetInfo()) : Generic();
}

const CodeTarget* FindCodeTarget(llvm::StringRef name) {
  if (name == Generic().facts().name) return &Generic();
  if (const CodeTarget* x86 = FindX86Target(name)) return x86;
  Added& added = AddedTargets();
  const std::lock_guard lock(added.mutex);
  const auto it =
      llvm::find_if(added.targets, [&](const CodeTarget* target) { return target->facts().name == name; });
  return it == added.targets.end() ? nullptr : *it;
}

void AddCodeTarget(const CodeTarget& target) {
  if (FindCodeTarget(target.facts().name) != nullptr) return;
  Added& added = AddedTargets();
  const std::lock_guard lock(added.mutex);
  added.targets.push_back(&target);
}

void SetCodeTarget(llvm::Module& module, const CodeTarget& target) {
  module.addModuleFlag(llvm::Module::Error, kFlag,
                       llvm::MDString::get(module.getContext(), target.facts().name));
}

const CodeTarget& CodeTargetOf(const llvm::Module& module) {
  const auto* name = llvm::dyn_cast_if_present<llvm::MDString>(module.getModuleFlag(kFlag));
  const CodeTarget* target = name == nullptr ? nullptr : FindCodeTarget(name->getString());
  return target == nullptr ? Generic() : *target;
}

const CodeTarget& CodeTargetOf(const llvm::IRBuilderBase& b) {
  return CodeTargetOf(*b.GetInsertBlock()->getModule());
}

}  // namespace hlo::codegen

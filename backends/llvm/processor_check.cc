#include "backends/llvm/processor_check.h"

#include <array>

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Module.h"

namespace hlo::codegen {
namespace {

using llvm::BasicBlock;
using llvm::Value;

/// Numbers whose bits are features: results of CPUID, by leaf and register, and the state that the system
/// keeps of each thread (XCR0).
enum Word : uint8_t { Leaf1Ecx, Leaf7Ebx, Leaf7Ecx, Leaf7Edx, Leaf71Eax, Leaf71Edx, ExtendedEcx, Xcr0 };
constexpr size_t kWords = Xcr0 + 1;

/// Registers that instructions need the system for, as bits of XCR0.
enum State : uint32_t { NoState = 0, Vectors = 0x6, LongVectors = 0xe6, MoreRegisters = 1U << 19 };

constexpr struct {
  llvm::StringLiteral feature;
  Word word;
  uint8_t bit;
  State state;
} kFeatures[] = {
#define HLO_PROCESSOR_FEATURE(name, word, bit, state) {name, word, bit, state},
#include "backends/llvm/processor_features.def"
};

using Masks = std::array<uint32_t, kWords>;

Masks MasksOf(llvm::ArrayRef<llvm::StringRef> features) {
  Masks masks = {};
  for (const auto& row : kFeatures) {
    if (!llvm::is_contained(features, llvm::StringRef(row.feature))) continue;
    masks[row.word] |= uint32_t{1} << row.bit;
    masks[Xcr0] |= row.state;
  }
  return masks;
}

class CheckEmitter {
 public:
  explicit CheckEmitter(llvm::Module& module) : module_(module), b_(module.getContext()) {}

  llvm::Function* Run(llvm::ArrayRef<std::vector<llvm::StringRef>> versions) {
    llvm::Type* number = b_.getInt32Ty();
    function_ = llvm::Function::Create(llvm::FunctionType::get(number, false),
                                       llvm::Function::InternalLinkage, "hlo.version", module_);
    function_->addFnAttr(llvm::Attribute::NoUnwind);
    // One more than the version, once it is known: whoever comes first writes what all others would.
    auto* known = new llvm::GlobalVariable(module_, number, /*isConstant=*/false,
                                           llvm::GlobalValue::InternalLinkage, b_.getInt32(0), "version");
    b_.SetInsertPoint(Block("entry"));
    auto* before = b_.CreateLoad(number, known);
    before->setAtomic(llvm::AtomicOrdering::Monotonic);
    BasicBlock *ask = Block("ask"), *told = Block("told");
    b_.CreateCondBr(b_.CreateIsNull(before), ask, told);
    b_.SetInsertPoint(told);
    b_.CreateRet(b_.CreateSub(before, b_.getInt32(1)));
    b_.SetInsertPoint(ask);
    AskAll();
    Value* first = b_.getInt32(static_cast<uint32_t>(versions.size()));
    for (size_t v = versions.size(); v-- > 0;)
      first = b_.CreateSelect(HasAll(MasksOf(versions[v])), b_.getInt32(static_cast<uint32_t>(v)), first);
    b_.CreateStore(b_.CreateAdd(first, b_.getInt32(1)), known)->setAtomic(llvm::AtomicOrdering::Monotonic);
    b_.CreateRet(first);
    return function_;
  }

 private:
  using Registers = std::array<Value*, 4>;  // eax, ebx, ecx, edx

  BasicBlock* Block(const char* name) { return BasicBlock::Create(module_.getContext(), name, function_); }

  Registers CpuId(uint32_t leaf, uint32_t part) {
    llvm::Type* number = b_.getInt32Ty();
    auto* type = llvm::FunctionType::get(llvm::StructType::get(number, number, number, number),
                                         {number, number}, false);
    Value* all = b_.CreateCall(
        llvm::InlineAsm::get(type, "cpuid", "={ax},={bx},={cx},={dx},{ax},{cx},~{dirflag},~{fpsr},~{flags}",
                             /*hasSideEffects=*/true),
        {b_.getInt32(leaf), b_.getInt32(part)});
    Registers registers;
    for (unsigned i = 0; i < registers.size(); ++i) registers[i] = b_.CreateExtractValue(all, i);
    return registers;
  }

  Value* ReadXcr0() {
    llvm::Type* number = b_.getInt32Ty();
    auto* type = llvm::FunctionType::get(llvm::StructType::get(number, number), {number}, false);
    // The instruction by its bytes: assemblers ask whether the processor that code is for has it.
    Value* both = b_.CreateCall(
        llvm::InlineAsm::get(type, ".byte 0x0f, 0x01, 0xd0", "={ax},={dx},{cx},~{dirflag},~{fpsr},~{flags}",
                             /*hasSideEffects=*/true),
        {b_.getInt32(0)});
    return b_.CreateExtractValue(both, 0);
  }

  /// What `ask` gives where it may be asked, else zeros.
  template <size_t n>
  std::array<Value*, n> AskIf(Value* may, llvm::function_ref<std::array<Value*, n>()> ask) {
    BasicBlock *from = b_.GetInsertBlock(), *asking = Block("asking"), *next = Block("next");
    b_.CreateCondBr(may, asking, next);
    b_.SetInsertPoint(asking);
    std::array<Value*, n> values = ask();
    b_.CreateBr(next);
    b_.SetInsertPoint(next);
    for (Value*& value : values) {
      llvm::PHINode* either = b_.CreatePHI(b_.getInt32Ty(), 2);
      either->addIncoming(b_.getInt32(0), from);
      either->addIncoming(value, asking);
      value = either;
    }
    return values;
  }
  Registers CpuIdIf(Value* may, uint32_t leaf, uint32_t part) {
    return AskIf<4>(may, [&] { return CpuId(leaf, part); });
  }

  void AskAll() {
    constexpr uint32_t kSystemKeepsState = 1U << 27;  // OSXSAVE of leaf 1, ecx
    constexpr uint32_t kFeatureLeaf = 7, kExtended = 0x80000000U;
    const auto at_least = [&](Value* x, uint32_t least) { return b_.CreateICmpUGE(x, b_.getInt32(least)); };
    Value* leaves = CpuId(0, 0)[0];
    words_[Leaf1Ecx] = CpuId(1, 0)[2];
    const Registers seven = CpuIdIf(at_least(leaves, kFeatureLeaf), kFeatureLeaf, 0);
    words_[Leaf7Ebx] = seven[1], words_[Leaf7Ecx] = seven[2], words_[Leaf7Edx] = seven[3];
    const Registers more = CpuIdIf(at_least(seven[0], 1), kFeatureLeaf, 1);
    words_[Leaf71Eax] = more[0], words_[Leaf71Edx] = more[3];
    words_[ExtendedEcx] = CpuIdIf(at_least(CpuId(kExtended, 0)[0], kExtended + 1), kExtended + 1, 0)[2];
    Value* keeps = b_.CreateIsNotNull(b_.CreateAnd(words_[Leaf1Ecx], b_.getInt32(kSystemKeepsState)));
    words_[Xcr0] = AskIf<1>(keeps, [&] { return std::array{ReadXcr0()}; })[0];
  }

  Value* HasAll(const Masks& masks) {
    Value* all = b_.getTrue();
    for (size_t w = 0; w < kWords; ++w) {
      if (masks[w] == 0) continue;
      Value* mask = b_.getInt32(masks[w]);
      all = b_.CreateAnd(all, b_.CreateICmpEQ(b_.CreateAnd(words_[w], mask), mask));
    }
    return all;
  }

  llvm::Module& module_;
  llvm::IRBuilder<> b_;
  llvm::Function* function_ = nullptr;
  std::array<Value*, kWords> words_ = {};
};

}  // namespace

std::vector<llvm::StringRef> FeaturesToCheck() {
  std::vector<llvm::StringRef> features;
  for (const auto& row : kFeatures) features.push_back(row.feature);
  return features;
}

llvm::Function* EmitProcessorCheck(llvm::Module& module,
                                   llvm::ArrayRef<std::vector<llvm::StringRef>> versions) {
  return CheckEmitter(module).Run(versions);
}

}  // namespace hlo::codegen

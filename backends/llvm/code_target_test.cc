// Code for machines that are no X86, and what X86 has beyond.
#include "backends/llvm/code_target.h"

#include "backends/kernel/parse.h"
#include "backends/llvm/emit_kernel.h"
#include "backends/llvm/missing.h"
#include "gtest/gtest.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

namespace hlo::codegen {
namespace {

/// out = op(in), in vectors with a rest.
std::string Unary(llvm::StringRef op, llvm::StringRef type) {
  return llvm::formatv(R"(kernel {0}_{1}(b0: {1}[1000], out b1: {1}[1000]) {{
  for i0 in 1000 parallel vector(16, 2) {{
    %0 = load b0[i0]
    %1 = {0} {1} %0
    store b1[i0], %1
  }
}
)",
                       op, type)
      .str();
}

std::string Convert(llvm::StringRef from, llvm::StringRef to) {
  return llvm::formatv(R"(kernel convert_{0}_{1}(b0: {0}[1000], out b1: {1}[1000]) {{
  for i0 in 1000 parallel vector(16, 1) {{
    %0 = load b0[i0]
    %1 = convert {1} %0
    store b1[i0], %1
  }
}
)",
                       from, to)
      .str();
}

// Folds of lanes and of bits, divisions by one number, masks, numbers that are read, rows that a fetch would
// suit, stores past the caches.
constexpr llvm::StringLiteral kOthers[] = {
    R"(kernel rows(b0: f32[640000], b1: f32[1], out b2: f32[640000]) {
  %0 = constant f32 0xff800000
  %1 = load b1[0]
  for i0 in 640 parallel {
    %2 = reduce i1 in 1000 vector(16, 4) init %0 {
      %3 = load b0[i0*1000 + i1]
      yield %3
    } by (%4, %5) {
      %6 = maximum f32 %4, %5
      yield %6
    }
    for i2 in 1000 vector(16, 1) {
      %7 = load b0[i0*1000 + i2]
      %8 = maximum f32 %7, %2
      %9 = divide f32 %8, %1
      %10 = minimum f32 %9, %7
      store b2[i0*1000 + i2], %10
    }
  }
}
)",
    R"(kernel halves(b0: bf16[64000], b1: bf16[1], out b2: bf16[64000]) {
  %0 = load b1[0]
  for i0 in 64000 parallel vector(32, 1) {
    %1 = load b0[i0]
    %2 = multiply bf16 %1, %1
    %3 = divide bf16 %2, %0
    store b2[i0], %3
  }
}
)",
    R"(kernel gather(b0: s64[1000], b1: f64[4000000], b2: pred[1000], out b3: f64[1000]) {
  %0 = constant f64 0x0
  for i0 in 1000 parallel vector(8, 1) {
    %1 = load b0[i0]
    %2 = load b2[i0]
    %3 = load b1[%1] if %2 else %0
    store b3[i0], %3 if %2
  }
}
)",
    R"(kernel transpose(b0: s16[4096], out b1: s16[4096]) {
  for i0 in 4 parallel {
    for i1 in 64 {
      for i2 in 16 unroll(16) {
        for i3 in 16 vector(16, 1) {
          %0 = load b0[i0*16 + i1 + i2 + i3*64]
          store b1[i0*1024 + i2*64 + i3], %0
        }
      }
    }
  }
}
)",
    R"(kernel stream(b0: f32[16777216], out b1: f32[16777216]) {
  for i0 in 16777216 parallel vector(16, 4) {
    %0 = load b0[i0]
    %1 = round-nearest-even f32 %0
    stream b1[i0], %1
  }
}
)"};

constexpr llvm::StringRef kFew[] = {"exponential", "log"},
                          kMany[] = {"exponential", "log", "log-plus-one", "tanh", "sine", "cbrt", "rsqrt"};

std::vector<std::string> Texts(llvm::ArrayRef<llvm::StringRef> functions) {
  std::vector<std::string> texts;
  for (const llvm::StringRef op : functions)
    for (const char* type : {"f32", "f64", "bf16", "f16"}) texts.push_back(Unary(op, type));
  for (const char* narrow : {"f8e4m3fn", "f8e5m2", "f8e4m3b11fnuz", "f4e2m1fn", "bf16", "f16", "s4", "u16"})
    texts.push_back(Convert("f32", narrow)), texts.push_back(Convert(narrow, "f32"));
  for (const llvm::StringRef text : kOthers) texts.push_back(text.str());
  return texts;
}

/// All kernels in one module.
void EmitInto(llvm::Module& module, llvm::ArrayRef<llvm::StringRef> functions = kMany) {
  for (const std::string& text : Texts(functions)) {
    const auto kernel = kernel::ParseKernel(text);
    ASSERT_TRUE(kernel) << kernel.error().message << text;
    const Status status = EmitKernel(*kernel, module);
    ASSERT_TRUE(status) << status.error().message << text;
  }
  EXPECT_FALSE(llvm::verifyModule(module, &llvm::errs()));
}

/// The intrinsics of X86 that the module declares.
int64_t CountX86(const llvm::Module& module) {
  return llvm::count_if(module, [](const llvm::Function& f) { return f.getName().starts_with("llvm.x86"); });
}
int64_t CountFetches(const llvm::Module& module) {
  return llvm::count_if(
      module, [](const llvm::Function& f) { return f.getIntrinsicID() == llvm::Intrinsic::prefetch; });
}

TEST(CodeTarget, OthersThanX86NameNothingOfIt) {
  llvm::LLVMContext context;
  llvm::Module module("m", context);
  EXPECT_EQ(CodeTargetOf(module).facts().name, "generic");
  EmitInto(module);
  EXPECT_EQ(CountX86(module), 0);
  EXPECT_EQ(CountFetches(module), 0);
}

TEST(CodeTarget, X86NamesWhatItsUnitsHave) {
  int64_t before = 0;
  for (const char* name : {"x86", "x86-avx2", "x86-avx512", "x86-avx512-bf16"}) {
    const CodeTarget* target = FindCodeTarget(name);
    ASSERT_NE(target, nullptr) << name;
    llvm::LLVMContext context;
    llvm::Module module("m", context);
    SetCodeTarget(module, *target);
    EXPECT_EQ(&CodeTargetOf(module), target);
    EmitInto(module);
    const int64_t count = CountX86(module);
    EXPECT_EQ(count > 0, name != llvm::StringRef("x86")) << name;
    EXPECT_GE(count, before) << name;
    EXPECT_GT(CountFetches(module), 0) << name;
    before = count;
  }
  EXPECT_EQ(FindCodeTarget("x86-avx1024"), nullptr);
}

std::unique_ptr<llvm::TargetMachine> MachineOf(const std::string& triple, llvm::StringRef features) {
  std::string why;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, why);
  EXPECT_NE(target, nullptr) << why;
  return std::unique_ptr<llvm::TargetMachine>(
      target->createTargetMachine(triple, "", features, llvm::TargetOptions(), llvm::Reloc::PIC_));
}

TEST(CodeTarget, SuitsTheMachine) {
  LLVMInitializeX86TargetInfo();
  LLVMInitializeX86Target();
  LLVMInitializeX86TargetMC();
  const std::pair<const char*, const char*> cases[] = {
      {"", "x86"},
      {"+avx2", "x86-avx2"},
      {"+avx512f", "x86-avx512"},
      {"+avx512bf16", "x86-avx512"},
      {"+avx512bf16,+avx512vnni,+avx512dq", "x86-avx512-bf16"},
  };
  for (const auto& [features, name] : cases)
    EXPECT_EQ(CodeTargetFor(*MachineOf("x86_64-linux-gnu", features)).facts().name, name) << features;
}

#ifdef HLO_HAS_AARCH64
TEST(CodeTarget, AArch64GetsObjects) {
  LLVMInitializeAArch64TargetInfo();
  LLVMInitializeAArch64Target();
  LLVMInitializeAArch64TargetMC();
  LLVMInitializeAArch64AsmPrinter();
  const auto machine = MachineOf("aarch64-linux-gnu", "");
  EXPECT_EQ(CodeTargetFor(*machine).facts().name, "generic");
  llvm::LLVMContext context;
  llvm::Module module("m", context);
  module.setTargetTriple("aarch64-linux-gnu");
  module.setDataLayout(machine->createDataLayout());
  SetCodeTarget(module, CodeTargetFor(*machine));
  EmitInto(module, kFew);
  EXPECT_EQ(CountX86(module), 0);
  CallMissing(module, *machine);
  llvm::SmallVector<char, 0> code;
  llvm::raw_svector_ostream os(code);
  llvm::legacy::PassManager passes;
  ASSERT_FALSE(machine->addPassesToEmitFile(passes, os, nullptr, llvm::CodeGenFileType::AssemblyFile));
  passes.run(module);
  const llvm::StringRef text(code.data(), code.size());
  EXPECT_TRUE(text.contains("exponential_f32:"));
  EXPECT_TRUE(text.contains("fmla\tv")) << text.take_front(2000).str();
}
#endif

}  // namespace
}  // namespace hlo::codegen

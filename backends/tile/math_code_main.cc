// Part of the build: writes an object file with the transcendental functions for one instruction set, made by
// the emitter that makes them at run time.
//
// Usage: tile_math_code baseline|avx2|avx512 FILE
#include "backends/kernel/builder.h"
#include "backends/llvm/code_target.h"
#include "backends/llvm/complex_math.h"
#include "backends/llvm/emit_kernel.h"
#include "backends/llvm/emit_ops.h"
#include "backends/llvm/types.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"

namespace hlo {
namespace {

struct InstructionSet {
  const char *name, *features;
  const char* code_target;
  int32_t lanes;          // where there is no fused multiply-add, each of a vector would be a call
  int32_t complex_lanes;  // they compute in f64: as many as fill a vector
};
constexpr InstructionSet kSets[] = {
    {"baseline", "", "x86", 1, 1},
    {"avx2", "+avx,+avx2,+bmi,+bmi2,+f16c,+fma,+lzcnt,+popcnt", "x86-avx2", 16, 4},
    {"avx512",
     "+avx,+avx2,+bmi,+bmi2,+f16c,+fma,+lzcnt,+popcnt,+avx512f,+avx512bw,+avx512cd,+avx512dq,+avx512vl",
     "x86-avx512", 16, 8},
};

struct Operation {
  OpKind kind;
  const char* name;
  int operands;
  ElementType type;
};
constexpr Operation kOperations[] = {
#define HLO_TILE_CODE(Kind, operands, Type, type) {OpKind::Kind, #Kind, operands, ElementType::Type},
#include "backends/tile/math_ops.inc"
};

/// out[i] = op(in[i], …) for the iterations that the caller names.
kernel::Kernel MakeKernel(const Operation& op, const InstructionSet& set) {
  // Not a multiple of the lanes: callers name any number of iterations.
  constexpr int64_t kMost = (int64_t{1} << 20) + 1;
  kernel::Kernel kernel;
  kernel.name = (llvm::Twine("hlo_tile_") + set.name + "_" + op.name + "_" + ToString(op.type)).str();
  const ElementType result = op.kind == OpKind::Abs ? RealPartType(op.type) : op.type;
  for (int i = 0; i < op.operands; ++i) kernel.buffers.push_back({op.type, kMost, false});
  kernel.buffers.push_back({result, kMost, true});
  kernel::KernelBuilder builder(kernel);
  kernel::LoopStmt loop;
  loop.loop = {builder.NewLoop(kMost), kMost};
  loop.loop.width = IsComplex(op.type) ? set.complex_lanes : set.lanes;
  loop.loop.parallel = true;
  loop.body = std::make_unique<kernel::Region>();
  builder.Open(*loop.body, {loop.loop.id});
  kernel::Address at;
  at.AddLoop(loop.loop.id, 1);
  llvm::SmallVector<kernel::ValueId, 2> operands;
  for (int i = 0; i < op.operands; ++i) operands.push_back(builder.Load(i, at));
  builder.Store(op.operands, at, builder.Op(op.kind, result, operands));
  builder.Close();
  builder.Append(std::move(loop));
  return kernel;
}

int Fail(const llvm::Twine& why) {
  llvm::errs() << "tile_math_code: " << why << '\n';
  return 1;
}

bool IsListed(OpKind kind, ElementType type) {
  return llvm::any_of(kOperations, [&](const Operation& op) { return op.kind == kind && op.type == type; });
}

/// Whether compiled code differs from the evaluator's, which multiplies complex numbers alike.
bool IsWanted(OpKind kind, ElementType type) {
  if (!IsComplex(type)) return codegen::FindMath(kind, false) != nullptr;
  const auto range = type == ElementType::C128 ? codegen::PartRange::OfF64 : codegen::PartRange::OfF32;
  return kind != OpKind::Multiply && codegen::FindComplexMath(kind, range) != nullptr;
}

int Generate(const InstructionSet& set, llvm::StringRef file) {
  for (size_t i = 0; i < AllOps().size(); ++i)
    for (const ElementType type : {ElementType::F32, ElementType::F64, ElementType::C64, ElementType::C128})
      if (const auto kind = static_cast<OpKind>(i); IsWanted(kind, type) && !IsListed(kind, type))
        return Fail("math_ops.inc (with ir/numeric/functions.def) lacks " + Info(kind).text + " of " +
                    ToString(type));
  LLVMInitializeX86TargetInfo();
  LLVMInitializeX86Target();
  LLVMInitializeX86TargetMC();
  LLVMInitializeX86AsmPrinter();
  llvm::LLVMContext context;
  llvm::Module module("tile_math", context);
  const std::string triple = llvm::sys::getDefaultTargetTriple();
  std::string why;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, why);
  if (target == nullptr) return Fail(why);
  const std::unique_ptr<llvm::TargetMachine> machine(
      target->createTargetMachine(triple, "x86-64", set.features, llvm::TargetOptions(), llvm::Reloc::PIC_,
                                  llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default));
  module.setTargetTriple(triple);
  module.setDataLayout(machine->createDataLayout());
  codegen::SetCodeTarget(module, *codegen::FindCodeTarget(set.code_target));
  module.setPICLevel(llvm::PICLevel::SmallPIC);
  for (const Operation& op : kOperations)
    if (const Status status = codegen::EmitKernel(MakeKernel(op, set), module); !status)
      return Fail(status.error().message);
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    function.addFnAttr("target-cpu", "x86-64");
    function.addFnAttr("target-features", set.features);
    function.addFnAttr("prefer-vector-width", "512");
  }
  std::error_code error;
  llvm::raw_fd_ostream os(file, error);
  if (error) return Fail(file + ": " + error.message());
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, os, nullptr, llvm::CodeGenFileType::ObjectFile))
    return Fail("the target makes no object files");
  passes.run(module);
  return 0;
}

}  // namespace
}  // namespace hlo

int main(int argc, char** argv) {
  const llvm::ArrayRef arguments(argv + 1, argc > 0 ? static_cast<size_t>(argc) - 1 : 0);
  if (arguments.size() == 2)
    for (const hlo::InstructionSet& set : hlo::kSets)
      if (llvm::StringRef(arguments[0]) == set.name) return hlo::Generate(set, arguments[1]);
  return hlo::Fail("usage: tile_math_code baseline|avx2|avx512 FILE");
}

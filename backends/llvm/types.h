// Element types in LLVM IR: in memory and in registers.
#pragma once
#include "ir/types.h"
#include "llvm/IR/IRBuilder.h"

namespace hlo::codegen {

/// A value of a kernel. `compute` is what operations work on: i1 for pred, integers as they are, f32 and f64,
/// and f32 for narrower floats, which it holds exactly; integers of less than 8 bits are extended to i8.
/// `stored` is the form in memory: i8 for pred, the bits of narrow floats; the same as `compute` elsewhere.
/// Vectors of some width inside vector loops, if they vary there. Complex numbers compute as a structure of
/// real and imaginary part and are stored as i64 and i128, which hold them side by side.
struct Emitted {
  llvm::Value* compute = nullptr;
  llvm::Value* stored = nullptr;
  [[nodiscard]] bool IsVector() const { return stored->getType()->isVectorTy(); }
};

/// Arrays that belong to code begin at its multiples, as all of a program do. Bytes.
constexpr uint64_t kArrayAlignment = 64;
/// Elements lie at multiples of their size, complex numbers at those of their parts.
llvm::Align AlignOf(const llvm::Type* type);

/// Whether kernels can compute with the type.
bool IsSupported(ElementType type);
/// The scalar type in memory and in `compute` form.
llvm::Type* StoredType(llvm::LLVMContext& context, ElementType type);
llvm::Type* ComputeType(llvm::LLVMContext& context, ElementType type);
/// `type` or a vector of `width` of it, as `like` is. Vectors of complex numbers have vectors of each part.
llvm::Type* SameWidth(llvm::Type* type, llvm::Type* like);
/// The type of the real part of a complex number in `compute` form; others as they are.
llvm::Type* PartType(llvm::Type* type);
/// A complex number in `compute` form, and its parts.
llvm::Value* MakeComplex(llvm::IRBuilderBase& b, llvm::Value* real, llvm::Value* imaginary);
llvm::Value* RealPart(llvm::IRBuilderBase& b, llvm::Value* complex);
llvm::Value* ImaginaryPart(llvm::IRBuilderBase& b, llvm::Value* complex);
/// `f` of values in `compute` form, part by part if they are complex.
llvm::Value* ForEachPart(llvm::IRBuilderBase& b, llvm::ArrayRef<llvm::Value*> values,
                         llvm::function_ref<llvm::Value*(llvm::ArrayRef<llvm::Value*> parts)> f);
/// The scalar in every lane; itself if it is a vector already.
llvm::Value* Splat(llvm::IRBuilderBase& b, llvm::Value* value, unsigned width);

/// An i8 whose low bits are an integer of the type, extended by sign or zeros; other types as they are.
llvm::Value* Wrap(llvm::IRBuilderBase& b, ElementType type, llvm::Value* value);

/// bf16 of the f32 of a number of at most 8 bits.
Emitted ExactInBf16(llvm::IRBuilderBase& b, ElementType type, llvm::Value* f32);

/// bf16 of the f32 that arithmetic on bf16 numbers gave: a NaN is one of theirs, or the default one, and has
/// nothing in its lower half, so that rounding needs no care for it.
Emitted ComputedInBf16(llvm::IRBuilderBase& b, llvm::Value* f32);
/// The same in the form in memory, of f32 that are not subnormal.
llvm::Value* NormalToBf16(llvm::IRBuilderBase& b, llvm::Value* f32);
/// Whether any of the vector's f32 is subnormal, where the processor has one instruction to ask; else null.
llvm::Value* AnySubnormal(llvm::IRBuilderBase& b, llvm::Value* f32);
/// bf16 of f32 from anywhere: NaNs keep their sign only, as some have nothing but low bits.
Emitted ConvertedToBf16(llvm::IRBuilderBase& b, llvm::Value* f32);
/// The same by the processor's instruction, where it has one for such vectors; else null. For what goes into
/// memory as bf16: what goes on as f32 is faster without. `converted`: from anywhere, else of what an
/// operation gave.
llvm::Value* StoredAsBf16(llvm::IRBuilderBase& b, llvm::Value* f32, bool converted);

/// Both forms from one of them. FromCompute rounds to the type what an operation gave.
Emitted FromStored(llvm::IRBuilderBase& b, ElementType type, llvm::Value* stored);
Emitted FromCompute(llvm::IRBuilderBase& b, ElementType type, llvm::Value* compute);

}  // namespace hlo::codegen

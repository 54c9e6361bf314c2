// What the rules share: errors that point at operands, common checks, results built without waste.
#pragma once
#include <string>

#include "ir/infer/infer.h"

namespace hlo {

/// `%name` of an instruction, for messages.
std::string Name(const Instruction& inst);
/// `%name` of a computation, for messages.
std::string Name(const Computation& computation);
/// `{1,0}`.
std::string List(llvm::ArrayRef<int64_t> values);
/// `dot of f32[4,8] and f32[8,12]`: the opcode and the shapes of the first operands.
std::string Describe(const Instruction& inst);

/// Moves an error about the instruction to the part of its text it speaks of: the written shape
/// (verify-shape), or the attribute that the message quotes first.
Diagnostic AtPart(Diagnostic diagnostic, const Instruction& inst);
/// Moves an error about operand i there (errors about shape or attributes: AtPart) and adds the note
/// `operand i is defined here`.
Diagnostic AtOperand(Diagnostic diagnostic, const Instruction& inst, int64_t i);
Diagnostic WithOperandNote(Diagnostic diagnostic, const Instruction& inst, int64_t i);

/// A rule's error about the instruction as a whole.
template <class... Args>
tl::unexpected<Diagnostic> RuleError(DiagnosticId id, const Instruction& inst, const char* format,
                                     Args&&... args) {
  return tl::unexpected<Diagnostic>(
      AtPart(MakeError(id, inst.loc(), format, std::forward<Args>(args)...), inst));
}
/// A rule's error about operand i.
template <class... Args>
tl::unexpected<Diagnostic> OperandError(DiagnosticId id, const Instruction& inst, int64_t i,
                                        const char* format, Args&&... args) {
  return tl::unexpected<Diagnostic>(
      AtOperand(MakeError(id, inst.loc(), format, std::forward<Args>(args)...), inst, i));
}

/// The computation called as number i with its root present, or an error.
Result<const Computation*> Callee(const Instruction& inst, int64_t i = 0);

/// The error that operand i is no array.
Status NotAnArray(const Instruction& inst, int64_t i);
/// Operand i is an array.
inline Status CheckArray(const Instruction& inst, int64_t i) {
  if (LLVM_LIKELY(inst.operand(i)->shape().IsArray())) return {};
  return NotAnArray(inst, i);
}
Status CheckArrays(const Instruction& inst);
/// Operand i is an array without dimensions.
Status CheckScalar(const Instruction& inst, int64_t i);
/// Operands i and j (arrays) have one element type; two floating types always agree here, since
/// mixing them is judged for all operands at once (InferShape).
Status CheckSameType(const Instruction& inst, int64_t i, int64_t j);
/// Operands i and j (arrays) have equal sizes; an unbounded size equals any.
Status CheckSameDims(const Instruction& inst, int64_t i, int64_t j);
/// Operand i is a scalar of an integral type.
Status CheckIntegralScalar(const Instruction& inst, int64_t i);
/// `value`, an entry of attribute `attribute`, is in [0, limit); `what` says what limit is.
Status CheckInRange(const Instruction& inst, llvm::StringRef attribute, int64_t value, int64_t limit,
                    llvm::StringRef what);
/// The entries of a list attribute are in [0, limit) and differ; with `sorted` they also ascend.
Status CheckDimList(const Instruction& inst, llvm::StringRef attribute, llvm::ArrayRef<int64_t> dims,
                    int64_t limit, llvm::StringRef what, bool sorted = false);

/// Equal sizes, or one of them unbounded.
inline bool SizesAgree(int64_t a, int64_t b) { return a == b || a == kUnboundedSize || b == kUnboundedSize; }

/// An array of the type and sizes with the default layout; the written shape itself (whatever its
/// layout) if it is such an array, which saves making one.
Shape ArrayResult(const Instruction& inst, ElementType type, llvm::ArrayRef<int64_t> dims,
                  llvm::ArrayRef<bool> dynamic = {});
/// Like ArrayResult, but the new array has the layout of `like`, an array of the same rank.
Shape ArrayResultLike(const Instruction& inst, const Shape& like, ElementType type,
                      llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<bool> dynamic = {});
/// The tuple of `elements`; the written shape itself if it is exactly that.
Shape TupleResult(const Instruction& inst, llvm::ArrayRef<Shape> elements);

}  // namespace hlo

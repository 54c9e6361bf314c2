// Shape inference: one rule per op-table entry, used by parser, builder and verifier alike.
#pragma once
#include "ir/instruction.h"
#include "ir/support/result.h"

namespace hlo {

/// What the rules may assume and allow.
struct InferOptions {
  bool allow_mixed_precision = false;
  bool layout_sensitive = false;  // values passed to and from computations agree in layout too
  bool dynamic_flags = true;      // with layout_sensitive: and in what is dynamic
};

/// The shape the instruction's operands, attributes and callees imply. Ops whose shape is declared
/// (OpTraits kDeclared) check inst.shape() instead and return it; for these it must be set. Operand
/// shapes must be valid. Operand count, the types the op table allows for operand 0 and mixed precision
/// are checked here, the rest by the op's rule. Layouts of inferred shapes follow errata-text B21. Errors
/// name the two things that disagree (id verify-…).
Result<Shape> InferShape(const Instruction& inst, const InferOptions& options = {});

/// The written shape of `inst` agrees with the inferred one; else an error that shows both.
Status CheckWrittenShape(const Instruction& inst, const Shape& inferred, const ShapeComparison& how = {});

/// Type of a rule; ir/ops.def names it as Infer<Shape>.
using InferFn = Result<Shape> (*)(const Instruction& inst, const InferOptions& options);
InferFn InferRule(OpKind kind);

// The rules, declared from the op table (a rule several ops share is declared several times).
#define HLO_OP(Kind, text, min, max, Attrs, Category, Traits, Types, Rounding, Shape_, Eval) \
  Result<Shape> Infer##Shape_(const Instruction& inst, const InferOptions& options);
#include "ir/ops.def"

}  // namespace hlo

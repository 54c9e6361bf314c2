// Custom calls that JAX makes for GPUs, by way of those that it makes for CPUs.
#include "ir/eval/custom_call.h"

namespace hlo {
namespace {

using Operands = llvm::MutableArrayRef<Literal>;

/// Runs `lapack_?<base>_ffi` on the operands: arrays lie in memory as they do for the call.
Result<Literal> AsLapack(EvalContext& context, const Instruction& inst, Operands operands,
                         llvm::StringRef real_base, llvm::StringRef complex_base, llvm::StringRef config) {
  const ElementType type = operands[0].shape().element_type();
  const char letter = type == ElementType::F32   ? 's'
                      : type == ElementType::F64 ? 'd'
                      : type == ElementType::C64 ? 'c'
                                                 : 'z';
  CustomCallAttrs attrs;
  attrs.custom_call_target =
      ("lapack_" + llvm::Twine(letter) + (IsComplex(type) ? complex_base : real_base) + "_ffi").str();
  attrs.operand_layout_constraints.emplace();
  Module scratch("scratch");
  Computation* computation = scratch.AddComputation("scratch");
  llvm::SmallVector<Instruction*, 2> parameters;
  for (const Literal& operand : operands) {
    ParameterAttrs number;
    number.number = static_cast<int64_t>(parameters.size());
    attrs.operand_layout_constraints->push_back(CustomCallOperandShape(inst, number.number));
    parameters.push_back(computation->Add(OpKind::Parameter, operand.shape(), "p", {}, number));
  }
  Instruction* call = computation->Add(OpKind::CustomCall, inst.shape(), "c", parameters, attrs);
  call->set_loc(inst.loc());
  call->MutableExtras().backend_config = config;
  return FindCustomCallTarget(attrs.custom_call_target)->eval(context, *call, operands);
}

bool ReadsLower(const Instruction& inst) { return CustomCallAttribute(inst, "lower") != 0; }

}  // namespace

Result<Literal> EvalCusolverPotrfTarget(EvalContext& context, const Instruction& inst, Operands operands) {
  return AsLapack(context, inst, operands, "potrf", "potrf",
                  ReadsLower(inst) ? "{uplo = 76 : ui8}" : "{uplo = 85 : ui8}");
}
Result<Literal> EvalCusolverGeqrfTarget(EvalContext& context, const Instruction& inst, Operands operands) {
  return AsLapack(context, inst, operands, "geqrf", "geqrf", "{}");
}
Result<Literal> EvalCusolverOrgqrTarget(EvalContext& context, const Instruction& inst, Operands operands) {
  return AsLapack(context, inst, operands, "orgqr", "ungqr", "{}");
}
Result<Literal> EvalCusolverSyevdTarget(EvalContext& context, const Instruction& inst, Operands operands) {
  return AsLapack(
      context, inst, operands, "syevd", "heevd",
      ReadsLower(inst) ? "{mode = 86 : ui8, uplo = 76 : ui8}" : "{mode = 86 : ui8, uplo = 85 : ui8}");
}

}  // namespace hlo

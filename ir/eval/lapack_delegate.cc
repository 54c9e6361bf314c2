#include "ir/eval/lapack_delegate.h"

namespace hlo::lapack {

Result<Literal> RunNamed(EvalContext& context, const Instruction& inst,
                         llvm::MutableArrayRef<Literal> operands, llvm::ArrayRef<Shape> shapes,
                         const NamedRoutine& routine, const Shape& result) {
  const ElementType type = operands[0].shape().element_type();
  const char letter = type == ElementType::F32   ? 's'
                      : type == ElementType::F64 ? 'd'
                      : type == ElementType::C64 ? 'c'
                                                 : 'z';
  CustomCallAttrs attrs;
  attrs.custom_call_target = ("lapack_" + llvm::Twine(letter) +
                              (IsComplex(type) ? routine.complex_name : routine.real_name) + "_ffi")
                                 .str();
  attrs.operand_layout_constraints.emplace(shapes.begin(), shapes.end());
  Module scratch("scratch");
  Computation* computation = scratch.AddComputation("scratch");
  llvm::SmallVector<Instruction*, 4> parameters;
  for (const Literal& operand : operands) {
    ParameterAttrs number;
    number.number = static_cast<int64_t>(parameters.size());
    parameters.push_back(computation->Add(OpKind::Parameter, operand.shape(), "p", {}, number));
  }
  Instruction* call = computation->Add(OpKind::CustomCall, result, "c", parameters, attrs);
  call->set_loc(inst.loc());
  call->MutableExtras().backend_config = routine.attributes;
  return FindCustomCallTarget(attrs.custom_call_target)->eval(context, *call, operands);
}

}  // namespace hlo::lapack

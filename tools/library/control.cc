// Loops, branches, calls.
#include "hlo/ops.h"
#include "tools/library/builder_state.h"

namespace hlo_toolkit::ops {

using internal::Emission;
using internal::Emit;
using internal::Wrong;
using InstructionOr = hlo::Result<hlo::Instruction*>;

XlaOp While(XlaBuilder* builder, const XlaComputation& condition, const XlaComputation& body, XlaOp init,
            Location location) {
  return Emit(builder, {init}, location, [&](Emission& e) -> InstructionOr {
    HLO_TRY(hlo::Computation * repeats, e.state().Import(condition));
    HLO_TRY(hlo::Computation * step, e.state().Import(body));
    // Body, then condition, as everywhere in the IR.
    return e.Add(hlo::OpKind::While, e.operands(), hlo::WhileAttrs(), {step, repeats});
  });
}

XlaOp Conditional(XlaBuilder* builder, XlaOp pred, XlaOp true_operand, const XlaComputation& true_computation,
                  XlaOp false_operand, const XlaComputation& false_computation, Location location) {
  return Emit(builder, {pred, true_operand, false_operand}, location, [&](Emission& e) -> InstructionOr {
    HLO_CHECK_OK(e.ScalarOf(0, hlo::ElementType::Pred, "the predicate of a conditional"));
    HLO_TRY(hlo::Computation * if_true, e.state().Import(true_computation));
    HLO_TRY(hlo::Computation * if_false, e.state().Import(false_computation));
    return e.Add(hlo::OpKind::Conditional, e.operands(), hlo::ConditionalAttrs(), {if_true, if_false});
  });
}

XlaOp Conditional(XlaBuilder* builder, XlaOp branch_index,
                  Span<const XlaComputation* const> branch_computations, Span<const XlaOp> branch_operands,
                  Location location) {
  std::vector<XlaOp> operands = branch_operands.ToVector();
  operands.insert(operands.begin(), branch_index);
  return Emit(builder, operands, location, [&](Emission& e) -> InstructionOr {
    HLO_CHECK_OK(e.ScalarOf(0, hlo::ElementType::S32, "the branch index of a conditional"));
    llvm::SmallVector<hlo::Computation*, 4> branches;
    for (const XlaComputation* branch : branch_computations) {
      if (!branch) return Wrong("a branch is null");
      HLO_TRY(branches.emplace_back(), e.state().Import(*branch));
    }
    return e.Add(hlo::OpKind::Conditional, e.operands(), hlo::ConditionalAttrs(), branches);
  });
}

XlaOp Call(XlaBuilder* builder, const XlaComputation& computation, Span<const XlaOp> operands,
           Location location) {
  return Emit(builder, operands, location, [&](Emission& e) -> InstructionOr {
    HLO_TRY(hlo::Computation * callee, e.state().Import(computation));
    return e.Add(hlo::OpKind::Call, e.operands(), hlo::CallAttrs(), {callee});
  });
}

XlaOp CompositeCall(XlaBuilder* builder, const XlaComputation& computation, Span<const XlaOp> operands,
                    std::string_view name, std::optional<std::string_view> attributes,
                    std::optional<int64_t> version, Location location) {
  return Emit(builder, operands, location, [&](Emission& e) -> InstructionOr {
    if (name.empty()) return Wrong("a composite without a name");
    if (version.value_or(0) < 0) return Wrong("version {0} of a composite is negative", *version);
    HLO_TRY(hlo::Computation * callee, e.state().Import(computation));
    HLO_TRY(hlo::Instruction * call, e.Add(hlo::OpKind::Call, e.operands(), hlo::CallAttrs(), {callee}));
    e.state().SetFrontendAttribute(*call, "composite.attributes", std::string(attributes.value_or("{}")));
    e.state().SetFrontendAttribute(*call, "composite.name", std::string(name));
    e.state().SetFrontendAttribute(*call, "composite.version", std::to_string(version.value_or(0)));
    // The rule looks at these attributes.
    call->mutable_attrs().Mutable<hlo::CallAttrs>().is_composite = true;
    return call;
  });
}

XlaOp OptimizationBarrier(XlaBuilder* builder, XlaOp operand, Location location) {
  return Emit(builder, {operand}, location, [&](Emission& e) {
    return e.AddWithShape(hlo::OpKind::OptimizationBarrier, e.shape(0), e.operands());
  });
}

XlaOp CustomCall(XlaBuilder* builder, std::string_view call_target_name, Span<const XlaOp> operands,
                 const Shape& shape, std::string_view opaque, bool has_side_effect, Location location) {
  return Emit(builder, operands, location, [&](Emission& e) -> InstructionOr {
    HLO_TRY(hlo::Shape made, internal::ToShape(shape));
    hlo::CustomCallAttrs attrs;
    attrs.custom_call_target = call_target_name;
    attrs.custom_call_has_side_effect = has_side_effect;
    HLO_TRY(hlo::Instruction * call,
            e.AddWithShape(hlo::OpKind::CustomCall, std::move(made), e.operands(), std::move(attrs)));
    if (!opaque.empty())
      call->MutableExtras().backend_config =
          e.state().module().Save(llvm::StringRef(opaque.data(), opaque.size()));
    return call;
  });
}

XlaOp CustomCallOp(XlaBuilder* builder, std::string_view call_target_name, Span<const XlaOp> operands,
                   const Shape& shape, Location location) {
  return ops::CustomCall(builder, call_target_name, operands, shape, "", false, location);
}

}  // namespace hlo_toolkit::ops

// map (ops-structured §4.4): a scalar computation applied to each position.
#include "ir/eval/scalar_callee.h"

namespace hlo {

Result<Literal> EvalMap(EvalContext& context, const Instruction& inst,
                        llvm::MutableArrayRef<Literal> operands) {
  constexpr int64_t kPiece = 4096;
  const ScalarCallee callee(context, *inst.callee());
  Literal result = Literal::Make(inst.shape());
  std::vector<Literal> inputs;
  for (size_t k = 0; k < operands.size(); ++k) {
    Literal input = WithElementType(operands[k], callee.parameter_types()[k]);
    // A scalar beside arrays holds for all positions.
    if (input.shape().rank() == 0 && inst.shape().rank() != 0) {
      Literal spread = Literal::Make(inst.shape().WithElementType(input.shape().element_type()));
      uint8_t* out = spread.MutableData();
      for (size_t i = 0; i < spread.byte_size(); i += input.byte_size())
        std::memcpy(out + i, input.data(), input.byte_size());
      input = std::move(spread);
    }
    if (input.HasDynamicSizes())
      for (int64_t d = 0; d < inst.shape().rank(); ++d)
        if (inst.shape().is_dynamic(d)) result.SetDynamicSize(d, input.DynamicSize(d));
    inputs.push_back(std::move(input));
  }
  uint8_t* out = result.MutableData();
  const int64_t width = Info(inst.shape().element_type()).host_bytes();
  HLO_CHECK_OK(
      ForEachPiece(callee, 0, inst.shape().ElementCount(), kPiece, [&](int64_t begin, int64_t end) -> Status {
        ScalarCaller caller(callee);
        llvm::SmallVector<const void*> arguments;
        for (const Literal& input : inputs)
          arguments.push_back(input.data() + begin * Info(input.shape().element_type()).host_bytes());
        return caller.Run(arguments, {out + begin * width}, end - begin);
      }));
  return result;
}

}  // namespace hlo

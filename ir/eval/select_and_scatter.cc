// select-and-scatter (ops-structured §4.3): each window of the operand picks an element, which receives
// the source value.
#include "ir/eval/fold_kernels.h"
#include "ir/eval/scalar_callee.h"
#include "ir/eval/window_index.h"
#include "ir/support/interrupt.h"

namespace hlo {
namespace {

/// The operand element each window selects; -1 where no position is in bounds.
Result<std::vector<int64_t>> SelectElements(const ScalarCallee& select, const Window& window,
                                            const Literal& operand, llvm::ArrayRef<int64_t> outputs,
                                            int64_t count) {
  constexpr int64_t kOutputs = 256;
  const WindowIndex index(window, operand.shape().dims(), outputs);
  const auto width = static_cast<size_t>(Info(operand.shape().element_type()).host_bytes());
  std::vector<int64_t> selected(static_cast<size_t>(count), -1);
  const std::vector<int64_t> order = SelectionOrder(window, operand.shape().dims(), outputs);
  HLO_CHECK_OK(ForEachPiece(select, 0, count, kOutputs, [&](int64_t begin, int64_t end) -> Status {
    ScalarCaller caller(select);
    WindowIndex::Block block(index, begin, end);
    std::vector<uint8_t> current(kOutputs * width), next(kOutputs * width), keep(kOutputs);
    std::vector<WindowIndex::Read> rivals;
    int64_t seen = 0;
    for (const int64_t position : order) {
      rivals.clear();
      for (const WindowIndex::Read& read : block.InBounds(position)) {
        int64_t& chosen = selected[static_cast<size_t>(read.output)];
        if (chosen < 0) {
          chosen = read.base;
          continue;
        }
        std::memcpy(current.data() + rivals.size() * width,
                    operand.data() + static_cast<size_t>(chosen) * width, width);
        std::memcpy(next.data() + rivals.size() * width,
                    operand.data() + static_cast<size_t>(read.base) * width, width);
        rivals.push_back(read);
      }
      if (rivals.empty()) continue;
      HLO_CHECK_OK(
          caller.Run({current.data(), next.data()}, {keep.data()}, static_cast<int64_t>(rivals.size())));
      for (size_t i = 0; i < rivals.size(); ++i)
        if (keep[i] == 0) selected[static_cast<size_t>(rivals[i].output)] = rivals[i].base;
      if ((++seen & 255) == 0 && Interrupted()) return Error(InterruptedError());
    }
    return {};
  }));
  return selected;
}

template <class T>
void ScatterSum(llvm::ArrayRef<int64_t> selected, const Literal& source, Literal& result) {
  auto out = result.MutableSpan<T>();
  const auto in = source.Data<T>();
  for (size_t i = 0; i < selected.size(); ++i)
    if (selected[i] >= 0) out[static_cast<size_t>(selected[i])] += in[i];
}

/// result[selected[i]] = scatter(result[selected[i]], source[i]) in order of i.
Status Scatter(const ScalarCallee& scatter, llvm::ArrayRef<int64_t> selected, const Literal& source,
               Literal& result) {
  const ElementType type = result.shape().element_type();
  if (scatter.SingleOp() == OpKind::Add) {
    if (type == ElementType::F32) return ScatterSum<float>(selected, source, result), Status{};
    if (type == ElementType::F64) return ScatterSum<double>(selected, source, result), Status{};
    if (type == ElementType::S32 || type == ElementType::U32)
      return ScatterSum<uint32_t>(selected, source, result), Status{};
  }
  ScalarCaller caller(scatter);
  const int64_t width = Info(type).host_bytes();
  uint8_t* out = result.MutableData();
  for (size_t i = 0; i < selected.size(); ++i) {
    if (selected[i] < 0) continue;
    uint8_t* element = out + selected[i] * width;
    HLO_CHECK_OK(caller.Run({element, source.data() + static_cast<int64_t>(i) * width}, {element}, 1));
    if ((i & 4095) == 4095 && Interrupted()) return Error(InterruptedError());
  }
  return {};
}

}  // namespace

Result<Literal> EvalSelectAndScatter(EvalContext& context, const Instruction& inst,
                                     llvm::MutableArrayRef<Literal> operands) {
  // Padding of dynamic dimensions takes no part (ops-structured §13).
  if (AnyDynamic(operands)) MakeAllStatic(operands);
  const ScalarCallee select(context, *inst.callee(0)), scatter(context, *inst.callee(1));
  const ElementType type = inst.shape().element_type(), work = scatter.parameter_types()[0];
  const Literal operand = WithElementType(operands[0], select.parameter_types()[0]);
  const Literal source = WithElementType(operands[1], scatter.parameter_types()[1]),
                init = WithElementType(operands[2], work);
  HLO_TRY(const std::vector<int64_t> selected,
          SelectElements(select, inst.attr<SelectAndScatterAttrs>().window, operand, source.shape().dims(),
                         source.shape().ElementCount()));
  Literal result = Literal::Make(operand.shape().WithElementType(work));
  uint8_t* out = result.MutableData();
  for (size_t i = 0; i < result.byte_size(); i += init.byte_size())
    std::memcpy(out + i, init.data(), init.byte_size());
  HLO_CHECK_OK(Scatter(scatter, selected, source, result));
  HLO_CHECK_OK(context.CheckInterrupt());
  return ToBounded(WithElementType(result, type), inst.shape());
}

}  // namespace hlo

// reduce-window (ops-structured §4.2): a fold over the in-bounds positions of each window.
#include "ir/eval/gemm.h"
#include "ir/eval/scalar_callee.h"
#include "ir/eval/window_fold.h"
#include "ir/eval/window_index.h"
#include "ir/support/interrupt.h"

namespace hlo {
namespace {

struct Inputs {
  std::vector<Literal> arrays, inits;
};

/// The one dimension whose windows all start at or before element 0, if all others are trivial: its
/// outputs are the values a single fold passes through.
std::optional<size_t> PrefixDimension(const Window& window, llvm::ArrayRef<int64_t> outputs) {
  std::optional<size_t> found;
  for (size_t d = 0; d < window.dims.size(); ++d) {
    const WindowDim& w = window.dims[d];
    if (w == WindowDim{}) continue;
    const bool prefix =
        w.base_dilation == 1 && w.window_dilation == 1 && (outputs[d] - 1) * w.stride <= w.pad_low;
    if (found || !prefix) return std::nullopt;
    found = d;
  }
  return found;
}

/// Windows that are prefixes: each line along the dimension is folded once, in order.
class PrefixFold {
 public:
  PrefixFold(const ScalarCallee& callee, const WindowDim& w, size_t dim, const Inputs& inputs,
             llvm::MutableArrayRef<Literal> results)
      : callee_(callee), w_(w), inputs_(inputs) {
    const auto dims = inputs.arrays[0].shape().dims();
    n_ = dims[dim];
    outputs_ = results[0].shape().dim(static_cast<int64_t>(dim));
    for (size_t d = 0; d < dims.size(); ++d) {
      if (d < dim) outer_ *= dims[d];
      if (d > dim) inner_ *= dims[d];
    }
    for (Literal& r : results) outs_.push_back(r.MutableData());
  }

  Status Run() {
    constexpr int64_t kLines = 128;
    return ForEachPiece(callee_, 0, outer_ * inner_, kLines,
                        [&](int64_t begin, int64_t end) { return RunLines(begin, end); });
  }

 private:
  /// Offset, in elements, of a line in an array with `size` rows along the dimension.
  [[nodiscard]] int64_t LineOffset(int64_t line, int64_t size) const {
    return line / inner_ * size * inner_ + line % inner_;
  }

  Status RunLines(int64_t begin, int64_t end) {
    const size_t n_inputs = inputs_.arrays.size();
    const int64_t lines = end - begin;
    ScalarCaller caller(callee_);
    std::vector<std::vector<uint8_t>> acc(n_inputs), x(n_inputs);
    llvm::SmallVector<const void*> arguments(2 * n_inputs);
    llvm::SmallVector<void*> results(n_inputs);
    llvm::SmallVector<int64_t> widths;
    for (size_t k = 0; k < n_inputs; ++k) {
      const Literal& init = inputs_.inits[k];
      widths.push_back(static_cast<int64_t>(init.byte_size()));
      acc[k].resize(static_cast<size_t>(lines) * init.byte_size());
      x[k].resize(acc[k].size());
      for (size_t i = 0; i < acc[k].size(); i += init.byte_size())
        std::memcpy(acc[k].data() + i, init.data(), init.byte_size());
      arguments[k] = results[k] = acc[k].data();
      arguments[n_inputs + k] = x[k].data();
    }
    int64_t folded = 0;
    for (int64_t o = 0; o < outputs_; ++o) {
      for (const int64_t limit = std::clamp<int64_t>(o * w_.stride - w_.pad_low + w_.size, 0, n_);
           folded < limit; ++folded) {
        for (size_t k = 0; k < n_inputs; ++k)
          for (int64_t i = 0; i < lines; ++i)
            std::memcpy(x[k].data() + i * widths[k],
                        inputs_.arrays[k].data() + (LineOffset(begin + i, n_) + folded * inner_) * widths[k],
                        static_cast<size_t>(widths[k]));
        HLO_CHECK_OK(caller.Run(arguments, results, lines));
        if ((folded & 255) == 0 && Interrupted()) return Error(InterruptedError());
      }
      for (size_t k = 0; k < n_inputs; ++k)
        for (int64_t i = 0; i < lines; ++i)
          std::memcpy(outs_[k] + (LineOffset(begin + i, outputs_) + o * inner_) * widths[k],
                      acc[k].data() + i * widths[k], static_cast<size_t>(widths[k]));
    }
    return {};
  }

  const ScalarCallee& callee_;
  const WindowDim& w_;
  const Inputs& inputs_;
  std::vector<uint8_t*> outs_;
  int64_t n_ = 0, outputs_ = 0, outer_ = 1, inner_ = 1;
};

/// Any reducer: blocks of outputs go through the window positions together.
Status GeneralFold(const ScalarCallee& callee, const Window& window, const Inputs& inputs,
                   llvm::MutableArrayRef<Literal> results) {
  constexpr int64_t kOutputs = 256;
  const WindowIndex index(window, inputs.arrays[0].shape().dims(), results[0].shape().dims());
  const size_t n_inputs = inputs.arrays.size();
  std::vector<uint8_t*> outs;
  for (Literal& r : results) outs.push_back(r.MutableData());
  return ForEachPiece(
      callee, 0, results[0].shape().ElementCount(), kOutputs, [&](int64_t begin, int64_t end) -> Status {
        ScalarCaller caller(callee);
        WindowIndex::Block block(index, begin, end);
        std::vector<std::vector<uint8_t>> acc(n_inputs), x(n_inputs);
        llvm::SmallVector<const void*> arguments(2 * n_inputs);
        llvm::SmallVector<void*> accumulators(n_inputs);
        llvm::SmallVector<int64_t> widths;
        for (size_t k = 0; k < n_inputs; ++k) {
          const Literal& init = inputs.inits[k];
          widths.push_back(static_cast<int64_t>(init.byte_size()));
          acc[k].resize(kOutputs * init.byte_size());
          x[k].resize(kOutputs * init.byte_size());
          for (int64_t i = begin; i < end; ++i)
            std::memcpy(outs[k] + i * widths[k], init.data(), init.byte_size());
          arguments[k] = accumulators[k] = acc[k].data();
          arguments[n_inputs + k] = x[k].data();
        }
        for (int64_t position = 0; position < index.position_count(); ++position) {
          const auto reads = block.InBounds(position);  // (output, base element) pairs
          for (size_t k = 0; k < n_inputs; ++k)
            for (size_t i = 0; i < reads.size(); ++i) {
              const auto width = static_cast<size_t>(widths[k]);
              std::memcpy(acc[k].data() + i * width, outs[k] + reads[i].output * widths[k], width);
              std::memcpy(x[k].data() + i * width, inputs.arrays[k].data() + reads[i].base * widths[k],
                          width);
            }
          if (reads.empty()) continue;
          HLO_CHECK_OK(caller.Run(arguments, accumulators, static_cast<int64_t>(reads.size())));
          for (size_t k = 0; k < n_inputs; ++k)
            for (size_t i = 0; i < reads.size(); ++i)
              std::memcpy(outs[k] + reads[i].output * widths[k],
                          acc[k].data() + i * static_cast<size_t>(widths[k]), static_cast<size_t>(widths[k]));
          if ((position & 255) == 255 && Interrupted()) return Error(InterruptedError());
        }
        return {};
      });
}

Status Fold(const ScalarCallee& callee, const Window& window, const Inputs& inputs,
            llvm::MutableArrayRef<Literal> results) {
  const auto op = inputs.arrays.size() == 1 ? callee.SingleOp() : std::nullopt;
  const FoldKernels* kernels = op ? FindFoldKernels(*op, inputs.arrays[0].shape().element_type()) : nullptr;
  const auto prefix = PrefixDimension(window, results[0].shape().dims());
  int64_t positions = 1;
  for (const WindowDim& w : window.dims) positions *= w.size;
  // Where partial results are rounded the order is kept unless that costs too much.
  const bool rounds =
      kernels && (kernels->sequential || (op == OpKind::Add && kernels->source == ElementType::F64));
  if (kernels && (!rounds || (!prefix && positions > 64))) {
    WindowFold(*kernels, window, inputs.arrays[0], inputs.inits[0], results[0]);
    return {};
  }
  if (prefix) return PrefixFold(callee, window.dims[*prefix], *prefix, inputs, results).Run();
  return GeneralFold(callee, window, inputs, results);
}

}  // namespace

Result<Literal> EvalReduceWindow(EvalContext& context, const Instruction& inst,
                                 llvm::MutableArrayRef<Literal> operands) {
  // Padding of dynamic dimensions takes no part (ops-structured §13).
  if (AnyDynamic(operands))
    PadToCommonSizes(operands.take_front(operands.size() / 2), operands.take_back(operands.size() / 2));
  const ScalarCallee callee(context, *inst.callee());
  const Window& window = inst.attr<ReduceWindowAttrs>().window;
  const size_t n = operands.size() / 2;
  Dims dims;
  for (size_t d = 0; d < window.dims.size(); ++d)
    dims.push_back(WindowOutputSize(window.dims[d], operands[0].shape().dims()[d]));
  Inputs inputs;
  std::vector<Literal> results;
  for (size_t k = 0; k < n; ++k) {
    inputs.arrays.push_back(WithElementType(operands[k], callee.parameter_types()[n + k]));
    inputs.inits.push_back(WithElementType(operands[n + k], callee.parameter_types()[k]));
    results.push_back(Literal::Make(Shape::ArrayWithDefaultLayout(callee.result_types()[k], dims)));
  }
  HLO_CHECK_OK(Fold(callee, window, inputs, results));
  HLO_CHECK_OK(context.CheckInterrupt());
  return ToBounded(inst.shape().IsTuple() ? Literal::MakeTuple(std::move(results)) : results[0],
                   inst.shape());
}

}  // namespace hlo

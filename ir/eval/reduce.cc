// reduce (ops-structured §4.1): a fold of each output's elements in row-major order, starting from init.
#include "ir/eval/compute_type.h"
#include "ir/eval/fold_kernels.h"
#include "ir/eval/gemm.h"
#include "ir/eval/scalar_callee.h"
#include "ir/support/interrupt.h"
#include "ir/support/parallel.h"

namespace hlo {
namespace {

constexpr int64_t kBlock = 1024;  // elements folded at a time

/// The input as nested loops, neighbouring dimensions of one kind merged.
struct ReduceLoops {
  llvm::SmallVector<Axis> kept, reduced;  // outermost first; without the innermost loop
  int64_t inner = 1;                      // extent of the innermost loop, whose stride is 1
  bool inner_kept = true;
};

ReduceLoops MakeLoops(llvm::ArrayRef<int64_t> sizes, llvm::ArrayRef<int64_t> reduced_dims, int64_t parts) {
  ReduceLoops loops;
  struct Group {
    Axis axis;
    bool kept;
  };
  llvm::SmallVector<Group> groups;  // innermost first
  if (parts > 1) groups.push_back({{parts, 1}, true});
  int64_t stride = parts;
  for (auto d = static_cast<int64_t>(sizes.size()); d-- > 0;) {
    const int64_t size = sizes[static_cast<size_t>(d)];
    const bool kept = !llvm::is_contained(reduced_dims, d);
    if (size == 1) continue;
    if (!groups.empty() && groups.back().kept == kept)
      groups.back().axis.size *= size;
    else
      groups.push_back({{size, stride}, kept});
    stride *= size;
  }
  if (!groups.empty()) {
    loops.inner = groups[0].axis.size;
    loops.inner_kept = groups[0].kept;
  }
  for (size_t g = groups.size(); g-- > 1;)
    (groups[g].kept ? loops.kept : loops.reduced).push_back(groups[g].axis);
  return loops;
}

/// A reduction by one op in typed loops.
class SimpleReduction {
 public:
  SimpleReduction(const FoldKernels& kernels, const Literal& input, const Literal& init,
                  llvm::ArrayRef<int64_t> dims, Literal& result)
      : kernels_(kernels),
        type_(RealPartType(input.shape().element_type())),
        parts_(IsComplex(input.shape().element_type()) ? 2 : 1),
        width_(Info(type_).host_bytes()),
        loops_(MakeLoops(input.shape().dims(), dims, parts_)),
        kept_(FlattenAxes(loops_.kept)),
        input_(input.data()),
        init_(init.data()),
        out_(result.MutableData()) {
    acc_width_ = Info(kernels.accumulator).host_bytes();
    source_width_ = Info(kernels.source).host_bytes();
    MergeNarrowRows();
    reduced_ = FlattenAxes(loops_.reduced);
  }

  void Run() {
    const int64_t row = loops_.inner_kept ? loops_.inner : 1;
    blocks_ = (row + kBlock - 1) / kBlock;
    if (row == 0 || kept_.empty()) return;
    const int64_t tasks = static_cast<int64_t>(kept_.size()) * blocks_;
    const int64_t steps = StepCount(), elements = steps * loops_.inner * static_cast<int64_t>(kept_.size());
    // With few outputs the reduced elements are divided, too: into chunks that depend on sizes only.
    if (tasks < 16 && elements >= 1 << 17 && !kernels_.sequential) {
      chunks_ = std::clamp<int64_t>(elements / tasks >> 15, 1, 64);
      return RunChunked(tasks);
    }
    const int64_t cost = std::max<int64_t>(1, elements / std::max<int64_t>(tasks, 1));
    ParallelFor(0, tasks, std::max<int64_t>(1, (1 << 15) / cost), [&](int64_t begin, int64_t end) {
      Buffers buffers(*this);
      for (int64_t t = begin; t < end && !Interrupted(); ++t) {
        InitAccumulators(t, buffers.acc.get());
        Fold(t, 0, steps, buffers);
        Store(t, buffers.acc.get());
      }
    });
  }

 private:
  struct Buffers {
    std::shared_ptr<uint8_t> acc, load, wide;
    explicit Buffers(const SimpleReduction& r)
        : acc(AllocateAligned<uint8_t>(kBlock * r.acc_width_)),
          load(AllocateAligned<uint8_t>(kBlock * r.source_width_)),
          wide(AllocateAligned<uint8_t>(r.fold_rows_ > 1 ? kBlock * r.acc_width_ : 1)) {}
  };

  /// Rows much shorter than a block: several consecutive ones fold as one wide row, whose pieces are
  /// merged at the end.
  void MergeNarrowRows() {
    if (!loops_.inner_kept || kernels_.sequential || loops_.inner > kBlock / 4 || loops_.reduced.empty())
      return;
    Axis& last = loops_.reduced.back();
    if (last.stride != loops_.inner || last.size < 2 || loops_.inner == 0) return;
    row_count_ = last.size;
    fold_rows_ = std::min(last.size, kBlock / loops_.inner);
    loops_.reduced.pop_back();
  }

  /// Units in which the reduced positions are divided into chunks.
  [[nodiscard]] int64_t StepCount() const {
    const auto outer = static_cast<int64_t>(reduced_.size());
    if (fold_rows_ > 1) return outer * row_count_;
    return loops_.inner_kept ? outer : outer * ((loops_.inner + kBlock - 1) / kBlock);
  }

  struct Piece {
    int64_t offset, begin, size;  // input offset of the task's row; columns of it
  };
  [[nodiscard]] Piece PieceOf(int64_t task) const {
    const int64_t row = task / blocks_, begin = task % blocks_ * kBlock;
    const int64_t size = loops_.inner_kept ? std::min(kBlock, loops_.inner - begin) : 1;
    return {kept_[static_cast<size_t>(row)], begin, size};
  }

  void InitAccumulators(int64_t task, uint8_t* acc) const {
    const Piece piece = PieceOf(task);
    LoadAccumulators(kernels_, type_, init_, parts_, acc);
    for (int64_t j = parts_; j < piece.size; ++j)
      std::memcpy(acc + j * acc_width_, acc + (j - parts_) * acc_width_, static_cast<size_t>(acc_width_));
  }

  void Store(int64_t task, const uint8_t* acc) const {
    const Piece piece = PieceOf(task);
    const int64_t row = loops_.inner_kept ? loops_.inner : 1;
    StoreFolded(kernels_, acc, type_, piece.size, out_ + (task / blocks_ * row + piece.begin) * width_);
  }

  const void* Load(int64_t offset, int64_t count, Buffers& buffers) const {
    return LoadForFold(kernels_, type_, input_ + offset * width_, count, buffers.load.get());
  }

  /// Folds steps [begin, end) into the accumulators.
  void Fold(int64_t task, int64_t begin, int64_t end, Buffers& buffers) const {
    const Piece piece = PieceOf(task);
    uint8_t* acc = buffers.acc.get();
    if (fold_rows_ > 1) return FoldNarrow(piece, begin, end, buffers);
    if (loops_.inner_kept) {
      for (int64_t s = begin; s < end; ++s)
        kernels_.row(acc,
                     Load(piece.offset + reduced_[static_cast<size_t>(s)] + piece.begin, piece.size, buffers),
                     piece.size);
      return;
    }
    const int64_t runs = (loops_.inner + kBlock - 1) / kBlock;
    const bool direct = Info(type_).bits == Info(kernels_.source).bits;
    for (int64_t s = begin; s < end;) {
      const int64_t r = s / runs, first = s % runs,
                    last = direct ? std::min(runs, first + end - s) : first + 1;
      const int64_t column = first * kBlock, count = std::min(loops_.inner, last * kBlock) - column;
      kernels_.run(acc, Load(piece.offset + reduced_[static_cast<size_t>(r)] + column, count, buffers),
                   count);
      s += last - first;
    }
  }

  void FoldNarrow(const Piece& piece, int64_t begin, int64_t end, Buffers& buffers) const {
    const int64_t inner = loops_.inner, width = fold_rows_ * inner;
    uint8_t* wide = buffers.wide.get();
    kernels_.clear(wide, width);
    for (int64_t s = begin; s < end;) {
      const int64_t r = s / row_count_, first = s % row_count_;
      const int64_t rows = std::min({fold_rows_, row_count_ - first, end - s});
      const int64_t offset = piece.offset + reduced_[static_cast<size_t>(r)] + first * inner;
      kernels_.row(wide, Load(offset, rows * inner, buffers), rows * inner);
      s += rows;
    }
    for (int64_t r = 0; r < fold_rows_; ++r)
      kernels_.merge(buffers.acc.get(), wide + r * inner * acc_width_, inner);
  }

  void RunChunked(int64_t tasks) {
    const int64_t steps = StepCount(), chunk = (steps + chunks_ - 1) / chunks_, stride = kBlock * acc_width_;
    auto partial = AllocateAligned<uint8_t>(tasks * chunks_ * stride);
    ParallelFor(0, tasks * chunks_, 1, [&](int64_t begin, int64_t end) {
      Buffers buffers(*this);
      for (int64_t i = begin; i < end && !Interrupted(); ++i) {
        const int64_t task = i / chunks_, c = i % chunks_, size = PieceOf(task).size;
        kernels_.clear(buffers.acc.get(), size);
        Fold(task, std::min(steps, c * chunk), std::min(steps, (c + 1) * chunk), buffers);
        std::memcpy(partial.get() + i * stride, buffers.acc.get(), static_cast<size_t>(size * acc_width_));
      }
    });
    Buffers buffers(*this);
    for (int64_t task = 0; task < tasks; ++task) {
      InitAccumulators(task, buffers.acc.get());
      for (int64_t c = 0; c < chunks_; ++c)
        kernels_.merge(buffers.acc.get(), partial.get() + (task * chunks_ + c) * stride, PieceOf(task).size);
      Store(task, buffers.acc.get());
    }
  }

  const FoldKernels& kernels_;
  ElementType type_;
  int64_t parts_, width_;
  ReduceLoops loops_;
  Offsets kept_, reduced_;
  const uint8_t* input_;
  const uint8_t* init_;
  uint8_t* out_;
  int64_t acc_width_ = 0, source_width_ = 0;
  int64_t blocks_ = 1, chunks_ = 1;
  int64_t fold_rows_ = 1, row_count_ = 1;
};

/// Copies elements at base + offsets[i] into a dense buffer.
void Gather(const uint8_t* base, const int64_t* offsets, int64_t n, int64_t width, uint8_t* out) {
  const auto typed = [&]<class T>(T) {
    const auto* from = reinterpret_cast<const T*>(base);
    auto* to = reinterpret_cast<T*>(out);
    for (int64_t i = 0; i < n; ++i) to[i] = from[offsets[i]];
  };
  switch (width) {
    case 1: return typed(uint8_t{});
    case 2: return typed(uint16_t{});
    case 4: return typed(uint32_t{});
    case 8: return typed(uint64_t{});
    default: return typed(std::array<uint64_t, 2>{});
  }
}

/// Any reducer, any number of inputs: blocks of outputs advance together through the reduced positions.
Status GeneralReduction(const ScalarCallee& callee, llvm::ArrayRef<Literal> inputs,
                        llvm::ArrayRef<Literal> inits, llvm::ArrayRef<int64_t> dims,
                        llvm::MutableArrayRef<Literal> results) {
  constexpr int64_t kOutputs = 256;
  ReduceLoops loops = MakeLoops(inputs[0].shape().dims(), dims, 1);
  (loops.inner_kept ? loops.kept : loops.reduced).push_back({loops.inner, 1});
  const Offsets kept = FlattenAxes(loops.kept), reduced = FlattenAxes(loops.reduced);
  const size_t n_inputs = inputs.size();
  std::vector<uint8_t*> outs;
  for (Literal& r : results) outs.push_back(r.MutableData());
  return ForEachPiece(callee, 0, static_cast<int64_t>(kept.size()), kOutputs,
                      [&](int64_t begin, int64_t end) -> Status {
                        ScalarCaller caller(callee);
                        const int64_t n = end - begin;
                        const int64_t* offsets = kept.data() + begin;
                        bool consecutive = true;
                        for (int64_t i = 1; i < n; ++i) consecutive &= offsets[i] == offsets[i - 1] + 1;
                        llvm::SmallVector<const void*> arguments(2 * n_inputs);
                        llvm::SmallVector<void*> accumulators(n_inputs);
                        std::vector<std::shared_ptr<uint8_t>> gathered;
                        llvm::SmallVector<int64_t> widths;
                        for (size_t k = 0; k < n_inputs; ++k) {
                          const int64_t width = Info(inputs[k].shape().element_type()).host_bytes();
                          widths.push_back(width);
                          auto* acc = outs[k] + begin * width;
                          for (int64_t i = 0; i < n; ++i)
                            std::memcpy(acc + i * width, inits[k].data(), static_cast<size_t>(width));
                          accumulators[k] = acc;
                          arguments[k] = acc;
                          gathered.push_back(AllocateAligned<uint8_t>(n * width));
                        }
                        int64_t steps = 0;
                        for (const int64_t r : reduced) {
                          for (size_t k = 0; k < n_inputs; ++k) {
                            const uint8_t* data = inputs[k].data() + r * widths[k];
                            if (consecutive) {
                              arguments[n_inputs + k] = data + offsets[0] * widths[k];
                            } else {
                              Gather(data, offsets, n, widths[k], gathered[k].get());
                              arguments[n_inputs + k] = gathered[k].get();
                            }
                          }
                          HLO_CHECK_OK(caller.Run(arguments, accumulators, n));
                          if ((++steps & 1023) == 0 && Interrupted()) return Error(InterruptedError());
                        }
                        return {};
                      });
}

/// Static operands of the types of the reducer's parameters.
Result<Literal> ReduceStatic(EvalContext& context, const Instruction& inst,
                             llvm::ArrayRef<Literal> operands) {
  const ScalarCallee callee(context, *inst.callee());
  const size_t n = operands.size() / 2;
  const auto& dims = inst.attr<ReduceAttrs>().dimensions;
  std::vector<Literal> inputs, inits, results;
  Dims result_dims;
  for (int64_t d = 0; d < operands[0].shape().rank(); ++d)
    if (!llvm::is_contained(dims, d)) result_dims.push_back(operands[0].shape().dim(d));
  for (size_t k = 0; k < n; ++k) {
    inputs.push_back(WithElementType(operands[k], callee.parameter_types()[n + k]));
    inits.push_back(WithElementType(operands[n + k], callee.parameter_types()[k]));
    results.push_back(Literal::Make(Shape::ArrayWithDefaultLayout(callee.result_types()[k], result_dims)));
  }
  const auto op = n == 1 ? callee.SingleOp() : std::nullopt;
  const FoldKernels* kernels = op ? FindFoldKernels(*op, inputs[0].shape().element_type()) : nullptr;
  if (kernels)
    SimpleReduction(*kernels, inputs[0], inits[0], dims, results[0]).Run();
  else
    HLO_CHECK_OK(GeneralReduction(callee, inputs, inits, dims, results));
  HLO_CHECK_OK(context.CheckInterrupt());
  return inst.shape().IsTuple() ? Literal::MakeTuple(std::move(results)) : results[0];
}

}  // namespace

Result<Literal> EvalReduce(EvalContext& context, const Instruction& inst,
                           llvm::MutableArrayRef<Literal> operands) {
  // Padding of dynamic dimensions takes no part (ops-structured §13).
  if (AnyDynamic(operands))
    PadToCommonSizes(operands.take_front(operands.size() / 2), operands.take_back(operands.size() / 2));
  HLO_TRY(Literal result, ReduceStatic(context, inst, operands));
  return ToBounded(result, inst.shape());
}

}  // namespace hlo

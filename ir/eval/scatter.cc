// scatter: windows of the updates combined into the operands, in row-major order of the index rows
// (ops-elementwise §10.7). Windows that do not fit are skipped whole.
#include <algorithm>
#include <array>
#include <mutex>
#include <numeric>

#include "ir/eval/elementwise.h"
#include "ir/eval/eval.h"
#include "ir/eval/index_windows.h"
#include "ir/eval/scalar_function.h"
#include "ir/eval/strided_copy.h"
#include "ir/support/parallel.h"

namespace hlo {
namespace {

using CopyDims = llvm::SmallVector<CopyDim, 6>;  // "to" is the operand, "from" the updates

/// One operand with its updates; elements of both have the combiner's parameter types.
struct Array {
  uint8_t* to;
  const uint8_t* from;
  int to_width, from_width;
};

/// Combines elements that lie anywhere, a block at a time. Within a block all targets differ, so that
/// the order of updates to one element is kept.
class ElementCombiner {
 public:
  ElementCombiner(const ScalarFunction& function, llvm::ArrayRef<Array> arrays)
      : runner_(function), arrays_(arrays) {
    for (const Array& a : arrays) {
      current_.emplace_back().resize_for_overwrite(static_cast<size_t>(kBlock * a.to_width));
      updates_.emplace_back().resize_for_overwrite(static_cast<size_t>(kBlock * a.from_width));
    }
    seen_.fill(0);
  }
  ~ElementCombiner() { Flush(); }
  ElementCombiner(const ElementCombiner&) = delete;
  ElementCombiner& operator=(const ElementCombiner&) = delete;

  void Add(int64_t to, int64_t from) {
    uint32_t& stamp = seen_[static_cast<uint64_t>(to) * 0x9E3779B97F4A7C15u >> (64 - kTableBits)];
    if (stamp == round_ || count_ == kBlock) {
      Flush();
      if (++round_ == 0) {
        seen_.fill(0);
        round_ = 1;
      }
    }
    stamp = round_;
    to_[static_cast<size_t>(count_)] = to;
    from_[static_cast<size_t>(count_)] = from;
    ++count_;
  }

 private:
  static constexpr int64_t kBlock = 256;
  static constexpr int kTableBits = 12;

  void Move(uint8_t* to, const uint8_t* from, int width) {
    std::memcpy(to, from, static_cast<size_t>(width));
  }

  void Flush() {
    llvm::SmallVector<const void*, 4> arguments;
    llvm::SmallVector<void*, 4> results;
    for (size_t k = 0; k < arrays_.size(); ++k) {
      const Array& a = arrays_[k];
      for (int64_t i = 0; i < count_; ++i) {
        const auto n = static_cast<size_t>(i);
        Move(current_[k].data() + i * a.to_width, a.to + to_[n] * a.to_width, a.to_width);
        Move(updates_[k].data() + i * a.from_width, a.from + from_[n] * a.from_width, a.from_width);
      }
      arguments.push_back(current_[k].data());
      results.push_back(current_[k].data());
    }
    for (const auto& u : updates_) arguments.push_back(u.data());
    if (count_ > 0) runner_.Run(arguments, results, count_);
    for (size_t k = 0; k < arrays_.size(); ++k) {
      const Array& a = arrays_[k];
      for (int64_t i = 0; i < count_; ++i)
        Move(a.to + to_[static_cast<size_t>(i)] * a.to_width, current_[k].data() + i * a.to_width,
             a.to_width);
    }
    count_ = 0;
  }

  ScalarRunner runner_;
  llvm::ArrayRef<Array> arrays_;
  std::vector<llvm::SmallVector<uint8_t, 0>> current_, updates_;
  std::array<int64_t, kBlock> to_{}, from_{};
  std::array<uint32_t, 1 << kTableBits> seen_{};
  uint32_t round_ = 1;
  int64_t count_ = 0;
};

/// Calls f(to, from) for the offsets of all positions of the dimensions.
template <class F>
void ForEachPosition(llvm::ArrayRef<CopyDim> dims, int64_t to, int64_t from, F& f) {
  if (dims.empty()) {
    f(to, from);
    return;
  }
  for (int64_t i = 0; i < dims[0].size; ++i)
    ForEachPosition(dims.drop_front(), to + i * dims[0].to_stride, from + i * dims[0].from_stride, f);
}

class Scatter {
 public:
  /// `has_targets`: the operands have elements; else no window lies inside.
  Scatter(EvalContext& context, const IndexWindows& windows, std::vector<Array> arrays, bool has_targets)
      : context_(context), windows_(windows), arrays_(std::move(arrays)), has_targets_(has_targets) {
    for (const auto& d : windows.window()) dims_.push_back({d.size, d.operand_stride, d.target_stride});
    for (const CopyDim& d : dims_) window_count_ *= d.size;
    dims_ = NormaliseCopy(dims_);
  }

  /// f(to, from) for every window that lies inside, in order; may stop at an interrupt.
  template <class F>
  Status ForEachWindow(F f) {
    constexpr int64_t kRows = 1 << 16;
    if (window_count_ == 0 || !has_targets_) return {};
    for (int64_t begin = 0; begin < windows_.row_count(); begin += kRows) {
      const int64_t end = std::min(begin + kRows, windows_.row_count());
      windows_.ForEachRow(begin, end, /*clamp=*/false, [&](const IndexWindows::Row& row) {
        if (row.inside) f(row.operand_offset, row.target_offset);
      });
      HLO_CHECK_OK(context_.CheckInterrupt());
    }
    return {};
  }

  /// The combiner returns its second parameter.
  [[gnu::noinline]] Status Overwrite() {
    const WindowCopy copy(arrays_[0].to_width, dims_);
    const Array& a = arrays_[0];
    return ForEachWindow(
        [&](int64_t to, int64_t from) { copy.Run(a.to + to * a.to_width, a.from + from * a.from_width); });
  }

  [[gnu::noinline]] Status Combine(const ScalarFunction& function) {
    constexpr int64_t kLongRun = 8;
    if (!dims_.empty() && dims_.back().to_stride == 1 && dims_.back().from_stride == 1 &&
        dims_.back().size >= kLongRun)
      return CombineRuns(function);
    ElementCombiner combiner(function, arrays_);
    auto add = [&](int64_t to, int64_t from) { combiner.Add(to, from); };
    return ForEachWindow(
        [&](int64_t to, int64_t from) { ForEachPosition(llvm::ArrayRef(dims_), to, from, add); });
  }

  llvm::ArrayRef<CopyDim> dims() const { return dims_; }

 private:
  /// Whether runs of so many elements are the same or do not meet: no element is in different columns of two.
  [[nodiscard]] bool HasColumns(int64_t run) {
    int64_t first = -1, apart = 0;  // all starts are multiples of it away from the first
    auto look = [&](int64_t to, int64_t) {
      if (first < 0) first = to;
      apart = std::gcd(apart, to - first);
    };
    const Status status = ForEachWindow([&](int64_t to, int64_t from) {
      ForEachPosition(llvm::ArrayRef(dims_).drop_back(), to, from, look);
    });
    return status && (apart == 0 || apart >= run);
  }

  /// Long runs are combined where they lie; threads share them by columns, so that each element sees its
  /// updates in order.
  Status CombineRuns(const ScalarFunction& function) {
    const int64_t run = dims_.back().size;
    const bool much = run * windows_.row_count() > 1 << 17 && ThreadCount() > 1 && HasColumns(run);
    const int64_t pieces = int64_t{2} * ThreadCount();
    const int64_t grain = much ? std::max<int64_t>(128, (run + pieces - 1) / pieces) : run;
    std::optional<Diagnostic> stopped;
    std::mutex mutex;
    ParallelFor(0, run, grain, [&](int64_t begin, int64_t end) {
      ScalarRunner runner(function);
      llvm::SmallVector<const void*, 4> arguments(arrays_.size() * 2);
      llvm::SmallVector<void*, 4> results(arrays_.size());
      auto combine = [&](int64_t to, int64_t from) {
        for (size_t k = 0; k < arrays_.size(); ++k) {
          const Array& a = arrays_[k];
          results[k] = a.to + (to + begin) * a.to_width;
          arguments[k] = results[k];
          arguments[arrays_.size() + k] = a.from + (from + begin) * a.from_width;
        }
        runner.Run(arguments, results, end - begin);
      };
      const Status status = ForEachWindow([&](int64_t to, int64_t from) {
        ForEachPosition(llvm::ArrayRef(dims_).drop_back(), to, from, combine);
      });
      if (status) return;
      const std::lock_guard lock(mutex);
      stopped = status.error();
    });
    if (stopped) return Error(*stopped);
    return {};
  }

  EvalContext& context_;
  const IndexWindows& windows_;
  std::vector<Array> arrays_;
  bool has_targets_;
  CopyDims dims_;
  int64_t window_count_ = 1;
};

/// One interpreter call per element, for combiners with control flow and the like.
Status CombineByCalls(EvalContext& context, const Computation& combiner, Scatter& scatter,
                      llvm::MutableArrayRef<Literal> targets, llvm::ArrayRef<Literal> updates) {
  Status status;
  const auto element = [](const Literal& from, int64_t at, const Shape& shape) {
    Literal scalar = Literal::Make(Shape::ArrayWithDefaultLayout(from.shape().element_type(), {}));
    std::memcpy(scalar.MutableData(), from.data() + static_cast<size_t>(at) * scalar.byte_size(),
                scalar.byte_size());
    return ConvertLiteral(std::move(scalar), shape.element_type());
  };
  auto combine = [&](int64_t to, int64_t from) {
    if (!status) return;
    std::vector<Literal> arguments;
    for (const Literal& t : targets)
      arguments.push_back(
          element(t, to, combiner.parameter(static_cast<int64_t>(arguments.size()))->shape()));
    for (const Literal& u : updates)
      arguments.push_back(
          element(u, from, combiner.parameter(static_cast<int64_t>(arguments.size()))->shape()));
    Result<Literal> result = context.Call(combiner, std::move(arguments));
    if (!result) {
      status = Error(result.error());
      return;
    }
    for (size_t k = 0; k < targets.size(); ++k) {
      const Literal value = ConvertLiteral(result->shape().IsTuple() ? result->elements()[k] : *result,
                                           targets[k].shape().element_type());
      std::memcpy(targets[k].MutableData() + static_cast<size_t>(to) * value.byte_size(), value.data(),
                  value.byte_size());
    }
  };
  HLO_CHECK_OK(scatter.ForEachWindow(
      [&](int64_t to, int64_t from) { ForEachPosition(scatter.dims(), to, from, combine); }));
  return status;
}

/// The combiner as a program, if its results can be stored where its first parameters come from.
std::shared_ptr<const ScalarFunction> CompileCombiner(const Computation& combiner, size_t count) {
  auto function = ScalarFunction::Compile(combiner);
  if (function == nullptr || function->parameter_types().size() != 2 * count ||
      function->result_types().size() != count)
    return nullptr;
  if (function->parameter_types().take_front(count) != function->result_types()) return nullptr;
  return function;
}

}  // namespace

Result<Literal> EvalScatter(EvalContext& context, const Instruction& inst,
                            llvm::MutableArrayRef<Literal> operands) {
  const auto& attrs = inst.attr<ScatterAttrs>();
  const size_t count = operands.size() / 2;
  const Literal indices = std::move(operands[count]);
  const std::shared_ptr<const ScalarFunction> function = CompileCombiner(*inst.callee(), count);
  std::vector<Literal> targets, updates;
  for (size_t k = 0; k < count; ++k) {
    targets.push_back(std::move(operands[k]));
    updates.push_back(std::move(operands[count + 1 + k]));
    if (function == nullptr) continue;
    targets[k] = ConvertLiteral(std::move(targets[k]), function->parameter_types()[k]);
    updates[k] = ConvertLiteral(std::move(updates[k]), function->parameter_types()[count + k]);
  }
  const Shape shape = targets[0].shape();
  Dims window_sizes(static_cast<size_t>(shape.rank()), 1);
  size_t next = 0;
  for (int64_t d = 0; d < shape.rank(); ++d)
    if (!llvm::is_contained(attrs.inserted_window_dims, d) &&
        !llvm::is_contained(attrs.input_batching_dims, d))
      window_sizes[static_cast<size_t>(d)] = updates[0].shape().dim(attrs.update_window_dims[next++]);
  const WindowNumbers numbers{attrs.update_window_dims,           attrs.inserted_window_dims,
                              attrs.input_batching_dims,          attrs.scatter_indices_batching_dims,
                              attrs.scatter_dims_to_operand_dims, attrs.index_vector_dim};
  const IndexWindows windows(numbers, shape, indices, updates[0], window_sizes);
  std::vector<Array> arrays;
  for (size_t k = 0; k < count; ++k)
    arrays.push_back({targets[k].MutableData(), updates[k].data(),
                      Info(targets[k].shape().element_type()).host_bytes(),
                      Info(updates[k].shape().element_type()).host_bytes()});
  Scatter scatter(context, windows, std::move(arrays), shape.ElementCount() > 0);
  if (function == nullptr)
    HLO_CHECK_OK(CombineByCalls(context, *inst.callee(), scatter, targets, updates));
  else if (count == 1 && function->ResultParameter(0) == 1)
    HLO_CHECK_OK(scatter.Overwrite());
  else
    HLO_CHECK_OK(scatter.Combine(*function));
  for (size_t k = 0; k < count; ++k) {
    const Shape& declared =
        inst.shape().IsTuple() ? inst.shape().tuple_shape(static_cast<int64_t>(k)) : inst.shape();
    targets[k] = ConvertLiteral(std::move(targets[k]), declared.element_type());
    targets[k] = targets[k].WithShape(declared);
  }
  if (!inst.shape().IsTuple()) return std::move(targets[0]);
  return Literal::MakeTuple(std::move(targets));
}

}  // namespace hlo

// sort and topk (ops-structured §5). All sorts are stable.
#include <limits>

#include "ir/eval/compute_type.h"
#include "ir/eval/scalar_callee.h"
#include "ir/eval/sort_keys.h"
#include "ir/support/interrupt.h"
#include "ir/support/parallel.h"

namespace hlo {
namespace {

/// A number to sort by and the position it comes from.
struct Entry {
  uint64_t number;
  int64_t position;
};

/// Stable: by number, then by position; `scratch` has the same length. Returns where the result is.
Entry* SortEntries(Entry* entries, Entry* scratch, int64_t n) {
  if (n < 512) {
    std::sort(entries, entries + n, [](const Entry& a, const Entry& b) {
      return a.number != b.number ? a.number < b.number : a.position < b.position;
    });
    return entries;
  }
  uint64_t varying = 0;
  for (int64_t i = 1; i < n; ++i) varying |= entries[i].number ^ entries[0].number;
  for (int shift = 0; shift < 64; shift += 8) {
    if ((varying >> shift & 255) == 0) continue;
    std::array<int64_t, 257> start{};
    for (int64_t i = 0; i < n; ++i) ++start[(entries[i].number >> shift & 255) + 1];
    for (size_t d = 1; d < start.size(); ++d) start[d] += start[d - 1];
    for (int64_t i = 0; i < n; ++i) scratch[start[entries[i].number >> shift & 255]++] = entries[i];
    std::swap(entries, scratch);
  }
  return entries;
}

/// Copies the elements from[i * stride] for each i of `order` (or 0 … n-1 without order) to to[i *
/// to_stride].
void CopyElements(const uint8_t* from, int64_t stride, const int64_t* order, int64_t n, int64_t width,
                  uint8_t* to, int64_t to_stride) {
  const auto typed = [&]<class T>(T) {
    const auto* f = reinterpret_cast<const T*>(from);
    auto* t = reinterpret_cast<T*>(to);
    for (int64_t i = 0; i < n; ++i) t[i * to_stride] = f[(order ? order[i] : i) * stride];
  };
  switch (width) {
    case 1: return typed(uint8_t{});
    case 2: return typed(uint16_t{});
    case 4: return typed(uint32_t{});
    case 8: return typed(uint64_t{});
    default: return typed(std::array<uint64_t, 2>{});
  }
}

/// Sorts the slices of some arrays along one dimension.
class Sorter {
 public:
  Sorter(const ScalarCallee& callee, std::vector<SortKey> keys, llvm::ArrayRef<Literal> operands, int64_t dim)
      : callee_(callee), keys_(std::move(keys)), operands_(operands) {
    const auto dims = operands[0].shape().dims();
    size_ = dims[static_cast<size_t>(dim)];
    for (size_t d = static_cast<size_t>(dim) + 1; d < dims.size(); ++d) inner_ *= dims[d];
    rows_ = size_ == 0 ? 0 : operands[0].shape().ElementCount() / size_;
    for (const Literal& operand : operands) {
      widths_.push_back(Info(operand.shape().element_type()).host_bytes());
      results_.push_back(Literal::Make(operand.shape()));
      outs_.push_back(results_.back().MutableData());
    }
  }

  Result<std::vector<Literal>> Run() {
    const int64_t grain = std::max<int64_t>(1, (1 << 12) / std::max<int64_t>(size_, 1));
    HLO_CHECK_OK(ForEachPiece(callee_, 0, rows_, grain, [&](int64_t begin, int64_t end) -> Status {
      Row row(*this);
      for (int64_t r = begin; r < end; ++r) HLO_CHECK_OK(SortRow(r, row));
      return {};
    }));
    return std::move(results_);
  }

 private:
  /// Working memory for one row.
  struct Row {
    std::vector<Buffer<uint8_t>> elements;  // consecutive copies, where rows are strided
    std::vector<const uint8_t*> data;
    Buffer<Entry> entries, scratch;
    Buffer<uint64_t> numbers;
    std::vector<int64_t> order, merged;
    ScalarCaller caller;

    explicit Row(const Sorter& s) : order(static_cast<size_t>(s.size_)), caller(s.callee_) {
      const auto n = static_cast<size_t>(s.size_);
      data.resize(s.widths_.size());
      for (const int64_t width : s.widths_)
        elements.push_back(MakeBuffer<uint8_t>(s.inner_ == 1 ? 0 : n * static_cast<size_t>(width)));
      if (s.keys_.empty()) {
        merged.resize(n);
      } else {
        entries = MakeBuffer<Entry>(n);
        scratch = MakeBuffer<Entry>(n);
        numbers = MakeBuffer<uint64_t>(n);
      }
    }
  };

  Status SortRow(int64_t r, Row& row) const {
    const int64_t base = r / inner_ * size_ * inner_ + r % inner_;
    for (size_t k = 0; k < widths_.size(); ++k) {
      const uint8_t* from = operands_[k].data() + base * widths_[k];
      row.data[k] = from;
      if (inner_ == 1) continue;
      CopyElements(from, inner_, nullptr, size_, widths_[k], row.elements[k].get(), 1);
      row.data[k] = row.elements[k].get();
    }
    for (int64_t i = 0; i < size_; ++i) row.order[static_cast<size_t>(i)] = i;
    if (keys_.empty())
      HLO_CHECK_OK(MergeSort(row));
    else
      SortByKeys(row);
    for (size_t k = 0; k < widths_.size(); ++k)
      CopyElements(row.data[k], 1, row.order.data(), size_, widths_[k], outs_[k] + base * widths_[k], inner_);
    return {};
  }

  /// Least significant key first; each pass keeps the order of the one before among equals.
  void SortByKeys(Row& row) const {
    for (size_t level = keys_.size(); level-- > 0;) {
      const SortKey& key = keys_[level];
      const void* values = key.operand >= 0 ? row.data[static_cast<size_t>(key.operand)] : nullptr;
      Buffer<uint8_t> computed;
      if (key.function) {
        computed = MakeBuffer<uint8_t>(static_cast<size_t>(size_ * Info(key.type).host_bytes()));
        llvm::SmallVector<const void*> arguments(row.data.begin(), row.data.end());
        ScalarRunner(*key.function).Run(arguments, {computed.get()}, size_);
        values = computed.get();
      }
      OrderedNumbers(key, values, size_, row.numbers.get());
      // Positions are ranks of the previous pass, so that ties keep its order.
      for (int64_t i = 0; i < size_; ++i)
        row.entries[static_cast<size_t>(i)] = {
            row.numbers[static_cast<size_t>(row.order[static_cast<size_t>(i)])], i};
      const Entry* sorted = SortEntries(row.entries.get(), row.scratch.get(), size_);
      std::vector<int64_t> next(static_cast<size_t>(size_));
      for (int64_t i = 0; i < size_; ++i)
        next[static_cast<size_t>(i)] = row.order[static_cast<size_t>(sorted[i].position)];
      row.order = std::move(next);
    }
  }

  /// Whether the element at position a goes before that at b.
  Result<bool> Before(int64_t a, int64_t b, Row& row) const {
    llvm::SmallVector<const void*, 8> arguments;
    for (size_t k = 0; k < widths_.size(); ++k) {
      arguments.push_back(row.data[k] + a * widths_[k]);
      arguments.push_back(row.data[k] + b * widths_[k]);
    }
    uint8_t before = 0;
    HLO_CHECK_OK(row.caller.Run(arguments, {&before}, 1));
    return before != 0;
  }

  /// Any comparator; one that is no strict weak order gives some permutation.
  Status MergeSort(Row& row) const {
    for (int64_t width = 1; width < size_; width *= 2) {
      if (Interrupted()) return Error(InterruptedError());
      for (int64_t begin = 0; begin < size_; begin += 2 * width) HLO_CHECK_OK(Merge(row, begin, width));
      row.order.swap(row.merged);
    }
    return {};
  }

  Status Merge(Row& row, int64_t begin, int64_t width) const {
    const int64_t middle = std::min(size_, begin + width), end = std::min(size_, begin + 2 * width);
    const int64_t* from = row.order.data();
    int64_t* to = row.merged.data() + begin;
    int64_t left = begin, right = middle;
    while (left < middle && right < end) {
      HLO_TRY(const bool right_first, Before(from[right], from[left], row));
      *to++ = right_first ? from[right++] : from[left++];
    }
    to = std::copy(from + left, from + middle, to);
    std::copy(from + right, from + end, to);
    return {};
  }

  const ScalarCallee& callee_;
  std::vector<SortKey> keys_;
  llvm::ArrayRef<Literal> operands_;
  int64_t size_ = 0, inner_ = 1, rows_ = 0;
  llvm::SmallVector<int64_t> widths_;
  std::vector<Literal> results_;
  std::vector<uint8_t*> outs_;
};

}  // namespace

Result<Literal> EvalSort(EvalContext& context, const Instruction& inst,
                         llvm::MutableArrayRef<Literal> operands) {
  // Only the valid part of a dynamic dimension is sorted (ops-structured §13).
  if (AnyDynamic(operands)) MakeCommonStatic(operands);
  const ScalarCallee callee(context, *inst.callee());
  std::vector<Literal> inputs;
  std::vector<ElementType> types;
  for (size_t k = 0; k < operands.size(); ++k) {
    types.push_back(operands[k].shape().element_type());
    inputs.push_back(WithElementType(operands[k], callee.parameter_types()[2 * k]));
  }
  Sorter sorter(callee, FindSortKeys(*inst.callee()), inputs, inst.attr<SortAttrs>().dimensions[0]);
  HLO_TRY(std::vector<Literal> results, sorter.Run());
  HLO_CHECK_OK(context.CheckInterrupt());
  for (size_t k = 0; k < results.size(); ++k) results[k] = WithElementType(results[k], types[k]);
  return ToBounded(inst.shape().IsTuple() ? Literal::MakeTuple(std::move(results)) : results[0],
                   inst.shape());
}

Result<Literal> EvalTopK(EvalContext& context, const Instruction& inst,
                         llvm::MutableArrayRef<Literal> operands) {
  const auto& attrs = inst.attr<TopKAttrs>();
  if (AnyDynamic(operands)) MakeAllStatic(operands);
  const Literal& input = operands[0];
  const ElementType type = input.shape().element_type();
  const int64_t size = input.shape().dims().back(), width = Info(type).host_bytes(), bound = attrs.k,
                k = std::min(bound, size);
  Dims dims(input.shape().dims().begin(), input.shape().dims().end());
  dims.back() = bound;
  // With a run-time size below k the rest of the row stays zero.
  Literal values = Literal::Zeros(Shape::ArrayWithDefaultLayout(type, dims));
  Literal indices = Literal::Zeros(Shape::ArrayWithDefaultLayout(ElementType::S32, dims));
  uint8_t* out_values = values.MutableData();
  auto* out_indices = reinterpret_cast<int32_t*>(indices.MutableData());
  const int64_t rows = size == 0 ? 0 : input.shape().ElementCount() / size;
  SortKey key;
  key.type = type;
  key.total_order = true;
  key.descending = attrs.largest;
  ParallelFor(0, rows, std::max<int64_t>(1, (1 << 13) / std::max<int64_t>(size, 1)),
              [&](int64_t begin, int64_t end) {
                auto numbers = MakeBuffer<uint64_t>(static_cast<size_t>(size));
                auto entries = MakeBuffer<Entry>(static_cast<size_t>(size));
                const auto before = [](const Entry& a, const Entry& b) {
                  return a.number != b.number ? a.number < b.number : a.position < b.position;
                };
                for (int64_t r = begin; r < end && !Interrupted(); ++r) {
                  const uint8_t* row = input.data() + r * size * width;
                  OrderedNumbers(key, row, size, numbers.get());
                  for (int64_t i = 0; i < size; ++i)
                    entries[static_cast<size_t>(i)] = {numbers[static_cast<size_t>(i)], i};
                  if (k < size)
                    std::nth_element(entries.get(), entries.get() + k, entries.get() + size, before);
                  std::sort(entries.get(), entries.get() + k, before);
                  for (int64_t i = 0; i < k; ++i) {
                    const int64_t position = entries[static_cast<size_t>(i)].position;
                    out_indices[r * bound + i] = static_cast<int32_t>(position);
                    std::memcpy(out_values + (r * bound + i) * width, row + position * width,
                                static_cast<size_t>(width));
                  }
                }
              });
  HLO_CHECK_OK(context.CheckInterrupt());
  return ToBounded(Literal::MakeTuple({std::move(values), std::move(indices)}), inst.shape());
}

}  // namespace hlo

// gather: windows of the operand, one per index row (ops-elementwise §10.6).
#include "ir/eval/elementwise.h"
#include "ir/eval/eval.h"
#include "ir/eval/index_windows.h"
#include "ir/eval/strided_copy.h"
#include "ir/support/parallel.h"

namespace hlo {
namespace {

template <class T>
void GatherSingles(const IndexWindows& windows, const Literal& x, uint8_t* out) {
  const T* from = reinterpret_cast<const T*>(x.data());
  T* to = reinterpret_cast<T*>(out);
  ParallelFor(0, windows.row_count(), 16384, [&](int64_t begin, int64_t end) {
    windows.ForEachRow(begin, end, /*clamp=*/true, [&](const IndexWindows::Row& row) {
      to[row.target_offset] = from[row.operand_offset];
    });
  });
}

struct Bytes16 {
  uint64_t low, high;
};

/// Result dimensions follow the indices' run-time sizes, and the operand's where a window spans it.
void SetSizes(Literal& result, const GatherAttrs& attrs, llvm::ArrayRef<Literal> operands) {
  const Shape& operand = operands[0].shape();
  const Shape& indices = operands[1].shape();
  int64_t batch = 0, window = 0;
  for (int64_t d = 0; d < result.shape().rank(); ++d) {
    int64_t size = result.shape().dim(d);
    if (llvm::is_contained(attrs.offset_dims, d)) {
      while (llvm::is_contained(attrs.collapsed_slice_dims, window) ||
             llvm::is_contained(attrs.operand_batching_dims, window))
        ++window;
      if (size == operand.dim(window)) size = operands[0].DynamicSize(window);
      ++window;
    } else {
      if (batch == attrs.index_vector_dim) ++batch;
      if (batch < indices.rank()) size = operands[1].DynamicSize(batch);
      ++batch;
    }
    if (result.shape().is_dynamic(d)) result.SetDynamicSize(d, size);
  }
}

}  // namespace

Result<Literal> EvalGather(EvalContext&, const Instruction& inst, llvm::MutableArrayRef<Literal> operands) {
  const auto& attrs = inst.attr<GatherAttrs>();
  const Literal& x = operands[0];
  if (x.shape().ElementCount() == 0 || llvm::is_contained(attrs.slice_sizes, 0))
    return Literal::Zeros(inst.shape());  // nothing to read
  Literal result = Literal::Make(inst.shape());
  const WindowNumbers numbers{attrs.offset_dims,           attrs.collapsed_slice_dims,
                              attrs.operand_batching_dims, attrs.start_indices_batching_dims,
                              attrs.start_index_map,       attrs.index_vector_dim};
  const IndexWindows windows(numbers, x.shape(), operands[1], result, attrs.slice_sizes);
  const int width = Info(x.shape().element_type()).host_bytes();
  uint8_t* out = result.MutableData();
  llvm::SmallVector<CopyDim, 6> dims;
  for (const auto& d : windows.window()) dims.push_back({d.size, d.target_stride, d.operand_stride});
  const WindowCopy copy(width, dims);
  if (copy.count() == 1) {
    const auto singles = width == 1   ? &GatherSingles<uint8_t>
                         : width == 2 ? &GatherSingles<uint16_t>
                         : width == 4 ? &GatherSingles<uint32_t>
                         : width == 8 ? &GatherSingles<uint64_t>
                                      : &GatherSingles<Bytes16>;
    singles(windows, x, out);
  } else if (copy.count() > 0) {
    ParallelFor(0, windows.row_count(), std::max<int64_t>(1, 65536 / copy.count()),
                [&](int64_t begin, int64_t end) {
                  windows.ForEachRow(begin, end, /*clamp=*/true, [&](const IndexWindows::Row& row) {
                    copy.Run(out + row.target_offset * width, x.data() + row.operand_offset * width);
                  });
                });
  }
  if (x.HasDynamicSizes() || operands[1].HasDynamicSizes()) SetSizes(result, attrs, operands);
  return result;
}

}  // namespace hlo

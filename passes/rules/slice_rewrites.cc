#include "passes/rules/slice_rewrites.h"

namespace hlo {
namespace {

const SliceRanges& Ranges(const Instruction& slice) { return slice.attr<SliceAttrs>().slice; }

/// The reducer of a reduce-window that one dimension's windows cover from the start of the array to each
/// element, as for cumulative sums: that dimension, or -1.
int64_t PrefixDimension(const Instruction& reduce_window) {
  const Window& window = reduce_window.attr<ReduceWindowAttrs>().window;
  const Shape& x = reduce_window.operand(0)->shape();
  int64_t prefix = -1;
  for (size_t d = 0; d < window.dims.size(); ++d) {
    const WindowDim& w = window.dims[d];
    if (w == WindowDim()) continue;
    const int64_t size = x.dim(static_cast<int64_t>(d));
    WindowDim wanted;
    wanted.size = size;
    wanted.pad_low = size - 1;
    if (w != wanted || prefix >= 0) return -1;
    prefix = static_cast<int64_t>(d);
  }
  return prefix;
}

/// Dimensions of one side of a dot that are neither batch nor contracting, in order.
Dims FreeDims(int64_t rank, llvm::ArrayRef<int64_t> batch, llvm::ArrayRef<int64_t> contracting) {
  Dims dims;
  for (int64_t d = 0; d < rank; ++d)
    if (!Contains(batch, d) && !Contains(contracting, d)) dims.push_back(d);
  return dims;
}

SliceRanges WholeRanges(const Shape& shape) {
  SliceRanges ranges;
  for (const int64_t size : shape.dims()) ranges.push_back({0, size, 1});
  return ranges;
}

Instruction* SliceUnlessWhole(Match& m, Instruction* x, const SliceRanges& ranges) {
  return ranges == WholeRanges(x->shape()) ? x : m.make.Slice(x, ranges);
}

}  // namespace

bool IsUnstrided(const Instruction& slice) {
  return llvm::all_of(Ranges(slice), [](const SliceRange& r) { return r.stride == 1; });
}

Instruction* SliceOfPadding(Match& m) {
  const Instruction* pad = m.root->operand(0);
  for (int64_t d = 0; d < m.shape().rank(); ++d) {
    const PaddingDim& p = pad->attr<PadAttrs>().padding[At(d)];
    const SliceRange& r = Ranges(*m.root)[At(d)];
    if (r.limit <= p.low || r.start >= pad->shape().dim(d) - p.high)
      return m.make.Splat(m.shape(), pad->operand(1));
  }
  return nullptr;
}

Instruction* SliceInsidePad(Match& m) {
  Instruction* pad = m.root->operand(0);
  Instruction* x = pad->operand(0);
  SliceRanges ranges = Ranges(*m.root);
  for (int64_t d = 0; d < m.shape().rank(); ++d) {
    const PaddingDim& p = pad->attr<PadAttrs>().padding[At(d)];
    SliceRange& r = ranges[At(d)];
    r.start -= p.low;
    r.limit -= p.low;
    // With holes only the slice that undoes the pad.
    if (p.interior != 0 && r.start == 0 && r.stride == p.interior + 1 &&
        m.shape().dim(d) == x->shape().dim(d))
      r = {0, x->shape().dim(d), 1};
    else if (p.interior != 0 || r.start < 0 || r.limit > x->shape().dim(d))
      return nullptr;
  }
  return SliceUnlessWhole(m, x, ranges);
}

Instruction* SliceOfSlice(Match& m) {
  Instruction* inner = m.root->operand(0);
  SliceRanges ranges = Ranges(*m.root);
  for (size_t d = 0; d < ranges.size(); ++d) {
    ranges[d].start += Ranges(*inner)[d].start;
    ranges[d].limit += Ranges(*inner)[d].start;
  }
  return m.make.Slice(inner->operand(0), ranges);
}

Instruction* SliceOfBroadcast(Match& m) {
  Instruction* broadcast = m.root->operand(0);
  SliceRanges ranges;
  for (const int64_t d : Dimensions(*broadcast)) ranges.push_back(Ranges(*m.root)[At(d)]);
  return m.make.Broadcast(SliceUnlessWhole(m, broadcast->operand(0), ranges), m.shape(),
                          Dimensions(*broadcast));
}

Instruction* SliceOfDot(Match& m) {
  Instruction* dot = m.root->operand(0);
  Instruction *lhs = dot->operand(0), *rhs = dot->operand(1);
  const auto& a = dot->attr<DotAttrs>();
  const Dims lhs_free = FreeDims(lhs->shape().rank(), a.lhs_batch_dims, a.lhs_contracting_dims);
  const Dims rhs_free = FreeDims(rhs->shape().rank(), a.rhs_batch_dims, a.rhs_contracting_dims);
  const double kept = static_cast<double>(m.shape().ElementCount());
  const double ratio = Options(m).raise_slice_and_reduce_through_dot_threshold;
  if (lhs_free.empty() || rhs_free.empty() || kept * ratio > static_cast<double>(dot->shape().ElementCount()))
    return nullptr;
  SliceRanges left = WholeRanges(lhs->shape()), right = WholeRanges(rhs->shape());
  const SliceRange* next = Ranges(*m.root).begin();
  for (size_t i = 0; i < a.lhs_batch_dims.size(); ++i, ++next)
    left[At(a.lhs_batch_dims[i])] = right[At(a.rhs_batch_dims[i])] = *next;
  for (const int64_t d : lhs_free) left[At(d)] = *next++;
  for (const int64_t d : rhs_free) right[At(d)] = *next++;
  return m.make.AddWithShape(OpKind::Dot, m.shape(),
                             {SliceUnlessWhole(m, lhs, left), SliceUnlessWhole(m, rhs, right)}, a);
}

Instruction* SliceOfPrefixSums(Match& m) {
  Instruction* sums = m.root->operand(0);
  const int64_t d = PrefixDimension(*sums);
  if (d < 0 || !sums->shape().IsArray()) return nullptr;
  SliceRanges last = WholeRanges(sums->shape());
  last[At(d)] = {sums->shape().dim(d) - 1, sums->shape().dim(d), 1};
  SliceRanges ranges = Ranges(*m.root);
  ranges[At(d)].stride = 1;
  if (ranges != last) return nullptr;
  return FreeReshape(m, m.make.Reduce(sums->operand(0), sums->operand(1), {d}, sums->callee()), m.shape());
}

Instruction* SliceOfReshape(Match& m) {
  Instruction* x = m.root->operand(0)->operand(0);
  const Shape& reshaped = m.root->operand(0)->shape();
  const SliceRanges& ranges = Ranges(*m.root);
  SliceRanges only_first = WholeRanges(reshaped);
  if (x->shape().rank() == 0 || reshaped.rank() == 0 || x->shape().ElementCount() == 0) return nullptr;
  only_first[0] = ranges[0];
  if (ranges != only_first || ranges[0].start == ranges[0].limit) return nullptr;
  // What is cut must begin and end between rows of x.
  const int64_t row = reshaped.ElementCount() / reshaped.dim(0),
                x_row = x->shape().ElementCount() / x->shape().dim(0);
  const int64_t start = ranges[0].start * row, limit = ranges[0].limit * row;
  if (start % x_row != 0 || limit % x_row != 0) return nullptr;
  return m.make.Reshape(m.make.SliceDim(x, 0, start / x_row, limit / x_row), m.shape());
}

Instruction* SliceOfReverse(Match& m) {
  Instruction* reverse = m.root->operand(0);
  SliceRanges ranges = Ranges(*m.root);
  for (const int64_t d : Dimensions(*reverse)) {
    SliceRange& r = ranges[At(d)];
    const int64_t size = reverse->shape().dim(d), count = m.shape().dim(d);
    const int64_t last = count == 0 ? r.start : r.start + (count - 1) * r.stride;
    r = count == 0 ? SliceRange{0, 0, 1} : SliceRange{size - 1 - last, size - r.start, r.stride};
  }
  return m.make.Reverse(SliceUnlessWhole(m, reverse->operand(0), ranges), Dimensions(*reverse));
}

Instruction* SliceWithoutStride(Match& m) {
  SliceRanges ranges = Ranges(*m.root);
  for (SliceRange& r : ranges)
    if (r.stride > 1 && r.limit - r.start <= r.stride && r.limit > r.start) r = {r.start, r.start + 1, 1};
  return ranges == Ranges(*m.root) ? nullptr : m.make.Slice(m.root->operand(0), ranges);
}

}  // namespace hlo

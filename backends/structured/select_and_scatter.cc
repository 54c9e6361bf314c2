// select-and-scatter (ops-structured §4.3) by a comparison, with sums.
#include "backends/structured/kernels.h"
#include "backends/structured/plan.h"
#include "ir/eval/scalar_function.h"
#include "ir/eval/window_index.h"
#include "ir/support/interrupt.h"
#include "ir/support/parallel.h"

namespace hlo::structured {
namespace {

/// The window's dimensions lie between dimensions that it does not touch.
struct Windows {
  Window window;                // of the dimensions in between
  Dims base, outputs, strides;  // of those; strides in elements
  int64_t outer = 1, inner = 1;
  int64_t base_size = 1, output_size = 1;  // of all but the outer ones
  SelectOrder select;
  std::vector<Dims> order;  // coordinates of positions, in the order in which they are looked at
  std::vector<int64_t>
      inside;  // offsets of all positions from that of the first, for windows inside the base
};

/// The offsets of what window `output` sees, in order.
void FindOffsets(const Windows& w, llvm::ArrayRef<int64_t> output, std::vector<int64_t>& offsets) {
  offsets.clear();
  bool inside = true;
  int64_t start = 0;
  for (size_t d = 0; d < output.size(); ++d) {
    const WindowDim& dim = w.window.dims[d];
    const int64_t first = output[d] * dim.stride - dim.pad_low;
    inside &=
        first >= 0 && first + (dim.size - 1) * dim.window_dilation < w.base[d] && dim.base_dilation == 1;
    start += first * w.strides[d];
  }
  if (inside) {
    for (const int64_t offset : w.inside) offsets.push_back(start + offset);
    return;
  }
  for (const Dims& position : w.order) {
    int64_t offset = 0;
    bool seen = true;
    for (size_t d = 0; d < output.size() && seen; ++d) {
      const int64_t p = WindowBaseIndex(w.window.dims[d], w.base[d], output[d], position[d]);
      seen = p >= 0;
      offset += p * w.strides[d];
    }
    if (seen) offsets.push_back(offset);
  }
}

/// The elements of the base behind the last one that windows see up to the one at `output`.
int64_t EndOf(const Windows& w, llvm::ArrayRef<int64_t> output) {
  if (output.empty()) return w.base_size;
  const WindowDim& dim = w.window.dims[0];
  const int64_t last = output[0] * dim.stride - dim.pad_low + (dim.size - 1) * dim.window_dilation;
  return std::clamp<int64_t>(last / dim.base_dilation + 1, 0, w.base[0]) * w.strides[0];
}

/// What windows come to soon, in each of their rows: processors foresee little of so many short runs.
/// `offsets` are those of a window inside the base.
template <class T>
void FetchWindows(const Windows& w, const T* x, llvm::ArrayRef<int64_t> offsets) {
  constexpr int64_t kAhead = 2048, kLine = 64, kMaxStep = 1024;
  if (w.base.size() < 2) return;
  const int64_t step = w.window.dims.back().stride * w.strides.back() * static_cast<int64_t>(sizeof(T));
  const auto columns = static_cast<size_t>(w.window.dims.back().size);
  if (step < kLine || step > kMaxStep) return;
  for (size_t i = 0; i < offsets.size(); i += columns)
    for (int64_t line = 0; line < step; line += kLine)
      __builtin_prefetch(reinterpret_cast<const char*>(x + offsets[i]) + kAhead + line);
}

/// Lanes [begin, end) of one outer position; T has the size of the elements.
template <class T>
void RunLanes(const Windows& w, SelectKernel& kernel, const T* x, const T* source, T init, T* out,
              int64_t begin, int64_t end) {
  // What is filled shortly before windows reach it is still in a cache.
  int64_t filled = 0;
  const auto fill = [&](int64_t until) {
    for (; filled < until; filled += w.inner) std::fill(out + filled + begin, out + filled + end, init);
  };
  Dims output(w.base.size(), 0);
  std::vector<int64_t> offsets;
  for (int64_t o = 0; o < w.output_size && !Interrupted(); o += w.inner) {
    FindOffsets(w, output, offsets);
    fill(EndOf(w, output));
    if (offsets.size() == w.inside.size()) FetchWindows(w, x + begin, offsets);
    if (!offsets.empty())
      kernel(w.select, x + begin, offsets.data(), static_cast<int>(offsets.size()), end - begin,
             source + o + begin, out + begin);
    for (size_t d = output.size(); d-- > 0;) {
      if (++output[d] < w.outputs[d]) break;
      output[d] = 0;
    }
  }
  fill(w.base_size);
}

template <class T>
Plan MakePlan(Windows windows, SelectKernel& kernel) {
  return {"windows in lanes of " + std::to_string(windows.inner),
          [w = std::move(windows), &kernel](void* const* arrays) {
            const auto *x = static_cast<const T*>(arrays[0]), *source = static_cast<const T*>(arrays[1]);
            const T init = *static_cast<const T*>(arrays[2]);
            auto* out = static_cast<T*>(arrays[3]);
            constexpr int64_t kManyPerThread = 4, kFewLanes = 64, kWorthThread = 1 << 13;
            // Lanes do not know of each other: fewer at a time where there are few outer positions.
            const int64_t lanes =
                w.outer >= kManyPerThread * ThreadCount() ? w.inner : std::min(w.inner, kFewLanes);
            const int64_t blocks = (w.inner + lanes - 1) / lanes;
            const int64_t grain = std::max<int64_t>(1, kWorthThread / (w.base_size / w.inner * lanes));
            ParallelFor(0, w.outer * blocks, grain, [&](int64_t begin, int64_t end) {
              for (int64_t task = begin; task < end; ++task) {
                const int64_t o = task / blocks, lane = task % blocks * lanes;
                RunLanes(w, kernel, x + o * w.base_size, source + o * w.output_size, init,
                         out + o * w.base_size, lane, std::min(w.inner, lane + lanes));
              }
            });
          }};
}

constexpr std::pair<ElementType, SelectType> kTypes[] = {
    {ElementType::F32, SelectType::F32},   {ElementType::F64, SelectType::F64},
    {ElementType::S32, SelectType::S32},   {ElementType::S64, SelectType::S64},
    {ElementType::U32, SelectType::U32},   {ElementType::U64, SelectType::U64},
    {ElementType::BF16, SelectType::BF16}, {ElementType::F16, SelectType::F16}};

/// The comparison of its first with its second parameter that a computation is.
std::optional<SelectOrder> ComparisonOf(const Computation& computation) {
  const Instruction& root = *computation.root();
  if (root.kind() != OpKind::Compare || computation.parameters().size() != 2) return std::nullopt;
  const Instruction *a = computation.parameter(0), *b = computation.parameter(1);
  const bool straight = root.operand(0) == a && root.operand(1) == b;
  if (!straight && (root.operand(0) != b || root.operand(1) != a)) return std::nullopt;
  const auto& attrs = root.attr<CompareAttrs>();
  if (attrs.type == CompareType::TotalOrder && IsFloat(a->shape().element_type())) return std::nullopt;
  switch (attrs.direction) {
    case Direction::GE: return straight ? SelectOrder::Ge : SelectOrder::Le;
    case Direction::GT: return straight ? SelectOrder::Gt : SelectOrder::Lt;
    case Direction::LE: return straight ? SelectOrder::Le : SelectOrder::Ge;
    case Direction::LT: return straight ? SelectOrder::Lt : SelectOrder::Gt;
    default: return std::nullopt;
  }
}

Windows FindWindows(const Window& window, const Shape& base, const Shape& source) {
  Windows w;
  size_t first = 0, last = window.dims.size();
  while (last > 0 && window.dims[last - 1] == WindowDim{}) --last;
  while (first < last && window.dims[first] == WindowDim{}) ++first;
  for (size_t d = 0; d < window.dims.size(); ++d) {
    if (d < first) w.outer *= base.dims()[d];
    if (d >= last) w.inner *= base.dims()[d];
    if (d < first || d >= last) continue;
    w.window.dims.push_back(window.dims[d]);
    w.base.push_back(base.dims()[d]);
    w.outputs.push_back(source.dims()[d]);
  }
  w.base_size = w.output_size = w.inner;
  w.strides.resize(w.base.size());
  for (size_t d = w.base.size(); d-- > 0;) {
    w.strides[d] = w.base_size;
    w.base_size *= w.base[d];
    w.output_size *= w.outputs[d];
  }
  for (int64_t position : SelectionOrder(w.window, w.base, w.outputs)) {
    Dims coordinates(w.base.size());
    int64_t offset = 0;
    for (size_t d = coordinates.size(); d-- > 0;) {
      coordinates[d] = position % w.window.dims[d].size;
      position /= w.window.dims[d].size;
      offset += coordinates[d] * w.window.dims[d].window_dilation * w.strides[d];
    }
    w.order.push_back(std::move(coordinates));
    w.inside.push_back(offset);
  }
  return w;
}

}  // namespace

Result<Plan> PlanSelectAndScatter(const Instruction& inst, gemm::Isa isa) {
  const Shape &base = inst.operand(0)->shape(), &source = inst.operand(1)->shape();
  const ElementType type = inst.shape().element_type();
  const auto select = ComparisonOf(*inst.callee(0));
  if (!select || inst.callee(0)->parameter(0)->shape().element_type() != type)
    return Unsupported(inst, "a selection that is no comparison");
  const auto scatter = ScalarFunction::Compile(*inst.callee(1));
  const auto op = scatter ? scatter->AsBinaryOp() : std::nullopt;
  if (!op || op->kind != OpKind::Add || scatter->parameter_types()[0] != type)
    return Unsupported(inst, "a scatter that is no sum of the elements' type");
  if (base.element_type() != type || source.element_type() != type) return Unsupported(inst, "mixed types");
  if (base.ElementCount() == 0 || source.ElementCount() == 0) return Unsupported(inst, "empty arrays");
  for (const WindowDim& dim : inst.attr<SelectAndScatterAttrs>().window.dims)
    if (dim.size == 0 || dim.reversal) return Unsupported(inst, "windows without elements");
  Windows w = FindWindows(inst.attr<SelectAndScatterAttrs>().window, base, source);
  w.select = *select;
  for (const auto& [known, row] : kTypes) {
    if (known != type) continue;
    SelectKernel& kernel = *KernelsFor(isa).select[static_cast<size_t>(row)];
    const int bytes = Info(type).host_bytes();
    if (bytes == 2) return MakePlan<uint16_t>(std::move(w), kernel);
    return bytes == 4 ? MakePlan<uint32_t>(std::move(w), kernel) : MakePlan<uint64_t>(std::move(w), kernel);
  }
  return Unsupported(inst, "element types of select-and-scatter");
}

}  // namespace hlo::structured

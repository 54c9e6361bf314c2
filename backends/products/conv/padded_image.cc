#include "backends/products/conv/padded_image.h"

#include <algorithm>

#include "backends/products/common/factors.h"
#include "ir/support/parallel.h"

namespace hlo::gemm {
namespace {

constexpr int64_t kMostStaged = 4 << 20;     // bytes
constexpr int64_t kFewestTaps = 4;           // which read each element
constexpr int64_t kFewestResults = 4;        // for each element, worth no more than having no ends
constexpr int64_t kPieceElements = 1 << 15;  // worth waking a thread for

/// Positions that windows reach.
int64_t LengthOf(const WindowDimension& d) {
  return (d.outputs - 1) * d.per_output + (d.taps - 1) * d.per_tap + 1;
}

/// Features of an image at each position.
int64_t WidthOf(const Problem& problem) { return problem.batches() * problem.channels; }

int64_t StagedSize(const Problem& problem) {
  int64_t size = problem.windows->images * WidthOf(problem);
  for (const WindowDimension& d : problem.windows->dims) size *= LengthOf(d);
  return size;
}

/// A loop of the original problem, and how far apart positions are staged.
struct Loop {
  const WindowDimension* dim;
  int64_t pitch;
};

template <class T>
class Staging {
 public:
  Staging(const Problem& problem, const KernelSet& kernels, const void* lhs)
      : problem_(problem),
        kernels_(kernels),
        lhs_(static_cast<const uint8_t*>(lhs)),
        bytes_(Info(problem.lhs.type).host_bytes()) {
    int64_t pitch = WidthOf(problem);
    for (const WindowDimension& d : llvm::reverse(problem.windows->dims)) {
      loops_.push_back({&d, pitch});
      pitch *= LengthOf(d);
    }
    std::reverse(loops_.begin(), loops_.end());
    image_ = pitch;
  }

  [[nodiscard]] int64_t image() const { return image_; }
  [[nodiscard]] llvm::ArrayRef<Loop> loops() const { return loops_; }

  void Run(T* to) const {
    int64_t origin = problem_.lhs.base + problem_.lhs.batch.At(0);
    for (const Loop& loop : loops_) origin -= loop.dim->base * loop.dim->lhs_stride;
    const int64_t lines = LengthOf(*loops_[0].dim);
    ParallelFor(0, problem_.windows->images * lines, kPieceElements / loops_[0].pitch + 1,
                [&](int64_t begin, int64_t end) {
                  for (int64_t i = begin; i < end; ++i) {
                    const int64_t image = i / lines, line = i % lines;
                    Dimension(0, origin + image * problem_.windows->lhs_image, line, line + 1,
                              to + image * image_ + line * loops_[0].pitch);
                  }
                });
  }

 private:
  /// Positions [begin, end) of those that windows reach in dimension t; `from` is where position 0 of the
  /// image lies.
  void Dimension(size_t t, int64_t from, int64_t begin, int64_t end, T* to) const {
    const auto& [dim, pitch] = loops_[t];
    const int64_t first = std::clamp<int64_t>(-dim->base, begin, end),
                  last = std::clamp<int64_t>(dim->size - dim->base, first, end);
    std::fill_n(to, (first - begin) * pitch, T(0));
    to += (first - begin) * pitch;
    from += (dim->base + first) * dim->lhs_stride;
    const bool line = t + 1 == loops_.size();
    if (line && dim->lhs_stride == pitch) {
      ToNumbers(problem_, problem_.lhs, kernels_, lhs_ + from * bytes_, (last - first) * pitch, to);
      to += (last - first) * pitch;
    } else {
      for (int64_t j = first; j < last; ++j, from += dim->lhs_stride, to += pitch) {
        if (line)
          ToNumbers(problem_, problem_.lhs, kernels_, lhs_ + from * bytes_, pitch, to);
        else
          Dimension(t + 1, from, 0, LengthOf(*loops_[t + 1].dim), to);
      }
    }
    std::fill_n(to, (end - last) * pitch, T(0));
  }

  const Problem& problem_;
  const KernelSet& kernels_;
  const uint8_t* lhs_;
  int64_t bytes_;  // of an element
  llvm::SmallVector<Loop, 3> loops_;
  int64_t image_;  // elements
};

/// That numbers of the sums are.
template <class T>
ElementType NumberType(const Problem& problem) {
  if (IsComplex(problem.type)) return problem.type;
  if (sizeof(T) == 2) return ElementType::U16;
  constexpr ElementType kTypes[] = {ElementType::F32, ElementType::F64, ElementType::U32, ElementType::U64};
  return kTypes[static_cast<size_t>(problem.compute)];
}

/// By tap, channel and feature.
template <class T>
void StageWeights(const Problem& problem, const KernelSet& kernels, const void* rhs, T* to) {
  const Operand& from = problem.rhs;
  const int64_t bytes = Info(from.type).host_bytes(), count = problem.batches() * problem.columns(),
                base = from.base + from.batch.At(0) + from.rows.At(0);
  for (int64_t t = 0; t < problem.taps(); ++t)
    for (int64_t c = 0; c < problem.channels; ++c, to += count)
      ToNumbers(problem, from, kernels,
                static_cast<const uint8_t*>(rhs) + (base + from.taps.At(t) + c * from.channel_stride) * bytes,
                count, to);
}

}  // namespace

bool GainsByStaging(const Problem& problem) {
  if (!problem.windows || problem.windows->dims.empty()) return false;
  const bool narrow = !IsPlain(problem, problem.lhs);
  if (narrow && problem.lhs.type != problem.rhs.type) return false;
  const bool forward = llvm::all_of(problem.windows->dims, [](const WindowDimension& d) {
    return d.outputs > 0 && d.taps > 0 && d.per_output >= 0 && d.per_tap >= 0;
  });
  if (!forward) return false;
  const int64_t size = StagedSize(problem), results = problem.rows() * problem.columns() * problem.batches();
  int64_t bytes = 0;
  VisitComputeType(problem.compute, [&](auto number) { bytes = sizeof number; });
  if (IsComplex(problem.type)) bytes *= 2;
  if (size * bytes > kMostStaged) return false;
  if (narrow && (problem.taps() >= kFewestTaps || results >= kFewestResults * size)) return true;
  return !problem.lhs.bounds.empty() && results >= kFewestResults * size;
}

template <class T>
StagedImage<T> StageImage(const Problem& problem, const KernelSet& kernels, const void* lhs,
                          const void* rhs) {
  const Staging<T> staging(problem, kernels, lhs);
  const int64_t count = problem.batches() * problem.columns();
  StagedImage<T> staged{problem, MakeBuffer<T>(static_cast<size_t>(StagedSize(problem))),
                        MakeBuffer<T>(static_cast<size_t>(problem.depth() * count))};
  staging.Run(staged.image.get());
  StageWeights(problem, kernels, rhs, staged.weights.get());
  Problem& p = staged.problem;
  llvm::SmallVector<Loop, 3> loops(staging.loops());
  const auto axes = [&](auto&& axis) {
    llvm::SmallVector<Axis, 4> list;
    for (const Loop& loop : loops) list.push_back(axis(*loop.dim, loop.pitch));
    return list;
  };
  // Rows in the order of the result, taps in that of the weights.
  llvm::sort(loops, [](const Loop& a, const Loop& b) {
    return std::tuple(a.dim->out_stride, a.pitch) > std::tuple(b.dim->out_stride, b.pitch);
  });
  auto rows =
      axes([](const WindowDimension& d, int64_t pitch) { return Axis{d.outputs, d.per_output * pitch}; });
  auto out = axes([](const WindowDimension& d, int64_t) { return Axis{d.outputs, d.out_stride}; });
  const Windows& windows = *problem.windows;
  const auto* place = llvm::find_if(out, [&](const Axis& a) { return a.stride < windows.out_image; });
  rows.insert(rows.begin() + (place - out.begin()), {windows.images, staging.image()});
  out.insert(out.begin() + (place - out.begin()), {windows.images, windows.out_image});
  p.lhs.rows = Index(rows);
  p.out_rows = Index(out);
  llvm::sort(loops, [](const Loop& a, const Loop& b) {
    return std::tuple(std::abs(a.dim->rhs_stride), a.pitch) >
           std::tuple(std::abs(b.dim->rhs_stride), b.pitch);
  });
  p.lhs.taps =
      Index(axes([](const WindowDimension& d, int64_t pitch) { return Axis{d.taps, d.per_tap * pitch}; }));
  p.rhs.taps = Index({Axis{problem.taps(), problem.channels * count}});
  p.lhs.type = p.rhs.type = NumberType<T>(problem);
  p.lhs.base = p.rhs.base = 0;
  p.lhs.channel_stride = 1;
  p.rhs.channel_stride = count;
  p.lhs.batch = Index({Axis{problem.batches(), problem.channels}});
  p.rhs.batch = Index({Axis{problem.batches(), problem.columns()}});
  p.rhs.rows = Index({Axis{problem.columns(), 1}});
  p.lhs.bounds.clear();
  return staged;
}

#define HLO_INSTANTIATE(...)                                                                               \
  template StagedImage<__VA_ARGS__> StageImage<__VA_ARGS__>(const Problem&, const KernelSet&, const void*, \
                                                            const void*);
HLO_INSTANTIATE(float)
HLO_INSTANTIATE(double)
HLO_INSTANTIATE(uint16_t)
HLO_INSTANTIATE(uint32_t)
HLO_INSTANTIATE(uint64_t)
HLO_INSTANTIATE(std::complex<float>)
HLO_INSTANTIATE(std::complex<double>)
#undef HLO_INSTANTIATE

}  // namespace hlo::gemm

// reduce-window (ops-structured §4.2) whose windows are the prefixes or the suffixes of lines.
#include <array>
#include <atomic>
#include <cstring>
#include <thread>

#include "backends/structured/kernels.h"
#include "backends/structured/plan.h"
#include "ir/eval/fold_kernels.h"
#include "ir/eval/scalar_function.h"
#include "ir/support/buffer.h"
#include "ir/support/interrupt.h"
#include "ir/support/parallel.h"
#include "ir/window.h"

namespace hlo::structured {
namespace {

/// Lines are cut into chunks that start from nothing: what follows takes their totals over, so that the order
/// of sums does not depend on who computes a chunk.
constexpr int64_t kChunk = 1 << 15;
/// Columns that are scanned side by side.
constexpr int64_t kStrip = 1 << 11;
/// Larger results are written past the caches.
constexpr int64_t kStreamed = int64_t{32} << 20;
/// A line of so many chunks is worth all threads, strips narrower than this are not; elements worth one.
constexpr int64_t kChunksWorthThreads = 4, kLeastStrip = 128, kWorthThread = 1 << 15;

/// Other threads learn by ordinary stores that a piece is done.
void FinishStreams(bool stream) {
  if (stream) std::atomic_thread_fence(std::memory_order_seq_cst);
}

struct Scan {
  const ScanKernel* kernel;
  const FoldKernels* fold;
  ElementType type;  // of the parts, if the elements are complex
  ElementType accumulator;
  bool direct;    // the kernel reads and writes elements as they are
  bool in_order;  // no totals of chunks: each element is folded after the other
  bool reverse;
  bool stream;
  int64_t outer, n, outputs, inner;  // elements of a line: [outer, n, inner] -> [outer, outputs, inner]
  int64_t parts;                     // per element
  int64_t skip;                      // outputs that no element has been folded into
  [[nodiscard]] int64_t element() const { return Info(type).host_bytes(); }
  [[nodiscard]] int64_t width() const { return Info(accumulator).host_bytes(); }
  [[nodiscard]] int64_t scanned() const { return outputs - skip; }
};

using Accumulator = std::array<uint8_t, 8>;

/// The scan of one chunk: converts where the kernel cannot read the elements.
void ScanChunk(const Scan& scan, const uint8_t* x, uint8_t* y, int64_t n, const Accumulator& carry,
               Accumulator& last) {
  if (scan.direct) return scan.kernel->line(x, y, n, scan.reverse, scan.stream, carry.data(), last.data());
  const auto scratch = MakeBuffer<uint8_t>(static_cast<size_t>(n * scan.width()));
  LoadAccumulators(*scan.fold, scan.type, x, n, scratch.get());
  scan.kernel->line(scratch.get(), scratch.get(), n, scan.reverse, false, carry.data(), last.data());
  StoreFolded(*scan.fold, scratch.get(), scan.type, n, y);
}

/// The fold of one chunk.
void FoldChunk(const Scan& scan, const uint8_t* x, int64_t n, Accumulator& total) {
  if (scan.direct) return scan.kernel->fold(x, n, total.data());
  const auto scratch = MakeBuffer<uint8_t>(static_cast<size_t>(n * scan.width()));
  LoadAccumulators(*scan.fold, scan.type, x, n, scratch.get());
  scan.kernel->fold(scratch.get(), n, total.data());
}

/// One line of single elements whose first (or last) outputs are filled already.
class Line {
 public:
  Line(const Scan& scan, const uint8_t* in, uint8_t* out, Accumulator init)
      : scan_(scan), n_(scan.scanned()), chunks_((n_ + kChunk - 1) / kChunk), carry_(init) {
    // In reverse, the outputs that see no element are the last ones, and inputs before the window are unread.
    x_ = in + (scan.reverse ? scan.n - n_ : 0) * scan.element();
    y_ = out + (scan.reverse ? 0 : scan.skip) * scan.element();
  }

  void Run() {
    for (int64_t c = 0; c < chunks_ && !Interrupted(); ++c) {
      Accumulator last;
      const Accumulator carry = scan_.in_order ? carry_ : TakeCarry(c, TotalOf(c));
      ScanChunk(scan_, x_ + At(c), y_ + At(c), Size(c), carry, last);
      if (scan_.in_order) carry_ = last;
    }
  }

  /// The same for a long line: each thread takes the next chunk, reads its total, and scans it when its turn
  /// has come to know the carry, while the chunk is still in its cache.
  void RunParallel() {
    std::atomic<int64_t> next = 0, turn = 0;
    ParallelFor(0, ThreadCount(), 1, [&](int64_t, int64_t) {
      for (int64_t c; (c = next.fetch_add(1, std::memory_order_relaxed)) < chunks_ && !Interrupted();) {
        const Accumulator total = TotalOf(c);
        for (int64_t spins = 0; turn.load(std::memory_order_acquire) != c; ++spins) {
          if (Interrupted()) return;
          if (spins > kSpins) std::this_thread::yield();
        }
        const Accumulator carry = TakeCarry(c, total);
        turn.store(c + 1, std::memory_order_release);
        Accumulator last;
        ScanChunk(scan_, x_ + At(c), y_ + At(c), Size(c), carry, last);
      }
      FinishStreams(scan_.stream);
    });
  }

 private:
  static constexpr int64_t kSpins = 1000;

  /// Of the last chunk nobody wants to know it.
  Accumulator TotalOf(int64_t c) {
    Accumulator total{};
    if (c + 1 < chunks_) FoldChunk(scan_, x_ + At(c), Size(c), total);
    return total;
  }
  /// The carry of chunk c, whose turn it is; that of the next is op(carry, total).
  Accumulator TakeCarry(int64_t c, const Accumulator& total) {
    const Accumulator carry = carry_;
    if (c + 1 < chunks_) scan_.fold->merge(carry_.data(), total.data(), 1);
    return carry;
  }
  [[nodiscard]] int64_t Size(int64_t c) const { return std::min(kChunk, n_ - c * kChunk); }
  /// Bytes before chunk c, the first one being the one that is scanned first.
  [[nodiscard]] int64_t At(int64_t c) const {
    return (scan_.reverse ? n_ - c * kChunk - Size(c) : c * kChunk) * scan_.element();
  }

  const Scan& scan_;
  int64_t n_, chunks_;
  const uint8_t* x_;
  uint8_t* y_;
  Accumulator carry_;
};

/// Columns [begin, end) of the parts of one outer position.
void RunColumns(const Scan& scan, const uint8_t* in, uint8_t* out, int64_t begin, int64_t end,
                llvm::ArrayRef<Accumulator> init) {
  const int64_t row = scan.inner * scan.parts, n = end - begin, rows = scan.scanned();
  const int64_t element = scan.element(), width = scan.width();
  const auto acc = MakeBuffer<uint8_t>(static_cast<size_t>(n * width));
  for (int64_t i = 0; i < n; ++i)
    std::memcpy(acc.get() + i * width, init[static_cast<size_t>((begin + i) % scan.parts)].data(),
                static_cast<size_t>(width));
  const int64_t step = scan.reverse ? -row : row;
  const uint8_t* x = in + ((scan.reverse ? (scan.n - 1) * row : 0) + begin) * element;
  uint8_t* y = out + ((scan.reverse ? rows - 1 : scan.skip) * row + begin) * element;
  if (scan.direct) {
    constexpr int64_t kRows = 256;
    for (int64_t r = 0; r < rows && !Interrupted(); r += kRows)
      scan.kernel->rows(x + r * step * element, step, y + r * step * element, step, std::min(kRows, rows - r),
                        n, scan.stream, acc.get());
    return;
  }
  const auto scratch = MakeBuffer<uint8_t>(static_cast<size_t>(n * width));
  for (int64_t r = 0; r < rows && !Interrupted(); ++r) {
    LoadAccumulators(*scan.fold, scan.type, x + r * step * element, n, scratch.get());
    scan.kernel->rows(scratch.get(), n, scratch.get(), n, 1, n, false, acc.get());
    StoreFolded(*scan.fold, scratch.get(), scan.type, n, y + r * step * element);
  }
}

/// Outputs that no element is folded into are inits.
void FillSkipped(const Scan& scan, uint8_t* out, const uint8_t* init) {
  const int64_t bytes = scan.element() * scan.parts;
  uint8_t* to = out + (scan.reverse ? scan.scanned() : 0) * scan.inner * bytes;
  for (int64_t i = 0; i < scan.skip * scan.inner; ++i)
    std::memcpy(to + i * bytes, init, static_cast<size_t>(bytes));
}

void Run(const Scan& scan, void* const* arrays) {
  const auto* in = static_cast<const uint8_t*>(arrays[0]);
  const auto* init = static_cast<const uint8_t*>(arrays[1]);
  auto* out = static_cast<uint8_t*>(arrays[2]);
  std::array<Accumulator, 2> inits{};
  for (int64_t p = 0; p < scan.parts; ++p)
    LoadAccumulators(*scan.fold, scan.type, init + p * scan.element(), 1,
                     inits[static_cast<size_t>(p)].data());
  const int64_t row = scan.inner * scan.parts;
  const int64_t in_bytes = scan.n * row * scan.element(), out_bytes = scan.outputs * row * scan.element();
  const int64_t strips = (row + kStrip - 1) / kStrip;
  const int64_t work = std::max<int64_t>(1, scan.scanned() * std::min(row, kStrip));
  const bool few = scan.outer < ThreadCount() && ThreadCount() > 1 && !scan.in_order && !InParallelRegion();
  if (row == 1 && few && scan.scanned() >= kChunksWorthThreads * kChunk) {
    for (int64_t o = 0; o < scan.outer; ++o) {
      FillSkipped(scan, out + o * out_bytes, init);
      Line(scan, in + o * in_bytes, out + o * out_bytes, inits[0]).RunParallel();
    }
    return;
  }
  // Narrower strips where there are too few for all threads; columns do not know of each other.
  const int64_t share = (row + ThreadCount() - 1) / ThreadCount();
  const int64_t narrow =
      strips * scan.outer >= ThreadCount() ? kStrip : std::clamp(share, kLeastStrip, kStrip);
  const int64_t columns = (row + narrow - 1) / narrow;
  const int64_t grain = std::max<int64_t>(1, kWorthThread / work);
  ParallelFor(0, scan.outer * columns, grain, [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end && !Interrupted(); ++task) {
      const int64_t o = task / columns, c = task % columns;
      if (c == 0) FillSkipped(scan, out + o * out_bytes, init);
      if (row == 1)
        Line(scan, in + o * in_bytes, out + o * out_bytes, inits[0]).Run();
      else
        RunColumns(scan, in + o * in_bytes, out + o * out_bytes, c * narrow, std::min(row, (c + 1) * narrow),
                   inits);
    }
    FinishStreams(scan.stream);
  });
}

std::optional<ScanOp> ScanOpOf(OpKind op) {
  static constexpr std::pair<OpKind, ScanOp> kOps[] = {
      {OpKind::Add, ScanOp::Add},         {OpKind::Multiply, ScanOp::Multiply}, {OpKind::And, ScanOp::And},
      {OpKind::Maximum, ScanOp::Maximum}, {OpKind::Minimum, ScanOp::Minimum},   {OpKind::Or, ScanOp::Or},
      {OpKind::Xor, ScanOp::Xor}};
  for (const auto& [kind, scan] : kOps)
    if (kind == op) return scan;
  return std::nullopt;
}

ScanType ScanTypeOf(ElementType accumulator) {
  static constexpr std::pair<ElementType, ScanType> kTypes[] = {
      {ElementType::F32, ScanType::F32}, {ElementType::F64, ScanType::F64},
      {ElementType::S32, ScanType::S32}, {ElementType::U32, ScanType::U32},
      {ElementType::S64, ScanType::S64}, {ElementType::U64, ScanType::U64}};
  for (const auto& [type, scan] : kTypes)
    if (type == accumulator) return scan;
  llvm_unreachable("no type of accumulators");
}

/// The only dimension with a window, as seen from the end where scanning starts; nothing if outputs are no
/// prefixes: output o is the fold of the elements before o - skip + 1.
struct PrefixWindow {
  size_t dim;
  bool reverse;
  int64_t skip;
};
std::optional<PrefixWindow> FindPrefixes(const Window& window, const Shape& in, const Shape& out) {
  std::optional<size_t> found;
  for (size_t d = 0; d < window.dims.size(); ++d) {
    if (window.dims[d] == WindowDim{}) continue;
    if (found) return std::nullopt;
    found = d;
  }
  if (!found) return std::nullopt;
  const WindowDim& w = window.dims[*found];
  if (w.stride != 1 || w.base_dilation != 1 || w.window_dilation != 1) return std::nullopt;
  const int64_t n = in.dims()[*found], outputs = out.dims()[*found];
  for (const bool reverse : {false, true}) {
    const int64_t low = reverse ? outputs - 1 + w.size - w.pad_low - n : w.pad_low;
    const int64_t skip = low - w.size + 1;
    if (low >= outputs - 1 && skip >= 0 && skip <= outputs && outputs - skip <= n)
      return PrefixWindow{*found, reverse, skip};
  }
  return std::nullopt;
}

}  // namespace

Result<Plan> PlanPrefixScan(const Instruction& inst, gemm::Isa isa) {
  if (inst.operand_count() != 2 || !inst.shape().IsArray()) return Unsupported(inst, "several arrays");
  const Shape &in = inst.operand(0)->shape(), &out = inst.shape();
  const auto window = FindPrefixes(inst.attr<ReduceWindowAttrs>().window, in, out);
  if (!window) return Unsupported(inst, "windows that are no prefixes");
  const auto function = ScalarFunction::Compile(*inst.callee());
  const auto op = function ? function->AsBinaryOp() : std::nullopt;
  if (!op || function->parameter_types()[0] != in.element_type() || out.element_type() != in.element_type())
    return Unsupported(inst, "a reducer that is not a single op of the elements' type");
  const auto scan_op = ScanOpOf(op->kind);
  Scan scan{};
  scan.fold = scan_op ? FindFoldKernels(op->kind, in.element_type()) : nullptr;
  if (scan.fold == nullptr) return Unsupported(inst, "a reducer that rounds each time or has no kernel");
  scan.type = RealPartType(in.element_type());
  scan.accumulator = scan.fold->accumulator;
  scan.parts = IsComplex(in.element_type()) ? 2 : 1;
  const TypeInfo &element = Info(scan.type), &accumulator = Info(scan.accumulator);
  scan.direct = element.bits == accumulator.bits && IsFloat(scan.type) == IsFloat(scan.accumulator);
  const KernelSet& kernels = KernelsFor(isa);
  scan.kernel =
      &kernels.scan[static_cast<size_t>(*scan_op)][static_cast<size_t>(ScanTypeOf(scan.accumulator))];
  if (*scan_op == ScanOp::Add && scan.type == ElementType::F32) {
    scan.kernel = &kernels.sum_f32;
    scan.direct = true;
  }
  scan.in_order = scan.fold->sequential;
  scan.reverse = window->reverse;
  scan.skip = window->skip;
  scan.outer = scan.inner = 1;
  for (size_t d = 0; d < in.dims().size(); ++d) (d < window->dim ? scan.outer : scan.inner) *= in.dims()[d];
  scan.n = in.dims()[window->dim];
  scan.inner = scan.n == 0 ? 0 : scan.inner / scan.n;
  scan.outputs = out.dims()[window->dim];
  if (out.ElementCount() == 0 || in.ElementCount() == 0) return Unsupported(inst, "empty arrays");
  scan.stream = scan.direct && out.ElementCount() * Info(in.element_type()).host_bytes() >= kStreamed;
  const bool minor = scan.inner * scan.parts == 1;
  return Plan{std::string("prefix scan along ") + (minor ? "lines" : "columns"),
              [scan](void* const* arrays) { Run(scan, arrays); }};
}

}  // namespace hlo::structured

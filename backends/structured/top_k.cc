// topk (ops-structured §5.2).
#include <bit>
#include <cstring>

#include "backends/structured/kernels.h"
#include "backends/structured/plan.h"
#include "ir/eval/custom_call.h"
#include "ir/support/buffer.h"
#include "ir/support/interrupt.h"
#include "ir/support/parallel.h"

namespace hlo::structured {
namespace {

/// Elements that are worth waking a thread for.
constexpr int64_t kPiece = 1 << 16;

struct Rows {
  int64_t count, size, k, bound;  // k: of those there are; bound: of the result
  int64_t width;                  // bytes of an element
  bool largest;
  TopKKernel kernel;

  [[nodiscard]] int64_t capacity() const { return TopKKernel::Capacity(k); }
  [[nodiscard]] Buffer<uint8_t> MakeEntries(int64_t rows) const {
    return MakeBuffer<uint8_t>(static_cast<size_t>(rows * capacity() * kernel.entry_bytes));
  }
};

void RunRow(const Rows& rows, int64_t r, uint8_t* entries, int64_t count, const uint8_t* in, uint8_t* values,
            int32_t* positions) {
  uint8_t* out = values + r * rows.bound * rows.width;
  rows.kernel.finish(in + r * rows.size * rows.width, entries, count, rows.k, out,
                     positions + r * rows.bound);
  const auto missing = static_cast<size_t>(rows.bound - rows.k);
  std::memset(out + rows.k * rows.width, 0, missing * static_cast<size_t>(rows.width));
  std::memset(positions + r * rows.bound + rows.k, 0, missing * sizeof(int32_t));
}

/// Long rows in pieces whose first elements are put together; the first k of all are among them.
void RunInPieces(const Rows& rows, const uint8_t* in, uint8_t* values, int32_t* positions) {
  const int64_t pieces = (rows.size + kPiece - 1) / kPiece;
  const int64_t bytes = rows.kernel.entry_bytes;
  auto entries = rows.MakeEntries(pieces);
  std::vector<int64_t> counts(static_cast<size_t>(pieces));
  for (int64_t r = 0; r < rows.count && !Interrupted(); ++r) {
    ParallelFor(0, pieces, 1, [&](int64_t begin, int64_t end) {
      for (int64_t p = begin; p < end; ++p)
        counts[static_cast<size_t>(p)] = rows.kernel.select(
            in + r * rows.size * rows.width, p * kPiece, std::min(rows.size, (p + 1) * kPiece), rows.k,
            rows.largest, entries.get() + p * rows.capacity() * bytes);
    });
    int64_t total = counts[0];
    for (int64_t p = 1; p < pieces; ++p) {
      const int64_t count = counts[static_cast<size_t>(p)];
      std::memmove(entries.get() + total * bytes, entries.get() + p * rows.capacity() * bytes,
                   static_cast<size_t>(count * bytes));
      total += count;
    }
    RunRow(rows, r, entries.get(), total, in, values, positions);
  }
}

void Run(const Rows& rows, void* const* arrays) {
  const auto* in = static_cast<const uint8_t*>(arrays[0]);
  auto* values = static_cast<uint8_t*>(arrays[1]);
  auto* positions = static_cast<int32_t*>(arrays[2]);
  if (rows.count * rows.bound == 0) return;
  constexpr int64_t kManyPieces = 4, kSmallK = kPiece / 16;
  // Pieces do not change the result, but cost something where k is large.
  if (rows.count < ThreadCount() && rows.size >= kManyPieces * kPiece && rows.k <= kSmallK)
    return RunInPieces(rows, in, values, positions);
  const int64_t grain = std::max<int64_t>(1, kPiece / std::max<int64_t>(rows.size, 1));
  ParallelFor(0, rows.count, grain, [&](int64_t begin, int64_t end) {
    auto entries = rows.MakeEntries(1);
    for (int64_t r = begin; r < end && !Interrupted(); ++r) {
      const int64_t count = rows.k == 0 ? 0
                                        : rows.kernel.select(in + r * rows.size * rows.width, 0, rows.size,
                                                             rows.k, rows.largest, entries.get());
      RunRow(rows, r, entries.get(), count, in, values, positions);
    }
  });
}

}  // namespace

Result<Plan> PlanTopK(const Instruction& inst, gemm::Isa isa) {
  if (inst.kind() == OpKind::CustomCall) HLO_CHECK_OK(CheckCustomCall(inst));
  const bool largest = inst.kind() != OpKind::TopK || inst.attr<TopKAttrs>().largest;
  const bool pair = inst.operand_count() == 1 && inst.shape().IsTuple() && inst.shape().tuple_size() == 2;
  if (!pair || !inst.operand(0)->shape().IsArray()) return Unsupported(inst, "not one array and a pair");
  const Shape &in = inst.operand(0)->shape(), &out = inst.shape().tuple_shape(0),
              &positions = inst.shape().tuple_shape(1);
  Dims dims(in.dims());
  if (!out.IsArray() || !positions.IsArray() || in.rank() == 0 || out.rank() != in.rank() ||
      out.element_type() != in.element_type() || positions.element_type() != ElementType::S32 ||
      positions.dims() != out.dims())
    return Unsupported(inst, "shapes that top-k does not have");
  dims.back() = out.dims().back();
  const TypeInfo& info = Info(in.element_type());
  if (out.dims() != llvm::ArrayRef(dims) || in.dims().back() > INT32_MAX)
    return Unsupported(inst, "sizes of top-k");
  BitOrder order = info.type_class == TypeClass::Signed ? BitOrder::Signed : BitOrder::Unsigned;
  if (info.type_class == TypeClass::Float && info.special != FloatSpecial::E8M0) {
    if (info.bits % 8 != 0) return Unsupported(inst, "floats of less than a byte");
    order = BitOrder::SignMagnitude;
  }
  if (IsComplex(in.element_type())) return Unsupported(inst, "complex numbers");
  Rows rows;
  rows.size = in.dims().back();
  rows.count = 1;
  for (const int64_t d : in.dims().drop_back()) rows.count *= d;
  rows.bound = out.dims().back();
  rows.k = std::min(rows.bound, rows.size);
  rows.width = info.host_bytes();
  rows.largest = largest;
  rows.kernel =
      KernelsFor(isa)
          .top_k[std::countr_zero(static_cast<unsigned>(info.host_bytes()))][static_cast<size_t>(order)];
  return Plan{"first elements by a threshold filter", [rows](void* const* arrays) { Run(rows, arrays); }};
}

}  // namespace hlo::structured

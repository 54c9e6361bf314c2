// ragged-dot and scaled-dot (ops-structured §3.2, §3.3).
#include "ir/eval/contraction.h"
#include "ir/eval/eval.h"
#include "ir/eval/scalar_callee.h"
#include "ir/eval/strided_copy.h"
#include "ir/numeric/narrow_float.h"

namespace hlo {
namespace {

/// One loop of the contraction with its strides in the three arrays.
struct Loop {
  int64_t size, lhs, rhs, out;
  bool ragged = false;
};
using Loops = llvm::SmallVector<Loop>;

/// Offsets of all positions of some loops, in elements of one of the arrays.
Offsets Table(const Loops& loops, int64_t Loop::* which, int64_t base = 0) {
  llvm::SmallVector<Axis> axes;
  for (const Loop& l : loops) axes.push_back({l.size, l.*which});
  Offsets offsets = FlattenAxes(axes);
  for (int64_t& o : offsets) o += base;
  return offsets;
}

class RaggedDot {
 public:
  RaggedDot(const RaggedDotAttrs& a, llvm::ArrayRef<Literal> operands, const Shape& shape)
      : a_(a),
        lhs_(operands[0]),
        rhs_(operands[1]),
        sizes_(WithElementType(operands[2], ElementType::S64)),
        groups_(sizes_.shape().dims().back()),
        result_(Literal::Make(shape)),
        contraction_(lhs_, rhs_, result_) {
    CollectLoops();
  }

  Literal Run() {
    contraction_.ClearSums();
    // Group sizes may depend on loops outside the ragged one.
    const int64_t rows = sizes_.shape().ElementCount() / std::max<int64_t>(groups_, 1);
    const bool shared = sizes_.shape().rank() == 1;
    if (contracting_ragged_)
      RunContracting(shared);
    else
      for (int64_t row = 0; row < rows; ++row) RunRow(row, shared);
    contraction_.Finish();
    return std::move(result_);
  }

 private:
  void CollectLoops() {
    const auto lhs = RowMajorStrides(lhs_.shape().dims()), rhs = RowMajorStrides(rhs_.shape().dims()),
               out = RowMajorStrides(result_.shape().dims());
    const int64_t ragged = a_.lhs_ragged_dims[0];
    contracting_ragged_ = llvm::is_contained(a_.lhs_contracting_dims, ragged);
    size_t at = 0;
    if (contracting_ragged_) out_group_ = out[at++];
    const auto lhs_stride = [&](int64_t d) { return lhs[static_cast<size_t>(d)]; };
    const auto rhs_stride = [&](int64_t d) { return rhs[static_cast<size_t>(d)]; };
    for (size_t i = 0; i < a_.lhs_batch_dims.size(); ++i) {
      const int64_t l = a_.lhs_batch_dims[i], r = a_.rhs_batch_dims[i];
      batch_.push_back({lhs_.shape().dim(l), lhs_stride(l), rhs_stride(r), out[at++], l == ragged});
    }
    for (int64_t d = 0; d < lhs_.shape().rank(); ++d)
      if (!llvm::is_contained(a_.lhs_batch_dims, d) && !llvm::is_contained(a_.lhs_contracting_dims, d))
        rows_.push_back({lhs_.shape().dim(d), lhs_stride(d), 0, out[at++], d == ragged});
    for (size_t i = 0; i < a_.lhs_contracting_dims.size(); ++i) {
      const int64_t l = a_.lhs_contracting_dims[i], r = a_.rhs_contracting_dims[i];
      steps_.push_back({lhs_.shape().dim(l), lhs_stride(l), rhs_stride(r), 0, l == ragged});
    }
    for (int64_t d = 0; d < rhs_.shape().rank(); ++d) {
      if (llvm::is_contained(a_.rhs_group_dims, d)) {
        rhs_group_ = rhs_stride(d);
        continue;
      }
      if (!llvm::is_contained(a_.rhs_batch_dims, d) && !llvm::is_contained(a_.rhs_contracting_dims, d))
        columns_.push_back({rhs_.shape().dim(d), 0, rhs_stride(d), out[at++]});
    }
  }

  /// Positions [begin, end) of group g under the sizes of `row`, within a dimension of `limit`.
  struct Range {
    int64_t begin, end;
  };
  [[nodiscard]] Range GroupRange(int64_t row, int64_t g, int64_t limit) const {
    const auto sizes = sizes_.Data<int64_t>();
    Range range{0, 0};
    for (int64_t i = 0; i <= g; ++i) {
      range.begin = range.end;
      const int64_t size = std::clamp<int64_t>(sizes[static_cast<size_t>(row * groups_ + i)], 0, limit);
      range.end = std::min(limit, range.end + size);
    }
    return range;
  }

  struct Bases {
    int64_t lhs = 0, rhs = 0, out = 0;
  };
  /// Fixes a loop at one index or range.
  static void Restrict(Loop& loop, int64_t begin, int64_t size, Bases& bases) {
    bases.lhs += begin * loop.lhs;
    bases.rhs += begin * loop.rhs;
    bases.out += begin * loop.out;
    loop.size = size;
  }

  /// The ragged dimension is a batch or a free one: each group's positions form a product of their own.
  void RunRow(int64_t row, bool shared) {
    for (int64_t g = 0; g < groups_; ++g) {
      Loops batch = batch_, rows = rows_;
      llvm::SmallVector<Loop*> outer;
      Loop* ragged = nullptr;
      for (Loops* loops : {&batch, &rows})
        for (Loop& loop : *loops) {
          if (ragged) break;
          if (loop.ragged)
            ragged = &loop;
          else
            outer.push_back(&loop);
        }
      Bases bases;
      bases.rhs = g * rhs_group_;
      int64_t rest = row;
      for (size_t i = outer.size(); !shared && i-- > 0;) {
        const int64_t size = outer[i]->size;
        Restrict(*outer[i], rest % size, 1, bases);
        rest /= size;
      }
      const Range range = GroupRange(row, g, ragged->size);
      if (range.begin == range.end) continue;
      Restrict(*ragged, range.begin, range.end - range.begin, bases);
      RunProduct(batch, rows, Table(steps_, &Loop::lhs), Table(steps_, &Loop::rhs), bases);
    }
  }

  /// The ragged dimension is contracted: each group gives a slice of the result.
  void RunContracting(bool shared) {
    int64_t batches = 1, prefix = 1;
    size_t ragged = 0;
    if (!shared)
      for (const Loop& loop : batch_) batches *= loop.size;
    while (!steps_[ragged].ragged) prefix *= steps_[ragged++].size;
    const Loops before(steps_.begin(), steps_.begin() + static_cast<ptrdiff_t>(ragged));
    const Offsets lhs_before = Table(before, &Loop::lhs), rhs_before = Table(before, &Loop::rhs);
    for (int64_t b = 0; b < batches; ++b)
      for (int64_t g = 0; g < groups_; ++g) {
        Loops batch = batch_;
        Bases bases;
        bases.out = g * out_group_;
        int64_t rest = b;
        for (size_t i = batch.size(); !shared && i-- > 0;) {
          const int64_t size = batch[i].size;
          Restrict(batch[i], rest % size, 1, bases);
          rest /= size;
        }
        Offsets lhs_k, rhs_k;
        for (int64_t p = 0; p < prefix; ++p) {
          const Range range = GroupRange(shared ? 0 : b * prefix + p, g, steps_[ragged].size);
          Loops inner(steps_.begin() + static_cast<ptrdiff_t>(ragged), steps_.end());
          Bases at{lhs_before[static_cast<size_t>(p)], rhs_before[static_cast<size_t>(p)], 0};
          Restrict(inner[0], range.begin, range.end - range.begin, at);
          const Offsets l = Table(inner, &Loop::lhs, at.lhs), r = Table(inner, &Loop::rhs, at.rhs);
          lhs_k.insert(lhs_k.end(), l.begin(), l.end());
          rhs_k.insert(rhs_k.end(), r.begin(), r.end());
        }
        RunProduct(batch, rows_, std::move(lhs_k), std::move(rhs_k), bases);
      }
  }

  void RunProduct(const Loops& batch, const Loops& rows, Offsets lhs_k, Offsets rhs_k, const Bases& bases) {
    GemmProblem p;
    p.batch_lhs = Table(batch, &Loop::lhs, bases.lhs);
    p.batch_rhs = Table(batch, &Loop::rhs, bases.rhs);
    p.batch_out = Table(batch, &Loop::out, bases.out);
    p.lhs_m = Table(rows, &Loop::lhs);
    p.out_m = Table(rows, &Loop::out);
    p.lhs_k = std::move(lhs_k);
    p.rhs_k = std::move(rhs_k);
    p.rhs_n = Table(columns_, &Loop::rhs);
    p.out_n = Table(columns_, &Loop::out);
    contraction_.Run(std::move(p));
  }

  const RaggedDotAttrs& a_;
  const Literal &lhs_, &rhs_;
  const Literal sizes_;
  int64_t groups_;
  Literal result_;
  Contraction contraction_;
  Loops batch_, rows_, steps_, columns_;
  bool contracting_ragged_ = false;
  int64_t rhs_group_ = 0, out_group_ = 0;
};

/// The result's sizes: groups where each has a slice, batch, free dimensions of both sides.
Dims ResultDims(const RaggedDotAttrs& a, llvm::ArrayRef<Literal> operands) {
  const Shape &lhs = operands[0].shape(), &rhs = operands[1].shape();
  Dims dims;
  if (llvm::is_contained(a.lhs_contracting_dims, a.lhs_ragged_dims[0]))
    dims.push_back(operands[2].shape().dims().back());
  for (const int64_t d : a.lhs_batch_dims) dims.push_back(lhs.dim(d));
  for (int64_t d = 0; d < lhs.rank(); ++d)
    if (!llvm::is_contained(a.lhs_batch_dims, d) && !llvm::is_contained(a.lhs_contracting_dims, d))
      dims.push_back(lhs.dim(d));
  for (int64_t d = 0; d < rhs.rank(); ++d)
    if (!llvm::is_contained(a.rhs_batch_dims, d) && !llvm::is_contained(a.rhs_contracting_dims, d) &&
        !llvm::is_contained(a.rhs_group_dims, d))
      dims.push_back(rhs.dim(d));
  return dims;
}

/// operand(i) * scale(i / ratio), in F32 or F64. Ratios are those of the bounds of dynamic dimensions.
Literal Scale(const Literal& operand, const Literal& scale, ElementType work) {
  Literal result = WithElementType(operand, work);
  const Literal factors = WithElementType(scale, work);
  const auto dims = operand.shape().dims(), scale_dims = scale.shape().dims();
  const auto strides = RowMajorStrides(scale.shape().dims());
  Offsets at{0};  // the scale's element for each of the operand's
  for (size_t d = 0; d < dims.size(); ++d) {
    Offsets next;
    const int64_t ratio = scale_dims[d] == 0 ? 1 : dims[d] / scale_dims[d];
    for (const int64_t base : at)
      for (int64_t i = 0; i < dims[d]; ++i)
        next.push_back(base + i / std::max<int64_t>(ratio, 1) * strides[d]);
    at = std::move(next);
  }
  const auto multiply = [&]<class T>(T) {
    auto values = result.MutableSpan<T>();
    const auto by = factors.Data<T>();
    for (size_t i = 0; i < values.size(); ++i) values[i] *= by[static_cast<size_t>(at[i])];
  };
  if (work == ElementType::F64)
    multiply(double{});
  else
    multiply(float{});
  return result;
}

}  // namespace

Result<Literal> EvalRaggedDot(EvalContext& context, const Instruction& inst,
                              llvm::MutableArrayRef<Literal> operands) {
  // Padding of dynamic dimensions takes no part (ops-structured §13).
  const auto& attrs = inst.attr<RaggedDotAttrs>();
  if (AnyDynamic(operands)) {
    Dims lhs(attrs.lhs_batch_dims), rhs(attrs.rhs_batch_dims);
    llvm::append_range(lhs, attrs.lhs_contracting_dims);
    llvm::append_range(rhs, attrs.rhs_contracting_dims);
    llvm::append_range(rhs, attrs.rhs_group_dims);
    operands[0] = ToStaticBut(operands[0], lhs);
    operands[1] = ToStaticBut(operands[1], rhs);
    operands[2] = ZeroPadding(operands[2]);
  }
  const Shape shape = Shape::ArrayWithDefaultLayout(inst.shape().element_type(), ResultDims(attrs, operands));
  const Literal result = RaggedDot(attrs, operands, shape).Run();
  HLO_CHECK_OK(context.CheckInterrupt());
  return ToBounded(result, inst.shape());
}

Result<Literal> EvalScaledDot(EvalContext& context, const Instruction& inst,
                              llvm::MutableArrayRef<Literal> operands) {
  const auto& a = inst.attr<DotAttrs>();
  const bool wide =
      inst.shape().element_type() == ElementType::F64 ||
      llvm::any_of(operands, [](const Literal& l) { return l.shape().element_type() == ElementType::F64; });
  const ElementType work = wide ? ElementType::F64 : ElementType::F32;
  const Literal lhs = Scale(operands[0], operands[2], work), rhs = Scale(operands[1], operands[3], work);
  const DotDims dims{a.lhs_batch_dims, a.lhs_contracting_dims, a.rhs_batch_dims, a.rhs_contracting_dims};
  Literal result = Contract(dims, lhs, rhs, inst.shape());
  HLO_CHECK_OK(context.CheckInterrupt());
  return result;
}

}  // namespace hlo

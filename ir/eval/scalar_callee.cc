#include "ir/eval/scalar_callee.h"

#include <atomic>
#include <mutex>

#include "ir/eval/compute_type.h"
#include "ir/eval/strided_copy.h"
#include "ir/support/interrupt.h"
#include "ir/support/parallel.h"
#include "llvm/ADT/Sequence.h"

namespace hlo {
namespace {

void AppendLeafTypes(const Shape& shape, std::vector<ElementType>& types) {
  ForEachLeaf(shape, [&](const ShapeIndex&, const Shape& leaf) { types.push_back(leaf.element_type()); });
}

void AppendLeaves(const Literal& literal, llvm::SmallVectorImpl<const Literal*>& leaves) {
  if (!literal.shape().IsTuple()) return leaves.push_back(&literal);
  for (const Literal& element : literal.elements()) AppendLeaves(element, leaves);
}

}  // namespace

ScalarCallee::ScalarCallee(EvalContext& context, const Computation& computation)
    : context_(context), computation_(computation), function_(ScalarFunction::Compile(computation)) {
  for (const Instruction* p : computation.parameters()) AppendLeafTypes(p->shape(), parameter_types_);
  AppendLeafTypes(computation.root()->shape(), result_types_);
}

std::optional<OpKind> ScalarCallee::SingleOp() const {
  if (!function_) return std::nullopt;
  const auto op = function_->AsBinaryOp();
  return op ? std::optional(op->kind) : std::nullopt;
}

ScalarCaller::ScalarCaller(const ScalarCallee& callee) : callee_(callee) {
  if (callee.function_) runner_.emplace(*callee.function_);
}

Status ScalarCaller::Run(llvm::ArrayRef<const void*> arguments, llvm::ArrayRef<void*> results, int64_t n) {
  if (!runner_) return Interpret(arguments, results, n);
  runner_->Run(arguments, results, n);
  return {};
}

Status ScalarCaller::Interpret(llvm::ArrayRef<const void*> arguments, llvm::ArrayRef<void*> results,
                               int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    std::vector<Literal> values;
    for (size_t a = 0; a < arguments.size(); ++a) {
      const ElementType type = callee_.parameter_types_[a];
      const auto width = static_cast<size_t>(Info(type).host_bytes());
      Literal value = Literal::Make(Shape::ArrayWithDefaultLayout(type, {}));
      std::memcpy(value.MutableData(),
                  static_cast<const uint8_t*>(arguments[a]) + static_cast<size_t>(i) * width, width);
      values.push_back(std::move(value));
    }
    HLO_TRY(const Literal result, callee_.context_.Call(callee_.computation_, std::move(values)));
    llvm::SmallVector<const Literal*> leaves;
    AppendLeaves(result, leaves);
    for (size_t r = 0; r < results.size(); ++r) {
      const Literal leaf = leaves[r]->Unpack();
      std::memcpy(static_cast<uint8_t*>(results[r]) + static_cast<size_t>(i) * leaf.byte_size(), leaf.data(),
                  leaf.byte_size());
    }
  }
  return {};
}

Status ForEachPiece(const ScalarCallee& callee, int64_t begin, int64_t end, int64_t grain,
                    llvm::function_ref<Status(int64_t, int64_t)> body) {
  if (!callee.is_parallel()) {
    for (int64_t b = begin; b < end; b += grain) {
      if (Interrupted()) return Error(InterruptedError());
      HLO_CHECK_OK(body(b, std::min(end, b + grain)));
    }
    return {};
  }
  std::mutex mutex;
  Status first;
  int64_t first_piece = end;
  ParallelFor(begin, end, grain, [&](int64_t b, int64_t e) {
    Status status = Interrupted() ? Status(Error(InterruptedError())) : body(b, e);
    if (status) return;
    const std::lock_guard lock(mutex);
    if (b >= first_piece) return;
    first_piece = b;
    first = std::move(status);
  });
  return first;
}

Literal WithElementType(const Literal& literal, ElementType type) {
  const ElementType from = literal.shape().element_type();
  if (from == type) return literal;
  Literal result = Literal::Make(literal.shape().WithElementType(type));
  for (int64_t d = 0; literal.HasDynamicSizes() && d < literal.shape().rank(); ++d)
    result.SetDynamicSize(d, literal.DynamicSize(d));
  const ComputeType compute = ComputeTypeFor(type, from, type);
  const ComputeBuffer values = ToCompute(literal, type, compute, false);
  VisitComputeType(compute, [&](auto tag) {
    using T = decltype(tag);
    ConvertFromCompute<T>(static_cast<const T*>(values.data), type, literal.shape().ElementCount(),
                          result.MutableData());
  });
  return result;
}

Literal ToBounded(const Literal& value, const Shape& bounded) {
  if (bounded.IsTuple()) {
    std::vector<Literal> parts;
    for (int64_t i = 0; i < bounded.tuple_size(); ++i)
      parts.push_back(ToBounded(value.element(i), bounded.tuple_shape(i)));
    return Literal::MakeTuple(std::move(parts));
  }
  if (value.shape().dims() == bounded.dims()) return value.WithShape(bounded);
  Literal result = Literal::Zeros(bounded);
  const auto width = static_cast<size_t>(Info(bounded.element_type()).host_bytes());
  const int64_t rank = bounded.rank(), count = value.shape().ElementCount();
  uint8_t* out = result.MutableData();
  Dims index(static_cast<size_t>(rank), 0);
  const int64_t row = value.shape().dim(rank - 1);
  for (int64_t i = 0; i < count; i += row) {
    int64_t linear = 0;
    for (size_t d = 0; d < index.size(); ++d) linear = linear * bounded.dims()[d] + index[d];
    std::memcpy(out + static_cast<size_t>(linear) * width, value.data() + static_cast<size_t>(i) * width,
                static_cast<size_t>(row) * width);
    for (size_t d = index.size() - 1; d-- > 0;) {
      if (++index[d] < value.shape().dims()[d]) break;
      index[d] = 0;
    }
  }
  for (int64_t d = 0; d < rank; ++d)
    if (bounded.is_dynamic(d)) result.SetDynamicSize(d, value.shape().dim(d));
  return result;
}

bool AnyDynamic(llvm::ArrayRef<Literal> operands) {
  return llvm::any_of(operands, [](const Literal& l) { return l.HasDynamicSizes(); });
}

void MakeAllStatic(llvm::MutableArrayRef<Literal> operands) {
  for (Literal& l : operands) l = l.ToStatic();
}

Literal ToStaticBut(const Literal& literal, llvm::ArrayRef<int64_t> kept) {
  Literal part = literal.ToStatic();
  Dims sizes(part.shape().dims());
  for (const int64_t d : kept) sizes[static_cast<size_t>(d)] = literal.shape().dim(d);
  if (part.shape().dims() == llvm::ArrayRef(sizes)) return part;
  Literal whole = Literal::Zeros(Shape::ArrayWithDefaultLayout(part.shape().element_type(), sizes));
  const auto to = RowMajorStrides(sizes), from = RowMajorStrides(part.shape().dims());
  llvm::SmallVector<CopyDim> dims;
  for (size_t d = 0; d < sizes.size(); ++d) dims.push_back({part.shape().dims()[d], to[d], from[d]});
  StridedCopy(whole.MutableData(), part.data(), Info(part.shape().element_type()).host_bytes(), dims);
  return whole;
}

Literal ZeroPadding(const Literal& literal) {
  return ToStaticBut(literal, llvm::to_vector(llvm::seq<int64_t>(literal.shape().rank())));
}

void MakeCommonStatic(llvm::MutableArrayRef<Literal> arrays) {
  const Dims bounds(arrays[0].shape().dims());
  Dims sizes = bounds;
  for (const Literal& l : arrays)
    for (size_t d = 0; d < sizes.size(); ++d)
      sizes[d] = std::min(sizes[d], l.DynamicSize(static_cast<int64_t>(d)));
  const llvm::SmallVector<bool> dynamic(sizes.size(), true);
  for (Literal& l : arrays) {
    l = l.WithShape(Shape::ArrayWithDefaultLayout(l.shape().element_type(), bounds, dynamic));
    for (size_t d = 0; d < sizes.size(); ++d) l.SetDynamicSize(static_cast<int64_t>(d), sizes[d]);
    l = l.ToStatic();
  }
}

void PadToCommonSizes(llvm::MutableArrayRef<Literal> arrays, llvm::ArrayRef<Literal> padding) {
  Dims sizes(arrays[0].shape().dims().size(), 0);
  for (const Literal& l : arrays)
    for (size_t d = 0; d < sizes.size(); ++d)
      sizes[d] = std::max(sizes[d], l.DynamicSize(static_cast<int64_t>(d)));
  for (size_t i = 0; i < arrays.size(); ++i) {
    const Literal part = arrays[i] = arrays[i].ToStatic();
    if (part.shape().dims() == llvm::ArrayRef(sizes)) continue;
    Literal& whole = arrays[i] =
        Literal::Make(Shape::ArrayWithDefaultLayout(part.shape().element_type(), sizes));
    uint8_t* to = whole.MutableData();
    const int width = Info(part.shape().element_type()).host_bytes();
    FillElements(to, padding[i].data(), width, whole.shape().ElementCount());
    const auto to_strides = RowMajorStrides(sizes), from_strides = RowMajorStrides(part.shape().dims());
    llvm::SmallVector<CopyDim> dims;
    for (size_t d = 0; d < sizes.size(); ++d)
      dims.push_back({part.shape().dims()[d], to_strides[d], from_strides[d]});
    StridedCopy(to, part.data(), width, dims);
  }
}

}  // namespace hlo

#include "backends/gpu/libraries/product.h"

#include "backends/gpu/libraries/epilogue.h"
#include "ir/module.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

namespace hlo::gpu {
namespace {

constexpr ProductTypes kTypes[] = {
#define PRODUCT_TYPES(operands, result, compute, scale, fused, apart) \
  {ElementType::operands, ElementType::result, CublasCompute::compute, ElementType::scale, fused, apart},
#include "backends/gpu/libraries/product_types.def"
};

/// Smaller products are not worth a call: our own kernels take few rows as what they are, sums over a matrix
/// that is read once.
constexpr int64_t kLeastEdge = 16, kLeastSum = 16, kLeastMultiplies = int64_t{1} << 18;
/// Products that are worth another kernel for what else is done to them.
constexpr int64_t kLeastApart = int64_t{1} << 28;
/// More calls for one product take the host longer than they save.
constexpr int64_t kMostCalls = 64;

/// What an algorithm of a dot says of the type that products are taken in, where the library does it so.
struct AlgorithmRow {
  DotAlgorithm algorithm;
  ElementType operands;
  CublasCompute compute;
};
constexpr AlgorithmRow kAlgorithms[] = {
    {DotAlgorithm::F16F16F32, ElementType::F16, CublasCompute::F32},
    {DotAlgorithm::BF16BF16F32, ElementType::BF16, CublasCompute::F32},
    {DotAlgorithm::F32F32F32, ElementType::F32, CublasCompute::F32},
    {DotAlgorithm::TF32TF32F32, ElementType::F32, CublasCompute::FastTF32},
    {DotAlgorithm::F64F64F64, ElementType::F64, CublasCompute::F64},
};

/// Without an algorithm the first row of the types: no operand is rounded.
const ProductTypes* TypesOf(DotAlgorithm algorithm, ElementType operands, ElementType result) {
  std::optional<CublasCompute> compute;
  if (algorithm != DotAlgorithm::Unset) {
    const auto* row = llvm::find_if(kAlgorithms, [&](const AlgorithmRow& a) {
      return a.algorithm == algorithm && a.operands == operands;
    });
    if (row == std::end(kAlgorithms)) return nullptr;
    compute = row->compute;
  }
  const auto* row = llvm::find_if(kTypes, [&](const ProductTypes& types) {
    return types.operands == operands && types.result == result && (!compute || types.compute == *compute);
  });
  return row == std::end(kTypes) ? nullptr : row;
}

/// What a product has of an epilogue: a factor, sums, only positive results, in this order.
struct ProductEpilogue {
  /// Of the result, then of what is added, all as the dot's dimensions.
  llvm::SmallVector<View, 3> views;
  double alpha = 1;
  bool relu = false;
};

Result<ProductEpilogue> ReadEpilogue(llvm::ArrayRef<const Instruction*> chain) {
  HLO_TRY(const Epilogue epilogue, Epilogue::Read(chain));
  ProductEpilogue read;
  read.views.push_back(epilogue.result());
  for (const EpilogueStep& step : epilogue.steps()) {
    using Op = EpilogueStep::Op;
    const bool first = read.views.size() == 1 && !read.relu;
    const bool fits = step.op == Op::Scale ? first : step.op != Op::Multiply && !read.relu;
    if (!fits)
      return Decline(step.inst->loc(), "%{0} ({1}) is more than the library does to sums", step.inst->name(),
                     step.inst->info().text);
    read.alpha *= step.factor;
    read.relu = step.op == Op::Relu;
    if (step.op == Op::Add) read.views.push_back(step.view);
  }
  return read;
}

/// Dimensions of the two operands and the result that run together, with a stride in each array.
struct Axis {
  enum Place : size_t { Left, Right, Result };  // and what is added behind them
  int64_t size = 1;
  llvm::SmallVector<int64_t, 5> strides;
};
using Axes = llvm::SmallVector<Axis, 4>;

/// As few as they are in all arrays at once, the one with the greatest steps of `place` first.
Axes Merged(Axes axes, size_t place) {
  llvm::erase_if(axes, [](const Axis& axis) { return axis.size == 1; });
  llvm::sort(axes, [&](const Axis& x, const Axis& y) { return x.strides[place] > y.strides[place]; });
  Axes merged;
  for (Axis& axis : axes) {
    const auto follows = [&] {
      for (size_t i = 0; i < axis.strides.size(); ++i)
        if (merged.back().strides[i] != axis.strides[i] * axis.size) return false;
      return true;
    };
    if (!merged.empty() && follows()) axis.size *= merged.pop_back_val().size;
    merged.push_back(std::move(axis));
  }
  return merged;
}

/// A dot's dimensions by what is done with them.
struct ProductAxes {
  Axes batch, left, right, sum;
};

ProductAxes AxesOf(const DotAttrs& dot, const View& lhs, const View& rhs, llvm::ArrayRef<View> results) {
  ProductAxes axes;
  size_t at = 0;  // in the result
  const auto axis = [&](const ViewDim* left, const ViewDim* right, bool in_result) {
    Axis made;
    made.size = (left != nullptr ? left : right)->size;
    made.strides = {left != nullptr ? left->stride : 0, right != nullptr ? right->stride : 0};
    for (const View& view : results) made.strides.push_back(in_result ? view.dims[at].stride : 0);
    at += in_result ? 1 : 0;
    return made;
  };
  const auto dim = [](const View& view, int64_t d) { return &view.dims[static_cast<size_t>(d)]; };
  for (const auto [l, r] : llvm::zip_equal(dot.lhs_batch_dims, dot.rhs_batch_dims))
    axes.batch.push_back(axis(dim(lhs, l), dim(rhs, r), true));
  for (const auto [l, r] : llvm::zip_equal(dot.lhs_contracting_dims, dot.rhs_contracting_dims))
    axes.sum.push_back(axis(dim(lhs, l), dim(rhs, r), false));
  const auto is_free = [](const Dims& batch, const Dims& summed, int64_t d) {
    return !llvm::is_contained(batch, d) && !llvm::is_contained(summed, d);
  };
  for (int64_t d = 0; d < static_cast<int64_t>(lhs.dims.size()); ++d)
    if (is_free(dot.lhs_batch_dims, dot.lhs_contracting_dims, d))
      axes.left.push_back(axis(dim(lhs, d), nullptr, true));
  for (int64_t d = 0; d < static_cast<int64_t>(rhs.dims.size()); ++d)
    if (is_free(dot.rhs_batch_dims, dot.rhs_contracting_dims, d))
      axes.right.push_back(axis(nullptr, dim(rhs, d), true));
  axes.left = Merged(std::move(axes.left), Axis::Result);
  axes.right = Merged(std::move(axes.right), Axis::Result);
  // Rows that do not follow each other are batches, of all of which the other operand is the same.
  for (Axes* rows : {&axes.left, &axes.right})
    while (rows->size() > 1) {
      axes.batch.push_back(std::move(rows->front()));
      rows->erase(rows->begin());
    }
  axes.batch = Merged(std::move(axes.batch), Axis::Result);
  axes.sum = Merged(std::move(axes.sum), Axis::Left);
  return axes;
}

/// Puts a product together whose axes are known; the library's matrices have their columns side by side.
class Assembler {
 public:
  Assembler(LibraryProduct& product, const ProductAxes& axes, llvm::ArrayRef<View> views)
      : product_(product), views_(views), sum_(axes.sum.front()) {
    // A result of rows is one of columns, transposed, and so is its product: Dt = Bt At.
    const bool by_rows = axes.right.front().strides[Axis::Result] == 1;
    std::tie(first_, second_) =
        by_rows ? std::pair(Axis::Right, Axis::Left) : std::pair(Axis::Left, Axis::Right);
    rows_ = by_rows ? axes.right.front() : axes.left.front();
    columns_ = by_rows ? axes.left.front() : axes.right.front();
    Axes batch = axes.batch;
    llvm::sort(batch, [](const Axis& x, const Axis& y) { return x.size > y.size; });
    const Axis one{1, llvm::SmallVector<int64_t, 5>(views.size(), 0)};
    batch_ = !batch.empty() ? batch[0] : one;
    calls_ = batch.size() > 1 ? batch[1] : one;
  }

  /// False where matrices do not lie as they have to.
  bool Run() {
    product_.rows = rows_.size;
    product_.columns = columns_.size;
    product_.sum = sum_.size;
    product_.batch = batch_.size;
    product_.calls = calls_.size;
    if (!Place(product_.a, first_, rows_, sum_) || !Place(product_.b, second_, sum_, columns_) ||
        !Place(product_.d, Axis::Result, rows_, columns_) || product_.d.transposed)
      return false;
    for (size_t i = Axis::Result + 1; i < views_.size(); ++i)
      if (!Add(i)) return false;
    return true;
  }

 private:
  bool Place(LibraryMatrix& matrix, size_t at, const Axis& rows, const Axis& columns) const {
    const View& view = views_[at];
    matrix.array = view.array;
    matrix.type = view.type;
    matrix.offset = view.offset;
    matrix.batch_stride = batch_.strides[at];
    matrix.call_stride = calls_.strides[at];
    matrix.transposed = rows.strides[at] != 1;
    const Axis &inner = matrix.transposed ? columns : rows, &outer = matrix.transposed ? rows : columns;
    matrix.rows = inner.size;
    matrix.columns = outer.size;
    matrix.leading = outer.strides[at];
    return inner.strides[at] == 1 && matrix.leading >= inner.size;
  }
  bool Add(size_t at) const {
    if (views_[at].type != product_.d.type) return false;
    LibraryMatrix added;
    const bool same_for_columns =
        columns_.strides[at] == 0 && batch_.strides[at] == 0 && calls_.strides[at] == 0;
    if (same_for_columns && rows_.strides[at] == 1 && !product_.bias) {
      added.array = views_[at].array;
      added.type = views_[at].type;
      added.offset = views_[at].offset;
      added.rows = rows_.size;
      added.columns = 1;
      added.leading = rows_.size;
      product_.bias = added;
      return true;
    }
    if (product_.c || !Place(added, at, rows_, columns_) || added.transposed) return false;
    product_.c = added;
    return true;
  }

  LibraryProduct& product_;
  llvm::ArrayRef<View> views_;  // of the operands, the result, and what is added
  Axis rows_, columns_, sum_, batch_, calls_;
  size_t first_, second_;  // operands, as the library has them
};

/// The only one, or null.
const Instruction* DotOf(const Instruction& fusion) {
  if (fusion.kind() != OpKind::Fusion) return nullptr;
  const std::vector<Instruction*> dots = fusion.callee()->InstructionsOf(OpKind::Dot);
  return dots.size() == 1 ? dots.front() : nullptr;
}

/// What a dot and what is done to it are as a product; the last is stored.
Result<LibraryProduct> ProductUpTo(llvm::ArrayRef<const Instruction*> chain) {
  const Instruction* const dot = chain.front();
  if (chain.back()->shape().HasDynamicDimension()) return Decline(dot->loc(), "its size is not known");
  HLO_TRY(const ProductEpilogue epilogue, ReadEpilogue(chain));
  llvm::SmallVector<View, 5> views;
  for (const Instruction* operand : dot->operands()) {
    std::optional<View> view = ViewOf(*operand);
    if (!view) return Decline(operand->loc(), "%{0} is made within the kernel", operand->name());
    views.push_back(std::move(*view));
  }
  views.append(epilogue.views.begin(), epilogue.views.end());
  LibraryProduct product;
  product.alpha = epilogue.alpha;
  product.relu = epilogue.relu;
  const ElementType operands = views[Axis::Left].type, result = views[Axis::Result].type;
  const auto& attrs = dot->attr<DotAttrs>();
  product.types = views[Axis::Right].type == operands ? TypesOf(attrs.algorithm, operands, result) : nullptr;
  if (product.types == nullptr)
    return Decline(dot->loc(), "the library has no product of {0} and {1} that is {2}, by its algorithm",
                   ToString(operands), ToString(views[Axis::Right].type), ToString(result));
  const bool fused = product.alpha != 1 || product.relu || epilogue.views.size() > 1;
  if (fused && !product.types->fused)
    return Decline(dot->loc(), "the library does nothing to sums of {0}", ToString(result));
  const ProductAxes axes = AxesOf(attrs, views[Axis::Left], views[Axis::Right], epilogue.views);
  constexpr size_t kMostBatches = 2;
  if (axes.sum.size() > 1 || axes.batch.size() > kMostBatches)
    return Decline(dot->loc(), "its arrays are no matrices for the library");
  // Products of few rows have none of these at all.
  if (axes.left.empty() || axes.right.empty() || axes.sum.empty() ||
      std::min(axes.left[0].size, axes.right[0].size) < kLeastEdge || axes.sum[0].size < kLeastSum)
    return Decline(dot->loc(), "it has fewer than {0} rows, columns or terms", kLeastEdge);
  if (!Assembler(product, axes, views).Run())
    return Decline(dot->loc(), "its arrays do not lie as the library takes them");
  if (product.calls > kMostCalls) return Decline(dot->loc(), "it would take {0} calls", product.calls);
  if (product.rows * product.columns * product.sum < kLeastMultiplies)
    return Decline(dot->loc(), "it is small");
  return product;
}

}  // namespace

llvm::SmallVector<const LibraryMatrix*, 4> LibraryProduct::Matrices() const {
  llvm::SmallVector<const LibraryMatrix*, 4> all = {&a, &b};
  if (c) all.push_back(&*c);
  all.push_back(&d);
  return all;
}

bool ConcernsCublasLt(const Instruction& inst) { return DotOf(inst) != nullptr; }

Result<LibraryProduct> ProductOf(const Instruction& fusion) {
  const Instruction* const dot = DotOf(fusion);
  if (dot == nullptr) return Decline(fusion.loc(), "there is no product in it");
  const auto chain = ChainOf(*dot);
  if (!chain.back()->IsRoot() || !fusion.shape().IsArray())
    return Decline(dot->loc(), "it has several results");
  return ProductUpTo(chain);
}

bool MayBeApart(const Instruction& dot) {
  constexpr double kJoined = 16;  // passes may make one of several
  if (!dot.shape().IsArray()) return false;
  const Shape& left = dot.operand(0)->shape();
  double multiplies = kJoined * static_cast<double>(dot.shape().ElementCount());
  for (const int64_t d : dot.attr<DotAttrs>().lhs_contracting_dims)
    multiplies *= static_cast<double>(left.dim(d));
  return multiplies >= kLeastApart;
}

Instruction* ProductApart(const Instruction& fusion) {
  const Instruction* const dot = DotOf(fusion);
  if (dot == nullptr) return nullptr;
  const auto whole = ChainOf(*dot);
  // With as much as the library does to it.
  for (llvm::ArrayRef<const Instruction*> chain(whole); !chain.empty(); chain = chain.drop_back()) {
    if (chain.back()->IsRoot() || !chain.back()->shape().IsArray()) continue;
    const auto product = ProductUpTo(chain);
    if (!product) continue;
    const double multiplies = static_cast<double>(product->rows * product->columns * product->sum) *
                              static_cast<double>(product->batch * product->calls);
    return product->sum >= product->types->apart && multiplies >= kLeastApart
               ? const_cast<Instruction*>(chain.back())
               : nullptr;
  }
  return nullptr;
}

std::string ToString(const LibraryProduct& product, const Instruction& fusion) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << llvm::formatv("{0}x{1}x{2}", product.rows, product.columns, product.sum);
  if (product.batch > 1) os << " batch " << product.batch;
  if (product.calls > 1) os << " calls " << product.calls;
  os << " by " << ToString(product.types->compute);
  const auto matrix = [&](llvm::StringRef name, const LibraryMatrix& of) {
    os << ", " << name << ' ' << ToString(of.type);
    if (of.array >= 0) os << " %" << fusion.operand(of.array)->name();
    if (of.offset != 0) os << " + " << of.offset;
    if (of.columns > 1) os << ' ' << of.rows << 'x' << of.columns << '/' << of.leading;
    if (of.transposed) os << " transposed";
    if (product.batch > 1 && of.columns > 1) os << " each " << of.batch_stride;
    if (product.calls > 1 && of.columns > 1) os << " call " << of.call_stride;
  };
  matrix("A", product.a);
  matrix("B", product.b);
  if (product.c) matrix("C", *product.c);
  matrix("D", product.d);
  if (product.bias) matrix("bias", *product.bias);
  if (product.alpha != 1) os << ", alpha " << llvm::format("%.9g", product.alpha);
  if (product.relu) os << ", relu";
  return text;
}

}  // namespace hlo::gpu

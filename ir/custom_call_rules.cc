// What signatures of custom calls cannot say: rules that they name.
#include "ir/attrs.h"
#include "ir/computation.h"
#include "ir/custom_call.h"
#include "ir/support/json.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

namespace hlo {
namespace {

std::string TargetOf(const Instruction& call) {
  return "target '" + call.attr<CustomCallAttrs>().custom_call_target + "' ";
}

/// Compatible, with arrays for the buffers that hold them.
bool SameValue(const Shape& a, const Shape& b) {
  if (a.IsBuffer()) return SameValue(a.buffer_shape(), b);
  if (b.IsBuffer()) return SameValue(a, b.buffer_shape());
  if (!a.IsTuple() || !b.IsTuple()) return Compatible(a, b);
  return llvm::equal(a.tuple_shapes(), b.tuple_shapes(), SameValue);
}

/// The result is the first operand, the tuple of all, or nothing at all.
std::optional<CustomCallMisfit> Identity(const Instruction& call) {
  const Shape& result = call.shape();
  const int64_t count = call.operand_count();
  if (result.IsToken() || (result.IsTuple() && result.tuple_size() == 0)) return std::nullopt;
  if (count == 0) {
    return CustomCallMisfit{TargetOf(call) + "gives back its operands, but the call has none"};
  }
  if (SameValue(call.operand(0)->shape(), result)) return std::nullopt;
  const bool tuple =
      result.IsTuple() && result.tuple_size() == count && (count > 1 || !call.operand(0)->shape().IsTuple());
  for (int64_t i = 0; i < count; ++i) {
    const Shape& operand = call.operand(i)->shape();
    const Shape& part = tuple ? result.tuple_shape(i) : result;
    if (SameValue(operand, part)) continue;
    return CustomCallMisfit{
        TargetOf(call) +
            llvm::formatv("is the identity, but operand {0} is {1} and the result {2}", i, operand, part)
                .str(),
        i};
  }
  return std::nullopt;
}

/// The same, but another shape means a program for several devices that still has to be divided among them.
std::optional<CustomCallMisfit> Partitioned(const Instruction& call) {
  auto misfit = Identity(call);
  if (misfit) misfit->not_partitioned = true;
  return misfit;
}

/// One array of f32, f64 or their complex numbers to another one.
std::optional<CustomCallMisfit> UnscaledFft(const Instruction& call) {
  if (UnscaledFftOf(call)) return std::nullopt;
  return CustomCallMisfit{
      TargetOf(call) +
      "transforms complex numbers to such, or real numbers to the first half of them or back"};
}

/// Whether `out` has the sizes of `in` but in dimension `d`, where it is no larger.
bool CutsDimension(const Shape& in, const Shape& out, int64_t d) {
  if (in.rank() != out.rank() || d < 0 || d >= in.rank()) return false;
  Dims dims(in.dims());
  dims[static_cast<size_t>(d)] = out.dim(d);
  return out.dims() == llvm::ArrayRef(dims) && out.dim(d) <= in.dim(d);
}

/// Of the comparator of so many arrays: two scalars of each, and a PRED.
std::string ComparatorMisfit(const Instruction& call, int64_t count) {
  if (call.callees().size() != 1) return "takes a comparator in 'called_computations'";
  const Computation& comparator = *call.callee();
  if (static_cast<int64_t>(comparator.parameters().size()) != 2 * count)
    return llvm::formatv("takes a comparator of {0} parameters, but {1} has {2}", 2 * count,
                         comparator.name(), comparator.parameters().size());
  if (!comparator.root()->shape().IsScalarOf(ElementType::Pred))
    return llvm::formatv("takes a comparator with the result pred[], but {0} has {1}", comparator.name(),
                         comparator.root()->shape());
  for (int64_t p = 0; p < 2 * count; ++p) {
    const Shape& parameter = comparator.parameter(p)->shape();
    const Shape& operand = call.operand(p / 2)->shape();
    if (!parameter.IsScalarOf(operand.element_type()))
      return llvm::formatv("compares elements of operand {0} {1}, but parameter {2} of {3} is {4}", p / 2,
                           operand, p, comparator.name(), parameter);
  }
  return {};
}

/// Operands: the arrays, then an initial value for each (ops-structured §10.3).
std::optional<CustomCallMisfit> ApproxTopK(const Instruction& call) {
  const auto no = [&](const std::string& message) { return CustomCallMisfit{TargetOf(call) + message}; };
  const llvm::ArrayRef<Shape> outs =
      call.shape().IsTuple() ? call.shape().tuple_shapes() : llvm::ArrayRef(call.shape());
  const auto count = static_cast<int64_t>(outs.size());
  if (count == 0 || call.operand_count() != 2 * count)
    return no(
        llvm::formatv("takes an array and an initial value for each of {0} results, but the call has {1} "
                      "operands",
                      count, call.operand_count()));
  const Shape& first = call.operand(0)->shape();
  for (int64_t i = 0; i < count; ++i) {
    const Shape &in = call.operand(i)->shape(), &out = outs[static_cast<size_t>(i)],
                &init = call.operand(count + i)->shape();
    if (!in.IsArray() || !out.IsArray() || in.HasUnboundedDimension() || in.dims() != first.dims() ||
        out.element_type() != in.element_type() || out.dims() != outs[0].dims())
      return no(
          llvm::formatv("takes arrays of one shape and gives the first of each, but operand {0} is {1}, "
                        "operand 0 {2} and result {0} {3}",
                        i, in, first, out));
    if (!init.IsScalarOf(in.element_type()))
      return no(llvm::formatv("takes an initial value of {0} as operand {1}, but the call has {2}",
                              ToString(in.element_type()), count + i, init));
  }
  if (std::string text = ComparatorMisfit(call, count); !text.empty()) return no(text);
  if (ApproxTopKDimension(call, first, outs[0]) < 0)
    return no(llvm::formatv("cuts dimension 'reduction_dim' of {0}, but the result is {1}", first, outs[0]));
  return std::nullopt;
}

/// Numbers of a sparse matrix by rows, where each row begins, the columns of the numbers, and a dense matrix
/// or vector, to the product of both.
std::optional<CustomCallMisfit> CsrProduct(const Instruction& call) {
  static constexpr ElementType kTypes[] = {ElementType::S32, ElementType::S64, ElementType::F32,
                                           ElementType::F64, ElementType::C64, ElementType::C128};
  constexpr int64_t kOperands = 4;
  const auto no = [&](llvm::StringRef what) { return CustomCallMisfit{TargetOf(call) + what.str()}; };
  const Shape result =
      call.shape().IsTuple() && call.shape().tuple_size() == 1 ? call.shape().tuple_shape(0) : call.shape();
  if (call.operand_count() != kOperands || !result.IsArray()) return no("takes 4 arrays and has one result");
  llvm::SmallVector<Shape, kOperands> shapes;
  for (const Instruction* operand : call.operands()) shapes.push_back(operand->shape());
  for (const Shape& shape : shapes)
    if (!shape.IsArray() || shape.HasDynamicDimension()) return no("takes arrays of fixed sizes");
  if (result.HasDynamicDimension()) return no("has a result of fixed sizes");
  const Shape &numbers = shapes[0], &starts = shapes[1], &columns = shapes[2], &dense = shapes[3];
  const ElementType type = numbers.element_type(), index = starts.element_type();
  if (!llvm::is_contained(kTypes, type) || dense.element_type() != type || result.element_type() != type)
    return no("takes numbers of one type, s32, s64, f32, f64, c64 or c128");
  if ((index != ElementType::S32 && index != ElementType::S64) || columns.element_type() != index)
    return no("takes starts of rows and columns of one type, s32 or s64");
  if (numbers.rank() != 1 || starts.rank() != 1 || columns.dims() != numbers.dims())
    return no("takes a number and its column for each place, and starts of rows");
  if (dense.rank() < 1 || dense.rank() > 2 || result.rank() != dense.rank() ||
      result.dims().drop_front() != dense.dims().drop_front())
    return no("takes a vector or a matrix, and has as many columns as that");
  if (starts.dim(0) - 1 != result.dim(0)) return no("takes a start for each row of the result and the end");
  return std::nullopt;
}

}  // namespace

std::optional<FftAttrs> UnscaledFftOf(const Instruction& call) {
  if (call.operand_count() != 1 || !call.shape().IsArray() || !call.operand(0)->shape().IsArray()) return {};
  const Shape &x = call.operand(0)->shape(), &y = call.shape();
  const auto config = ParseJson(call.extras().backend_config);
  const int64_t rank = config ? config->Integer("fft_rank").value_or(0) : 0;
  const bool inverse = config && config->Integer("inverse").value_or(0) != 0;
  if (rank < 1) return {};
  const bool from_real = !IsComplex(x.element_type()), to_real = !IsComplex(y.element_type());
  const ElementType real = RealPartType(y.element_type());
  const bool known = real == ElementType::F32 || real == ElementType::F64;
  if (!known || RealPartType(x.element_type()) != real || (from_real && (to_real || inverse)) ||
      (to_real && !inverse) || x.rank() != y.rank() || x.rank() < rank || x.HasDynamicDimension() ||
      y.HasDynamicDimension() || x.dims().drop_back() != y.dims().drop_back())
    return {};
  const Shape& whole = to_real ? y : x;
  const int64_t last = whole.dims().back(), half = (to_real ? x : y).dims().back();
  if (half != (from_real || to_real ? last / 2 + 1 : last)) return {};
  FftAttrs attrs;
  attrs.fft_type = from_real ? FftType::RFFT
                   : to_real ? FftType::IRFFT
                   : inverse ? FftType::IFFT
                             : FftType::FFT;
  attrs.fft_length = Dims(whole.dims().take_back(static_cast<size_t>(rank)));
  return attrs;
}

int64_t ApproxTopKDimension(const Instruction& call, const Shape& in, const Shape& out) {
  std::optional<int64_t> dimension;
  if (const auto config = ParseJson(call.extras().backend_config)) {
    dimension = config->Integer("reduction_dim");
    if (dimension && *dimension < 0) *dimension += in.rank();
  }
  for (int64_t d = 0; !dimension && d < std::min(in.rank(), out.rank()); ++d)
    if (in.dim(d) != out.dim(d)) dimension = d;
  return dimension && CutsDimension(in, out, *dimension) ? *dimension : -1;
}

CustomCallRule* FindCustomCallRule(llvm::StringRef name) {
  static constexpr std::pair<llvm::StringRef, CustomCallRule*> kRules[] = {{"approx_top_k", &ApproxTopK},
                                                                           {"csr_product", &CsrProduct},
                                                                           {"identity", &Identity},
                                                                           {"partitioned", &Partitioned},
                                                                           {"unscaled_fft", &UnscaledFft}};
  for (const auto& [rule, check] : kRules)
    if (rule == name) return check;
  return nullptr;
}

}  // namespace hlo

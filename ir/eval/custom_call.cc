#include "ir/eval/custom_call.h"

#include "ir/custom_call_signature.h"
#include "ir/eval/custom_call_library.h"
#include "ir/eval/device.h"
#include "ir/eval/lapack_call.h"
#include "ir/eval/scalar_callee.h"
#include "ir/eval/strided_copy.h"
#include "llvm/ADT/StringMap.h"

namespace hlo {
namespace {

using Operands = llvm::MutableArrayRef<Literal>;

/// The same with another layout and other sizes of the run: static dimensions have those of their bounds.
Literal WithSizesOf(const Literal& value, const Shape& shape) {
  Literal result = value.WithShape(shape);
  if (shape.IsTuple())
    for (int64_t i = 0; i < shape.tuple_size(); ++i)
      result.MutableElements()[static_cast<size_t>(i)] = WithSizesOf(value.element(i), shape.tuple_shape(i));
  if (!shape.IsArray() || !result.HasDynamicSizes()) return result;
  for (int64_t d = 0; d < shape.rank(); ++d)
    if (!shape.is_dynamic(d)) result.SetDynamicSize(d, shape.dim(d));
  return result;
}

/// The operands as they are: the first, or a tuple of all.
Result<Literal> Identity(const Instruction& inst, Operands operands) {
  const Shape& shape = inst.shape();
  if (operands.empty() || shape.IsToken() || (shape.IsTuple() && shape.tuple_size() == 0))
    return Literal::Zeros(shape);
  if (Compatible(operands[0].shape(), shape)) return WithSizesOf(operands[0], shape);
  Literal all = Literal::MakeTuple(
      {std::make_move_iterator(operands.begin()), std::make_move_iterator(operands.end())});
  if (Compatible(all.shape(), shape)) return WithSizesOf(all, shape);
  return Error("runtime-custom-call", inst.loc(),
               "target '{0}' is to be the identity, but its operands are {1} and its result {2}",
               inst.attr<CustomCallAttrs>().custom_call_target, all.shape(), shape);
}

/// An instruction of another opcode that does the work of a custom call.
class StandIn {
 public:
  StandIn(const Instruction& inst, OpKind kind, llvm::ArrayRef<Literal> operands, const Shape& shape,
          Attrs attrs, llvm::ArrayRef<Computation*> callees = {})
      : module_("custom_call") {
    Computation* computation = module_.AddComputation("custom_call");
    std::vector<Instruction*> parameters;
    for (size_t i = 0; i < operands.size(); ++i)
      parameters.push_back(computation->Add(OpKind::Parameter, operands[i].shape(), "p", {},
                                            ParameterAttrs{static_cast<int64_t>(i), {}}));
    instruction_ = computation->Add(kind, shape, "r", parameters, std::move(attrs), callees);
    instruction_->set_loc(inst.loc());
  }
  [[nodiscard]] const Instruction& instruction() const { return *instruction_; }

 private:
  Module module_;
  Instruction* instruction_;
};

/// One half of each 64-bit value.
Result<Literal> SplitX64(const Instruction& inst, Operands operands, int shift) {
  Literal out = Literal::Make(inst.shape());
  const auto* words = reinterpret_cast<const uint64_t*>(operands[0].data());
  auto* parts = reinterpret_cast<uint32_t*>(out.MutableData());
  const int64_t count = inst.shape().ElementCount();
  for (int64_t i = 0; i < count; ++i) parts[i] = static_cast<uint32_t>(words[i] >> shift);
  return out;
}

template <class T>
void Multiply(Literal& value, double factor) {
  const auto by = static_cast<T>(factor);
  const size_t count = value.byte_size() / sizeof(T);
  T* const numbers = reinterpret_cast<T*>(value.MutableData());
  for (size_t i = 0; i < count; ++i) numbers[i] *= by;
}

}  // namespace

/// A transform without the factor of inverse ones; complex numbers are pairs of real ones.
Result<Literal> EvalUnscaledFftTarget(EvalContext& context, const Instruction& inst, Operands operands) {
  const auto attrs = UnscaledFftOf(inst);
  const Shape shape = inst.shape().WithDefaultLayouts();
  HLO_TRY(Literal result,
          EvalFft(context, StandIn(inst, OpKind::Fft, operands, shape, *attrs).instruction(), operands));
  if (attrs->fft_type == FftType::FFT || attrs->fft_type == FftType::RFFT)
    return result.WithShape(inst.shape());
  double count = 1;
  for (const int64_t length : attrs->fft_length) count *= static_cast<double>(length);
  if (RealPartType(shape.element_type()) == ElementType::F64)
    Multiply<double>(result, count);
  else
    Multiply<float>(result, count);
  return result.WithShape(inst.shape());
}

Result<Literal> EvalAllocateBufferTarget(EvalContext&, const Instruction& inst, Operands) {
  return Literal::Zeros(inst.shape());
}

Result<Literal> EvalGetRngSeedTarget(EvalContext& context, const Instruction&, Operands) {
  return Literal::Scalar(ElementType::U64, context.device().rng_seed());
}

/// The k largest along the last dimension: values and s32 positions (ops-structured §5.2).
Result<Literal> EvalTopKTarget(EvalContext& context, const Instruction& inst, Operands operands) {
  const Shape& shape = inst.shape();
  TopKAttrs attrs;
  attrs.k = shape.tuple_shape(0).dims().back();
  return EvalTopK(context, StandIn(inst, OpKind::TopK, operands, shape, attrs).instruction(), operands);
}

/// The first elements in the order of the comparator, exactly (ops-structured §10.3). Operands: the arrays,
/// then an initial value for each, which an exact search does not need.
Result<Literal> EvalApproxTopKTarget(EvalContext& context, const Instruction& inst, Operands operands) {
  const auto count = operands.size() / 2;
  const llvm::ArrayRef<Shape> outs =
      inst.shape().IsTuple() ? inst.shape().tuple_shapes() : llvm::ArrayRef(inst.shape());
  const int64_t dimension = ApproxTopKDimension(inst, operands[0].shape(), outs[0]);
  operands = operands.take_front(count);
  if (AnyDynamic(operands)) MakeCommonStatic(operands);
  std::vector<Shape> shapes;
  for (const Literal& operand : operands) shapes.push_back(operand.shape());
  SortAttrs attrs;
  attrs.dimensions = {dimension};
  const StandIn sort(inst, OpKind::Sort, operands, count == 1 ? shapes[0] : Shape::MakeTuple(shapes), attrs,
                     {inst.callees().front()});
  HLO_TRY(const Literal sorted, EvalSort(context, sort.instruction(), operands));
  std::vector<Literal> results;
  for (size_t i = 0; i < count; ++i) {
    const Literal& all = count == 1 ? sorted : sorted.element(static_cast<int64_t>(i));
    Literal& first = results.emplace_back(Literal::Zeros(outs[i].WithoutDynamic()));
    const auto to = RowMajorStrides(outs[i].dims()), from = RowMajorStrides(all.shape().dims());
    llvm::SmallVector<CopyDim> dims;
    for (size_t d = 0; d < to.size(); ++d)
      dims.push_back({std::min(outs[i].dims()[d], all.shape().dims()[d]), to[d], from[d]});
    StridedCopy(first.MutableData(), all.data(), Info(outs[i].element_type()).host_bytes(), dims);
  }
  return inst.shape().IsTuple() ? Literal::MakeTuple(std::move(results)).WithShape(inst.shape())
                                : results[0].WithShape(inst.shape());
}

Result<Literal> EvalSliceToDynamicTarget(EvalContext&, const Instruction& inst, Operands operands) {
  const Shape& shape = inst.shape();
  Literal value = operands[0].WithShape(shape);
  for (int64_t d = 0; d < shape.rank(); ++d) {
    const int32_t size = operands[static_cast<size_t>(d) + 1].Data<int32_t>()[0];
    // A static dimension has the size of the bound, whatever that of the operand.
    value.SetDynamicSize(d, shape.is_dynamic(d) ? std::clamp<int64_t>(size, 0, shape.dim(d)) : shape.dim(d));
  }
  return value;
}

Result<Literal> EvalPadToStaticTarget(EvalContext&, const Instruction& inst, Operands operands) {
  std::vector<Literal> parts;
  const Shape& shape = operands[0].shape();
  parts.push_back(
      Literal::Borrow(shape.WithoutDynamic(), operands[0].data(), std::make_shared<Literal>(operands[0])));
  for (int64_t d = 0; d < shape.rank(); ++d)
    parts.push_back(Literal::Scalar(ElementType::S32, static_cast<int32_t>(operands[0].DynamicSize(d))));
  if (!inst.shape().IsTuple()) return parts[0].WithShape(inst.shape());
  return Literal::MakeTuple(std::move(parts)).WithShape(inst.shape());
}

/// 64-bit values from (low, high) words and back.
Result<Literal> EvalX64CombineTarget(EvalContext&, const Instruction& inst, Operands operands) {
  Literal out = Literal::Make(inst.shape());
  const auto* low = reinterpret_cast<const uint32_t*>(operands[0].data());
  const auto* high = reinterpret_cast<const uint32_t*>(operands[1].data());
  auto* words = reinterpret_cast<uint64_t*>(out.MutableData());
  const int64_t count = inst.shape().ElementCount();
  for (int64_t i = 0; i < count; ++i) words[i] = static_cast<uint64_t>(high[i]) << 32 | low[i];
  return out;
}

Result<Literal> EvalX64SplitHighTarget(EvalContext&, const Instruction& inst, Operands operands) {
  return SplitX64(inst, operands, 32);
}
Result<Literal> EvalX64SplitLowTarget(EvalContext&, const Instruction& inst, Operands operands) {
  return SplitX64(inst, operands, 0);
}

/// Placement, sharding and layout marks.
Result<Literal> EvalMarkTarget(EvalContext&, const Instruction& inst, Operands operands) {
  return Identity(inst, operands);
}

const CustomCallTarget* FindCustomCallTarget(llvm::StringRef name) {
  static const llvm::StringMap<CustomCallTarget> targets = {
#define CUSTOM_CALL(target, Evaluate, signature) {target, {Eval##Evaluate##Target}},
#define LAPACK_CALL(Id, real_name, complex_name, ...)                                                    \
  {"lapack_s" real_name "_ffi", {lapack::Id<float>, lapack::Explain<lapack::Routine::Id, float>}},       \
      {"lapack_d" real_name "_ffi", {lapack::Id<double>, lapack::Explain<lapack::Routine::Id, double>}}, \
      {"lapack_c" complex_name "_ffi",                                                                   \
       {lapack::Id<std::complex<float>>, lapack::Explain<lapack::Routine::Id, std::complex<float>>}},    \
      {"lapack_z" complex_name "_ffi",                                                                   \
       {lapack::Id<std::complex<double>>, lapack::Explain<lapack::Routine::Id, std::complex<double>>}},
#include "ir/custom_calls.def"
  };
  const CustomCallSignature* signature = FindCustomCallSignature(name);
  return signature == nullptr ? nullptr : &targets.find(signature->target)->second;
}

Status CheckCustomCall(const Instruction& inst) {
  const auto holds_buffer = [](const Shape& shape) {
    bool found = false;
    ForEachLeaf(shape, [&](const ShapeIndex&, const Shape& leaf) { found |= leaf.IsBuffer(); });
    return found;
  };
  const auto misfit = FindCustomCallMisfit(inst);
  if (!misfit) {
    const bool buffers =
        holds_buffer(inst.shape()) ||
        llvm::any_of(inst.operands(), [&](const Instruction* o) { return holds_buffer(o->shape()); });
    if (!buffers) return {};
    return Error("unsupported-shape", inst.loc(), "%{0}: calls with buffers cannot be run", inst.name());
  }
  if (misfit->not_partitioned)
    return Error("unsupported-unpartitioned", inst.loc(), "%{0}: the program is not partitioned: {1}",
                 inst.name(), misfit->message);
  return Error("verify-custom-call", inst.loc(), "%{0}: {1}", inst.name(), misfit->message);
}

Result<Literal> EvalCustomCall(EvalContext& context, const Instruction& inst, Operands operands) {
  const std::string& target = inst.attr<CustomCallAttrs>().custom_call_target;
  if (const CustomCallTarget* known = FindCustomCallTarget(target)) {
    HLO_CHECK_OK(CheckCustomCall(inst));
    return known->eval(context, inst, operands);
  }
  if (const CustomCallLibraries* libraries = context.device().group().custom_call_libraries())
    if (const LibraryFunction function = libraries->Find(target); function.address != nullptr)
      return CallLibrary(function, inst, operands);
  const std::string fallback = context.device().group().MissingCustomCall(target);
  if (fallback == "zeros") return Literal::Zeros(inst.shape());
  if (fallback == "identity") return Identity(inst, operands);
  return Error("unsupported-custom-call", inst.loc(), "no implementation of custom-call target '{0}'",
               target);
}

}  // namespace hlo

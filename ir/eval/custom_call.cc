#include "ir/eval/custom_call.h"

#include "ir/eval/custom_call_library.h"
#include "ir/eval/device.h"
#include "ir/eval/scalar_callee.h"
#include "ir/eval/strided_copy.h"
#include "llvm/Support/JSON.h"

namespace hlo {
namespace {

using Operands = llvm::MutableArrayRef<Literal>;

/// The operands as they are: one value, or a tuple of all. Placement, sharding and layout marks.
Result<Literal> EvalMark(EvalContext&, const Instruction& inst, Operands operands) {
  if (inst.shape().IsTuple() && operands.size() == static_cast<size_t>(inst.shape().tuple_size()) &&
      !(operands.size() == 1 && operands[0].shape().IsTuple()))
    return Literal::MakeTuple(
               {std::make_move_iterator(operands.begin()), std::make_move_iterator(operands.end())})
        .WithShape(inst.shape());
  if (operands.empty()) return Literal::Zeros(inst.shape());
  if (!Compatible(operands[0].shape(), inst.shape()))
    return Error("runtime-custom-call", inst.loc(),
                 "target '{0}' is the identity, but its operand is {1} and its result {2}",
                 inst.attr<CustomCallAttrs>().custom_call_target, operands[0].shape(), inst.shape());
  return operands[0].WithShape(inst.shape());
}

Result<Literal> EvalAllocateBuffer(EvalContext&, const Instruction& inst, Operands) {
  return Literal::Zeros(inst.shape());
}

Result<Literal> EvalGetRngSeed(EvalContext& context, const Instruction& inst, Operands) {
  if (!inst.shape().IsScalarOf(ElementType::U64))
    return Error("runtime-custom-call", inst.loc(), "target 'GetRngSeed' has result {0}, expected u64[]",
                 inst.shape());
  return Literal::Scalar(ElementType::U64, context.device().rng_seed());
}

/// The error of a call whose operands or result the target cannot have.
tl::unexpected<Diagnostic> BadCall(const Instruction& inst, Operands operands, llvm::StringRef expected) {
  std::string shapes;
  for (const Literal& operand : operands)
    shapes += (shapes.empty() ? "" : ", ") + ToString(operand.shape(), /*with_layout=*/false);
  return Error("runtime-custom-call", inst.loc(), "target '{0}' of ({1}) has result {2}, expected {3}",
               inst.attr<CustomCallAttrs>().custom_call_target, shapes, inst.shape(), expected);
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

/// Whether `out` has the sizes of `in` but in dimension `d`, where it is no larger.
bool CutsDimension(const Shape& in, const Shape& out, int64_t d) {
  if (!in.IsArray() || !out.IsArray() || in.rank() != out.rank() || d < 0 || d >= in.rank()) return false;
  Dims dims(in.dims());
  dims[static_cast<size_t>(d)] = out.dim(d);
  return out.dims() == llvm::ArrayRef(dims) && out.dim(d) <= in.dim(d);
}

/// The k largest along the last dimension: values and s32 positions (ops-structured §5.2).
Result<Literal> EvalTopKTarget(EvalContext& context, const Instruction& inst, Operands operands) {
  const Shape& shape = inst.shape();
  const bool pair = operands.size() == 1 && shape.IsTuple() && shape.tuple_size() == 2;
  if (!pair || !CutsDimension(operands[0].shape(), shape.tuple_shape(0), operands[0].shape().rank() - 1) ||
      shape.tuple_shape(0).element_type() != operands[0].shape().element_type() ||
      !shape.tuple_shape(1).IsArray() || shape.tuple_shape(1).element_type() != ElementType::S32 ||
      shape.tuple_shape(1).dims() != shape.tuple_shape(0).dims())
    return BadCall(inst, operands, "the first values of each row and their s32 positions");
  TopKAttrs attrs;
  attrs.k = shape.tuple_shape(0).dims().back();
  return EvalTopK(context, StandIn(inst, OpKind::TopK, operands, shape, attrs).instruction(), operands);
}

/// The dimension that an approximate top-k reduces, as its configuration says, else as its shapes do; -1 if
/// they disagree.
int64_t ReducedDimension(const Instruction& inst, const Shape& in, const Shape& out) {
  std::optional<int64_t> dimension;
  if (auto config = llvm::json::parse(inst.extras().backend_config)) {
    if (const llvm::json::Object* object = config->getAsObject())
      dimension = object->getInteger("reduction_dim");
    if (dimension && *dimension < 0) *dimension += in.rank();
  } else {
    llvm::consumeError(config.takeError());
  }
  for (int64_t d = 0; !dimension && d < std::min(in.rank(), out.rank()); ++d)
    if (in.dim(d) != out.dim(d)) dimension = d;
  return dimension && CutsDimension(in, out, *dimension) ? *dimension : -1;
}

/// The first elements in the order of the comparator, exactly (ops-structured §10.3). Operands: the arrays,
/// then an initial value for each, which an exact search does not need.
Result<Literal> EvalApproxTopK(EvalContext& context, const Instruction& inst, Operands operands) {
  const auto count = operands.size() / 2;
  const llvm::ArrayRef<Shape> outs =
      inst.shape().IsTuple() ? inst.shape().tuple_shapes() : llvm::ArrayRef(inst.shape());
  const Computation* comparator = inst.callees().size() == 1 ? inst.callee() : nullptr;
  bool good = count > 0 && operands.size() == 2 * count && outs.size() == count && comparator != nullptr &&
              comparator->parameters().size() == 2 * count &&
              comparator->root()->shape().IsScalarOf(ElementType::Pred) && operands[0].shape().IsArray();
  for (size_t i = 0; good && i < count; ++i) {
    const Shape &in = operands[i].shape(), &out = outs[i];
    good = in.IsArray() && out.IsArray() && in.dims() == operands[0].shape().dims() &&
           out.dims() == outs[0].dims() && out.element_type() == in.element_type();
    for (const size_t p : {2 * i, 2 * i + 1})
      good = good && comparator->parameter(static_cast<int64_t>(p))->shape().IsScalarOf(in.element_type());
  }
  if (!good)
    return BadCall(inst, operands,
                   "arrays, as many initial values, a comparator of both, and the first of each array");
  const int64_t dimension = ReducedDimension(inst, operands[0].shape(), outs[0]);
  if (dimension < 0) return BadCall(inst, operands, "the first elements along 'reduction_dim'");

  if (AnyDynamic(operands)) MakeAllStatic(operands);
  operands = operands.take_front(count);
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

Result<Literal> EvalSliceToDynamic(EvalContext&, const Instruction& inst, Operands operands) {
  const Shape& shape = inst.shape();
  if (operands.empty() || !shape.IsArray() || !operands[0].shape().IsArray() ||
      operands[0].shape().element_type() != shape.element_type() ||
      operands[0].shape().dims() != shape.dims() ||
      static_cast<int64_t>(operands.size()) != shape.rank() + 1 ||
      llvm::any_of(operands.drop_front(),
                   [](const Literal& l) { return !l.shape().IsScalarOf(ElementType::S32); }))
    return BadCall(inst, operands,
                   "an array, an s32 size for each dimension, and the array with dynamic sizes");
  Literal value = operands[0].WithShape(shape);
  for (int64_t d = 0; d < shape.rank(); ++d) {
    const int32_t size = operands[static_cast<size_t>(d) + 1].Data<int32_t>()[0];
    if (shape.is_dynamic(d)) value.SetDynamicSize(d, std::clamp<int64_t>(size, 0, shape.dim(d)));
  }
  return value;
}

Result<Literal> EvalPadToStatic(EvalContext&, const Instruction& inst, Operands operands) {
  std::vector<Literal> parts;
  if (operands.size() == 1 && operands[0].shape().IsArray()) {
    const Shape& shape = operands[0].shape();
    parts.push_back(
        Literal::Borrow(shape.WithoutDynamic(), operands[0].data(), std::make_shared<Literal>(operands[0])));
    for (int64_t d = 0; d < shape.rank(); ++d)
      parts.push_back(Literal::Scalar(ElementType::S32, static_cast<int32_t>(operands[0].DynamicSize(d))));
  }
  Literal result = Literal::MakeTuple(std::move(parts));
  if (result.shape().tuple_size() == 0 || !Compatible(result.shape(), inst.shape()))
    return BadCall(inst, operands,
                   "the array with the sizes of its bounds, and an s32 for each run-time size");
  return result.WithShape(inst.shape());
}

/// 64-bit values from (low, high) words and back.
bool AreWords(const Shape& words, const Shape& wide) {
  return words.IsArray() && wide.IsArray() && Info(words.element_type()).bits == 32 &&
         Info(wide.element_type()).bits == 64 && words.dims() == wide.dims();
}
Result<Literal> EvalX64Combine(EvalContext&, const Instruction& inst, Operands operands) {
  if (operands.size() != 2 || !AreWords(operands[0].shape(), inst.shape()) ||
      !AreWords(operands[1].shape(), inst.shape()))
    return BadCall(inst, operands, "two arrays of 32 bits and their combination to 64");
  Literal out = Literal::Make(inst.shape());
  const auto* low = reinterpret_cast<const uint32_t*>(operands[0].data());
  const auto* high = reinterpret_cast<const uint32_t*>(operands[1].data());
  auto* words = reinterpret_cast<uint64_t*>(out.MutableData());
  const int64_t count = inst.shape().ElementCount();
  for (int64_t i = 0; i < count; ++i) words[i] = static_cast<uint64_t>(high[i]) << 32 | low[i];
  return out;
}
template <int kShift>
Result<Literal> EvalX64Split(EvalContext&, const Instruction& inst, Operands operands) {
  if (operands.size() != 1 || !AreWords(inst.shape(), operands[0].shape()))
    return BadCall(inst, operands, "an array of 64 bits and its halves of 32");
  Literal out = Literal::Make(inst.shape());
  const auto* words = reinterpret_cast<const uint64_t*>(operands[0].data());
  auto* parts = reinterpret_cast<uint32_t*>(out.MutableData());
  const int64_t count = inst.shape().ElementCount();
  for (int64_t i = 0; i < count; ++i) parts[i] = static_cast<uint32_t>(words[i] >> kShift);
  return out;
}

constexpr CustomCallTarget kTargets[] = {
    {"AllocateBuffer", EvalAllocateBuffer},
    {"ApproxTopK", EvalApproxTopK},
    {"AssumeGatherIndicesInBound", EvalMark},
    {"CreateBuffer", EvalAllocateBuffer},
    {"GetRngSeed", EvalGetRngSeed},
    {"LayoutConstraint", EvalMark},
    {"MoveToDevice", EvalMark},
    {"MoveToHost", EvalMark},
    {"PadToStatic", EvalPadToStatic},
    {"Pin", EvalMark},
    {"PinToDevice", EvalMark},
    {"SPMDFullToShardShape", EvalMark},
    {"SPMDShardToFullShape", EvalMark},
    {"SetBound", EvalMark},
    {"Sharding", EvalMark},
    {"SliceToDynamic", EvalSliceToDynamic},
    {"TopK", EvalTopKTarget},
    {"Unpin", EvalMark},
    {"X64Combine", EvalX64Combine},
    {"X64SplitHigh", EvalX64Split<32>},
    {"X64SplitLow", EvalX64Split<0>},
    {"annotate_device_placement", EvalMark},
    {"control_dep", EvalMark},
    {"xla.sdy.FuncResultSharding", EvalMark},
};

}  // namespace

llvm::ArrayRef<CustomCallTarget> AllCustomCallTargets() {
  static const std::vector<CustomCallTarget> all = [] {
    std::vector<CustomCallTarget> table(std::begin(kTargets), std::end(kTargets));
    llvm::append_range(table, LapackTargets());
    llvm::sort(table, [](const auto& a, const auto& b) { return a.name < b.name; });
    return table;
  }();
  return all;
}

const CustomCallTarget* FindCustomCallTarget(llvm::StringRef name) {
  // Marks of the sharding dialect come in several spellings, all identities.
  static constexpr CustomCallTarget kShardy = {"xla.sdy.", EvalMark};
  const auto all = AllCustomCallTargets();
  const auto* it =
      llvm::lower_bound(all, name, [](const CustomCallTarget& t, llvm::StringRef n) { return t.name < n; });
  if (it != all.end() && it->name == name) return it;
  return name.starts_with(kShardy.name) ? &kShardy : nullptr;
}

Result<Literal> EvalCustomCall(EvalContext& context, const Instruction& inst, Operands operands) {
  const std::string& target = inst.attr<CustomCallAttrs>().custom_call_target;
  if (const CustomCallTarget* known = FindCustomCallTarget(target))
    return known->eval(context, inst, operands);
  if (const CustomCallLibraries* libraries = context.device().group().custom_call_libraries())
    if (const LibraryFunction function = libraries->Find(target); function.address != nullptr)
      return CallLibrary(function, inst, operands);
  const std::string fallback = context.device().group().MissingCustomCall(target);
  if (fallback == "zeros") return Literal::Zeros(inst.shape());
  if (fallback == "identity") return EvalMark(context, inst, operands);
  return Error("unsupported-custom-call", inst.loc(), "no implementation of custom-call target '{0}'",
               target);
}

}  // namespace hlo

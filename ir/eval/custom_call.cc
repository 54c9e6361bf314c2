#include "ir/eval/custom_call.h"

#include "ir/eval/device.h"

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

/// The k largest along the last dimension: values and s32 positions (ops-structured §5.2).
Result<Literal> EvalTopKTarget(EvalContext& context, const Instruction& inst, Operands operands) {
  const Shape& shape = inst.shape();
  const Shape& in = operands[0].shape();
  if (!shape.IsTuple() || shape.tuple_size() != 2 || !in.IsArray() || in.rank() == 0 ||
      shape.tuple_shape(0).rank() != in.rank())
    return Error("runtime-custom-call", inst.loc(), "target 'TopK' of {0} cannot have the result {1}", in,
                 shape);
  Module scratch("topk");
  Computation* computation = scratch.AddComputation("topk");
  TopKAttrs attrs;
  attrs.k = shape.tuple_shape(0).dim(in.rank() - 1);
  Instruction* parameter = computation->Add(OpKind::Parameter, in, "p", {}, ParameterAttrs{});
  Instruction* topk = computation->Add(OpKind::TopK, shape, "t", {parameter}, attrs);
  topk->set_loc(inst.loc());
  return EvalTopK(context, *topk, operands);
}

Result<Literal> EvalSliceToDynamic(EvalContext&, const Instruction& inst, Operands operands) {
  Literal value = operands[0].WithShape(inst.shape());
  for (int64_t d = 0; d < inst.shape().rank() && static_cast<size_t>(d) + 1 < operands.size(); ++d) {
    const int32_t size = operands[static_cast<size_t>(d) + 1].Data<int32_t>()[0];
    if (inst.shape().is_dynamic(d))
      value.SetDynamicSize(d, std::clamp<int64_t>(size, 0, inst.shape().dim(d)));
  }
  return value;
}

Result<Literal> EvalPadToStatic(EvalContext&, const Instruction& inst, Operands operands) {
  const Shape& shape = operands[0].shape();
  std::vector<Literal> parts;
  for (int64_t d = 0; d < shape.rank(); ++d)
    parts.push_back(Literal::Scalar(ElementType::S32, static_cast<int32_t>(operands[0].DynamicSize(d))));
  Literal data =
      Literal::Borrow(shape.WithoutDynamic(), operands[0].data(), std::make_shared<Literal>(operands[0]));
  parts.insert(parts.begin(), std::move(data));
  return Literal::MakeTuple(std::move(parts)).WithShape(inst.shape());
}

/// 64-bit values from (low, high) words and back.
Result<Literal> EvalX64Combine(EvalContext&, const Instruction& inst, Operands operands) {
  Literal out = Literal::Make(inst.shape());
  const auto low = operands[0].Data<uint32_t>(), high = operands[1].Data<uint32_t>();
  auto words = out.MutableSpan<uint64_t>();
  for (size_t i = 0; i < words.size(); ++i) words[i] = static_cast<uint64_t>(high[i]) << 32 | low[i];
  return out;
}
template <int kShift>
Result<Literal> EvalX64Split(EvalContext&, const Instruction& inst, Operands operands) {
  Literal out = Literal::Make(inst.shape());
  const auto words = operands[0].Data<uint64_t>();
  auto parts = out.MutableSpan<uint32_t>();
  for (size_t i = 0; i < words.size(); ++i) parts[i] = static_cast<uint32_t>(words[i] >> kShift);
  return out;
}

constexpr CustomCallTarget kTargets[] = {
    {"AllocateBuffer", EvalAllocateBuffer},
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
  const std::string fallback = context.device().group().MissingCustomCall(target);
  if (fallback == "zeros") return Literal::Zeros(inst.shape());
  if (fallback == "identity") return EvalMark(context, inst, operands);
  return Error("unsupported-custom-call", inst.loc(), "no implementation of custom-call target '{0}'",
               target);
}

}  // namespace hlo

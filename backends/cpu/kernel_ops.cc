#include "backends/cpu/kernel_ops.h"

#include "ir/attrs.h"
#include "ir/op.h"

namespace hlo::cpu {
namespace {

/// Elements of windows and products that a kernel takes one by one; there are better ways for more.
constexpr int64_t kMaxDirect = 64, kMaxProducts = 4096;

int64_t Taps(const Instruction& inst) {
  int64_t taps = 1;
  for (const WindowDim& w : inst.attr<ReduceWindowAttrs>().window.dims)
    taps = w.size > kMaxDirect ? kMaxDirect + 1 : std::min(taps * w.size, kMaxDirect + 1);
  return taps;
}

int64_t ContractedElements(const Instruction& inst) {
  int64_t count = 1;
  for (const int64_t d : inst.attr<DotAttrs>().lhs_contracting_dims) count *= inst.operand(0)->shape().dim(d);
  return count;
}

bool IsSmallDot(const Instruction& inst) {
  const auto is_plain = [](const Shape& shape) {
    return !IsPred(shape.element_type()) && Info(shape.element_type()).bits >= 8;
  };
  if (inst.attr<DotAttrs>().algorithm != DotAlgorithm::Unset ||
      inst.shape().element_type() == ElementType::C128 || !is_plain(inst.shape()) ||
      !is_plain(inst.operand(0)->shape()) || !is_plain(inst.operand(1)->shape()))
    return false;
  return inst.shape().ElementCount() * ContractedElements(inst) <= kMaxProducts;
}

int64_t ReducedElements(const Instruction& inst) {
  int64_t count = 1;
  for (const int64_t d : inst.attr<ReduceAttrs>().dimensions) count *= inst.operand(0)->shape().dim(d);
  return count;
}

// Costs as measured on the reference machine, where one vector of 16 divisions takes 16 cycles.
constexpr int64_t kPlain = 2, kDivision = 60, kFunction = 60, kSlowFunction = 200, kRead = 2;

int64_t PlainCost(const Instruction&) { return kPlain; }
int64_t NoCost(const Instruction&) { return 0; }
int64_t ReadCost(const Instruction&) { return kRead; }
int64_t DivisionCost(const Instruction&) { return kDivision; }
int64_t SlowFunctionCost(const Instruction&) { return kSlowFunction; }
int64_t ReduceCost(const Instruction& inst) { return kPlain * ReducedElements(inst); }
int64_t ReduceWindowCost(const Instruction& inst) { return kPlain * Taps(inst); }
/// Neither bits of bytes nor complex numbers, whose halves have an order of their own.
bool IsWholeBytes(const Instruction& inst) {
  for (const Shape* shape : {&inst.shape(), &inst.operand(0)->shape()}) {
    const ElementType type = shape->element_type();
    if (IsComplex(type) || IsPred(type) || Info(type).bits < 8) return false;
  }
  return true;
}
/// Elements are made of several narrower ones.
int64_t BitcastCost(const Instruction& inst) {
  const int64_t from = Info(inst.operand(0)->shape().element_type()).bits;
  return kPlain * std::max<int64_t>(1, 2 * Info(inst.shape().element_type()).bits / from);
}
int64_t DotCost(const Instruction& inst) { return kPlain * ContractedElements(inst); }

struct Row {
  OpKind kind;
  bool in_kernels;
  int64_t (*cost)(const Instruction&);
};
/// What is no elementwise operation, and elementwise operations that cost more than others.
constexpr Row kRows[] = {
    {OpKind::Copy, false, NoCost},
    {OpKind::Iota, true, PlainCost},
    {OpKind::Broadcast, true, NoCost},
    {OpKind::Transpose, true, ReadCost},
    {OpKind::Reshape, true, NoCost},
    {OpKind::Slice, true, NoCost},
    {OpKind::Reverse, true, ReadCost},
    {OpKind::Concatenate, true, PlainCost},
    {OpKind::Pad, true, PlainCost},
    {OpKind::DynamicSlice, true, ReadCost},
    {OpKind::DynamicUpdateSlice, true, ReadCost},
    {OpKind::Reduce, true, ReduceCost},
    {OpKind::ReduceWindow, true, ReduceWindowCost},
    {OpKind::Dot, true, DotCost},
    {OpKind::BitcastConvert, true, BitcastCost},
    {OpKind::Gather, true, DivisionCost},
    {OpKind::Scatter, true, DivisionCost},
    {OpKind::Map, true, SlowFunctionCost},
    {OpKind::Divide, true, DivisionCost},
    {OpKind::Remainder, true, DivisionCost},
    {OpKind::Power, true, SlowFunctionCost},
    {OpKind::Atan2, true, SlowFunctionCost},
};
/// Edges that are no operands, which fusions do not have.
bool HasOrder(const Instruction& inst) {
  return !inst.extras().control_predecessors.empty() || !inst.extras().control_successors.empty();
}
bool HasDynamicDimensions(const Instruction& inst) {
  return inst.shape().HasDynamicDimension() ||
         llvm::any_of(inst.operands(), [](const Instruction* x) { return x->shape().HasDynamicDimension(); });
}

/// Why ops are left to the evaluator, by category.
constexpr struct {
  OpCategory category;
  const char* why;
} kReasons[] = {
    {OpCategory::Communication, "other devices or the host take part"},
    {OpCategory::Async, "other devices or the host take part"},
    {OpCategory::Custom, "a function of a library"},
    {OpCategory::Control, "a token, or an order that is no operand"},
    {OpCategory::Random, "numbers that depend on those drawn before"},
    {OpCategory::Dynamic, "dynamic dimensions"},
    {OpCategory::Source, "a property of the device"},
};

const Row* FindRow(OpKind kind) {
  for (const Row& row : kRows)
    if (row.kind == kind) return &row;
  return nullptr;
}

}  // namespace

bool HasKernel(const Instruction& inst) {
  if (HasOrder(inst) || HasDynamicDimensions(inst) || !inst.extras().result_accuracy.is_default())
    return false;
  if (inst.kind() == OpKind::ReduceWindow) return Taps(inst) <= kMaxDirect;
  if (inst.kind() == OpKind::Dot) return IsSmallDot(inst);
  if (inst.kind() == OpKind::BitcastConvert) return IsWholeBytes(inst);
  const Row* row = FindRow(inst.kind());
  return row != nullptr ? row->in_kernels : inst.info().Is(kElementwise);
}

std::string WhyNoKernel(const Instruction& inst) {
  if (HasDynamicDimensions(inst)) return "dynamic dimensions";
  if (HasOrder(inst)) return "control predecessors or successors";
  if (!inst.extras().result_accuracy.is_default()) return "an accuracy that is asked for";
  if (inst.kind() == OpKind::ReduceWindow) return "windows of many elements";
  if (inst.shape().IsArray() && inst.shape().ElementCount() == 0) return "no elements";
  for (const auto& [category, why] : kReasons)
    if (category == inst.info().category) return why;
  return "an op without code of its own";
}

int64_t CostPerElement(const Instruction& inst) {
  if (const Row* row = FindRow(inst.kind())) return row->cost(inst);
  return inst.info().category == OpCategory::Transcendental ? kFunction : kPlain;
}

const Shape& IterationShape(const Instruction& inst) {
  if (inst.kind() == OpKind::DynamicUpdateSlice) return inst.operand(1)->shape();
  return inst.shape().IsTuple() ? inst.shape().tuple_shape(0) : inst.shape();
}

bool HasOwnNest(const Instruction& inst) {
  constexpr OpKind kKinds[] = {OpKind::Concatenate, OpKind::Pad, OpKind::DynamicUpdateSlice, OpKind::Scatter};
  return inst.shape().IsTuple() || llvm::is_contained(kKinds, inst.kind());
}

}  // namespace hlo::cpu

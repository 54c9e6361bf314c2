#include "passes/analysis/fusion_facts.h"

namespace hlo {
namespace {

/// What fusion needs to know about an opcode beyond the op table.
enum FusionTraits : uint8_t {
  kMoves = 1,    // computes nothing
  kUnfused = 2,  // has no place in a loop over its result (copies may change layouts)
  kRereads = 4,  // reads elements of arrays several times
  kIndexed = 8,  // reads scalar operands (indices, a padding value) for every element
};
constexpr std::pair<OpKind, uint8_t> kTraits[] = {
    {OpKind::Bitcast, kMoves},
    {OpKind::BitcastConvert, kMoves},
    {OpKind::Broadcast, kMoves},
    {OpKind::Concatenate, kMoves},
    {OpKind::Constant, kMoves | kUnfused},
    {OpKind::Convolution, kRereads},
    {OpKind::Copy, kMoves | kUnfused},
    {OpKind::Dot, kRereads},
    {OpKind::DynamicSlice, kMoves | kIndexed},
    {OpKind::DynamicUpdateSlice, kMoves | kIndexed},
    {OpKind::Gather, kMoves | kRereads},
    {OpKind::GetTupleElement, kMoves | kUnfused},
    {OpKind::Iota, kMoves},
    {OpKind::Pad, kMoves | kIndexed},
    {OpKind::Parameter, kMoves | kUnfused},
    {OpKind::ReduceWindow, kRereads},
    {OpKind::Reshape, kMoves},
    {OpKind::Reverse, kMoves},
    {OpKind::SelectAndScatter, kRereads},
    {OpKind::Slice, kMoves},
    {OpKind::Transpose, kMoves},
    {OpKind::Tuple, kMoves | kUnfused},
};

bool Has(const Instruction& inst, FusionTraits trait) {
  static const std::vector<uint8_t> traits = [] {
    std::vector<uint8_t> all(AllOps().size(), 0);
    for (const auto& [kind, value] : kTraits) all[static_cast<size_t>(kind)] = value;
    return all;
  }();
  return (traits[static_cast<size_t>(inst.kind())] & trait) != 0;
}

bool IsIntegerWithConstant(const Instruction& inst) {
  return IsIntegral(inst.shape().element_type()) && inst.operand(1)->kind() == OpKind::Constant;
}

}  // namespace

bool IsLoopFusible(const Instruction& inst) {
  if (!inst.shape().IsArray() || inst.shape().HasDynamicDimension() || Has(inst, kUnfused)) return false;
  return inst.info().Is(kElementwise) || Has(inst, kMoves) ||
         (inst.kind() == OpKind::Reduce && inst.operand_count() == 2);
}

bool IsExpensive(const Instruction& inst) {
  const OpInfo& info = inst.info();
  if (inst.kind() == OpKind::Divide || inst.kind() == OpKind::Remainder) return !IsIntegerWithConstant(inst);
  if (inst.kind() == OpKind::Convert)
    return inst.shape().element_type() == ElementType::BF16 &&
           inst.operand(0)->shape().element_type() == ElementType::F32;
  if (info.category == OpCategory::Transcendental) return true;
  const bool complex = inst.shape().IsArray() && inst.operand_count() > 0 &&
                       inst.operand(0)->shape().IsArray() &&
                       IsComplex(inst.operand(0)->shape().element_type());
  if (complex && (inst.kind() == OpKind::Abs || inst.kind() == OpKind::Sign)) return true;
  return !info.Is(kElementwise) && !Has(inst, kMoves);
}

bool ReusesOperand(const Instruction& inst, int64_t i) {
  const Shape& operand = inst.operand(i)->shape();
  if (Has(inst, kRereads)) return true;
  if (Has(inst, kIndexed)) return operand.rank() == 0;
  return (inst.info().Is(kElementwise) || inst.kind() == OpKind::Broadcast) &&
         operand.ElementCount() < inst.shape().ElementCount();
}

bool RunsOnWholeValues(const Computation& computation) {
  return llvm::all_of(computation.callers(),
                      [](const Instruction* caller) { return caller->info().Is(kRuns); });
}

}  // namespace hlo

#include "backends/gpu/libraries/collective.h"

#include "ir/by_op_kind.h"
#include "llvm/Support/FormatVariadic.h"
#include "passes/analysis/reducers.h"

namespace hlo::gpu {
namespace {

struct TypeRow {
  ElementType element;
  NcclType type;
  int64_t parts;
  bool sums, extremes;
};
constexpr TypeRow kTypes[] = {
#define COLLECTIVE_TYPE(element, Type, parts, sums, extremes) \
  {ElementType::element, NcclType::Type, parts, sums, extremes},
#include "backends/gpu/libraries/collective_types.def"
};

struct ReductionRow {
  OpKind op;
  NcclReduction reduction;
  llvm::StringLiteral text;
  bool extreme;
};
constexpr ReductionRow kReductions[] = {{OpKind::Add, NcclReduction::Sum, "sum", false},
                                        {OpKind::Multiply, NcclReduction::Product, "product", false},
                                        {OpKind::Maximum, NcclReduction::Max, "maximum", true},
                                        {OpKind::Minimum, NcclReduction::Min, "minimum", true},
                                        {OpKind::Or, NcclReduction::Max, "or", true},
                                        {OpKind::And, NcclReduction::Min, "and", true}};

int64_t BytesOf(const Shape& shape) { return shape.ElementCount() * Info(shape.element_type()).host_bytes(); }
/// Parts of arrays along such a dimension follow each other.
bool IsOutermost(const Shape& shape, int64_t dimension) {
  return llvm::all_of(shape.dims().take_front(static_cast<size_t>(dimension)),
                      [](int64_t size) { return size == 1; });
}
const Shape& ResultOf(const Instruction& inst, int64_t i) {
  return inst.shape().IsTuple() ? inst.shape().tuple_shape(i) : inst.shape();
}

class Reader {
 public:
  explicit Reader(const Instruction& inst) : inst_(inst) {}
  static bool Knows(OpKind kind) { return kRules[kind] != nullptr; }
  Result<LibraryCollective> Read();

 private:
  using Rule = Status (Reader::*)();
  static const ByOpKind<Rule> kRules;

  Status AllReduce() {
    for (int64_t i = 0; i < inst_.operand_count(); ++i) {
      if (ResultOf(inst_, i).element_type() != inst_.operand(i)->shape().element_type())
        return Decline(inst_.loc(), "its result has another type");
      HLO_CHECK_OK(Reduced(ResultOf(inst_, i)));
    }
    return {};
  }
  Status ReduceScatter() {
    return Along(inst_.attr<ReduceScatterAttrs>().dimensions[0],
                 [&](int64_t i) { return Reduced(ResultOf(inst_, i)); });
  }
  Status AllGather() {
    return Along(inst_.attr<AllGatherAttrs>().dimensions[0],
                 [&](int64_t i) { return Moved(inst_.operand(i)->shape()); });
  }
  Status AllToAll() {
    const auto dimension = inst_.attr<AllToAllAttrs>().dimension;
    found_.apart = !dimension;
    if (!dimension) return Whole();
    return Along(*dimension, [&](int64_t i) { return Moved(inst_.operand(i)->shape()); });
  }
  Status CollectivePermute() {
    const auto& attrs = inst_.attr<CollectivePermuteAttrs>();
    if (!attrs.slice_sizes.empty()) return Decline(inst_.loc(), "it writes into a part of an array");
    found_.pairs = attrs.source_target_pairs;
    return Whole();
  }
  Status CollectiveBroadcast() {
    if (inst_.attr<CollectiveBroadcastAttrs>().has_dynamic_root.value_or(false))
      return Decline(inst_.loc(), "who sends is not known");
    return Whole();
  }

  Status Whole() {
    for (const Instruction* operand : inst_.operands()) HLO_CHECK_OK(Moved(operand->shape()));
    return {};
  }
  Status Along(int64_t dimension, llvm::function_ref<Status(int64_t)> part) {
    for (int64_t i = 0; i < inst_.operand_count(); ++i) {
      if (!IsOutermost(inst_.operand(i)->shape(), dimension))
        return Decline(inst_.loc(), "its parts do not follow each other");
      HLO_CHECK_OK(part(i));
    }
    return {};
  }
  Status Moved(const Shape& shape) {
    found_.parts.push_back({NcclType::U8, BytesOf(shape), BytesOf(shape)});
    return {};
  }
  Status Reduced(const Shape& shape) {
    const auto op = ReducerOp(*inst_.callee());
    const auto* reduction =
        llvm::find_if(kReductions, [&](const ReductionRow& row) { return op && row.op == *op; });
    const auto* type =
        llvm::find_if(kTypes, [&](const TypeRow& row) { return row.element == shape.element_type(); });
    const bool logical = op && (*op == OpKind::Or || *op == OpKind::And);
    const bool pred = shape.element_type() == ElementType::Pred;
    if (reduction == std::end(kReductions) || type == std::end(kTypes) || (logical && !pred) ||
        !(reduction->extreme ? type->extremes : type->sums) || (type->parts > 1 && *op != OpKind::Add))
      return Decline(inst_.loc(), "the library does not reduce {0} so", ToString(shape.element_type()));
    found_.reduction = reduction->reduction;
    found_.parts.push_back({type->type, shape.ElementCount() * type->parts, BytesOf(shape)});
    return {};
  }

  const Instruction& inst_;
  LibraryCollective found_;
};

const ByOpKind<Reader::Rule> Reader::kRules = {{OpKind::AllReduce, &Reader::AllReduce},
                                               {OpKind::ReduceScatter, &Reader::ReduceScatter},
                                               {OpKind::AllGather, &Reader::AllGather},
                                               {OpKind::AllToAll, &Reader::AllToAll},
                                               {OpKind::CollectivePermute, &Reader::CollectivePermute},
                                               {OpKind::CollectiveBroadcast, &Reader::CollectiveBroadcast}};

Result<LibraryCollective> Reader::Read() {
  const auto fits = [](const Shape& shape) { return shape.IsArray() && !shape.HasDynamicDimension(); };
  const bool arrays =
      llvm::all_of(inst_.operands(), [&](const Instruction* o) { return fits(o->shape()); }) &&
      (inst_.shape().IsTuple() ? llvm::all_of(inst_.shape().tuple_shapes(), fits) : fits(inst_.shape()));
  if (!arrays || inst_.operand_count() == 0) return Decline(inst_.loc(), "its operands are no arrays");
  found_.kind = inst_.kind();
  HLO_CHECK_OK((this->*kRules[inst_.kind()])());
  return std::move(found_);
}

}  // namespace

bool IsLibraryCollective(const Instruction& inst) { return Reader::Knows(inst.kind()); }

Result<LibraryCollective> LibraryCollectiveOf(const Instruction& inst) { return Reader(inst).Read(); }

std::string ToString(const LibraryCollective& collective) {
  std::string text = Info(collective.kind).text.str();
  const bool reduces = collective.kind == OpKind::AllReduce || collective.kind == OpKind::ReduceScatter;
  if (reduces)
    text += " " + llvm::find_if(kReductions, [&](const ReductionRow& row) {
                    return row.reduction == collective.reduction;
                  })->text.str();
  int64_t bytes = 0;
  for (const CollectivePart& part : collective.parts) bytes += part.bytes;
  return llvm::formatv("{0} of {1} bytes in {2} {3}", text, bytes, collective.parts.size(),
                       collective.parts.size() == 1 ? "array" : "arrays");
}

}  // namespace hlo::gpu

// Shape rules of collectives (ops-structured §12.2). Groups themselves are checked by the verifier.
#include "ir/infer/groups.h"
#include "ir/infer/reducer.h"

namespace hlo {
namespace {

Shape OneOrTuple(const Instruction& inst, llvm::ArrayRef<Shape> shapes) {
  return shapes.size() == 1 ? shapes[0] : TupleResult(inst, shapes);
}

llvm::SmallVector<Shape, 4> OperandShapes(const Instruction& inst) {
  llvm::SmallVector<Shape, 4> shapes;
  for (const Instruction* operand : inst.operands()) shapes.push_back(operand->shape());
  return shapes;
}

Status CheckSomeArrays(const Instruction& inst) {
  if (inst.operand_count() > 0) return CheckArrays(inst);
  return RuleError("verify-operand-count", inst, "{0} has 0 operands, but {1} takes at least 1", Name(inst),
                   ToString(inst.kind()));
}

Status CheckDimension(const Instruction& inst, llvm::ArrayRef<int64_t> dims, int64_t i) {
  if (dims.size() != 1)
    return RuleError("verify-attribute", inst,
                     "'dimensions' of {0} is {1}, but {2} needs exactly one dimension", Name(inst),
                     List(dims), ToString(inst.kind()));
  return CheckInRange(inst, "dimensions", dims[0], inst.operand(i)->shape().rank(), "the rank of an operand");
}

/// Result i as written, of `count` results; null if it is not written so.
const Shape* WrittenResult(const Shape& shape, int64_t i, int64_t count) {
  if (count == 1) return shape.IsArray() ? &shape : nullptr;
  return shape.IsTuple() && shape.tuple_size() == count ? &shape.tuple_shape(i) : nullptr;
}

/// By how much dimension d of an operand grows from `small` to `large`, one of which is written (null
/// if not). That must be the group size, but for groups of one, which may stand for devices that are not
/// configured (errata-2 14).
Result<int64_t> SizeFactor(const Instruction& inst, const Shape* small, const Shape* large, int64_t d) {
  HLO_TRY(const std::optional<int64_t> group, GroupSize(inst));
  if (!small || !large || !small->IsArray() || !large->IsArray() || d >= small->rank() || d >= large->rank())
    return group.value_or(1);
  const int64_t from = small->dim(d), to = large->dim(d);
  if (group.value_or(1) != 1 || from <= 0 || to < 0) return group.value_or(1);
  return to / from + (to % from != 0 ? 1 : 0);
}

/// Results of an all-gather whose written results are (in) `written`.
Result<llvm::SmallVector<Shape, 4>> GatheredShapes(const Instruction& inst, const Shape& written) {
  HLO_CHECK_OK(CheckSomeArrays(inst));
  const Dims& dims = inst.attr<AllGatherAttrs>().dimensions;
  llvm::SmallVector<Shape, 4> shapes;
  for (int64_t i = 0; i < inst.operand_count(); ++i) {
    HLO_CHECK_OK(CheckDimension(inst, dims, i));
    const Shape& operand = inst.operand(i)->shape();
    const int64_t d = dims[0];
    HLO_TRY(const int64_t factor,
            SizeFactor(inst, &operand, WrittenResult(written, i, inst.operand_count()), d));
    Dims sizes(operand.dims());
    int64_t& size = sizes[static_cast<size_t>(d)];
    if (size != kUnboundedSize && __builtin_mul_overflow(size, factor, &size))
      return OperandError("verify-operand-shape", inst, i,
                          "{0} gathers {1} from {2} devices, whose size exceeds 64 bits", Name(inst), operand,
                          factor);
    shapes.push_back(Shape::ArrayWithDefaultLayout(operand.element_type(), sizes, operand.dynamic_flags()));
  }
  return shapes;
}

/// The scalar binary computation that all operands share; its floating type may differ.
Status CheckSharedReducer(const Instruction& inst) {
  for (size_t i = 0; i < inst.operands().size(); ++i) {
    const auto one = inst.operands().slice(i, 1);
    HLO_TRY([[maybe_unused]] const Shape result, CheckReducer(inst, 0, one, one, /*ignore_precision=*/true));
  }
  return {};
}

}  // namespace

Result<Shape> InferAllGather(const Instruction& inst, const InferOptions&) {
  HLO_TRY(const auto shapes, GatheredShapes(inst, inst.shape()));
  return OneOrTuple(inst, shapes);
}

// (operands, results), each without a tuple of one.
Result<Shape> InferAllGatherStart(const Instruction& inst, const InferOptions&) {
  const Shape& shape = inst.shape();
  const Shape written = shape.IsTuple() && shape.tuple_size() >= 2 ? shape.tuple_shape(1) : shape;
  HLO_TRY(const auto shapes, GatheredShapes(inst, written));
  const auto operands = OperandShapes(inst);
  auto wrap = [](llvm::ArrayRef<Shape> list) { return list.size() == 1 ? list[0] : Shape::MakeTuple(list); };
  return TupleResult(inst, {wrap(operands), wrap(shapes)});
}

Result<Shape> InferAllReduce(const Instruction& inst, const InferOptions&) {
  HLO_CHECK_OK(CheckSomeArrays(inst));
  HLO_CHECK_OK(CheckSharedReducer(inst));
  return OneOrTuple(inst, OperandShapes(inst));
}

// all-reduce-done passes its operand on; the others take element 1 of (operands, results, …).
Result<Shape> InferCollectiveDone(const Instruction& inst, const InferOptions&) {
  const Shape& start = inst.operand(0)->shape();
  if (inst.kind() == OpKind::AllReduceDone) return start;
  const bool malformed = !start.IsTuple() || start.tuple_size() < 2;
  if (malformed && inst.operand(0)->info().Is(kStart)) return inst.shape();  // said at the start
  if (malformed)
    return OperandError("verify-async", inst, 0,
                        "operand 0 of {0} is {1}, but {2} ends an operation of form (operands, results, ...)",
                        Name(inst), start, ToString(inst.kind()));
  return start.tuple_shape(1);
}

Result<Shape> InferReduceScatter(const Instruction& inst, const InferOptions&) {
  HLO_CHECK_OK(CheckSomeArrays(inst));
  HLO_CHECK_OK(CheckSharedReducer(inst));
  const Dims& dims = inst.attr<ReduceScatterAttrs>().dimensions;
  llvm::SmallVector<Shape, 4> shapes;
  for (int64_t i = 0; i < inst.operand_count(); ++i) {
    HLO_CHECK_OK(CheckDimension(inst, dims, i));
    const Shape& operand = inst.operand(i)->shape();
    HLO_TRY(const int64_t factor,
            SizeFactor(inst, WrittenResult(inst.shape(), i, inst.operand_count()), &operand, dims[0]));
    Dims sizes(operand.dims());
    int64_t& size = sizes[static_cast<size_t>(dims[0])];
    if (factor <= 0 || (size != kUnboundedSize && size % factor != 0))
      return OperandError("verify-operand-shape", inst, i,
                          "{0} scatters dimension {1} of {2} to {3} devices, which do not divide it",
                          Name(inst), dims[0], operand, factor);
    if (size != kUnboundedSize) size /= factor;
    shapes.push_back(Shape::ArrayWithDefaultLayout(operand.element_type(), sizes, operand.dynamic_flags()));
  }
  return OneOrTuple(inst, shapes);
}

Result<Shape> InferAllToAll(const Instruction& inst, const InferOptions&) {
  HLO_CHECK_OK(CheckSomeArrays(inst));
  const std::optional<int64_t> dimension = inst.attr<AllToAllAttrs>().dimension;
  HLO_TRY(const std::optional<int64_t> group, GroupSize(inst));
  const Shape& x = inst.operand(0)->shape();
  if (!dimension) {
    if (group && inst.operand_count() != *group)
      return RuleError("verify-operand-count", inst, "{0} has {1} operands, but its groups have {2} members",
                       Name(inst), inst.operand_count(), *group);
    for (int64_t i = 1; i < inst.operand_count(); ++i)
      if (const Shape& other = inst.operand(i)->shape(); other != x)
        return OperandError("verify-operand-shape", inst, i,
                            "operand {0} of {1} is {2}, but all-to-all takes operands of one shape, here {3}",
                            i, Name(inst), ToString(other), ToString(x));
    return TupleResult(inst, OperandShapes(inst));
  }
  if (inst.operand_count() != 1)
    return RuleError("verify-operand-count", inst,
                     "{0} has {1} operands, but all-to-all with 'dimensions' takes 1", Name(inst),
                     inst.operand_count());
  HLO_CHECK_OK(CheckInRange(inst, "dimensions", *dimension, x.rank(), "the rank of operand 0"));
  if (x.HasDynamicDimension() && !x.HasUnboundedDimension())
    return OperandError("verify-operand-shape", inst, 0,
                        "{0} splits {1}, but all-to-all takes no bounded dynamic array", Name(inst), x);
  if (group && (*group <= 0 || (!x.is_unbounded(*dimension) && x.dim(*dimension) % *group != 0)))
    return OperandError("verify-operand-shape", inst, 0,
                        "{0} splits dimension {1} of {2} among {3} devices, which do not divide it",
                        Name(inst), *dimension, x, *group);
  return ArrayResult(inst, x.element_type(), x.dims(), x.dynamic_flags());
}

Result<Shape> InferRaggedAllToAll(const Instruction& inst, const InferOptions&) {
  if (inst.operand_count() != 6)
    return RuleError("verify-operand-count", inst, "{0} has {1} operands, but ragged-all-to-all takes 6",
                     Name(inst), inst.operand_count());
  HLO_CHECK_OK(CheckArrays(inst));
  const Shape& offsets = inst.operand(2)->shape();
  for (int64_t i = 2; i < 6; ++i) {
    const Shape& shape = inst.operand(i)->shape();
    if (!Compatible(shape, offsets) || shape.rank() < 1 || shape.rank() > 2)
      return OperandError("verify-operand-shape", inst, i,
                          "operand {0} of {1} is {2}, but offsets and sizes must all be {3} of rank 1 or 2",
                          i, Name(inst), shape, offsets);
  }
  return inst.operand(1)->shape();
}

Result<Shape> InferCollectiveBroadcast(const Instruction& inst, const InferOptions&) {
  auto shapes = OperandShapes(inst);
  if (inst.attr<CollectiveBroadcastAttrs>().has_dynamic_root.value_or(false)) {
    if (shapes.size() < 2 || !shapes.back().IsArray() || shapes.back().rank() != 1 ||
        shapes.back().element_type() != ElementType::S32)
      return RuleError("verify-operand-shape", inst,
                       "last operand of {0} is {1}, but with has_dynamic_root=true must be a vector of s32",
                       Name(inst), shapes.empty() ? "missing" : ToString(shapes.back(), false));
    shapes.pop_back();
  }
  if (shapes.empty()) return Error(CheckSomeArrays(inst).error());
  return OneOrTuple(inst, shapes);
}

// With slice_sizes: (input, output, input start, output start), in place of the output.
Result<Shape> InferCollectivePermute(const Instruction& inst, const InferOptions&) {
  if (inst.attr<CollectivePermuteAttrs>().slice_sizes.empty()) {
    if (inst.operand_count() == 0) return Error(CheckSomeArrays(inst).error());
    return OneOrTuple(inst, OperandShapes(inst));
  }
  if (inst.operand_count() != 4)
    return RuleError("verify-operand-count", inst,
                     "{0} has {1} operands, but collective-permute with 'slice_sizes' takes 4", Name(inst),
                     inst.operand_count());
  return inst.operand(1)->shape();
}

// (operands, results[, contexts…])
Result<Shape> InferCollectivePermuteStart(const Instruction& inst, const InferOptions& options) {
  HLO_TRY(const Shape result, InferCollectivePermute(inst, options));
  const auto operands = OperandShapes(inst);
  llvm::SmallVector<Shape, 4> shapes = {operands.size() == 1 ? operands[0] : Shape::MakeTuple(operands),
                                        result};
  const Shape& written = inst.shape();
  if (written.IsTuple())
    for (const Shape& context :
         written.tuple_shapes().drop_front(std::min<size_t>(2, written.tuple_shapes().size())))
      if (context.IsScalarOf(ElementType::U32)) shapes.push_back(context);
  return TupleResult(inst, shapes);
}

}  // namespace hlo

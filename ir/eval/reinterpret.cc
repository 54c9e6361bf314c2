// Ops that hand values on: tuples, identities, and the same bits under another shape.
#include <cstring>

#include "ir/eval/elementwise.h"
#include "ir/eval/eval.h"
#include "ir/eval/strided_copy.h"

namespace hlo {
namespace {

/// Bits an element occupies where elements are packed as densely as they can be.
int StorageBits(ElementType type) {
  const TypeInfo& info = Info(type);
  return info.is_packed() ? info.bits : info.host_bytes() * 8;
}

/// An array of `shape` whose elements, packed, are the given bytes.
Literal FromPackedBytes(const Shape& shape, llvm::ArrayRef<uint8_t> bytes) {
  Literal result = Literal::Make(shape);
  const ElementType type = shape.element_type();
  uint8_t* out = result.MutableData();
  if (!Info(type).is_packed()) {
    std::memcpy(out, bytes.data(), std::min(bytes.size(), result.byte_size()));
    return result;
  }
  const auto width = static_cast<size_t>(Info(type).bits), per_byte = 8 / width;
  for (size_t i = 0; i < result.byte_size(); ++i)
    result.SetBits(static_cast<int64_t>(i),
                   static_cast<uint64_t>(bytes[i / per_byte] >> (i % per_byte * width)));
  return result;
}

/// The elements in memory order: row-major over the dimensions from major to minor. Inverse: from
/// memory order back to row-major logical order.
Literal Relayout(const Literal& x, const Shape& shape, bool inverse) {
  if (IsRowMajor(shape)) return x;
  const auto rank = static_cast<size_t>(shape.rank());
  Dims physical(rank);
  const Dims& minor_to_major = shape.layout().minor_to_major;
  for (size_t i = 0; i < rank; ++i) physical[rank - 1 - i] = shape.dim(minor_to_major[i]);
  const auto logical_strides = RowMajorStrides(shape.dims()), physical_strides = RowMajorStrides(physical);
  Literal result = Literal::Make(x.shape());
  llvm::SmallVector<CopyDim, 6> dims;
  for (size_t i = 0; i < rank; ++i) {
    const auto d = static_cast<size_t>(minor_to_major[i]);
    CopyDim dim{shape.dims()[d], physical_strides[rank - 1 - i], logical_strides[d]};
    if (inverse) std::swap(dim.to_stride, dim.from_stride);
    dims.push_back(dim);
  }
  StridedCopy(result.MutableData(), x.data(), Info(shape.element_type()).host_bytes(), dims);
  return result;
}

/// Bytes of an array in memory; sub-byte elements are dense only if the layout says so.
bool IsPackedInMemory(const Shape& shape) {
  return Info(shape.element_type()).is_packed() && shape.has_layout() &&
         shape.layout().element_size_bits != 0;
}

}  // namespace

Result<Literal> EvalTuple(EvalContext&, const Instruction&, llvm::MutableArrayRef<Literal> operands) {
  return Literal::MakeTuple(
      {std::make_move_iterator(operands.begin()), std::make_move_iterator(operands.end())});
}

Result<Literal> EvalGetTupleElement(EvalContext&, const Instruction& inst,
                                    llvm::MutableArrayRef<Literal> operands) {
  return operands[0].TakeElement(inst.attr<GetTupleElementAttrs>().index);
}

Result<Literal> EvalIdentity(EvalContext&, const Instruction& inst, llvm::MutableArrayRef<Literal> operands) {
  Literal value = std::move(operands[0]);
  if (inst.shape().IsArray() && value.shape().element_type() == inst.shape().element_type())
    value = value.WithShape(inst.shape());
  return value;
}

Result<Literal> EvalBitcast(EvalContext&, const Instruction& inst, llvm::MutableArrayRef<Literal> operands) {
  if (!inst.shape().IsArray()) return std::move(operands[0]);
  const Shape& from = inst.operand(0)->shape();
  const Shape& to = inst.shape();
  Literal memory = Relayout(operands[0], from, /*inverse=*/false);
  if (from.element_type() == to.element_type() && from.ElementCount() == to.ElementCount()) {
    operands[0] = Literal();
    memory = memory.WithShape(to);
  } else {
    const Literal packed = IsPackedInMemory(from) ? memory.Pack() : memory;
    const llvm::ArrayRef<uint8_t> bytes(packed.data(), packed.byte_size());
    if (!Info(to.element_type()).is_packed() || IsPackedInMemory(to)) {
      if (bytes.size() * 8 <
          static_cast<size_t>(to.ElementCount()) * static_cast<size_t>(StorageBits(to.element_type())))
        return Error("unsupported-shape", inst.loc(),
                     "bitcast from {0} to {1} needs more bytes than there are", from, to);
      memory = FromPackedBytes(to, bytes);
    } else {
      if (bytes.size() < static_cast<size_t>(to.ElementCount()))
        return Error("unsupported-shape", inst.loc(),
                     "bitcast from {0} to {1} needs more bytes than there are", from, to);
      memory = Literal::Make(to);
      for (int64_t i = 0; i < to.ElementCount(); ++i) memory.SetBits(i, bytes[static_cast<size_t>(i)]);
    }
  }
  return Relayout(memory, to, /*inverse=*/true);
}

Result<Literal> EvalBitcastConvert(EvalContext&, const Instruction& inst,
                                   llvm::MutableArrayRef<Literal> operands) {
  const ElementType from = operands[0].shape().element_type(), to = inst.shape().element_type();
  if (from == to) return operands[0].WithShape(inst.shape());
  if (const auto kernel = FindKernel(inst)) return ApplyElementwise(*kernel, inst.shape(), operands);
  const Literal packed = operands[0].Pack();
  Literal result = FromPackedBytes(inst.shape(), {packed.data(), packed.byte_size()});
  // The dimension in which the widths differ is the last and static.
  for (int64_t d = 0; d < std::min(inst.shape().rank(), operands[0].shape().rank()); ++d)
    if (operands[0].HasDynamicSizes() && inst.shape().is_dynamic(d))
      result.SetDynamicSize(d, operands[0].DynamicSize(d));
  return result;
}

}  // namespace hlo

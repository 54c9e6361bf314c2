#include "ir/eval/lapack_call.h"

#include <cstring>

#include "ir/custom_call_signature.h"
#include "ir/eval/physical_order.h"

namespace hlo::lapack {

bool HasElements(const Shape& shape) {
  bool found = false;
  ForEachLeaf(shape, [&](const ShapeIndex&, const Shape& leaf) { found |= leaf.ElementCount() > 0; });
  return found;
}

namespace {

/// Of operand 0, whose trailing dimensions are those that the signature names.
int64_t Batch(const Instruction& call) {
  // Any number of entries may have no elements.
  if (!HasElements(call.shape())) return 0;
  const auto* signature = FindCustomCallSignature(call.attr<CustomCallAttrs>().custom_call_target);
  int64_t batch = 1;
  for (const int64_t d :
       CustomCallOperandShape(call, 0).dims().drop_back(signature->operands[0].sizes.size()))
    batch *= d;
  return batch;
}

/// The blocks of a buffer as one array.
void CopyTo(Buffer& buffer, const uint8_t* bytes) {
  const GuardedMemory& memory = buffer.memory;
  for (size_t b = 0; memory.block_bytes() > 0 && b < memory.blocks(); ++b)
    std::memcpy(memory.block(b), bytes + b * memory.block_bytes(), memory.block_bytes());
}
void CopyFrom(const Buffer& buffer, uint8_t* bytes) {
  const GuardedMemory& memory = buffer.memory;
  for (size_t b = 0; memory.block_bytes() > 0 && b < memory.blocks(); ++b)
    std::memcpy(bytes + b * memory.block_bytes(), memory.block(b), memory.block_bytes());
}

}  // namespace

Call::Call(const Instruction& inst, llvm::MutableArrayRef<Literal> operands)
    : inst_(inst), batch_(Batch(inst)) {
  const auto make = [&](const Shape& shape) {
    const int64_t bytes = batch_ == 0 ? 0 : ByteSize(shape) / batch_;
    return Buffer{shape, GuardedMemory(target(), static_cast<size_t>(bytes), static_cast<size_t>(batch_))};
  };
  for (size_t i = 0; i < operands.size(); ++i) {
    const Shape& as = CustomCallOperandShape(inst, static_cast<int64_t>(i));
    Buffer& buffer = in_.emplace_back(make(as));
    if (batch_ == 0) continue;
    if (buffer.memory.contiguous()) {
      CopyToPhysical(operands[i].data(), as, buffer.memory.block(0));
      continue;
    }
    std::vector<uint8_t> bytes(operands[i].byte_size());
    CopyToPhysical(operands[i].data(), as, bytes.data());
    CopyTo(buffer, bytes.data());
  }
  ForEachLeaf(inst.shape(), [&](const ShapeIndex&, const Shape& leaf) { out_.push_back(make(leaf)); });
}

int64_t Call::SizeOf(const Shape& shape) {
  int64_t size = 1;
  for (const int64_t d : shape.dims().take_back(2)) size = std::max(size, d);
  return size;
}

Result<Literal> Call::Finish() {
  for (const Buffer& buffer : in_) buffer.memory.Check();
  std::vector<Literal> leaves;
  for (const Buffer& buffer : out_) {
    buffer.memory.Check();
    Literal& leaf = leaves.emplace_back(Literal::Make(buffer.shape));
    if (batch_ == 0) continue;
    if (buffer.memory.contiguous()) {
      CopyFromPhysical(buffer.memory.block(0), buffer.shape, leaf.MutableData());
      continue;
    }
    std::vector<uint8_t> bytes(leaf.byte_size());
    CopyFrom(buffer, bytes.data());
    CopyFromPhysical(bytes.data(), buffer.shape, leaf.MutableData());
  }
  if (!inst_.shape().IsTuple()) return std::move(leaves[0]);
  return Literal::MakeTuple(std::move(leaves)).WithShape(inst_.shape());
}

}  // namespace hlo::lapack

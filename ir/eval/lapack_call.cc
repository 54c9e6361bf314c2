#include "ir/eval/lapack_call.h"

#include "ir/eval/physical_order.h"

namespace hlo::lapack {

std::vector<uint8_t> ToPhysical(const Literal& literal, const Shape& layout_shape) {
  std::vector<uint8_t> bytes(literal.byte_size());
  CopyToPhysical(literal.data(), layout_shape, bytes.data());
  return bytes;
}

Literal FromPhysical(const std::vector<uint8_t>& bytes, const Shape& shape) {
  Literal literal = Literal::Make(shape);
  CopyFromPhysical(bytes.data(), shape, literal.MutableData());
  return literal;
}

Call::Call(const Instruction& inst, llvm::MutableArrayRef<Literal> operands) : inst_(inst) {
  for (size_t i = 0; i < operands.size(); ++i) {
    const Shape& as = CustomCallOperandShape(inst, static_cast<int64_t>(i));
    in_.push_back({as, ToPhysical(operands[i], as)});
  }
  ForEachLeaf(inst.shape(), [&](const ShapeIndex&, const Shape& leaf) {
    out_.push_back({leaf, std::vector<uint8_t>(leaf.IsArray() ? static_cast<size_t>(ByteSize(leaf)) : 0)});
  });
}

int64_t Call::Batch(int64_t core) const {
  int64_t batch = 1;
  for (int64_t d = 0; d < in_[0].shape.rank() - core; ++d) batch *= in_[0].shape.dim(d);
  return batch;
}

int64_t Call::SizeOf(const Shape& shape) {
  int64_t size = 1;
  for (const int64_t d : shape.dims().take_back(2)) size = std::max(size, d);
  return size;
}

Result<Literal> Call::Finish() {
  std::vector<Literal> leaves;
  for (Buffer& b : out_)
    leaves.push_back(b.shape.IsArray() ? FromPhysical(b.bytes, b.shape) : Literal::MakeToken());
  if (!inst_.shape().IsTuple()) return std::move(leaves[0]);
  return Literal::MakeTuple(std::move(leaves)).WithShape(inst_.shape());
}

}  // namespace hlo::lapack

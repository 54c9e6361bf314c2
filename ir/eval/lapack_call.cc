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
  const auto& constraints = inst.attr<CustomCallAttrs>().operand_layout_constraints;
  for (size_t i = 0; i < operands.size(); ++i) {
    const Shape& written = inst.operand(static_cast<int64_t>(i))->shape();
    const Shape& as = constraints && i < constraints->size() ? (*constraints)[i] : written;
    if (as.IsArray())
      in_.push_back({as, ToPhysical(operands[i], as)});
    else
      in_.push_back({as, {}});
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

int64_t AttributeOf(const Instruction& call, llvm::StringRef key, int64_t otherwise) {
  llvm::SmallVector<llvm::StringRef, 8> items;
  llvm::StringRef(call.extras().backend_config).trim("{} \n\t").split(items, ',');
  for (llvm::StringRef item : items) {
    const auto [name, value] = item.split('=');
    int64_t number = 0;
    if (name.trim() == key && !value.split(':').first.trim().getAsInteger(10, number)) return number;
  }
  return otherwise;
}

bool Call::Flag(llvm::StringRef key) const {
  llvm::SmallVector<llvm::StringRef, 8> items;
  inst_.extras().backend_config.trim("{} \n\t").split(items, ',');
  return llvm::any_of(items, [&](llvm::StringRef item) {
    const auto [name, value] = item.split('=');
    return name.trim() == key && value.trim().starts_with("true");
  });
}

Status Call::Expect(size_t operands, size_t results, int64_t core) const {
  const std::string& target = inst_.attr<CustomCallAttrs>().custom_call_target;
  if (in_.size() < operands || out_.size() < results)
    return Error("runtime-custom-call", inst_.loc(),
                 "target '{0}' takes {1} operands and {2} results, has {3} and {4}", target, operands,
                 results, in_.size(), out_.size());
  for (const Buffer& b : in_)
    if (!b.shape.IsArray())
      return Error("runtime-custom-call", inst_.loc(), "target '{0}' takes arrays, has an operand of {1}",
                   target, b.shape);
  if (in_[0].shape.rank() < core)
    return Error("runtime-custom-call", inst_.loc(),
                 "target '{0}' takes an operand of rank {1} or more, has {2}", target, core, in_[0].shape);
  return {};
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

namespace hlo {

llvm::ArrayRef<CustomCallTarget> LapackTargets() {
  static const std::vector<CustomCallTarget> all = [] {
    std::vector<CustomCallTarget> table(lapack::FactorTargets().begin(), lapack::FactorTargets().end());
    llvm::append_range(table, lapack::EigenTargets());
    llvm::append_range(table, lapack::HermitianTargets());
    llvm::append_range(table, lapack::NamedTargets());
    return table;
  }();
  return all;
}

}  // namespace hlo

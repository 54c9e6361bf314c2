#include "tools/modules/stand_in.h"

#include "llvm/Support/xxhash.h"
#include "tools/arrays/fake_values.h"

namespace hlo {
namespace {

/// Whether constants of this shape can be written.
bool HasConstants(const Shape& shape) {
  if (shape.IsTuple()) return llvm::all_of(shape.tuple_shapes(), HasConstants);
  return shape.IsToken() || (shape.IsArray() && !shape.HasDynamicDimension());
}

}  // namespace

Instruction* StandInBuilder::Add(OpKind kind, const Shape& shape, llvm::StringRef name,
                                 llvm::ArrayRef<Instruction*> operands, Attrs attrs) {
  return to_.Add(kind, shape, to_.module()->UniqueInstructionName(name), operands, std::move(attrs), {},
                 before_);
}

Instruction* StandInBuilder::Zeros(const Shape& shape) {
  if (shape.IsToken()) return Add(OpKind::AfterAll, shape, "token", {});
  if (shape.IsTuple()) {
    llvm::SmallVector<Instruction*, 4> parts;
    for (const Shape& part : shape.tuple_shapes()) parts.push_back(Zeros(part));
    return Add(OpKind::Tuple, shape, "zeros", parts);
  }
  const Shape scalar = Shape::ArrayWithDefaultLayout(shape.element_type(), {});
  ConstantAttrs zero;
  zero.literal = std::make_shared<const Literal>(Literal::Zeros(scalar).Pack());
  Instruction* value = Add(OpKind::Constant, scalar, "zero", {}, zero);
  if (shape.rank() == 0) return value;
  return Add(OpKind::Broadcast, shape, "zeros", {value}, DimensionsAttrs{});
}

Result<Instruction*> StandInBuilder::Random(const Shape& shape, uint64_t seed) {
  constexpr int64_t kMaxElements = int64_t{1} << 26;
  if (shape.IsToken()) return Zeros(shape);
  if (shape.IsTuple()) {
    llvm::SmallVector<Instruction*, 4> parts;
    for (const Shape& part : shape.tuple_shapes()) {
      HLO_TRY(Instruction * made, Random(part, seed + parts.size() + 1));
      parts.push_back(made);
    }
    return Add(OpKind::Tuple, shape, "random", parts);
  }
  if (shape.ElementCount() > kMaxElements)
    return Error("limit-memory", {},
                 "a random constant {0} has {1} elements, at most {2} are made; use --extract-boundary=zeros "
                 "or parameter",
                 ToString(shape), shape.ElementCount(), kMaxElements);
  ConstantAttrs attrs;
  attrs.literal = std::make_shared<const Literal>(MakeValue(shape, {}, {seed, 0, 0, 0}).Pack());
  return Add(OpKind::Constant, shape, "random", {}, attrs);
}

Result<Instruction*> StandInBuilder::Make(const Shape& shape, Boundary boundary, const Instruction& value) {
  if (!HasConstants(shape)) return nullptr;
  if (boundary == Boundary::Zeros) return Zeros(shape);
  return Random(shape, llvm::xxh3_64bits(value.name()));
}

}  // namespace hlo

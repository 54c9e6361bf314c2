#include "backends/gpu/passes/sort_rows.h"

#include "llvm/Support/MathExtras.h"
#include "passes/rewrite/bits.h"
#include "passes/rewrite/expander.h"

namespace hlo::gpu {
namespace {

/// Dimension `from` becomes dimension `to`; the others keep their order.
llvm::SmallVector<int64_t, 4> Moved(int64_t rank, int64_t from, int64_t to) {
  llvm::SmallVector<int64_t, 4> order;
  for (int64_t d = 0; d < rank; ++d) order.push_back(d);
  order.erase(order.begin() + from);
  order.insert(order.begin() + to, from);
  return order;
}

Expr Move(const Expr& x, int64_t from, int64_t to) {
  return from == to ? x : x.Transpose(Moved(x.shape().rank(), from, to));
}

}  // namespace

std::optional<SortRows> RowsOfSort(const Instruction& inst) {
  if (inst.kind() != OpKind::Sort || !HasStaticShapes(inst)) return {};
  const Shape& shape = inst.operand(0)->shape();
  const int64_t dimension = inst.attr<SortAttrs>().dimensions[0], elements = shape.ElementCount();
  if (elements == 0 || elements > INT32_MAX) return {};
  return SortRows{dimension, elements / shape.dim(dimension), shape.dim(dimension)};
}

int64_t ElementsRead(const Instruction& sort, const SortRows& rows) {
  if (sort.IsRoot()) return rows.length;
  int64_t read = 1;
  llvm::SmallVector<const Instruction*, 8> readers(sort.users().begin(), sort.users().end());
  while (!readers.empty()) {
    const Instruction* reader = readers.pop_back_val();
    if (reader->kind() == OpKind::GetTupleElement && !reader->IsRoot()) {
      readers.append(reader->users().begin(), reader->users().end());
      continue;
    }
    if (reader->kind() != OpKind::Slice) return rows.length;
    read = std::max(read, reader->attr<SliceAttrs>().slice[static_cast<size_t>(rows.dimension)].limit);
  }
  return read;
}

Expr Filled(const Expr& x, int64_t length) {
  if (x.dim(1) == length) return x;
  Maker& make = x.make();
  const PaddingDim padding[] = {{}, {.high = length - x.dim(1)}};
  return {make, make.Pad(x, make.Scalar(x.type(), 0), padding)};
}

int64_t BitsOfPlaces(int64_t length) { return llvm::Log2_64_Ceil(static_cast<uint64_t>(length)); }

Expr TakeFromRows(const Expr& x, const Expr& places) {
  const int64_t rows = x.dim(0), length = x.dim(1), count = places.dim(1);
  GatherAttrs attrs;
  attrs.collapsed_slice_dims = {0};
  attrs.start_index_map = {0};
  attrs.index_vector_dim = 1;
  attrs.slice_sizes = {1};
  Maker& make = x.make();
  const Expr at = rows == 1 ? places : IotaOf(make, kSortIndex, {rows, count}, 0) * length + places;
  const Expr taken(make, make.Add(OpKind::Gather, {x.Reshape({rows * length}), at.Reshape({rows * count, 1})},
                                  std::move(attrs)));
  return taken.Reshape({rows, count});
}

Expr AsRows(const Expr& operand, const SortRows& rows) {
  return Move(operand, rows.dimension, operand.shape().rank() - 1).Reshape({rows.count, rows.length});
}

Expr FromRows(const Expr& sorted, const Shape& operand, const SortRows& rows) {
  llvm::SmallVector<int64_t, 4> dims;
  for (const int64_t d : Moved(operand.rank(), rows.dimension, operand.rank() - 1))
    dims.push_back(operand.dim(d));
  return Move(sorted.Reshape(dims), operand.rank() - 1, rows.dimension);
}

namespace {

/// The type whose bits stand for those of a float; other types themselves.
ElementType TypeOfBits(ElementType type) {
  if (!IsFloat(type)) return type;
  const TypeInfo& info = Info(type);
  return UnsignedOfWidth(info.is_packed() ? info.bits : info.host_bytes() * 8).value_or(type);
}

/// A comparator that takes the bits of floats: a map takes floats of one type alone.
Computation* OnBits(Computation& comparator) {
  Computation* made = NewComputation(*comparator.module(), comparator.name());
  Maker make(*made);
  llvm::DenseMap<const Instruction*, Instruction*> copies;
  for (const Instruction* parameter : comparator.parameters()) {
    const Shape& shape = parameter->shape();
    Instruction* bits = make.Parameter(parameter->attr<ParameterAttrs>().number,
                                       shape.WithElementType(TypeOfBits(shape.element_type())));
    copies[parameter] = IsFloat(shape.element_type()) ? make.BitcastConvert(bits, shape) : bits;
  }
  for (const Instruction* inst : comparator.PostOrder()) {
    Instruction*& copy = copies[inst];
    if (copy) continue;
    llvm::SmallVector<Instruction*, 4> operands;
    for (const Instruction* operand : inst->operands()) operands.push_back(copies.lookup(operand));
    copy = CloneInstruction(*inst, *made, operands, inst->callees(),
                            comparator.module()->UniqueInstructionName(inst->name()));
  }
  made->set_root(copies.lookup(comparator.root()));
  return made;
}

bool MixesFloats(const Computation& comparator) {
  std::optional<ElementType> first;
  for (const Instruction* parameter : comparator.parameters()) {
    const ElementType type = parameter->shape().element_type();
    if (IsFloat(type) && first.value_or(type) != type) return true;
    if (IsFloat(type)) first = type;
  }
  return false;
}

}  // namespace

Expr ByComparator(Maker& make, Computation& comparator, llvm::ArrayRef<Expr> pairs) {
  Computation* const on_bits = MixesFloats(comparator) ? OnBits(comparator) : nullptr;
  llvm::SmallVector<Instruction*, 6> operands;
  for (const Expr& element : pairs) {
    // Comparators may take floats of another type.
    const ElementType type =
        comparator.parameter(static_cast<int64_t>(operands.size()))->shape().element_type();
    Instruction* operand = make.Convert(element, type);
    if (on_bits && IsFloat(type))
      operand = make.BitcastConvert(operand, operand->shape().WithElementType(TypeOfBits(type)));
    operands.push_back(operand);
  }
  MapAttrs map;
  for (int64_t d = 0; d < pairs[0].shape().rank(); ++d) map.dimensions.push_back(d);
  return {make, make.Add(OpKind::Map, operands, std::move(map), {on_bits ? on_bits : &comparator})};
}

}  // namespace hlo::gpu

// row-major-layouts: every array lies in memory row by row, elements one by one: layouts of the text say how
// another program stores what it computes, and have no meaning here but in bitcasts, which become transposes,
// reshapes and bitcast-converts first.
//
// Requires nothing. Preserves flat-calls, fusions. Custom calls keep theirs: for LAPACK targets they say what
// is a row and what a column.
#include "ir/op.h"
#include "passes/pass.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/maker.h"

namespace hlo::compile {
namespace {

/// The physical dimensions of an array, major to minor, and the permutation that brings it there.
struct PhysicalForm {
  Dims dims, from_logical, to_logical;
};
PhysicalForm PhysicalFormOf(const Shape& shape) {
  PhysicalForm form;
  const auto rank = static_cast<size_t>(shape.rank());
  form.to_logical.resize(rank);
  for (size_t i = 0; i < rank; ++i) {
    const int64_t d =
        shape.has_layout() ? shape.layout().minor_to_major[rank - 1 - i] : static_cast<int64_t>(i);
    form.from_logical.push_back(d);
    form.dims.push_back(shape.dim(d));
    form.to_logical[static_cast<size_t>(d)] = static_cast<int64_t>(i);
  }
  return form;
}

bool IsIdentity(llvm::ArrayRef<int64_t> permutation) {
  for (size_t i = 0; i < permutation.size(); ++i)
    if (permutation[i] != static_cast<int64_t>(i)) return false;
  return true;
}

/// Bytes of an element in memory; 0 if the layout packs several into a byte or leaves gaps.
int64_t StoredBytes(const Shape& shape) {
  const TypeInfo& info = Info(shape.element_type());
  const bool packed = shape.has_layout() && shape.layout().element_size_bits != 0;
  return packed && info.is_packed() ? 0 : info.host_bytes();
}

/// Whether elements of both have as many bits, packed or not.
bool StoredAlike(const Shape& a, const Shape& b) {
  return Info(a.element_type()).bits == Info(b.element_type()).bits &&
         (StoredBytes(a) == 0) == (StoredBytes(b) == 0) && a.ElementCount() == b.ElementCount();
}

/// The bits of `x` (in row-major order) as elements of `type`, in one dimension.
Instruction* Reinterpret(Maker& make, Instruction* x, ElementType type) {
  const int64_t from = Info(x->shape().element_type()).host_bytes(), to = Info(type).host_bytes();
  const int64_t count = x->shape().ElementCount();
  if (from < to) x = make.Reshape(x, Dims{count * from / to, to / from});
  if (from >= to) x = make.Reshape(x, Dims{count});
  Dims dims = {count * from / to};
  if (from > to) dims = {count, from / to};
  x = make.BitcastConvert(x, Shape::Array(type, dims));
  return make.Reshape(x, Dims{count * from / to});
}

/// Bitcasts say something about memory in the layouts of the text; as storage here is row-major they become
/// transposes, reshapes and bitcast-converts.
Status ReplaceBitcast(Instruction* bitcast) {
  Instruction* x = bitcast->operand(0);
  const Shape &from = x->shape(), &to = bitcast->shape();
  if (!to.IsArray() || from == to) {
    ReplaceAndRemove(bitcast, x);
    return {};
  }
  const bool same_type = from.element_type() == to.element_type();
  const bool same_count = from.ElementCount() == to.ElementCount();
  const bool same_bytes = StoredAlike(from, to) ||
                          (StoredBytes(from) != 0 && StoredBytes(to) != 0 && ByteSize(from) == ByteSize(to));
  if (same_type ? !same_count : !same_bytes || from.HasDynamicDimension())
    return Error("unsupported-bitcast", bitcast->loc(),
                 "%{0}: bitcast of {1} to {2} is not implemented on cpu", bitcast->name(), ToString(from),
                 ToString(to));
  Maker make(bitcast);
  const PhysicalForm source = PhysicalFormOf(from), result = PhysicalFormOf(to);
  if (!IsIdentity(source.from_logical)) x = make.Transpose(x, source.from_logical);
  if (!same_type) x = Reinterpret(make, x, to.element_type());
  x = make.Reshape(x, to.WithDims(result.dims).WithoutLayout());
  if (!IsIdentity(result.to_logical)) x = make.Transpose(x, result.to_logical);
  ReplaceAndRemove(bitcast, x);
  return {};
}

/// The same with the order of layouts alone: buffers hold elements one by one, and nothing before them.
Shape WithPlainLayouts(const Shape& shape) {
  if (shape.IsTuple()) {
    std::vector<Shape> elements;
    for (const Shape& element : shape.tuple_shapes()) elements.push_back(WithPlainLayouts(element));
    return Shape::MakeTuple(elements);
  }
  if (!shape.IsArray() || !shape.has_layout()) return shape;
  Layout layout;
  layout.minor_to_major = shape.layout().minor_to_major;
  return shape.WithLayout(std::move(layout));
}

Shape RowMajorShape(const Instruction& inst) {
  return inst.kind() == OpKind::CustomCall ? WithPlainLayouts(inst.shape())
                                           : inst.shape().WithoutLayout().WithDefaultLayouts();
}

/// Nothing happens to memory.
bool IsFree(const Instruction& bitcast) {
  const Shape &from = bitcast.operand(0)->shape(), &to = bitcast.shape();
  return from.element_type() == to.element_type() && IsRowMajor(from) && IsRowMajor(to);
}

Result<bool> RunRowMajorLayouts(Module& module, const NoPassOptions&, PassContext& context) {
  bool changed = false;
  for (Computation* computation : module.PostOrder())
    for (Instruction* bitcast : computation->InstructionsOf(OpKind::Bitcast)) {
      // Between the parts of a kernel they stay what they are.
      if (computation->IsFusion() && IsFree(*bitcast)) continue;
      if (!context.TakeRewrite()) return changed;
      HLO_CHECK_OK(ReplaceBitcast(bitcast));
      changed = true;
    }
  for (const auto& computation : module.computations())
    for (Instruction* inst : computation->instructions()) {
      Shape shape = RowMajorShape(*inst);
      if (shape == inst->shape()) continue;
      if (!context.TakeRewrite()) return changed;
      inst->set_shape(std::move(shape));
      changed = true;
    }
  return changed;
}

}  // namespace

HLO_DEFINE_PASS(RowMajorLayouts, NoPassOptions);

}  // namespace hlo::compile

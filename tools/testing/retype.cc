#include "tools/testing/retype.h"

#include "ir/numeric/narrow_float.h"
#include "ir/verify.h"
#include "passes/analysis/value_facts.h"
#include "passes/rewrite/maker.h"

namespace hlo::testing {
namespace {

class Retyper {
 public:
  Retyper(Module& module, ElementType from, ElementType to, int64_t length)
      : module_(module), from_(from), to_(to), length_(length) {}

  /// False if the module has no uniform sizes where that is needed.
  bool Run() {
    if (length_ > 0 && !FindDims()) return false;
    for (const auto& c : module_.computations())
      for (Instruction* inst : c->instructions()) {
        const bool resize = length_ > 0 && c.get() == module_.entry();
        const Shape shape = Map(inst->shape(), resize && !(has_arrays_ && IsScalarArray(inst->shape())));
        if (inst->kind() == OpKind::Constant && !MapConstant(*inst, shape)) return false;
        if (inst->kind() == OpKind::Compare) {
          auto& attrs = inst->mutable_attrs().Mutable<CompareAttrs>();
          const bool total_order = attrs.type == CompareType::TotalOrder;
          if (total_order && !IsFloat(Map(inst->operand(0)->shape().element_type()))) return false;
          if (!total_order) attrs.type.reset();
        }
        inst->set_shape(shape);
      }
    EntryLayout layout;
    for (const Instruction* p : module_.entry()->parameters()) layout.parameters.push_back(p->shape());
    layout.result = module_.entry()->root()->shape();
    module_.config.entry_layout = layout;
    return true;
  }

 private:
  static bool IsScalarArray(const Shape& shape) { return shape.IsScalar(); }

  bool FindDims() {
    bool found = false;
    for (const Instruction* inst : module_.entry()->instructions()) {
      if (inst->shape().HasDynamicDimension()) return false;
      ForEachLeaf(inst->shape(), [&](const ShapeIndex&, const Shape& leaf) {
        if (!leaf.IsArray() || leaf.rank() == 0) return;
        if (!has_arrays_) dims_.assign(leaf.dims().begin(), leaf.dims().end());
        has_arrays_ = true;
        found |= leaf.dims() != llvm::ArrayRef<int64_t>(dims_);
      });
    }
    return !found;
  }

  [[nodiscard]] ElementType Map(ElementType type) const {
    if (type == from_) return to_;
    if (IsComplex(from_) && IsComplex(to_) && type == RealPartType(from_)) return RealPartType(to_);
    const auto complex = IsFloat(from_) ? ComplexType(from_) : std::nullopt;
    if (complex && type == *complex && IsFloat(to_)) return ComplexType(to_).value_or(type);
    return type;
  }

  [[nodiscard]] Shape Map(const Shape& shape, bool resize) const {
    if (shape.IsTuple()) {
      std::vector<Shape> elements;
      for (const Shape& element : shape.tuple_shapes())
        elements.push_back(Map(element, length_ > 0 && !(has_arrays_ && element.IsScalar())));
      return Shape::MakeTuple(elements);
    }
    if (!shape.IsArray()) return shape;
    const ElementType type = Map(shape.element_type());
    if (resize) return Shape::ArrayWithDefaultLayout(type, {length_});
    if (type == shape.element_type()) return shape;
    return Shape::ArrayWithDefaultLayout(type, shape.dims(), shape.dynamic_flags());
  }

  bool MapConstant(Instruction& inst, const Shape& shape) {
    const LiteralPtr& old = inst.attr<ConstantAttrs>().literal;
    if (!old || !shape.IsArray()) return old != nullptr && shape == inst.shape();
    if (shape == inst.shape()) return true;
    const Literal source = old->Unpack();
    Literal made = Literal::Zeros(shape);
    const int64_t count = source.shape().ElementCount();
    for (int64_t i = 0; i < shape.ElementCount(); ++i) {
      if (count == 0) return false;
      const int64_t from = i % count;
      if (source.shape().element_type() == shape.element_type()) {
        const auto bytes = static_cast<size_t>(Info(shape.element_type()).host_bytes());
        std::memcpy(made.MutableData() + static_cast<size_t>(i) * bytes,
                    source.data() + static_cast<size_t>(from) * bytes, bytes);
      } else {
        SetValue(made, i, LiteralValue(source, from));
      }
    }
    inst.mutable_attrs().Mutable<ConstantAttrs>().literal = std::make_shared<Literal>(made.Pack());
    return true;
  }

  static void SetValue(Literal& literal, int64_t i, double value) {
    const ElementType type = literal.shape().element_type();
    const int bits = Info(type).bits;
    if (IsFloat(type)) return literal.SetBits(i, FromDouble(type, value));
    if (IsPred(type)) return literal.SetBits(i, value != 0);
    if (IsUnsigned(type)) return literal.SetBits(i, SaturateToUnsigned(value, ~uint64_t{0} >> (64 - bits)));
    if (IsSigned(type)) {
      const int64_t max = INT64_MAX >> (64 - bits);
      return literal.SetBits(i, static_cast<uint64_t>(SaturateToSigned(value, -max - 1, max)));
    }
    const Literal scalar = ScalarLiteral(type, value);
    const auto bytes = static_cast<size_t>(Info(type).host_bytes());
    std::memcpy(literal.MutableData() + static_cast<size_t>(i) * bytes, scalar.data(), bytes);
  }

  Module& module_;
  ElementType from_, to_;
  int64_t length_;
  bool has_arrays_ = false;
  Dims dims_;
};

}  // namespace

std::unique_ptr<Module> Retyped(const Module& module, ElementType from, ElementType to, int64_t length) {
  std::unique_ptr<Module> copy = module.Clone();
  if (from == to && length == 0) return copy;
  if (!Retyper(*copy, from, to, length).Run()) return nullptr;
  for (const Diagnostic& violation : Verify(*copy))
    if (violation.severity == Severity::Error) return nullptr;
  return copy;
}

ElementType MainType(const Module& module) {
  auto of = [](const Instruction* inst) {
    const Shape& shape = inst->shape();
    return shape.IsArray() && !IsPred(shape.element_type()) ? std::optional(shape.element_type())
                                                            : std::nullopt;
  };
  for (const Instruction* inst : module.entry()->parameters())
    if (const auto type = of(inst)) return *type;
  for (const Instruction* inst : module.entry()->instructions())
    if (const auto type = of(inst)) return *type;
  return ElementType::Pred;
}

}  // namespace hlo::testing

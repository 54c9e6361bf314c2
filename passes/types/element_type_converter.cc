// element_type_converter: computes in another element type (passes.md §2.2).
//
// Requires nothing. Preserves flat-calls, layouts, canonical-dots, fusions.
// Changes: operations on or to `eliminate_type` run on `replace_with_type`, with converts before and after.
// Left alone: parameters, constants, tuples, conversions, random numbers, whatever calls computations,
// communicates or is a custom-call.
#include "passes/pass.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/maker.h"

namespace hlo {
namespace {

struct ElementTypeConverterOptions {
  std::string eliminate_type = "bf16";
  std::string replace_with_type = "f32";
  static llvm::ArrayRef<PassOptionRow> Rows();
};

constexpr PassOptionRow kRows[] = {
    PassOption<&ElementTypeConverterOptions::eliminate_type>("eliminate_type", "the type to compute without"),
    PassOption<&ElementTypeConverterOptions::replace_with_type>("replace_with_type",
                                                                "the type to compute in"),
};

struct Types {
  ElementType from, to;
};

Shape Replaced(const Shape& shape, const Types& types) {
  if (shape.IsTuple()) {
    llvm::SmallVector<Shape, 4> elements;
    for (const Shape& element : shape.tuple_shapes()) elements.push_back(Replaced(element, types));
    return Shape::MakeTuple(elements);
  }
  return shape.IsArray() && shape.element_type() == types.from ? shape.WithElementType(types.to) : shape;
}

bool Has(const Shape& shape, ElementType type) {
  if (shape.IsTuple())
    return llvm::any_of(shape.tuple_shapes(), [&](const Shape& s) { return Has(s, type); });
  return shape.IsArray() && shape.element_type() == type;
}

bool IsConverted(const Instruction& inst, const Types& types) {
  const OpCategory category = inst.info().category;
  if (!inst.callees().empty() || category == OpCategory::Control || category == OpCategory::Custom ||
      category == OpCategory::Async || category == OpCategory::Communication ||
      category == OpCategory::Tuple || category == OpCategory::Random)
    return false;
  if (inst.kind() == OpKind::Parameter || inst.kind() == OpKind::Constant || inst.kind() == OpKind::Convert ||
      inst.kind() == OpKind::BitcastConvert || inst.kind() == OpKind::Bitcast ||
      inst.kind() == OpKind::StochasticConvert)
    return false;
  // What is done to whole tuples, copies, computes nothing.
  if (llvm::any_of(inst.operands(), [](const Instruction* o) { return o->shape().IsTuple(); })) return false;
  return Has(inst.shape(), types.from) ||
         llvm::any_of(inst.operands(), [&](const Instruction* o) { return Has(o->shape(), types.from); });
}

/// The value with its types as they were.
Instruction* ConvertBack(Maker& make, Instruction* value, const Shape& wanted) {
  if (value->shape() == wanted) return value;
  if (!wanted.IsTuple()) return make.Convert(value, wanted.element_type());
  llvm::SmallVector<Instruction*, 4> elements;
  for (int64_t i = 0; i < wanted.tuple_size(); ++i)
    elements.push_back(ConvertBack(make, make.Gte(value, i), wanted.tuple_shape(i)));
  return make.Tuple(elements);
}

void Convert(Instruction* inst, const Types& types) {
  Maker make(inst);
  llvm::SmallVector<Instruction*, 4> operands;
  for (Instruction* o : inst->operands())
    operands.push_back(
        o->shape().IsArray() && o->shape().element_type() == types.from ? make.Convert(o, types.to) : o);
  Instruction* wide = CloneWith(*inst, *inst->parent(), operands);
  wide->set_shape(Replaced(inst->shape(), types));
  ReplaceWith(inst, ConvertBack(make, wide, inst->shape()));
  inst->parent()->Remove(inst);
}

Result<ElementType> TypeOption(llvm::StringRef option, llvm::StringRef text) {
  const auto type = ParseElementType(text);
  if (type && IsFloat(*type)) return *type;
  return Error("usage-pass-option", {},
               "option '{0}' of pass 'element_type_converter': found '{1}', expected a floating element type",
               option, text);
}

llvm::ArrayRef<PassOptionRow> ElementTypeConverterOptions::Rows() { return kRows; }

Result<bool> RunElementTypeConverter(Module& module, const ElementTypeConverterOptions& options,
                                     PassContext& context) {
  HLO_TRY(const ElementType from, TypeOption("eliminate_type", options.eliminate_type));
  HLO_TRY(const ElementType to, TypeOption("replace_with_type", options.replace_with_type));
  if (from == to) return false;
  bool changed = false;
  for (Computation* c : context.Computations(module)) {
    HLO_CHECK_OK(context.CheckInterrupt());
    llvm::SmallVector<Instruction*, 8> converted;
    for (Instruction* inst : c->instructions())
      if (IsConverted(*inst, {from, to})) converted.push_back(inst);
    for (Instruction* inst : converted) {
      if (!context.TakeRewrite()) return changed;
      Convert(inst, {from, to});
      changed = true;
    }
  }
  return changed;
}

}  // namespace

HLO_DEFINE_PASS(ElementTypeConverter, ElementTypeConverterOptions);

}  // namespace hlo

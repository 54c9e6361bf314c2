// change-op-data-type: some operations run in another type (passes.md §2.3).
//
// Requires nothing. Preserves flat-calls, layouts, canonical-dots, fusions.
// Changes: operations in the list whose result and operands all have the one type are done in the other one,
// between conversions. Left alone: all others; operations that call computations cannot be listed.
#include "passes/pass.h"
#include "passes/rewrite/dots.h"
#include "passes/rewrite/expander.h"

namespace hlo {
namespace {

struct ChangeOpDataTypeOptions {
  std::string from = "f16", to = "f32";
  std::vector<std::string> ops = {"dot", "convolution"};
  static llvm::ArrayRef<PassOptionRow> Rows();
};

using O = ChangeOpDataTypeOptions;
constexpr PassOptionRow kRows[] = {
    PassOption<&O::from>("from", "the type to replace"),
    PassOption<&O::to>("to", "the type that replaces it"),
    PassOption<&O::ops>("ops", "opcodes: dot, ragged-dot, convolution and elementwise ones"),
};

struct Change {
  ElementType from, to;
  llvm::SmallVector<OpKind, 4> ops;
};

bool MayChange(OpKind kind) {
  const OpInfo& info = Info(kind);
  const bool product = kind == OpKind::Dot || kind == OpKind::RaggedDot || kind == OpKind::Convolution;
  return product || (info.Is(kElementwise) && !info.MayCall() && info.category != OpCategory::Conversion);
}

Result<Change> ReadOptions(const O& options) {
  Change change;
  for (const auto& [text, type] :
       {std::pair(&options.from, &change.from), std::pair(&options.to, &change.to)}) {
    const auto found = ParseElementType(*text);
    if (!found || !IsArrayType(*found))
      return Error("usage-pass-option", Loc(), "change-op-data-type: '{0}' is no element type", *text);
    *type = *found;
  }
  for (const std::string& op : options.ops) {
    const auto kind = ParseOpKind(op);
    if (!kind || !MayChange(*kind))
      return Error(
          "usage-pass-option", Loc(),
          "change-op-data-type: found '{0}', expected dot, ragged-dot, convolution or an elementwise op", op);
    change.ops.push_back(*kind);
  }
  return change;
}

bool IsOf(const Change& change, const Instruction& inst) {
  auto has_type = [&](const Shape& shape) { return shape.IsArray() && shape.element_type() == change.from; };
  return llvm::is_contained(change.ops, inst.kind()) && has_type(inst.shape()) &&
         llvm::all_of(inst.operands(), [&](const Instruction* o) {
           return has_type(o->shape()) || inst.kind() == OpKind::RaggedDot;
         });
}

llvm::ArrayRef<PassOptionRow> ChangeOpDataTypeOptions::Rows() { return kRows; }

Result<bool> RunChangeOpDataType(Module& module, const ChangeOpDataTypeOptions& options,
                                 PassContext& context) {
  HLO_TRY(const Change change, ReadOptions(options));
  return ExpandMatches(
      module, context, [&](const Instruction& inst) { return IsOf(change, inst); },
      [&](Instruction* inst) -> Result<Instruction*> {
        Maker make(inst);
        llvm::SmallVector<Instruction*, 3> operands;
        for (Instruction* o : inst->operands())
          operands.push_back(o->shape().element_type() == change.from ? make.Convert(o, change.to) : o);
        Instruction* made = RemakeWith(make, *inst, inst->shape().WithElementType(change.to), operands);
        return make.Convert(made, change.from);
      });
}

}  // namespace

HLO_DEFINE_PASS(ChangeOpDataType, ChangeOpDataTypeOptions);

}  // namespace hlo

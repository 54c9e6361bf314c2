// variadic-op-splitter: no instruction with more operands than a kernel has parameters (passes.md §2.5).
//
// Requires nothing. Preserves flat-calls, layouts, canonical-dots.
// Changes: a concatenate of more than `max_parameters` operands becomes one of concatenates of so many.
// Left alone: other opcodes, dynamic shapes.
#include "passes/pass.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/maker.h"

namespace hlo {
namespace {

struct VariadicOpSplitterOptions {
  int64_t max_parameters = 128;
  static llvm::ArrayRef<PassOptionRow> Rows();
};

constexpr PassOptionRow kRows[] = {
    PassOption<&VariadicOpSplitterOptions::max_parameters>("max_parameters", "operands of one instruction"),
};

/// The operands as groups of at most `most`, each one concatenate.
llvm::SmallVector<Instruction*, 16> Grouped(Maker& make, llvm::ArrayRef<Instruction*> operands,
                                            const Instruction& like, size_t most) {
  const int64_t dimension = like.attr<DimensionsAttrs>().dimensions[0];
  llvm::SmallVector<Instruction*, 16> groups;
  for (llvm::ArrayRef<Instruction*> rest = operands; !rest.empty();) {
    const llvm::ArrayRef<Instruction*> group = rest.take_front(most);
    rest = rest.drop_front(group.size());
    if (group.size() == 1) {
      groups.push_back(group.front());
      continue;
    }
    Dims sizes(like.shape().dims());
    int64_t& size = sizes[static_cast<size_t>(dimension)] = 0;
    for (const Instruction* x : group) size += x->shape().dim(dimension);
    Shape shape = Shape::Array(like.shape().element_type(), sizes);
    if (like.shape().has_layout()) shape = shape.WithLayout(like.shape().layout());
    groups.push_back(make.AddWithShape(OpKind::Concatenate, shape, group, like.attrs()));
  }
  return groups;
}

llvm::ArrayRef<PassOptionRow> VariadicOpSplitterOptions::Rows() { return kRows; }

Result<bool> RunVariadicOpSplitter(Module& module, const VariadicOpSplitterOptions& options,
                                   PassContext& context) {
  if (options.max_parameters < 2)
    return Error("usage-pass-option", Loc(),
                 "variadic-op-splitter: found max_parameters {0}, expected 2 or more",
                 options.max_parameters);
  const auto most = static_cast<size_t>(options.max_parameters);
  return ExpandMatches(
      module, context,
      [&](const Instruction& inst) {
        return inst.kind() == OpKind::Concatenate && inst.operands().size() > most && HasStaticShapes(inst);
      },
      [&](Instruction* inst) -> Result<Instruction*> {
        Maker make(inst);
        llvm::SmallVector<Instruction*, 16> operands(inst->operands());
        while (operands.size() > most) operands = Grouped(make, operands, *inst, most);
        return make.AddWithShape(OpKind::Concatenate, inst->shape(), operands, inst->attrs());
      });
}

}  // namespace

HLO_DEFINE_PASS(VariadicOpSplitter, VariadicOpSplitterOptions);

}  // namespace hlo

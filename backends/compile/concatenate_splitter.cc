// concatenate-splitter: what joins very many arrays joins what others have joined, as the time in which code
// is made of one kernel grows with the square of what it writes one after the other.
//
// Requires row-major. Preserves flat-calls, row-major, fusions.
// Changes: a concatenate of more than 256 arrays becomes one of concatenates of at most so many each; they
// are not joined again (kernel-fusion). Left alone: dynamic dimensions.
#include "passes/pass.h"
#include "passes/rewrite/dots.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/maker.h"

namespace hlo::compile {
namespace {

constexpr int64_t kMostOperands = 256;

bool IsWide(const Instruction& inst) {
  return inst.kind() == OpKind::Concatenate && inst.operand_count() > kMostOperands && HasStaticShapes(inst);
}

/// The concatenate of some of its operands.
Instruction* Join(const Instruction& all, llvm::ArrayRef<Instruction*> some, Maker& make) {
  if (some.size() == 1) return some[0];
  const int64_t dimension = all.attr<DimensionsAttrs>().dimensions[0];
  Dims dims(all.shape().dims());
  dims[static_cast<size_t>(dimension)] = 0;
  for (const Instruction* operand : some)
    dims[static_cast<size_t>(dimension)] += operand->shape().dim(dimension);
  return RemakeWith(make, all, all.shape().WithDims(dims).WithLayout(all.shape().layout()), some);
}

Result<bool> RunConcatenateSplitter(Module& module, const NoPassOptions&, PassContext& context) {
  return ExpandMatches(module, context, IsWide, [](Instruction* inst) -> Result<Instruction*> {
    Maker make(inst);
    llvm::SmallVector<Instruction*> parts(inst->operands());
    do {
      llvm::SmallVector<Instruction*> joined;
      for (llvm::ArrayRef<Instruction*> left = parts; !left.empty();
           left = left.drop_front(std::min<size_t>(kMostOperands, left.size())))
        joined.push_back(Join(*inst, left.take_front(kMostOperands), make));
      parts = std::move(joined);
    } while (parts.size() > 1);
    return parts[0];
  });
}

}  // namespace

HLO_DEFINE_PASS(ConcatenateSplitter, NoPassOptions);

}  // namespace hlo::compile

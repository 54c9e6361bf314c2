// dot-algorithm-rewriter: products in several pieces as several products (passes.md §2.3).
//
// Requires nothing. Preserves flat-calls, layouts, canonical-dots, fusions.
// Changes: a dot of f32 by algorithm dot_bf16_bf16_f32_x3, x6 or x9, or dot_tf32_tf32_f32_x3, becomes the sum
// of as many dots of pieces of its operands, the smallest first, each by the algorithm of one product; where
// small products are not finite only the largest counts. Left alone: other algorithms and types, dynamic
// shapes.
#include <limits>

#include "passes/pass.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/expr.h"

namespace hlo {
namespace {

/// Numbers of the pieces of both operands, 0 being the largest.
using PiecePair = std::pair<size_t, size_t>;
constexpr PiecePair kOfTwo[] = {{1, 0}, {0, 1}};
constexpr PiecePair kSixOfThree[] = {{1, 1}, {2, 0}, {0, 2}, {1, 0}, {0, 1}};
constexpr PiecePair kNineOfThree[] = {{2, 2}, {2, 1}, {1, 2}, {1, 1}, {2, 0}, {0, 2}, {1, 0}, {0, 1}};

struct Splitting {
  DotAlgorithm algorithm, of_pieces;
  size_t pieces;
  llvm::ArrayRef<PiecePair> small;  // products besides that of the largest pieces
};
const Splitting kSplittings[] = {
    {DotAlgorithm::BF16BF16F32X3, DotAlgorithm::BF16BF16F32, 2, kOfTwo},
    {DotAlgorithm::BF16BF16F32X6, DotAlgorithm::BF16BF16F32, 3, kSixOfThree},
    {DotAlgorithm::BF16BF16F32X9, DotAlgorithm::BF16BF16F32, 3, kNineOfThree},
    {DotAlgorithm::TF32TF32F32X3, DotAlgorithm::TF32TF32F32, 2, kOfTwo},
};

const Splitting* SplittingOf(const Instruction& inst) {
  if (inst.kind() != OpKind::Dot || !HasStaticShapes(inst)) return nullptr;
  const auto is_f32 = [](const Shape& shape) { return shape.element_type() == ElementType::F32; };
  if (!is_f32(inst.shape()) || !is_f32(inst.operand(0)->shape()) || !is_f32(inst.operand(1)->shape()))
    return nullptr;
  const DotAlgorithm algorithm = inst.attr<DotAttrs>().algorithm;
  const Splitting* found =
      llvm::find_if(kSplittings, [&](const Splitting& s) { return s.algorithm == algorithm; });
  return found == std::end(kSplittings) ? nullptr : found;
}

/// What a piece holds of x: bf16, or the upper bits of f32 that tf32 has.
Expr PieceOf(const Expr& x, const Splitting& splitting) {
  constexpr int64_t kTf32Bits = 0xFFFFE000;
  if (splitting.of_pieces == DotAlgorithm::BF16BF16F32) return x.To(ElementType::BF16);
  return (x.As(ElementType::U32) & kTf32Bits).As(ElementType::F32);
}

llvm::SmallVector<Expr, 3> Pieces(Expr rest, const Splitting& splitting) {
  llvm::SmallVector<Expr, 3> pieces = {PieceOf(rest, splitting)};
  while (pieces.size() < splitting.pieces) {
    rest = rest - pieces.back().To(ElementType::F32);
    // The last piece of tf32 is all that is left.
    const bool all = splitting.of_pieces != DotAlgorithm::BF16BF16F32;
    pieces.push_back(all ? rest : PieceOf(rest, splitting));
  }
  return pieces;
}

Instruction* SumOfProducts(Instruction* dot) {
  Maker make(dot);
  const Splitting& splitting = *SplittingOf(*dot);
  DotAttrs attrs = dot->attr<DotAttrs>();
  attrs.algorithm = splitting.of_pieces;
  const auto x = Pieces(Expr(make, dot->operand(0)), splitting);
  const auto y = Pieces(Expr(make, dot->operand(1)), splitting);
  const auto product = [&](const PiecePair& pair) {
    return Expr(make, make.Dot(x[pair.first], y[pair.second], attrs, ElementType::F32));
  };
  Expr small = product(splitting.small.front());
  for (const PiecePair& pair : splitting.small.drop_front()) small = small + product(pair);
  // Of infinite elements the rest is NaN.
  small = Select(Lt(small.Unary(OpKind::Abs), std::numeric_limits<double>::infinity()), small, 0);
  return small + product({0, 0});
}

Result<bool> RunDotAlgorithmRewriter(Module& module, const NoPassOptions&, PassContext& context) {
  return ExpandMatches(
      module, context, [](const Instruction& inst) { return SplittingOf(inst) != nullptr; },
      [](Instruction* inst) -> Result<Instruction*> { return SumOfProducts(inst); });
}

}  // namespace

HLO_DEFINE_PASS(DotAlgorithmRewriter, NoPassOptions);

}  // namespace hlo

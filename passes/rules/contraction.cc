// Dots and convolutions (passes.md §3.6).
#include "passes/rewrite/convolutions.h"
#include "passes/rewrite/dots.h"
#include "passes/rules/contraction_rewrites.h"

namespace hlo {
namespace {

bool RewritesDotToMultiply(const Match& m) { return Options(m).enable_dot_to_multiply_rewrite; }
bool Reorders(const Match& m) { return Options(m).use_associative_reordering; }
bool ReducesStrength(const Match& m) { return Options(m).enable_dot_strength_reduction; }
bool MovesParameters(const Match& m) { return Options(m).enable_move_dot_param_to_rhs; }
bool MovesScales(const Match& m) { return Options(m).enable_scalar_multiply_reduction; }
bool FoldsPads(const Match& m) {
  return Options(m).enable_folding_pad_into_convolution && Options(m).enable_conv_simplification;
}
bool SwapsOperands(const Match& m) { return Options(m).enable_conv_operand_swap; }
bool SimplifiesConvolutions(const Match& m) { return Options(m).enable_conv_simplification; }
bool NotPred(const Match& m) { return !IsPred(m.type()); }
bool IsWideFloat(const Match& m) { return m.type() == ElementType::BF16 || m.type() == ElementType::F32; }

constexpr int kReassociates = kRounding | kSignedZero | kNan | kRange;

}  // namespace

llvm::ArrayRef<Rule> ContractionRules() {
  using namespace pattern;
  const Guard LI = LayoutInsensitive;  // NOLINT(readability-identifier-naming): a word of rules
  const Pattern dot = Dot().If(HasStaticArrays), conv = Convolution().If(IsPlainConvolution);
  const Pattern product = Pattern::OneOf({OpKind::Dot, OpKind::Convolution}).If(HasStaticArrays);
  static const Rule rules[] = {
      {"dot.1", dot, DotOfNothing, Exact, {LI}},
      {"dot.10", dot, DotOfDynamicSlice, Changes(kRounding), {LI}},
      {"dot.11", dot, DotWithoutSizeOne, Exact, {LI}},
      {"dot.2", dot, DotAsProduct, Changes(kSignedZero | kNan), {LI, NotPred, RewritesDotToMultiply}},
      {"dot.3", Dot(Dot(A, B).As(P).OneUse(), C), DotReassociated, Changes(kReassociates), {LI, Reorders}},
      {"dot.3b", Dot(C, Dot(A, B).As(P).OneUse()), DotReassociated, Changes(kReassociates), {LI, Reorders}},
      {"dot.4", dot, DotOfReverse, Changes(kReassociates), {LI, Reorders}},
      {"dot.5", dot, DotOfPad, Changes(kSignedZero | kNan | kRounding), {LI, Reorders}},
      {"dot.6", dot, DotOfBroadcast, Changes(kReassociates), {LI, NotPred, Reorders}},
      {"dot.7", dot, DotAsReduce, Changes(kReassociates), {LI, NotPred, ReducesStrength}},
      {"dot.8", dot, DotOfMergedTranspose, Changes(kReassociates), {LI}},
      {"dot.9", dot, DotOfConcatenate, Changes(kReassociates), {LI, NotPred}},
      {"dot.12",
       Dot(Transpose(A).As(P).OneUse(), Transpose(B).As(Q).OneUse()),
       DotOfTransposes,
       Changes(kNan | kRounding),
       {LI}},
      {"dot.13", dot, DotWithParameterRight, Changes(kNan | kRounding), {LI, MovesParameters}},

      {"cnv.1", product, ProductMovesScale, Changes(kReassociates), {LI, MovesScales, IsWideFloat}},
      {"cnv.1b",
       Multiply(Pattern::OneOf({OpKind::Dot, OpKind::Convolution}).As(A).OneUse(), B),
       ScaleMovesIntoProduct,
       Changes(kReassociates),
       {LI, MovesScales, IsWideFloat}},
      {"cnv.2", Convolution().If(HasStaticArrays), ConvolutionOfNothing, Exact, {SimplifiesConvolutions}},
      {"cnv.3",
       Convolution(Pad(A, Zero).As(P), B).If(IsPlainConvolution),
       ConvolutionOfPad,
       Changes(kReassociates),
       {FoldsPads}},
      {"cnv.4",
       Convolution(A, Pad(B, Zero).As(P)).If(IsPlainConvolution),
       ConvolutionByDilatedKernel,
       Changes(kSignedZero | kNan),
       {FoldsPads}},
      {"cnv.5",
       conv,
       ConvolutionSwapped,
       Changes(kReassociates),
       {LI, SwapsOperands, SimplifiesConvolutions}},
      {"cnv.6", conv, ConvolutionAsDot, Changes(kReassociates), {LayoutSensitive, SimplifiesConvolutions}},
      {"cnv.7",
       conv,
       DepthwiseConvolutionAsProduct,
       Changes(kReassociates),
       {LI, NotPred, SimplifiesConvolutions}},
  };
  return rules;
}

}  // namespace hlo

#include "backends/gpu/runtime/library_calls.h"

#include "backends/gpu/libraries/fft.h"
#include "llvm/Support/FormatVariadic.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/matrix.h"

namespace hlo::gpu {
namespace {

Instruction* MakeCall(Maker& make, llvm::StringRef target, llvm::ArrayRef<Instruction*> operands,
                      const Shape& shape, const std::string& attributes) {
  CustomCallAttrs attrs;
  attrs.custom_call_target = target.str();
  Instruction* const call = make.AddWithShape(OpKind::CustomCall, shape, operands, std::move(attrs));
  call->MutableExtras().backend_config = make.module().Save(attributes);
  return call;
}

Expr Scaled(const Expr& x, double factor) {
  if (!IsComplex(x.type())) return x * factor;
  Maker& make = x.make();
  return {make, make.Binary(OpKind::Complex, x.Unary(OpKind::Real) * factor, x.Unary(OpKind::Imag) * factor)};
}

/// Inverse transforms of the library have no factor.
Instruction* UnscaledFft(Instruction* inst) {
  Maker make(inst);
  const auto& [type, lengths] = inst->attr<FftAttrs>();
  const bool inverse = type == FftType::IFFT || type == FftType::IRFFT;
  Instruction* const call =
      MakeCall(make, "UnscaledFft", {inst->operand(0)}, inst->shape().WithDefaultLayouts(),
               llvm::formatv("{{\"fft_rank\":{0},\"inverse\":{1}}", lengths.size(), inverse ? 1 : 0).str());
  if (!inverse) return call;
  double count = 1;
  for (const int64_t length : lengths) count *= static_cast<double>(length);
  return Scaled({make, call}, 1 / count);
}

/// Matrices column beside column, as LAPACK wants them.
Shape ByColumns(const Shape& shape) {
  Layout layout;
  for (int64_t d = shape.rank() - 1; d >= 0; --d) layout.minor_to_major.push_back(d);
  std::swap(layout.minor_to_major[0], layout.minor_to_major[1]);
  return shape.WithLayout(std::move(layout));
}

/// The target for the element type of matrices.
std::string LapackTarget(const Expr& a, llvm::StringRef name) {
  const char letter = a.type() == ElementType::F32   ? 's'
                      : a.type() == ElementType::F64 ? 'd'
                      : a.type() == ElementType::C64 ? 'c'
                                                     : 'z';
  return llvm::formatv("lapack_{0}{1}_ffi", letter, name);
}

Instruction* MakeLapackCall(Maker& make, llvm::StringRef name, llvm::ArrayRef<Expr> operands,
                            const Shape& shape, const std::string& attributes) {
  llvm::SmallVector<Instruction*, 2> instructions;
  ShapeList constraints;
  for (const Expr& operand : operands) {
    instructions.push_back(operand.inst());
    constraints.push_back(ByColumns(operand.shape()));
  }
  Instruction* const call = MakeCall(make, LapackTarget(operands[0], name), instructions, shape, attributes);
  auto& attrs = call->mutable_attrs().Mutable<CustomCallAttrs>();
  attrs.operand_layout_constraints = std::move(constraints);
  attrs.api_version = ApiVersion::TypedFfi;
  return call;
}

bool HasMatrices(const Instruction& inst) { return HasStaticShapes(inst) && inst.shape().ElementCount() > 0; }

/// LAPACK leaves the other triangle as it was, and says of which matrices there is no factor.
Instruction* CholeskyCall(Instruction* inst) {
  Maker make(inst);
  const Expr a = AsMatrices(make, inst->operand(0));
  const bool lower = inst->attr<CholeskyAttrs>().lower;
  const Shape infos = Shape::ArrayWithDefaultLayout(ElementType::S32, {a.dim(0)});
  const Expr call(make,
                  MakeLapackCall(make, "potrf", {a}, Shape::MakeTuple({ByColumns(a.shape()), infos}),
                                 llvm::formatv("{{uplo = {0} : ui8}", static_cast<int>(lower ? 'L' : 'U'))));
  const Expr l = call.Gte(0), rows = RowNumbers(l), columns = ColumnNumbers(l);
  const Expr factor = Select(lower ? Ge(rows, columns) : Le(rows, columns), l, 0);
  const Expr failed = Ne(call.Gte(1), 0).Broadcast(l.shape().dims(), {0});
  return FromMatrices(Select(failed, NanLike(l), factor), inst->shape());
}

Instruction* TriangularSolveCall(Instruction* inst) {
  Maker make(inst);
  const auto& attrs = inst->attr<TriangularSolveAttrs>();
  const Expr a = AsMatrices(make, inst->operand(0)), b = AsMatrices(make, inst->operand(1));
  const char trans = attrs.transpose_a == TransposeA::NoTranspose ? 'N'
                     : attrs.transpose_a == TransposeA::Transpose ? 'T'
                                                                  : 'C';
  const auto code = [](char letter) { return static_cast<int>(letter); };
  Instruction* const call = MakeLapackCall(
      make, "trsm", {a, b}, ByColumns(b.shape()),
      llvm::formatv("{{side = {0} : ui8, uplo = {1} : ui8, trans_x = {2} : ui8, diag = {3} : ui8}",
                    code(attrs.left_side ? 'L' : 'R'), code(attrs.lower ? 'L' : 'U'), code(trans),
                    code(attrs.unit_diagonal ? 'U' : 'N')));
  return FromMatrices({make, call}, inst->shape());
}

struct CallRow {
  OpKind kind;
  llvm::StringLiteral library;
  bool (*pays)(const Instruction& inst);
  Instruction* (*make)(Instruction* inst);
};
constexpr CallRow kCalls[] = {
    {OpKind::Fft, "cuFFT", PaysFftCall, UnscaledFft},
    {OpKind::Cholesky, "cuSOLVER", HasMatrices, CholeskyCall},
    {OpKind::TriangularSolve, "cuSOLVER", HasMatrices, TriangularSolveCall},
};

}  // namespace

Status MakeLibraryCalls(Module& module, llvm::function_ref<bool(llvm::StringRef library)> expected) {
  RewriteControls controls;
  PassContext context("library-calls", controls);
  for (const CallRow& row : kCalls) {
    const auto matches = [&](const Instruction& inst) { return inst.kind() == row.kind && row.pays(inst); };
    const bool any = llvm::any_of(context.Computations(module), [&](const Computation* computation) {
      return llvm::any_of(computation->InstructionsOf(row.kind), [&](auto* inst) { return matches(*inst); });
    });
    if (!any || !expected(row.library)) continue;
    HLO_TRY([[maybe_unused]] const bool changed,
            ExpandMatches(module, context, matches,
                          [&](Instruction* inst) -> Result<Instruction*> { return row.make(inst); }));
  }
  return {};
}

}  // namespace hlo::gpu

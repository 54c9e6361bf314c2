#include "backends/gpu/runtime/library_calls.h"

#include <optional>

#include "backends/gpu/libraries/fft.h"
#include "backends/gpu/libraries/product.h"
#include "backends/gpu/libraries/solver.h"
#include "backends/gpu/runtime/attention_calls.h"
#include "backends/gpu/runtime/gradient_calls.h"
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

/// LAPACK's target for the element type of matrices.
std::string LapackTarget(const Expr& a, llvm::StringRef name) {
  const char letter = a.type() == ElementType::F32   ? 's'
                      : a.type() == ElementType::F64 ? 'd'
                      : a.type() == ElementType::C64 ? 'c'
                                                     : 'z';
  return llvm::formatv("lapack_{0}{1}_ffi", letter, name);
}

Instruction* MakeMatrixCall(Maker& make, llvm::StringRef target, llvm::ArrayRef<Expr> operands,
                            const Shape& shape, const std::string& attributes) {
  llvm::SmallVector<Instruction*, 2> instructions;
  ShapeList constraints;
  for (const Expr& operand : operands) {
    instructions.push_back(operand.inst());
    constraints.push_back(ByColumns(operand.shape()));
  }
  Instruction* const call = MakeCall(make, target, instructions, shape, attributes);
  auto& attrs = call->mutable_attrs().Mutable<CustomCallAttrs>();
  attrs.operand_layout_constraints = std::move(constraints);
  attrs.api_version = ApiVersion::TypedFfi;
  return call;
}

bool HasMatrices(const Instruction& inst) { return HasStaticShapes(inst) && inst.shape().ElementCount() > 0; }

/// The other triangle is what the library leaves there, and it says of which matrices there is no factor.
Instruction* CholeskyCall(Instruction* inst) {
  Maker make(inst);
  const Expr a = AsMatrices(make, inst->operand(0));
  const bool lower = inst->attr<CholeskyAttrs>().lower;
  const Shape infos = Shape::ArrayWithDefaultLayout(ElementType::S32, {a.dim(0)});
  const Expr call(
      make, MakeMatrixCall(make, "cusolver_potrf_ffi", {a}, Shape::MakeTuple({ByColumns(a.shape()), infos}),
                           lower ? "{lower = true}" : "{lower = false}"));
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
  Instruction* const call = MakeMatrixCall(
      make, LapackTarget(a, "trsm"), {a, b}, ByColumns(b.shape()),
      llvm::formatv("{{side = {0} : ui8, uplo = {1} : ui8, trans_x = {2} : ui8, diag = {3} : ui8}",
                    code(attrs.left_side ? 'L' : 'R'), code(attrs.lower ? 'L' : 'U'), code(trans),
                    code(attrs.unit_diagonal ? 'U' : 'N')));
  return FromMatrices({make, call}, inst->shape());
}

constexpr llvm::StringLiteral kSolver = "cuSOLVER";

struct CallRow {
  OpKind kind;
  llvm::StringLiteral library;
  bool (*pays)(const Instruction& inst);
  Instruction* (*make)(Instruction* inst);
};
constexpr CallRow kCalls[] = {
    {OpKind::Fft, "cuFFT", PaysFftCall, UnscaledFft},
    {OpKind::Cholesky, kSolver, HasMatrices, CholeskyCall},
    {OpKind::TriangularSolve, kSolver, HasMatrices, TriangularSolveCall},
};

}  // namespace

Status MakeLibraryCalls(Module& module, llvm::function_ref<bool(llvm::StringRef library)> expected) {
  RewriteControls controls;
  PassContext context("library-calls", controls);
  // The library works on arrays of its own: a result does not take the place of an operand.
  std::optional<bool> solver;
  for (Computation* computation : context.Computations(module))
    for (Instruction* inst : computation->InstructionsOf(OpKind::CustomCall)) {
      if (!SolverOf(*inst) || inst->attr<CustomCallAttrs>().output_to_operand_aliasing.empty()) continue;
      if (!solver) solver = expected(kSolver);
      if (*solver) inst->mutable_attrs().Mutable<CustomCallAttrs>().output_to_operand_aliasing.clear();
    }
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
  if (MayHaveAttention(module) && expected("cuDNN")) return CallGradients(module);
  return {};
}

std::string LibrariesFor(const Module& module, llvm::function_ref<bool(llvm::StringRef library)> expected) {
  const auto any = [&](OpKind kind, llvm::function_ref<bool(const Instruction&)> wanted) {
    return llvm::any_of(module.computations(), [&](const auto& computation) {
      return llvm::any_of(computation->InstructionsOf(kind), [&](const auto* inst) { return wanted(*inst); });
    });
  };
  llvm::SmallVector<llvm::StringRef, 4> names;
  for (const CallRow& row : kCalls)
    if (any(row.kind, row.pays)) names.push_back(row.library);
  if (any(OpKind::CustomCall, [](const Instruction& call) { return SolverOf(call).has_value(); }))
    names.push_back(kSolver);
  if (any(OpKind::Dot, MayBeApart)) names.push_back("cuBLASLt");
  if (MayHaveAttention(module)) names.push_back("cuDNN");
  std::string there;
  for (size_t i = 0; i < names.size(); ++i)
    if (!llvm::is_contained(llvm::ArrayRef(names).take_front(i), names[i]) && expected(names[i]))
      there += names[i].str() + " ";
  return there;
}

}  // namespace hlo::gpu

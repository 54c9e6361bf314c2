// Custom calls of LAPACK routines (ir/eval/lapack_factor.cc) without the evaluator's way around them:
// matrices are worked on as they lie, in row-major order.
#include "backends/structured/factors.h"
#include "backends/structured/lapack.h"
#include "backends/structured/triangular.h"
#include "ir/eval/custom_call.h"

namespace hlo::structured {
namespace {

/// Whether a matrix of the call is column by column what LAPACK sees, so that its rows and columns are those
/// of the array.
bool IsColumnMajor(const Shape& shape) {
  if (!shape.IsArray() || shape.rank() < 2 || !shape.has_layout()) return false;
  const auto rank = static_cast<size_t>(shape.rank());
  const auto& order = shape.layout().minor_to_major;
  if (order.size() != rank || order[0] != shape.rank() - 2 || order[1] != shape.rank() - 1) return false;
  for (size_t i = 2; i < rank; ++i)
    if (order[i] != static_cast<int64_t>(rank - 1 - i)) return false;
  return true;
}

const Shape& ResultShape(const Instruction& call) {
  return call.shape().IsTuple() ? call.shape().tuple_shape(0) : call.shape();
}

Matrices MatricesOf(const Shape& shape) {
  Matrices matrices{shape.element_type(), 1, shape.dim(shape.rank() - 2), shape.dim(shape.rank() - 1)};
  for (const int64_t d : shape.dims().drop_back(2)) matrices.batch *= d;
  return matrices;
}

Result<Plan> PlanPotrf(const Instruction& inst, gemm::Isa) {
  const Matrices matrices = MatricesOf(inst.operand(0)->shape());
  return PlanCholeskyFactor(inst, matrices, CustomCallAttribute(inst, "uplo") == 'L');
}

Result<Plan> PlanGetrf(const Instruction& inst, gemm::Isa isa) {
  return PlanLuFactors(inst, MatricesOf(inst.operand(0)->shape()), isa);
}

Result<Plan> PlanTrsm(const Instruction& inst, gemm::Isa isa) {
  const Matrices a = MatricesOf(inst.operand(0)->shape()), b = MatricesOf(inst.operand(1)->shape());
  const bool left = CustomCallAttribute(inst, "side") == 'L';
  const int64_t op = CustomCallAttribute(inst, "trans_x");
  return PlanSystem(inst,
                    {.type = a.type,
                     .batch = a.batch,
                     .m = a.rows,
                     .n = left ? b.columns : b.rows,
                     .left = left,
                     .lower = CustomCallAttribute(inst, "uplo") == 'L',
                     .unit = CustomCallAttribute(inst, "diag") == 'U',
                     .op = op == 'C'   ? TransposeA::Adjoint
                           : op == 'T' ? TransposeA::Transpose
                                       : TransposeA::NoTranspose,
                     .exact_units = false},
                    isa);
}

Result<Plan> PlanGeqrf(const Instruction& inst, gemm::Isa isa) {
  return PlanQrFactors(inst, MatricesOf(inst.operand(0)->shape()), isa);
}

Result<Plan> PlanOrgqr(const Instruction& inst, gemm::Isa isa) {
  const Matrices matrices = MatricesOf(inst.operand(0)->shape());
  return PlanReflectors(inst, matrices, inst.operand(1)->shape().dims().back(), isa);
}

/// Multiply-adds, of a product of the first operand and the result at most.
int64_t Operations(const Instruction& call) {
  const Matrices a = MatricesOf(call.operand(0)->shape());
  const double most = static_cast<double>(ResultShape(call).ElementCount()) *
                      static_cast<double>(std::max(a.rows, a.columns));
  return static_cast<int64_t>(std::clamp(most / 2, 1.0, 1e18));
}

constexpr struct {
  llvm::StringRef routine;
  int64_t matrices, vectors, results;  // operands: matrices, then vectors
  Planner* planner;
} kCalls[] = {
    {"potrf", 1, 0, 2, &PlanPotrf}, {"getrf", 1, 0, 3, &PlanGetrf}, {"trsm", 2, 0, 1, &PlanTrsm},
    {"geqrf", 1, 0, 2, &PlanGeqrf}, {"orgqr", 1, 1, 1, &PlanOrgqr}, {"ungqr", 1, 1, 1, &PlanOrgqr},
};

}  // namespace

Result<Plan> PlanLapackCall(const Instruction& inst, gemm::Isa isa) {
  HLO_CHECK_OK(CheckCustomCall(inst));
  llvm::StringRef name = inst.attr<CustomCallAttrs>().custom_call_target;
  name.consume_front("lapack_");
  name.consume_back("_ffi");
  const int64_t results = inst.shape().IsTuple() ? inst.shape().tuple_size() : 1;
  for (const auto& call : kCalls) {
    const int64_t operands = call.matrices + call.vectors;
    if (name.drop_front(1) != call.routine || inst.operand_count() != operands || results != call.results)
      continue;
    bool as_written = IsColumnMajor(ResultShape(inst));
    for (int64_t i = 1; i < results; ++i) as_written &= IsRowMajor(inst.shape().tuple_shape(i));
    for (int64_t i = 0; i < operands; ++i) {
      const Shape& seen = CustomCallOperandShape(inst, i);
      as_written &= (i < call.matrices ? IsColumnMajor(seen) : IsRowMajor(seen)) &&
                    LapackPrefix(seen.element_type()) == name[0];
    }
    if (!as_written) return Unsupported(inst, "matrices in an order of their own");
    Result<Plan> plan = call.planner(inst, isa);
    // Whether a loop is compiled must not depend on what is installed: its code may come from a cache.
    if (plan && !plan->uses_library) plan->operations = Operations(inst);
    return plan;
  }
  return Unsupported(inst, "a routine without loops of its own");
}

}  // namespace hlo::structured

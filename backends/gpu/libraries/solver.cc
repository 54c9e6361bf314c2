#include "backends/gpu/libraries/solver.h"

#include <limits>

#include "ir/attrs.h"
#include "ir/by_op_kind.h"
#include "ir/eval/custom_call.h"
#include "llvm/Support/FormatVariadic.h"

namespace hlo::gpu {
namespace {

struct CallRow {
  Solver solver;
  llvm::StringLiteral name;
};
constexpr CallRow kCalls[] = {
#define SOLVER_CALL(Id, name) {Solver::Id, name},
#include "backends/gpu/libraries/solver_calls.def"
};
constexpr llvm::StringLiteral kNames[] = {"potrf", "trsm", "geqrf", "orgqr", "syevd", "gesvd"};

/// How the matrices of a call lie in memory when its target gets them.
enum class Order : uint8_t { Columns, Rows, Other };
Order OrderOf(const Shape& shape) {
  if (!shape.has_layout()) return Order::Rows;
  const auto order = shape.layout().minor_to_major;
  const auto rank = static_cast<size_t>(shape.rank());
  // Entries of a batch follow each other as they do in the array.
  for (size_t i = 2; i < rank; ++i)
    if (order[i] != static_cast<int64_t>(rank - 1 - i)) return Order::Other;
  if (rank < 2 || order[0] == static_cast<int64_t>(rank - 1)) return Order::Rows;
  return Order::Columns;
}

/// Of all matrices of a call.
Order OrderOf(const Instruction& call) {
  std::optional<Order> common;
  const auto see = [&](const Shape& shape, int64_t matrix_rank) {
    if (!shape.IsArray() || shape.rank() < matrix_rank) return;
    const Order order = OrderOf(shape);
    common = common.value_or(order) == order ? order : Order::Other;
  };
  const int64_t rank = call.operand(0)->shape().rank();
  for (int64_t i = 0; i < call.operand_count(); ++i) see(CustomCallOperandShape(call, i), rank);
  ForEachLeaf(call.shape(), [&](const ShapeIndex&, const Shape& leaf) { see(leaf, rank); });
  return *common;
}

CublasFill Other(CublasFill uplo) {
  return uplo == CublasFill::Lower ? CublasFill::Upper : CublasFill::Lower;
}

constexpr llvm::StringLiteral kGpuPrefix = "cusolver_", kLapackPrefix = "lapack_", kSuffix = "_ffi";
bool IsOfGpus(llvm::StringRef target) { return target.starts_with(kGpuPrefix); }

/// Reads the attributes of a call.
class Reader {
 public:
  Reader(const Instruction& call, Order order) : call_(call), columns_(order == Order::Columns) {}

  /// A factor of the transposed matrix is the transposed factor.
  Status Potrf(LibrarySolve& solve) {
    const CublasFill uplo = Uplo();
    solve.uplo = columns_ ? Other(uplo) : uplo;
    solve.spoils = of_gpus_;
    return {};
  }
  /// A x = b is x' A' = b' of the transposed arrays.
  Status Trsm(LibrarySolve& solve) {
    const Shape& b = call_.operand(1)->shape();
    solve.rows = b.dim(b.rank() - 2);
    solve.columns = b.dim(b.rank() - 1);
    solve.uplo = Uplo();
    const bool left = Letter("side") == 'L';
    solve.side = left != columns_ ? CublasSide::Left : CublasSide::Right;
    const char trans = Letter("trans_x");
    solve.trans = trans == 'N'   ? CublasTranspose::No
                  : trans == 'T' ? CublasTranspose::Yes
                                 : CublasTranspose::Conjugate;
    solve.diagonal = Letter("diag") == 'U' ? CublasDiagonal::Unit : CublasDiagonal::NonUnit;
    if (columns_) {
      solve.uplo = Other(solve.uplo);
      std::swap(solve.rows, solve.columns);
    }
    return {};
  }
  Status Geqrf(LibrarySolve& solve) {
    solve.turned = columns_;
    return {};
  }
  Status Orgqr(LibrarySolve& solve) {
    solve.turned = columns_;
    solve.reflectors = call_.operand(1)->shape().dims().back();
    return {};
  }
  Status Syevd(LibrarySolve& solve) {
    solve.turned = columns_;
    solve.uplo = Uplo();
    solve.vectors = of_gpus_ || Letter("mode") == 'V';
    return {};
  }
  Status Gesvd(LibrarySolve& solve) {
    solve.job = Letter("mode");
    // The library has no matrices with more columns than rows.
    const bool wide = solve.rows < solve.columns;
    if (wide && !columns_) return Decline(call_.loc(), "the library has no such layout of wide matrices");
    solve.turned = columns_ && !wide;
    solve.swapped = wide;
    if (wide) std::swap(solve.rows, solve.columns);
    return {};
  }

 private:
  [[nodiscard]] char Letter(llvm::StringRef name) const {
    return static_cast<char>(CustomCallAttribute(call_, name));
  }
  [[nodiscard]] CublasFill Uplo() const {
    if (of_gpus_) return CustomCallAttribute(call_, "lower") != 0 ? CublasFill::Lower : CublasFill::Upper;
    return Letter("uplo") == 'L' ? CublasFill::Lower : CublasFill::Upper;
  }
  const Instruction& call_;
  bool columns_;
  bool of_gpus_ = IsOfGpus(call_.attr<CustomCallAttrs>().custom_call_target);  // other attributes
};
constexpr Status (Reader::* kReaders[])(LibrarySolve&) = {&Reader::Potrf, &Reader::Trsm,  &Reader::Geqrf,
                                                          &Reader::Orgqr, &Reader::Syevd, &Reader::Gesvd};

}  // namespace

std::optional<Solver> SolverOf(const Instruction& inst) {
  if (inst.kind() != OpKind::CustomCall) return std::nullopt;
  llvm::StringRef target = inst.attr<CustomCallAttrs>().custom_call_target;
  if (FindCustomCallTarget(target) == nullptr || !target.consume_back(kSuffix)) return std::nullopt;
  if (target.consume_front(kLapackPrefix))
    target = target.drop_front();  // of the type
  else if (!target.consume_front(kGpuPrefix))
    return std::nullopt;
  const auto* row = llvm::find_if(kCalls, [&](const CallRow& c) { return c.name == target; });
  return row == std::end(kCalls) ? std::nullopt : std::optional(row->solver);
}

Result<LibrarySolve> LibrarySolveOf(const Instruction& call) {
  const auto solver = SolverOf(call);
  if (!solver) return Decline(call.loc(), "it is no call of the library's");
  if (FindCustomCallMisfit(call)) return Decline(call.loc(), "the call does not fit its target");
  const Shape& a = call.operand(0)->shape();
  LibrarySolve solve;
  solve.solver = *solver;
  solve.type = a.element_type();
  solve.rows = a.dim(a.rank() - 2);
  solve.columns = a.dim(a.rank() - 1);
  for (const int64_t size : a.dims().drop_back(2)) solve.batch *= size;
  bool empty = a.ElementCount() == 0;
  ForEachLeaf(call.shape(), [&](const ShapeIndex&, const Shape& leaf) { empty |= leaf.ElementCount() == 0; });
  if (empty) return Decline(call.loc(), "there is nothing to do");
  if (std::max({solve.rows, solve.columns, solve.batch}) > std::numeric_limits<int>::max())
    return Decline(call.loc(), "it is larger than the library counts");
  const Order order = OrderOf(call);
  if (order == Order::Other) return Decline(call.loc(), "its arrays do not lie as the library takes them");
  HLO_CHECK_OK((Reader(call, order).*kReaders[static_cast<size_t>(*solver)])(solve));
  return solve;
}

std::string ToString(const LibrarySolve& solve) {
  std::string text = llvm::formatv("{0} {1}, {2}x{3}", kNames[static_cast<size_t>(solve.solver)],
                                   ToString(solve.type), solve.rows, solve.columns);
  if (solve.solver == Solver::Orgqr) text += llvm::formatv(" of {0} reflectors", solve.reflectors);
  if (solve.batch > 1) text += llvm::formatv(" batch {0}", solve.batch);
  const bool triangle =
      solve.solver == Solver::Potrf || solve.solver == Solver::Trsm || solve.solver == Solver::Syevd;
  if (triangle) text += solve.uplo == CublasFill::Lower ? ", lower" : ", upper";
  if (solve.solver == Solver::Trsm) {
    text += solve.side == CublasSide::Left ? ", left" : ", right";
    if (solve.trans != CublasTranspose::No)
      text += solve.trans == CublasTranspose::Yes ? ", transposed" : ", adjoint";
    if (solve.diagonal == CublasDiagonal::Unit) text += ", unit diagonal";
  }
  if (solve.solver == Solver::Syevd && !solve.vectors) text += ", no vectors";
  if (solve.solver == Solver::Gesvd) {
    text += ", vectors ";
    text += solve.job;
  }
  if (solve.turned) text += ", on a transposed copy";
  if (solve.swapped) text += ", left for right";
  return text;
}

}  // namespace hlo::gpu

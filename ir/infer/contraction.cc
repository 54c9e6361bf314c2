// Shape rules of dot, ragged-dot and scaled-dot (ops-structured §3.1-§3.3).
#include "ir/infer/check.h"

namespace hlo {
namespace {

/// Role of each dimension of one side.
enum class Role : uint8_t { Free, Batch, Contracting };
using Roles = llvm::SmallVector<Role, 8>;

Result<Roles> SideRoles(const Instruction& inst, const Shape& shape, llvm::StringRef side,
                        llvm::ArrayRef<int64_t> batch, llvm::ArrayRef<int64_t> contracting) {
  Roles roles(static_cast<size_t>(shape.rank()), Role::Free);
  auto mark = [&](llvm::ArrayRef<int64_t> dims, llvm::StringRef kind, Role role) -> Status {
    for (int64_t d : dims) {
      if (LLVM_UNLIKELY(d < 0 || d >= shape.rank()))
        HLO_CHECK_OK(CheckInRange(inst, (side + kind).str(), d, shape.rank(), "the rank of that operand"));
      Role& at = roles[static_cast<size_t>(d)];
      if (at != Role::Free)
        return RuleError(
            "verify-attribute", inst,
            "dimension {0} of {1} stands twice in '{2}_batch_dims' {3} and '{2}_contracting_dims' {4} of {5}",
            d, shape, side, List(batch), List(contracting), Name(inst));
      at = role;
    }
    return {};
  };
  HLO_CHECK_OK(mark(batch, "_batch_dims", Role::Batch));
  HLO_CHECK_OK(mark(contracting, "_contracting_dims", Role::Contracting));
  return roles;
}

/// Dimensions that pair up have equal sizes.
Status CheckPairs(const Instruction& inst, llvm::StringRef kind, const Shape& lhs,
                  llvm::ArrayRef<int64_t> lhs_dims, const Shape& rhs, llvm::ArrayRef<int64_t> rhs_dims,
                  int64_t rhs_operand) {
  if (lhs_dims.size() != rhs_dims.size())
    return RuleError("verify-attribute", inst, "{0} has {1} lhs {2} dimensions {3}, but {4} of rhs {5}",
                     Name(inst), lhs_dims.size(), kind, List(lhs_dims), rhs_dims.size(), List(rhs_dims));
  for (size_t i = 0; i < lhs_dims.size(); ++i) {
    const int64_t a = lhs.dim(lhs_dims[i]), b = rhs.dim(rhs_dims[i]);
    if (SizesAgree(a, b)) continue;
    return OperandError(
        "verify-operand-shape", inst, rhs_operand,
        "{0} dimensions of {1} differ: dimension {2} of {3} has size {4}, dimension {5} of {6} has size {7}",
        kind, Name(inst), lhs_dims[i], lhs, a, rhs_dims[i], rhs, b);
  }
  return {};
}

/// Sizes and flags of a result, collected dimension by dimension.
struct Collected {
  Dims dims;
  llvm::SmallVector<bool, 8> dynamic;
  void Add(const Shape& shape, int64_t d) {
    dims.push_back(shape.dim(d));
    dynamic.push_back(shape.is_dynamic(d));
  }
  void AddFree(const Shape& shape, const Roles& roles, int64_t except = -1) {
    for (int64_t d = 0; d < shape.rank(); ++d)
      if (d != except && roles[static_cast<size_t>(d)] == Role::Free) Add(shape, d);
  }
};

/// The written element type, which may be any; else the operands' higher precision.
ElementType ProductType(const Instruction& inst, const Shape& lhs, const Shape& rhs) {
  return inst.shape().IsArray() ? inst.shape().element_type()
                                : HigherPrecision(lhs.element_type(), rhs.element_type());
}

Result<Shape> DotShape(const Instruction& inst, const DotAttrs& a, int64_t rhs_operand) {
  HLO_CHECK_OK(CheckArrays(inst));
  const Shape& lhs = inst.operand(0)->shape();
  const Shape& rhs = inst.operand(rhs_operand)->shape();
  HLO_TRY(const Roles lhs_roles, SideRoles(inst, lhs, "lhs", a.lhs_batch_dims, a.lhs_contracting_dims));
  HLO_TRY(const Roles rhs_roles, SideRoles(inst, rhs, "rhs", a.rhs_batch_dims, a.rhs_contracting_dims));
  HLO_CHECK_OK(
      CheckPairs(inst, "contracting", lhs, a.lhs_contracting_dims, rhs, a.rhs_contracting_dims, rhs_operand));
  HLO_CHECK_OK(CheckPairs(inst, "batch", lhs, a.lhs_batch_dims, rhs, a.rhs_batch_dims, rhs_operand));
  Collected result;
  for (int64_t d : a.lhs_batch_dims) result.Add(lhs, d);
  result.AddFree(lhs, lhs_roles);
  result.AddFree(rhs, rhs_roles);
  return ArrayResult(inst, ProductType(inst, lhs, rhs), result.dims, result.dynamic);
}

/// Sizes of the lhs dimensions that precede the ragged one in result order: a prefix group_sizes may have.
Dims RaggedPrefix(const RaggedDotAttrs& a, const Shape& lhs, const Roles& roles, int64_t ragged) {
  Dims prefix;
  auto add_until = [&](llvm::ArrayRef<int64_t> list) {
    for (int64_t d : list) {
      if (d == ragged) return;
      prefix.push_back(lhs.dim(d));
    }
  };
  add_until(a.lhs_batch_dims);
  const Role role = roles[static_cast<size_t>(ragged)];
  if (role == Role::Contracting) add_until(a.lhs_contracting_dims);
  for (int64_t d = 0; role == Role::Free && d < ragged; ++d)
    if (roles[static_cast<size_t>(d)] == Role::Free) prefix.push_back(lhs.dim(d));
  return prefix;
}

Status CheckGroupSizes(const Instruction& inst, llvm::ArrayRef<int64_t> prefix) {
  const Shape& sizes = inst.operand(2)->shape();
  if (!IsIntegral(sizes.element_type()) || sizes.rank() == 0)
    return OperandError("verify-operand-type", inst, 2,
                        "group sizes of {0} are {1}, but must be a vector of integers", Name(inst), sizes);
  if (sizes.rank() == 1 || llvm::equal(sizes.dims().drop_back(), prefix, SizesAgree)) return {};
  return OperandError("verify-operand-shape", inst, 2,
                      "group sizes of {0} are {1}, but before the groups must stand {2}", Name(inst), sizes,
                      List(prefix));
}

}  // namespace

Result<Shape> InferDot(const Instruction& inst, const InferOptions&) {
  return DotShape(inst, inst.attr<DotAttrs>(), 1);
}

// §3.2
Result<Shape> InferRaggedDot(const Instruction& inst, const InferOptions&) {
  HLO_CHECK_OK(CheckArrays(inst));
  const auto& a = inst.attr<RaggedDotAttrs>();
  const Shape& lhs = inst.operand(0)->shape();
  const Shape& rhs = inst.operand(1)->shape();
  HLO_TRY(const Roles lhs_roles, SideRoles(inst, lhs, "lhs", a.lhs_batch_dims, a.lhs_contracting_dims));
  HLO_TRY(const Roles rhs_roles, SideRoles(inst, rhs, "rhs", a.rhs_batch_dims, a.rhs_contracting_dims));
  HLO_CHECK_OK(CheckPairs(inst, "contracting", lhs, a.lhs_contracting_dims, rhs, a.rhs_contracting_dims, 1));
  HLO_CHECK_OK(CheckPairs(inst, "batch", lhs, a.lhs_batch_dims, rhs, a.rhs_batch_dims, 1));
  if (a.lhs_ragged_dims.size() != 1)
    return RuleError("verify-attribute", inst,
                     "'lhs_ragged_dims' of {0} is {1}, but needs exactly one dimension", Name(inst),
                     List(a.lhs_ragged_dims));
  const int64_t ragged = a.lhs_ragged_dims[0];
  HLO_CHECK_OK(CheckInRange(inst, "lhs_ragged_dims", ragged, lhs.rank(), "the rank of lhs"));
  const Role mode = lhs_roles[static_cast<size_t>(ragged)];
  HLO_CHECK_OK(CheckGroupSizes(inst, RaggedPrefix(a, lhs, lhs_roles, ragged)));
  const Shape& sizes = inst.operand(2)->shape();
  const int64_t groups = sizes.dims().back();

  const size_t wanted = mode == Role::Free ? 1 : 0;
  if (a.rhs_group_dims.size() != wanted)
    return RuleError("verify-attribute", inst,
                     "'rhs_group_dims' of {0} is {1}, but {2} needed with ragged dimension {3} of {4}",
                     Name(inst), List(a.rhs_group_dims), wanted ? "one is" : "none is", ragged, lhs);
  const int64_t group_dim = wanted ? a.rhs_group_dims[0] : -1;
  if (wanted) {
    HLO_CHECK_OK(CheckInRange(inst, "rhs_group_dims", group_dim, rhs.rank(), "the rank of rhs"));
    if (rhs_roles[static_cast<size_t>(group_dim)] != Role::Free)
      return RuleError("verify-attribute", inst,
                       "'rhs_group_dims' of {0} is {1}, which is also a batch or contracting dimension",
                       Name(inst), List(a.rhs_group_dims));
    if (!SizesAgree(rhs.dim(group_dim), groups))
      return OperandError("verify-operand-shape", inst, 2,
                          "group dimension {0} of {1} does not match the {2} groups of {3}", group_dim, rhs,
                          groups, sizes);
  }
  Collected result;
  if (mode == Role::Contracting) result.Add(sizes, sizes.rank() - 1);
  for (int64_t d : a.lhs_batch_dims) result.Add(lhs, d);
  result.AddFree(lhs, lhs_roles);
  result.AddFree(rhs, rhs_roles, group_dim);
  return ArrayResult(inst, ProductType(inst, lhs, rhs), result.dims, result.dynamic);
}

// §3.3; a missing scale is a bf16 one of size 1 on a bf16 operand.
Result<Shape> InferScaledDot(const Instruction& inst, const InferOptions&) {
  HLO_TRY(Shape result, DotShape(inst, inst.attr<DotAttrs>(), 1));
  const auto& a = inst.attr<DotAttrs>();
  if (a.lhs_contracting_dims.size() != 1)
    return RuleError("verify-attribute", inst,
                     "'lhs_contracting_dims' of {0} is {1}, but scaled-dot contracts exactly one dimension",
                     Name(inst), List(a.lhs_contracting_dims));
  int missing = 0;
  for (int64_t side = 0; side < 2; ++side) {
    const Shape& operand = inst.operand(side)->shape();
    const Shape& scale = inst.operand(side + 2)->shape();
    bool fits = operand.rank() == scale.rank();
    for (int64_t d = 0; fits && d < scale.rank(); ++d)
      fits = operand.is_unbounded(d) ||
             (scale.dim(d) != 0 ? operand.dim(d) % scale.dim(d) == 0 : operand.dim(d) == 0);
    if (!fits)
      return OperandError("verify-operand-shape", inst, side + 2,
                          "scale {0} of {1} does not divide operand {2}, {3}", scale, Name(inst), side,
                          operand);
    missing += scale.element_type() == ElementType::BF16 && operand.element_type() == ElementType::BF16 &&
               scale.ElementCount() == 1;
  }
  if (missing == 2)
    return OperandError("verify-operand-shape", inst, 2,
                        "{0} has two scales of size 1, {1} and {2}, but needs at least one", Name(inst),
                        inst.operand(2)->shape(), inst.operand(3)->shape());
  return result;
}

}  // namespace hlo

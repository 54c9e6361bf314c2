#include "ir/infer/check.h"

#include "ir/computation.h"
#include "ir/locate.h"
#include "llvm/ADT/DenseSet.h"

namespace hlo {

std::string Name(const Instruction& inst) { return ("%" + inst.name()).str(); }
std::string Name(const Computation& computation) { return ("%" + computation.name()).str(); }

std::string List(llvm::ArrayRef<int64_t> values) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << '{';
  constexpr size_t kShown = 32;  // more than any sane rank
  for (size_t i = 0; i < values.size() && i < kShown; ++i) os << (i ? "," : "") << values[i];
  os << (values.size() > kShown ? ",...}" : "}");
  return text;
}

std::string Describe(const Instruction& inst) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << ToString(inst.kind());
  constexpr int64_t kShown = 4;
  const int64_t count = inst.operand_count();
  for (int64_t i = 0; i < count && i < kShown; ++i) {
    const bool last = i + 1 == count;
    os << (i == 0 ? " of " : last ? " and " : ", ") << inst.operand(i)->shape();
  }
  if (count > kShown) os << " and " << count - kShown << " more";
  return text;
}

Diagnostic WithOperandNote(Diagnostic diagnostic, const Instruction& inst, int64_t i) {
  diagnostic.Note(inst.operand(i)->loc(), llvm::formatv("operand {0} is defined here", i).str());
  return diagnostic;
}

Diagnostic AtPart(Diagnostic diagnostic, const Instruction& inst) {
  if (!inst.loc().valid()) return diagnostic;
  if (diagnostic.id == "verify-shape") {
    diagnostic.loc = LocateShape(inst);
    return diagnostic;
  }
  const auto [before, quoted] = llvm::StringRef(diagnostic.message).split('\'');
  if (!quoted.empty()) diagnostic.loc = LocateAttribute(inst, quoted.split('\'').first);
  return diagnostic;
}

Diagnostic AtOperand(Diagnostic diagnostic, const Instruction& inst, int64_t i) {
  if (!inst.loc().valid()) return diagnostic;
  if (diagnostic.id == "verify-shape" || diagnostic.id == "verify-attribute")
    diagnostic = AtPart(std::move(diagnostic), inst);
  else
    diagnostic.loc = LocateOperand(inst, i);
  return WithOperandNote(std::move(diagnostic), inst, i);
}

Result<const Computation*> Callee(const Instruction& inst, int64_t i) {
  if (i >= static_cast<int64_t>(inst.callees().size()))
    return RuleError("verify-callee", inst, "{0} calls {1} computations, but {2} needs at least {3}",
                     Name(inst), inst.callees().size(), ToString(inst.kind()), i + 1);
  const Computation* callee = inst.callee(i);
  if (!callee->root() || !callee->root()->shape().valid() ||
      llvm::is_contained(callee->parameters(), nullptr))
    return RuleError("verify-callee", inst, "{0} calls {1}, which has no root or lacks a parameter",
                     Name(inst), Name(*callee));
  return callee;
}

Status NotAnArray(const Instruction& inst, int64_t i) {
  return OperandError("verify-operand-shape", inst, i, "operand {0} of {1} is {2}, but {3} needs an array", i,
                      Name(inst), inst.operand(i)->shape(), ToString(inst.kind()));
}

Status CheckArrays(const Instruction& inst) {
  for (int64_t i = 0; i < inst.operand_count(); ++i) HLO_CHECK_OK(CheckArray(inst, i));
  return {};
}

Status CheckScalar(const Instruction& inst, int64_t i) {
  const Shape& shape = inst.operand(i)->shape();
  if (shape.IsScalar()) return {};
  return OperandError("verify-operand-shape", inst, i, "operand {0} of {1} is {2}, but must be a scalar", i,
                      Name(inst), shape);
}

Status CheckSameType(const Instruction& inst, int64_t i, int64_t j) {
  const Shape& a = inst.operand(i)->shape();
  const Shape& b = inst.operand(j)->shape();
  if (LLVM_LIKELY(a.element_type() == b.element_type()) ||
      (IsFloat(a.element_type()) && IsFloat(b.element_type())))
    return {};
  return OperandError("verify-operand-type", inst, j,
                      "element types of operands {0} and {1} of {2} differ: {3} is {4}, {5} is {6}", i, j,
                      Name(inst), Name(*inst.operand(i)), a, Name(*inst.operand(j)), b);
}

Status CheckSameDims(const Instruction& inst, int64_t i, int64_t j) {
  const Shape& a = inst.operand(i)->shape();
  const Shape& b = inst.operand(j)->shape();
  if (LLVM_LIKELY(a.dims() == b.dims())) return {};
  if (a.rank() == b.rank() && llvm::equal(a.dims(), b.dims(), SizesAgree)) return {};
  return OperandError("verify-operand-shape", inst, j,
                      "operand shapes of {0} differ: operand {1} is {2}, operand {3} is {4}", Name(inst), i,
                      a, j, b);
}

Status CheckIntegralScalar(const Instruction& inst, int64_t i) {
  const Shape& shape = inst.operand(i)->shape();
  if (shape.IsScalar() && IsIntegral(shape.element_type())) return {};
  return OperandError("verify-operand-shape", inst, i,
                      "operand {0} of {1} is {2}, but {3} needs an integer scalar there", i, Name(inst),
                      shape, ToString(inst.kind()));
}

Status CheckInRange(const Instruction& inst, llvm::StringRef attribute, int64_t value, int64_t limit,
                    llvm::StringRef what) {
  if (LLVM_LIKELY(value >= 0 && value < limit)) return {};
  return RuleError("verify-attribute", inst, "'{0}' of {1} holds {2}, but {3} is {4}", attribute, Name(inst),
                   value, what, limit);
}

Status CheckDimList(const Instruction& inst, llvm::StringRef attribute, llvm::ArrayRef<int64_t> dims,
                    int64_t limit, llvm::StringRef what, bool sorted) {
  uint64_t seen = 0;  // of the first 64 dimensions
  llvm::SmallDenseSet<int64_t> others;
  for (size_t i = 0; i < dims.size(); ++i) {
    HLO_CHECK_OK(CheckInRange(inst, attribute, dims[i], limit, what));
    if (sorted && i > 0 && dims[i] < dims[i - 1])
      return RuleError("verify-attribute", inst,
                       "'{0}' of {1} is {2}, which is not in ascending order: {3} follows {4}", attribute,
                       Name(inst), List(dims), dims[i], dims[i - 1]);
    const bool repeated = dims[i] < 64 ? (seen >> dims[i] & 1) != 0 : !others.insert(dims[i]).second;
    if (repeated)
      return RuleError("verify-attribute", inst, "'{0}' of {1} is {2}, which holds {3} twice", attribute,
                       Name(inst), List(dims), dims[i]);
    if (dims[i] < 64) seen |= uint64_t{1} << dims[i];
  }
  return {};
}

static bool IsWritten(const Instruction& inst, ElementType type, llvm::ArrayRef<int64_t> dims,
                      llvm::ArrayRef<bool> dynamic) {
  const Shape& written = inst.shape();
  if (!written.IsArray() || written.element_type() != type || written.dims() != dims) return false;
  return written.dynamic_flags().empty() ? !llvm::is_contained(dynamic, true)
                                         : written.dynamic_flags() == dynamic;
}

Shape ArrayResult(const Instruction& inst, ElementType type, llvm::ArrayRef<int64_t> dims,
                  llvm::ArrayRef<bool> dynamic) {
  if (IsWritten(inst, type, dims, dynamic)) return inst.shape();
  return Shape::ArrayWithDefaultLayout(type, dims, dynamic);
}

Shape ArrayResultLike(const Instruction& inst, const Shape& like, ElementType type,
                      llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<bool> dynamic) {
  if (IsWritten(inst, type, dims, dynamic)) return inst.shape();
  Shape plain = Shape::Array(type, dims, dynamic);
  if (!like.has_layout()) return plain;
  Layout layout = like.layout();
  if (!Info(type).is_packed()) layout.element_size_bits = 0;
  return plain.WithLayout(std::move(layout));
}

Shape TupleResult(const Instruction& inst, llvm::ArrayRef<Shape> elements) {
  if (inst.shape().IsTuple() && inst.shape().tuple_shapes() == elements) return inst.shape();
  return Shape::MakeTuple(elements);
}

}  // namespace hlo

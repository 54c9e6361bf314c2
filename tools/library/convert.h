// The types of the public headers beside those of the IR.
#pragma once
#include "hlo/computation.h"
#include "hlo/literal.h"
#include "hlo/shape.h"
#include "ir/literal.h"
#include "ir/module.h"
#include "ir/support/result.h"

namespace hlo_toolkit::internal {

/// The type of the IR, or an error that names what was asked for. Kinds that are no arrays, too.
hlo::Result<hlo::ElementType> ToElementType(PrimitiveType type);
PrimitiveType FromElementType(hlo::ElementType type);
/// Checked: sizes that are negative or whose product has no room, layouts that are no permutations. Arrays
/// without a layout get the default one.
hlo::Result<hlo::Shape> ToShape(const Shape& shape);
Shape FromShape(const hlo::Shape& shape);

/// An error of the library's own, in the words of a Status.
template <class... Args>
tl::unexpected<hlo::Diagnostic> Wrong(const char* format, Args&&... args) {
  return hlo::Error("verify-attribute", hlo::Loc(), format, std::forward<Args>(args)...);
}
/// An error that is no fault of the caller's.
template <class... Args>
tl::unexpected<hlo::Diagnostic> NotImplemented(const char* format, Args&&... args) {
  return hlo::Decline(hlo::Loc(), format, std::forward<Args>(args)...);
}
Status ToStatus(const hlo::Diagnostic& diagnostic);

/// A tuple of these has more leaves, or is deeper, than this library handles: tuples of tuples of one value
/// double with each call.
bool IsHugeTuple(llvm::ArrayRef<hlo::Shape> elements);

/// A scalar of a type of arrays with the value of a small number; of a complex one as its real part.
hlo::Literal ScalarLiteral(hlo::ElementType type, double value);

/// The enumerator of the IR with the same number. The enumerations run in the same order, up to `last`; those
/// of the public headers may hold any number.
template <class To, class From>
hlo::Result<To> ToEnum(From value, To last, const char* what) {
  const auto number = static_cast<int64_t>(value);
  if (number < 0 || number > static_cast<int64_t>(last))
    return Wrong("there is no {0} number {1}", what, number);
  return static_cast<To>(number);
}
/// Whether two enumerators have one number.
template <class A, class B>
constexpr bool SameNumber(A a, B b) {
  return static_cast<int64_t>(a) == static_cast<int64_t>(b);
}

/// Elements as all of the library expects them: a truth is 0 or 1, one narrower than a byte is extended.
hlo::Literal Canonical(hlo::Literal value);
/// Whether memory can be read and written in the order of the shape's layout: not in tiles.
hlo::Status CheckOrder(const hlo::Shape& shape);
/// An array out of memory in the order of its layout.
hlo::Literal FromMemory(const hlo::Shape& shape, const void* data);
/// The array into memory in the order of the layout of `shape`.
void ToMemory(const hlo::Literal& value, const hlo::Shape& shape, void* data);

struct LiteralAccess {
  static Literal Make(const hlo::Literal& value);
  /// Of a value in unpacked storage, whose shape is this one.
  static Literal Make(hlo::Literal value, std::shared_ptr<const Shape> shape);
  /// Null of an invalid literal. Arrays are in unpacked storage.
  static const hlo::Literal* Get(const Literal& literal);
};

struct ComputationAccess {
  /// `ids` names the computations of the module, in its order: copies of one computation have one number.
  static XlaComputation Make(std::shared_ptr<const hlo::Module> module, std::vector<uint64_t> ids);
  /// Null of a null computation.
  static const hlo::Module* Module(const XlaComputation& computation);
  static std::shared_ptr<const hlo::Module> Share(const XlaComputation& computation);
  static llvm::ArrayRef<uint64_t> Ids(const XlaComputation& computation);
};
/// A number no computation has yet.
uint64_t NextComputationId();

}  // namespace hlo_toolkit::internal

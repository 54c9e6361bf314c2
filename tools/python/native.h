// The module hlo_toolkit._native: what its parts share.
#pragma once
#include <memory>

#include "tools/python/casters.h"

namespace hlo_python {

using namespace nb::literals;  // NOLINT(google-build-using-namespace): made for that

// --- Errors: every StatusCode has an exception, which is a built-in one, too, where that says the same ---
struct StatusError : std::exception {
  explicit StatusError(hlo::Status status_) : status(std::move(status_)) {}
  [[nodiscard]] const char* what() const noexcept override { return status.message().c_str(); }
  hlo::Status status;
};
[[noreturn]] inline void Wrong(std::string message) {
  throw StatusError({hlo::StatusCode::kInvalidArgument, std::move(message)});
}
inline void Check(const hlo::Status& status) {
  if (!status.ok()) throw StatusError(status);
}
template <class T>
T Take(hlo::StatusOr<T> made) {
  if (!made.ok()) throw StatusError(made.status());
  return std::move(made).value();
}

/// What runs while other threads of Python go on.
template <class Body>
auto Unlocked(Body body) {
  const nb::gil_scoped_release release;
  return body();
}

/// A function of a module of the package that is written in Python.
inline nb::object Helper(const char* module, const char* function) {
  return nb::module_::import_((std::string("hlo_toolkit.") + module).c_str()).attr(function);
}

// --- Arrays ---
/// The value of anything that holds an array: an Array, objects with the buffer protocol, DLPack, NumPy
/// arrays of ml_dtypes' types. Where `shape` is given, also numbers and nested lists, and types have to
/// agree; `what` is said of it in errors. Memory that lies as it should is used where it is, and kept, if
/// `borrow`.
hlo::Literal ToLiteral(nb::handle value, const hlo::Shape* shape, const std::string& what, bool borrow);
/// An Array; of a tuple a tuple of such.
nb::object ToPython(const hlo::Literal& value);
/// Codes of DLPack beside those of numbers that C++ has; of narrow floating types.
inline constexpr std::pair<uint8_t, hlo::PrimitiveType> kDlpackTypes[] = {
    {4, hlo::BF16},          {7, hlo::F8E3M4},      {8, hlo::F8E4M3},
    {9, hlo::F8E4M3B11FNUZ}, {10, hlo::F8E4M3FN},   {11, hlo::F8E4M3FNUZ},
    {12, hlo::F8E5M2},       {13, hlo::F8E5M2FNUZ}, {14, hlo::F8E8M0FNU}};
/// PRIMITIVE_TYPE_INVALID for names that neither HLO nor NumPy or ml_dtypes has.
hlo::PrimitiveType TypeOfName(std::string_view name);

// --- Builders: operations keep theirs alive ---
struct Builder : hlo::XlaBuilder, std::enable_shared_from_this<Builder> {
  using XlaBuilder::XlaBuilder;
};
struct Op {
  hlo::XlaOp op;
  std::shared_ptr<Builder> builder;
};
/// The line of Python that is running.
hlo::Location Here();
/// The operation, or the error that its builder has noted.
Op Checked(hlo::XlaOp op);

void AddTypes(nb::module_& m);
void AddArrays(nb::module_& m);
void AddModules(nb::module_& m);
void AddClients(nb::module_& m);
void AddBuilder(nb::module_& m);
void AddOps(nb::module_& m, nb::class_<Builder>& builder);
void AddErrors(nb::module_& m);

}  // namespace hlo_python

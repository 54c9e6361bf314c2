// The module hlo_toolkit._native.
#include "tools/python/native.h"

#include "hlo/hlo_c.h"

namespace hlo_python {
namespace {

/// The exceptions of StatusCode, in its order from kInvalidArgument on; `also`: what of Python's says the
/// same.
struct ErrorRow {
  const char *name, *doc;
  PyObject** also;
};
const ErrorRow kErrors[] = {
    {"InvalidArgument", "No computation, or not what was asked for: shapes, sizes, text that is none.",
     &PyExc_ValueError},
    {"Unimplemented", "Described by the documents, not here; or not on this platform.",
     &PyExc_NotImplementedError},
    {"FailedPrecondition", "Not now: of a buffer that is gone.", nullptr},
    {"InternalError", "A mistake of the library.", nullptr},
    {"Cancelled", "Somebody asked for it.", nullptr},
    {"DeadlineExceeded", "A time limit.", &PyExc_TimeoutError},
    {"ResourceExhausted", "Limits of memory and size.", &PyExc_MemoryError},
    {"Aborted", "Went wrong while a program ran.", nullptr},
    {"Unavailable", "No GPU, no library.", nullptr},
};
nb::handle error_classes[std::size(kErrors)];

void Translate(const std::exception_ptr& raised, void* /*payload*/) {
  try {
    std::rethrow_exception(raised);
  } catch (const StatusError& error) {
    const int code =
        static_cast<int>(error.status.code()) - static_cast<int>(hlo::StatusCode::kInvalidArgument);
    const bool known = code >= 0 && static_cast<size_t>(code) < std::size(kErrors);
    PyErr_SetString(error_classes[known ? code : 3].ptr(), error.status.message().c_str());
  }
}

}  // namespace

void AddErrors(nb::module_& m) {
  const std::string module = "hlo_toolkit.";
  const nb::object base = nb::steal(PyErr_NewExceptionWithDoc(
      (module + "HloError").c_str(), "What the library says is wrong.", PyExc_Exception, nullptr));
  m.attr("HloError") = base;
  for (size_t i = 0; i < std::size(kErrors); ++i) {
    const ErrorRow& row = kErrors[i];
    const nb::tuple bases =
        row.also == nullptr ? nb::make_tuple(base) : nb::make_tuple(base, nb::handle(*row.also));
    const nb::object made =
        nb::steal(PyErr_NewExceptionWithDoc((module + row.name).c_str(), row.doc, bases.ptr(), nullptr));
    m.attr(row.name) = made;
    error_classes[i] = made;  // which the module keeps
  }
  nb::register_exception_translator(&Translate);
}

}  // namespace hlo_python

NB_MODULE(_native, m) {
  m.doc() = "What hlo_toolkit is in C++.";
  m.attr("c_version") = hlo_c_version();
  hlo_python::AddErrors(m);
  hlo_python::AddTypes(m);
  hlo_python::AddArrays(m);
  hlo_python::AddModules(m);
  hlo_python::AddClients(m);
  hlo_python::AddBuilder(m);
}

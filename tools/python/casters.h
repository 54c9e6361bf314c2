// How values of Python become parameters of the library.
#pragma once
#include <Python.h>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hlo/client.h"
#include "hlo/ops.h"

namespace hlo_python {

namespace nb = nanobind;
namespace hlo = hlo_toolkit;

/// The type that an object stands for: its name, or an object with a `name`, `__name__` or `dtype`.
/// PRIMITIVE_TYPE_INVALID of others.
hlo::PrimitiveType TypeOf(nb::handle value);

/// The words for the enumerators of an enum, in their order from `kFirst` on.
template <class E>
struct Words;
template <>
struct Words<hlo_toolkit::Padding> {
  static constexpr const char* kWords[] = {"same", "valid"};
  static constexpr int kFirst = 0;
  static constexpr auto kType = nb::detail::const_name("typing.Literal[\"same\", \"valid\"]");
};
template <>
struct Words<hlo_toolkit::FftType> {
  static constexpr const char* kWords[] = {"fft", "ifft", "rfft", "irfft"};
  static constexpr int kFirst = 0;
  static constexpr auto kType =
      nb::detail::const_name("typing.Literal[\"fft\", \"ifft\", \"rfft\", \"irfft\"]");
};
template <>
struct Words<hlo_toolkit::RandomAlgorithm> {
  static constexpr const char* kWords[] = {"default", "three_fry", "philox"};
  static constexpr int kFirst = 0;
  static constexpr auto kType =
      nb::detail::const_name("typing.Literal[\"default\", \"three_fry\", \"philox\"]");
};
template <>
struct Words<hlo_toolkit::TriangularSolveOptions::Transpose> {
  static constexpr const char* kWords[] = {"no_transpose", "transpose", "adjoint"};
  static constexpr int kFirst = 1;
  static constexpr auto kType =
      nb::detail::const_name("typing.Literal[\"no_transpose\", \"transpose\", \"adjoint\"]");
};
template <>
struct Words<hlo_toolkit::PrecisionConfig::Precision> {
  static constexpr const char* kWords[] = {"default", "high", "highest"};
  static constexpr int kFirst = 0;
  static constexpr auto kType = nb::detail::const_name("typing.Literal[\"default\", \"high\", \"highest\"]");
};

/// A text, or nothing where it is none; no error is left behind.
inline std::optional<std::string_view> TextOf(nb::handle value) {
  Py_ssize_t size = 0;
  const char* text = PyUnicode_Check(value.ptr()) ? PyUnicode_AsUTF8AndSize(value.ptr(), &size) : nullptr;
  if (text == nullptr) {
    PyErr_Clear();
    return std::nullopt;
  }
  return std::string_view(text, static_cast<size_t>(size));
}

}  // namespace hlo_python

namespace nanobind::detail {

// NOLINTBEGIN(readability-identifier-naming): names of nanobind
/// Enums by their words.
template <class E>
struct word_caster {
  NB_TYPE_CASTER(E, hlo_python::Words<E>::kType)
  bool from_python(handle source, uint32_t /*flags*/, cleanup_list* /*cleanup*/) noexcept {
    const auto text = hlo_python::TextOf(source);
    if (!text) return false;
    int number = hlo_python::Words<E>::kFirst;
    for (const char* word : hlo_python::Words<E>::kWords) {
      if (*text == word) return value = static_cast<E>(number), true;
      ++number;
    }
    return false;
  }
};
template <>
struct type_caster<hlo_toolkit::Padding> : word_caster<hlo_toolkit::Padding> {};
template <>
struct type_caster<hlo_toolkit::FftType> : word_caster<hlo_toolkit::FftType> {};
template <>
struct type_caster<hlo_toolkit::RandomAlgorithm> : word_caster<hlo_toolkit::RandomAlgorithm> {};
template <>
struct type_caster<hlo_toolkit::TriangularSolveOptions::Transpose>
    : word_caster<hlo_toolkit::TriangularSolveOptions::Transpose> {};
template <>
struct type_caster<hlo_toolkit::PrecisionConfig::Precision>
    : word_caster<hlo_toolkit::PrecisionConfig::Precision> {};

template <>
struct type_caster<hlo_toolkit::PrimitiveType> {
  NB_TYPE_CASTER(hlo_toolkit::PrimitiveType, const_name("str | typing.Any"))
  bool from_python(handle source, uint32_t /*flags*/, cleanup_list* /*cleanup*/) noexcept {
    value = hlo_python::TypeOf(source);
    return value != hlo_toolkit::PRIMITIVE_TYPE_INVALID;
  }
  static handle from_cpp(hlo_toolkit::PrimitiveType type, rv_policy /*policy*/,
                         cleanup_list* /*cleanup*/) noexcept {
    const std::string_view name = hlo_toolkit::PrimitiveTypeName(type);
    return PyUnicode_FromStringAndSize(name.data(), static_cast<Py_ssize_t>(name.size()));
  }
};

/// Lists, which live in the caster during the call.
template <class T>
struct type_caster<hlo_toolkit::Span<const T>> {
  using Value = hlo_toolkit::Span<const T>;
  using List = make_caster<std::vector<T>>;
  template <class To>
  using Cast = Value;
  template <class To>
  static constexpr bool can_cast() {
    return true;
  }
  static constexpr auto Name =
      const_name("collections.abc.Sequence[") + make_caster<T>::Name + const_name("]");
  bool from_python(handle source, uint32_t flags, cleanup_list* cleanup) noexcept {
    return list.from_python(source, flags, cleanup);
  }
  explicit operator Value() { return Value(list.value); }
  List list;
};

template <>
struct type_caster<hlo_toolkit::ReplicaGroup> {
  NB_TYPE_CASTER(hlo_toolkit::ReplicaGroup, const_name("collections.abc.Sequence[int]"))
  bool from_python(handle source, uint32_t flags, cleanup_list* cleanup) noexcept {
    make_caster<std::vector<int64_t>> list;
    if (!list.from_python(source, flags, cleanup)) return false;
    value.replica_ids_ = std::move(list.value);
    return true;
  }
};

template <>
struct type_caster<hlo_toolkit::ChannelHandle> {
  NB_TYPE_CASTER(hlo_toolkit::ChannelHandle, const_name("int"))
  bool from_python(handle source, uint32_t flags, cleanup_list* cleanup) noexcept {
    make_caster<int64_t> number;
    if (!number.from_python(source, flags, cleanup)) return false;
    value.set_handle(number.value);
    return true;
  }
  static handle from_cpp(const hlo_toolkit::ChannelHandle& handle, rv_policy /*policy*/,
                         cleanup_list* /*cleanup*/) noexcept {
    return PyLong_FromLongLong(handle.handle());
  }
};

/// (low, high) or (low, high, interior) of each dimension.
template <>
struct type_caster<hlo_toolkit::PaddingConfig> {
  NB_TYPE_CASTER(hlo_toolkit::PaddingConfig,
                 const_name("collections.abc.Sequence[collections.abc.Sequence[int]]"))
  bool from_python(handle source, uint32_t flags, cleanup_list* cleanup) noexcept {
    make_caster<std::vector<std::vector<int64_t>>> list;
    if (!list.from_python(source, flags, cleanup)) return false;
    for (const std::vector<int64_t>& numbers : list.value) {
      if (numbers.size() != 2 && numbers.size() != 3) return false;
      hlo_toolkit::PaddingConfigDimension* to = value.add_dimensions();
      to->set_edge_padding_low(numbers[0]);
      to->set_edge_padding_high(numbers[1]);
      if (numbers.size() == 3) to->set_interior_padding(numbers[2]);
    }
    return true;
  }
};
// NOLINTEND(readability-identifier-naming)

}  // namespace nanobind::detail

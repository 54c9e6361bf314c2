// Arrays as programs of Python have them: what becomes a value.
#include <algorithm>
#include <cstring>

#include "tools/python/native.h"

namespace hlo_python {
namespace {

/// A view of somebody's memory, given back under the lock of Python.
struct View {
  Py_buffer buffer{};
  bool held = false;
  View() = default;
  View(const View&) = delete;
  View& operator=(const View&) = delete;
  ~View() {
    if (!held) return;
    const nb::gil_scoped_acquire acquire;
    PyBuffer_Release(&buffer);
  }
};

std::string_view FormatOf(const Py_buffer& buffer) { return buffer.format == nullptr ? "B" : buffer.format; }

/// The bytes of numbers lie the other way round.
bool IsBigEndian(const Py_buffer& buffer) {
  const std::string_view format = FormatOf(buffer);
  return !format.empty() && (format[0] == '>' || format[0] == '!');
}

/// The type of a buffer's elements, by the codes of Python's `struct` and NumPy's for complex numbers.
hlo::PrimitiveType TypeOfFormat(const Py_buffer& buffer) {
  std::string_view format = FormatOf(buffer);
  if (!format.empty() && std::string_view("@=<>!").find(format[0]) != std::string_view::npos)
    format.remove_prefix(1);
  const auto integer = [&](bool is_signed) {
    switch (buffer.itemsize) {
      case 1: return is_signed ? hlo::S8 : hlo::U8;
      case 2: return is_signed ? hlo::S16 : hlo::U16;
      case 4: return is_signed ? hlo::S32 : hlo::U32;
      case 8: return is_signed ? hlo::S64 : hlo::U64;
      default: return hlo::PRIMITIVE_TYPE_INVALID;
    }
  };
  if (format == "Zf") return hlo::C64;
  if (format == "Zd") return hlo::C128;
  if (format.size() != 1) return hlo::PRIMITIVE_TYPE_INVALID;
  if (std::string_view("bhilqn").find(format[0]) != std::string_view::npos) return integer(true);
  if (std::string_view("BHILQN").find(format[0]) != std::string_view::npos) return integer(false);
  switch (format[0]) {
    case '?': return hlo::PRED;
    case 'e': return hlo::F16;
    case 'f': return hlo::F32;
    case 'd': return hlo::F64;
    default: return hlo::PRIMITIVE_TYPE_INVALID;
  }
}

/// Turns the bytes of each number round.
void SwapBytes(hlo::Literal& value) {
  const hlo::PrimitiveType type = value.shape().element_type();
  const auto width = static_cast<size_t>(hlo::ByteWidth(type)) / (hlo::IsComplex(type) ? 2 : 1);
  auto* bytes = static_cast<uint8_t*>(value.mutable_untyped_data());
  const auto size = static_cast<size_t>(value.size_bytes());
  for (size_t at = 0; at + width <= size; at += width) std::reverse(bytes + at, bytes + at + width);
}

/// The value of an object with the buffer protocol, `type` its elements if they are not what its format says.
hlo::Literal FromBuffer(nb::handle value, hlo::PrimitiveType type, const std::string& what, bool borrow) {
  auto view = std::make_shared<View>();
  if (PyObject_GetBuffer(value.ptr(), &view->buffer, PyBUF_STRIDES | PyBUF_FORMAT) != 0)
    throw nb::python_error();
  view->held = true;
  const Py_buffer& buffer = view->buffer;
  if (type == hlo::PRIMITIVE_TYPE_INVALID) type = TypeOfFormat(buffer);
  if (type == hlo::PRIMITIVE_TYPE_INVALID || hlo::ByteWidth(type) != buffer.itemsize)
    Wrong(what + " has elements of a type that HLO does not have: '" + std::string(FormatOf(buffer)) + "'");
  const hlo::Shape shape(type, std::vector<int64_t>(buffer.shape, buffer.shape + buffer.ndim));
  Check(hlo::ShapeUtil::Validate(shape));
  const bool swap = IsBigEndian(buffer);
  if (!swap && PyBuffer_IsContiguous(&buffer, 'C') != 0) {
    hlo::Literal made = hlo::Literal::Borrow(shape, buffer.buf, view);
    if (!borrow && made.valid()) made.mutable_untyped_data();  // memory of its own
    return made;
  }
  hlo::Literal made(shape);
  if (made.valid() && made.size_bytes() != 0 &&
      PyBuffer_ToContiguous(made.mutable_untyped_data(), &view->buffer, buffer.len, 'C') != 0)
    throw nb::python_error();
  if (swap && made.valid()) SwapBytes(made);
  return made;
}

hlo::PrimitiveType TypeOfDlpack(nb::dlpack::dtype type) {
  if (type.lanes != 1) return hlo::PRIMITIVE_TYPE_INVALID;
  static constexpr std::pair<std::pair<int, int>, hlo::PrimitiveType> kTypes[] = {
      {{0, 8}, hlo::S8},     {{0, 16}, hlo::S16}, {{0, 32}, hlo::S32}, {{0, 64}, hlo::S64},
      {{1, 8}, hlo::U8},     {{1, 16}, hlo::U16}, {{1, 32}, hlo::U32}, {{1, 64}, hlo::U64},
      {{2, 16}, hlo::F16},   {{2, 32}, hlo::F32}, {{2, 64}, hlo::F64}, {{5, 64}, hlo::C64},
      {{5, 128}, hlo::C128}, {{6, 8}, hlo::PRED}};
  for (const auto& [key, found] : kTypes)
    if (key.first == type.code && key.second == type.bits) return found;
  for (const auto& [code, found] : kDlpackTypes)
    if (code == type.code && type.bits == hlo::BitWidth(found)) return found;
  return hlo::PRIMITIVE_TYPE_INVALID;
}

/// The elements of a tensor row by row, wherever they lie.
template <class Tensor>
hlo::Literal CopyOf(const Tensor& tensor, const hlo::Shape& shape) {
  hlo::Literal made(shape);
  if (!made.valid() || made.size_bytes() == 0) return made;
  const auto width = static_cast<size_t>(hlo::ByteWidth(shape.element_type()));
  auto* to = static_cast<char*>(made.mutable_untyped_data());
  const auto* from = static_cast<const char*>(tensor.data());
  std::vector<size_t> at(tensor.ndim());
  for (int64_t offset = 0;;) {
    std::memcpy(to, from + offset * static_cast<int64_t>(width), width);
    to += width;
    size_t d = at.size();
    while (d > 0 && ++at[d - 1] == tensor.shape(d - 1)) {
      --d;
      at[d] = 0;
      offset -= tensor.stride(d) * static_cast<int64_t>(tensor.shape(d) - 1);
    }
    if (d == 0) return made;
    offset += tensor.stride(d - 1);
  }
}

/// The value of what has DLPack; nothing if it is none, or not in the memory of the CPU.
std::optional<hlo::Literal> FromDlpack(nb::handle value, const std::string& what, bool borrow) {
  using Tensor = nb::ndarray<nb::ro, nb::device::cpu>;
  Tensor tensor;
  if (!nb::try_cast<Tensor>(value, tensor, true)) return std::nullopt;
  const hlo::PrimitiveType type = TypeOfDlpack(tensor.dtype());
  if (type == hlo::PRIMITIVE_TYPE_INVALID) Wrong(what + " has elements of a type that HLO does not have");
  std::vector<int64_t> sizes(tensor.ndim());
  bool dense = true;
  int64_t stride = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    sizes[i] = static_cast<int64_t>(tensor.shape(i));
    dense &= sizes[i] == 1 || tensor.stride(i) == stride;
    stride *= sizes[i];
  }
  const hlo::Shape shape(type, sizes);
  Check(hlo::ShapeUtil::Validate(shape));
  if (!dense || stride == 0) return CopyOf(tensor, shape);
  // The tensor is given back under the lock of Python, whoever lets go of it last.
  const std::shared_ptr<const void> owner(new Tensor(tensor), [](Tensor* last) {
    const nb::gil_scoped_acquire acquire;
    delete last;
  });
  hlo::Literal made = hlo::Literal::Borrow(shape, tensor.data(), owner);
  if (!borrow && made.valid()) made.mutable_untyped_data();
  return made;
}

/// The exception with which an object is no tensor, if it raises one: FromDlpack() does not tell. `refusals`:
/// a BufferError, too.
void RaiseWhatDlpackRaises(nb::handle value, bool refusals) {
  try {
    if (nb::hasattr(value, "__dlpack_device__")) value.attr("__dlpack_device__")();
    try {
      value.attr("__dlpack__")("max_version"_a = nb::make_tuple(1, 0));
    } catch (nb::python_error& error) {
      // Those who know of no versions take no argument.
      if (!error.matches(PyExc_TypeError)) throw;
      value.attr("__dlpack__")();
    }
  } catch (nb::python_error& error) {
    if (refusals || !error.matches(PyExc_BufferError)) throw;
  }
}

std::string TypeName(nb::handle value) {
  return nb::cast<std::string>(nb::str(value.type().attr("__name__")));
}

std::string TextOfFloat(double number) { return nb::cast<std::string>(nb::repr(nb::float_(number))); }

/// An integer as HLO text, which has the numbers of 64 bits of either sign for one another: those that are no
/// number of the type are left out here.
std::string TextOfInteger(nb::handle value, hlo::PrimitiveType type, const std::string& what) {
  if (hlo::IsFloatingPoint(type) || hlo::IsComplex(type)) {
    const double number = PyLong_AsDouble(value.ptr());
    if (PyErr_Occurred() != nullptr) {
      PyErr_Clear();
      Wrong(what + " has an integer that is too large for " + std::string(hlo::PrimitiveTypeName(type)));
    }
    return TextOfFloat(number);
  }
  int overflow = 0;
  const long long number = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
  const bool is_unsigned = hlo::IsIntegral(type) && !hlo::IsSigned(type);
  std::string text = nb::cast<std::string>(nb::repr(nb::steal(PyNumber_Long(value.ptr()))));
  if (overflow != 0 ? !(is_unsigned && overflow > 0) : is_unsigned && number < 0)
    Wrong(what + ": " + (text.size() > 40 ? text.substr(0, 40) + "..." : text) + " is no " +
          std::string(hlo::PrimitiveTypeName(type)));
  return text;
}

/// A real number as HLO text for elements of a type: a complex one has two parts.
std::string Real(const std::string& text, hlo::PrimitiveType type) {
  return hlo::IsComplex(type) ? "(" + text + ", 0)" : text;
}

/// Numbers, nested lists, and arrays among them, as HLO text for elements of a type.
void AppendText(nb::handle value, hlo::PrimitiveType type, int depth, const std::string& what,
                std::string& text) {
  if (depth > 64) Wrong(what + " is a list of more than 64 levels");
  if (PyBool_Check(value.ptr())) {
    const bool is_true = nb::cast<bool>(value);
    text += hlo::IsComplex(type) ? Real(is_true ? "1" : "0", type) : is_true ? "true" : "false";
  } else if (PyComplex_Check(value.ptr())) {
    text += "(" + TextOfFloat(PyComplex_RealAsDouble(value.ptr())) + ", " +
            TextOfFloat(PyComplex_ImagAsDouble(value.ptr())) + ")";
  } else if (PyFloat_Check(value.ptr())) {  // NumPy's doubles are some, and print in another way
    text += Real(TextOfFloat(PyFloat_AsDouble(value.ptr())), type);
  } else if (PyLong_Check(value.ptr())) {
    text += Real(TextOfInteger(value, type, what), type);
  } else if (PyList_Check(value.ptr()) || PyTuple_Check(value.ptr())) {
    text += '{';
    bool first = true;
    for (const nb::handle element : value) {
      if (!first) text += ", ";
      first = false;
      AppendText(element, type, depth + 1, what, text);
    }
    text += '}';
  } else if (nb::hasattr(value, "tolist") && nb::hasattr(value, "dtype")) {
    const nb::object listed = value.attr("tolist")();
    // NumPy has no other numbers for those of ml_dtypes.
    AppendText(listed.type().is(value.type()) ? nb::object(nb::float_(listed)) : listed, type, depth + 1,
               what, text);
  } else {
    Wrong(what + ": a " + TypeName(value) + " is no array");
  }
}

bool IsNumberOrList(nb::handle value) {
  PyObject* object = value.ptr();
  return PyBool_Check(object) || PyLong_Check(object) || PyFloat_Check(object) || PyComplex_Check(object) ||
         PyList_Check(object) || PyTuple_Check(object);
}

/// `converted`: the value is what another one says that it is.
hlo::Literal FromAnything(nb::handle value, const std::string& what, bool borrow, bool converted = false) {
  if (PyObject_CheckBuffer(value.ptr()) != 0) {
    try {
      return FromBuffer(value, hlo::PRIMITIVE_TYPE_INVALID, what, borrow);
    } catch (nb::python_error&) {
      // NumPy has no code for the type; its name tells, and the bytes are those of an integer.
    }
  }
  if (nb::hasattr(value, "dtype") && nb::hasattr(value, "view")) {
    const hlo::PrimitiveType type = TypeOf(value.attr("dtype"));
    if (type != hlo::PRIMITIVE_TYPE_INVALID) {
      try {
        const nb::object bytes = value.attr("view")(hlo::ByteWidth(type) == 1 ? "uint8" : "uint16");
        if (PyObject_CheckBuffer(bytes.ptr()) != 0) return FromBuffer(bytes, type, what, borrow);
      } catch (nb::python_error&) {
        // What `view` does elsewhere is another thing.
      }
    }
  }
  const bool has_dlpack = nb::hasattr(value, "__dlpack__");
  if (has_dlpack)
    if (auto made = FromDlpack(value, what, borrow)) return *std::move(made);
  if (!converted && nb::hasattr(value, "__array__"))
    return FromAnything(value.attr("__array__")(), what, borrow, /*converted=*/true);
  // With a BufferError NumPy says no more than that DLPack has no such type.
  if (has_dlpack) RaiseWhatDlpackRaises(value, /*refusals=*/!nb::hasattr(value, "dtype"));
  if (nb::hasattr(value, "dtype")) {
    const nb::object dtype = value.attr("dtype");
    Wrong(what + " has elements of a type that HLO does not have: '" +
          nb::cast<std::string>(nb::str(nb::handle(dtype))) + "'");
  }
  Wrong(what + ": a " + TypeName(value) + " is no array");
}

}  // namespace

hlo::Literal ToLiteral(nb::handle value, const hlo::Shape* shape, const std::string& what, bool borrow) {
  hlo::Literal made;
  if (nb::isinstance<hlo::Literal>(value)) {
    made = nb::cast<const hlo::Literal&>(value);
  } else if (shape != nullptr && shape->IsTuple() && PyTuple_Check(value.ptr())) {
    std::vector<hlo::Literal> elements;
    for (const nb::handle element : value) {
      const size_t i = elements.size();
      const bool there = i < shape->tuple_shapes().size();
      elements.push_back(ToLiteral(element, there ? &shape->tuple_shapes()[i] : nullptr, what, borrow));
    }
    made = hlo::Literal::Tuple(elements);
  } else if (IsNumberOrList(value)) {
    if (shape == nullptr) Wrong(what + " is of no known type: give one, or an array");
    std::string text;
    AppendText(value, shape->element_type(), 0, what, text);
    auto parsed = hlo::ParseLiteral(text, *shape);
    if (!parsed.ok()) Wrong(what + " is no " + shape->ToString() + ": " + parsed.status().message());
    made = std::move(parsed).value();
  } else {
    made = FromAnything(value, what, borrow);
  }
  if (!made.valid()) Wrong(what + " is no value that HLO can have");
  return made;
}

}  // namespace hlo_python

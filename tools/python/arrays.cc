// Arrays: values that Python sees where they lie.
#include <cstring>

#include "tools/python/native.h"

namespace hlo_python {
namespace {

// --- From Python ---

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

/// The type of a buffer's elements, by the codes of Python's `struct` and NumPy's for complex numbers.
hlo::PrimitiveType TypeOfFormat(const Py_buffer& buffer) {
  std::string_view format = buffer.format == nullptr ? "B" : buffer.format;
  if (!format.empty() && (format[0] == '@' || format[0] == '=' || format[0] == '<')) format.remove_prefix(1);
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

/// The value of an object with the buffer protocol, `type` its elements if they are not what its format says.
hlo::Literal FromBuffer(nb::handle value, hlo::PrimitiveType type, const std::string& what, bool borrow) {
  auto view = std::make_shared<View>();
  if (PyObject_GetBuffer(value.ptr(), &view->buffer, PyBUF_STRIDES | PyBUF_FORMAT) != 0)
    throw nb::python_error();
  view->held = true;
  const Py_buffer& buffer = view->buffer;
  if (type == hlo::PRIMITIVE_TYPE_INVALID) type = TypeOfFormat(buffer);
  if (type == hlo::PRIMITIVE_TYPE_INVALID || hlo::ByteWidth(type) != buffer.itemsize)
    Wrong(what + " has elements of a type that HLO does not have: '" +
          (buffer.format == nullptr ? std::string("B") : std::string(buffer.format)) + "'");
  const hlo::Shape shape(type, std::vector<int64_t>(buffer.shape, buffer.shape + buffer.ndim));
  Check(hlo::ShapeUtil::Validate(shape));
  if (PyBuffer_IsContiguous(&buffer, 'C') != 0) {
    hlo::Literal made = hlo::Literal::Borrow(shape, buffer.buf, view);
    if (!borrow && made.valid()) made.mutable_untyped_data();  // memory of its own
    return made;
  }
  hlo::Literal made(shape);
  if (made.valid() && made.size_bytes() != 0 &&
      PyBuffer_ToContiguous(made.mutable_untyped_data(), &view->buffer, buffer.len, 'C') != 0)
    throw nb::python_error();
  return made;
}

/// Codes of DLPack beside those of numbers that C++ has; of narrow floating types.
constexpr std::pair<uint8_t, hlo::PrimitiveType> kDlpackTypes[] = {
    {4, hlo::BF16},          {7, hlo::F8E3M4},      {8, hlo::F8E4M3},
    {9, hlo::F8E4M3B11FNUZ}, {10, hlo::F8E4M3FN},   {11, hlo::F8E4M3FNUZ},
    {12, hlo::F8E5M2},       {13, hlo::F8E5M2FNUZ}, {14, hlo::F8E8M0FNU}};

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

std::optional<hlo::Literal> FromDlpack(nb::handle value, const std::string& what, bool borrow) {
  using Dense = nb::ndarray<nb::ro, nb::device::cpu, nb::c_contig>;
  Dense dense;
  if (!nb::try_cast<Dense>(value, dense, true)) return std::nullopt;
  const hlo::PrimitiveType type = TypeOfDlpack(dense.dtype());
  if (type == hlo::PRIMITIVE_TYPE_INVALID) Wrong(what + " has elements of a type that HLO does not have");
  std::vector<int64_t> sizes(dense.ndim());
  for (size_t i = 0; i < sizes.size(); ++i) sizes[i] = static_cast<int64_t>(dense.shape(i));
  const hlo::Shape shape(type, sizes);
  Check(hlo::ShapeUtil::Validate(shape));
  // The tensor is given back under the lock of Python, whoever lets go of it last.
  const std::shared_ptr<const void> owner(new Dense(dense), [](Dense* last) {
    const nb::gil_scoped_acquire acquire;
    delete last;
  });
  hlo::Literal made = hlo::Literal::Borrow(shape, dense.data(), owner);
  if (!borrow && made.valid()) made.mutable_untyped_data();
  return made;
}

/// Numbers and nested lists as HLO text.
void AppendText(nb::handle value, int depth, const std::string& what, std::string& text) {
  if (depth > 64) Wrong(what + " is a list of more than 64 levels");
  if (PyBool_Check(value.ptr())) {
    text += nb::cast<bool>(value) ? "true" : "false";
  } else if (PyComplex_Check(value.ptr())) {
    text += "(" + nb::cast<std::string>(nb::repr(nb::float_(PyComplex_RealAsDouble(value.ptr())))) + ", " +
            nb::cast<std::string>(nb::repr(nb::float_(PyComplex_ImagAsDouble(value.ptr())))) + ")";
  } else if (PyFloat_Check(value.ptr())) {  // NumPy's doubles are some, and print in another way
    text += nb::cast<std::string>(nb::repr(nb::float_(PyFloat_AsDouble(value.ptr()))));
  } else if (PyLong_Check(value.ptr())) {
    text += nb::cast<std::string>(nb::repr(nb::steal(PyNumber_Long(value.ptr()))));
  } else if (PyList_Check(value.ptr()) || PyTuple_Check(value.ptr())) {
    text += '{';
    bool first = true;
    for (const nb::handle element : value) {
      if (!first) text += ", ";
      first = false;
      AppendText(element, depth + 1, what, text);
    }
    text += '}';
  } else {
    Wrong(what + ": a " + nb::cast<std::string>(nb::str(value.type().attr("__name__"))) + " is no array");
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
      const nb::object bytes = value.attr("view")(hlo::ByteWidth(type) == 1 ? "uint8" : "uint16");
      if (PyObject_CheckBuffer(bytes.ptr()) != 0) return FromBuffer(bytes, type, what, borrow);
    }
  }
  if (nb::hasattr(value, "__dlpack__"))
    if (auto made = FromDlpack(value, what, borrow)) return *std::move(made);
  if (!converted && nb::hasattr(value, "__array__"))
    return FromAnything(value.attr("__array__")(), what, borrow, /*converted=*/true);
  Wrong(what + ": a " + nb::cast<std::string>(nb::str(value.type().attr("__name__"))) + " is no array");
}

// --- To Python ---

/// The code of NumPy's buffers; null for types that it has none for.
const char* FormatOf(hlo::PrimitiveType type) {
  switch (type) {
    case hlo::PRED: return "?";
    case hlo::S8: return "b";
    case hlo::U8: return "B";
    case hlo::S16: return "h";
    case hlo::U16: return "H";
    case hlo::S32: return "i";
    case hlo::U32: return "I";
    case hlo::S64: return "q";
    case hlo::U64: return "Q";
    case hlo::F16: return "e";
    case hlo::F32: return "f";
    case hlo::F64: return "d";
    case hlo::C64: return "Zf";
    case hlo::C128: return "Zd";
    default: return nullptr;
  }
}

/// Sizes and strides of a view, which is given back with them.
struct ViewSizes {
  std::vector<Py_ssize_t> sizes, strides;
};

ViewSizes SizesOf(const hlo::Literal& value) {
  ViewSizes made;
  Py_ssize_t stride = hlo::ByteWidth(value.shape().element_type());
  made.sizes.assign(value.shape().dimensions().begin(), value.shape().dimensions().end());
  made.strides.resize(made.sizes.size());
  for (size_t i = made.sizes.size(); i-- > 0;) {
    made.strides[i] = stride;
    stride *= made.sizes[i];
  }
  return made;
}

int GetBuffer(PyObject* self, Py_buffer* view, int flags) {
  const hlo::Literal& value = *nb::inst_ptr<hlo::Literal>(nb::handle(self));
  view->obj = nullptr;
  const char* format = FormatOf(value.shape().element_type());
  if (format == nullptr || (flags & PyBUF_WRITABLE) != 0) {
    PyErr_SetString(PyExc_BufferError, format == nullptr ? "buffers have no code for this type: use numpy()"
                                                         : "arrays are only read");
    return -1;
  }
  auto* sizes = new ViewSizes(SizesOf(value));
  view->buf = const_cast<void*>(value.untyped_data());
  view->len = value.size_bytes();
  view->readonly = 1;
  view->itemsize = hlo::ByteWidth(value.shape().element_type());
  view->format = (flags & PyBUF_FORMAT) != 0 ? const_cast<char*>(format) : nullptr;
  view->ndim = static_cast<int>(sizes->sizes.size());
  view->shape = sizes->sizes.data();
  view->strides = sizes->strides.data();
  view->suboffsets = nullptr;
  view->internal = sizes;
  view->obj = self;
  Py_INCREF(self);
  return 0;
}

void ReleaseBuffer(PyObject* /*self*/, Py_buffer* view) { delete static_cast<ViewSizes*>(view->internal); }

PyType_Slot kArraySlots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(GetBuffer)},
                             {Py_bf_releasebuffer, reinterpret_cast<void*>(ReleaseBuffer)},
                             {0, nullptr}};

/// The bytes of the elements, whatever they are.
nb::object Bytes(nb::handle self) {
  const hlo::Literal& value = nb::cast<const hlo::Literal&>(self);
  const size_t sizes[] = {static_cast<size_t>(value.size_bytes())};
  return nb::cast(nb::ndarray<const uint8_t, nb::memview>(static_cast<const uint8_t*>(value.untyped_data()),
                                                          1, sizes, self));
}

nb::object Dlpack(nb::handle self, const nb::kwargs& options) {
  const hlo::Literal& value = nb::cast<const hlo::Literal&>(self);
  const hlo::PrimitiveType type = value.shape().element_type();
  nb::dlpack::dtype code{0, static_cast<uint8_t>(hlo::ByteWidth(type) * 8), 1};
  bool known = hlo::BitWidth(type) >= 8 || type == hlo::PRED;
  if (type == hlo::PRED)
    code.code = 6;
  else if (hlo::IsComplex(type))
    code.code = 5;
  else if (hlo::IsIntegral(type))
    code.code = hlo::IsSigned(type) ? 0 : 1;
  else if (FormatOf(type) != nullptr)
    code.code = 2;
  else
    known = known && [&] {
      for (const auto& [number, found] : kDlpackTypes)
        if (found == type) return code.code = number, true;
      return false;
    }();
  if (!known) throw nb::buffer_error("DLPack has no code for this type: use numpy()");
  const std::vector<size_t> sizes(value.shape().dimensions().begin(), value.shape().dimensions().end());
  const nb::object array = nb::cast(nb::ndarray<nb::array_api, nb::ro>(value.untyped_data(), sizes.size(),
                                                                       sizes.data(), self, nullptr, code));
  return array.attr("__dlpack__")(**options);
}

/// The only element as a number of Python.
nb::object Item(nb::handle self) {
  const hlo::Literal& value = nb::cast<const hlo::Literal&>(self);
  if (value.element_count() != 1)
    Wrong("an array of " + std::to_string(value.element_count()) + " elements is no number");
  nb::object list = self.attr("tolist")();
  while (PyList_Check(list.ptr())) list = list[0];
  return list;
}

/// The elements from `at` on as nested lists.
nb::object Nested(const hlo::Literal& value, int64_t dimension, size_t& at, nb::handle elements) {
  if (dimension == value.shape().rank()) return elements[at++];
  nb::list made;
  for (int64_t i = 0; i < value.shape().dimensions(dimension); ++i)
    made.append(Nested(value, dimension + 1, at, elements));
  return made;
}

/// Numbers of Python for elements of types that buffers have no code for.
nb::list Numbers(const hlo::Literal& value) {
  nb::list made;
  const hlo::PrimitiveType type = value.shape().element_type();
  const auto* bytes = static_cast<const uint8_t*>(value.untyped_data());
  const int width = hlo::ByteWidth(type);
  for (int64_t i = 0; i < value.element_count(); ++i) {
    uint16_t bits = bytes[i * width];
    if (width == 2) std::memcpy(&bits, bytes + i * 2, 2);
    if (hlo::IsIntegral(type))
      made.append(hlo::IsSigned(type) ? static_cast<int>(static_cast<int8_t>(bits)) : static_cast<int>(bits));
    else
      made.append(static_cast<double>(hlo::internal::FloatOfBits(type, bits)));
  }
  return made;
}

nb::object ToList(nb::handle self) {
  const hlo::Literal& value = nb::cast<const hlo::Literal&>(self);
  if (FormatOf(value.shape().element_type()) != nullptr && !hlo::IsComplex(value.shape().element_type()))
    return nb::steal(PyMemoryView_FromObject(self.ptr())).attr("tolist")();
  size_t at = 0;
  nb::list numbers;
  if (hlo::IsComplex(value.shape().element_type())) {
    for (int64_t i = 0; i < value.element_count(); ++i) {
      const bool wide = value.shape().element_type() == hlo::C128;
      const std::complex<double> element =
          wide ? value.data<hlo::complex128>()[static_cast<size_t>(i)]
               : std::complex<double>(value.data<hlo::complex64>()[static_cast<size_t>(i)]);
      numbers.append(nb::steal(PyComplex_FromDoubles(element.real(), element.imag())));
    }
  } else {
    numbers = Numbers(value);
  }
  return Nested(value, 0, at, numbers);
}

/// Tokens and arrays that are too long to be read are said by their shape.
std::string Shown(const hlo::Literal& value) {
  constexpr int64_t kMost = 1000;
  if (!value.shape().IsArray() || value.element_count() > kMost)
    return "Array(" + value.shape().ToString() + ")";
  return "Array(" + value.ToString() + ")";
}

void AddConversions(nb::class_<hlo::Literal>& array) {
  array
      .def(
          "numpy", [](nb::handle self) { return Helper("_numpy", "to_numpy")(self); },
          nb::sig("def numpy(self) -> typing.Any"),
          "The array for NumPy: the same memory, read only.\n\nRaises TypeError for types that ml_dtypes is "
          "missing for.")
      .def(
          "__array__",
          [](nb::handle self, nb::handle dtype, nb::handle copy) {
            return Helper("_numpy", "to_array")(self, dtype, copy);
          },
          "dtype"_a = nb::none(), "copy"_a = nb::none())
      .def("tolist", &ToList, "Nested lists of numbers, row by row; a number for a scalar.")
      .def("item", &Item, "The only element as a number. Raises InvalidArgument if there are more, or none.")
      .def("__dlpack__", &Dlpack, "DLPack's capsule; the memory is read only.")
      .def("__dlpack_device__", [](nb::handle) { return nb::make_tuple(1, 0); })
      .def(
          "npy",
          [](const hlo::Literal& value) {
            const std::string bytes = Take(hlo::LiteralToNpy(value));
            return nb::bytes(bytes.data(), bytes.size());
          },
          "The bytes of an .npy file.")
      .def_static(
          "from_npy",
          [](const nb::bytes& bytes, std::optional<hlo::PrimitiveType> dtype) {
            return Take(hlo::LiteralFromNpy({bytes.c_str(), bytes.size()},
                                            dtype.value_or(hlo::PRIMITIVE_TYPE_INVALID)));
          },
          "bytes"_a, "dtype"_a = nb::none(), "The array of an .npy file. Raises InvalidArgument.")
      .def("__float__", [](nb::handle self) { return nb::float_(Item(self)); })
      .def("__int__", [](nb::handle self) { return nb::int_(Item(self)); })
      .def("__bool__", [](nb::handle self) { return PyObject_IsTrue(Item(self).ptr()) == 1; })
      .def("__len__",
           [](const hlo::Literal& value) {
             if (value.shape().rank() == 0) throw nb::type_error("a scalar has no length");
             return value.shape().dimensions(0);
           })
      .def("__str__", [](const hlo::Literal& value) { return value.ToString(); })
      .def("__repr__", &Shown);
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
    AppendText(value, 0, what, text);
    auto parsed = hlo::ParseLiteral(text, *shape);
    if (!parsed.ok()) Wrong(what + " is no " + shape->ToString() + ": " + parsed.status().message());
    made = std::move(parsed).value();
  } else {
    made = FromAnything(value, what, borrow);
  }
  if (!made.valid()) Wrong(what + " is no value that HLO can have");
  return made;
}

nb::object ToPython(const hlo::Literal& value) {
  if (!value.shape().IsTuple()) return nb::cast(value);
  nb::list made;
  for (const hlo::Literal& element : value.DecomposeTuple()) made.append(ToPython(element));
  return nb::tuple(made);
}

void AddArrays(nb::module_& m) {
  nb::class_<hlo::Literal> array(
      m, "Array", nb::type_slots(kArraySlots),
      "The value of an array, which nothing changes. `numpy.asarray(x)`, "
      "`memoryview(x)` and DLPack see its memory\n"
      "without a copy; elements narrower than a byte take one each. Types that NumPy "
      "lacks become those of ml_dtypes.");
  array
      .def(
          "__init__",
          [](hlo::Literal* self, nb::handle value, std::optional<hlo::Shape> shape) {
            hlo::Literal made = ToLiteral(value, shape ? &*shape : nullptr, "the value", false);
            if (shape && !hlo::ShapeUtil::Compatible(made.shape(), *shape))
              Wrong("the value is " + made.shape().ToString() + ", not " + shape->ToString());
            new (self) hlo::Literal(std::move(made));
          },
          "value"_a, "shape"_a = nb::none(),
          "A copy of an array, or of numbers and nested lists if `shape` says what they are.\n\n"
          "Raises InvalidArgument for what is no array, or not of the shape.")
      .def_prop_ro(
          "shape", [](const hlo::Literal& value) { return nb::tuple(nb::cast(value.shape().dimensions())); },
          "Sizes, as NumPy has them.")
      .def_prop_ro("hlo_shape", [](const hlo::Literal& value) { return value.shape(); })
      .def_prop_ro(
          "dtype", [](const hlo::Literal& value) { return value.shape().element_type(); },
          "HLO's name of the element type: `f32`.")
      .def_prop_ro("ndim", [](const hlo::Literal& value) { return value.shape().rank(); })
      .def_prop_ro("size", &hlo::Literal::element_count)
      .def_prop_ro("nbytes", &hlo::Literal::size_bytes)
      .def_prop_ro("data", &Bytes, "The bytes of the elements, row by row: a memoryview.");
  AddConversions(array);
}

}  // namespace hlo_python

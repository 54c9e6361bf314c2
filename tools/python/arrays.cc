// Arrays: values that Python sees where they lie.
#include <cstring>

#include "tools/python/native.h"

namespace hlo_python {
namespace {

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
  nb::dict others;
  bool copy = false;
  for (const auto& [name, option] : options)
    if (nb::cast<std::string_view>(name) == "copy")
      copy = !option.is_none() && nb::cast<bool>(option);
    else
      others[name] = option;
  nb::object array;
  if (copy) {  // which its owner may write
    auto owned = std::make_unique<hlo::Literal>(value);
    void* const data = owned->mutable_untyped_data();
    const nb::capsule owner(owned.release(),
                            [](void* last) noexcept { delete static_cast<hlo::Literal*>(last); });
    array = nb::cast(nb::ndarray<nb::array_api>(data, sizes.size(), sizes.data(), owner, nullptr, code));
  } else {
    array = nb::cast(nb::ndarray<nb::array_api, nb::ro>(value.untyped_data(), sizes.size(), sizes.data(),
                                                        self, nullptr, code));
  }
  return array.attr("__dlpack__")(**others);
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
      .def("__dlpack__", &Dlpack, "DLPack's capsule; the memory is read only, but for a copy.")
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
      .def("__reduce__",
           [](nb::handle self) {
             return nb::make_tuple(Helper("_numpy", "from_npy"),
                                   nb::make_tuple(self.attr("npy")(), self.attr("dtype")));
           })
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

// Element types, shapes and what describes operations.
#include <nanobind/operators.h>

#include "tools/python/native.h"

namespace hlo_python {
namespace {

/// A field of a message of XLA's.
template <class T, class V>
struct Field {
  const char* name;
  V T::* member;
};

/// A class with a keyword for each field.
template <class T, class... V>
void AddMessage(nb::module_& m, const char* name, const char* doc, Field<T, V>... fields) {
  nb::class_<T> made(m, name, doc);
  made.def(
      "__init__",
      [fields...](T* self, V... values) {
        new (self) T();
        ((self->*(fields.member) = std::move(values)), ...);
      },
      (nb::arg(fields.name) = T().*(fields.member))...);
  (made.def_rw(fields.name, fields.member), ...);
}

void AddDimensionNumbers(nb::module_& m) {
  using Dot = hlo::DotDimensionNumbers;
  AddMessage<Dot>(
      m, "DotDimensionNumbers",
      "Which dimensions of a product are summed over, and which both operands share.",
      Field<Dot, std::vector<int64_t>>{"lhs_contracting_dimensions", &Dot::lhs_contracting_dimensions_},
      Field<Dot, std::vector<int64_t>>{"rhs_contracting_dimensions", &Dot::rhs_contracting_dimensions_},
      Field<Dot, std::vector<int64_t>>{"lhs_batch_dimensions", &Dot::lhs_batch_dimensions_},
      Field<Dot, std::vector<int64_t>>{"rhs_batch_dimensions", &Dot::rhs_batch_dimensions_});
  using Conv = hlo::ConvolutionDimensionNumbers;
  using Numbers = std::vector<int64_t>;
  AddMessage<Conv>(
      m, "ConvolutionDimensionNumbers",
      "What the dimensions of a convolution's input, kernel and output are.",
      Field<Conv, int64_t>{"input_batch_dimension", &Conv::input_batch_dimension_},
      Field<Conv, int64_t>{"input_feature_dimension", &Conv::input_feature_dimension_},
      Field<Conv, Numbers>{"input_spatial_dimensions", &Conv::input_spatial_dimensions_},
      Field<Conv, int64_t>{"kernel_input_feature_dimension", &Conv::kernel_input_feature_dimension_},
      Field<Conv, int64_t>{"kernel_output_feature_dimension", &Conv::kernel_output_feature_dimension_},
      Field<Conv, Numbers>{"kernel_spatial_dimensions", &Conv::kernel_spatial_dimensions_},
      Field<Conv, int64_t>{"output_batch_dimension", &Conv::output_batch_dimension_},
      Field<Conv, int64_t>{"output_feature_dimension", &Conv::output_feature_dimension_},
      Field<Conv, Numbers>{"output_spatial_dimensions", &Conv::output_spatial_dimensions_});
  using Gather = hlo::GatherDimensionNumbers;
  AddMessage<Gather>(
      m, "GatherDimensionNumbers", "How a gather reads its indices and forms its slices.",
      Field<Gather, Numbers>{"offset_dims", &Gather::offset_dims_},
      Field<Gather, Numbers>{"collapsed_slice_dims", &Gather::collapsed_slice_dims_},
      Field<Gather, Numbers>{"start_index_map", &Gather::start_index_map_},
      Field<Gather, int64_t>{"index_vector_dim", &Gather::index_vector_dim_},
      Field<Gather, Numbers>{"operand_batching_dims", &Gather::operand_batching_dims_},
      Field<Gather, Numbers>{"start_indices_batching_dims", &Gather::start_indices_batching_dims_});
  using Scatter = hlo::ScatterDimensionNumbers;
  AddMessage<Scatter>(
      m, "ScatterDimensionNumbers", "How a scatter reads its indices and places its updates.",
      Field<Scatter, Numbers>{"update_window_dims", &Scatter::update_window_dims_},
      Field<Scatter, Numbers>{"inserted_window_dims", &Scatter::inserted_window_dims_},
      Field<Scatter, Numbers>{"scatter_dims_to_operand_dims", &Scatter::scatter_dims_to_operand_dims_},
      Field<Scatter, int64_t>{"index_vector_dim", &Scatter::index_vector_dim_},
      Field<Scatter, Numbers>{"input_batching_dims", &Scatter::input_batching_dims_},
      Field<Scatter, Numbers>{"scatter_indices_batching_dims", &Scatter::scatter_indices_batching_dims_});
}

/// Whether an array lies otherwise than row by row.
bool HasOtherLayout(const hlo::Shape& shape) {
  bool found = shape.has_layout() && !(shape.layout() == hlo::LayoutUtil::MakeDescendingLayout(shape.rank()));
  for (const hlo::Shape& element : shape.tuple_shapes()) found |= HasOtherLayout(element);
  return found;
}
/// HLO text, with layouts where they are not what arrays have anyway: all that there is to a shape.
std::string TextOfShape(const hlo::Shape& shape) { return shape.ToString(HasOtherLayout(shape)); }

void AddShape(nb::module_& m) {
  nb::class_<hlo::Shape>(m, "Shape",
                         "The type of a value: an array with element type, sizes and layout, or a tuple.")
      .def(
          "__init__",
          [](hlo::Shape* self, std::string_view text) { new (self) hlo::Shape(Take(hlo::ParseShape(text))); },
          "text"_a,
          "From HLO text: `f32[2,3]`, `(f32[2], s32[])`, `f32[2,<=3]{1,0}`.\n\nRaises InvalidArgument.")
      .def(
          "__init__",
          [](hlo::Shape* self, hlo::PrimitiveType type, const std::vector<int64_t>& dimensions) {
            hlo::Shape shape(type, dimensions);
            Check(hlo::ShapeUtil::Validate(shape));
            new (self) hlo::Shape(std::move(shape));
          },
          "dtype"_a, "dimensions"_a,
          "An array; `dtype`: `f32`, `numpy.float32`, ….\n\nRaises InvalidArgument.")
      .def_static(
          "tuple",
          [](const std::vector<hlo::Shape>& elements) {
            hlo::Shape shape = hlo::Shape::Tuple(elements);
            Check(hlo::ShapeUtil::Validate(shape));
            return shape;
          },
          "elements"_a)
      .def_prop_ro("dtype", &hlo::Shape::element_type, "HLO's name of the element type: `f32`.")
      .def_prop_ro(
          "dimensions", [](const hlo::Shape& shape) { return nb::tuple(nb::cast(shape.dimensions())); },
          "Sizes; of dynamic dimensions the largest.")
      .def_prop_ro(
          "elements", [](const hlo::Shape& shape) { return shape.tuple_shapes(); }, "Of a tuple.")
      .def_prop_ro("is_tuple", &hlo::Shape::IsTuple)
      .def_prop_ro("is_array", &hlo::Shape::IsArray)
      .def_prop_ro("nbytes", [](const hlo::Shape& shape) { return hlo::ShapeUtil::ByteSizeOf(shape); })
      .def("__str__", &TextOfShape)
      .def("__repr__", [](const hlo::Shape& shape) { return "Shape('" + TextOfShape(shape) + "')"; })
      .def("__reduce__",
           [](nb::handle self) { return nb::make_tuple(self.type(), nb::make_tuple(nb::str(self))); })
      .def(
          "__eq__", [](const hlo::Shape& a, const hlo::Shape& b) { return TextOfShape(a) == TextOfShape(b); },
          nb::is_operator(), nb::sig("def __eq__(self, other: object, /) -> bool"))
      .def("__hash__", [](const hlo::Shape& shape) { return std::hash<std::string>()(TextOfShape(shape)); });
  nb::implicitly_convertible<nb::str, hlo::Shape>();
  nb::class_<hlo::ProgramShape>(m, "ProgramShape", "Types of the parameters and the result of a computation.")
      .def_ro("parameters", &hlo::ProgramShape::parameters)
      .def_ro("parameter_names", &hlo::ProgramShape::parameter_names)
      .def_ro("result", &hlo::ProgramShape::result)
      .def("__str__", &hlo::ProgramShape::ToString)
      .def("__repr__",
           [](const hlo::ProgramShape& shape) { return "ProgramShape(" + shape.ToString() + ")"; });
}

/// Names of NumPy and ml_dtypes where they are not HLO's.
constexpr std::pair<std::string_view, hlo::PrimitiveType> kNames[] = {
    {"bool", hlo::PRED},
    {"int1", hlo::S1},
    {"int2", hlo::S2},
    {"int4", hlo::S4},
    {"int8", hlo::S8},
    {"int16", hlo::S16},
    {"int32", hlo::S32},
    {"int64", hlo::S64},
    {"uint1", hlo::U1},
    {"uint2", hlo::U2},
    {"uint4", hlo::U4},
    {"uint8", hlo::U8},
    {"uint16", hlo::U16},
    {"uint32", hlo::U32},
    {"uint64", hlo::U64},
    {"float16", hlo::F16},
    {"float32", hlo::F32},
    {"float64", hlo::F64},
    {"bfloat16", hlo::BF16},
    {"complex64", hlo::C64},
    {"complex128", hlo::C128},
    {"float4_e2m1fn", hlo::F4E2M1FN},
    {"float6_e2m3fn", hlo::F6E2M3FN},
    {"float6_e3m2fn", hlo::F6E3M2FN},
    {"float8_e3m4", hlo::F8E3M4},
    {"float8_e4m3", hlo::F8E4M3},
    {"float8_e4m3b11fnuz", hlo::F8E4M3B11FNUZ},
    {"float8_e4m3fn", hlo::F8E4M3FN},
    {"float8_e4m3fnuz", hlo::F8E4M3FNUZ},
    {"float8_e5m2", hlo::F8E5M2},
    {"float8_e5m2fnuz", hlo::F8E5M2FNUZ},
    {"float8_e8m0fnu", hlo::F8E8M0FNU},
};

}  // namespace

hlo::PrimitiveType TypeOfName(std::string_view name) {
  for (const auto& [known, type] : kNames)
    if (known == name) return type;
  return hlo::PrimitiveTypeFromName(name);
}

hlo::PrimitiveType TypeOf(nb::handle value) {
  if (const auto text = TextOf(value)) return TypeOfName(*text);
  for (const char* attribute : {"name", "__name__", "dtype"}) {
    const nb::object found = nb::steal(PyObject_GetAttrString(value.ptr(), attribute));
    if (!found.is_valid()) {
      PyErr_Clear();
      continue;
    }
    if (const auto text = TextOf(found)) {
      if (const hlo::PrimitiveType type = TypeOfName(*text); type != hlo::PRIMITIVE_TYPE_INVALID) return type;
    } else if (std::string_view(attribute) == "dtype" && found.ptr() != value.ptr() &&
               !nb::hasattr(found, "dtype")) {
      return TypeOf(found);
    }
  }
  return hlo::PRIMITIVE_TYPE_INVALID;
}

void AddTypes(nb::module_& m) {
  AddShape(m);
  AddDimensionNumbers(m);
  // (HLO's name, NumPy's or ml_dtypes') of all element types.
  nb::list names;
  for (const auto& [name, type] : kNames)
    names.append(nb::make_tuple(std::string(hlo::PrimitiveTypeName(type)), std::string(name)));
  m.attr("_type_names") = nb::tuple(names);
}

}  // namespace hlo_python

// The builder: operations one by one, as the library's XlaBuilder has them.
#include <set>

#include "hlo/scopes.h"
#include "tools/python/native.h"

namespace hlo_python {
namespace {

std::shared_ptr<Builder> OwnerOf(hlo::XlaOp op) {
  return op.builder() == nullptr ? nullptr : static_cast<Builder*>(op.builder())->shared_from_this();
}

hlo::Shape ShapeOf(const Op& op) { return Take(op.builder->GetShape(op.op)); }

bool IsNumber(nb::handle value) {
  return PyBool_Check(value.ptr()) != 0 || PyLong_Check(value.ptr()) != 0 ||
         PyFloat_Check(value.ptr()) != 0 || PyComplex_Check(value.ptr()) != 0;
}

/// An operand of an operator: an operation; a number, of Python's or another one, that becomes a constant of
/// the other's type; an array that becomes one of its own type. Nothing for what is none of these.
std::optional<Op> OperandFor(const Op& other, nb::handle value) {
  if (nb::isinstance<Op>(value)) return nb::cast<Op>(value);
  const bool is_array = !IsNumber(value) && nb::hasattr(value, "dtype") && nb::hasattr(value, "shape");
  if (!IsNumber(value) && !is_array) return std::nullopt;
  const auto constant = [&](nb::handle from, const hlo::Shape* shape) {
    return Checked(other.builder->ConstantLiteral(ToLiteral(from, shape, "the operand", false), Here()));
  };
  const hlo::Shape scalar(ShapeOf(other).element_type(), {});
  if (!is_array) return constant(value, &scalar);
  if (nb::len(nb::handle(nb::object(value.attr("shape")))) != 0) return constant(value, nullptr);
  const nb::object number = value.attr("item")();
  // Those of ml_dtypes have no other number than themselves.
  return constant(IsNumber(number) ? number : nb::object(nb::float_(number)), &scalar);
}

template <class Function>
auto Operator(Function function, bool reversed) {
  return [function, reversed](const Op& self, nb::handle value) -> nb::object {
    const std::optional<Op> made = OperandFor(self, value);
    if (!made) return nb::borrow(Py_NotImplemented);
    const Op& other = *made;
    const hlo::XlaOp a = reversed ? other.op : self.op, b = reversed ? self.op : other.op;
    return nb::cast(Checked(function(nullptr, a, b, {}, Here())));
  };
}

/// As `>>` of C++: of signed integers arithmetic.
hlo::XlaOp ShiftRight(hlo::XlaBuilder* /*builder*/, hlo::XlaOp a, hlo::XlaOp b,
                      hlo::Span<const int64_t> /*broadcast_dimensions*/, hlo::Location location) {
  hlo::PlacedOp value(a);
  value.where = location;
  return value >> hlo::PlacedOp(b);
}

void AddOperators(nb::class_<Op>& op) {
  using Binary =
      hlo::XlaOp (*)(hlo::XlaBuilder*, hlo::XlaOp, hlo::XlaOp, hlo::Span<const int64_t>, hlo::Location);
  static constexpr struct {
    const char *name, *reversed;
    Binary function;
  } kBinary[] = {
      {"__add__", "__radd__", &hlo::ops::Add},    {"__sub__", "__rsub__", &hlo::ops::Sub},
      {"__mul__", "__rmul__", &hlo::ops::Mul},    {"__truediv__", "__rtruediv__", &hlo::ops::Div},
      {"__mod__", "__rmod__", &hlo::ops::Rem},    {"__pow__", "__rpow__", &hlo::ops::Pow},
      {"__and__", "__rand__", &hlo::ops::And},    {"__or__", "__ror__", &hlo::ops::Or},
      {"__xor__", "__rxor__", &hlo::ops::Xor},    {"__lshift__", "__rlshift__", &hlo::ops::ShiftLeft},
      {"__rshift__", "__rrshift__", &ShiftRight}, {"__lt__", nullptr, &hlo::ops::Lt},
      {"__le__", nullptr, &hlo::ops::Le},         {"__gt__", nullptr, &hlo::ops::Gt},
      {"__ge__", nullptr, &hlo::ops::Ge}};
  for (const auto& row : kBinary) {
    op.def(row.name, Operator(row.function, false), nb::is_operator(), "value"_a,
           nb::sig((std::string("def ") + row.name + "(self, value: Op | complex) -> Op").c_str()));
    if (row.reversed != nullptr)
      op.def(row.reversed, Operator(row.function, true), nb::is_operator(), "value"_a,
             nb::sig((std::string("def ") + row.reversed + "(self, value: Op | complex) -> Op").c_str()));
  }
  op.def("__neg__", [](const Op& self) { return Checked(hlo::ops::Neg(nullptr, self.op, Here())); })
      .def("__abs__", [](const Op& self) { return Checked(hlo::ops::Abs(nullptr, self.op, Here())); })
      .def("__invert__", [](const Op& self) { return Checked(hlo::ops::Not(nullptr, self.op, Here())); })
      .def("__bool__",
           [](const Op&) -> bool {
             throw nb::type_error("a value of a computation that is being built is neither true nor false");
           })
      .def("__matmul__", [](const Op& self, const Op& other) {
        return Checked(hlo::ops::Dot(nullptr, self.op, other.op, nullptr, std::nullopt, Here()));
      });
}

hlo::OpMetadata MetadataOf(const std::string& op_type, const std::string& op_name,
                           const std::string& source_file, int source_line) {
  hlo::OpMetadata metadata;
  metadata.set_op_type(op_type);
  metadata.set_op_name(op_name);
  metadata.set_source_file(source_file);
  metadata.set_source_line(source_line);
  return metadata;
}

void AddScopes(nb::class_<Builder>& builder) {
  builder
      .def(
          "set_op_metadata",
          [](Builder& self, const std::string& op_type, const std::string& op_name,
             const std::string& source_file,
             int source_line) { self.SetOpMetadata(MetadataOf(op_type, op_name, source_file, source_line)); },
          nb::kw_only(), "op_type"_a = "", "op_name"_a = "", "source_file"_a = "", "source_line"_a = 0,
          "Metadata of all instructions that are made from now on.")
      .def("clear_op_metadata", &Builder::ClearOpMetadata)
      .def(
          "set_sharding",
          [](Builder& self, const std::string& sharding) {
            self.SetSharding({sharding}, Here());
            Check(self.first_error());
          },
          "sharding"_a,
          "Of all results from now on, as HLO text has it: `{replicated}`, `{devices=[2,1]<=[2]}`.")
      .def("clear_sharding", &Builder::ClearSharding)
      .def(
          "set_frontend_attributes",
          [](Builder& self, const nb::dict& attributes) {
            hlo::FrontendAttributes made;
            for (const auto& [key, value] : attributes)
              made[nb::cast<std::string>(nb::str(key))] = nb::cast<std::string>(nb::str(value));
            self.SetFrontendAttributes(std::move(made), Here());
            Check(self.first_error());
          },
          "attributes"_a, "Of all instructions from now on.")
      .def("clear_frontend_attributes", &Builder::ClearFrontendAttributes);
}

}  // namespace

hlo::Location Here() {
  // Names of files live as long as places that were noted, which is as long as builders: to the end.
  static std::set<std::string> names;
  PyFrameObject* frame = PyEval_GetFrame();
  if (frame == nullptr) return hlo::Location::At("<python>", 0);
  const nb::object code = nb::steal(reinterpret_cast<PyObject*>(PyFrame_GetCode(frame)));
  const nb::object name = code.attr("co_filename");
  const auto text = TextOf(name);
  const auto line = static_cast<unsigned>(std::max(PyFrame_GetLineNumber(frame), 0));
  return hlo::Location::At(names.emplace(text.value_or("<python>")).first->c_str(), line);
}

Op Checked(hlo::XlaOp op) {
  if (!op.valid()) {
    if (op.builder() != nullptr) Check(op.builder()->first_error());
    Wrong("operands of no builder");
  }
  return {op, OwnerOf(op)};
}

void AddBuilder(nb::module_& m) {
  nb::class_<Op> op(
      m, "Op",
      "A value of the computation that a builder makes. Operators enqueue operations, on numbers too.");
  op.def_prop_ro("shape", &ShapeOf).def("__repr__", [](const Op& self) {
    return "Op(" + ShapeOf(self).ToString() + ")";
  });
  AddOperators(op);
  // NumPy leaves its arrays to the operators here, where it would take them apart.
  op.attr("__array_ufunc__") = nb::none();
  nb::class_<Builder> builder(m, "Builder",
                              "Makes one computation, operation by operation: its methods make values, the "
                              "functions of `hlo_toolkit.ops` what\n"
                              "is computed of them. What is wrong raises InvalidArgument with the line of "
                              "the call; such a builder stays so.");
  builder
      .def(nb::new_([](const std::string& name) { return std::make_shared<Builder>(name); }),
           "name"_a = "computation")
      .def_prop_ro("name", [](const Builder& self) { return self.name(); })
      .def(
          "constant",
          [](Builder& self, nb::handle value, const std::optional<hlo::Shape>& shape) {
            hlo::Literal literal = ToLiteral(value, shape ? &*shape : nullptr, "the constant", false);
            return Checked(self.ConstantLiteral(literal, Here()));
          },
          "value"_a, "shape"_a = nb::none(), "Of an array, or of numbers and nested lists of a `shape`.")
      .def(
          "build",
          [](Builder& self, const std::optional<Op>& root) {
            return Take(root ? self.Build(root->op, Here()) : self.Build(Here()));
          },
          "root"_a = nb::none(),
          "The module, whose result is `root`, or what was enqueued last. The builder is as new then.\n\n"
          "Raises InvalidArgument.")
      .def(
          "is_constant", [](const Builder& self, const Op& value) { return Take(self.IsConstant(value.op)); },
          "value"_a, "Whether a value is the same at each run.")
      .def(
          "compute_constant",
          [](const Builder& self, const Op& value) { return ToPython(Take(self.ComputeConstant(value.op))); },
          "value"_a, nb::sig("def compute_constant(self, value: Op) -> Array | tuple"),
          "The value of a constant, by the evaluator.")
      .def("__str__", &Builder::ToString, "HLO text of what there is so far.");
  AddScopes(builder);
  AddOps(m, builder);
}

}  // namespace hlo_python

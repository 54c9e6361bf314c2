// Modules, and what is done to them without running them.
#include "hlo/transform.h"
#include "tools/python/native.h"

namespace hlo_python {
namespace {

using Module = hlo::XlaComputation;

nb::bytes ToBytes(const std::string& bytes) { return nb::bytes(bytes.data(), bytes.size()); }

Module RunPasses(const Module& module, const std::string& pipeline, const nb::object& after_pass,
                 bool verify_each) {
  hlo::PassOptions options;
  options.verify_each = verify_each;
  std::optional<nb::python_error> raised;
  if (!after_pass.is_none())
    options.after_pass = [&](const hlo::PassEvent& event) {
      const nb::gil_scoped_acquire acquire;
      try {
        const nb::object answer = after_pass(event);
        return answer.is_none() || nb::cast<bool>(nb::bool_(answer));
      } catch (nb::python_error& error) {
        raised.emplace(std::move(error));
        return false;
      }
    };
  auto made = Unlocked([&] { return hlo::RunPasses(module, pipeline, options); });
  if (raised) throw std::move(*raised);
  return Take(std::move(made));
}

void AddPasses(nb::module_& m) {
  nb::class_<hlo::PassEvent>(m, "PassEvent", "One execution of a pass.")
      .def_ro("name", &hlo::PassEvent::pass)
      .def_ro("pipeline", &hlo::PassEvent::pipeline,
              "Names of the lists that it is in, outermost first: `simplify/fix`.")
      .def_ro("number", &hlo::PassEvent::number, "From 1 on.")
      .def_ro("changed", &hlo::PassEvent::changed)
      .def_ro("rewrites", &hlo::PassEvent::rewrites)
      .def_ro("instructions_before", &hlo::PassEvent::instructions_before)
      .def_ro("instructions_after", &hlo::PassEvent::instructions_after)
      .def_prop_ro(
          "seconds",
          [](const hlo::PassEvent& event) { return std::chrono::duration<double>(event.time).count(); })
      .def(
          "text", [](const hlo::PassEvent& event) { return event.text(); },
          "The module as it is now, without large constants. While it is told only.")
      .def("__repr__", [](const hlo::PassEvent& event) {
        return "PassEvent(" + std::to_string(event.number) + ", '" + event.pass +
               "', rewrites=" + std::to_string(event.rewrites) + ")";
      });
  m.def("pass_names", &hlo::PassNames, "The names of all passes, sorted; those of pipelines begin with `@`.");
}

hlo::DiffResult Compared(const Module& left, const Module& right, const std::string& format) {
  return Take(Unlocked([&] { return hlo::Diff(left, right, format); }));
}

void AddComparisons(nb::module_& m) {
  nb::class_<hlo::DiffResult>(m, "Diff",
                              "What differs between two modules, seen as graphs: instructions by kind.")
      .def_ro("equal", &hlo::DiffResult::equal)
      .def_ro("unchanged", &hlo::DiffResult::unchanged)
      .def_ro("moved", &hlo::DiffResult::moved)
      .def_ro("changed", &hlo::DiffResult::changed)
      .def_ro("removed", &hlo::DiffResult::removed)
      .def_ro("added", &hlo::DiffResult::added)
      .def_ro("report", &hlo::DiffResult::report)
      .def(
          "__bool__", [](const hlo::DiffResult& result) { return !result.equal; },
          "Whether there is a difference.")
      .def("_repr_html_", [](nb::handle self) { return Helper("_show", "diff_html")(self); })
      .def("__str__", [](const hlo::DiffResult& result) { return result.report; })
      .def("__repr__", [](const hlo::DiffResult& result) {
        return "Diff(equal=" + std::string(result.equal ? "True" : "False") +
               ", unchanged=" + std::to_string(result.unchanged) + ", moved=" + std::to_string(result.moved) +
               ", changed=" + std::to_string(result.changed) + ", removed=" + std::to_string(result.removed) +
               ", added=" + std::to_string(result.added) + ")";
      });
  m.def("diff", &Compared, "left"_a, "right"_a, "format"_a = "text",
        "Compares two modules as graphs, whatever their names and order.\n\n"
        "`format` of the report: text, summary, json, side-by-side, dot, html. Raises InvalidArgument.");
  nb::class_<hlo::CompareResult>(m, "Comparison", "How far values are apart.")
      .def_ro("matched", &hlo::CompareResult::matched)
      .def_ro("elements", &hlo::CompareResult::elements)
      .def_ro("mismatches", &hlo::CompareResult::mismatches)
      .def_ro("max_abs", &hlo::CompareResult::max_abs, "Of all elements that differ.")
      .def_ro("max_rel", &hlo::CompareResult::max_rel)
      .def(
          "__bool__", [](const hlo::CompareResult& result) { return result.matched; }, "Whether they match.")
      .def("__repr__", [](const hlo::CompareResult& result) {
        return "Comparison(matched=" + std::string(result.matched ? "True" : "False") +
               ", mismatches=" + std::to_string(result.mismatches) + " of " +
               std::to_string(result.elements) + ", max_abs=" + std::to_string(result.max_abs) +
               ", max_rel=" + std::to_string(result.max_rel) + ")";
      });
  m.def(
      "compare",
      [](nb::handle actual, nb::handle expected, double abs, double rel) {
        const hlo::Literal a = ToLiteral(actual, nullptr, "the actual value", true);
        const hlo::Shape shape = a.shape();
        const hlo::Literal b = ToLiteral(expected, &shape, "the expected value", true);
        return Take(Unlocked([&] { return hlo::Compare(a, b, {abs, rel}); }));
      },
      "actual"_a, "expected"_a, "abs"_a = 0.0, "rel"_a = 0.0,
      "Compares arrays: an element may differ by one of `abs` and `rel`; NaN is NaN.\n\n"
      "Raises InvalidArgument for shapes that differ.");
}

/// What is done to modules, and how they are shown.
void AddWork(nb::class_<Module>& module) {
  module
      .def("run_passes", &RunPasses, "pipeline"_a, "after_pass"_a = nb::none(), "verify_each"_a = false,
           nb::sig("def run_passes(self, pipeline: str, after_pass: typing.Callable[[PassEvent], typing.Any] "
                   "| None = "
                   "None, verify_each: bool = False) -> Module"),
           "The module after a pipeline `item,item,…`: passes `dce`, passes with options\n"
           "`while-loop-unroller{unroll_factor=4}`, pipelines `@simplify`, and `fix(…)` of such.\n\n"
           "`after_pass` is told of every pass; if it gives a false value but None, no more of them run and "
           "Cancelled\n"
           "is raised. Raises InvalidArgument for what is no pipeline.")
      .def(
          "draw",
          [](const Module& module, const std::string& format) {
            return ToBytes(Take(Unlocked([&] { return hlo::Draw(module, format); })));
          },
          "format"_a = "svg",
          "A picture as the bytes of a file: dot, html (a page to look around in), svg, png, pdf.\n\n"
          "Raises InvalidArgument for other formats; Unavailable for svg, png and pdf without Graphviz's "
          "library.")
      .def(
          "diff",
          [](const Module& module, const Module& other, const std::string& format) {
            return Compared(module, other, format);
          },
          "other"_a, "format"_a = "text", "hlo_toolkit.diff() of this module and another one.")
      .def("_repr_html_", [](nb::handle self) { return Helper("_show", "module_html")(self); })
      .def("__str__", [](const Module& module) { return module.ToShortString(); })
      .def("__repr__", [](const Module& module) { return "Module('" + module.name() + "')"; })
      .def("__getstate__", [](const Module& module) { return module.ToString(); })
      .def("__setstate__",
           [](Module& self, const std::string& text) { new (&self) Module(Take(Module::FromText(text))); });
}

}  // namespace

void AddModules(nb::module_& m) {
  nb::class_<Module> module(m, "Module",
                            "A module of HLO that verifies. Nothing changes it: passes make new ones.");
  module
      .def(
          "__init__",
          [](Module* self, std::string_view text, std::string_view name) {
            new (self) Module(Take(Unlocked([&] { return Module::FromText(text, name); })));
          },
          "text"_a, "name"_a = "<text>",
          "Of HLO text; `name` is the text's in errors.\n\nRaises InvalidArgument, `name:line:column: …`.")
      .def_static(
          "from_bytes",
          [](const nb::bytes& bytes, const std::string& name) {
            const std::string_view view(bytes.c_str(), bytes.size());
            return Take(Unlocked([&] { return Module::FromBytes(view, name); }));
          },
          "bytes"_a, "name"_a = "<bytes>",
          "Of the bytes of a file: HLO text, or a protocol buffer HloModuleProto, HloProto or HloSnapshot, "
          "also as\n"
          "text or packed by gzip.\n\nRaises InvalidArgument.")
      .def_prop_ro("name", &Module::name)
      .def_prop_ro(
          "program_shape", [](const Module& module) { return Take(module.GetProgramShape()); },
          "Types of the parameters and the result.")
      .def("text", &Module::ToString, "HLO text, constants in full.")
      .def(
          "to_proto", [](const Module& module) { return ToBytes(Take(module.ToProto())); },
          "The bytes of an HloModuleProto. Raises Unavailable for what these have no field for.")
      .def(
          "verify", [](const Module& module) { Check(module.Verify()); },
          "Raises InvalidArgument with what is wrong.");
  AddWork(module);
  AddPasses(m);
  AddComparisons(m);
}

}  // namespace hlo_python

// What the tools do with computations and values: passes, pictures, comparisons.
#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "hlo/computation.h"
#include "hlo/literal.h"

namespace hlo_toolkit {

/// One execution of a pass.
struct PassEvent {
  std::string pass;
  std::string pipeline;  // names of the lists that it is in, outermost first: `simplify/fix`
  int64_t number = 0;    // from 1 on
  bool changed = false;
  int64_t rewrites = 0;
  int64_t instructions_before = 0, instructions_after = 0;
  std::chrono::nanoseconds time{0};
  std::function<std::string()> text;  // of the module, without large constants; while it is told
};

struct PassOptions {
  /// Told of every pass when it is done; false: no more of them, and CANCELLED.
  std::function<bool(const PassEvent&)> after_pass = {};
  bool verify_each = false;  // the module, after each pass
};

/// The computation after a pipeline, `item,item,…` of passes `dce`, passes with options
/// `while-loop-unroller{unroll_factor=4}`, pipelines `@simplify`, and `fix(…)` of such until nothing changes.
/// Errors: INVALID_ARGUMENT for what is no pipeline, those of the passes.
StatusOr<XlaComputation> RunPasses(const XlaComputation& computation, std::string_view pipeline,
                                   const PassOptions& options = {});
/// The names of all passes, sorted; those of pipelines begin with `@`.
std::vector<std::string> PassNames();

/// A picture as the bytes of a file; `format`: dot, html (a page to look around in), svg, png, pdf. Errors:
/// INVALID_ARGUMENT for other formats; UNAVAILABLE for svg, png and pdf without Graphviz's library.
StatusOr<std::string> Draw(const XlaComputation& computation, std::string_view format = "dot");

/// What differs between two computations, seen as graphs: how many instructions there are of each kind.
struct DiffResult {
  bool equal = false;
  int64_t unchanged = 0, moved = 0, changed = 0, removed = 0, added = 0;
  std::string report;
};
/// `format` of the report: text, summary, json, side-by-side, dot, html.
StatusOr<DiffResult> Diff(const XlaComputation& left, const XlaComputation& right,
                          std::string_view format = "text");

/// An element may differ by one of these, if not by both.
struct Tolerance {
  double abs = 0, rel = 0;
};
struct CompareResult {
  bool matched = false;
  int64_t elements = 0, mismatches = 0;
  double max_abs = 0, max_rel = 0;  // of all elements that differ
};
/// Compares arrays, and tuples of them; NaN is NaN. Errors: INVALID_ARGUMENT for shapes that differ and for
/// bounds that are negative or NaN.
StatusOr<CompareResult> Compare(const Literal& actual, const Literal& expected,
                                const Tolerance& tolerance = {});

}  // namespace hlo_toolkit

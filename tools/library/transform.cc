// What the tools do, on computations and literals.
#include "hlo/transform.h"

#include "ir/print.h"
#include "ir/support/interrupt.h"
#include "passes/pass_manager.h"
#include "tools/diff/compare/report.h"
#include "tools/library/convert.h"
#include "tools/run/compare.h"
#include "tools/viz/drawing/dot.h"
#include "tools/viz/drawing/graphviz.h"
#include "tools/viz/drawing/page.h"

namespace hlo_toolkit {

using internal::ComputationAccess;
using internal::LiteralAccess;
using internal::ToStatus;
using internal::Wrong;

namespace {

Status Null() { return {StatusCode::kInvalidArgument, "the computation is null"}; }

llvm::StringRef ToRef(std::string_view text) { return {text.data(), text.size()}; }

/// Tells of passes, and stops when it is told to.
class Teller final : public hlo::PassObserver {
 public:
  explicit Teller(const PassOptions& options) : options_(options) {}
  hlo::Status AfterPass(const hlo::Module& module, const hlo::PassExecution& execution) override {
    if (!options_.after_pass) return {};
    PassEvent event;
    event.pass = execution.pass->name.str();
    event.pipeline = execution.pipeline;
    event.number = execution.number;
    event.changed = execution.changed;
    event.rewrites = execution.rewrites;
    event.instructions_before = execution.instructions_before;
    event.instructions_after = execution.instructions_after;
    event.time = execution.time;
    event.text = [&module] { return hlo::ToString(module); };
    if (options_.after_pass(event)) return {};
    return hlo::Error("interrupted", {}, "stopped after pass '{0}'", event.pass);
  }

 private:
  const PassOptions& options_;
};

/// A copy whose computations are nobody else's.
XlaComputation NewComputation(std::unique_ptr<hlo::Module> module) {
  std::vector<uint64_t> ids;
  for (size_t i = 0; i < module->computations().size(); ++i) ids.push_back(internal::NextComputationId());
  return ComputationAccess::Make(std::move(module), std::move(ids));
}

/// By pairs of arrays.
hlo::Status CompareLeaves(const hlo::Literal& actual, const hlo::Literal& expected,
                          const hlo::Tolerance& tolerance, CompareResult& result) {
  if (!hlo::Compatible(actual.shape(), expected.shape()))
    return Wrong("{0} is compared with {1}", actual.shape(), expected.shape());
  if (actual.shape().IsTuple()) {
    for (size_t i = 0; i < actual.elements().size(); ++i)
      HLO_CHECK_OK(CompareLeaves(actual.elements()[i], expected.elements()[i], tolerance, result));
    return {};
  }
  if (!actual.shape().IsArray()) return {};
  const hlo::Comparison compared = hlo::Compare(actual, expected, tolerance);
  result.elements += compared.elements;
  result.mismatches += compared.mismatches;
  result.max_abs = std::max(result.max_abs, compared.max_abs);
  result.max_rel = std::max(result.max_rel, compared.max_rel);
  return {};
}

}  // namespace

StatusOr<XlaComputation> RunPasses(const XlaComputation& computation, std::string_view pipeline,
                                   const PassOptions& options) {
  const hlo::Module* module = ComputationAccess::Module(computation);
  if (!module) return Null();
  const auto items = hlo::ParsePipeline(ToRef(pipeline));
  if (!items) return ToStatus(items.error());
  std::unique_ptr<hlo::Module> copy = module->Clone();
  hlo::RewriteControls controls;
  hlo::PassManager manager(controls, {});
  manager.set_verify_each(options.verify_each);
  Teller teller(options);
  manager.AddObserver(teller);
  if (const auto ran = manager.Run(*copy, *items); !ran) return ToStatus(ran.error());
  return NewComputation(std::move(copy));
}

std::vector<std::string> PassNames() {
  std::vector<std::string> names;
  for (const hlo::PassInfo& pass : hlo::AllPasses()) names.push_back(pass.name.str());
  for (const hlo::PipelineInfo& pipeline : hlo::AllPipelines()) names.push_back("@" + pipeline.name.str());
  std::sort(names.begin(), names.end());
  return names;
}

StatusOr<std::string> Draw(const XlaComputation& computation, std::string_view format) {
  const hlo::Module* module = ComputationAccess::Module(computation);
  if (!module) return Null();
  std::string text;
  llvm::raw_string_ostream os(text);
  if (format == "html") {
    hlo::PageInput page;
    page.module = module;
    hlo::WritePage(os, page);
    return text;
  }
  const bool picture = format == "svg" || format == "png" || format == "pdf";
  if (format != "dot" && !picture)
    return Status(StatusCode::kInvalidArgument, "there is no form '" + std::string(format) +
                                                    "' of pictures; there are dot, html, svg, png, pdf");
  hlo::WriteDot(os, hlo::MakeDrawing(*module, {}));
  if (!picture) return text;
  auto drawn = hlo::RenderDot(text, ToRef(format), {});
  if (!drawn) return ToStatus(drawn.error());
  if (drawn->timed_out)
    return Status(StatusCode::kDeadlineExceeded, "the picture takes too long; html does not");
  return std::move(drawn->bytes);
}

StatusOr<DiffResult> Diff(const XlaComputation& left, const XlaComputation& right, std::string_view format) {
  const hlo::Module *a = ComputationAccess::Module(left), *b = ComputationAccess::Module(right);
  if (!a || !b) return Null();
  const hlo::DiffFormatInfo* info = hlo::FindDiffFormat(ToRef(format));
  if (!info) {
    std::string names;
    for (const hlo::DiffFormatInfo& known : hlo::AllDiffFormats())
      names += (names.empty() ? "" : ", ") + known.word.str();
    return Status(StatusCode::kInvalidArgument,
                  "there is no form '" + std::string(format) + "' of reports; there are " + names);
  }
  const hlo::ModuleDiff diff = hlo::CompareModules(*a, *b);
  DiffResult result;
  result.equal = diff.Equal();
  result.unchanged = diff.Count(hlo::DiffKind::Unchanged);
  result.moved = diff.Count(hlo::DiffKind::Moved);
  result.changed = diff.Count(hlo::DiffKind::Changed);
  result.removed = diff.Count(hlo::DiffKind::Removed);
  result.added = diff.Count(hlo::DiffKind::Added);
  hlo::DiffReport report{diff, a->name().str(), b->name().str(), {}};
  report.options.max_entries = info->entries;
  llvm::raw_string_ostream os(result.report);
  if (const hlo::Status written = info->write(os, report); !written) return ToStatus(written.error());
  return result;
}

StatusOr<CompareResult> Compare(const Literal& actual, const Literal& expected, const Tolerance& tolerance) {
  const hlo::Literal *a = LiteralAccess::Get(actual), *b = LiteralAccess::Get(expected);
  if (!a || !b) return Status(StatusCode::kInvalidArgument, "a literal has no value");
  for (const double bound : {tolerance.abs, tolerance.rel})
    if (!(bound >= 0))
      return Status(StatusCode::kInvalidArgument,
                    llvm::formatv("a bound of {0}, which is not at least 0", bound).str());
  hlo::Tolerance bounds;
  bounds.abs = tolerance.abs;
  bounds.rel = tolerance.rel;
  CompareResult result;
  if (const hlo::Status compared = CompareLeaves(*a, *b, bounds, result); !compared)
    return ToStatus(compared.error());
  result.matched = result.mismatches == 0;
  return result;
}

}  // namespace hlo_toolkit

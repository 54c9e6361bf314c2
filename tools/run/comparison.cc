// Results against expected ones and those of the reference platform.
#include "passes/analysis/loop_facts.h"
#include "tools/run/run_module.h"

namespace hlo {

using llvm::StringRef;

namespace {
constexpr StringRef kExpected = "expected";
}

Result<OutputComparison> ModuleRunner::PairOf(llvm::ArrayRef<Literal> results, size_t leaf, int64_t device,
                                              Literal expected) const {
  OutputComparison c;
  c.label = leaves_[leaf].Label();
  if (output_devices_.total() > 1)
    c.label = llvm::formatv("replica {0} partition {1} ", device / output_devices_.partitions,
                            device % output_devices_.partitions)
                  .str() +
              c.label;
  c.actual = PartAt(results[static_cast<size_t>(device)], leaves_[leaf].index);
  c.expected = std::move(expected);
  for (int64_t k = 0; k < c.actual.shape().rank(); ++k)
    if (c.actual.DynamicSize(k) != c.expected.DynamicSize(k))
      return Error("input-shape", {}, "{0}: dimension {1} has size {2}, expected value has {3}", c.label, k,
                   c.actual.DynamicSize(k), c.expected.DynamicSize(k));
  return c;
}

/// The bounds that options give; for values that someone wrote down, which may have few digits, the defaults
/// of tools.md §3.4, as far as they are small beside the values.
std::optional<Tolerance> ModuleRunner::GivenBounds(const Literal& expected, size_t leaf, bool typed) const {
  const ElementType type = leaves_[leaf].shape.element_type();
  const bool given = tolerances_.Given(type, leaves_[leaf].name);
  if (!given && (!typed || tolerances_.by_element())) return std::nullopt;
  Tolerance t = tolerances_.For(type, leaves_[leaf].name);
  if (!given) t.abs = std::min(t.abs, t.rel * ExtentOf(expected).mean);
  return t;
}

/// `expected` gives a value by output and device; comparisons are added to `all`.
Status ModuleRunner::CompareWith(
    StringRef name, llvm::ArrayRef<Literal> results,
    llvm::function_ref<Result<std::optional<Literal>>(size_t leaf, int64_t device)> expected,
    RoundingMeter* meter, std::vector<OutputComparison>& all) {
  std::vector<OutputComparison> own;
  std::vector<ComparedPair> measured;
  std::vector<size_t> leaf_of;
  own.reserve(leaves_.size() *
              static_cast<size_t>(output_devices_.total()));  // comparisons stay where they are
  for (int64_t d = 0; d < output_devices_.total(); ++d)
    for (size_t i = 0; i < leaves_.size(); ++i) {
      HLO_TRY(std::optional<Literal> value, expected(i, d));
      if (!value) continue;
      HLO_TRY(OutputComparison pair, PairOf(results, i, d, std::move(*value)));
      OutputComparison& c = own.emplace_back(std::move(pair));
      leaf_of.push_back(i);
      if (const auto bounds = GivenBounds(c.expected, i, name == kExpected && expected_.Typed(i)))
        FindVacuous(c.actual, c.result = Compare(c.actual, c.expected, *bounds));
      else
        measured.push_back({&c.actual, &c.expected, static_cast<size_t>(d), leaves_[i].index, &c.result});
    }
  std::string unmeasured;
  HLO_CHECK_OK(tolerances_.by_element()
                   ? CompareElementsWithinRounding(measured, tolerances_.nan(), meter, unmeasured)
                   : CompareWithinRounding(measured, tolerances_.nan(), meter, unmeasured));
  if (!unmeasured.empty()) {
    Diagnostic remark = UnmeasuredRemark(unmeasured);
    remark.file = input_.file;
    sink_.Report(std::move(remark));
  }
  for (size_t n = 0; n < own.size(); ++n) {
    OutputComparison& c = own[n];
    if (c.result.matched() && c.result.vacuous.empty() && IsUnchanged(leaf_of[n], results))
      c.result.vacuous = "other arguments do not change it";
    if (!c.result.matched()) {
      sink_.progress().Erase();
      PrintMismatch(text_, input_.file, result_.platform, name, c, options_.quiet);
    } else if (!c.result.vacuous.empty()) {
      if (vacuous_seen_.insert(c.label).second) vacuous_.push_back(c.label + ": " + c.result.vacuous);
    }
    worst_abs_ = std::max(worst_abs_, c.result.max_abs);
    worst_rel_ = std::max(worst_rel_, c.result.max_rel);
    all.push_back(std::move(c));
  }
  return {};
}

namespace {

/// Whether a loop may run as often as the arguments say, perhaps for ever.
bool HasUncountedLoop(const Module& module) {
  const auto is_loop = [](const Instruction* inst) { return inst->kind() == OpKind::While; };
  if (llvm::none_of(module.computations(),
                    [&](const auto& c) { return llvm::any_of(c->instructions(), is_loop); }))
    return false;
  const std::unique_ptr<Module> copy =
      module.Clone();  // what is known of loops is asked of ones that may change
  for (const auto& computation : copy->computations())
    for (Instruction* inst : computation->instructions()) {
      if (!is_loop(inst)) continue;
      const auto loop = AsTupleLoop(*inst);
      if (!loop || !CountTrips(*loop)) return true;
    }
  return false;
}

}  // namespace

bool ModuleRunner::IsUnchanged(size_t leaf, llvm::ArrayRef<Literal> results) {
  if (!unchanged_) {
    unchanged_.emplace(leaves_.size(), false);
    // What cannot be run again, for want of memory or of something to read, tells nothing.
    if (Status status = FindUnchanged(results); !status) {
      sink_.Verbose(1, "other arguments were not tried: " + status.error().message);
      unchanged_.emplace(leaves_.size(), false);
    }
  }
  return (*unchanged_)[leaf];
}

Status ModuleRunner::FindUnchanged(llvm::ArrayRef<Literal> results) {
  // Few values are possible for a truth value or a small counter: then several draws are the same by chance.
  constexpr uint64_t kDraws = 4;
  // Functions of the user may do more than compute.
  const bool parts = output_form_.cut() || options_.run_device;  // results are not those of the devices
  if (parts || shared_.libraries || !chain_.empty() || HasUncountedLoop(Original())) return {};
  llvm::SmallVector<size_t> left;
  for (size_t i = 0; i < leaves_.size(); ++i)
    if (leaves_[i].shape.IsArray() && leaves_[i].shape.ElementCount() > 0 &&
        DependsOnParameters(Original(), leaves_[i].index))
      left.push_back(i);
  const int64_t bytes = result_.argument_bytes + (memory_ ? memory_->peak() : 0);
  HLO_CHECK_OK(CheckMemory(bytes > INT64_MAX / 2 ? bytes : 2 * bytes, options_.memory_limit.bytes,
                           "running with other arguments"));
  RunOptions made_up = options_;
  made_up.input.clear();
  made_up.inputs.clear();
  made_up.force_fake_data = true;
  made_up.fake = RunOptions().fake;
  ArgumentSource source(made_up, Original(), devices_);
  HLO_CHECK_OK(source.Read());
  ExecutionOptions run = run_;
  run.on_instruction = {};
  run.profile = nullptr;
  for (uint64_t draw = 1; draw <= kDraws && !left.empty(); ++draw) {
    HLO_TRY(Arguments arguments, source.Make(static_cast<int64_t>(draw)));
    HLO_TRY(ExecutionResult other, program_->Run(std::move(arguments), run));
    const std::vector<Literal>& values = other.results;
    llvm::erase_if(left, [&](size_t leaf) {
      for (size_t d = 0; d < values.size(); ++d)
        if (!(PartAt(results[d], leaves_[leaf].index) == PartAt(values[d], leaves_[leaf].index))) return true;
      return false;
    });
  }
  for (const size_t leaf : left) (*unchanged_)[leaf] = true;
  return {};
}

void ModuleRunner::ReportVacuous() {
  if (vacuous_.empty()) return;
  Diagnostic warning =
      VacuousWarning(vacuous_, static_cast<int64_t>(leaves_.size()) * output_devices_.total());
  warning.loc = module_.entry()->root()->loc();
  sink_.Report(std::move(warning));
}

void ModuleRunner::PrintMatch() {
  if (options_.quiet) return;
  sink_.progress().Erase();
  std::string against = options_.expected.empty() ? "" : "expected";
  if (!result_.reference.empty())
    against += (against.empty() ? "" : " and ") +
               (result_.reference == result_.platform ? std::string("reference") : result_.reference);
  PrintMatchLine(text_, input_.file, result_.platform + " vs " + against, result_.comparisons.size(),
                 "output", worst_abs_, worst_rel_);
}

/// Compares every device's outputs; keeps the comparisons of the first iteration that mismatches.
Status ModuleRunner::CompareResults(llvm::ArrayRef<Literal> results, const Arguments& arguments) {
  if (!comparing()) return {};
  std::optional<RoundingMeter> meter;
  if (!output_form_.cut())
    meter.emplace(
        Original(), devices_.total(), options_.memory_limit.bytes,
        [&](const Executable& program, std::optional<uint64_t> seed) -> Result<std::vector<Literal>> {
          const uint64_t own = run_.rng_seed;
          run_.rng_seed = seed.value_or(own);
          auto result = Repeat(program, arguments, nullptr);
          run_.rng_seed = own;
          if (!result) return Error(std::move(result).error());
          if (options_.run_device)
            return std::vector{std::move(result->results[static_cast<size_t>(*options_.run_device)])};
          return std::move(result->results);
        });
  RoundingMeter* const rounding = meter ? &*meter : nullptr;
  std::vector<OutputComparison> comparisons;
  if (!options_.expected.empty())
    HLO_CHECK_OK(CompareWith(
        kExpected, results, [&](size_t leaf, int64_t d) { return expected_.For(leaf, d); }, rounding,
        comparisons));
  if (options_.reference != Reference::None) {
    result_.reference_status = "RUNTIME-ERROR";
    auto reference = Repeat(*reference_, arguments, nullptr);
    if (!reference) {
      Diagnostic error = std::move(reference).error();
      error.Note("on the reference platform");
      return Error(std::move(error));
    }
    result_.reference_status = "RAN";
    const std::vector<Literal> expected = GlobalResults(std::move(reference->results));
    HLO_CHECK_OK(CompareWith(
        result_.reference == result_.platform ? "reference" : StringRef(result_.reference), results,
        [&](size_t leaf, int64_t d) -> Result<std::optional<Literal>> {
          return std::optional(PartAt(expected[static_cast<size_t>(d)], leaves_[leaf].index));
        },
        rounding, comparisons));
  }
  const bool matched =
      llvm::all_of(comparisons, [](const OutputComparison& c) { return c.result.matched(); });
  result_.compared = true;
  if (result_.status == "MISMATCH") return {};
  result_.comparisons = std::move(comparisons);
  result_.status = matched ? "MATCHED" : "MISMATCH";
  if (matched) return {};
  sink_.Raise(ExitCode::Negative);
  return options_.again ? Status() : SaveMismatch(arguments);
}

}  // namespace hlo

#include "tools/diff/equivalence.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Format.h"

#include "backends/client/client.h"
#include "ir/support/interrupt.h"
#include "tools/run/devices.h"
#include "tools/run/expected.h"
#include "tools/run/result.h"
#include "tools/run/rounding_bounds.h"

namespace hlo {
namespace {

constexpr int64_t kRounds = 2;  // an output that is the same in both does not depend on the arguments

/// Why the modules cannot be run on the same arguments and compared; empty if they can.
std::string Obstacle(const Module& left, const Module& right) {
  for (const Module* module : {&left, &right}) {
    if (!module->entry() || !module->entry()->root()) return "a module has no entry computation";
    for (const auto& computation : module->computations())
      for (const Instruction* inst : computation->InstructionsOf(OpKind::Constant))
        if (!inst->attr<ConstantAttrs>().literal)
          return "%" + inst->name().str() + " of module '" + module->name().str() +
                 "' is an elided constant (--elided-constants)";
  }
  const auto a = left.entry()->ParameterShapes(), b = right.entry()->ParameterShapes();
  if (a.size() != b.size())
    return llvm::formatv("the modules have {0} and {1} parameters", a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i)
    if (!Compatible(a[i], b[i]))
      return llvm::formatv("parameter {0} is {1} in one module and {2} in the other", i,
                           ToString(a[i], /*with_layout=*/false), ToString(b[i], /*with_layout=*/false));
  const Shape &x = left.entry()->root()->shape(), &y = right.entry()->root()->shape();
  if (Compatible(x, y)) return "";
  return llvm::formatv("the results are {0} and {1}", ToString(x, /*with_layout=*/false),
                       ToString(y, /*with_layout=*/false));
}

Result<std::unique_ptr<Executable>> CompileOne(const Module& module, const ExecutionOptions& execution) {
  CompileOptions options;
  options.cpu.executions = kRounds;
  return Client(Platform::Cpu).Compile(module, options, execution);
}

/// Both modules on made-up arguments, and what became of it.
class Comparer {
 public:
  Comparer(const Module& left, const Module& right, DiffEquivalence& verdict)
      : left_(left), right_(right), leaves_(OutputLeaves(left)), verdict_(verdict) {}

  Status Run() {
    const RunOptions options;
    HLO_TRY(const DeviceCount devices, CountDevices(left_, options));
    HLO_TRY(const DeviceCount others, CountDevices(right_, options));
    if (devices.total() != others.total())
      return Error("usage-devices", {}, "the modules run on {0} and {1} devices", devices.total(),
                   others.total());
    execution_.replica_count = devices.replicas;
    execution_.partition_count = devices.partitions;
    HLO_TRY(left_program_, CompileOne(left_, execution_));
    HLO_TRY(right_program_, CompileOne(right_, execution_));
    ArgumentSource source(options, left_, devices);
    HLO_CHECK_OK(source.Read());
    verdict_.seed = source.seed();
    verdict_.outputs = static_cast<int64_t>(leaves_.size());
    verdict_.verdict = DiffVerdict::Equal;
    for (int64_t round = 0; round < kRounds; ++round) {
      HLO_TRY(const Arguments arguments, source.Make(round));
      HLO_CHECK_OK(Round(round, arguments));
      if (verdict_.verdict == DiffVerdict::Different) return {};
    }
    for (const OutputLeaf& leaf : leaves_)
      if (const auto why = vacuous_.find(leaf.Label()); why != vacuous_.end())
        verdict_.vacuous.push_back(leaf.Label() + ": " + why->second);
    if (!verdict_.vacuous.empty()) verdict_.verdict = DiffVerdict::Vacuous;
    return {};
  }

 private:
  Status Round(int64_t round, const Arguments& arguments) {
    HLO_TRY(ExecutionResult expected, left_program_->Run(arguments, execution_));
    HLO_TRY(ExecutionResult actual, right_program_->Run(arguments, execution_));
    RoundingMeter meter(
        left_, static_cast<int64_t>(expected.results.size()), /*memory_limit=*/0,
        [&](const Executable& program, std::optional<uint64_t> seed) -> Result<std::vector<Literal>> {
          ExecutionOptions execution = execution_;
          if (seed) execution.rng_seed = *seed;
          HLO_TRY(ExecutionResult result, program.Run(arguments, execution));
          return std::move(result.results);
        });
    std::vector<OutputComparison> comparisons;
    std::vector<ComparedPair> pairs;
    comparisons.reserve(leaves_.size() * expected.results.size());  // they stay where they are
    for (const OutputLeaf& leaf : leaves_)
      for (size_t d = 0; d < expected.results.size(); ++d) {
        OutputComparison& c =
            comparisons.emplace_back(OutputComparison{leaf.Label(),
                                                      PartAt(actual.results[d], leaf.index),
                                                      PartAt(expected.results[d], leaf.index),
                                                      {}});
        pairs.push_back({&c.actual, &c.expected, d, leaf.index, &c.result});
      }
    HLO_CHECK_OK(CompareWithinRounding(pairs, NanMode::Equal, &meter, verdict_.unmeasured));
    for (const OutputComparison& c : comparisons) Take(c);
    if (round == 0)
      first_ = std::move(expected.results);
    else
      FindUnchanged(expected.results);
    return {};
  }

  void Take(const OutputComparison& c) {
    verdict_.max_abs = std::max(verdict_.max_abs, c.result.max_abs);
    verdict_.max_rel = std::max(verdict_.max_rel, c.result.max_rel);
    if (!c.result.vacuous.empty()) vacuous_.try_emplace(c.label, c.result.vacuous);
    if (c.result.matched()) return;
    verdict_.verdict = DiffVerdict::Different;
    llvm::raw_string_ostream os(verdict_.details);
    PrintMismatch(os, "equivalence", "new", "old", c, /*brief=*/false);
  }

  void FindUnchanged(llvm::ArrayRef<Literal> second) {
    for (const OutputLeaf& leaf : leaves_) {
      bool same = leaf.shape.ElementCount() > 0;
      for (size_t d = 0; same && d < second.size(); ++d)
        same = PartAt(first_[d], leaf.index) == PartAt(second[d], leaf.index);
      if (same && DependsOnParameters(left_, leaf.index))
        vacuous_.try_emplace(leaf.Label(), "other arguments do not change it");
    }
  }

  const Module &left_, &right_;
  std::vector<OutputLeaf> leaves_;
  DiffEquivalence& verdict_;
  ExecutionOptions execution_;
  std::unique_ptr<Executable> left_program_, right_program_;
  std::vector<Literal> first_;            // of the left module in the first round
  llvm::StringMap<std::string> vacuous_;  // why, by output
};

}  // namespace

Result<DiffEquivalence> CheckEquivalence(const Module& left, const Module& right, DiagnosticSink& sink) {
  DiffEquivalence verdict;
  verdict.reason = Obstacle(left, right);
  if (!verdict.reason.empty()) return verdict;
  sink.progress().Update([] { return std::string("running both modules"); });
  if (auto status = Comparer(left, right, verdict).Run(); !status) {
    if (Interrupted()) return Error(std::move(status).error());
    verdict = {};
    verdict.reason = status.error().message;
  }
  if (!verdict.unmeasured.empty()) sink.Report(UnmeasuredRemark(verdict.unmeasured));
  if (!verdict.vacuous.empty()) sink.Report(VacuousWarning(verdict.vacuous, verdict.outputs));
  return verdict;
}

void WriteEquivalence(llvm::raw_ostream& os, const DiffEquivalence& e) {
  if (e.verdict == DiffVerdict::NotRun) {
    os << "equivalence: not checked: " << e.reason << '\n';
    return;
  }
  static constexpr llvm::StringLiteral kVerdicts[] = {"", "the modules agree", "the modules DISAGREE",
                                                      "nothing proves that the modules agree"};
  os << e.details << "equivalence: " << kVerdicts[static_cast<size_t>(e.verdict)];
  os << llvm::formatv(" on random arguments (seeds {0} and {1}, {2} output{3}, ", e.seed, e.seed + 1,
                      e.outputs, e.outputs == 1 ? "" : "s");
  if (e.verdict == DiffVerdict::Vacuous) os << e.vacuous.size() << " of them vacuous, ";
  if (e.max_abs == 0 && e.max_rel == 0 && e.verdict != DiffVerdict::Different)
    os << "no errors)\n";
  else
    os << "largest error abs " << llvm::format("%.2g", e.max_abs) << " rel "
       << llvm::format("%.2g", e.max_rel) << ")\n";
}

}  // namespace hlo

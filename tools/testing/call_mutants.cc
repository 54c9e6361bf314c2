#include "tools/testing/call_mutants.h"

#include <array>
#include <map>

#include "backends/client/client.h"
#include "backends/cpu/inspect.h"
#include "backends/run_devices.h"
#include "ir/verify.h"
#include "parser/parser.h"
#include "passes/rewrite/rule.h"
#include "tools/arrays/fake_values.h"
#include "tools/testing/call_mutations.h"
#include "tools/testing/execution.h"

namespace hlo::testing {
namespace {

constexpr int64_t kMostBytes = int64_t{4} << 20;  // of all values of a module that is run
constexpr int64_t kMostReports = 20;
constexpr int64_t kEnough = 40;  // mutants of a target among which some are accepted and some refused

std::string current;

/// What to compute with.
enum class Manner : uint8_t { Tame, Special, Some, Large, Zeros };

/// Adds to the diagonals of matrices more than their rows sum up to, so that systems are well conditioned.
void AddToDiagonals(Literal& value) {
  const Shape& shape = value.shape();
  const ElementType type = shape.element_type(), part = RealPartType(type);
  if (shape.rank() < 2 || (part != ElementType::F32 && part != ElementType::F64)) return;
  const int64_t rows = shape.dim(shape.rank() - 2), columns = shape.dim(shape.rank() - 1);
  const int64_t parts = IsComplex(type) ? 2 : 1;
  uint8_t* data = value.MutableData();
  for (int64_t i = 0; i < shape.ElementCount(); ++i) {
    if (i / columns % rows != i % columns) continue;
    if (part == ElementType::F32)
      reinterpret_cast<float*>(data)[i * parts] += 2;
    else
      reinterpret_cast<double*>(data)[i * parts] += 2;
  }
}

Literal MakeArgument(const Shape& shape, Manner manner, uint64_t seed, Dice& dice) {
  if (shape.IsTuple()) {
    std::vector<Literal> elements;
    for (const Shape& element : shape.tuple_shapes())
      elements.push_back(MakeArgument(element, manner, seed++, dice));
    return Literal::MakeTuple(std::move(elements));
  }
  if (!shape.IsArray()) return Literal::Make(shape);
  const bool number = IsFloat(shape.element_type()) || IsComplex(shape.element_type());
  ValueRule rule, special;
  special.kind = ValueKind::Edge;
  rule.kind = manner == Manner::Zeros     ? ValueKind::Zeros
              : manner == Manner::Special ? ValueKind::Edge
                                          : ValueKind::Uniform;
  rule.a = IsSigned(shape.element_type()) ? -1 : 0;
  rule.b = 12;
  if (number) {
    int64_t longest = 1;
    for (const int64_t d : shape.dims().take_back(2)) longest = std::max(longest, d);
    rule.b = 1.0 / static_cast<double>(longest);
    rule.a = -rule.b;
  }
  if (Info(shape.element_type()).bits < 8) rule.kind = ValueKind::Random;
  if (manner == Manner::Large) {
    rule.kind = ValueKind::Random;
    rule.large_float_range = true;
  }
  Literal value = MakeValue(shape, rule, {seed, 0, 0, 0});
  if (manner == Manner::Tame) AddToDiagonals(value);
  const int64_t count = shape.ElementCount();
  if (manner == Manner::Some && count > 0) {
    const Literal edge = MakeValue(shape, special, {seed, 0, 0, 0});
    const auto width = static_cast<size_t>(Info(shape.element_type()).host_bytes());
    for (int64_t n = dice.Between(1, 3); n > 0; --n)
      std::memcpy(value.MutableData() + static_cast<size_t>(dice.Below(count)) * width,
                  edge.data() + static_cast<size_t>(dice.Below(count)) * width, width);
  }
  return value;
}

std::vector<std::vector<Literal>> MakeArguments(const Module& module, Manner manner, Dice& dice) {
  std::vector<std::vector<Literal>> arguments(1);
  for (const Instruction* parameter : module.entry()->parameters()) {
    const uint64_t seed = dice.Next();
    arguments[0].push_back(MakeArgument(parameter->shape(), manner, seed, dice));
  }
  return arguments;
}

bool IsLarge(const Module& module) {
  int64_t all = 0;
  for (const auto& computation : module.computations())
    for (const Instruction* inst : computation->instructions())
      ForEachLeaf(inst->shape(), [&](const ShapeIndex&, const Shape& leaf) {
        const int64_t bytes = leaf.IsArray() ? ByteSize(leaf) : 0;
        all = std::min(kMostBytes + 1, all + (bytes < 0 ? kMostBytes + 1 : std::min(bytes, kMostBytes + 1)));
      });
  return all > kMostBytes;
}

/// One mutant on its way through everything.
class Mutant {
 public:
  enum class Outcome : uint8_t { Accepted, Unreadable, Invalid, NotRun, TooLarge, Wrong };

  Mutant(const std::string& text, bool changed, Dice& dice) : text_(text), changed_(changed), dice_(dice) {}

  Outcome Run() {
    const ParseResult parsed = ParseModule(text_, "mutant");
    if (!parsed.module) return Refused(Outcome::Unreadable, parsed.diagnostics);
    const std::vector<Diagnostic> violations = Verify(*parsed.module);
    const bool valid =
        llvm::none_of(violations, [](const Diagnostic& d) { return d.severity == Severity::Error; });
    if (!valid) return Refused(Outcome::Invalid, violations);
    module_ = parsed.module.get();
    manner_ = dice_.OneIn(2) ? Manner::Tame : static_cast<Manner>(dice_.Below(5));
    options_.report = [](const Diagnostic&) {};
    options_.store.on_disk = false;
    options_.passes.optimization_level = dice_.OneIn(3) ? 0 : 2;
    options_.cpu.check_memory = dice_.OneIn(4);
    options_.support = SupportCheck::Never;
    if (const Status supported = CheckSupported(*module_, {}); !supported) {
      (void)Client(Platform::Cpu).Compile(*module_, options_);
      return NotRun(supported.error());
    }
    if (IsLarge(*module_)) return Outcome::TooLarge;
    return CompareRuns(MakeArguments(*module_, manner_, dice_));
  }
  [[nodiscard]] const std::string& problem() const { return problem_; }

 private:
  Outcome Wrong(std::string problem) {
    problem_ = std::move(problem);
    return Outcome::Wrong;
  }

  Outcome Refused(Outcome outcome, llvm::ArrayRef<Diagnostic> why) {
    const auto error = llvm::find_if(why, [](const Diagnostic& d) { return d.severity == Severity::Error; });
    if (error == why.end()) return Wrong("refused without an error");
    if (error->message.empty() || !error->loc.valid())
      return Wrong("an error without text or place: " + error->message);
    if (!changed_) return Wrong("a call that fits is refused: " + error->message);
    return outcome;
  }

  Outcome NotRun(const Diagnostic& error) {
    for (const llvm::StringRef id : {"verify-", "internal", "kernel-", "memory-"})
      if (error.id.starts_with(id))
        return Wrong("a valid module does not run: " + error.message + " [" + error.id.str() + "]");
    return Refused(Outcome::NotRun, error);
  }

  Outcome CompareRuns(const std::vector<std::vector<Literal>>& arguments) {
    const auto expected = Client(Platform::Interpreter).Run(*module_, arguments);
    auto executable = Client(Platform::Cpu).Compile(*module_, options_);
    Result<ExecutionResult> actual = Decline({}, "");
    if (executable)
      actual = (*executable)->Run(arguments, {});
    else
      actual = Error(executable.error());
    if (!expected && !actual) return NotRun(actual.error());
    if (!expected) return Wrong("runs on cpu, but on the interpreter: " + expected.error().message);
    if (!actual) return Wrong("runs on the interpreter, but on cpu: " + actual.error().message);
    Differences differences;
    Compare(expected->results[0], actual->results[0], /*changes=*/0, /*bounded=*/true, /*floats=*/false,
            differences);
    if (differences.beyond == 0 || RoundsOtherwise(*expected, *actual)) return Outcome::Accepted;
    return Wrong("results differ: " + differences.first);
  }

  /// Loops of cpu's own compute factors in other ways than the evaluator, which shows in the last places;
  /// with infinities and the like anywhere.
  bool RoundsOtherwise(const ExecutionResult& expected, const ExecutionResult& actual) const {
    CpuOptions cpu = options_.cpu;
    static_cast<compile::PassPlan&>(cpu) = options_.passes;
    const auto ways = ExplainCode(*module_, cpu, [](llvm::StringRef) { return true; });
    if (!ways) return false;
    for (const llvm::StringRef line : llvm::split(*ways, '\n')) {
      if (!line.contains("custom-call: ") || line.contains("custom-call: general loops")) continue;
      if (!line.contains("factors in double precision") && !line.contains("library: ") &&
          !line.contains("loops of its own"))
        continue;
      Differences differences;
      if (manner_ == Manner::Tame && !HasConstants())
        Compare(expected.results[0], actual.results[0], kRounding | kSignedZero, /*bounded=*/true,
                /*floats=*/false, differences);
      return differences.beyond == 0;
    }
    return false;
  }

  /// They hold what no manner has chosen.
  [[nodiscard]] bool HasConstants() const {
    return llvm::any_of(module_->entry()->instructions(),
                        [](const Instruction* inst) { return inst->kind() == OpKind::Constant; });
  }

  const std::string& text_;
  bool changed_;
  Dice& dice_;
  const Module* module_ = nullptr;
  Manner manner_ = Manner::Tame;
  CompileOptions options_;
  std::string problem_;
};

void Count(CallCounts& counts, Mutant::Outcome outcome, bool changed) {
  switch (outcome) {
    case Mutant::Outcome::Accepted:
      ++counts.accepted;
      counts.unchanged += changed ? 0 : 1;
      break;
    case Mutant::Outcome::Unreadable: ++counts.unreadable; break;
    case Mutant::Outcome::Invalid: ++counts.invalid; break;
    case Mutant::Outcome::NotRun: ++counts.not_run; break;
    case Mutant::Outcome::TooLarge: ++counts.too_large; break;
    case Mutant::Outcome::Wrong: break;
  }
}

void PrintRow(llvm::raw_ostream& os, llvm::StringRef name, const CallCounts& c) {
  os << llvm::formatv("{0,-42} {1,8} {2,9} {3,10} {4,8} {5,7} {6,9}\n", name, c.accepted, c.unchanged,
                      c.unreadable, c.invalid, c.not_run, c.too_large);
}
void PrintHead(llvm::raw_ostream& os, llvm::StringRef what) {
  os << llvm::formatv("{0,-42} {1,8} {2,9} {3,10} {4,8} {5,7} {6,9}\n", what, "accepted", "unchanged",
                      "unreadable", "invalid", "not run", "too large");
}

/// The table by targets; how many were not tried out.
int64_t PrintTargets(llvm::raw_ostream& os, llvm::ArrayRef<CallCounts> counts, bool enough) {
  CallCounts all;
  int64_t problems = 0;
  PrintHead(os, "target");
  const auto signatures = AllCustomCallSignatures();
  for (size_t i = 0; i < counts.size(); ++i) {
    const CallCounts& c = counts[i];
    PrintRow(os, signatures[i].target, c);
    all.accepted += c.accepted;
    all.unchanged += c.unchanged;
    all.unreadable += c.unreadable;
    all.invalid += c.invalid;
    all.not_run += c.not_run;
    all.too_large += c.too_large;
    if (!enough) continue;
    const bool anything =
        signatures[i].free_operands && signatures[i].free_results && signatures[i].rule.empty();
    if (c.unchanged == 0 || (!anything && c.invalid == 0)) {
      os << "FAIL " << signatures[i].target << " was never " << (c.unchanged == 0 ? "accepted" : "refused")
         << '\n';
      ++problems;
    }
  }
  PrintRow(os, "all", all);
  return problems;
}

}  // namespace

const std::string& CurrentCallMutant() { return current; }

int64_t CheckCallMutants(const CallMutantOptions& options, llvm::raw_ostream& os) {
  const auto signatures = AllCustomCallSignatures();
  const auto mutations = AllCallMutations();
  std::vector<CallCounts> by_target(signatures.size()), by_mutation(mutations.size());
  int64_t problems = 0;
  for (int64_t number = options.from; number < options.from + options.count; ++number) {
    options.begin();
    Dice dice(options.seed, static_cast<uint64_t>(number));
    const size_t target = static_cast<size_t>(number) % signatures.size();
    CallText call = MakeCall(signatures[target], dice);
    // One in four stays as it is.
    current = llvm::formatv("mutant {0} of seed {1}\n", number, options.seed).str();
    std::vector<size_t> applied;
    for (int64_t n = dice.OneIn(4)   ? 0
                     : dice.OneIn(3) ? dice.Between(2, 3)
                                     : 1,
                 tries = 0;
         n > 0 && tries < 20; ++tries) {
      const auto m = static_cast<size_t>(dice.Below(static_cast<int64_t>(mutations.size())));
      if (!mutations[m].apply(call, dice)) continue;
      applied.push_back(m);
      --n;
    }
    const std::string text = ModuleText(call, dice);
    std::string names;
    for (const size_t m : applied) names += " " + mutations[m].name.str();
    current = llvm::formatv("mutant {0} of seed {1}:{2}\n{3}", number, options.seed, names, text).str();
    if (options.print) os << current;
    Mutant mutant(text, !applied.empty(), dice);
    const Mutant::Outcome outcome = mutant.Run();
    Count(by_target[target], outcome, !applied.empty());
    if (applied.size() == 1) Count(by_mutation[applied[0]], outcome, true);
    if (outcome == Mutant::Outcome::Wrong && ++problems <= kMostReports)
      os << "FAIL " << mutant.problem() << "\n" << current;
  }
  const bool enough = options.count >= kEnough * static_cast<int64_t>(signatures.size());
  problems += PrintTargets(os, by_target, enough);
  if (options.show_mutations) {
    PrintHead(os, "mutation alone");
    for (size_t m = 0; m < mutations.size(); ++m) PrintRow(os, mutations[m].name, by_mutation[m]);
  }
  os << llvm::formatv("{0} mutants of seed {1}, {2} problems\n", options.count, options.seed, problems);
  return problems;
}

}  // namespace hlo::testing

#include "tools/testing/soundness.h"

#include "ir/verify.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "parser/parser.h"
#include "passes/rules/rules.h"
#include "tools/run/arguments.h"
#include "tools/testing/command.h"
#include "tools/testing/retype.h"
#include "tools/testing/value_sets.h"

namespace hlo::testing {
namespace {

using T = ElementType;
constexpr ElementType kNarrowTypes[] = {T::Pred, T::S2, T::U2, T::S4, T::U4, T::F8E5M2, T::F8E4M3FN};
constexpr ElementType kWideTypes[] = {
    T::S8,  T::U8,  T::S16, T::U16,  T::S32, T::U32, T::S64,      T::U64,        T::BF16,       T::F16,
    T::F32, T::F64, T::C64, T::C128, T::S1,  T::U1,  T::F4E2M1FN, T::F8E4M3FNUZ, T::F8E5M2FNUZ, T::F8E8M0FNU};
constexpr size_t kComplaints = 3;  // kept per rule

// Lengths of operand arrays and numbers of trials.
constexpr int64_t kExhaustiveLength = int64_t{1} << 16, kWideLength = 8192, kVariedLength = 4096;
constexpr int64_t kManyConstants = 256, kFewConstants = 24;
constexpr int kRounds = 40;  // where arrays keep their sizes or scalars are among the operands

/// One module with a rule, in one type.
struct Trial {
  std::unique_ptr<Module> module;
  bool as_written = false;  // in the case's own type
  bool expanded = false;    // arrays hold combinations
  bool scalars = false;     // among the parameters, beside arrays
  Combinations plan;
  std::vector<Instruction*> constants;
};

class RuleChecker {
 public:
  RuleChecker(const SoundnessOptions& options, const TestCase& test, const PassRun& run, RuleReport& report)
      : options_(options), test_(test), run_(run), report_(report) {
    policy_ = PolicyOf(run.options);
    policy_.fast_math = !policy_.strict_fp;  // float changes are counted even if they need permission
  }

  void Run() {
    const ParseResult parsed = ParseModule(test_.text, "<case>");
    if (!parsed.module) return Complain("cannot be read");
    const std::unique_ptr<Module> as_written = parsed.module->Clone();
    const auto transformed = Transform(*as_written, run_, PolicyOf(run_.options));
    if (!transformed) return Complain(transformed.error().message);
    if (transformed->rules.count(report_.rule->name.str()) == 0) return Complain("the rule does not fire");
    ++report_.fired;
    // Random numbers need not be the same ones.
    const bool random = llvm::any_of(parsed.module->entry()->instructions(),
                                     [](const Instruction* i) { return i->kind() == OpKind::Rng; });
    if (random || !test_.no_execution.empty()) {
      ++report_.excused;
      return;
    }
    const ElementType from = MainType(*parsed.module);
    std::set<ElementType> types(std::begin(kNarrowTypes), std::end(kNarrowTypes));
    if (!options_.quick) types.insert(std::begin(kWideTypes), std::end(kWideTypes));
    types.insert(from);
    for (const ElementType to : types) CheckType(*parsed.module, from, to);
  }

 private:
  void Complain(const std::string& what) {
    if (report_.complaints.size() < kComplaints) report_.complaints.push_back(test_.name() + ": " + what);
  }

  [[nodiscard]] bool Only(llvm::StringRef rule) const { return llvm::is_contained(test_.rules, rule); }

  /// The module after the rule; null if it does not fire or fails, which is a violation.
  std::unique_ptr<Module> Rewritten(const Module& module, uint8_t& changes) {
    std::unique_ptr<Module> copy = module.Clone();
    auto result = Transform(*copy, run_, policy_, [this](llvm::StringRef rule) { return Only(rule); });
    if (!result) {
      Violation(module, result.error().message);
      return nullptr;
    }
    if (result->rules.count(report_.rule->name.str()) == 0) return nullptr;
    for (const Diagnostic& violation : Verify(*copy))
      if (violation.severity == Severity::Error) {
        Violation(module, violation.message);
        return nullptr;
      }
    changes = result->changes;
    return copy;
  }

  void Violation(const Module& module, const std::string& what) {
    ++report_.violations;
    Complain(llvm::formatv("in {0}: {1}", ToString(MainType(module)), what));
  }

  void CheckType(const Module& module, ElementType from, ElementType to) {
    Trial trial;
    trial.as_written = from == to;
    const std::unique_ptr<Module> same_size = Retyped(module, from, to);
    if (!same_size) return;
    std::vector<ElementType> types;
    bool arrays = false;
    for (const Instruction* inst : module.entry()->instructions())
      arrays |= inst->shape().IsArray() && inst->shape().rank() > 0;
    for (const Instruction* p : same_size->entry()->parameters()) {
      trial.scalars |= arrays && p->shape().IsScalar();
      if (p->shape().IsArray() && (p->shape().rank() > 0 || !arrays))
        types.push_back(p->shape().element_type());
    }
    const bool narrow = llvm::is_contained(kNarrowTypes, to);
    bool has_constants = false;
    for (const Instruction* inst : module.entry()->instructions())
      has_constants |= inst->kind() == OpKind::Constant;
    trial.plan = has_constants
                     ? PlanCombinations(types, kVariedLength, kVariedLength)
                     : PlanCombinations(types, kExhaustiveLength, narrow ? kExhaustiveLength : kWideLength);
    trial.module = types.empty() ? nullptr : Retyped(module, from, to, trial.plan.length);
    uint8_t changes = 0;
    trial.expanded = trial.module && Rewritten(*trial.module, changes) != nullptr;
    if (!trial.expanded) {
      trial.module = Retyped(module, from, to);
      trial.plan = {};
    }
    for (Instruction* inst : trial.module->entry()->instructions())
      if (inst->kind() == OpKind::Constant && inst->shape().IsArray()) trial.constants.push_back(inst);
    const int64_t before = report_.runs;
    TryConstants(trial);
    if (report_.runs == before) return;
    report_.types.insert(to);
    if (trial.expanded && !trial.scalars && trial.plan.exhaustive) report_.exhaustive.insert(to);
  }

  /// The case's own constants, then others in their place.
  void TryConstants(Trial& trial) {
    TryModule(trial, 0, trial.expanded && !trial.scalars ? 1 : kRounds);
    if (trial.constants.empty()) return;
    const int64_t wanted = options_.quick ? kFewConstants : kManyConstants;
    int64_t codes = 1;
    bool all = true;
    for (const Instruction* constant : trial.constants) {
      const int64_t count = ValueSet(constant->shape().element_type()).code_count();
      all &= count != 0 && codes * count <= wanted;
      codes *= all ? count : 1;
    }
    const int64_t variants = all ? codes : std::min<int64_t>(wanted, 64);
    Random random(7);
    for (int64_t v = 0; v < variants; ++v) {
      int64_t rest = v;
      for (Instruction* constant : trial.constants) {
        const ValueSet set(constant->shape().element_type());
        const int64_t special = std::ssize(set.special());
        const bool single = trial.constants.size() == 1 && v < special;
        const Element element = all      ? set.Code(rest % set.code_count())
                                : single ? set.special()[static_cast<size_t>(v)]
                                         : set.Draw(random);
        if (all) rest /= set.code_count();
        SetConstant(*constant, set, element, !all && v % 4 == 3, random);
      }
      TryModule(trial, static_cast<uint64_t>(v) + 1, trial.expanded && !trial.scalars ? 1 : 2);
    }
  }

  /// Every element the same, or every element another one.
  static void SetConstant(Instruction& constant, const ValueSet& set, const Element& element, bool mixed,
                          Random& random) {
    Literal literal = Literal::Zeros(constant.shape());
    for (int64_t i = 0; i < constant.shape().ElementCount(); ++i)
      SetElement(literal, i, mixed ? set.Draw(random) : element);
    constant.mutable_attrs().Mutable<ConstantAttrs>().literal = std::make_shared<Literal>(literal.Pack());
  }

  void TryModule(const Trial& trial, uint64_t seed, int rounds) {
    uint8_t changes = 0;
    const std::unique_ptr<Module> after = Rewritten(*trial.module, changes);
    if (!after) return;
    const bool floats = ConcernsFloats(*trial.module);
    for (int round = 0; round < rounds; ++round) {
      const auto arguments = Arguments(trial, seed * 64 + static_cast<uint64_t>(round));
      auto expected = Execute(*trial.module, arguments);
      if (!expected) {
        if (trial.as_written) Complain("cannot be executed: " + expected.error().message);
        return;
      }
      auto actual = Execute(*after, arguments);
      if (!actual) return Violation(*trial.module, actual.error().message);
      Differences d;
      for (size_t i = 0; i < expected->results.size(); ++i)
        Compare(expected->results[i], actual->results[i], changes, false, floats, d);
      ++report_.runs;
      report_.values += d.values;
      report_.float_mismatches += d.mismatches - d.beyond;
      if (d.beyond == 0) continue;
      Violation(*trial.module, ConstantsText(trial) + d.first);
      report_.violations += d.beyond - 1;
      return;
    }
  }

  static std::string ConstantsText(const Trial& trial) {
    std::string text;
    for (const Instruction* constant : trial.constants) {
      const Literal& literal = *constant->attr<ConstantAttrs>().literal;
      if (literal.shape().ElementCount() > 0)
        text += llvm::formatv("{0} = 0x{1:x-}…, ", constant->name(),
                              IsComplex(literal.shape().element_type()) ? 0 : literal.Bits(0));
    }
    return text;
  }

  std::vector<std::vector<Literal>> Arguments(const Trial& trial, uint64_t seed) {
    const Computation& entry = *trial.module->entry();
    const ValueRule base;
    auto arguments = MakeArguments(*trial.module, base, seed);
    std::vector<Shape> shapes;
    std::vector<size_t> numbers;
    const auto rules = TraceConstraints(*trial.module, base);
    Random random(seed);
    for (size_t p = 0; p < entry.parameters().size(); ++p) {
      const Shape& shape = entry.parameters()[p]->shape();
      if (!shape.IsArray() || rules[p].empty() || rules[p][0].kind != ValueKind::Random) continue;
      if (trial.expanded && shape.rank() > 0) {
        shapes.push_back(shape);
        numbers.push_back(p);
        continue;
      }
      const ValueSet set(shape.element_type());
      Literal literal = Literal::Zeros(shape);
      for (int64_t i = 0; i < shape.ElementCount(); ++i) SetElement(literal, i, set.Draw(random));
      for (auto& device : arguments) device[p] = literal;
    }
    const std::vector<Literal> arrays = MakeCombinations(shapes, trial.plan, seed);
    for (size_t i = 0; i < arrays.size(); ++i)
      for (auto& device : arguments) device[numbers[i]] = arrays[i];
    return arguments;
  }

  const SoundnessOptions& options_;
  const TestCase& test_;
  const PassRun& run_;
  RuleReport& report_;
  RewritePolicy policy_;
};

/// The cases with RULE lines below `folder`.
std::vector<TestCase> RuleCases(const std::string& folder, std::vector<std::string>& problems) {
  std::vector<std::string> files;
  std::error_code error;
  for (llvm::sys::fs::recursive_directory_iterator it(folder, error), end; it != end && !error;
       it.increment(error))
    if (llvm::StringRef(it->path()).ends_with("_test.hlo")) files.push_back(it->path());
  llvm::sort(files);
  std::vector<TestCase> cases;
  for (const std::string& path : files) {
    const auto buffer = llvm::MemoryBuffer::getFile(path);
    if (!buffer) continue;
    auto parsed = ParseTestFile(path, (*buffer)->getBuffer());
    if (!parsed) {
      problems.push_back(parsed.error().file + ": " + parsed.error().message);
      continue;
    }
    for (TestCase& test : *parsed)
      if (!test.rules.empty()) cases.push_back(std::move(test));
  }
  return cases;
}

/// The passes of the case's first command.
std::optional<PassRun> RunOf(const TestCase& test) {
  llvm::StringMap<std::string> substitutions;
  substitutions["s"] = "case.hlo";
  const auto stages = ParseCommand(test.runs.front().command, substitutions);
  if (!stages || stages->front().words.front() != "hlo-opt") return std::nullopt;
  auto run = ParsePassRun(llvm::ArrayRef(stages->front().words).drop_front());
  if (!run) return std::nullopt;
  return std::move(*run);
}

}  // namespace

std::vector<RuleReport> CheckRules(const SoundnessOptions& options, std::vector<std::string>& problems) {
  std::vector<RuleReport> reports;
  for (const RuleIndex::Entry& entry : AlgsimpRules().entries()) {
    reports.emplace_back();
    reports.back().rule = entry.rule;
  }
  for (const TestCase& test : RuleCases(options.root + "/passes", problems)) {
    const auto run = RunOf(test);
    for (const std::string& name : test.rules) {
      const auto report = llvm::find_if(reports, [&](const RuleReport& r) { return r.rule->name == name; });
      if (!run || report == reports.end()) {
        problems.push_back(test.name() + (run ? ": no rule is named " + name : ": no command with passes"));
        continue;
      }
      ++report->cases;
      if (!llvm::StringRef(name).contains(options.filter)) continue;
      RuleChecker(options, test, *run, *report).Run();
    }
  }
  llvm::erase_if(reports, [&](const RuleReport& r) { return !r.rule->name.contains(options.filter); });
  return reports;
}

void PrintRuleTable(llvm::raw_ostream& os, llvm::ArrayRef<RuleReport> reports) {
  os << llvm::formatv("{0,-12} {1,-10} {2,5} {3,5} {4,10} {5,11} {6,12} {7,10}\n", "rule", "licence", "cases",
                      "types", "exhaustive", "values", "float diffs", "violations");
  for (const RuleReport& r : reports) {
    const Licence& licence = r.rule->licence;
    const char* word = licence.exact() ? "exact" : licence.needs_fast_math ? "fast-math" : "changes";
    const char* note = !r.checked() ? "  NOT CHECKED" : r.runs == 0 ? "  not executed" : "";
    os << llvm::formatv("{0,-12} {1,-10} {2,5} {3,5} {4,10} {5,11} {6,12} {7,10}{8}\n", r.rule->name, word,
                        r.cases, r.types.size(), r.exhaustive.size(), r.values, r.float_mismatches,
                        r.violations, note);
    for (const std::string& complaint : r.complaints) os << "    " << complaint << '\n';
  }
  auto count = [&](auto&& test) { return llvm::count_if(reports, test); };
  os << llvm::formatv(
      "{0} rules; exact rules with a mismatch: {1}; other rules beyond their licence: {2}; "
      "rules without a check: {3}; not executed: {4}\n",
      reports.size(), count([](const RuleReport& r) { return !r.sound() && r.rule->licence.exact(); }),
      count([](const RuleReport& r) { return !r.sound() && !r.rule->licence.exact(); }),
      count([](const RuleReport& r) { return !r.checked(); }),
      count([](const RuleReport& r) { return r.checked() && r.runs == 0; }));
}

}  // namespace hlo::testing

#include "tools/testing/execution.h"

#include <cmath>

#include "ir/numeric/narrow_float.h"
#include "ir/verify.h"
#include "parser/parser.h"
#include "passes/rules/rules.h"
#include "tools/opt/passes.h"
#include "tools/run/arguments.h"

namespace hlo::testing {

uint64_t PartBits(const Literal& literal, int64_t i, int64_t part) {
  const ElementType type = literal.shape().element_type();
  if (!IsComplex(type)) return literal.Bits(i);
  const auto width = static_cast<size_t>(Info(RealPartType(type)).host_bytes());
  uint64_t bits = 0;
  std::memcpy(&bits, literal.data() + static_cast<size_t>(2 * i + part) * width, width);
  return bits;
}

std::string PartText(ElementType type, uint64_t bits) {
  if (IsFloat(type)) return llvm::formatv("{0} (0x{1:x-})", ToDouble(type, bits), bits).str();
  const int unused = 64 - Info(type).bits;
  if (!IsSigned(type)) return std::to_string(bits << unused >> unused);
  return std::to_string(static_cast<int64_t>(bits << unused) >> unused);
}

namespace {

constexpr int64_t kMaxElements = int64_t{1} << 22;  // of one value; larger modules take too long
constexpr double kRoundingUnits = 256;              // units in the last place that rounding may change

/// Rules by name.
const Rule* FindRule(llvm::StringRef name) {
  static const llvm::StringMap<const Rule*> rules = [] {
    llvm::StringMap<const Rule*> map;
    for (const RuleIndex::Entry& entry : AlgsimpRules().entries()) map[entry.rule->name] = entry.rule;
    return map;
  }();
  return rules.lookup(name);
}

/// True if the licence covers that `b` stands where `a` did.
bool Explained(ElementType type, uint64_t a_bits, uint64_t b_bits, uint8_t changes, bool bounded) {
  const double a = ToDouble(type, a_bits), b = ToDouble(type, b_bits);
  if (a == 0 && b == 0) return (changes & kSignedZero) != 0;
  if (std::isnan(a) || std::isnan(b)) return (changes & (kNan | kRange)) != 0;
  if (std::isinf(a) || std::isinf(b)) return (changes & kRange) != 0;
  if ((changes & kRange) != 0 && !bounded) return true;
  if ((changes & kRounding) == 0) return false;
  const double unit = std::ldexp(1.0, -Info(type).mantissa_bits);
  return !bounded || std::fabs(a - b) <= kRoundingUnits * unit * std::max({std::fabs(a), std::fabs(b), 1.0});
}

void CompareArrays(const Literal& before, const Literal& after, uint8_t changes, bool bounded, bool floats,
                   Differences& d) {
  const ElementType type = before.shape().element_type(), part_type = RealPartType(type);
  const int64_t parts = IsComplex(type) ? 2 : 1, count = before.shape().ElementCount();
  d.values += count * parts;
  if (before == after) return;
  for (int64_t i = 0; i < count; ++i)
    for (int64_t p = 0; p < parts; ++p) {
      const uint64_t a = PartBits(before, i, p), b = PartBits(after, i, p);
      const int unused = 64 - Info(part_type).bits;
      if ((a ^ b) << unused == 0) continue;
      const bool real = IsFloat(part_type);
      if (real && IsNanCode(part_type, a) && IsNanCode(part_type, b)) continue;
      const bool explained = real ? Explained(part_type, a, b, changes, bounded) : floats && changes != 0;
      ++d.mismatches;
      if (explained ? d.mismatches == 1 : d.beyond == 0)
        d.first = llvm::formatv("{0} element {1}: {2} before, {3} after", before.shape(), i,
                                PartText(part_type, a), PartText(part_type, b));
      d.beyond += explained ? 0 : 1;
    }
}

bool TooLarge(const Module& module) {
  for (const auto& c : module.computations())
    for (const Instruction* inst : c->instructions()) {
      bool large = false;
      ForEachLeaf(inst->shape(), [&](const ShapeIndex&, const Shape& leaf) {
        large |= leaf.IsArray() && leaf.ElementCount() > kMaxElements;
      });
      if (large) return true;
    }
  return false;
}

}  // namespace

RewritePolicy PolicyOf(const OptOptions& options) {
  RewritePolicy policy;
  policy.fast_math = options.passes.fast_math;
  policy.strict_fp = options.passes.strict_fp;
  return policy;
}

Result<PassRun> ParsePassRun(llvm::ArrayRef<std::string> arguments) {
  PassRun run;
  std::vector<const char*> args;
  for (const std::string& argument : arguments) args.push_back(argument.c_str());
  const std::vector<OptionGroup> groups = OptGroups(run.options);
  std::string text;
  llvm::raw_string_ostream os(text);
  const Started started = StartTool(OptTool(), groups, run.options.common, args, os, os);
  if (started.exit_code) return Error("usage-option", {}, "{0}", text);
  HLO_TRY(const PassRunner runner, PassRunner::Make(run.options));
  run.pipeline = runner.PipelineOf(nullptr);
  return run;
}

Result<Transformation> Transform(Module& module, const PassRun& run, const RewritePolicy& policy,
                                 llvm::function_ref<bool(llvm::StringRef)> only) {
  RewriteControls controls;
  controls.policy = policy;
  for (const std::string& rule : run.options.passes.disable_rule.items) controls.disabled_rules.insert(rule);
  for (const std::string& rule : run.options.passes.enable_rules_only.items)
    controls.enabled_rules.insert(rule);
  if (only)
    for (const RuleIndex::Entry& entry : AlgsimpRules().entries())
      if (!only(entry.rule->name)) controls.disabled_rules.insert(entry.rule->name);
  PassManager manager(controls, {});
  manager.set_check_changed_flag(true);
  manager.set_verify_each(true);
  HLO_CHECK_OK(manager.Run(module, run.pipeline));
  Transformation result;
  for (const PassExecution& execution : manager.executions())
    for (const auto& [name, count] : execution.counters)
      if (const Rule* rule = FindRule(name)) {
        result.rules[name] += count;
        result.changes |= rule->licence.changes;
      }
  return result;
}

void Compare(const Literal& before, const Literal& after, uint8_t changes, bool bounded, bool floats,
             Differences& differences) {
  if (!Compatible(before.shape(), after.shape())) {
    ++differences.beyond;
    differences.first = llvm::formatv("shape {0} before, {1} after", before.shape(), after.shape());
    return;
  }
  if (before.shape().IsTuple()) {
    for (size_t i = 0; i < before.elements().size(); ++i)
      Compare(before.elements()[i], after.elements()[i], changes, bounded, floats, differences);
    return;
  }
  if (!before.shape().IsArray()) return;
  if (before.HasDynamicSizes() || after.HasDynamicSizes()) {
    const Literal a = before.ToStatic(), b = after.ToStatic();
    if (!Compatible(a.shape(), b.shape()))
      return Compare(a, b, changes, bounded, floats, differences);  // reports the sizes
    return CompareArrays(a, b, changes, bounded, floats, differences);
  }
  CompareArrays(before, after, changes, bounded, floats, differences);
}

std::vector<std::vector<Literal>> MakeArguments(const Module& module, const ValueRule& rule, uint64_t seed) {
  const auto leaf_rules = TraceConstraints(module, rule);
  std::vector<Literal> arguments;
  for (const Instruction* parameter : module.entry()->parameters()) {
    const auto number = static_cast<size_t>(arguments.size());
    int64_t leaf = 0;
    std::function<Literal(const Shape&)> make = [&](const Shape& shape) -> Literal {
      if (shape.IsTuple()) {
        std::vector<Literal> elements;
        for (const Shape& element : shape.tuple_shapes()) elements.push_back(make(element));
        return Literal::MakeTuple(std::move(elements));
      }
      const ValueRule& leaf_rule = leaf_rules[number][static_cast<size_t>(leaf)];
      return MakeValue(shape, leaf_rule, {seed, static_cast<int64_t>(number), leaf++, 0});
    };
    arguments.push_back(make(parameter->shape()));
  }
  const auto devices = static_cast<size_t>(module.config.replica_count * module.config.num_partitions);
  return std::vector<std::vector<Literal>>(devices, arguments);
}

Result<ExecutionResult> Execute(const Module& module, std::vector<std::vector<Literal>> arguments) {
  ExecutionOptions options;
  options.replica_count = module.config.replica_count;
  options.partition_count = module.config.num_partitions;
  options.collective_timeout = std::chrono::milliseconds(5000);
  return Client(Platform::Interpreter).Run(module, std::move(arguments), options);
}

bool ConcernsFloats(const Module& module) {
  for (const auto& c : module.computations())
    for (const Instruction* inst : c->instructions()) {
      const Shape& shape = inst->shape();
      if (shape.IsArray() && (IsFloat(shape.element_type()) || IsComplex(shape.element_type()))) return true;
    }
  return false;
}

std::string CheckExecution(llvm::StringRef text, const PassRun& run, bool inexact) {
  const ParseResult parsed = ParseModule(text, "<case>");
  if (!parsed.module) return "the module cannot be read again for execution\n";
  const std::unique_ptr<Module> after = parsed.module->Clone();
  constexpr llvm::StringLiteral kHint = "; '// NOEXEC: reason' excuses a case that cannot be executed\n";
  if (TooLarge(*parsed.module)) return "the module is too large to be executed" + kHint.str();
  auto transformed = Transform(*after, run, PolicyOf(run.options));
  if (!transformed) return "the passes fail: " + transformed.error().message + "\n";
  uint8_t changes = transformed->changes;
  if (inexact) changes |= kRounding | kSignedZero;
  const bool floats = ConcernsFloats(*parsed.module);

  ValueRule random, edge;
  edge.kind = ValueKind::Edge;
  const std::tuple<const char*, ValueRule, uint64_t> kinds[] = {
      {"random", random, 1}, {"random", random, 2}, {"special", edge, 0}};
  for (const auto& [name, rule, seed] : kinds) {
    const auto arguments = MakeArguments(*parsed.module, rule, seed);
    auto expected = Execute(*parsed.module, arguments);
    if (!expected) return "cannot be executed: " + expected.error().message + kHint.str();
    auto actual = Execute(*after, arguments);
    if (!actual) return "cannot be executed after the passes: " + actual.error().message + "\n";
    Differences differences;
    const bool bounded = rule.kind != ValueKind::Edge;
    for (size_t d = 0; d < expected->results.size(); ++d) {
      Compare(expected->results[d], actual->results[d], changes, bounded, floats, differences);
      if (expected->outfeeds[d].size() != actual->outfeeds[d].size())
        return "other outfeeds after the passes\n";
      for (size_t i = 0; i < expected->outfeeds[d].size(); ++i)
        Compare(expected->outfeeds[d][i], actual->outfeeds[d][i], changes, bounded, floats, differences);
    }
    if (differences.beyond > 0)
      return llvm::formatv("executed on {0} inputs, {1} of {2} values differ after the passes: {3}\n", name,
                           differences.beyond, differences.values, differences.first)
          .str();
  }
  return "";
}

}  // namespace hlo::testing

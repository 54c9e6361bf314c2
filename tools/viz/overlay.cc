#include "tools/viz/overlay.h"

#include <map>

#include "ir/support/json.h"
#include "ir/support/line_table.h"
#include "passes/analysis/cost.h"
#include "passes/analysis/live_range.h"
#include "tools/diff/compare/module_diff.h"
#include "tools/modules/graph_input.h"
#include "tools/modules/inputs.h"
#include "tools/viz/drawing/quote.h"

namespace hlo {
namespace {

using llvm::StringRef;

constexpr size_t kMostChangeLines = 4;
constexpr size_t kLongestWord = 40;  // quoted of a file

/// Instructions by the names that files give them.
class NameIndex {
 public:
  explicit NameIndex(const Module& module) : module_(module) {}

  /// Null if there is none.
  const Instruction* Find(StringRef computation, StringRef name) {
    computation.consume_front("%");
    name.consume_front("%");
    const Computation* home = module_.FindComputation(computation);
    if (!home) return nullptr;
    auto [at, added] = names_.try_emplace(home);
    if (added)
      for (const Instruction* i : home->instructions()) at->second[i->name()] = i;
    return at->second.lookup(name);
  }
  const Instruction* Find(const JsonValue* entry) {
    if (!entry) return nullptr;
    return Find(entry->String("computation").value_or(""), entry->String("name").value_or(""));
  }

 private:
  const Module& module_;
  llvm::DenseMap<const Computation*, llvm::StringMap<const Instruction*>> names_;
};

std::string BytesValue(double value) { return FormatBytes(static_cast<int64_t>(value), /*decimal=*/true); }
std::string FlopsValue(double value) { return FormatScaled(value, "FLOP"); }
std::string ShareValue(double value) { return llvm::formatv("{0:F1} %", 100 * value).str(); }

double BytesWeight(const Instruction& inst, const CostAnalysis& costs) { return costs.Of(inst).bytes; }
double FlopsWeight(const Instruction& inst, const CostAnalysis& costs) { return costs.Of(inst).flops; }

/// Instructions by the lines that they were read from.
class LineIndex {
 public:
  explicit LineIndex(const Module& module) : module_(module) {}

  /// Those of a row of hlo.profile/1 about an instruction that a pass made.
  std::vector<const Instruction*> Find(const JsonArray* origins) {
    std::vector<const Instruction*> found;
    if (!origins) return found;
    if (by_line_.empty()) Read();
    for (const JsonValue& origin : *origins) {
      const auto at = by_line_.find(origin.Integer("line").value_or(0));
      if (at == by_line_.end()) continue;
      for (const Instruction* inst : at->second)
        if (inst->info().text == origin.String("opcode").value_or("")) found.push_back(inst);
    }
    return found;
  }

 private:
  void Read() {
    LineTable lines;
    for (const auto& computation : module_.computations())
      for (const Instruction* inst : computation->instructions())
        by_line_[lines.Line(inst->loc())].push_back(inst);
  }

  const Module& module_;
  std::map<int64_t, std::vector<const Instruction*>> by_line_;
};

/// What is measured, where it comes from, and how it is said.
struct MetricRow {
  HeatMetric metric;
  StringRef name, unit;
  std::string (*text)(double value);
  /// Of a row of hlo.profile/1, per run; nothing if it has none.
  std::optional<double> (*profiled)(const JsonValue& row, double runs);
  /// Without a profile; null: only with one.
  std::optional<double> (*counted)(const Instruction& inst, const CostAnalysis& costs);
  /// How instructions that ran as one share its value; null: each has all of it.
  double (*weight)(const Instruction& inst, const CostAnalysis& costs);
};

std::optional<double> Known(double value) { return value < 0 ? std::nullopt : std::optional(value); }

constexpr MetricRow kMetrics[] = {
    {HeatMetric::Time, "time", "ns", &FormatTime,
     [](const JsonValue& row, double runs) -> std::optional<double> {
       const auto ns = row.Number("time_ns");
       return ns ? std::optional(*ns / runs) : std::nullopt;
     },
     nullptr, &BytesWeight},
    {HeatMetric::Flops, "flops", "FLOP", &FlopsValue,
     [](const JsonValue& row, double runs) -> std::optional<double> {
       const auto flops = row.Number("flops");
       return flops ? std::optional(*flops / runs) : std::nullopt;
     },
     [](const Instruction& inst, const CostAnalysis& costs) { return Known(costs.Of(inst).flops); },
     &FlopsWeight},
    {HeatMetric::Bytes, "bytes", "B", &BytesValue,
     [](const JsonValue& row, double runs) -> std::optional<double> {
       const auto read = row.Number("bytes_read"), written = row.Number("bytes_written");
       if (!read && !written) return std::nullopt;
       return (read.value_or(0) + written.value_or(0)) / runs;
     },
     [](const Instruction& inst, const CostAnalysis& costs) { return Known(costs.Of(inst).bytes); },
     &BytesWeight},
    {HeatMetric::Roofline, "roofline", "", &ShareValue,
     [](const JsonValue& row, double /*runs*/) { return row.Number("roofline_fraction"); }, nullptr, nullptr},
    {HeatMetric::Memory, "memory", "B", &BytesValue, nullptr,
     [](const Instruction& inst, const CostAnalysis& /*costs*/) { return Known(ResultBytes(inst)); },
     nullptr},
};

/// Reads the files, one after another.
class OverlayReader {
 public:
  OverlayReader(const Module& module, const VizOptions& options, llvm::function_ref<void(Diagnostic)> report)
      : module_(module), options_(options), report_(report), index_(module), lines_(module) {}

  Result<VizOverlay> Read() {
    if (!options_.heat.empty()) HLO_CHECK_OK(ReadHeat());
    if (!options_.diff.empty()) HLO_CHECK_OK(ReadDiff());
    if (!options_.values.empty()) HLO_CHECK_OK(ReadValues());
    return std::move(overlay_);
  }

 private:
  static Result<JsonDocument> ReadObject(const std::string& file, StringRef schema) {
    HLO_TRY(std::string text, ReadInputText(file, ""));
    return ReadJsonObject(std::make_shared<SourceBuffer>(file, std::move(text)), schema);
  }

  /// The list that a member is; null if there is no such member.
  static Result<const JsonArray*> List(const JsonDocument& document, const JsonValue& object, StringRef key) {
    const JsonValue* member = object.Find(key);
    if (member && !member->AsArray()) return document.Wrong(*member, "'{0}' is not a list", key);
    return member ? member->AsArray() : nullptr;
  }
  /// What a list holds.
  static Status CheckObject(const JsonDocument& document, const JsonValue& value, StringRef list) {
    if (value.AsObject()) return {};
    return document.Wrong(value, "'{0}' holds what is not an object", list);
  }

  Status ReadHeat() {
    const bool counted_only = options_.heat == "static";
    JsonDocument profile;
    if (!counted_only) {
      HLO_TRY(profile, ReadObject(options_.heat, "hlo.profile/1"));
    }
    const CostAnalysis costs(module_);
    for (const MetricRow& row : kMetrics) {
      Heat heat{row.metric, row.name, row.unit, row.text, {}};
      if (!counted_only && row.profiled)
        HLO_CHECK_OK(Profiled(profile, row, costs, heat));
      else if (row.counted)
        ForEachInstruction([&](const Instruction& inst) {
          if (const auto value = row.counted(inst, costs)) heat.values.emplace_back(&inst, *value);
        });
      if (!heat.values.empty()) overlay_.heats.push_back(std::move(heat));
    }
    if (options_.heat_metric != HeatMetric::Unset && !ChosenHeat(overlay_, options_))
      return Error("usage-option", {},
                   "option '--heat-metric': '{0}' needs a profile that has it; found --heat={1}",
                   WordOf(options_.heat_metric), options_.heat);
    return {};
  }

  void ForEachInstruction(llvm::function_ref<void(const Instruction&)> f) {
    for (const auto& computation : module_.computations())
      for (const Instruction* inst : computation->instructions()) f(*inst);
  }

  Status Profiled(const JsonDocument& profile, const MetricRow& row, const CostAnalysis& costs, Heat& heat) {
    const double runs = std::max(profile.root.Number("runs").value_or(1), 1.0);
    HLO_TRY(const JsonArray* rows, List(profile, profile.root, "rows"));
    if (!rows) return {};
    llvm::DenseMap<const Instruction*, double> values;
    int64_t unknown = 0;
    for (const JsonValue& object : *rows) {
      HLO_CHECK_OK(CheckObject(profile, object, "rows"));
      const std::vector<const Instruction*> found = Profiled(object);
      if (found.empty())
        ++unknown;
      else if (const auto number = row.profiled(object, runs))
        Share(*number, found, row, costs, values);
    }
    if (row.metric == HeatMetric::Time) Unknown(options_.heat, unknown, static_cast<int64_t>(rows->size()));
    ForEachInstruction([&](const Instruction& inst) {
      if (const auto at = values.find(&inst); at != values.end()) heat.values.emplace_back(&inst, at->second);
    });
    return {};
  }

  /// The instruction that a row names; if a pass made that one, the instructions it was made of.
  std::vector<const Instruction*> Profiled(const JsonValue& row) {
    const Instruction* named = index_.Find(&row);
    if (named && row.String("opcode").value_or(named->info().text) == named->info().text) return {named};
    return lines_.Find(row.Array("origins"));
  }

  static void Share(double value, llvm::ArrayRef<const Instruction*> among, const MetricRow& row,
                    const CostAnalysis& costs, llvm::DenseMap<const Instruction*, double>& values) {
    const auto weight = [&](const Instruction* inst) { return std::max(row.weight(*inst, costs), 0.0); };
    double sum = 0;
    if (row.weight)
      for (const Instruction* inst : among) sum += weight(inst);
    for (const Instruction* inst : among) {
      if (!row.weight)
        values[inst] = std::max(values[inst], value);
      else
        values[inst] += sum > 0 ? value * weight(inst) / sum : value / static_cast<double>(among.size());
    }
  }

  void Unknown(StringRef file, int64_t unknown, int64_t all) {
    if (unknown == 0) return;
    Diagnostic warning =
        MakeError("overlay-unmatched", {}, "{0} of {1} entries name no instruction of module {2}", unknown,
                  all, module_.name());
    warning.severity = Severity::Warning;
    warning.file = file.str();
    report_(std::move(warning));
  }

  Status ReadDiff() {
    HLO_TRY(const JsonDocument diff, ReadObject(options_.diff, "hlo.diff/1"));
    overlay_.diff = diff.source->text().str();
    HLO_TRY(const JsonArray* entries, List(diff, diff.root, "entries"));
    if (!entries) return {};
    // The module may be either side: the one of which more instructions are found.
    const StringRef side = Found(*entries, "left") > Found(*entries, "right") ? "left" : "right";
    int64_t unknown = 0, absent = 0;
    for (const JsonValue& entry : *entries) {
      HLO_CHECK_OK(CheckObject(diff, entry, "entries"));
      const StringRef word = entry.String("kind").value_or("");
      const std::optional<DiffKind> kind = ParseDiffKind(word);
      if (!kind) {
        const JsonValue* at = entry.Find("kind");
        return diff.Wrong(at ? *at : entry, "entries[{0}].kind: found '{1}', expected {2}",
                          &entry - entries->data(), PrintableText(word, kLongestWord), Kinds());
      }
      if (*kind == DiffKind::Unchanged) continue;
      const JsonValue* place = entry.Object(side);
      const Instruction* inst = index_.Find(place);
      if (!inst) {
        ++(place ? unknown : absent);
        continue;
      }
      overlay_.marks.push_back({inst, ToString(*kind), std::string(1, MarkOf(*kind)), ChangeLines(entry)});
    }
    if (absent > 0)
      overlay_.notes.push_back(llvm::formatv("{0} {1} {2} not in this module", absent,
                                             side == "left" ? "added" : "removed",
                                             absent == 1 ? "instruction is" : "instructions are")
                                   .str());
    Unknown(options_.diff, unknown, static_cast<int64_t>(entries->size()));
    return {};
  }

  /// The words that an entry's kind may be.
  static std::string Kinds() {
    std::string words;
    for (int kind = 0; kind < kDiffKindCount; ++kind) {
      if (kind > 0) words += kind + 1 < kDiffKindCount ? ", " : " or ";
      words += ToString(static_cast<DiffKind>(kind));
    }
    return words;
  }

  int64_t Found(const JsonArray& entries, StringRef side) {
    int64_t found = 0;
    for (const JsonValue& entry : entries) found += index_.Find(entry.Object(side)) != nullptr;
    return found;
  }

  static std::vector<std::string> ChangeLines(const JsonValue& entry) {
    std::vector<std::string> lines;
    const JsonArray* changes = entry.Array("changes");
    if (!changes) return lines;
    for (const JsonValue& change : *changes) {
      if (lines.size() == kMostChangeLines) {
        lines.emplace_back("...");
        break;
      }
      lines.push_back(llvm::formatv("{0}: {1} -> {2}", change.String("path").value_or(""),
                                    change.String("left").value_or("(none)").take_front(64),
                                    change.String("right").value_or("(none)").take_front(64))
                          .str());
    }
    return lines;
  }

  Status ReadValues() {
    HLO_TRY(const JsonDocument run, ReadObject(options_.values, "hlo.run/1"));
    HLO_TRY(const JsonArray* modules, List(run, run.root, "modules"));
    bool found = false;
    for (size_t i = 0; modules && i < modules->size(); ++i) {
      const JsonValue& result = (*modules)[i];
      HLO_CHECK_OK(CheckObject(run, result, "modules"));
      if (modules->size() > 1 && result.String("module") != module_.name()) continue;
      found = true;
      if (const JsonValue* comparison = result.Object("comparison")) Mismatches(*comparison);
      if (const JsonValue* divergence = result.Object("divergence")) Divergence(*divergence);
    }
    if (!found) Unknown(options_.values, 1, 1);
    return {};
  }

  void Mismatches(const JsonValue& comparison) {
    const int64_t mismatches = comparison.Integer("mismatches").value_or(0);
    const Instruction* root = module_.entry()->root();
    if (comparison.Bool("matched").value_or(mismatches == 0)) return;
    // The result as a whole, and the elements of its tuple that the worst values belong to.
    InstructionMark whole{root, "mismatch", "!", {}};
    whole.lines.push_back(
        llvm::formatv("{0} of {1} elements mismatch", mismatches, comparison.Integer("elements").value_or(0))
            .str());
    std::map<int64_t, std::vector<std::string>> worst;
    const JsonArray* list = comparison.Array("worst");
    for (size_t i = 0; list && i < list->size(); ++i) {
      const JsonValue& entry = (*list)[i];
      const StringRef place = entry.String("index").value_or("");
      const std::string line =
          llvm::formatv("{0}: {1}, expected {2}", place, entry.String("actual").value_or(""),
                        entry.String("expected").value_or(""))
              .str();
      int64_t element = -1;
      StringRef digits = place.drop_while([](char c) { return !llvm::isDigit(c); });
      if (root->kind() != OpKind::Tuple || digits.consumeInteger(10, element) ||
          element >= root->operand_count())
        element = -1;
      if (worst[element].size() < kMostChangeLines) worst[element].push_back(line);
    }
    for (const auto& [element, lines] : worst) {
      if (element < 0)
        llvm::append_range(whole.lines, lines);
      else
        overlay_.marks.push_back({root->operand(element), "mismatch", "!", lines});
    }
    overlay_.marks.push_back(std::move(whole));
  }

  void Divergence(const JsonValue& divergence) {
    const Instruction* inst = index_.Find(&divergence);
    if (!inst) return Unknown(options_.values, 1, 1);
    overlay_.marks.push_back({inst, "divergence", "!", {"first divergence"}});
    for (const char* key : {"kind", "path"})
      if (const auto text = divergence.String(key))
        overlay_.marks.back().lines.push_back(key + (": " + *text).str());
  }

  const Module& module_;
  const VizOptions& options_;
  llvm::function_ref<void(Diagnostic)> report_;
  NameIndex index_;
  LineIndex lines_;
  VizOverlay overlay_;
};

}  // namespace

double ResultBytes(const Instruction& inst) {
  double sum = 0;
  ForEachLeaf(inst.shape(), [&](const ShapeIndex&, const Shape& leaf) {
    sum += static_cast<double>(std::max<int64_t>(BufferBytes(leaf), 0));
  });
  return sum;
}

Result<VizOverlay> ReadOverlay(const Module& module, const VizOptions& options,
                               llvm::function_ref<void(Diagnostic)> report) {
  return OverlayReader(module, options, report).Read();
}

const Heat* ChosenHeat(const VizOverlay& overlay, const VizOptions& options) {
  if (options.heat_metric == HeatMetric::Unset) return overlay.heats.empty() ? nullptr : overlay.heats.data();
  const auto heat =
      llvm::find_if(overlay.heats, [&](const Heat& h) { return h.metric == options.heat_metric; });
  return heat == overlay.heats.end() ? nullptr : &*heat;
}

}  // namespace hlo

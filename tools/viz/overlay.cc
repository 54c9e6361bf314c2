#include "tools/viz/overlay.h"

#include <map>

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
using llvm::json::Array;
using llvm::json::Object;

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
  const Instruction* Find(const Object* entry) {
    if (!entry) return nullptr;
    return Find(entry->getString("computation").value_or(""), entry->getString("name").value_or(""));
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
  std::vector<const Instruction*> Find(const Array* origins) {
    std::vector<const Instruction*> found;
    if (!origins) return found;
    if (by_line_.empty()) Read();
    for (const auto& value : *origins) {
      const Object* origin = value.getAsObject();
      if (!origin) continue;
      const auto at = by_line_.find(origin->getInteger("line").value_or(0));
      if (at == by_line_.end()) continue;
      for (const Instruction* inst : at->second)
        if (inst->info().text == origin->getString("opcode").value_or("")) found.push_back(inst);
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
  std::optional<double> (*profiled)(const Object& row, double runs);
  /// Without a profile; null: only with one.
  std::optional<double> (*counted)(const Instruction& inst, const CostAnalysis& costs);
  /// How instructions that ran as one share its value; null: each has all of it.
  double (*weight)(const Instruction& inst, const CostAnalysis& costs);
};

std::optional<double> Known(double value) { return value < 0 ? std::nullopt : std::optional(value); }

constexpr MetricRow kMetrics[] = {
    {HeatMetric::Time, "time", "ns", &FormatTime,
     [](const Object& row, double runs) -> std::optional<double> {
       const auto ns = row.getNumber("time_ns");
       return ns ? std::optional(*ns / runs) : std::nullopt;
     },
     nullptr, &BytesWeight},
    {HeatMetric::Flops, "flops", "FLOP", &FlopsValue,
     [](const Object& row, double runs) -> std::optional<double> {
       const auto flops = row.getNumber("flops");
       return flops ? std::optional(*flops / runs) : std::nullopt;
     },
     [](const Instruction& inst, const CostAnalysis& costs) { return Known(costs.Of(inst).flops); },
     &FlopsWeight},
    {HeatMetric::Bytes, "bytes", "B", &BytesValue,
     [](const Object& row, double runs) -> std::optional<double> {
       const auto read = row.getNumber("bytes_read"), written = row.getNumber("bytes_written");
       if (!read && !written) return std::nullopt;
       return (read.value_or(0) + written.value_or(0)) / runs;
     },
     [](const Instruction& inst, const CostAnalysis& costs) { return Known(costs.Of(inst).bytes); },
     &BytesWeight},
    {HeatMetric::Roofline, "roofline", "", &ShareValue,
     [](const Object& row, double /*runs*/) { return row.getNumber("roofline_fraction"); }, nullptr, nullptr},
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
  Status ReadHeat() {
    const bool counted_only = options_.heat == "static";
    Object profile;
    if (!counted_only) {
      HLO_TRY(const std::string text, ReadInputText(options_.heat, ""));
      HLO_TRY(profile, ParseJsonObject(text, options_.heat, "hlo.profile/1"));
    }
    const CostAnalysis costs(module_);
    for (const MetricRow& row : kMetrics) {
      Heat heat{row.metric, row.name, row.unit, row.text, {}};
      if (!counted_only && row.profiled)
        Profiled(profile, row, costs, heat);
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

  void Profiled(const Object& profile, const MetricRow& row, const CostAnalysis& costs, Heat& heat) {
    const double runs = std::max(profile.getNumber("runs").value_or(1), 1.0);
    const Array* rows = profile.getArray("rows");
    if (!rows) return;
    llvm::DenseMap<const Instruction*, double> values;
    int64_t unknown = 0;
    for (const auto& value : *rows) {
      const Object* object = value.getAsObject();
      const std::vector<const Instruction*> found =
          object ? Profiled(*object) : std::vector<const Instruction*>();
      if (found.empty())
        ++unknown;
      else if (const auto number = row.profiled(*object, runs))
        Share(*number, found, row, costs, values);
    }
    if (row.metric == HeatMetric::Time) Unknown(options_.heat, unknown, static_cast<int64_t>(rows->size()));
    ForEachInstruction([&](const Instruction& inst) {
      if (const auto at = values.find(&inst); at != values.end()) heat.values.emplace_back(&inst, at->second);
    });
  }

  /// The instruction that a row names; if a pass made that one, the instructions it was made of.
  std::vector<const Instruction*> Profiled(const Object& row) {
    const Instruction* named = index_.Find(&row);
    if (named && row.getString("opcode").value_or(named->info().text) == named->info().text) return {named};
    return lines_.Find(row.getArray("origins"));
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
    HLO_TRY(overlay_.diff, ReadInputText(options_.diff, ""));
    HLO_TRY(const Object diff, ParseJsonObject(overlay_.diff, options_.diff, "hlo.diff/1"));
    const Array* entries = diff.getArray("entries");
    if (!entries) return {};
    // The module may be either side: the one of which more instructions are found.
    const StringRef side = Found(*entries, "left") > Found(*entries, "right") ? "left" : "right";
    int64_t unknown = 0, absent = 0;
    for (const auto& value : *entries) {
      const Object* entry = value.getAsObject();
      const StringRef word = entry ? entry->getString("kind").value_or("") : "";
      const std::optional<DiffKind> kind = ParseDiffKind(word);
      if (!kind) {
        Diagnostic error = MakeError("input-format", {}, "entries[{0}].kind: found '{1}', expected {2}",
                                     &value - &entries->front(), PrintableText(word, kLongestWord), Kinds());
        error.file = options_.diff;
        return Error(std::move(error));
      }
      if (*kind == DiffKind::Unchanged) continue;
      const Object* place = entry->getObject(side);
      const Instruction* inst = index_.Find(place);
      if (!inst) {
        ++(place ? unknown : absent);
        continue;
      }
      overlay_.marks.push_back({inst, ToString(*kind), std::string(1, MarkOf(*kind)), ChangeLines(*entry)});
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

  int64_t Found(const Array& entries, StringRef side) {
    int64_t found = 0;
    for (const auto& value : entries)
      if (const Object* entry = value.getAsObject()) found += index_.Find(entry->getObject(side)) != nullptr;
    return found;
  }

  static std::vector<std::string> ChangeLines(const Object& entry) {
    std::vector<std::string> lines;
    const Array* changes = entry.getArray("changes");
    if (!changes) return lines;
    for (const auto& value : *changes) {
      const Object* change = value.getAsObject();
      if (!change) continue;
      if (lines.size() == kMostChangeLines) {
        lines.emplace_back("...");
        break;
      }
      lines.push_back(llvm::formatv("{0}: {1} -> {2}", change->getString("path").value_or(""),
                                    change->getString("left").value_or("(none)").take_front(64),
                                    change->getString("right").value_or("(none)").take_front(64))
                          .str());
    }
    return lines;
  }

  Status ReadValues() {
    HLO_TRY(const std::string text, ReadInputText(options_.values, ""));
    HLO_TRY(const Object run, ParseJsonObject(text, options_.values, "hlo.run/1"));
    const Array* modules = run.getArray("modules");
    bool found = false;
    for (size_t i = 0; modules && i < modules->size(); ++i) {
      const Object* result = (*modules)[i].getAsObject();
      if (!result || (modules->size() > 1 && result->getString("module") != module_.name())) continue;
      found = true;
      if (const Object* comparison = result->getObject("comparison")) Mismatches(*comparison);
      if (const Object* divergence = result->getObject("divergence")) Divergence(*divergence);
    }
    if (!found) Unknown(options_.values, 1, 1);
    return {};
  }

  void Mismatches(const Object& comparison) {
    const int64_t mismatches = comparison.getInteger("mismatches").value_or(0);
    const Instruction* root = module_.entry()->root();
    if (comparison.getBoolean("matched").value_or(mismatches == 0)) return;
    // The result as a whole, and the elements of its tuple that the worst values belong to.
    InstructionMark whole{root, "mismatch", "!", {}};
    whole.lines.push_back(llvm::formatv("{0} of {1} elements mismatch", mismatches,
                                        comparison.getInteger("elements").value_or(0))
                              .str());
    std::map<int64_t, std::vector<std::string>> worst;
    const Array* list = comparison.getArray("worst");
    for (size_t i = 0; list && i < list->size(); ++i) {
      const Object* entry = (*list)[i].getAsObject();
      if (!entry) continue;
      const StringRef place = entry->getString("index").value_or("");
      const std::string line =
          llvm::formatv("{0}: {1}, expected {2}", place, entry->getString("actual").value_or(""),
                        entry->getString("expected").value_or(""))
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

  void Divergence(const Object& divergence) {
    const Instruction* inst = index_.Find(&divergence);
    if (!inst) return Unknown(options_.values, 1, 1);
    overlay_.marks.push_back({inst, "divergence", "!", {"first divergence"}});
    for (const char* key : {"kind", "path"})
      if (const auto text = divergence.getString(key))
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

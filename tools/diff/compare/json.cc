// --output-format=json: `hlo.diff/1` (tools.md §4.3).
#include <cmath>

#include "ir/support/line_table.h"
#include "llvm/Support/JSON.h"
#include "tools/diff/compare/report.h"

namespace hlo {
namespace {

using llvm::StringRef;
using Json = llvm::json::OStream;

std::string Utf8(StringRef text) { return llvm::json::isUTF8(text) ? text.str() : llvm::json::fixUTF8(text); }

class DiffJson {
 public:
  DiffJson(llvm::raw_ostream& os, const DiffReport& report)
      : report_(report), json_(os, static_cast<unsigned>(report.options.json_indent)) {}

  void Write() {
    const ModuleDiff& diff = report_.diff;
    json_.object([&] {
      json_.attribute("schema", "hlo.diff/1");
      json_.attribute("tool", "hlo-diff");
      json_.attribute("version", HLO_VERSION);
      json_.attributeObject("left", [&] { WriteModule(*diff.left, report_.left_file); });
      json_.attributeObject("right", [&] { WriteModule(*diff.right, report_.right_file); });
      json_.attributeObject("summary", [&] {
        for (int kind = 0; kind < kDiffKindCount; ++kind)
          json_.attribute(ToString(static_cast<DiffKind>(kind)), diff.counts[kind]);
      });
      if (diff.cut_short) json_.attribute("cut_short", true);
      if (!diff.header.empty()) WriteChanges("header", diff.header);
      json_.attributeArray("entries", [&] {
        for (const DiffEntry& entry : diff.entries) WriteEntry(entry);
      });
      json_.attributeArray("computations", [&] {
        for (const ComputationMatch& match : diff.computations)
          json_.object([&] {
            if (match.left) json_.attribute("left", Utf8(match.left->name()));
            if (match.right) json_.attribute("right", Utf8(match.right->name()));
            json_.attribute("match", ToString(match.matched_by));
          });
      });
      if (report_.cost) WriteCosts(*report_.cost);
      if (report_.equivalence) WriteEquivalence(*report_.equivalence);
    });
  }

 private:
  void WriteCosts(const std::pair<DiffCost, DiffCost>& cost) {
    json_.attributeObject("cost", [&] {
      for (const auto& [side, c] : {std::pair("left", &cost.first), std::pair("right", &cost.second)})
        json_.attributeObject(side, [&, own = c] {
          json_.attribute("flops", own->flops);
          json_.attribute("transcendentals", own->transcendentals);
          json_.attribute("accessed_bytes", static_cast<int64_t>(own->bytes));
          if (own->memory_bytes >= 0) json_.attribute("memory_bytes", own->memory_bytes);
          json_.attribute("kernels", own->kernels);
        });
    });
  }

  void WriteEquivalence(const DiffEquivalence& e) {
    json_.attributeObject("equivalence", [&] {
      json_.attribute("verdict", ToString(e.verdict));
      if (e.verdict == DiffVerdict::NotRun) {
        json_.attribute("reason", Utf8(e.reason));
        return;
      }
      json_.attribute("seed", static_cast<int64_t>(e.seed));
      json_.attribute("outputs", e.outputs);
      WriteNumber("max_abs", e.max_abs);
      WriteNumber("max_rel", e.max_rel);
      if (!e.unmeasured.empty()) json_.attribute("unmeasured", Utf8(e.unmeasured));
      json_.attributeArray("vacuous", [&] {
        for (const std::string& output : e.vacuous) json_.value(Utf8(output));
      });
    });
  }

  /// NaN and infinities are strings.
  void WriteNumber(StringRef key, double value) {
    if (std::isfinite(value))
      json_.attribute(key, value);
    else
      json_.attribute(key, std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
  }

  void WriteModule(const Module& module, StringRef file) {
    json_.attribute("file", Utf8(file));
    json_.attribute("module", Utf8(module.name()));
    json_.attribute("instructions", module.InstructionCount());
  }

  void WriteChanges(StringRef key, llvm::ArrayRef<PropertyChange> changes) {
    json_.attributeArray(key, [&] {
      for (const PropertyChange& change : changes)
        json_.object([&] {
          json_.attribute("path", Utf8(change.path));
          if (!change.left.empty()) json_.attribute("left", Utf8(change.left));
          if (!change.right.empty()) json_.attribute("right", Utf8(change.right));
          if (!change.note.empty()) json_.attribute("note", Utf8(change.note));
        });
    });
  }

  void WriteSide(StringRef key, const Instruction* inst) {
    if (!inst) return;
    json_.attributeObject(key, [&] {
      json_.attribute("computation", Utf8(inst->parent()->name()));
      json_.attribute("name", Utf8(inst->name()));
      if (inst->loc().valid()) json_.attribute("line", lines_.Line(inst->loc()));
    });
  }

  void WriteEntry(const DiffEntry& entry) {
    if (entry.hidden) return;
    json_.object([&] {
      json_.attribute("kind", ToString(entry.kind));
      WriteSide("left", entry.left);
      WriteSide("right", entry.right);
      if (entry.matched_by != MatchedBy::Nothing) json_.attribute("matched_by", ToString(entry.matched_by));
      if (entry.moved && entry.kind == DiffKind::Changed) json_.attribute("moved", true);
      if (!entry.changes.empty()) WriteChanges("changes", entry.changes);
      if (!entry.note.empty()) json_.attribute("note", Utf8(entry.note));
      if (entry.group >= 0) json_.attribute("group", entry.group);
    });
  }

  const DiffReport& report_;
  Json json_;
  LineTable lines_;
};

}  // namespace

Status WriteDiffJson(llvm::raw_ostream& os, const DiffReport& report) {
  DiffJson(os, report).Write();
  os << '\n';
  return {};
}

}  // namespace hlo

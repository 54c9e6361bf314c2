// --output-format=json: `hlo.diff/1` (tools.md §4.3).
#include "ir/support/json.h"
#include "ir/support/line_table.h"
#include "tools/diff/compare/report.h"

namespace hlo {
namespace {

using llvm::StringRef;
using Json = JsonWriter;

class DiffJson {
 public:
  DiffJson(llvm::raw_ostream& os, const DiffReport& report)
      : report_(report), json_(os, static_cast<unsigned>(report.options.json_indent)) {}

  void Write() {
    const ModuleDiff& diff = report_.diff;
    json_.Object([&] {
      json_.Member("schema", "hlo.diff/1");
      json_.Member("tool", "hlo-diff");
      json_.Member("version", HLO_VERSION);
      json_.Object("left", [&] { WriteModule(*diff.left, report_.left_file); });
      json_.Object("right", [&] { WriteModule(*diff.right, report_.right_file); });
      json_.Object("summary", [&] {
        for (int kind = 0; kind < kDiffKindCount; ++kind)
          json_.Member(ToString(static_cast<DiffKind>(kind)), diff.counts[kind]);
      });
      if (diff.cut_short) json_.Member("cut_short", true);
      if (!diff.header.empty()) WriteChanges("header", diff.header);
      json_.Array("entries", [&] {
        for (const DiffEntry& entry : diff.entries) WriteEntry(entry);
      });
      json_.Array("computations", [&] {
        for (const ComputationMatch& match : diff.computations)
          json_.Object([&] {
            if (match.left) json_.Member("left", match.left->name());
            if (match.right) json_.Member("right", match.right->name());
            json_.Member("match", ToString(match.matched_by));
          });
      });
      if (report_.cost) WriteCosts(*report_.cost);
      if (report_.equivalence) WriteEquivalence(*report_.equivalence);
    });
  }

 private:
  void WriteCosts(const std::pair<DiffCost, DiffCost>& cost) {
    json_.Object("cost", [&] {
      for (const auto& [side, c] : {std::pair("left", &cost.first), std::pair("right", &cost.second)})
        json_.Object(side, [&, own = c] {
          json_.Member("flops", own->flops);
          json_.Member("transcendentals", own->transcendentals);
          json_.Member("accessed_bytes", static_cast<int64_t>(own->bytes));
          if (own->memory_bytes >= 0) json_.Member("memory_bytes", own->memory_bytes);
          json_.Member("kernels", own->kernels);
        });
    });
  }

  void WriteEquivalence(const DiffEquivalence& e) {
    json_.Object("equivalence", [&] {
      json_.Member("verdict", ToString(e.verdict));
      if (e.verdict == DiffVerdict::NotRun) {
        json_.Member("reason", e.reason);
        return;
      }
      json_.Member("seed", static_cast<int64_t>(e.seed));
      json_.Member("outputs", e.outputs);
      json_.Member("max_abs", e.max_abs);
      json_.Member("max_rel", e.max_rel);
      if (!e.unmeasured.empty()) json_.Member("unmeasured", e.unmeasured);
      json_.List("vacuous", e.vacuous);
    });
  }

  void WriteModule(const Module& module, StringRef file) {
    json_.Member("file", file);
    json_.Member("module", module.name());
    json_.Member("instructions", module.InstructionCount());
  }

  void WriteChanges(StringRef key, llvm::ArrayRef<PropertyChange> changes) {
    json_.Array(key, [&] {
      for (const PropertyChange& change : changes)
        json_.Object([&] {
          json_.Member("path", change.path);
          if (!change.left.empty()) json_.Member("left", change.left);
          if (!change.right.empty()) json_.Member("right", change.right);
          if (!change.note.empty()) json_.Member("note", change.note);
        });
    });
  }

  void WriteSide(StringRef key, const Instruction* inst) {
    if (!inst) return;
    json_.Object(key, [&] {
      json_.Member("computation", inst->parent()->name());
      json_.Member("name", inst->name());
      if (inst->loc().valid()) json_.Member("line", lines_.Line(inst->loc()));
    });
  }

  void WriteEntry(const DiffEntry& entry) {
    if (entry.hidden) return;
    json_.Object([&] {
      json_.Member("kind", ToString(entry.kind));
      WriteSide("left", entry.left);
      WriteSide("right", entry.right);
      if (entry.matched_by != MatchedBy::Nothing) json_.Member("matched_by", ToString(entry.matched_by));
      if (entry.moved && entry.kind == DiffKind::Changed) json_.Member("moved", true);
      if (!entry.changes.empty()) WriteChanges("changes", entry.changes);
      if (!entry.note.empty()) json_.Member("note", entry.note);
      if (entry.group >= 0) json_.Member("group", entry.group);
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

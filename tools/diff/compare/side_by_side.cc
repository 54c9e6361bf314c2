// --output-format=side-by-side: both modules in two columns, unchanged stretches folded.
#include "ir/print.h"
#include "llvm/ADT/StringExtras.h"
#include "tools/diff/compare/report.h"
#include "tools/viz/drawing/quote.h"

namespace hlo {
namespace {

constexpr int kNarrowestColumn = 16;

/// Characters, as far as the first byte of each tells.
size_t Width(llvm::StringRef text) {
  return static_cast<size_t>(llvm::count_if(text, [](char c) { return (c & 0xc0) != 0x80; }));
}

/// The text in exactly `width` characters, `...` telling of a cut.
std::string Fitted(llvm::StringRef text, size_t width) {
  const size_t have = Width(text);
  if (have <= width) return text.str() + std::string(width - have, ' ');
  size_t end = 0;
  for (size_t seen = 0; end < text.size(); ++end) {
    if ((text[end] & 0xc0) != 0x80 && ++seen > width - 3) break;
  }
  return text.take_front(end).str() + "...";
}

class SideBySide {
 public:
  SideBySide(llvm::raw_ostream& os, const DiffReport& report) : os_(os), report_(report) {
    const int width = (report.options.width - 3) / 2;
    column_ = static_cast<size_t>(std::max(width, kNarrowestColumn));
    print_.percent = print_.layouts = false;  // layouts that differ are told beneath
    print_.metadata = print_.backend_config = print_.frontend_attributes = print_.origin = false;
    for (const ComputationMatch& match : report.diff.computations)
      for (const Computation* side : {match.left, match.right})
        if (side) places_[side] = &match;
  }

  void Write() {
    WriteDiffHeading(os_, report_);
    os_ << '\n';
    const ModuleDiff& diff = report_.diff;
    Line(DiffKind::Unchanged, report_.left_file, report_.right_file);
    for (const PropertyChange& change : diff.header)
      Line(DiffKind::Changed, change.path + "=" + change.left, change.path + "=" + change.right);
    // Entries of one computation follow each other.
    const llvm::ArrayRef<DiffEntry> entries = diff.entries;
    for (size_t begin = 0; begin < entries.size();) {
      const ComputationMatch* here = PlaceOf(entries[begin]);
      size_t end = begin;
      while (end < entries.size() && PlaceOf(entries[end]) == here) ++end;
      WriteComputation(entries.slice(begin, end - begin));
      begin = end;
    }
    for (int kind = 0; kind < kDiffKindCount; ++kind)
      if (cut_[kind] > 0)
        os_ << "... " << cut_[kind] << " more " << ToString(static_cast<DiffKind>(kind))
            << " (--max-entries=0 shows all)\n";
  }

 private:
  [[nodiscard]] const ComputationMatch* PlaceOf(const DiffEntry& entry) const {
    return places_.lookup((entry.right ? entry.right : entry.left)->parent());
  }
  static std::string Name(const Computation* c) {
    return c ? ((c->IsEntry() ? "ENTRY %" : "%") + c->name()).str() : "";
  }

  void WriteComputation(llvm::ArrayRef<DiffEntry> entries) {
    const auto changed = [&](const DiffEntry& e) { return e.kind != DiffKind::Unchanged && !e.hidden; };
    if (llvm::none_of(entries, changed)) return;
    // What stands near a change is shown, too.
    std::vector<bool> shown(entries.size());
    const int64_t context = std::max<int64_t>(report_.options.context, 0);
    for (size_t i = 0; i < entries.size(); ++i) {
      if (!changed(entries[i]) || !Takes(entries[i].kind)) continue;
      const size_t from = i - std::min(i, static_cast<size_t>(context));
      const size_t to = std::min(entries.size() - 1, i + static_cast<size_t>(context));
      for (size_t k = from; k <= to; ++k)
        if (k == i || entries[k].kind == DiffKind::Unchanged) shown[k] = true;
    }
    if (llvm::none_of(shown, [](bool b) { return b; })) return;
    if (const ComputationMatch* match = PlaceOf(entries.front()))
      Line(DiffKind::Unchanged, Name(match->left), Name(match->right));
    last_move_.clear();
    int64_t folded = 0;
    for (size_t i = 0; i < entries.size(); ++i) {
      if (shown[i]) Fold(std::exchange(folded, 0));
      if (shown[i])
        WriteEntry(entries[i]);
      else if (entries[i].kind == DiffKind::Unchanged)
        ++folded;
    }
    Fold(folded);
  }

  /// Counts an entry against --max-entries.
  bool Takes(DiffKind kind) {
    const auto k = static_cast<size_t>(kind);
    const int64_t most = report_.options.max_entries;
    if (most > 0 && taken_[k] >= most) {
      ++cut_[k];
      return false;
    }
    ++taken_[k];
    return true;
  }

  void Fold(int64_t count) {
    if (count == 0) return;
    const std::string text = llvm::formatv("    ... {0} unchanged", count).str();
    Line(DiffKind::Unchanged, text, text);
  }

  [[nodiscard]] std::string Text(const Instruction* inst) const {
    if (!inst) return "";
    const std::string text = ToString(*inst, print_);
    return (inst->IsRoot() && !llvm::StringRef(text).starts_with("ROOT ") ? "  ROOT " : "  ") + text;
  }

  void WriteEntry(const DiffEntry& entry) {
    Line(entry.kind, Text(entry.left), Text(entry.right));
    for (const PropertyChange& change : entry.changes)
      Line(entry.kind, "      " + change.path + ": " + change.left,
           "      " + change.path + ": " + change.right +
               (change.note.empty() ? "" : " (" + change.note + ")"));
    if (!entry.left || !entry.right || (entry.note.empty() && !entry.moved)) return;
    const Computation *left = entry.left->parent(), *right = entry.right->parent();
    std::string where;
    if (left->name() != right->name()) where = ("from %" + left->name() + " ").str();
    if (!entry.note.empty()) where += "(" + entry.note + ")";
    // Neighbours mostly come from the same place.
    if (where != std::exchange(last_move_, where)) Line(entry.kind, "", "      " + where);
  }

  void Line(DiffKind kind, llvm::StringRef left, llvm::StringRef right) {
    const bool colour = report_.options.color && kind != DiffKind::Unchanged;
    if (colour) os_ << AnsiColorOf(kind);
    const std::string clean_left = PrintableText(left, left.size());
    const std::string clean_right = PrintableText(right, right.size());
    std::string line = Fitted(clean_left, column_) + ' ' + MarkOf(kind) + ' ';
    if (!right.empty()) line += Fitted(clean_right, column_);
    os_ << llvm::StringRef(line).rtrim();
    if (colour) os_ << kNoAnsiColor;
    os_ << '\n';
  }

  llvm::raw_ostream& os_;
  const DiffReport& report_;
  llvm::DenseMap<const Computation*, const ComputationMatch*> places_;
  size_t column_ = 0;
  std::string last_move_;
  PrintOptions print_;  // of instructions
  int64_t taken_[kDiffKindCount] = {}, cut_[kDiffKindCount] = {};
};

}  // namespace

Status WriteDiffSideBySide(llvm::raw_ostream& os, const DiffReport& report) {
  SideBySide(os, report).Write();
  return {};
}

}  // namespace hlo

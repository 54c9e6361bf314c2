// --output-format=text (tools.md §4.3).
#include "ir/print.h"
#include "ir/support/line_table.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/Path.h"
#include "tools/diff/compare/report.h"

namespace hlo {
namespace {

using llvm::StringRef;

constexpr size_t kMostCharacters = 160;  // of an instruction
constexpr size_t kMostOfValue = 60;      // of a property
constexpr size_t kPlaceColumn = 70;
constexpr size_t kMostNames = 6;  // in a list

constexpr StringRef kSectionColor = "\x1b[36m";  // of lines with `@@`

std::string Cut(StringRef text, size_t most) {
  if (text.size() <= most) return text.str();
  size_t end = most - 3;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;  // whole characters
  return text.take_front(end).str() + "...";
}

/// Two texts cut to where they differ.
std::pair<std::string, std::string> CutPair(StringRef a, StringRef b) {
  const size_t longest = std::max(a.size(), b.size());
  if (longest > kMostOfValue) {
    size_t same = 0;
    while (same < std::min(a.size(), b.size()) && a[same] == b[same]) ++same;
    constexpr size_t kLead = 16;
    if (same > kLead + 3) {
      size_t start = same - kLead;
      while (start < same && (static_cast<unsigned char>(a[start]) & 0xc0) == 0x80) ++start;
      return {"..." + Cut(a.drop_front(start), kMostOfValue), "..." + Cut(b.drop_front(start), kMostOfValue)};
    }
  }
  return {Cut(a, kMostOfValue), Cut(b, kMostOfValue)};
}

std::string NameOf(const Computation& c) { return (c.IsEntry() ? "ENTRY %" : "%") + c.name().str(); }

/// `%fused_computation.{0..2}`, or a list of names.
std::string NamesOf(llvm::ArrayRef<const Computation*> computations) {
  if (computations.size() == 1) return NameOf(*computations.front());
  std::vector<int64_t> numbers;
  StringRef stem;
  for (const Computation* c : computations) {
    const auto [head, tail] = c->name().rsplit('.');
    int64_t number = 0;
    if (tail.getAsInteger(10, number) || (!stem.empty() && stem != head)) break;
    stem = head;
    numbers.push_back(number);
  }
  std::string text;
  if (numbers.size() == computations.size()) {
    llvm::sort(numbers);
    for (size_t i = 0; i < numbers.size();) {
      size_t end = i + 1;
      while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) ++end;
      text += (text.empty() ? "" : ",") + std::to_string(numbers[i]);
      if (end > i + 1) text += (end > i + 2 ? ".." : ",") + std::to_string(numbers[end - 1]);
      i = end;
    }
    return "%" + stem.str() + ".{" + Cut(text, kMostOfValue) + "}";
  }
  for (const Computation* c : computations.take_front(3)) text += (text.empty() ? "" : ", ") + NameOf(*c);
  if (computations.size() > 3) text += " and " + std::to_string(computations.size() - 3) + " more";
  return text;
}

/// What places are told by: the files where these are short, their last components where they tell the two
/// apart, else words. The heading has the paths.
std::pair<StringRef, StringRef> ShortNames(StringRef left, StringRef right) {
  constexpr size_t kMost = 24;
  if (std::max(left.size(), right.size()) <= kMost) return {left, right};
  const StringRef a = llvm::sys::path::filename(left), b = llvm::sys::path::filename(right);
  if (a != b && std::max(a.size(), b.size()) <= kMost) return {a, b};
  return {"old", "new"};
}

class DiffText {
 public:
  DiffText(llvm::raw_ostream& os, const DiffReport& report)
      : os_(os), report_(report), options_(report.options), entries_(report.diff.entries) {
    std::tie(left_file_, right_file_) = ShortNames(report.left_file, report.right_file);
  }

  void Write() {
    WriteDiffHeading(os_, report_);
    os_ << '\n';
    WriteHeader();
    Choose();
    for (size_t i = 0; i < entries_.size(); ++i)
      if (shown_[i] != Shown::No) WriteChosen(i);
    WriteCuts();
  }

 private:
  enum class Shown : uint8_t { No, Context, Alone, Group };

  [[nodiscard]] StringRef FileOf(const DiffEntry& entry) const {
    return entry.right ? right_file_ : left_file_;
  }

  void Color(DiffKind kind) {
    if (options_.color) os_ << AnsiColorOf(kind);
  }
  void NoColor() {
    if (options_.color) os_ << kNoAnsiColor;
  }
  void Section(const llvm::Twine& text) {
    if (options_.color) os_ << kSectionColor;
    os_ << "@@ " << text << " @@";
    NoColor();
    os_ << '\n';
  }

  void WriteHeader() {
    if (report_.diff.header.empty()) return;
    Section("HloModule " + report_.diff.right->name());
    Color(DiffKind::Changed);
    os_ << MarkOf(DiffKind::Changed) << " header";
    NoColor();
    os_ << '\n';
    WriteChanges(report_.diff.header);
  }

  /// Which entries are written, and how: the first of a group for all, at most so many per kind.
  void Choose() {
    shown_.assign(entries_.size(), Shown::No);
    int64_t written[kDiffKindCount] = {};
    for (size_t i = 0; i < entries_.size(); ++i) {
      const DiffEntry& entry = entries_[i];
      const auto kind = static_cast<size_t>(entry.kind);
      const bool renamed = options_.show_renames && entry.kind == DiffKind::Unchanged && entry.left &&
                           entry.right && entry.left->name() != entry.right->name();
      if (entry.hidden || (entry.kind == DiffKind::Unchanged && !renamed)) continue;
      if (options_.group && entry.group >= 0) {
        auto& members = groups_[entry.group];
        members.push_back(i);
        if (members.size() > 1) {
          cut_[kind] += shown_[members.front()] == Shown::No;
          continue;
        }
      }
      if (options_.max_entries > 0 && written[kind] >= options_.max_entries) {
        ++cut_[kind];
        continue;
      }
      ++written[kind];
      shown_[i] = Shown::Alone;
    }
    for (auto& [number, members] : groups_)
      if (members.size() > 1 && shown_[members.front()] == Shown::Alone)
        shown_[members.front()] = Shown::Group;
    AddContext();
  }

  void AddContext() {
    std::vector<size_t> around;
    for (size_t i = 0; i < entries_.size(); ++i) {
      if (shown_[i] != Shown::Alone || entries_[i].kind == DiffKind::Unchanged) continue;
      for (const int step : {-1, 1}) {
        auto at = static_cast<int64_t>(i) + step;
        for (int64_t n = 0; n < options_.context && at >= 0 && at < static_cast<int64_t>(entries_.size());
             ++n, at += step) {
          const auto near = static_cast<size_t>(at);
          if (PlaceOf(entries_[near]) != PlaceOf(entries_[i]) || entries_[near].kind != DiffKind::Unchanged)
            break;
          around.push_back(near);
        }
      }
    }
    for (const size_t i : around)
      if (shown_[i] == Shown::No) shown_[i] = Shown::Context;
  }

  static const Computation* PlaceOf(const DiffEntry& entry) {
    return (entry.right ? entry.right : entry.left)->parent();
  }

  void WriteChosen(size_t i) {
    const DiffEntry& entry = entries_[i];
    if (const Computation* here = SectionOf(entry); here != section_) {
      section_ = here;
      Section(SectionTitle(*here));
    }
    Color(entry.kind);
    if (shown_[i] == Shown::Group)
      WriteGroup(entry);
    else
      WriteEntry(entry);
  }

  /// Removed instructions stand in the section of the counterpart of their computation.
  const Computation* SectionOf(const DiffEntry& entry) {
    if (entry.right) return entry.right->parent();
    if (counterparts_.empty())
      for (const ComputationMatch& match : report_.diff.computations)
        if (match.left) counterparts_[match.left] = match.right ? match.right : match.left;
    return counterparts_.lookup(entry.left->parent());
  }

  std::string SectionTitle(const Computation& here) {
    if (originals_.empty())
      for (const ComputationMatch& match : report_.diff.computations)
        if (match.right) originals_[match.right] = match.left;
    const auto found = originals_.find(&here);
    if (found == originals_.end()) return "- " + NameOf(here);
    if (!found->second) return "+ " + NameOf(here);
    return found->second->name() == here.name() ? NameOf(here)
                                                : NameOf(*found->second) + " -> " + NameOf(here);
  }

  std::string Place(const Instruction& inst, StringRef file) {
    const int64_t line = lines_.Line(inst.loc());
    return line == 0 ? file.str() : file.str() + ":" + std::to_string(line);
  }

  void WriteEntry(const DiffEntry& entry) {
    os_ << MarkOf(entry.kind) << ' ';
    const bool pair = entry.left && entry.right;
    if (pair && (entry.kind != DiffKind::Unchanged || entry.left->name() != entry.right->name())) {
      if (entry.kind == DiffKind::Unchanged && !options_.show_renames)
        return WriteText(*entry.right, right_file_);
      os_ << '%' << entry.left->name() << "  " << Place(*entry.left, left_file_) << " -> %"
          << entry.right->name() << "  " << Place(*entry.right, right_file_);
      if (entry.moved) {
        os_ << "  ";
        WriteMove(NameOf(*entry.left->parent()), NameOf(*entry.right->parent()), entry);
      }
      NoColor();
      os_ << '\n';
      return WriteChanges(entry.changes);
    }
    WriteText(entry.right ? *entry.right : *entry.left, FileOf(entry));
  }

  void WriteMove(StringRef from, StringRef to, const DiffEntry& entry) {
    const bool elsewhere = entry.note != kMovedInSchedule;
    if (elsewhere) os_ << from << " -> " << to << (entry.note.empty() ? "" : " ");
    if (!entry.note.empty()) os_ << '(' << entry.note << ')';
  }

  void WriteText(const Instruction& inst, StringRef file) {
    PrintOptions print;
    print.metadata = false;
    print.backend_config = false;
    std::string text = Cut((inst.IsRoot() ? "ROOT " : "") + ToString(inst, print), kMostCharacters);
    os_ << text;
    NoColor();
    os_.indent(static_cast<unsigned>(text.size() < kPlaceColumn ? kPlaceColumn - text.size() : 0))
        << "  " << Place(inst, file) << '\n';
  }

  void WriteChanges(llvm::ArrayRef<PropertyChange> changes) {
    std::vector<std::pair<std::string, std::string>> values;
    size_t path_width = 0, left_width = 0, right_width = 0;
    for (const PropertyChange& change : changes) {
      values.push_back(CutPair(change.left, change.right));
      if (values.back().first.empty()) values.back().first = "(none)";
      if (values.back().second.empty()) values.back().second = "(none)";
      path_width = std::max(path_width, change.path.size());
      left_width = std::max(left_width, values.back().first.size());
      if (!change.note.empty()) right_width = std::max(right_width, values.back().second.size());
    }
    for (size_t i = 0; i < changes.size(); ++i) {
      const auto& [left, right] = values[i];
      os_ << "    " << changes[i].path;
      os_.indent(static_cast<unsigned>(path_width - changes[i].path.size())) << "  " << left;
      os_.indent(static_cast<unsigned>(left_width - left.size())) << " -> " << right;
      if (!changes[i].note.empty())
        os_.indent(static_cast<unsigned>(right_width - right.size())) << "  (" << changes[i].note << ')';
      os_ << '\n';
    }
  }

  void WriteGroup(const DiffEntry& first) {
    const std::vector<size_t>& members = groups_[first.group];
    os_ << MarkOf(first.kind) << " x" << members.size() << "  ";
    llvm::SetVector<StringRef> opcodes;
    llvm::SetVector<const Computation*> places;
    std::vector<std::string> names;
    for (const size_t i : members) {
      const DiffEntry& entry = entries_[i];
      const Instruction& inst = entry.right ? *entry.right : *entry.left;
      opcodes.insert(inst.info().text);
      places.insert(inst.parent());
      if (names.size() < kMostNames) names.push_back("%" + inst.name().str());
    }
    auto words = opcodes.takeVector();
    const size_t more = words.size() > kMostNames ? words.size() - kMostNames : 0;
    words.resize(words.size() - more);
    os_ << llvm::join(words, ", ");
    if (more > 0) os_ << " and " << more << " more opcodes";
    const Instruction& one = first.right ? *first.right : *first.left;
    if (first.kind != DiffKind::Moved) os_ << ' ' << Cut(ToString(one.shape()), kMostOfValue);
    os_ << ": ";
    if (first.moved && first.left && first.right)
      WriteMove(NameOf(*first.left->parent()), NamesOf(places.getArrayRef()), first);
    const bool one_line = first.changes.size() == 1;
    if (one_line) {
      const auto [left, right] = CutPair(first.changes[0].left, first.changes[0].right);
      os_ << first.changes[0].path << ' ' << (left.empty() ? "(none)" : left) << " -> "
          << (right.empty() ? "(none)" : right);
      if (!first.changes[0].note.empty()) os_ << "  (" << first.changes[0].note << ')';
    } else if (first.kind != DiffKind::Moved) {
      os_ << llvm::join(names, ", ") << (members.size() > names.size() ? ", ..." : "");
    }
    NoColor();
    os_ << "  " << Place(one, FileOf(first)) << ", ...\n";
    if (!one_line) WriteChanges(first.changes);
  }

  void WriteCuts() {
    std::string text;
    for (int kind = 0; kind < kDiffKindCount; ++kind)
      if (cut_[kind] > 0)
        text += (text.empty() ? "" : ", ") + std::to_string(cut_[kind]) + " " +
                ToString(static_cast<DiffKind>(kind)).str();
    if (!text.empty()) os_ << "(not shown: " << text << "; --max-entries=0 shows all)\n";
  }

  StringRef left_file_, right_file_;  // as places name them
  llvm::raw_ostream& os_;
  const DiffReport& report_;
  const DiffReportOptions& options_;
  llvm::ArrayRef<DiffEntry> entries_;
  LineTable lines_;
  std::vector<Shown> shown_;
  llvm::DenseMap<int32_t, std::vector<size_t>> groups_;
  int64_t cut_[kDiffKindCount] = {};
  const Computation* section_ = nullptr;
  llvm::DenseMap<const Computation*, const Computation*> counterparts_, originals_;
};

}  // namespace

Status WriteDiffText(llvm::raw_ostream& os, const DiffReport& report) {
  DiffText(os, report).Write();
  return {};
}

}  // namespace hlo

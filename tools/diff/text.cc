// --output-format=text (tools.md §4.3).
#include "ir/print.h"
#include "ir/support/line_table.h"
#include "tools/diff/report.h"

namespace hlo {
namespace {

class DiffText {
 public:
  DiffText(llvm::raw_ostream& os, const DiffReport& report) : os_(os), report_(report) {}

  void Write() {
    WriteDiffHeading(os_, report_);
    os_ << '\n';
    const Computation* shown = nullptr;
    for (const DiffEntry& entry : report_.diff.entries) {
      if (entry.kind == DiffKind::Unchanged || entry.hidden) continue;
      const Computation* here = (entry.right ? entry.right : entry.left)->parent();
      if (here != shown) os_ << "@@ " << (here->IsEntry() ? "ENTRY " : "") << '%' << here->name() << " @@\n";
      shown = here;
      WriteEntry(entry);
    }
  }

 private:
  void WritePlace(const Instruction& inst, llvm::StringRef file) {
    os_ << "  " << file << ':' << lines_.Line(inst.loc());
  }

  void WriteEntry(const DiffEntry& entry) {
    os_ << MarkOf(entry.kind) << ' ';
    if (entry.left && entry.right) {
      os_ << '%' << entry.left->name();
      WritePlace(*entry.left, report_.left_file);
      os_ << " -> %" << entry.right->name();
      WritePlace(*entry.right, report_.right_file);
    } else {
      Print(os_, entry.left ? *entry.left : *entry.right);
      WritePlace(entry.left ? *entry.left : *entry.right,
                 entry.left ? report_.left_file : report_.right_file);
    }
    os_ << '\n';
    for (const PropertyChange& change : entry.changes)
      os_ << "    " << change.path << ' ' << change.left << " -> " << change.right << '\n';
  }

  llvm::raw_ostream& os_;
  const DiffReport& report_;
  LineTable lines_;
};

}  // namespace

Status WriteDiffText(llvm::raw_ostream& os, const DiffReport& report) {
  DiffText(os, report).Write();
  return {};
}

}  // namespace hlo

// --output-format=html: both modules in linked panes of one page (tools.md §4.3, §5.3).
#include "tools/diff/report.h"
#include "tools/viz/page.h"

namespace hlo {

Status WriteDiffHtml(llvm::raw_ostream& os, const DiffReport& report) {
  DiffReport compact = report;
  compact.options.json_indent = 0;
  PageInput page;
  page.module = report.diff.right;
  page.left = report.diff.left;
  page.title = report.left_file + " -> " + report.right_file;
  llvm::raw_string_ostream json(page.diff);
  HLO_CHECK_OK(WriteDiffJson(json, compact));
  // The page opens where there is something to see.
  for (const DiffEntry& entry : report.diff.entries)
    if (entry.kind != DiffKind::Unchanged && !entry.hidden && entry.right && !page.selected) {
      page.selected = entry.right;
      page.computation = entry.right->parent();
    }
  WritePage(os, page);
  return {};
}

}  // namespace hlo

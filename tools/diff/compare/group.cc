// Changes that repeat: entries with the same signature share a number.
#include "ir/print.h"
#include "tools/diff/compare/entries.h"

namespace hlo {
namespace {

/// Added and removed instructions of one opcode, shape and attributes; the names of operands do not matter.
void PrintAlone(llvm::raw_ostream& os, const Instruction& inst) {
  os << inst.info().text << ' ';
  Print(os, inst.shape());
  for (const FieldInfo& field : inst.attrs().info().fields) {
    if (!field.access || field.kind == FieldKind::Literal || (field.flags & kPositional)) continue;
    static const PrintOptions kPlain;
    PrintField(os << ' ', inst, field, kPlain);
  }
}

/// A name without its number: `%add` of `%add.12`.
llvm::StringRef Stem(llvm::StringRef text) {
  return text.starts_with("%") ? text.rtrim("0123456789.") : text;
}

std::string Signature(const DiffEntry& entry) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << MarkOf(entry.kind) << entry.note << '|';
  if (!entry.left || !entry.right) {
    PrintAlone(os, entry.left ? *entry.left : *entry.right);
    return text;
  }
  if (entry.moved) os << entry.left->parent()->name() << '>' << Stem(entry.right->parent()->name());
  if (entry.kind != DiffKind::Changed) return text;
  os << entry.right->info().text << '|';
  for (const PropertyChange& change : entry.changes)
    os << change.path << ':' << Stem(change.left) << '>' << Stem(change.right) << '|' << change.note << '|';
  return text;
}

}  // namespace

void GroupEntries(ModuleDiff& diff) {
  struct Group {
    int32_t first = -1, number = -1;
  };
  llvm::StringMap<Group> groups;
  int32_t next = 0;
  for (size_t i = 0; i < diff.entries.size(); ++i) {
    DiffEntry& entry = diff.entries[i];
    if (entry.kind == DiffKind::Unchanged) continue;
    Group& group = groups[Signature(entry)];
    if (group.first < 0) {
      group.first = static_cast<int32_t>(i);
      continue;
    }
    if (group.number < 0) {
      group.number = next++;
      diff.entries[static_cast<size_t>(group.first)].group = group.number;
    }
    entry.group = group.number;
  }
}

}  // namespace hlo

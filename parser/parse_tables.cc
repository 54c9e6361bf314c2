// Stack-frame tables of the header (hlo-text §3, end).
#include <map>
#include <tuple>

#include "parser/module_parser.h"
#include "parser/values.h"

namespace hlo {
namespace {

using llvm::StringRef;

/// {Int String}
bool ParseStrings(Cursor& c, std::vector<StringRef>& out) {
  c.Advance();
  while (c.Is(TokenKind::Int)) {
    c.Advance();
    if (!c.ParseString(out.emplace_back())) return false;
  }
  return true;
}

/// {Int subattrs} of FileLocations
bool ParseLocations(Cursor& c, std::vector<StackTables::Location>& out) {
  c.Advance();
  while (c.Is(TokenKind::Int)) {
    c.Advance();
    StackTables::Location& l = out.emplace_back();
    int32_t* const targets[] = {&l.file, &l.function, &l.line, &l.end_line, &l.column, &l.end_column};
    if (!ParseSubAttrs(c, {"file_name_id", "function_name_id", "line", "end_line", "column", "end_column"},
                       0x3F, [&](size_t i) { return c.ParseInt32(*targets[i]); }))
      return false;
  }
  return true;
}

/// {Int subattrs} of StackFrames
bool ParseFrames(Cursor& c, std::vector<StackTables::Frame>& out) {
  c.Advance();
  while (c.Is(TokenKind::Int)) {
    c.Advance();
    StackTables::Frame& f = out.emplace_back();
    if (!ParseSubAttrs(c, {"file_location_id", "parent_frame_id"}, 3,
                       [&](size_t i) { return c.ParseInt32(i == 0 ? f.location : f.parent); }))
      return false;
    if (f.parent > 0) --f.parent;  // written plus one
  }
  return true;
}

/// Copies used frames from one set of tables to another, each thing once.
class FrameInterner {
 public:
  FrameInterner(const StackTables& from, StackTables& to)
      : from_(from), to_(to), new_id_(from.frames.size() + 1, -1) {}

  /// The new id of a frame; 0 if it or one of its parents is invalid.
  int32_t Intern(int32_t id) {
    llvm::SmallVector<int32_t, 16> chain;
    while (id != 0) {
      if (id < 0 || static_cast<size_t>(id) > from_.frames.size() || chain.size() > from_.frames.size())
        return Invalidate(chain);
      if (New(id) >= 0) break;
      chain.push_back(id);
      // Nothing of a chain is kept that does not hold to its end.
      if (!IsValidLocation(from_.frames[static_cast<size_t>(id) - 1].location)) return Invalidate(chain);
      id = from_.frames[static_cast<size_t>(id) - 1].parent;
    }
    int32_t parent = id == 0 ? 0 : New(id);
    if (id != 0 && parent == 0) return Invalidate(chain);
    while (!chain.empty()) {
      const StackTables::Frame& old = from_.frames[static_cast<size_t>(chain.back()) - 1];
      const int32_t location = InternLocation(old.location);
      const auto [it, added] =
          frames_.try_emplace({location, parent}, static_cast<int32_t>(to_.frames.size()) + 1);
      if (added) to_.frames.push_back({location, parent});
      New(chain.back()) = parent = it->second;
      chain.pop_back();
    }
    return parent;
  }

 private:
  int32_t& New(int32_t id) { return new_id_[static_cast<size_t>(id)]; }
  int32_t Invalidate(llvm::ArrayRef<int32_t> chain) {
    for (int32_t id : chain) New(id) = 0;
    return 0;
  }
  static int32_t InternString(const std::vector<StringRef>& from, int32_t id, std::vector<StringRef>& to,
                              std::map<StringRef, int32_t>& known) {
    const StringRef text = from[static_cast<size_t>(id) - 1];
    const auto [it, added] = known.try_emplace(text, static_cast<int32_t>(to.size()) + 1);
    if (added) to.push_back(text);
    return it->second;
  }
  static bool IsIndex(int32_t id, size_t count) { return id >= 1 && static_cast<size_t>(id) <= count; }
  [[nodiscard]] bool IsValidLocation(int32_t id) const {
    if (!IsIndex(id, from_.locations.size())) return false;
    const StackTables::Location& l = from_.locations[static_cast<size_t>(id) - 1];
    return IsIndex(l.file, from_.files.size()) && IsIndex(l.function, from_.functions.size());
  }
  /// Of a valid location.
  int32_t InternLocation(int32_t id) {
    StackTables::Location l = from_.locations[static_cast<size_t>(id) - 1];
    l.file = InternString(from_.files, l.file, to_.files, files_);
    l.function = InternString(from_.functions, l.function, to_.functions, functions_);
    const auto [it, added] =
        locations_.try_emplace({l.file, l.function, l.line, l.end_line, l.column, l.end_column},
                               static_cast<int32_t>(to_.locations.size()) + 1);
    if (added) to_.locations.push_back(l);
    return it->second;
  }

  const StackTables& from_;
  StackTables& to_;
  std::vector<int32_t> new_id_;  // by old id; -1: not yet known
  std::map<StringRef, int32_t> files_, functions_;
  std::map<std::tuple<int32_t, int32_t, int32_t, int32_t, int32_t, int32_t>, int32_t> locations_;
  std::map<std::pair<int32_t, int32_t>, int32_t> frames_;
};

}  // namespace

/// frames = 'FileNames' {Int String} 'FunctionNames' {Int String} 'FileLocations' {Int subattrs}
///          'StackFrames' {Int subattrs} .
bool ModuleParser::ParseTables() {
  StackTables& t = written_tables_;
  if (c_.Is(TokenKind::FileNames) && !ParseStrings(c_, t.files)) return false;
  if (c_.Is(TokenKind::FunctionNames) && !ParseStrings(c_, t.functions)) return false;
  if (c_.Is(TokenKind::FileLocations) && !ParseLocations(c_, t.locations)) return false;
  return !c_.Is(TokenKind::StackFrames) || ParseFrames(c_, t.frames);
}

void ModuleParser::RebuildTables() {
  if (!c_.has_stack_frames) return;
  FrameInterner interner(written_tables_, module_.stack_tables);
  llvm::DenseMap<const OpMetadata*, const OpMetadata*> renumbered;
  for (const auto& computation : module_.computations()) {
    for (Instruction* i : computation->instructions()) {
      const OpMetadata* old = i->metadata();
      if (!old || old->stack_frame_id == 0) continue;
      const int32_t id = interner.Intern(old->stack_frame_id);
      if (id == old->stack_frame_id) continue;
      const OpMetadata*& fresh = renumbered[old];
      if (!fresh) {
        OpMetadata copy = *old;
        copy.stack_frame_id = id;
        fresh = module_.Save(copy);
      }
      i->set_metadata(fresh);
    }
  }
}

}  // namespace hlo

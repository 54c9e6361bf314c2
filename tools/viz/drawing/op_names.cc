#include "tools/viz/drawing/op_names.h"

#include <map>

namespace hlo {
namespace {

llvm::StringRef OpNameOf(const Instruction& inst) {
  for (const Instruction* at = &inst;;) {
    if (at->metadata() && !at->metadata()->op_name.empty()) return at->metadata()->op_name;
    if (at->kind() != OpKind::Fusion || at->callees().empty() || !at->callee()->root()) return "";
    at = at->callee()->root();
  }
}

/// JAX's transformations, and what they make of a part of a program; nothing where that is the part itself.
struct TransformRow {
  llvm::StringLiteral name, word;
};
constexpr TransformRow kTransforms[] = {{"jit", ""},
                                        {"pjit", ""},
                                        {"jvp", ""},
                                        {"transpose", "backward"},
                                        {"vmap", "batched"},
                                        {"remat", "recomputed"},
                                        {"checkpoint", "recomputed"}};

}  // namespace

std::vector<std::string> OpNamePath(const Instruction& inst) {
  if (inst.kind() == OpKind::Parameter) return {};
  std::vector<std::string> path;
  llvm::StringRef rest = OpNameOf(inst);
  while (rest.contains('/') && path.size() < kDeepestOpName) {
    const auto [first, others] = rest.split('/');
    if (!first.empty()) path.push_back(first.str());
    rest = others;
  }
  return path;
}

std::string OpNameTitle(llvm::StringRef path) {
  std::string title;
  std::vector<llvm::StringRef> words;
  for (llvm::StringRef part : llvm::split(path, '/')) {
    for (bool found = true; found && part.ends_with(")");) {
      found = false;
      for (const TransformRow& row : kTransforms) {
        llvm::StringRef inner = part;
        if (!inner.consume_front(row.name) || !inner.consume_front("(")) continue;
        part = inner.drop_back();
        if (!row.word.empty() && !llvm::is_contained(words, row.word)) words.push_back(row.word);
        found = true;
      }
    }
    if (part.empty()) continue;  // `transpose(jvp())`: of the program itself
    if (!title.empty()) title += '/';
    title += part;
  }
  if (title.empty() && !words.empty()) title = "program";
  for (const llvm::StringRef word : words) title += (", " + word).str();
  return title;
}

std::string CommonOpName(llvm::ArrayRef<std::vector<std::string>> paths) {
  std::string common;
  std::vector<size_t> within(paths.size());  // those that begin with `common`
  for (size_t i = 0; i < paths.size(); ++i) within[i] = i;
  for (size_t depth = 0; depth < kDeepestOpName; ++depth) {
    std::map<llvm::StringRef, std::vector<size_t>> next;
    for (const size_t i : within)
      if (paths[i].size() > depth) next[paths[i][depth]].push_back(i);
    const auto most = llvm::max_element(
        next, [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
    if (most == next.end() || most->second.size() * 2 <= paths.size()) break;
    common += (common.empty() ? "" : "/") + most->first.str();
    within = std::move(most->second);
  }
  return common;
}

}  // namespace hlo

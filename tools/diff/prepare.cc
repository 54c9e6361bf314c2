#include "tools/diff/prepare.h"

#include "ir/print.h"
#include "passes/analysis/inlined_size.h"
#include "passes/rewrite/edit.h"
#include "passes/rewrite/inline_all.h"
#include "tools/common/line_diff.h"
#include "tools/modules/transform.h"

namespace hlo {
namespace {

using llvm::StringRef;

bool IsInlined(OpKind kind, DiffInline what) {
  return (kind == OpKind::Fusion && what != DiffInline::Call) ||
         (kind == OpKind::Call && what != DiffInline::Fusion);
}

/// What an inlined tuple is taken apart into replaces its elements.
void TakeApart(Instruction* tuple) {
  const std::vector<Instruction*> users(tuple->users().begin(), tuple->users().end());
  for (Instruction* user : users) {
    if (user->kind() != OpKind::GetTupleElement) continue;
    Instruction* element = tuple->operand(user->attr<GetTupleElementAttrs>().index);
    user->ReplaceAllUsesWith(element);
    user->DropControlEdges();
    user->parent()->Remove(user);
  }
  if (!tuple->users().empty() || tuple->IsRoot()) return;
  tuple->DropControlEdges();
  tuple->parent()->Remove(tuple);
}

Status BadMap(StringRef text) {
  return Error("usage-option", {}, "option '--map': found '{0}', expected OLD=NEW", text);
}

/// A pair of names: of instructions, else of computations.
Status AddHint(StringRef text, const Module& left, const Module& right, DiffOptions& compare) {
  const auto [old_name, new_name] = text.split('=');
  if (old_name.empty() || new_name.empty()) return BadMap(text);
  auto l = FindInstruction(left, old_name);
  auto r = FindInstruction(right, new_name);
  if (l && r) {
    compare.hints.emplace_back(*l, *r);
    return {};
  }
  const auto cl = FindComputation(left, old_name);
  const auto cr = FindComputation(right, new_name);
  if (cl && cr) {
    compare.computation_hints.emplace_back(*cl, *cr);
    return {};
  }
  Diagnostic error = !l && !cl ? std::move(l).error() : !r && !cr ? std::move(r).error() : Diagnostic();
  if (error.message.empty())
    return Error("usage-name", {}, "option '--map': '{0}' names an instruction and a computation", text);
  error.message = "option '--map': " + error.message;
  return Error(std::move(error));
}

bool Knows(const HloDiffOptions& options, const Module& module) {
  return llvm::any_of(module.computations(),
                      [&](const auto& c) { return options.computation.Matches(c->name()); });
}

}  // namespace

Status InlineForDiff(Module& module, DiffInline what) {
  if (what == DiffInline::None) return {};
  const auto is_inlined = [&](const Instruction& inst) { return IsInlined(inst.kind(), what); };
  HLO_CHECK_OK(CheckInlinedSize(module, is_inlined, {}));
  InlineAll(module, is_inlined, [](Computation& c, Instruction* root) {
    if (root->kind() == OpKind::Tuple) TakeApart(root);
    c.set_schedule({});
  });
  RemoveUnreachableComputations(module);
  return {};
}

Result<DiffOptions> ResolveHints(const HloDiffOptions& options, const Module& left, const Module& right) {
  DiffOptions compare = options.compare;
  for (const std::string& text : options.map) HLO_CHECK_OK(AddHint(text, left, right, compare));
  return compare;
}

Status CheckDiffFilters(const HloDiffOptions& options, const Module& left, const Module& right) {
  std::vector<StringRef> words;
  for (int kind = 0; kind < kDiffKindCount; ++kind) words.push_back(ToString(static_cast<DiffKind>(kind)));
  for (const std::string& word : options.only.items)
    if (!llvm::is_contained(words, word)) return UnknownWord({"--only", word}, words);
  if (Knows(options, left) || Knows(options, right)) return {};
  std::vector<StringRef> names;
  for (const Module* module : {&left, &right})
    for (const auto& c : module->computations()) names.push_back(c->name());
  const std::string hint = DidYouMeanText(options.computation.pattern(), names);
  return Error("usage-name", {}, "option '--computation': no computation matches '{0}'{1}{2}",
               options.computation.pattern(), hint.empty() ? "" : "; ", hint);
}

void HideEntries(const HloDiffOptions& options, ModuleDiff& diff) {
  for (DiffEntry& entry : diff.entries) {
    const auto any_side = [&](auto&& matches) {
      return (entry.left && matches(*entry.left)) || (entry.right && matches(*entry.right));
    };
    const bool kind = options.only.items.empty() ||
                      llvm::is_contained(options.only.items, ToString(entry.kind)) ||
                      (entry.moved && llvm::is_contained(options.only.items, ToString(DiffKind::Moved)));
    const bool opcode = any_side([&](const Instruction& i) { return options.opcode.Matches(i.info().text); });
    const bool place =
        any_side([&](const Instruction& i) { return options.computation.Matches(i.parent()->name()); });
    entry.hidden = !(kind && opcode && place);
  }
}

bool CountsAsEqual(const HloDiffOptions& options, const ModuleDiff& diff) {
  if (!options.filter_exit) return diff.Equal();
  const bool filtered =
      !options.only.items.empty() || !options.opcode.empty() || !options.computation.empty();
  return (filtered || diff.header.empty()) && llvm::all_of(diff.entries, [](const DiffEntry& entry) {
           return entry.hidden || entry.kind == DiffKind::Unchanged;
         });
}

Result<bool> CompareLines(const HloDiffOptions& options, const Module& left, const Module& right,
                          StringRef left_file, StringRef right_file, llvm::raw_ostream& os) {
  const bool canonical = options.mode == DiffMode::Canonical;
  PrintOptions print = canonical ? PrintOptions::Canonical() : PrintOptions::ModuleDump();
  print.max_constant_elements = -1;
  print.metadata = print.metadata && !options.compare.Ignores(DiffProperty::Metadata);
  print.layouts = print.layouts && !options.compare.Ignores(DiffProperty::Layout);
  const auto text = [&](const Module& module) {
    return canonical ? ToString(*CanonicallyNamed(module), print) : ToString(module, print);
  };
  const auto context = static_cast<int>(std::clamp<int64_t>(options.report.context, 0, 1'000'000));
  const std::string difference = LineDiff(text(left), text(right), context, options.report.color);
  if (difference.empty()) return true;
  os << "--- " << left_file << "\n+++ " << right_file << '\n' << difference;
  return false;
}

std::optional<Diagnostic> EffortRemark(const ModuleDiff& diff) {
  if (!diff.cut_short) return std::nullopt;
  Diagnostic remark = MakeError("diff-effort", {},
                                "matching was cut short after the steps of --max-effort: some instructions "
                                "may be reported as removed and added that have counterparts");
  remark.severity = Severity::Remark;
  return remark;
}

}  // namespace hlo

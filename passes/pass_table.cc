#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"
#include "passes/absent.h"
#include "passes/analysis/call_graph.h"
#include "passes/pass_row.h"
#include "passes/pipeline.h"
#include "passes/rewrite/dots.h"

namespace hlo {

#define HLO_PASS HLO_DECLARE_PASS
#include "passes/passes.def"
#undef HLO_PASS

namespace {

int CompareNames(llvm::StringRef a, llvm::StringRef b) {
  auto fold = [](char c) { return c == '-' ? '_' : c; };
  const size_t n = std::min(a.size(), b.size());
  for (size_t i = 0; i < n; ++i)
    if (fold(a[i]) != fold(b[i])) return fold(a[i]) < fold(b[i]) ? -1 : 1;
  return a.size() < b.size() ? -1 : a.size() > b.size();
}

bool IsScheduled(const Module& module) { return module.config.is_scheduled; }

bool HasFlatCalls(const Module& module) { return CallGraph(module).IsFlat(); }

bool HasLayouts(const Module& module) {
  llvm::DenseSet<const Shape*> seen;  // elements of tuples, which tuples within each other share
  std::vector<const Shape*> todo;
  for (const auto& c : module.computations())
    for (const Instruction* i : c->instructions())
      for (todo.push_back(&i->shape()); !todo.empty();) {
        const Shape& shape = *todo.back();
        todo.pop_back();
        if (shape.IsArray() && !shape.has_layout()) return false;
        if (!shape.IsTuple() || !seen.insert(shape.tuple_shapes().data()).second) continue;
        for (const Shape& element : shape.tuple_shapes()) todo.push_back(&element);
      }
  return true;
}

/// Layouts say something about memory in bitcasts alone (and to custom calls).
bool HasRowMajorBitcasts(const Module& module) {
  return llvm::all_of(module.computations(), [&](const auto& computation) {
    return llvm::all_of(computation->InstructionsOf(OpKind::Bitcast), [&](const Instruction* bitcast) {
      const Shape &from = bitcast->operand(0)->shape(), &to = bitcast->shape();
      return from.element_type() == to.element_type() && IsRowMajor(from) && IsRowMajor(to);
    });
  });
}

bool HasCanonicalDots(const Module& module) {
  for (const auto& c : module.computations())
    for (const Instruction* i : c->instructions())
      if (i->kind() == OpKind::Dot && !IsCanonicalDot(*i)) return false;
  return true;
}

}  // namespace

llvm::ArrayRef<ModuleFactInfo> AllModuleFacts() {
  static constexpr ModuleFactInfo kFacts[] = {
      {kSchedule, "schedule", "hlo-memory-scheduler", &IsScheduled},
      {kFlatCalls, "flat-calls", "flatten-call-graph", &HasFlatCalls},
      {kLayouts, "layouts", "layout-assignment", &HasLayouts},
      {kCanonicalDots, "canonical-dots", "dot_decomposer", &HasCanonicalDots},
      {kFusions, "fusions", "fusion", nullptr},
      {kCopies, "copies", "copy-insertion", nullptr},
      {kRowMajor, "row-major", "row-major-layouts", &HasRowMajorBitcasts},
  };
  return kFacts;
}

std::string ToString(ModuleFacts facts) {
  if (facts == kNoFacts) return "none";
  if (facts == kAllFacts) return "all";
  std::string text;
  for (const ModuleFactInfo& info : AllModuleFacts())
    if ((facts & info.fact) != 0) text += (text.empty() ? "" : ", ") + info.word.str();
  return text;
}

/// What backends have added.
struct Registered {
  std::vector<llvm::ArrayRef<PassInfo>> passes;
  std::vector<llvm::ArrayRef<PipelineInfo>> pipelines;
};
static Registered& OfBackends() {
  static Registered registered;
  return registered;
}

PassRegistration::PassRegistration(llvm::ArrayRef<PassInfo> passes, llvm::ArrayRef<PipelineInfo> pipelines) {
  OfBackends().passes.push_back(passes);
  OfBackends().pipelines.push_back(pipelines);
}

llvm::ArrayRef<PipelineInfo> AllPipelines() {
  static const std::vector<PipelineInfo> pipelines = [] {
    std::vector<PipelineInfo> rows = {
#define HLO_PIPELINE(name, summary, spec) {name, summary, spec},
#include "passes/pipelines.def"
#undef HLO_PIPELINE
    };
    for (const llvm::ArrayRef<PipelineInfo> more : OfBackends().pipelines)
      rows.insert(rows.end(), more.begin(), more.end());
    return rows;
  }();
  return pipelines;
}

llvm::ArrayRef<PassInfo> AllPasses() {
  static const std::vector<PassInfo> passes = [] {
    std::vector<PassInfo> rows = {
#define HLO_PASS HLO_PASS_INFO
#include "passes/passes.def"
#undef HLO_PASS
    };
    for (const llvm::ArrayRef<PassInfo> more : OfBackends().passes)
      rows.insert(rows.end(), more.begin(), more.end());
    llvm::sort(rows, [](const PassInfo& a, const PassInfo& b) { return CompareNames(a.name, b.name) < 0; });
    return rows;
  }();
  return passes;
}

const PassInfo* FindPass(llvm::StringRef name) {
  const auto passes = AllPasses();
  const auto* at = llvm::lower_bound(
      passes, name, [](const PassInfo& p, llvm::StringRef n) { return CompareNames(p.name, n) < 0; });
  const auto* end =
      std::find_if(at, passes.end(), [&](const PassInfo& p) { return CompareNames(p.name, name) != 0; });
  if (end - at == 1) return at;
  const auto* exact = std::find_if(at, end, [&](const PassInfo& p) { return p.name == name; });
  return exact == end ? nullptr : exact;
}

llvm::StringRef FamilyOf(const PassInfo& pass) {
  return llvm::sys::path::filename(llvm::sys::path::parent_path(pass.hooks->source));
}

/// What passes are called elsewhere: by their class, or with other words.
struct OtherName {
  llvm::StringLiteral other, name;
};
constexpr OtherName kOtherNames[] = {
    {"algebraic-simplifier", "algsimp"},
    {"algebraic-simplification", "algsimp"},
    {"common-subexpression-elimination", "cse"},
    {"conditional-simplifier", "simplify-conditional"},
    {"cpu-all-reduce-combiner", "all-reduce-combiner"},
    {"dead-code-elimination", "dce"},
    {"gpu-convert-async-collectives-to-sync", "convert-async-collectives-to-sync"},
    {"hlo-constant-folding", "constant_folding"},
    {"hlo-cse", "cse"},
    {"hlo-dce", "dce"},
    {"inliner", "call-inliner"},
    {"instruction-fusion", "fusion"},
    {"layout", "layout-assignment"},
    {"memory-scheduler", "hlo-memory-scheduler"},
    {"sort-simplifier", "simplify-sorts"},
    {"while-loop-simplifier", "simplify-while-loops"},
};

llvm::ArrayRef<AbsentPass> AbsentPasses() {
  static constexpr AbsentPass kAbsent[] = {
#define HLO_ABSENT_PASS(name, why) {name, why},
#include "passes/absent.def"
#undef HLO_ABSENT_PASS
  };
  return kAbsent;
}

Diagnostic UnknownPass(llvm::StringRef name) {
  for (const AbsentPass& row : AbsentPasses())
    if (CompareNames(row.name, name) == 0)
      return MakeError("usage-pass", {}, "pass '{0}' is not here: {1}", row.name, row.why);
  std::string hint;
  for (const OtherName& row : kOtherNames)
    if (CompareNames(row.other, name) == 0) hint = ("did you mean '" + row.name + "'?").str();
  if (const PipelineInfo* pipeline = FindPipeline(name))
    hint = ("did you mean the pipeline '@" + pipeline->name + "'?").str();
  if (hint.empty()) {
    std::vector<llvm::StringRef> names;
    for (const PassInfo& pass : AllPasses()) names.push_back(pass.name);
    hint = DidYouMeanText(name, names);
  }
  return MakeError("usage-pass", {}, "unknown pass '{0}'{1}{2}", name, hint.empty() ? "" : "; ", hint);
}

}  // namespace hlo

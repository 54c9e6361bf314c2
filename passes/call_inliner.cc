#include "passes/call_inliner.h"

#include "llvm/ADT/STLExtras.h"
#include "passes/analysis/frontend_attributes.h"
#include "passes/dce.h"
#include "passes/rewrite/edit.h"

namespace hlo {
namespace {

constexpr size_t kMaxOpName = 1024;
constexpr int64_t kMaxInstructions = int64_t{1} << 22;  // of a computation: nested calls may double its size

constexpr PassOptionRow kRows[] = {
    PassOption<&CallInlinerOptions::single_call_site>("single_call_site",
                                                      "only computations that are called from one place"),
    PassOption<&CallInlinerOptions::composites_to_preserve>("composites_to_preserve",
                                                            "names of composites that stay calls"),
};

bool RunsAsynchronously(const Computation& computation) {
  return llvm::any_of(computation.callers(),
                      [](const Instruction* c) { return c->kind() == OpKind::AsyncStart; });
}

bool MayInline(const Instruction& call, const CallInlinerOptions& options) {
  const Computation& callee = *call.callee();
  if (options.single_call_site && callee.callers().size() != 1) return false;
  if (callee.execution_thread() != call.parent()->execution_thread()) return false;
  // What is under way and ended in the callee may have no other reader.
  if (callee.root()->info().Is(kStart) && !callee.root()->users().empty()) return false;
  if (call.has_extras()) {
    if (!call.extras().backend_config.empty()) return false;
    const llvm::StringRef inlineable = FrontendValue(call, "inlineable");
    if (inlineable == "false" || inlineable == "xla_late") return false;
    if (call.attr<CallAttrs>().is_composite &&
        llvm::is_contained(options.composites_to_preserve, FrontendValue(call, "composite.name")))
      return false;
  }
  return call.parent()->instruction_count() + callee.instruction_count() <= kMaxInstructions;
}

/// Metadata of inlined instructions: the call's operation name, then their own.
class MetadataPrefix {
 public:
  explicit MetadataPrefix(const Instruction& call) : module_(*call.module()), call_(call.metadata()) {}

  void Apply(const Instruction& inner, Instruction* copy) {
    if (!call_) return;
    const OpMetadata* metadata = inner.metadata();
    if (!metadata) return copy->set_metadata(call_);
    const OpMetadata*& renamed = renamed_[metadata];
    if (!renamed) renamed = Renamed(metadata);
    copy->set_metadata(renamed);
  }

 private:
  const OpMetadata* Renamed(const OpMetadata* metadata) {
    const llvm::StringRef prefix = call_->op_name;
    if (prefix.empty() || metadata->op_name.starts_with(prefix)) return metadata;
    const size_t length = prefix.size() + 1 + metadata->op_name.size();
    if (length > kMaxOpName) return metadata;
    OpMetadata copy = *metadata;
    const std::string name =
        metadata->op_name.empty() ? prefix.str() : (prefix + "/" + metadata->op_name).str();
    copy.op_name = module_.Save(name);
    return module_.Save(copy);
  }

  Module& module_;
  const OpMetadata* call_;
  llvm::DenseMap<const OpMetadata*, const OpMetadata*> renamed_;
};

}  // namespace

llvm::ArrayRef<PassOptionRow> CallInlinerOptions::Rows() { return kRows; }

Instruction* InlineCallWithPrefix(Instruction* call) {
  MetadataPrefix prefix(*call);
  return InlineCall(call, [&](const Instruction* inner, Instruction* copy) { prefix.Apply(*inner, copy); });
}

Result<bool> RunCallInliner(Module& module, const CallInlinerOptions& options, PassContext& context) {
  bool changed = false;
  for (Computation* c : context.Computations(module)) {
    const std::vector<Instruction*> calls = c->InstructionsOf(OpKind::Call);
    if (calls.empty() || RunsAsynchronously(*c)) continue;
    for (Instruction* call : calls) {
      HLO_CHECK_OK(context.CheckInterrupt());
      if (!MayInline(*call, options)) continue;
      if (!context.TakeRewrite()) break;
      InlineCallWithPrefix(call);
      changed = true;
    }
  }
  if (changed) HLO_CHECK_OK(RunDce(module, {}, context));
  return changed;
}

HLO_DEFINE_PASS(CallInliner, CallInlinerOptions);

}  // namespace hlo

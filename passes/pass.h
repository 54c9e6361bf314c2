// A pass: a named function over modules, with typed options.
#pragma once
#include <memory>
#include <string>

#include "passes/pass_option.h"
#include "passes/rewrite/context.h"
#include "passes/rewrite/licence.h"

namespace hlo {

/// Facts about a whole module that passes need, establish or may destroy.
enum ModuleFacts : uint16_t {
  kNoFacts = 0,
  kSchedule = 1,   // is_scheduled: passes that lack it in `preserves` get the schedule repaired after them
  kFlatCalls = 2,  // every while, call and conditional owns its computations (flatten-call-graph)
  kLayouts = 4,    // layouts are assigned and mean something (layout-assignment)
  kCanonicalDots = 8,  // dots are in the form of dot_decomposer
  kFusions = 16,       // fusion has run
  kCopies = 32,        // copies for aliasing safety are in place (copy-insertion)
  kRowMajor = 64,      // bitcasts are between arrays that lie row by row (row-major-layouts)
  kAllFacts = 0xffff,
};
/// How a fact is called, which pass brings it about, and how to see that a module has it.
struct ModuleFactInfo {
  ModuleFacts fact;
  llvm::StringRef word;
  llvm::StringRef established_by;
  bool (*holds)(const Module& module);  // null: only the passes that have run can tell
};
llvm::ArrayRef<ModuleFactInfo> AllModuleFacts();

/// `schedule, flat-calls`; `none` and `all` for the extremes.
std::string ToString(ModuleFacts facts);

/// What the table needs of a pass's code; defined in its .cc with HLO_DEFINE_PASS.
struct PassHooks {
  llvm::ArrayRef<PassOptionRow> (*rows)();
  std::shared_ptr<void> (*make_options)();  // with default values
  Result<bool> (*run)(Module& module, const void* options, PassContext& context);
  llvm::StringRef source = "";  // the .cc, whose folder is the pass's family
};
/// HLO_DEFINE_PASS(Dce, DceOptions): the pass whose row in passes.def says Dce is
///   Result<bool> RunDce(Module& module, const DceOptions& options, PassContext& context);
/// which returns whether it changed the module, truthfully. Options: a struct with Rows(), or NoPassOptions.
#define HLO_DEFINE_PASS(Stem, Options)                                                       \
  extern const PassHooks k##Stem##Pass;                                                      \
  constexpr PassHooks k##Stem##Pass = {                                                      \
      &Options::Rows, []() -> std::shared_ptr<void> { return std::make_shared<Options>(); }, \
      [](Module& module, const void* options, PassContext& context) {                        \
        return Run##Stem(module, *static_cast<const Options*>(options), context);            \
      },                                                                                     \
      __FILE__}

/// A row of passes.def.
struct PassInfo {
  llvm::StringRef name;  // XLA's spelling
  llvm::StringRef summary;
  ModuleFacts requires_facts;
  ModuleFacts preserves;
  const PassHooks* hooks;
  Licence licence;  // what it may change in floats
};

llvm::ArrayRef<PassInfo> AllPasses();  // sorted by name

struct PipelineInfo;

/// A constant of a backend, which adds its passes and pipelines to those of this folder before main. The
/// arrays live as long as the program.
struct PassRegistration {
  PassRegistration(llvm::ArrayRef<PassInfo> passes, llvm::ArrayRef<PipelineInfo> pipelines);
};
/// By name; `-` and `_` are one. Null if there is none.
const PassInfo* FindPass(llvm::StringRef name);
/// The folder of its source: `simplify`, `loops`.
llvm::StringRef FamilyOf(const PassInfo& pass);
/// The error for a name that FindPass does not know.
Diagnostic UnknownPass(llvm::StringRef name);

}  // namespace hlo

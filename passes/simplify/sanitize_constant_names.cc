// sanitize-constant-names: names of constants without `.` and `-` (passes.md §2.1).
//
// Requires nothing. Preserves everything.
// Changes: in names of constants, `.` and `-` become `_`; names stay unique.
#include "passes/pass.h"

namespace hlo {
namespace {

std::string Sanitized(llvm::StringRef name) {
  std::string text = name.str();
  for (char& c : text)
    if (c == '.' || c == '-') c = '_';
  return text;
}

Result<bool> RunSanitizeConstantNames(Module& module, const NoPassOptions&, PassContext& context) {
  bool changed = false;
  for (Computation* c : context.AllComputations(module)) {
    for (Instruction* inst : c->instructions()) {
      if (inst->kind() != OpKind::Constant || inst->name().find_first_of(".-") == llvm::StringRef::npos)
        continue;
      if (!context.TakeRewrite()) return changed;
      const std::string wanted = Sanitized(inst->name());
      // What makes a name unique may be a suffix with a dot; then another name is tried.
      llvm::StringRef name = module.UniqueInstructionName(module.Save(wanted));
      for (int64_t n = 1; name.contains('.'); ++n)
        name = module.UniqueInstructionName(module.Save(wanted + "_" + std::to_string(n)));
      inst->set_name(name);
      changed = true;
    }
  }
  return changed;
}

}  // namespace

HLO_DEFINE_PASS(SanitizeConstantNames, NoPassOptions);

}  // namespace hlo

// The forms in which a whole module can be written.
#pragma once
#include <functional>
#include <optional>

#include "ir/print.h"
#include "ir/support/result.h"

namespace hlo {

enum class ModuleForm : uint8_t { Text, Json, Proto, ProtoText, Dot, Html };

struct FormOptions {
  PrintOptions print;
  unsigned json_indent = 0;
  bool called = true;         // drawings hold all called computations, not only fusions
  bool fusion_bodies = true;  // pages hold the bodies of fusions
  bool hlo_proto = true;      // protos are HloProto as in XLA's dumps, else HloModuleProto
  /// Set: drawings are hlo-viz's, which collapses groups of large ones and tells here.
  std::function<void(Diagnostic)> report = {};
};

struct ModuleFormInfo {
  ModuleForm form;
  llvm::StringRef word;       // of options
  llvm::StringRef extension;  // of files, without a dot
  bool binary;
  Status (*write)(llvm::raw_ostream& os, const Module& module, const FormOptions& options);
};
llvm::ArrayRef<ModuleFormInfo> AllModuleForms();
const ModuleFormInfo& Info(ModuleForm form);
/// By word; null if there is none.
const ModuleFormInfo* FindModuleForm(llvm::StringRef word);

/// Writes a module; text ends with a newline.
Status WriteModule(llvm::raw_ostream& os, const Module& module, ModuleForm form, const FormOptions& options);

}  // namespace hlo

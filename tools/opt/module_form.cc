#include "tools/opt/module_form.h"

#include "tools/modules/module_json.h"
#include "tools/proto/module_proto.h"
#include "tools/proto/text_form.h"
#include "tools/viz/drawing/dot.h"
#include "tools/viz/drawing/page.h"
#include "tools/viz/formats.h"

namespace hlo {
namespace {

Status WriteText(llvm::raw_ostream& os, const Module& module, const FormOptions& options) {
  Print(os, module, options.print);
  return {};
}

Status WriteJson(llvm::raw_ostream& os, const Module& module, const FormOptions& options) {
  WriteGraphJson(os, module, options.print, options.json_indent);
  return {};
}

Status WriteProto(llvm::raw_ostream& os, const Module& module, const FormOptions& options) {
  HLO_TRY(const std::string bytes, options.hlo_proto ? HloProtoBytes(module) : ModuleProtoBytes(module));
  os << bytes;
  return {};
}

Status WriteProtoText(llvm::raw_ostream& os, const Module& module, const FormOptions& options) {
  HLO_TRY(const std::string bytes, options.hlo_proto ? HloProtoBytes(module) : ModuleProtoBytes(module));
  os << ProtoBytesToText(bytes, options.hlo_proto ? "HloProto" : "HloModuleProto");
  return {};
}

Status WriteDrawing(llvm::raw_ostream& os, const Module& module, const FormOptions& options) {
  DrawingScope scope;
  if (options.called) scope.expand = kExpandAll;
  Drawing drawing = MakeDrawing(module, scope);
  if (options.report) {
    const int64_t most = VizOptions().max_nodes;
    CollapseLarge(drawing, most, llvm::formatv("{0} (hlo-viz --max-nodes)", most).str(), options.report);
  }
  WriteDot(os, drawing);
  return {};
}

Status WriteHtml(llvm::raw_ostream& os, const Module& module, const FormOptions& options) {
  PageInput page;
  page.module = &module;
  page.fusion_bodies = options.fusion_bodies;
  WritePage(os, page);
  return {};
}

constexpr ModuleFormInfo kForms[] = {
    {ModuleForm::Text, "text", "txt", false, &WriteText},
    {ModuleForm::Json, "json", "json", false, &WriteJson},
    {ModuleForm::Proto, "proto", "hlo.pb", true, &WriteProto},
    {ModuleForm::ProtoText, "pbtxt", "hlo.pbtxt", false, &WriteProtoText},
    {ModuleForm::Dot, "dot", "dot", false, &WriteDrawing},
    {ModuleForm::Html, "html", "html", false, &WriteHtml},
};

}  // namespace

llvm::ArrayRef<ModuleFormInfo> AllModuleForms() { return kForms; }

const ModuleFormInfo& Info(ModuleForm form) { return kForms[static_cast<size_t>(form)]; }

const ModuleFormInfo* FindModuleForm(llvm::StringRef word) {
  const auto* at = llvm::find_if(kForms, [&](const ModuleFormInfo& f) { return f.word == word; });
  return at == std::end(kForms) ? nullptr : at;
}

Status WriteModule(llvm::raw_ostream& os, const Module& module, ModuleForm form, const FormOptions& options) {
  return Info(form).write(os, module, options);
}

}  // namespace hlo

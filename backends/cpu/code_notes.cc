#include "backends/cpu/code_notes.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/IR/AssemblyAnnotationWriter.h"
#include "llvm/IR/DIBuilder.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/FormattedStream.h"
#include "llvm/Support/Path.h"

namespace hlo::cpu {
namespace {

class HeadingWriter final : public llvm::AssemblyAnnotationWriter {
 public:
  explicit HeadingWriter(llvm::ArrayRef<NotedFunction> functions) {
    for (const NotedFunction& noted : functions) notes_[noted.function] = noted.note;
  }
  void emitFunctionAnnot(const llvm::Function* function, llvm::formatted_raw_ostream& os) override {
    if (const auto it = notes_.find(function); it != notes_.end()) os << "; " << it->second->heading << '\n';
  }

 private:
  llvm::DenseMap<const llvm::Function*, const CodeNote*> notes_;
};

}  // namespace

std::string SymbolOf(llvm::StringRef function, const CodeNote& note) {
  std::string symbol = (function + "." + note.name).str();
  for (char& c : symbol)
    if (!llvm::isAlnum(c) && c != '.' && c != '_') c = '_';
  return symbol;
}

void AddLines(llvm::Module& module, llvm::ArrayRef<NotedFunction> functions) {
  llvm::DIBuilder builder(module);
  llvm::DISubroutineType* type = nullptr;
  for (const auto& [function, note] : functions) {
    if (note->file.empty()) continue;
    llvm::DIFile* file =
        builder.createFile(llvm::sys::path::filename(note->file), llvm::sys::path::parent_path(note->file));
    if (type == nullptr) {
      module.addModuleFlag(llvm::Module::Warning, "Debug Info Version", llvm::DEBUG_METADATA_VERSION);
      builder.createCompileUnit(llvm::dwarf::DW_LANG_C, file, "hlo-opt", /*isOptimized=*/true, "", 0);
      type = builder.createSubroutineType(builder.getOrCreateTypeArray({}));
    }
    const auto line = static_cast<unsigned>(note->line);
    llvm::DISubprogram* scope = builder.createFunction(
        file, note->name, function->getName(), file, line, type, line, llvm::DINode::FlagZero,
        llvm::DISubprogram::SPFlagDefinition | llvm::DISubprogram::SPFlagOptimized);
    function->setSubprogram(scope);
    llvm::DILocation* place =
        llvm::DILocation::get(module.getContext(), line, static_cast<unsigned>(note->column), scope);
    for (llvm::Instruction& inst : llvm::instructions(*function)) inst.setDebugLoc(place);
  }
  builder.finalize();
}

void PrintWithHeadings(llvm::raw_ostream& os, const llvm::Module& module,
                       llvm::ArrayRef<NotedFunction> functions) {
  HeadingWriter headings(functions);
  module.print(os, &headings);
}

std::string WithHeadings(llvm::StringRef assembly, llvm::ArrayRef<NotedSymbol> symbols) {
  llvm::StringMap<const NotedSymbol*> by_symbol;
  for (const NotedSymbol& noted : symbols) by_symbol[noted.symbol] = &noted;
  std::string text;
  for (llvm::StringRef rest = assembly; !rest.empty();) {
    const auto [line, next] = rest.split('\n');
    rest = next;
    llvm::StringRef name = line;
    if (name.consume_front("\t.globl\t"))
      if (const auto it = by_symbol.find(name.take_until([](char c) { return c == ' ' || c == '\t'; }));
          it != by_symbol.end())
        text += "# " + it->second->function + ": " + it->second->heading + "\n";
    text += line;
    text += '\n';
  }
  return text;
}

}  // namespace hlo::cpu

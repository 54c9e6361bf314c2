// What tells readers of generated code which instruction it computes: names, headings, lines.
#pragma once
#include <string>

#include "llvm/ADT/ArrayRef.h"

namespace llvm {
class Function;
class Module;
class raw_ostream;
}  // namespace llvm

namespace hlo::cpu {

/// Of a kernel or routine that is shown.
struct CodeNote {
  std::string heading;  // the instructions that it computes: `%a, %b`
  std::string name;     // of the first of them
  std::string file;     // where that stands; empty: it has no text
  int64_t line = 0, column = 0;
};

/// `k3` and `fusion.7` make the symbol `k3.fusion.7`; what assemblers would quote becomes `_`.
std::string SymbolOf(llvm::StringRef function, const CodeNote& note);

struct NotedFunction {
  llvm::Function* function;
  const CodeNote* note;
};

/// Gives the functions lines of the text as debug information: all of each the line of its note.
void AddLines(llvm::Module& module, llvm::ArrayRef<NotedFunction> functions);

/// The whole module, each of the functions below its heading.
void PrintWithHeadings(llvm::raw_ostream& os, const llvm::Module& module,
                       llvm::ArrayRef<NotedFunction> functions);

/// Assembly, each of the symbols below a line `# k3: %a, %b`.
struct NotedSymbol {
  std::string function, symbol, heading;
};
std::string WithHeadings(llvm::StringRef assembly, llvm::ArrayRef<NotedSymbol> symbols);

}  // namespace hlo::cpu

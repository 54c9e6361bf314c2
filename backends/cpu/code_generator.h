// LLVM: from kernels and routines to object files, on several threads.
#pragma once
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "backends/cpu/code_notes.h"
#include "backends/cpu/machine.h"
#include "backends/kernel/routine.h"
#include "backends/llvm/emit_entry.h"

namespace llvm {
class Function;
class TargetMachine;
}  // namespace llvm

namespace hlo::cpu {

using CodeSource = std::variant<kernel::Kernel, kernel::Routine>;

/// Code is made in parts, which threads take one after the other. Which function is in which part depends on
/// the functions only.
class CodeGenerator {
 public:
  /// `together`: all functions are in one part.
  CodeGenerator(Machine machine, bool together);
  ~CodeGenerator();
  /// Adds a function with this name; routines find the kernels they call by number, which are those that were
  /// added before, whether there is code for them or not. Declines (the number is taken). Errors:
  /// compile-kernels, if there is no code generator.
  Status Add(CodeSource source, std::string name);
  /// Adds a function of C that calls routines, by their numbers. All code must be in one part.
  void AddEntryPoint(const codegen::EntryPoint& entry, llvm::ArrayRef<int32_t> routines);
  /// What the parts are given as.
  enum class Form : uint8_t { Object, Assembly, LlvmBefore, LlvmAfter };
  /// The parts. Functions that `is_called` says nothing of from outside are only there for routines; those
  /// that `notes` has are called as it says, with lines if asked for. Once only. Errors: compile-kernels.
  struct Notes {
    std::map<size_t, CodeNote> by_number;
    bool lines = false;  // debug information
  };
  Result<std::vector<std::string>> Generate(Form form, llvm::function_ref<bool(size_t number)> is_called,
                                            const Notes& notes);

 private:
  struct Part;
  class Targets;
  Status Start();
  Result<std::string> GeneratePart(Part& part, Form form, const Notes& notes);
  /// Renames the functions of a part that have notes.
  std::vector<NotedFunction> Rename(Part& part, const Notes& notes);
  Part& OpenPart();
  void SetTarget(llvm::Function& function) const;
  Status AddRoutine(const kernel::Routine& routine, size_t number);
  /// What a part's routines need that only their bodies tell.
  void Optimize(Part& part, const llvm::TargetMachine& target) const;

  Machine machine_;
  bool together_;
  std::unique_ptr<Targets> targets_;
  std::vector<std::unique_ptr<Part>> parts_;
  struct Function {
    std::string name;
    CodeSource source;
    Part* part = nullptr;  // null: there is no code for it
  };
  std::deque<Function> functions_;
};

}  // namespace hlo::cpu

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
#include "backends/llvm/emit_front.h"

namespace llvm {
class Function;
class LLVMContext;
class TargetMachine;
}  // namespace llvm

namespace hlo::cpu {

using CodeSource = std::variant<kernel::Kernel, kernel::Routine>;

/// Code is made in parts, which threads take one after the other. Which function is in which part depends on
/// the functions only.
class CodeGenerator {
 public:
  /// `together`: all functions are in one part, which lies there, as those of others whose code becomes one
  /// object with it; null: there are several parts.
  CodeGenerator(Machine machine, std::shared_ptr<llvm::LLVMContext> together);
  ~CodeGenerator();
  /// Adds a function with this name; routines find the kernels they call by number, which are those that were
  /// added before, whether there is code for them or not. Declines (the number is taken). Errors:
  /// compile-kernels, if there is no code generator.
  Status Add(CodeSource source, std::string name);
  /// Adds the body of a function of C that calls routines, by their numbers. All code must be in one part.
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
  /// An object of functions of C, which have bodies in all of `versions`: those of a machine each, whose code
  /// is in one context. Instead of Generate(). Errors: compile-kernels.
  static Result<std::string> GenerateObject(llvm::ArrayRef<CodeGenerator*> versions,
                                            const codegen::Front& front);

 private:
  struct Part;
  class Targets;
  Status Start();
  Result<std::string> GeneratePart(Part& part, Form form, const Notes& notes);
  /// Renames the functions of a part that have notes.
  std::vector<NotedFunction> Rename(Part& part, const Notes& notes);
  Part& OpenPart();
  static void SetTarget(llvm::Function& function, const Machine& machine);
  void SetTarget(llvm::Function& function) const { SetTarget(function, machine_); }
  Status AddRoutine(const kernel::Routine& routine, size_t number);
  /// What a part's routines need that only their bodies tell.
  void Optimize(Part& part, const llvm::TargetMachine& target) const;
  /// Code that lacks nothing to be emitted.
  void Complete(Part& part, const llvm::TargetMachine& target, bool optimize) const;
  /// Functions that nobody calls from outside.
  void Hide(llvm::function_ref<bool(size_t number)> is_called) const;

  Machine machine_;
  std::shared_ptr<llvm::LLVMContext> together_;
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

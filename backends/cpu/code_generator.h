// LLVM: from kernels and routines to object files, on several threads.
#pragma once
#include <deque>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "backends/cpu/machine.h"
#include "backends/kernel/routine.h"

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
  /// added before, whether there is code for them or not. Errors: kernel-unsupported (the number is taken),
  /// compile-kernels, if there is no code generator.
  Status Add(CodeSource source, std::string name);
  /// The LLVM IR of a function.
  std::string PrintFunction(size_t number);
  /// The parts, as objects or as assembly. Functions that `is_called` says nothing of from outside are only
  /// there for routines. Once only. Errors: compile-kernels.
  Result<std::vector<std::string>> Generate(bool assembly, llvm::function_ref<bool(size_t number)> is_called);

 private:
  struct Part;
  class Targets;
  Status Start();
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

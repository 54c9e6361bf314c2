// Evaluating parts of programs while they are compiled.
#pragma once
#include <memory>

#include "ir/literal.h"
#include "ir/module.h"
#include "ir/support/result.h"

namespace hlo {

class DeviceGroup;

/// How a value is known without running the program.
enum class Constness : uint8_t {
  Unknown,
  Pattern,  // only broadcasts of constants and iotas: made cheaply where it is needed
  Data,     // a constant, or a tuple with one
};
/// Constants that are not elided, broadcasts of them, iotas, tuples of such. Bounded dimensions: unknown.
Constness ConstnessOf(const Instruction& inst);

/// The result depends on nothing but the operands' values: no side effect, no randomness, no device ids, no
/// communication, no custom call, not a barrier; bounded dimensions nowhere; all called computations
/// likewise. `loops`: while counts as such an instruction.
bool IsPure(const Instruction& inst, bool loops = true);

/// Roughly how many scalar operations evaluating the instruction once takes; loops count as one round.
/// Saturates.
double EvaluationWork(const Instruction& inst);

/// The reference evaluator for one instruction or computation at a time, as on a single device.
class Folder {
 public:
  Folder();
  ~Folder();
  /// The value of an instruction from those of its operands. It and what it calls must be pure. Fails
  /// where the evaluator does, and when interrupted.
  Result<Literal> Evaluate(const Instruction& inst, llvm::MutableArrayRef<Literal> operands);
  /// Likewise, the operands being known (ConstnessOf).
  Result<Literal> Evaluate(const Instruction& inst);
  /// The result of a computation all of whose instructions are pure.
  Result<Literal> Call(const Computation& computation, std::vector<Literal> arguments);
  /// The value of an instruction that is known (ConstnessOf), in unpacked storage.
  Result<Literal> Known(const Instruction& inst);

 private:
  std::unique_ptr<DeviceGroup> group_;
};

}  // namespace hlo

// Reference semantics of the opcodes: literals in, literal out.
#pragma once
#include <functional>
#include <memory>

#include "ir/literal.h"
#include "ir/module.h"
#include "ir/support/result.h"

namespace hlo {

class Device;  // ir/eval/device.h: one simulated device – its ids, random state, queues, rendezvous

/// What an op's evaluation may use besides its operands.
class EvalContext {
 public:
  virtual ~EvalContext() = default;
  /// Runs a computation on arguments (tuples as tuple literals). Reference counts matter: pass
  /// arguments by move so that in-place updates stay possible.
  virtual Result<Literal> Call(const Computation& computation, std::vector<Literal> arguments) = 0;
  virtual Device& device() = 0;
  /// Fails with run-interrupted when Ctrl-C, --timeout or another device's failure asks to stop.
  /// Loops of more than about 10 ms of work call it now and then.
  virtual Status CheckInterrupt() = 0;
};

/// Evaluates one instruction. Operands are in unpacked storage (literal.h) and handed over: an op
/// may write into an operand whose Literal::IsUnique(). The result has inst.shape() (layouts do not
/// matter), its bounded dynamic dimensions with run-time sizes.
using EvalFn = Result<Literal> (*)(EvalContext& context, const Instruction& inst,
                                   llvm::MutableArrayRef<Literal> operands);
/// The function ir/ops.def names as Eval<Eval>.
EvalFn EvalRule(OpKind kind);

#define HLO_OP(Kind, text, min, max, Attrs, Category, Traits, Types, Rounding, Shape_, Eval_) \
  Result<Literal> Eval##Eval_(EvalContext& context, const Instruction& inst,                  \
                              llvm::MutableArrayRef<Literal> operands);
#include "ir/ops.def"

}  // namespace hlo

// Building IR in code: shapes are inferred, names made unique, nothing is silently fixed.
#pragma once
#include "ir/module.h"
#include "ir/support/result.h"

namespace hlo {

/// Adds instructions to one computation. Operand types are not broadcast or converted.
class Builder {
 public:
  explicit Builder(Computation& computation, Instruction* before = nullptr)
      : computation_(computation), before_(before) {}
  /// Any op whose shape can be inferred.
  Result<Instruction*> Add(OpKind kind, llvm::ArrayRef<Instruction*> operands, Attrs attrs = {},
                           llvm::ArrayRef<Computation*> callees = {}, llvm::StringRef name = "");
  /// Any op, with a written shape that the rule checks.
  Result<Instruction*> AddWithShape(OpKind kind, Shape shape, llvm::ArrayRef<Instruction*> operands,
                                    Attrs attrs = {}, llvm::ArrayRef<Computation*> callees = {},
                                    llvm::StringRef name = "");
  Instruction* Parameter(int64_t number, Shape shape, llvm::StringRef name);
  Instruction* Constant(Literal literal, llvm::StringRef name = "");

 private:
  Computation& computation_;
  Instruction* before_;
};

}  // namespace hlo

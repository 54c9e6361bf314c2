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
  /// What is made takes its location and metadata from `origin`; null: none.
  void set_origin(const Instruction* origin) {
    loc_ = origin ? origin->loc() : Loc();
    metadata_ = origin ? origin->metadata() : nullptr;
  }
  /// Any op whose shape can be inferred.
  Result<Instruction*> Add(OpKind kind, llvm::ArrayRef<Instruction*> operands, Attrs attrs = {},
                           llvm::ArrayRef<Computation*> callees = {}, llvm::StringRef name = "");
  /// Any op, with a written shape that the rule checks.
  Result<Instruction*> AddWithShape(OpKind kind, Shape shape, llvm::ArrayRef<Instruction*> operands,
                                    Attrs attrs = {}, llvm::ArrayRef<Computation*> callees = {},
                                    llvm::StringRef name = "");
  Instruction* Parameter(int64_t number, Shape shape, llvm::StringRef name);
  Instruction* Constant(const Literal& literal, llvm::StringRef name = "");

 private:
  Instruction* Made(Instruction* added) const;
  Computation& computation_;
  Instruction* before_;
  Loc loc_;
  const OpMetadata* metadata_ = nullptr;
};

}  // namespace hlo

// Values that stand for what was cut away.
#pragma once
#include "ir/module.h"
#include "ir/support/result.h"

namespace hlo {

/// What stands in for a value beyond what is kept.
enum class Boundary : uint8_t { Parameter, Zeros, Random };

/// Adds constants and broadcasts to the end of a computation (or before an instruction of it).
class StandInBuilder {
 public:
  explicit StandInBuilder(Computation& to, Instruction* before = nullptr) : to_(to), before_(before) {}
  /// A value of `shape`: zeros, or random elements that depend on the name of `value` only. Null for
  /// shapes that have no constants: dynamic dimensions, opaque values. Error limit-memory for random
  /// arrays of more than 2^26 elements.
  Result<Instruction*> Make(const Shape& shape, Boundary boundary, const Instruction& value);
  Instruction* Zeros(const Shape& shape);

 private:
  Instruction* Add(OpKind kind, const Shape& shape, llvm::StringRef name,
                   llvm::ArrayRef<Instruction*> operands, Attrs attrs = {});
  Result<Instruction*> Random(const Shape& shape, uint64_t seed);

  Computation& to_;
  Instruction* before_;
};

}  // namespace hlo

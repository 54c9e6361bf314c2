// What is added to the scores of an attention where that is no array yet.
#pragma once
#include "ir/instruction.h"
#include "ir/support/result.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallBitVector.h"

namespace hlo::gpu {

/// A value of a kernel's body, or a step where there is no kernel.
struct PlacedValue {
  const Instruction* inst = nullptr;
  const Instruction* kernel = nullptr;
  bool operator==(const PlacedValue&) const = default;
};

/// The array that a kernel makes for the library of all that is added to scores, and of masks: scores that
/// they leave out get a number that is far below all others.
struct AttentionBias {
  struct Value {
    PlacedValue at;
    enum class Kind : uint8_t {
      Scores,    // as they were before: 0
      Array,     // what a kernel reads
      Number,    // of all elements
      Iota,      // along a dimension
      Each,      // by an elementwise op
      Repeated,  // by a broadcast
      Same,      // with dimensions of one element more or less
      Turned,    // by a transpose
      Kept,      // the operand that scores are
      Sum,       // something is added to scores
      Less,      // or taken from them
      Masked,    // scores where a mask holds
      LeftOut,   // scores where it does not hold
      Other      // whose elements are all different
    } kind = Kind::Other;
    llvm::SmallVector<size_t, 3> operands;  // which of the values; of masks and what they keep
    llvm::SmallBitVector varies;            // by dimension; others have one element
  };
  std::vector<Value> values;  // behind their operands; the last one is the bias
  ElementType type = ElementType::F32;
  double masked = 0;                    // for scores that are left out
  llvm::SmallVector<int64_t, 6> order;  // of the last value's dimensions in the array
};

/// Scores before something is added to them and behind the last of that, as a reader of kernels knows it.
struct BiasedScores {
  PlacedValue before, behind;
  llvm::function_ref<bool(const Instruction* inst)> are_scores;  // steps, and values of kernels
  bool in_kernels = true;  // what lies outside of kernels is not looked into; without them all is
};

/// The value of a kernel that is another one's result, or a step.
PlacedValue SourceOf(PlacedValue value, llvm::function_ref<bool(const Instruction* inst)> are_scores);
/// Of what it is made, but for `masked` and `order`.
AttentionBias BiasOf(const BiasedScores& scores, ElementType of_queries);

}  // namespace hlo::gpu

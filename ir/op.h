// Opcodes and the facts of the op table (ir/ops.def).
#pragma once
#include <array>
#include <cstdint>
#include <optional>

#include "ir/attrs.h"
#include "ir/types.h"
#include "llvm/ADT/StringRef.h"

namespace hlo {

enum class OpKind : uint8_t {
#define HLO_OP(Kind, ...) Kind,
#include "ir/ops.def"
};

enum class OpCategory : uint8_t {
  Arithmetic,
  Transcendental,
  Comparison,
  Conversion,
  Source,
  Movement,
  Indexing,
  Dynamic,
  Tuple,
  Contraction,
  LinearAlgebra,
  Normalisation,
  Reduction,
  Random,
  Control,
  Custom,
  Async,
  Communication
};
llvm::StringRef ToString(OpCategory category);

/// What an operation does to the real numbers it takes; see ir/ops.def.
enum class OpRounding : uint8_t { Moves, Exact, Rounds, Approximate, Body };
llvm::StringRef ToString(OpRounding rounding);

enum OpTraits : uint32_t {
  kElementwise = 1,
  kCommutative = 2,
  kAccuracy = 4,
  kDeclared = 8,
  kStrict = 16,
  kMixed = 32,
  kSideEffect = 64,
  kReshapesLayout = 128,
  kStart = 256,
  kDone = 512,
  kGrouped = 1024,
  kIncreasing = 2048,
  kFlushing = 4096,
  kMonoid = 8192,
  kIdempotent = 16384,
  kRuns = 32768,
  kRearranges = 65536
};

/// One row of ops.def, less the rules (ir/infer and ir/eval index theirs by OpKind).
struct OpInfo {
  OpKind kind;
  llvm::StringRef text;
  int16_t min_operands;
  int16_t max_operands;  // kVariadic: no upper bound
  const AttrInfo* attrs;
  OpCategory category;
  uint32_t traits;
  uint8_t operand_types;  // bit set over TypeClass; 0: the shape rule decides
  OpRounding rounding;

  static constexpr int16_t kVariadic = 0x7fff;
  [[nodiscard]] bool Is(OpTraits trait) const { return (traits & trait) != 0; }
  [[nodiscard]] bool HasFixedArity() const { return max_operands == min_operands; }
  [[nodiscard]] bool AllowsOperandType(ElementType type) const {
    return operand_types == 0 || (operand_types >> static_cast<int>(Info(type).type_class) & 1) != 0;
  }
  /// True if instructions of this kind may call computations.
  [[nodiscard]] bool MayCall() const;
  /// False if such an instruction by itself, without what it calls, only computes its value.
  [[nodiscard]] bool MayDoMore() const {
    return Is(kSideEffect) || category == OpCategory::Communication || category == OpCategory::Custom;
  }
};

namespace internal {
extern const OpInfo op_table[];
}
inline const OpInfo& Info(OpKind kind) { return internal::op_table[static_cast<size_t>(kind)]; }
llvm::ArrayRef<OpInfo> AllOps();
inline llvm::StringRef ToString(OpKind kind) { return Info(kind).text; }
/// The opcode spelled `text`; nothing if there is none.
std::optional<OpKind> ParseOpKind(llvm::StringRef text);

}  // namespace hlo

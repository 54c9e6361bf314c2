// Types of PTX: of registers, variables and instructions (ptx.md §1.3).
#pragma once
#include <cstdint>
#include <optional>

#include "llvm/ADT/StringRef.h"

namespace hlo::ptx {

enum class Type : uint8_t {
  None,
#define PTX_TYPE(Kind, text, bits, class, lanes) Kind,
#include "backends/gpu/ptx/types.def"
};
enum class TypeClass : uint8_t { None, Bits, Unsigned, Signed, Float, Predicate };

struct TypeInfo {
  llvm::StringRef text;
  unsigned bits;
  TypeClass kind;
  unsigned lanes;  // 2: a pair in one register
  [[nodiscard]] unsigned bytes() const { return (bits + 7) / 8; }
};
const TypeInfo& InfoOf(Type type);
std::optional<Type> FindType(llvm::StringRef text);

inline unsigned BitsOf(Type type) { return InfoOf(type).bits; }
inline bool IsFloat(Type type) { return InfoOf(type).kind == TypeClass::Float; }
inline bool IsSigned(Type type) { return InfoOf(type).kind == TypeClass::Signed; }
inline bool IsInteger(Type type) {
  return InfoOf(type).kind == TypeClass::Signed || InfoOf(type).kind == TypeClass::Unsigned;
}

/// The integer type of twice the width, for wide products.
Type Widened(Type type);

/// Whether ptxas lets a register of type `held` stand where an instruction wants `wanted`. `may_be_wider`:
/// for operands of ld, st, cvt and vector moves.
bool RegisterFits(Type wanted, Type held, bool may_be_wider);

}  // namespace hlo::ptx

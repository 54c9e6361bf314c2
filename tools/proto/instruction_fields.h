// instruction_fields.def as a table.
#pragma once
#include <array>

#include "ir/attrs.h"

namespace hlo {

enum ProtoFlags : uint8_t { kWord = 1, kAsList = 2, kOptional = 4, kPresence = 8, kOneIfMissing = 16 };

/// A row of instruction_fields.def.
struct ProtoField {
  const AttrInfo* attrs;  // null: any
  llvm::StringRef name;
  std::array<int, 3> path;  // 0 behind the last
  uint8_t flags;
  /// How many messages are around the field.
  [[nodiscard]] constexpr int depth() const { return path[1] == 0 ? 0 : path[2] == 0 ? 1 : 2; }
};

namespace proto_fields {
struct Any {};
template <class T>
constexpr const AttrInfo* StructOf() {
  if constexpr (std::is_same_v<T, Any>)
    return nullptr;
  else
    return &T::kInfo;
}
}  // namespace proto_fields

/// The field of an attribute: that of its struct, else the common one; null if there is none.
const ProtoField* FindProtoField(const AttrInfo& attrs, const FieldInfo& field);

/// PrecisionConfig.Algorithm of each DotAlgorithm.
inline constexpr int kDotAlgorithms[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 13, 9, 10, 11, 12};
/// Whether the field holds one of kDotAlgorithms.
inline bool IsDotAlgorithm(const ProtoField& row) { return row.name == "algorithm" && row.path[0] == 51; }

/// Fields of instructions whatever the opcode.
inline constexpr int kProtoLiteral = 8, kProtoConstrainLayout = 56, kProtoIotaGroups = 92,
                     kProtoMeshGroups = 93, kProtoOrigin = 88;

/// The word of the comparison type that a comparison has if it says none.
llvm::StringRef ImpliedCompareType(ElementType type);

}  // namespace hlo

#include "hlo/types.h"

#include "ir/numeric/narrow_float.h"
#include "tools/library/convert.h"

namespace hlo_toolkit {
namespace {

/// Whether the rows of both tables are the same types.
constexpr bool SameTypes() {
  constexpr struct {
    int number;
    std::string_view text;
  } kRows[] = {
#define HLO_PRIMITIVE(Name, number, text) {number, text},
#include "hlo/types.def"
  };
  size_t arrays = 0;
  for (const hlo::TypeInfo& info : hlo::kTypeTable) {
    if (info.type_class == hlo::TypeClass::None) continue;
    ++arrays;
    bool found = false;
    for (const auto& row : kRows)
      found |= row.number == info.primitive_type &&
               row.text == std::string_view(info.text.data(), info.text.size());
    if (!found) return false;
  }
  return arrays == std::size(kRows);
}
static_assert(SameTypes(), "hlo/types.def and ir/types.def differ");

/// Null for what is no type.
const hlo::TypeInfo* InfoOf(PrimitiveType type) {
  for (const hlo::TypeInfo& info : hlo::kTypeTable)
    if (info.primitive_type == type) return &info;
  return nullptr;
}

bool HasClass(PrimitiveType type, hlo::TypeClass wanted) {
  const hlo::TypeInfo* info = InfoOf(type);
  return info && info->type_class == wanted;
}

}  // namespace

std::string_view PrimitiveTypeName(PrimitiveType type) {
  const hlo::TypeInfo* info = InfoOf(type);
  return info ? std::string_view(info->text.data(), info->text.size()) : std::string_view();
}

PrimitiveType PrimitiveTypeFromName(std::string_view name) {
  for (const hlo::TypeInfo& info : hlo::kTypeTable)
    if (info.text == llvm::StringRef(name.data(), name.size()))
      return static_cast<PrimitiveType>(info.primitive_type);
  return PRIMITIVE_TYPE_INVALID;
}

bool IsArrayType(PrimitiveType type) {
  const hlo::TypeInfo* info = InfoOf(type);
  return info && info->type_class != hlo::TypeClass::None;
}
int BitWidth(PrimitiveType type) { return IsArrayType(type) ? InfoOf(type)->bits : 0; }
int ByteWidth(PrimitiveType type) { return IsArrayType(type) ? InfoOf(type)->host_bytes() : 0; }
bool IsSigned(PrimitiveType type) { return HasClass(type, hlo::TypeClass::Signed); }
bool IsIntegral(PrimitiveType type) { return IsSigned(type) || HasClass(type, hlo::TypeClass::Unsigned); }
bool IsFloatingPoint(PrimitiveType type) { return HasClass(type, hlo::TypeClass::Float); }
bool IsComplex(PrimitiveType type) { return HasClass(type, hlo::TypeClass::Complex); }

namespace internal {

hlo::Result<hlo::ElementType> ToElementType(PrimitiveType type) {
  if (const hlo::TypeInfo* info = InfoOf(type)) return info->type;
  return Wrong("there is no element type number {0}", static_cast<int>(type));
}
PrimitiveType FromElementType(hlo::ElementType type) {
  return static_cast<PrimitiveType>(hlo::Info(type).primitive_type);
}
float FloatOfBits(PrimitiveType type, uint64_t bits) {
  return IsFloatingPoint(type) ? hlo::ToFloat(InfoOf(type)->type, bits) : 0;
}
uint64_t BitsOfFloat(PrimitiveType type, float value) {
  return IsFloatingPoint(type) ? hlo::FromFloat(InfoOf(type)->type, value) : 0;
}

}  // namespace internal
}  // namespace hlo_toolkit

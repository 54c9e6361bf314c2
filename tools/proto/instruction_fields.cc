#include "tools/proto/instruction_fields.h"

namespace hlo {

const ProtoField* FindProtoField(const AttrInfo& attrs, const FieldInfo& field) {
  using namespace proto_fields;
  static constexpr ProtoField kFields[] = {
#define HLO_PROTO_ATTR(Struct, name, a, b, c, flags) {StructOf<Struct>(), name, {a, b, c}, flags},
#include "tools/proto/instruction_fields.def"
  };
  static constexpr ProtoField kLiteral = {nullptr, "literal", {kProtoLiteral, 0, 0}, 0};
  const ProtoField* found = field.name == kLiteral.name ? &kLiteral : nullptr;
  for (const ProtoField& row : kFields) {
    if (row.name != field.name) continue;
    if (row.attrs == &attrs) return &row;
    if (row.attrs == nullptr) found = &row;
  }
  return found;
}

llvm::StringRef ImpliedCompareType(ElementType type) {
  return IsFloat(type) || IsComplex(type) ? "FLOAT" : IsSigned(type) ? "SIGNED" : "UNSIGNED";
}

}  // namespace hlo

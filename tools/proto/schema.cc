#include "tools/proto/schema.h"

#include "ir/types.h"
#include "llvm/ADT/StringMap.h"

namespace hlo {
namespace {

constexpr SchemaField kRows[] = {
#define HLO_PROTO_MESSAGE(name)                 {0, name, ProtoKind::Message, ""},
#define HLO_PROTO_FIELD(number, name, kind, of) {number, name, ProtoKind::kind, of},
#include "tools/proto/messages.def"
};

/// The word of an element type in xla_data.proto.
std::string TypeWord(const TypeInfo& type) {
  return type.type == ElementType::Opaque ? "OPAQUE_TYPE" : type.text.upper();
}

}  // namespace

llvm::ArrayRef<SchemaField> FieldsOf(llvm::StringRef message) {
  static const llvm::StringMap<llvm::ArrayRef<SchemaField>> all = [] {
    llvm::StringMap<llvm::ArrayRef<SchemaField>> messages;
    for (size_t i = 0; i < std::size(kRows);) {
      const llvm::StringRef name = kRows[i].name;
      const size_t begin = ++i;
      while (i < std::size(kRows) && kRows[i].number != 0) ++i;
      messages[name] = llvm::ArrayRef(kRows).slice(begin, i - begin);
    }
    return messages;
  }();
  return all.lookup(message);
}

const SchemaField* FindField(llvm::StringRef message, llvm::StringRef name) {
  const auto fields = FieldsOf(message);
  const auto* found = llvm::find_if(fields, [&](const SchemaField& f) { return f.name == name; });
  return found == fields.end() ? nullptr : found;
}

const SchemaField* FindField(llvm::StringRef message, int number) {
  const auto fields = FieldsOf(message);
  const auto* found = llvm::find_if(fields, [&](const SchemaField& f) { return f.number == number; });
  return found == fields.end() ? nullptr : found;
}

std::optional<int64_t> NumberOf(const SchemaField& field, llvm::StringRef word) {
  if (field.of == "PrimitiveType") {
    for (const TypeInfo& type : kTypeTable)
      if (TypeWord(type) == word) return type.primitive_type;
    return std::nullopt;
  }
  int64_t number = 0;
  for (const llvm::StringRef each : llvm::split(field.of, ',')) {
    if (each == word) return number;
    ++number;
  }
  return std::nullopt;
}

std::optional<std::string> WordOf(const SchemaField& field, int64_t number) {
  if (field.of == "PrimitiveType") {
    for (const TypeInfo& type : kTypeTable)
      if (type.primitive_type == number) return TypeWord(type);
    return std::nullopt;
  }
  for (const llvm::StringRef each : llvm::split(field.of, ','))
    if (number-- == 0) return each.str();
  return std::nullopt;
}

}  // namespace hlo

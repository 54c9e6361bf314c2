// messages.def as tables.
#pragma once
#include <optional>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace hlo {

/// What a field holds; a list (packed) where the name is in the plural.
enum class ProtoKind : uint8_t {
  Int,
  Ints,
  Bool,
  Bools,
  Enum,
  Enums,
  Float,
  Floats,
  Double,
  Doubles,
  Text,
  Message
};

struct SchemaField {
  int number;  // 0: the row begins a message
  llvm::StringLiteral name;
  ProtoKind kind;
  llvm::StringLiteral of;  // the message, or the words of the enumeration
};

/// The fields of a message that messages.def names.
llvm::ArrayRef<SchemaField> FieldsOf(llvm::StringRef message);
const SchemaField* FindField(llvm::StringRef message, llvm::StringRef name);
const SchemaField* FindField(llvm::StringRef message, int number);
/// The number of an enumeration's word, and the word of a number; nothing if there is none.
std::optional<int64_t> NumberOf(const SchemaField& field, llvm::StringRef word);
std::optional<std::string> WordOf(const SchemaField& field, int64_t number);

}  // namespace hlo

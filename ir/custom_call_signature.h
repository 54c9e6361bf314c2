// Signatures of built-in custom-call targets: the language of ir/custom_calls.def as data.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "ir/types.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace hlo {

/// An expression over sizes and attributes, `min(m,n)` or `mode=A?m:_`.
struct SizeExpr {
  enum class Kind : uint8_t { Any, Number, Name, Minus, Min, Max, Choice };
  Kind kind = Kind::Any;
  int64_t number = 0;  // Number; Minus: what is taken off; Choice: the value of the attribute
  std::string name;    // Name: size or attribute; Choice: the attribute
  std::vector<SizeExpr> parts;
  std::string text;

  /// Nothing for `_`, and where a name has no value; `value` tells those of names.
  [[nodiscard]] std::optional<int64_t> Evaluate(
      llvm::function_ref<std::optional<int64_t>(llvm::StringRef)> value) const;
  /// Calls f for the names that the value depends on.
  void ForEachName(llvm::function_ref<void(llvm::StringRef)> f) const;
};

/// An operand or a result.
struct ValueSpec {
  enum class Type : uint8_t { Fixed, Target, Real, Complex, Bits };
  std::string name;
  Type type = Type::Fixed;
  ElementType element = ElementType::Pred;  // Fixed
  int bits = 0;                             // Bits
  bool may_be_dynamic = false;
  std::string leading;          // `b` of `*b`; empty: none
  std::vector<SizeExpr> sizes;  // the others
  std::string repeated;         // `d` of `* |d|`; empty: once
  std::string flag;             // `f` of `if f`: a scalar where that attribute is false; empty: never
  std::string text;             // `T[*b,n]`
};

struct AttributeSpec {
  std::string name;
  std::string type;  // `ui8`, `i32`, `bool`, `string`
  std::string letters;
  SizeExpr low, high, otherwise;
};

/// `left = right` or `left <= right`.
struct Relation {
  SizeExpr left, right;
  bool equal;
};

/// What a target is called with.
struct CustomCallSignature {
  std::string target;                  // may end in `*`
  std::optional<ElementType> element;  // T, where the name of the target decides it
  std::vector<ElementType> elements;   // what T may be; empty: anything
  std::vector<ValueSpec> operands, results;
  bool free_operands = false, free_results = false;  // `...`
  bool has_dictionary = false;
  std::vector<AttributeSpec> attributes;
  std::vector<Relation> relations;
  std::string rule;
};

/// Reads a signature; ends the program if it is malformed, as the table is part of the program.
CustomCallSignature ParseSignature(llvm::StringRef target, std::optional<ElementType> element,
                                   llvm::StringRef text);

/// All targets of ir/custom_calls.def.
llvm::ArrayRef<CustomCallSignature> AllCustomCallSignatures();
/// That of a target, or null if it is none of the table.
const CustomCallSignature* FindCustomCallSignature(llvm::StringRef target);

}  // namespace hlo

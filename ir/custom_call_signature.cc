#include "ir/custom_call_signature.h"

#include <algorithm>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/ErrorHandling.h"

namespace hlo {

std::optional<int64_t> SizeExpr::Evaluate(
    llvm::function_ref<std::optional<int64_t>(llvm::StringRef)> value) const {
  const auto part = [&](size_t i) { return parts[i].Evaluate(value); };
  switch (kind) {
    case Kind::Any: return std::nullopt;
    case Kind::Number: return number;
    case Kind::Name: return value(name);
    case Kind::Choice: {
      const auto found = value(name);
      if (!found) return std::nullopt;
      return part(*found == number ? 0 : 1);
    }
    case Kind::Minus: {
      const auto from = part(0);
      if (!from) return std::nullopt;
      return std::max<int64_t>(0, *from - number);
    }
    case Kind::Min:
    case Kind::Max: {
      const auto a = part(0), b = part(1);
      if (!a || !b) return std::nullopt;
      return kind == Kind::Min ? std::min(*a, *b) : std::max(*a, *b);
    }
  }
  llvm_unreachable("kind of a size");
}

void SizeExpr::ForEachName(llvm::function_ref<void(llvm::StringRef)> f) const {
  if (!name.empty()) f(name);
  for (const SizeExpr& part : parts) part.ForEachName(f);
}

namespace {

/// Recursive descent over the text of one row.
class SignatureParser {
 public:
  SignatureParser(llvm::StringRef target, llvm::StringRef text) : target_(target), all_(text), rest_(text) {}

  void Run(CustomCallSignature& into) {
    Values(into.operands, into.free_operands);
    Expect("->");
    Values(into.results, into.free_results);
    if (Take("{")) {
      into.has_dictionary = true;
      while (!Take("}")) {
        into.attributes.push_back(Attribute());
        Take(",");
      }
    }
    while (!rest_.ltrim().empty()) {
      OneRelation(into);
      if (!Take(",")) break;
    }
    if (!rest_.ltrim().empty()) Fail();
  }

 private:
  [[noreturn]] void Fail() const {
    llvm::report_fatal_error(llvm::Twine("custom_calls.def: signature of ") + target_ + " is malformed at '" +
                             rest_ + "'");
  }
  bool Take(llvm::StringRef token) {
    rest_ = rest_.ltrim();
    return rest_.consume_front(token);
  }
  void Expect(llvm::StringRef token) {
    if (!Take(token)) Fail();
  }
  llvm::StringRef Word() {
    rest_ = rest_.ltrim();
    const llvm::StringRef word = rest_.take_while([](char c) { return llvm::isAlnum(c) || c == '_'; });
    if (word.empty()) Fail();
    rest_ = rest_.drop_front(word.size());
    return word;
  }
  int64_t Number() {
    int64_t number = 0;
    if (Word().getAsInteger(10, number)) Fail();
    return number;
  }

  void Values(std::vector<ValueSpec>& values, bool& unspecified) {
    if (Take("...")) {
      unspecified = true;
      return;
    }
    if (rest_.ltrim().starts_with("->")) return;
    do values.push_back(Value());
    while (Take(","));
  }

  ValueSpec Value() {
    ValueSpec value;
    value.name = Word();
    Expect(":");
    const char* begin = rest_.ltrim().data();
    Type(Word(), value);
    value.may_be_dynamic = Take("~");
    Expect("[");
    if (Take("*")) {
      value.leading = Word();
      Take(",");
    }
    while (!Take("]")) {
      value.sizes.push_back(Size());
      Take(",");
    }
    value.text = std::string(begin, rest_.begin());
    if (Take("*")) {
      Expect("|");
      value.repeated = Word();
      Expect("|");
    }
    if (Take("if ")) value.flag = Word();
    return value;
  }

  void Type(llvm::StringRef text, ValueSpec& value) {
    static constexpr std::pair<llvm::StringRef, ValueSpec::Type> kTypes[] = {
        {"T", ValueSpec::Type::Target}, {"R", ValueSpec::Type::Real}, {"C", ValueSpec::Type::Complex}};
    for (const auto& [name, type] : kTypes)
      if (text == name) {
        value.type = type;
        return;
      }
    if (text.consume_front("bits")) {
      value.type = ValueSpec::Type::Bits;
      if (text.getAsInteger(10, value.bits)) Fail();
      return;
    }
    const auto element = ParseElementType(text);
    if (!element) Fail();
    value.element = *element;
  }

  SizeExpr Size() {
    const char* begin = rest_.ltrim().begin();
    SizeExpr size = SizeWithoutText();
    size.text = std::string(begin, rest_.begin());
    return size;
  }
  SizeExpr SizeWithoutText() {
    using Kind = SizeExpr::Kind;
    SizeExpr size;
    const llvm::StringRef word = Word();
    if (word == "_") return size;
    if (!word.getAsInteger(10, size.number)) {
      size.kind = Kind::Number;
      return size;
    }
    if (word == "min" || word == "max") {
      size.kind = word == "min" ? Kind::Min : Kind::Max;
      Expect("(");
      size.parts.push_back(Size());
      Expect(",");
      size.parts.push_back(Size());
      Expect(")");
      return size;
    }
    size.name = word;
    size.kind = Kind::Name;
    if (rest_.starts_with("=")) return Choice(std::move(size));
    if (!rest_.starts_with("-") || rest_.starts_with("->")) return size;
    Expect("-");
    SizeExpr less;
    less.kind = Kind::Minus;
    less.parts.push_back(std::move(size));
    less.number = Number();
    return less;
  }
  SizeExpr Choice(SizeExpr choice) {
    choice.kind = SizeExpr::Kind::Choice;
    Expect("=");
    const llvm::StringRef value = Word();
    if (value.getAsInteger(10, choice.number)) choice.number = static_cast<unsigned char>(value[0]);
    Expect("?");
    choice.parts.push_back(Size());
    Expect(":");
    choice.parts.push_back(Size());
    return choice;
  }

  AttributeSpec Attribute() {
    AttributeSpec attribute;
    attribute.name = Word();
    Expect(":");
    attribute.type = Word();
    if (attribute.type == "ui8" && llvm::isAlpha(rest_.ltrim().front())) {
      attribute.letters = Word();
      Expect("=");
      attribute.otherwise.kind = SizeExpr::Kind::Number;
      attribute.otherwise.number = static_cast<unsigned char>(Word()[0]);
    } else if (attribute.type == "bool") {
      Expect("=");
      attribute.otherwise.kind = SizeExpr::Kind::Number;
      attribute.otherwise.number = Word() == "true" ? 1 : 0;
    } else if (attribute.type == "string") {
      attribute.otherwise.kind = SizeExpr::Kind::Number;
    } else {
      attribute.low = Size();
      Expect("..");
      attribute.high = Size();
      Expect("=");
      attribute.otherwise = Size();
    }
    return attribute;
  }

  void OneRelation(CustomCallSignature& into) {
    if (Take("rule ")) {
      into.rule = Word();
      return;
    }
    if (Take("T in ")) {
      while (!rest_.ltrim().empty() && !rest_.ltrim().starts_with(",")) {
        const auto element = ParseElementType(Word());
        if (!element) Fail();
        into.elements.push_back(*element);
      }
      return;
    }
    Relation relation{Size(), {}, false};
    relation.equal = !Take("<=");
    if (relation.equal) Expect("=");
    relation.right = Size();
    into.relations.push_back(std::move(relation));
  }

  llvm::StringRef target_, all_, rest_;
};

std::vector<CustomCallSignature> ReadTable() {
  std::vector<CustomCallSignature> table;
#define CUSTOM_CALL(target, Evaluate, signature) \
  table.push_back(ParseSignature(target, std::nullopt, signature));
#define LAPACK_CALL(Id, real, complex, of_real, of_complex)                                 \
  table.push_back(ParseSignature("lapack_s" real "_ffi", ElementType::F32, of_real));       \
  table.push_back(ParseSignature("lapack_d" real "_ffi", ElementType::F64, of_real));       \
  table.push_back(ParseSignature("lapack_c" complex "_ffi", ElementType::C64, of_complex)); \
  table.push_back(ParseSignature("lapack_z" complex "_ffi", ElementType::C128, of_complex));
#include "ir/custom_calls.def"
  return table;
}

}  // namespace

CustomCallSignature ParseSignature(llvm::StringRef target, std::optional<ElementType> element,
                                   llvm::StringRef text) {
  CustomCallSignature signature;
  signature.target = target;
  signature.element = element;
  SignatureParser(target, text).Run(signature);
  return signature;
}

llvm::ArrayRef<CustomCallSignature> AllCustomCallSignatures() {
  static const std::vector<CustomCallSignature> table = ReadTable();
  return table;
}

const CustomCallSignature* FindCustomCallSignature(llvm::StringRef target) {
  static const llvm::StringMap<const CustomCallSignature*> by_target = [] {
    llvm::StringMap<const CustomCallSignature*> map;
    for (const CustomCallSignature& signature : AllCustomCallSignatures()) map[signature.target] = &signature;
    return map;
  }();
  if (const auto it = by_target.find(target); it != by_target.end()) return it->second;
  for (const CustomCallSignature& signature : AllCustomCallSignatures())
    if (llvm::StringRef begin = signature.target; begin.consume_back("*") && target.starts_with(begin))
      return &signature;
  return nullptr;
}

}  // namespace hlo

// Operands of instructions (ptx.md §1.2, §1.3).
#include <bit>

#include "backends/gpu/ptx/parser_state.h"

namespace hlo::ptx {

/// operand (',' operand)*
Result<std::vector<Operand>> Parser::ParseOperands() {
  std::vector<Operand> operands;
  do {
    HLO_TRY(Operand operand, ParseOperand(false));
    operands.push_back(std::move(operand));
  } while (Take(","));
  return operands;
}

/// '{' operand (',' operand)* '}' | '[' address ']' | '_' | '!' predicate | name | number
Result<Operand> Parser::ParseOperand(bool in_vector) {
  Operand operand;
  operand.loc = Here();
  if (Is("{") && !in_vector) {
    Next();
    operand.kind = Operand::Kind::Vector;
    do {
      HLO_TRY(Operand element, ParseOperand(true));
      operand.elements.push_back(std::move(element));
    } while (Take(","));
    operand.loc.end = token_.end;
    HLO_CHECK_OK(Expect("}"));
    return operand;
  }
  if (Is("[") && !in_vector) return ParseAddress();
  if (token_.kind == TokenKind::Word && token_.text == "_") {
    Next();
    operand.kind = Operand::Kind::Sink;
    HLO_CHECK_OK(ParsePair(operand));
    return operand;
  }
  Lexer ahead = lexer_;
  if (Is("!") && ahead.Lex().kind == TokenKind::Word) {
    Next();
    operand.kind = Operand::Kind::Register;
    operand.negated = true;
    HLO_TRY(operand.reg, ParsePredicate());
    return operand;
  }
  return token_.kind == TokenKind::Word ? ParseNamed() : ParseNumber();
}

/// special register | register ['|' predicate] | variable or function ['+' constant]
Result<Operand> Parser::ParseNamed() {
  Operand operand;
  operand.loc = Here();
  std::string name = token_.text.str();
  Next();
  if (token_.kind == TokenKind::Dotted && token_.text.size() == 1) {
    name += "." + token_.text.str();
    operand.loc.end = token_.end;
    Next();
  }
  if (const Entity* entity = Find(name)) {
    if (!entity->parts.empty()) {
      operand.kind = Operand::Kind::Vector;
      for (const Register* part : entity->parts) {
        Operand& element = operand.elements.emplace_back();
        element.kind = Operand::Kind::Register;
        element.reg = part;
        element.loc = operand.loc;
      }
    } else if (entity->reg != nullptr) {
      operand.kind = Operand::Kind::Register;
      operand.reg = entity->reg;
      HLO_CHECK_OK(ParsePair(operand));
    } else if (entity->variable != nullptr || entity->function != nullptr) {
      operand.kind = Operand::Kind::Symbol;
      operand.variable = entity->variable;
      operand.function = entity->function;
      if (Is("+") || Is("-")) {
        HLO_TRY(operand.integer, ParseBinary(7, 0));
      }
    } else {
      return Error("parse-unexpected-token", operand.loc, "'{0}' is no operand", name);
    }
    return operand;
  }
  if (const auto special = FindSpecial(name)) {
    const SpecialInfo& info = InfoOf(*special);
    if (module_->sm < info.sm)
      return Error("verify-attribute", operand.loc, "'{0}' needs sm_{1}, the module is for sm_{2}", name,
                   info.sm, module_->sm);
    operand.kind = Operand::Kind::Special;
    operand.special = *special;
    return operand;
  }
  return Error("parse-undefined-name", operand.loc, "'{0}' is not defined", name);
}

/// ['|' (predicate | '_')]
Status Parser::ParsePair(Operand& operand) {
  if (!Take("|")) return {};
  if (token_.kind == TokenKind::Word && token_.text == "_") {
    operand.second_is_sink = true;
    Next();
    return {};
  }
  HLO_TRY(operand.second, ParsePredicate());
  return {};
}

/// constant expression, or a floating-point number with its sign
Result<Operand> Parser::ParseNumber() {
  Operand operand;
  operand.loc = Here();
  const bool negative = Is("-");
  Lexer ahead = lexer_;
  const Token number = negative ? ahead.Lex() : token_;
  if (number.kind == TokenKind::Float64 || (number.kind == TokenKind::Float32 && !negative)) {
    if (negative) Next();
    Next();
    operand.loc.end = number.end;
    operand.kind = Operand::Kind::Float;
    operand.single = number.kind == TokenKind::Float32;
    operand.raw = static_cast<uint32_t>(number.bits);
    uint64_t bits = number.bits;
    if (operand.single)
      bits = std::bit_cast<uint64_t>(static_cast<double>(std::bit_cast<float>(operand.raw)));
    operand.integer = static_cast<int64_t>(bits ^ (negative ? uint64_t{1} << 63 : 0));
    return operand;
  }
  if (token_.kind != TokenKind::Integer && token_.kind != TokenKind::Punctuation)
    return Unexpected("an operand");
  operand.kind = Operand::Kind::Integer;
  HLO_TRY(operand.integer, ParseConstant());
  return operand;
}

/// '[' (register | variable | constant) ['+' constant] ']'
Result<Operand> Parser::ParseAddress() {
  Operand operand;
  operand.kind = Operand::Kind::Address;
  operand.loc = Here();
  Next();
  if (token_.kind == TokenKind::Word) {
    const Loc loc = Here();
    std::string name = token_.text.str();
    Next();
    if (token_.kind == TokenKind::Dotted && token_.text.size() == 1) {
      name += "." + token_.text.str();
      Next();
    }
    const Entity* entity = Find(name);
    if (entity == nullptr) return Error("parse-undefined-name", loc, "'{0}' is not defined", name);
    operand.reg = entity->reg;
    operand.variable = entity->variable;
    if (operand.reg == nullptr && operand.variable == nullptr)
      return Error("parse-unexpected-token", loc, "'{0}' is no address", name);
    if (Take("+")) {
      HLO_TRY(operand.integer, ParseConstant());
    }
  } else {
    HLO_TRY(operand.integer, ParseConstant());
  }
  operand.loc.end = token_.end;
  HLO_CHECK_OK(Expect("]"));
  return operand;
}

}  // namespace hlo::ptx

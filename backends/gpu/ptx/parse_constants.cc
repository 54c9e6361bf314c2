// Constant expressions and initialisers (ptx.md §1.1, §1.2).
#include <bit>

#include "backends/gpu/ptx/parser_state.h"
#include "llvm/Support/MathExtras.h"

namespace hlo::ptx {
namespace {

constexpr int kMaxDepth = 100;
/// Nobody writes more than this much of an initialiser.
constexpr uint64_t kMaxInit = 256 << 20;

using Fold = uint64_t (*)(uint64_t, uint64_t);
struct Operator {
  llvm::StringRef text;
  int level;  // higher binds closer
  Fold fold;
};
uint64_t Shifted(uint64_t x, uint64_t by, bool left) { return by > 63 ? 0 : left ? x << by : x >> by; }
constexpr Operator kOperators[] = {
    {"||", 0, [](uint64_t x, uint64_t y) { return uint64_t{x != 0 || y != 0}; }},
    {"&&", 1, [](uint64_t x, uint64_t y) { return uint64_t{x != 0 && y != 0}; }},
    {"|", 2, [](uint64_t x, uint64_t y) { return x | y; }},
    {"^", 3, [](uint64_t x, uint64_t y) { return x ^ y; }},
    {"&", 4, [](uint64_t x, uint64_t y) { return x & y; }},
    {"==", 5, [](uint64_t x, uint64_t y) { return uint64_t{x == y}; }},
    {"!=", 5, [](uint64_t x, uint64_t y) { return uint64_t{x != y}; }},
    {"<<", 6, [](uint64_t x, uint64_t y) { return Shifted(x, y, true); }},
    {">>", 6, [](uint64_t x, uint64_t y) { return Shifted(x, y, false); }},
    {"+", 7, [](uint64_t x, uint64_t y) { return x + y; }},
    {"-", 7, [](uint64_t x, uint64_t y) { return x - y; }},
    {"*", 8, [](uint64_t x, uint64_t y) { return x * y; }},
    {"/", 8, [](uint64_t x, uint64_t y) { return y == 0 ? 0 : x / y; }},
    {"%", 8, [](uint64_t x, uint64_t y) { return y == 0 ? 0 : x % y; }}};
constexpr int kHighestLevel = 8;

void Store(std::vector<uint8_t>& bytes, uint64_t at, uint64_t value, unsigned count) {
  if (bytes.size() < at + count) bytes.resize(at + count);
  for (unsigned i = 0; i < count; ++i) bytes[at + i] = static_cast<uint8_t>(value >> (8 * i));
}

uint64_t FloatBits(Type type, const Token& token, bool negative) {
  if (type == Type::F32) {
    const auto bits = token.kind == TokenKind::Float32
                          ? static_cast<uint32_t>(token.bits)
                          : std::bit_cast<uint32_t>(static_cast<float>(std::bit_cast<double>(token.bits)));
    return bits ^ (negative ? 0x80000000U : 0);
  }
  const uint64_t bits = token.kind == TokenKind::Float64 || type != Type::F64
                            ? token.bits
                            : std::bit_cast<uint64_t>(static_cast<double>(
                                  std::bit_cast<float>(static_cast<uint32_t>(token.bits))));
  return bits ^ (negative ? uint64_t{1} << 63 : 0);
}

}  // namespace

/// binary ['?' ternary ':' ternary]
Result<int64_t> Parser::ParseTernary(int depth) {
  if (depth > kMaxDepth)
    return Error("parse-unexpected-token", Here(), "expression is nested more than {0} deep", kMaxDepth);
  HLO_TRY(const int64_t condition, ParseBinary(0, depth));
  if (!Take("?")) return condition;
  HLO_TRY(const int64_t yes, ParseTernary(depth + 1));
  HLO_CHECK_OK(Expect(":"));
  HLO_TRY(const int64_t no, ParseTernary(depth + 1));
  return condition != 0 ? yes : no;
}

Result<int64_t> Parser::ParseBinary(int level, int depth) {
  if (level > kHighestLevel) return ParseUnary(depth);
  HLO_TRY(int64_t value, ParseBinary(level + 1, depth));
  while (token_.kind == TokenKind::Punctuation) {
    const auto* const op = llvm::find_if(
        kOperators, [&](const Operator& o) { return o.level == level && o.text == token_.text; });
    if (op == std::end(kOperators)) break;
    Next();
    HLO_TRY(const int64_t right, ParseBinary(level + 1, depth));
    value = static_cast<int64_t>(op->fold(static_cast<uint64_t>(value), static_cast<uint64_t>(right)));
  }
  return value;
}

/// ('+' | '-' | '~' | '!')* (integer | WARP_SZ | '(' ternary ')')
Result<int64_t> Parser::ParseUnary(int depth) {
  if (depth > kMaxDepth)
    return Error("parse-unexpected-token", Here(), "expression is nested more than {0} deep", kMaxDepth);
  for (const char op : {'+', '-', '~', '!'}) {
    if (!Take(llvm::StringRef(&op, 1))) continue;
    HLO_TRY(const int64_t value, ParseUnary(depth + 1));
    const auto bits = static_cast<uint64_t>(value);
    return static_cast<int64_t>(op == '-'   ? 0 - bits
                                : op == '~' ? ~bits
                                : op == '!' ? uint64_t{bits == 0}
                                            : bits);
  }
  if (Take("(")) {
    HLO_TRY(const int64_t value, ParseTernary(depth + 1));
    HLO_CHECK_OK(Expect(")"));
    return value;
  }
  if (token_.kind == TokenKind::Word && token_.text == "WARP_SZ") {
    Next();
    return 32;
  }
  HLO_TRY(const uint64_t value, TakeUnsigned("a number"));
  return static_cast<int64_t>(value);
}

/// '=' value | '=' '{' … '}'
Status Parser::ParseInitializer(Variable& variable) {
  if (variable.space == Space::Shared || variable.space == Space::Param || variable.space == Space::Local)
    return Error("verify-attribute", Here(), "variables in .{0} memory have no initialiser",
                 ToString(variable.space));
  if (variable.external) return Error("verify-attribute", Here(), "external variables have no initialiser");
  uint64_t count = variable.vector;
  for (const uint64_t dim : variable.dims) count *= std::max<uint64_t>(dim, 1);
  const bool open_end = !variable.dims.empty() && variable.dims[0] == 0;
  if (open_end) count = kMaxInit;
  if (variable.dims.empty() && variable.vector == 1 && !Is("{")) return ParseInitializerValue(variable, 0);
  HLO_CHECK_OK(Expect("{"));
  HLO_CHECK_OK(ParseInitializerList(variable, 0, 0, count, 0));
  if (open_end) {
    variable.dims[0] = variable.init.size() / std::max<uint64_t>(1, InfoOf(variable.type).bytes());
    variable.size = variable.init.size();
  }
  return {};
}

/// After '{': elements of dimension `dim`, up to '}'.
Status Parser::ParseInitializerList(Variable& variable, size_t dim, uint64_t first, uint64_t count,
                                    int depth) {
  if (depth > kMaxDepth) return Error("parse-unexpected-token", Here(), "initialiser is nested too deep");
  const uint64_t rows = dim < variable.dims.size() && variable.dims[dim] != 0 ? variable.dims[dim] : count;
  const uint64_t each = std::max<uint64_t>(1, count / std::max<uint64_t>(rows, 1));
  uint64_t at = 0;
  while (!Is("}")) {
    if (at >= count)
      return Error("verify-attribute", Here(), "initialiser has more than {0} elements", count);
    if (Take("{")) {
      HLO_CHECK_OK(ParseInitializerList(variable, dim + 1, first + at, each, depth + 1));
      at += each;
    } else {
      HLO_CHECK_OK(ParseInitializerValue(variable, first + at));
      ++at;
    }
    if (!Take(",")) break;
    if (Is("}")) return Unexpected("a value");
  }
  return Expect("}");
}

Status Parser::ParseInitializerValue(Variable& variable, uint64_t element) {
  const unsigned bytes = InfoOf(variable.type).bytes();
  const uint64_t at = element * bytes;
  if (at + bytes > kMaxInit) return Error("parse-range", Here(), "initialiser is too large");
  const bool negative = Is("-");
  Lexer ahead = lexer_;
  const Token number = negative ? ahead.Lex() : token_;
  if (number.kind == TokenKind::Float32 || number.kind == TokenKind::Float64) {
    if (IsInteger(variable.type)) return Unexpected("an integer");
    if (negative) Next();
    Next();
    Store(variable.init, at, FloatBits(variable.type, number, negative), bytes);
    return {};
  }
  if (IsFloat(variable.type)) return Unexpected("a floating-point number");
  Lexer mask = lexer_;
  const Token after = mask.Lex();
  const bool masked =
      token_.kind == TokenKind::Integer && after.kind == TokenKind::Punctuation && after.text == "(";
  if (token_.kind == TokenKind::Word || masked) return ParseInitializerPointer(variable, at);
  HLO_TRY(const int64_t value, ParseConstant());
  Store(variable.init, at, static_cast<uint64_t>(value), bytes);
  return {};
}

/// [mask '('] ['generic' '('] name [')'] ['+' constant] [')']
Status Parser::ParseInitializerPointer(Variable& variable, uint64_t at) {
  Variable::Pointer pointer{at, InfoOf(variable.type).bytes(), 0, nullptr, nullptr, 0, false};
  const bool masked = token_.kind == TokenKind::Integer;
  if (masked) {
    if (token_.bits == 0) return Unexpected("a mask of one byte");
    pointer.shift = static_cast<unsigned>(llvm::countr_zero(token_.bits));
    Next();
    HLO_CHECK_OK(Expect("("));
  }
  pointer.generic = token_.kind == TokenKind::Word && token_.text == "generic" && PeekIs("(");
  if (pointer.generic) {
    Next();
    Next();
  }
  const Loc loc = Here();
  HLO_TRY(const std::string name, TakeName("the name of a variable"));
  const Entity* entity = Find(name);
  if (entity == nullptr || (entity->variable == nullptr && entity->function == nullptr))
    return Error("parse-undefined-name", loc, "'{0}' is not defined above", name);
  pointer.variable = entity->variable;
  pointer.function = entity->function;
  if (pointer.generic) HLO_CHECK_OK(Expect(")"));
  if (Is("+") || Is("-")) {
    HLO_TRY(pointer.addend, ParseUnary(0));
  }
  if (masked) HLO_CHECK_OK(Expect(")"));
  if (!masked && pointer.bytes < 4)
    return Error("verify-attribute", loc, "an address does not fit type .{0}", InfoOf(variable.type).text);
  Store(variable.init, at, 0, pointer.bytes);
  variable.pointers.push_back(pointer);
  return {};
}

}  // namespace hlo::ptx

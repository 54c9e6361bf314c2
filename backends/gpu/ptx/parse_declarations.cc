// Variables, parameters, registers and the scopes of their names (ptx.md §1.2).
#include "backends/gpu/ptx/parser_state.h"
#include "llvm/Support/MathExtras.h"

namespace hlo::ptx {
namespace {

/// Device memory is not larger.
constexpr uint64_t kMaxBytes = uint64_t{1} << 40;
constexpr uint64_t kMaxRegisters = 1 << 24;

constexpr std::pair<llvm::StringRef, Space> kSpaces[] = {{"global", Space::Global},
                                                         {"shared", Space::Shared},
                                                         {"local", Space::Local},
                                                         {"const", Space::Const},
                                                         {"param", Space::Param}};

bool MayBeRegister(Type type) {
  static constexpr Type kNo[] = {Type::B1,     Type::U4,     Type::S4,    Type::BF16,
                                 Type::BF16x2, Type::TF32,   Type::E4M3,  Type::E5M2,
                                 Type::E4M3x2, Type::E5M2x2, Type::U16x2, Type::S16x2};
  return !llvm::is_contained(kNo, type);
}

}  // namespace

Status Parser::Declare(llvm::StringRef name, Entity entity, Loc loc) {
  Scope& scope = scopes_[static_cast<size_t>(scope_)];
  if (!scope.names.try_emplace(name, std::move(entity)).second || FindSpecial(name))
    return Error("parse-duplicate-name", loc, "'{0}' is defined twice", name);
  return {};
}

const Parser::Entity* Parser::FindInRanges(Scope& scope, llvm::StringRef name) {
  // The name of the registers may end in digits itself.
  for (size_t at = name.rtrim("0123456789").size(); at < name.size(); ++at) {
    const auto it = scope.ranges.find(name.take_front(at));
    const llvm::StringRef digits = name.drop_front(at);
    uint64_t number = 0;
    if (it == scope.ranges.end() || digits.getAsInteger(10, number) || number >= it->second.count) continue;
    if (digits.size() > 1 && digits.front() == '0') continue;
    Entity& entity = scope.names[name];
    entity.reg = NewRegister(name.str(), it->second.type);
    return &entity;
  }
  return nullptr;
}

const Parser::Entity* Parser::Find(llvm::StringRef name) {
  for (int scope = scope_; scope >= 0; scope = scopes_[static_cast<size_t>(scope)].parent) {
    Scope& s = scopes_[static_cast<size_t>(scope)];
    if (const auto it = s.names.find(name); it != s.names.end()) return &it->second;
    if (const Entity* found = FindInRanges(s, name)) return found;
  }
  return nullptr;
}

const Register* Parser::NewRegister(std::string name, Type type) {
  const auto number = static_cast<uint32_t>(function_->registers.size());
  return &function_->registers.emplace_back(Register{std::move(name), type, number});
}

/// '.reg' ['.v2' | '.v4'] type name (',' name)* ';'
Status Parser::ParseRegisters() {
  unsigned vector = 1;
  if (TakeDotted("v2")) vector = 2;
  if (TakeDotted("v4")) vector = 4;
  const Loc loc = Here();
  const auto type = token_.kind == TokenKind::Dotted ? FindType(token_.text) : std::nullopt;
  if (!type || !MayBeRegister(*type)) return Unexpected("the type of registers");
  if (type == Type::B128 && module_->version < 83)
    return Error("verify-attribute", loc, ".b128 needs PTX 8.3, the module is of {0}.{1}",
                 module_->version / 10, module_->version % 10);
  Next();
  do HLO_CHECK_OK(DeclareRegisters(*type, vector));
  while (Take(","));
  return Expect(";");
}

Status Parser::DeclareRegisters(Type type, unsigned vector) {
  const Loc loc = Here();
  HLO_TRY(const std::string name, TakeName("the name of a register"));
  if (Take("<")) {
    HLO_TRY(const int64_t count, ParseUnary(0));
    HLO_CHECK_OK(Expect(">"));
    if (count <= 0 || static_cast<uint64_t>(count) > kMaxRegisters)
      return Error("parse-range", loc, "found {0} registers, expected 1 to {1}", count, kMaxRegisters);
    Scope& scope = scopes_[static_cast<size_t>(scope_)];
    if (!scope.ranges.try_emplace(name, Range{static_cast<uint64_t>(count), type}).second)
      return Error("parse-duplicate-name", loc, "registers '{0}<>' are defined twice", name);
    return {};
  }
  Entity entity;
  if (vector == 1) {
    entity.reg = NewRegister(name, type);
  } else {
    static constexpr llvm::StringRef kParts[] = {".x", ".y", ".z", ".w"};
    for (unsigned i = 0; i < vector; ++i) {
      Entity part;
      part.reg = NewRegister(name + kParts[i].str(), type);
      entity.parts.push_back(part.reg);
      HLO_CHECK_OK(Declare(part.reg->name, part, loc));
    }
  }
  return Declare(name, std::move(entity), loc);
}

/// ['.align' n] ['.v2' | '.v4'] type ['.ptr' ['.' space] ['.align' n]] name
Status Parser::ParseVariableType(Variable& variable) {
  uint64_t align = 0;
  const auto take_align = [&]() -> Status {
    const Loc loc = Here();
    HLO_TRY(align, TakeUnsigned("an alignment"));
    if (!llvm::isPowerOf2_64(align) || align > (1U << 24))
      return Error("verify-attribute", loc, "alignment is {0}, expected a power of two", align);
    return {};
  };
  if (TakeDotted("align")) HLO_CHECK_OK(take_align());
  if (TakeDotted("v2")) variable.vector = 2;
  if (TakeDotted("v4")) variable.vector = 4;
  const auto type = token_.kind == TokenKind::Dotted ? FindType(token_.text) : std::nullopt;
  if (!type || BitsOf(*type) < 8 || *type == Type::Pred) return Unexpected("the type of a variable");
  variable.type = *type;
  Next();
  if (variable.space == Space::Param && TakeDotted("ptr")) {
    variable.is_pointer = true;
    for (const auto& [name, space] : kSpaces)
      if (TakeDotted(name)) break;
    uint64_t ignored = 0;
    std::swap(align, ignored);
    if (TakeDotted("align")) HLO_CHECK_OK(take_align());
    align = ignored;
  }
  variable.align = align != 0 ? align : uint64_t{InfoOf(variable.type).bytes()} * variable.vector;
  return {};
}

/// ('[' [n] ']')*
Status Parser::ParseDims(Variable& variable) {
  uint64_t bytes = uint64_t{InfoOf(variable.type).bytes()} * variable.vector;
  while (Take("[")) {
    const Loc loc = Here();
    uint64_t count = 0;
    if (!Is("]")) {
      HLO_TRY(const int64_t value, ParseConstant());
      if (value <= 0) return Error("parse-range", loc, "found {0} elements, expected at least one", value);
      count = static_cast<uint64_t>(value);
      if (count > kMaxBytes / bytes) return Error("parse-range", loc, "variable is too large");
    } else if (!variable.dims.empty()) {
      return Unexpected("a number of elements");
    }
    HLO_CHECK_OK(Expect("]"));
    if (variable.dims.size() == 16) return Error("parse-range", loc, "variable has more than 16 dimensions");
    variable.dims.push_back(count);
    bytes *= count;
  }
  variable.size = bytes;
  return {};
}

/// type name dims ['=' init] (',' name …)* ';', after the space.
Status Parser::ParseVariable(Variable variable, std::deque<Variable>& into) {
  HLO_CHECK_OK(ParseVariableType(variable));
  do {
    Variable& added = into.emplace_back(variable);
    added.loc = Here();
    HLO_TRY(added.name, TakeName("the name of a variable"));
    HLO_CHECK_OK(ParseDims(added));
    if (added.space == Space::Shared && added.external && function_ != nullptr)
      return Error("verify-attribute", added.loc, "external shared variables stand outside of functions");
    // Its own address may be part of the initialiser, as may be that of an external one which it defines.
    Entity entity;
    entity.variable = &added;
    Scope& scope = scopes_[static_cast<size_t>(scope_)];
    const auto it = scope.names.find(added.name);
    const bool defines =
        it != scope.names.end() && it->second.variable != nullptr && it->second.variable->external;
    if (defines)
      it->second = entity;
    else
      HLO_CHECK_OK(Declare(added.name, entity, added.loc));
    if (Take("=")) HLO_CHECK_OK(ParseInitializer(added));
    if (!added.dims.empty() && added.dims[0] == 0 && !added.external && added.init.empty())
      return Error("verify-attribute", added.loc, "'{0}' has no size", added.name);
  } while (Take(","));
  return Expect(";");
}

/// '(' [param (',' param)*] ')', after '('.
Status Parser::ParseParams(Function& function, std::vector<Variable*>& params) {
  if (Take(")")) return {};
  uint64_t offset = 0;
  do {
    Variable& param = function.variables.emplace_back();
    param.space = Space::Param;
    param.read_only = function.entry;
    const bool reg = IsDotted("reg");
    if (!reg && !IsDotted("param")) return Unexpected("'.param'");
    if (reg && function.entry) return Unexpected("'.param'");
    Next();
    HLO_CHECK_OK(ParseVariableType(param));
    param.loc = Here();
    HLO_TRY(param.name, TakeName("the name of a parameter"));
    HLO_CHECK_OK(ParseDims(param));
    Entity entity;
    entity.variable = &param;
    if (reg) {
      param.reg = const_cast<Register*>(NewRegister(param.name, param.type));
      entity.variable = nullptr;
      entity.reg = param.reg;
    }
    if (!function.prototype || param.name != "_") HLO_CHECK_OK(Declare(param.name, entity, param.loc));
    offset = llvm::alignTo(offset, std::max<uint64_t>(param.align, 1));
    param.offset = offset;
    offset += param.size;
    params.push_back(&param);
  } while (Take(","));
  HLO_CHECK_OK(Expect(")"));
  if (&params != &function.params) return {};
  function.param_bytes = offset;
  const uint64_t limit = module_->version >= 81 ? 32764 : 4352;
  if (function.entry && offset > limit)
    return Error("verify-attribute", function.loc, "parameters take {0} bytes, at most {1} are allowed",
                 offset, limit);
  return {};
}

}  // namespace hlo::ptx

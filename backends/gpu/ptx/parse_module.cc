// Module and functions: header, variables, directives (ptx.md §1.2, §7).
#include <set>

#include "backends/gpu/ptx/parser_state.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

namespace hlo::ptx {
namespace {

struct TargetRow {
  unsigned sm;
  bool specific;     // sm_90a
  unsigned version;  // smallest
};
constexpr TargetRow kTargets[] = {
    {50, false, 40}, {52, false, 41},  {53, false, 42},  {60, false, 50},  {61, false, 50}, {62, false, 50},
    {70, false, 60}, {72, false, 61},  {75, false, 63},  {80, false, 70},  {86, false, 71}, {87, false, 74},
    {89, false, 78}, {90, false, 78},  {90, true, 80},   {100, false, 86}, {100, true, 86}, {103, false, 88},
    {103, true, 88}, {110, false, 90}, {120, false, 87}, {120, true, 87},  {121, false, 88}};
constexpr unsigned kNewestVersion = 90;
constexpr uint64_t kSharedLimit = 49152, kConstLimit = 65536;

/// Bytes of the module's shared variables that the function names.
uint64_t SharedUsedBy(const Function& function) {
  std::set<const Variable*> used;
  for (const Instruction& inst : function.code)
    for (const Operand& operand : inst.operands)
      if (operand.variable != nullptr && operand.variable->space == Space::Shared &&
          !operand.variable->external && !operand.variable->of_function)
        used.insert(operand.variable);
  uint64_t bytes = 0;
  for (const Variable* variable : used) bytes += variable->size;
  return bytes;
}

}  // namespace

Result<std::shared_ptr<const Module>> ParseModule(const SourcePtr& source) { return Parser(source).Run(); }

Result<std::shared_ptr<const Module>> Parser::Run() {
  HLO_CHECK_OK(ParseHeader());
  while (token_.kind != TokenKind::Eof) HLO_CHECK_OK(ParseItem());
  HLO_CHECK_OK(CheckLimits());
  return std::shared_ptr<const Module>(std::move(module_));
}

/// '.version' M '.' m  '.target' … ['.address_size' 64]
Status Parser::ParseHeader() {
  if (!TakeDotted("version")) return Unexpected("'.version'");
  const Loc loc = Here();
  unsigned major = 0, minor = 0;
  const auto [left, right] = token_.text.split('.');
  if (token_.kind != TokenKind::Float64 || left.getAsInteger(10, major) || right.getAsInteger(10, minor) ||
      minor > 9)
    return Unexpected("a version such as 8.0");
  module_->version = major * 10 + minor;
  Next();
  if (module_->version > kNewestVersion || module_->version == 89 || module_->version < 32)
    return Error("verify-attribute", loc, "version {0}.{1} of PTX is not known", major, minor);
  HLO_CHECK_OK(ParseTarget());
  if (TakeDotted("address_size")) {
    const Loc size = Here();
    HLO_TRY(const uint64_t bits, TakeUnsigned("64"));
    if (bits != 64) return Error("verify-attribute", size, "addresses of {0} bits, expected 64", bits);
  }
  return {};
}

Status Parser::ParseTarget() {
  if (!TakeDotted("target")) return Unexpected("'.target'");
  const Loc loc = Here();
  HLO_TRY(const std::string name, TakeName("a target such as sm_80"));
  llvm::StringRef rest(name);
  unsigned sm = 0;
  const bool known = rest.consume_front("sm_") && !rest.consumeInteger(10, sm);
  const bool specific = known && rest == "a";
  const auto* const row = llvm::find_if(
      kTargets, [&](const TargetRow& t) { return known && t.sm == sm && t.specific == specific; });
  if (row == std::end(kTargets) || (!specific && !rest.empty()))
    return Error("verify-attribute", loc, "target '{0}' is not known", name);
  if (module_->version < row->version)
    return Error("verify-attribute", loc, "target '{0}' needs PTX {1}.{2}, the module is of {3}.{4}", name,
                 row->version / 10, row->version % 10, module_->version / 10, module_->version % 10);
  module_->sm = sm;
  module_->arch_specific = specific;
  while (Take(",")) {
    HLO_TRY(const std::string option, TakeName("an option of the target"));
    module_->debug |= option == "debug";
  }
  return {};
}

/// variable | function | '.file' … | '.section' … | '.pragma' …
Status Parser::ParseItem() {
  static constexpr std::pair<llvm::StringRef, Space> kSpaces[] = {
      {"global", Space::Global}, {"const", Space::Const}, {"shared", Space::Shared}};
  if (TakeDotted("file")) return ParseFile();
  if (TakeDotted("section")) return SkipSection();
  if (TakeDotted("pragma")) {
    if (token_.kind != TokenKind::String) return Unexpected("a string");
    Next();
    return Expect(";");
  }
  bool external = false, visible = false, weak = false;
  for (bool more = true; more;) {
    more = false;
    if (TakeDotted("extern")) more = external = true;
    if (TakeDotted("visible")) more = visible = true;
    if (TakeDotted("weak") || TakeDotted("common")) more = weak = true;
  }
  for (const auto& [name, space] : kSpaces) {
    if (!TakeDotted(name)) continue;
    Variable variable;
    variable.space = space;
    variable.external = external;
    variable.visible = visible;
    variable.weak = weak;
    return ParseVariable(std::move(variable), module_->variables);
  }
  const bool entry = IsDotted("entry");
  if (!entry && !IsDotted("func")) return Unexpected("a variable or a function");
  Next();
  Function& function = module_->functions.emplace_back();
  function.entry = entry;
  function.external = external;
  function.visible = visible;
  function.weak = weak;
  return ParseFunction(function);
}

/// '.file' n "path" [',' n ',' n]
Status Parser::ParseFile() {
  HLO_TRY(const uint64_t number, TakeUnsigned("the number of a file"));
  (void)number;
  if (token_.kind != TokenKind::String) return Unexpected("the name of a file");
  Next();
  while (Take(",")) {
    HLO_TRY(const uint64_t fact, TakeUnsigned("a number"));
    (void)fact;
  }
  return {};
}

/// '.section' name '{' … '}': debug information says nothing about what is computed.
Status Parser::SkipSection() {
  if (token_.kind != TokenKind::Dotted && token_.kind != TokenKind::Word)
    return Unexpected("the name of a section");
  Next();
  HLO_CHECK_OK(Expect("{"));
  while (!Is("}")) {
    if (token_.kind == TokenKind::Eof || token_.kind == TokenKind::Error) return Unexpected("'}'");
    Next();
  }
  Next();
  return {};
}

Status Parser::ParseThreads(unsigned (&threads)[3], llvm::StringRef name) {
  std::fill(std::begin(threads), std::end(threads), 1);
  for (unsigned& count : threads) {
    const Loc loc = Here();
    HLO_TRY(const uint64_t value, TakeUnsigned("a number of threads"));
    if (value == 0 || value > UINT32_MAX)
      return Error("verify-attribute", loc, ".{0} {1}: expected a positive number", name, value);
    count = static_cast<unsigned>(value);
    if (!Take(",")) break;
  }
  return {};
}

Status Parser::ParseDirectives(Function& function) {
  while (token_.kind == TokenKind::Dotted) {
    const std::string name = token_.text.str();
    const Loc loc = Here();
    static constexpr llvm::StringRef kThreads[] = {"reqntid", "maxntid", "reqnctapercluster"};
    static constexpr llvm::StringRef kNumbers[] = {"minnctapersm", "maxnctapersm", "maxnreg",
                                                   "maxclusterrank"};
    const bool threads = llvm::is_contained(kThreads, name), number = llvm::is_contained(kNumbers, name);
    if (name == "noreturn") {
      function.noreturn = true;
      Next();
      continue;
    }
    if (name == "pragma") return {};
    if (!threads && !number && name != "explicitcluster")
      return Unexpected("'{' or a directive of functions");
    if (!function.entry) return Error("verify-attribute", loc, ".{0} belongs to entries", name);
    Next();
    if (threads) {
      unsigned other[3];
      HLO_CHECK_OK(ParseThreads(name == "reqntid"   ? function.reqntid
                                : name == "maxntid" ? function.maxntid
                                                    : other,
                                name));
    } else if (number) {
      HLO_TRY(const uint64_t value, TakeUnsigned("a number"));
      if (name == "minnctapersm") function.minnctapersm = static_cast<unsigned>(value);
      if (name == "maxnreg") function.maxnreg = static_cast<unsigned>(value);
    }
  }
  if (function.reqntid[0] != 0 && function.maxntid[0] != 0)
    return Error("verify-attribute", function.loc, ".reqntid and .maxntid exclude each other");
  return {};
}

/// ['(' results ')'] name ['(' params ')'] directives (';' | body), after '.entry' or '.func'.
Status Parser::ParseFunction(Function& function) {
  function_ = &function;
  scopes_.resize(1);
  scopes_.push_back({});
  scopes_.back().parent = 0;
  scope_ = 1;
  if (!function.entry && Take("(")) HLO_CHECK_OK(ParseParams(function, function.results));
  function.loc = Here();
  HLO_TRY(function.name, TakeName("the name of a function"));
  scope_ = 0;
  Entity entity;
  entity.function = &function;
  const auto before = scopes_[0].names.find(function.name);
  const bool again = before != scopes_[0].names.end() && before->second.function != nullptr &&
                     !before->second.function->defined;
  Function* declared = again ? before->second.function : nullptr;
  if (!again) HLO_CHECK_OK(Declare(function.name, entity, function.loc));
  scope_ = 1;
  if (Take("(")) HLO_CHECK_OK(ParseParams(function, function.params));
  HLO_CHECK_OK(ParseDirectives(function));
  if (!Take(";")) {
    function.defined = true;
    HLO_CHECK_OK(ParseBody());
  }
  if (declared != nullptr) {
    // What was called through the declaration is this.
    for (Function& other : module_->functions)
      for (Instruction& inst : other.code)
        if (inst.call && inst.call->callee == declared) inst.call->callee = &function;
    scopes_[0].names[function.name] = entity;
  }
  function_ = nullptr;
  scope_ = 0;
  return {};
}

Status Parser::CheckLimits() const {
  Module& module = *module_;
  const auto place = [](Variable& variable, uint64_t& total) {
    total = llvm::alignTo(total, std::max<uint64_t>(variable.align, 1));
    variable.offset = total;
    if (!variable.external) total += variable.size;
  };
  for (Variable& variable : module.variables) {
    if (variable.space == Space::Shared && !variable.external) place(variable, module.shared_bytes);
    if (variable.space == Space::Const) place(variable, module.const_bytes);
  }
  if (module.const_bytes > kConstLimit)
    return Error("verify-attribute", {module.source.get(), 0, 0},
                 "constants take {0} bytes, at most {1} are allowed", module.const_bytes, kConstLimit);
  for (Function& function : module.functions) {
    function.shared_bytes = module.shared_bytes;
    for (Variable& variable : function.variables) {
      if (variable.space == Space::Shared) place(variable, function.shared_bytes);
      if (variable.space == Space::Local) place(variable, function.local_bytes);
    }
    // What it has itself, and what it names of the module's.
    const uint64_t used = function.shared_bytes - module.shared_bytes + SharedUsedBy(function);
    if (used > kSharedLimit)
      return Error("verify-attribute", function.loc,
                   "shared variables of '{0}' take {1} bytes, at most {2} are allowed", function.name, used,
                   kSharedLimit);
  }
  return {};
}

}  // namespace hlo::ptx

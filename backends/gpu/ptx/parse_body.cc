// Statements of functions (ptx.md §1.2).
#include "backends/gpu/ptx/check.h"
#include "backends/gpu/ptx/parser_state.h"
#include "llvm/ADT/StringExtras.h"

namespace hlo::ptx {
namespace {

constexpr size_t kMaxScopes = 1 << 20;

}  // namespace

Status Parser::ParseBody() {
  HLO_CHECK_OK(Expect("{"));
  jumps_.clear();
  for (bool done = false; !done;) HLO_CHECK_OK(ParseStatement(done));
  HLO_CHECK_OK(ResolveJumps());
  scopes_.resize(1);
  return {};
}

/// '{' | '}' | label | directive | instruction
Status Parser::ParseStatement(bool& done) {
  if (Take("{")) {
    if (scopes_.size() > kMaxScopes) return Error("parse-range", Here(), "function has too many blocks");
    scopes_.push_back({});
    scopes_.back().parent = scope_;
    scope_ = static_cast<int>(scopes_.size()) - 1;
    return {};
  }
  if (Is("}")) {
    done = scope_ == 1;
    scope_ = scopes_[static_cast<size_t>(scope_)].parent;
    Next();
    return {};
  }
  if (token_.kind == TokenKind::Dotted) return ParseDotted();
  if (token_.kind == TokenKind::Word && PeekIs(":")) return ParseLabel();
  return ParseInstruction();
}

/// name ':' ['.branchtargets' … ';' | '.callprototype' … ';']
Status Parser::ParseLabel() {
  const Loc loc = Here();
  HLO_TRY(const std::string name, TakeName("a label"));
  Next();
  if (TakeDotted("branchtargets")) return ParseBranchTargets(name, loc);
  if (TakeDotted("callprototype")) return ParsePrototype(name, loc);
  Scope& scope = scopes_[static_cast<size_t>(scope_)];
  if (!scope.labels.try_emplace(name, static_cast<uint32_t>(function_->code.size())).second ||
      scope.names.contains(name))
    return Error("parse-duplicate-name", loc, "label '{0}' is defined twice", name);
  function_->labels.emplace_back(name, static_cast<uint32_t>(function_->code.size()));
  return {};
}

Status Parser::ParseBranchTargets(const std::string& label, Loc loc) {
  std::vector<std::string>& targets = branch_targets_.emplace_back();
  do {
    HLO_TRY(std::string target, TakeName("a label"));
    targets.push_back(std::move(target));
  } while (Take(","));
  Entity entity;
  entity.branch_targets = &targets;
  HLO_CHECK_OK(Declare(label, entity, loc));
  return Expect(";");
}

/// [ '(' results ')' ] '_' [ '(' params ')' ] ';'
Status Parser::ParsePrototype(const std::string& label, Loc loc) {
  Function& prototype = module_->functions.emplace_back();
  prototype.prototype = true;
  prototype.name = label;
  prototype.loc = loc;
  Entity entity;
  entity.function = &prototype;
  HLO_CHECK_OK(Declare(label, entity, loc));
  // Names of its parameters are nobody's.
  Function* const function = std::exchange(function_, &prototype);
  scopes_.push_back({});
  scopes_.back().parent = scope_;
  const int scope = std::exchange(scope_, static_cast<int>(scopes_.size()) - 1);
  if (Take("(")) HLO_CHECK_OK(ParseParams(prototype, prototype.results));
  if (token_.kind != TokenKind::Word) return Unexpected("'_'");
  Next();
  if (Take("(")) HLO_CHECK_OK(ParseParams(prototype, prototype.params));
  if (TakeDotted("noreturn")) prototype.noreturn = true;
  function_ = function;
  scope_ = scope;
  return Expect(";");
}

/// '.reg' … | space variable | '.pragma' … | '.loc' …
Status Parser::ParseDotted() {
  static constexpr std::pair<llvm::StringRef, Space> kSpaces[] = {{"local", Space::Local},
                                                                  {"shared", Space::Shared},
                                                                  {"param", Space::Param},
                                                                  {"const", Space::Const},
                                                                  {"global", Space::Global}};
  if (TakeDotted("reg")) return ParseRegisters();
  if (TakeDotted("pragma")) {
    if (token_.kind != TokenKind::String) return Unexpected("a string");
    function_->pragmas.push_back(token_.text.str());
    Next();
    return Expect(";");
  }
  if (TakeDotted("loc")) {
    // f l c [',' function_name label ['+' n] ',' inlined_at f l c]
    for (int i = 0; i < 3; ++i) {
      HLO_TRY(const uint64_t number, TakeUnsigned("a number"));
      (void)number;
    }
    while (Take(",")) {
      while (token_.kind == TokenKind::Word || token_.kind == TokenKind::Integer || Is("+")) {
        // An inlined position ends with its third number; what follows on the next line is a statement.
        const bool inlined = token_.kind == TokenKind::Word && token_.text == "inlined_at";
        Next();
        if (!inlined) continue;
        for (int i = 0; i < 3; ++i) {
          HLO_TRY(const uint64_t number, TakeUnsigned("a number"));
          (void)number;
        }
        break;
      }
    }
    return {};
  }
  const bool external = TakeDotted("extern");
  for (const auto& [name, space] : kSpaces) {
    if (!TakeDotted(name)) continue;
    Variable variable;
    variable.space = space;
    variable.external = external;
    variable.of_function = true;
    const bool of_module = space == Space::Const || space == Space::Global;
    return ParseVariable(std::move(variable), of_module ? module_->variables : function_->variables);
  }
  return Unexpected("a statement");
}

Result<const Register*> Parser::ParsePredicate() {
  const Loc loc = Here();
  HLO_TRY(const std::string name, TakeName("a predicate"));
  const Entity* entity = Find(name);
  if (entity == nullptr) return Error("parse-undefined-name", loc, "'{0}' is not defined", name);
  if (entity->reg == nullptr || entity->reg->type != Type::Pred)
    return Error("verify-operand-type", loc, "'{0}' is no predicate", name);
  return entity->reg;
}

/// Order is free, but where it says what is what.
Status Parser::CheckOrder(const Words& words, Mod mod) const {
  static constexpr std::pair<Mod, Mod> kOrdered[] = {
      {Mod::Row, Mod::Col}, {Mod::Shared, Mod::Global}, {Mod::SharedCta, Mod::Global}};
  for (const auto& [first, second] : kOrdered)
    if (mod == first && words.mods.test(static_cast<size_t>(second)))
      return Error("parse-unexpected-token", Here(), "'.{0}' stands after '.{1}'", ToString(first),
                   ToString(second));
  return {};
}

/// The words after the opcode: types in their order, modifiers as a set.
Status Parser::ParseWords(Words& words, Loc& loc) {
  for (; token_.kind == TokenKind::Dotted; Next()) {
    loc.end = token_.end;
    if (const auto mod = FindMod(token_.text)) {
      if (words.mods.test(static_cast<size_t>(*mod)))
        return Error("parse-duplicate-attribute", Here(), "modifier '.{0}' stands twice", token_.text);
      HLO_CHECK_OK(CheckOrder(words, *mod));
      words.mods.set(static_cast<size_t>(*mod));
    } else if (const auto type = FindType(token_.text)) {
      if (words.types.size() == 8) return Unexpected("operands");
      words.types.push_back(*type);
    } else {
      return Error("parse-unknown-word", Here(), "unknown modifier '.{0}'", token_.text);
    }
  }
  return {};
}

/// ['@' ['!'] predicate] opcode words operands ';'
Status Parser::ParseInstruction() {
  Instruction inst;
  inst.loc = Here();
  if (Take("@")) {
    inst.guard_negated = Take("!");
    HLO_TRY(inst.guard, ParsePredicate());
  }
  if (token_.kind != TokenKind::Word) return Unexpected("an instruction");
  inst.loc = Here();
  inst.line = LineOf(token_.begin);
  const std::string opcode = token_.text.str();
  if (FormsOf(opcode).empty()) {
    Diagnostic d = MakeError("parse-unknown-opcode", Here(), "unknown instruction '{0}'", opcode);
    if (const std::string hint = DidYouMeanText(opcode, AllOpcodes()); !hint.empty())
      d.message += "; " + hint;
    return Error(std::move(d));
  }
  Next();
  Words words;
  HLO_CHECK_OK(ParseWords(words, inst.loc));
  inst.mods = words.mods;
  inst.types = words.types;
  const Kind kind = FormsOf(opcode).front().kind;
  std::vector<Operand> operands;
  if (kind == Kind::Call) {
    HLO_CHECK_OK(ParseCall(inst));
  } else if (kind == Kind::Bra || kind == Kind::Brx) {
    inst.form = &FormsOf(opcode).front();
    HLO_CHECK_OK(ParseJump(inst));
    operands = std::move(inst.operands);
  } else if (!Is(";")) {
    HLO_TRY(operands, ParseOperands());
  }
  HLO_CHECK_OK(Expect(";"));
  HLO_TRY(inst.form, ChooseForm(opcode, words, operands, inst.loc));
  inst.operands = std::move(operands);
  HLO_CHECK_OK(CheckInstruction(*module_, inst));
  function_->code.push_back(std::move(inst));
  return {};
}

/// Of the forms that have these words, the first that takes these operands; the error of the one that fits
/// best.
Result<const Form*> Parser::ChooseForm(llvm::StringRef opcode, const Words& words,
                                       std::vector<Operand>& operands, Loc loc) {
  std::string best;
  unsigned best_rank = 0;
  std::optional<Diagnostic> wrong_operands;
  for (const Form& form : FormsOf(opcode)) {
    unsigned rank = 0;
    std::string mismatch = Mismatch(form, words, rank);
    if (!mismatch.empty()) {
      if (best.empty() || rank > best_rank) best = std::move(mismatch), best_rank = rank;
      continue;
    }
    Status status = PlaceOperands(form, words, operands, loc);
    if (status) return &form;
    if (!wrong_operands) wrong_operands = std::move(status).error();
  }
  if (wrong_operands) return Error(std::move(*wrong_operands));
  return Error("parse-unknown-word", loc, "instruction '{0}' has {1}", opcode, best);
}

/// label, or for brx.idx: register ',' name of targets
Status Parser::ParseJump(Instruction& inst) {
  if (inst.form->kind == Kind::Brx) {
    HLO_TRY(Operand index, ParseOperand(false));
    inst.operands.push_back(std::move(index));
    HLO_CHECK_OK(Expect(","));
  }
  Operand target;
  target.kind = Operand::Kind::Target;
  target.loc = Here();
  HLO_TRY(const std::string name, TakeName("a label"));
  if (const Entity* entity = Find(name)) {
    if (entity->branch_targets == nullptr || inst.form->kind != Kind::Brx)
      return Error("parse-unexpected-token", target.loc, "'{0}' is no label", name);
    for (const std::string& label : *entity->branch_targets)
      jumps_.push_back({function_->code.size(), -1, label, scope_, target.loc});
  } else if (inst.form->kind == Kind::Brx) {
    return Error("parse-undefined-name", target.loc, "targets '{0}' are not defined above", name);
  } else {
    jumps_.push_back({function_->code.size(), 0, name, scope_, target.loc});
  }
  inst.operands.push_back(std::move(target));
  return {};
}

Status Parser::ResolveJumps() {
  for (const Jump& jump : jumps_) {
    std::optional<uint32_t> place;
    for (int scope = jump.scope; scope > 0 && !place; scope = scopes_[static_cast<size_t>(scope)].parent) {
      const auto& labels = scopes_[static_cast<size_t>(scope)].labels;
      if (const auto it = labels.find(jump.label); it != labels.end()) place = it->second;
    }
    if (!place) return Error("parse-undefined-name", jump.loc, "label '{0}' is not defined", jump.label);
    Instruction& inst = function_->code[jump.instruction];
    if (jump.operand < 0)
      inst.targets.push_back(*place);
    else
      inst.operands[static_cast<size_t>(jump.operand)].target = *place;
  }
  return {};
}

/// ['(' results ')' ','] name [',' '(' arguments ')'] [',' prototype]
Status Parser::ParseCall(Instruction& inst) {
  inst.call = std::make_unique<CallInfo>();
  CallInfo& call = *inst.call;
  const auto list = [&](std::vector<Operand>& into) -> Status {
    if (Take(")")) return {};
    do {
      HLO_TRY(Operand operand, ParseOperand(false));
      into.push_back(std::move(operand));
    } while (Take(","));
    return Expect(")");
  };
  if (Take("(")) {
    HLO_CHECK_OK(list(call.results));
    HLO_CHECK_OK(Expect(","));
  }
  const Loc loc = Here();
  HLO_TRY(const std::string name, TakeName("the name of a function"));
  const Entity* entity = Find(name);
  if (entity == nullptr) return Error("parse-undefined-name", loc, "function '{0}' is not declared", name);
  const bool indirect = entity->reg != nullptr;
  if (!indirect) call.callee = entity->function;
  if (call.callee == nullptr && !indirect)
    return Error("parse-unexpected-token", loc, "'{0}' is no function", name);
  if (Take(",") && Take("(")) {
    HLO_CHECK_OK(list(call.arguments));
    if (Take(",") && !indirect) return Unexpected("';'");
  }
  if (indirect) {
    HLO_TRY(const std::string prototype, TakeName("a prototype"));
    const Entity* found = Find(prototype);
    if (found == nullptr || found->function == nullptr)
      return Error("parse-undefined-name", loc, "prototype '{0}' is not defined", prototype);
    call.callee = found->function;
  }
  return CheckCall(call, loc);
}

}  // namespace hlo::ptx

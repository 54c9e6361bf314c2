// Bodies of computations: scopes, names, roots.
#include "parser/body.h"
#include "parser/values.h"

namespace hlo {
namespace {

using llvm::StringRef;

/// True if Sanitize() changes nothing; words hold no other characters than names may.
bool IsLegal(StringRef name) {
  constexpr size_t kLongestType = 13;
  if (name.size() > kLongestType && name[0] != '_') return true;
  return name.starts_with("__") ? name.starts_with("__xla_") : !IsTypeWord(name);
}

/// The name with what is not allowed in it changed (hlo-text §7.2).
std::string Sanitize(StringRef name) {
  std::string result = name.str();
  if (IsTypeWord(name)) result += '_';
  if (name.starts_with("__") && !name.starts_with("__xla_")) result[0] = 'a';
  return result;
}

}  // namespace

Computation* ModuleScope::Begin(StringRef name, Loc loc) {
  Computation* computation = module.AddComputation(IsLegal(name) ? name : module.Save(Sanitize(name)));
  computation->set_loc(loc);
  return computation;
}

void ModuleScope::Complete(Computation& computation) {
  module.MoveToEnd(&computation);
  computation.set_name(module.UniqueComputationName(computation.name()));
  MakeInstructionNamesUnique(computation);
}

void ModuleScope::MakeInstructionNamesUnique(Computation& computation) {
  for (Instruction* i : computation.instructions()) i->set_name(module.UniqueInstructionName(i->name()));
}

bool BodyParser::ParseBody() {
  Nesting nesting(c_);
  if (!nesting || !c_.Expect(TokenKind::LBrace)) return false;
  if (c_.Is(TokenKind::RBrace)) return c_.Unexpected("an instruction");
  if (!ParseInstructions()) return false;
  const Loc end = c_.Here();
  if (c_.Is(TokenKind::RBrace))
    c_.Advance();
  else if (!failed_)
    return c_.Unexpected("an instruction or '}'");
  if (failed_) {
    scope_.broken.insert(&computation_);
    return true;
  }
  if (!root_) root_ = last_;
  computation_.set_root(root_);
  return CheckParameters(end);
}

bool BodyParser::ParseInstructions() {
  while (!c_.Is(TokenKind::RBrace) && !c_.Is(TokenKind::Eof)) {
    if (failed_ && AtComputationStart(c_)) return true;  // the closing brace was lost
    const uint32_t start = c_.begin();
    if (ParseInstruction()) continue;
    failed_ = true;
    RecoverInstruction(c_, start);
  }
  return true;
}

/// instruction = ['ROOT'] name '=' rhs .
bool BodyParser::ParseInstruction() {
  const uint32_t start = c_.begin();
  const bool is_root = c_.Consume(TokenKind::ROOT);
  const Loc root_loc{&c_.source(), start, c_.previous_end()};
  Token name;
  if (!ParseNameOfInstruction(name)) return false;
  const size_t entry = names_.entries().size() - 1;  // that of the name
  if (!c_.Expect(TokenKind::Equal, " after the name of an instruction")) return false;
  Draft d;
  const bool parsed = ParseRhs(d);
  Instruction* created = parsed && !d.incomplete ? Create(d, name.text, c_.LocOf(name)) : nullptr;
  if (!created) {
    DefineFailed(name, d);
    failed_ = true;
    return parsed && d.incomplete;  // what is missing was reported where it failed
  }
  names_.at(entry) = {created, name.begin, true, true};
  if (!is_root) return true;
  if (root_) {
    Diagnostic e = MakeError("parse-root", root_loc, "one computation should have only one ROOT");
    e.Note(root_->loc(), "the first one is here");
    return c_.Report(std::move(e));
  }
  root_ = created;
  return true;
}

bool BodyParser::ParseNameOfInstruction(Token& name) {
  if (c_.Is(TokenKind::AttrName))
    return c_.Fail("parse-unexpected-token", c_.Here(),
                   "found '{0}=', expected a blank between the name and '='", c_.token().text);
  if (!c_.ParseName(name, "an instruction 'name = ...' or '}'")) return false;
  if (!IsLegal(name.text)) {
    const std::string legal = Sanitize(name.text);
    Define(name.text, c_.LocOf(name), nullptr);
    return c_.Fail("parse-illegal-name", c_.LocOf(name),
                   "illegal instruction name: {0}; suggest renaming to: {1}", name.text, legal);
  }
  NamedInstruction& known = names_.Insert(name.text);
  if (!known.defined) {
    known = {nullptr, name.begin, true, false};
    return true;
  }
  Diagnostic e =
      MakeError("parse-duplicate-name", c_.LocOf(name), "instruction already exists: {0}", name.text);
  e.Note(PlaceOf(known, name.text), "the first one is here");
  return c_.Report(std::move(e));
}

Loc BodyParser::PlaceOf(const NamedInstruction& known, StringRef name) const {
  const bool percent = c_.source().text()[known.begin] == '%';
  return {&c_.source(), known.begin, static_cast<uint32_t>(known.begin + (percent ? 1 : 0) + name.size())};
}

/// Users of a failed instruction go on with its written shape.
void BodyParser::DefineFailed(const Token& name, const Draft& d) {
  Instruction* stand_in = nullptr;
  if (d.shape.valid()) {
    stand_in = computation_.Add(OpKind::CustomCall, d.shape, name.text, {});
    stand_in->set_loc(c_.LocOf(name));
  }
  Define(name.text, c_.LocOf(name), stand_in);
}

bool BodyParser::CheckParameters(const Loc& end) {
  const auto parameters = computation_.parameters();
  for (size_t i = 0; i < parameters.size(); ++i)
    if (!parameters[i])
      return c_.Fail("parse-parameter", computation_.loc().valid() ? computation_.loc() : end,
                     "parameter numbers have a gap: there is no parameter({0}), but a parameter({1})", i,
                     parameters.size() - 1);
  return true;
}

bool BodyParser::ParseCallee(Computation*& out) {
  if (c_.Is(TokenKind::LBrace)) {
    const Loc loc = c_.Here();
    out = scope_.Begin("_", loc);
    if (!BodyParser(scope_, *out).ParseBody()) {
      scope_.broken.insert(out);
      return false;
    }
    if (scope_.broken.contains(out)) failed_ = true;
    scope_.Complete(*out);
    return true;
  }
  Token name;
  if (!c_.ParseName(name, "a computation name or a body '{'")) return false;
  if (scope_.read_ahead && !scope_.computations.Find(name.text)) scope_.read_ahead(name.text);
  if (const NamedComputation* known = scope_.computations.Find(name.text); known && known->computation) {
    out = known->computation;
    return true;
  }
  Diagnostic e =
      MakeError("parse-undefined-computation", c_.LocOf(name), "computation does not exist: {0}", name.text);
  llvm::SmallVector<StringRef, 0> names;
  for (const auto& entry : scope_.computations.entries()) names.push_back(entry.name);
  if (std::string hint = DidYouMeanText(name.text, names); !hint.empty())
    e.Note(c_.LocOf(name), std::move(hint));
  return c_.Report(std::move(e));
}

bool BodyParser::ParseSingle() {
  single_ = true;
  Draft d;
  const bool root = c_.Consume(TokenKind::ROOT);
  Token name = c_.token();
  StringRef text = "_";
  if (root || !AtShape(c_)) {
    if (!ParseNameOfInstruction(name) || !c_.Expect(TokenKind::Equal)) return false;
    text = name.text;
  }
  if (!ParseRhs(d)) return false;
  if (!c_.Is(TokenKind::Eof)) return c_.Unexpected("end of input after a single instruction");
  if (const NamedInstruction* known = names_.Find(text); known && known->complete && text != "_") {
    Diagnostic e = MakeError("parse-duplicate-name", c_.LocOf(name), "instruction already exists: {0}", text);
    e.Note(PlaceOf(*known, text), "the operand of this name is here");
    return c_.Report(std::move(e));
  }
  Instruction* created = d.incomplete ? nullptr : Create(d, text, c_.LocOf(name));
  if (!created) return false;
  computation_.set_root(created);
  return CheckParameters(c_.Here());
}

}  // namespace hlo

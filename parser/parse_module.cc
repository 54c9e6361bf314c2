// Modules: text forms, computations, what can only be checked at the end.
#include "ir/support/interrupt.h"
#include "parser/module_parser.h"
#include "parser/values.h"

namespace hlo {

using llvm::StringRef;

namespace {

/// The shape with descending layouts; tiles and other properties stay (errata-2 11).
Shape InDescendingOrder(const Shape& shape) {
  if (shape.IsTuple()) {
    llvm::SmallVector<Shape, 4> elements;
    for (const Shape& s : shape.tuple_shapes()) elements.push_back(InDescendingOrder(s));
    return Shape::MakeTuple(elements);
  }
  if (!shape.IsArray() || !shape.has_layout()) return shape;
  Layout layout = shape.layout();
  layout.minor_to_major = Layout::Default(shape.rank()).minor_to_major;
  return shape.WithLayout(std::move(layout));
}

/// True for headers whose attributes make XLA build a configuration, whose layouts are descending ones.
bool HasConfiguration(const ModuleConfig& config, bool propagation_written) {
  return config.replica_count != 1 || config.num_partitions != 1 || config.alias_passthrough_params ||
         propagation_written;
}

}  // namespace

bool ModuleParser::Parse() {
  if (c_.Is(TokenKind::HloModule))
    return ParseHeader() && ParseTables() && ParseComputations() && FinishModule();
  const bool headerless = c_.Is(TokenKind::ENTRY) || c_.PeekToken().kind == TokenKind::LBrace;
  if (!headerless) return ParseSingle();
  if (!ParseComputations()) return false;
  module_.set_name(("module_" + entry_->name()).str());
  return FinishModule();
}

/// module = 'HloModule' name {',' modattr} [frames] computation {computation} Eof .
bool ModuleParser::ParseHeader() {
  c_.Advance();
  Token name;
  if (!c_.ParseName(name, "the name of the module")) return false;
  module_.set_name(name.text);
  while (c_.Consume(TokenKind::Comma))
    if (!ParseHeaderAttribute()) return false;
  return true;
}

/// The printed order may put a computation behind one of its callers (errata-2 4), so a name that is not
/// known yet is looked for further down, at the beginnings of lines.
void ModuleParser::ReadAhead(StringRef name) {
  if (!std::exchange(has_ahead_, true)) {
    const StringRef text = c_.source().text();
    for (size_t at = c_.previous_end(), next = 0; (next = text.find('\n', at)) != StringRef::npos;
         at = next + 1) {
      const size_t begin = next + 1;
      StringRef rest = text.drop_front(begin);
      rest.consume_front("%");
      const StringRef word =
          rest.take_until([](char c) { return c == ' ' || c == '(' || c == '{' || c == '\n'; });
      const StringRef after = rest.drop_front(word.size()).ltrim(' ');
      if (word.empty() || !(after.starts_with("(") || after.starts_with("{"))) continue;
      ahead_.try_emplace(word, Ahead{static_cast<uint32_t>(begin)});
    }
  }
  const auto found = ahead_.find(name);
  if (found == ahead_.end() || found->second.open || found->second.end != 0) return;
  Ahead& ahead = found->second;
  if (ahead.begin <= c_.begin()) return;
  const uint32_t back = c_.previous_end();
  Computation* const last = last_;
  ahead.open = true;
  c_.Seek(ahead.begin);
  ParseComputation();
  ahead.open = false;
  if (c_.stopped()) return;
  ahead.end = c_.previous_end();
  ahead.computation = std::exchange(last_, last);
  read_.try_emplace(ahead.begin, found->first());
  c_.SeekPast(back);
}

/// Moves behind a computation that has been read before its turn.
bool ModuleParser::SkipIfRead() {
  const auto found = read_.find(c_.begin());
  if (found == read_.end()) return false;
  const Ahead& ahead = ahead_[found->second];
  last_ = ahead.computation;
  c_.SeekPast(ahead.end);
  return true;
}

bool ModuleParser::ParseComputations() {
  scope_.read_ahead = [this](StringRef name) { ReadAhead(name); };
  const unsigned errors = c_.error_count();
  do {
    const uint32_t start = c_.begin();
    if (Interrupted()) return c_.Report(InterruptedError());
    if (!SkipIfRead() && !ParseComputation()) RecoverComputation(c_, start);
  } while (!c_.Is(TokenKind::Eof));
  if (c_.error_count() != errors) return false;
  if (!entry_) entry_ = last_;
  return entry_ != nullptr;
}

/// computation = ['ENTRY'] name ['(' [param {',' param}] ')' '->' shape] body [',' 'execution_thread='
/// String] .
bool ModuleParser::ParseComputation() {
  const Loc entry_loc = c_.Here();
  const bool is_entry = c_.Consume(TokenKind::ENTRY);
  if (is_entry && entry_) c_.Fail("parse-entry", entry_loc, "expects only one ENTRY");
  Token name;
  Shape result;
  Loc result_loc;
  if (!ParseComputationHeader(name, result, result_loc)) {
    if (!name.text.empty()) scope_.computations.Insert(name.text);
    return false;
  }
  Computation* computation = scope_.Begin(name.text, c_.LocOf(name));
  if (const NamedComputation* previous = scope_.computations.Find(name.text);
      previous && previous->loc.valid()) {
    Diagnostic e =
        MakeError("parse-duplicate-name", c_.LocOf(name), "computation already exists: {0}", name.text);
    e.Note(previous->loc, "the first one is here");
    c_.Report(std::move(e));
  }
  const bool parsed = BodyParser(scope_, *computation).ParseBody();
  scope_.computations.Insert(name.text) = {computation, c_.LocOf(name)};
  last_ = computation;
  if (is_entry && !entry_) entry_ = computation;
  if (!parsed) {
    scope_.broken.insert(computation);
    return false;
  }
  if (scope_.broken.contains(computation)) return true;
  if (!FinishComputation(*computation, result, result_loc)) scope_.broken.insert(computation);
  return true;
}

bool ModuleParser::ParseComputationHeader(Token& name, Shape& result, Loc& result_loc) {
  if (!c_.ParseName(name, "the name of a computation")) return false;
  if (!c_.Is(TokenKind::LParen)) return c_.Is(TokenKind::LBrace) || c_.Unexpected("'(' or '{'");
  if (!c_.ParseList(TokenKind::LParen, TokenKind::RParen, [&] {
        Token parameter;
        Shape shape;
        return c_.ParseName(parameter, "the name of a parameter") && ParseShape(c_, shape);
      }))
    return false;
  if (!c_.Expect(TokenKind::Arrow)) return false;
  const uint32_t begin = c_.begin();
  if (!ParseShape(c_, result)) return false;
  result_loc = c_.From(begin);
  return c_.Is(TokenKind::LBrace) || c_.Unexpected("'{'");
}

bool ModuleParser::FinishComputation(Computation& computation, const Shape& result, const Loc& result_loc) {
  if (c_.Is(TokenKind::Comma)) {
    c_.Advance();
    if (!c_.Is(TokenKind::AttrName) || c_.token().text != "execution_thread")
      return c_.Unexpected("'execution_thread='");
    c_.Advance();
    StringRef thread;
    if (!c_.ParseString(thread)) return false;
    computation.set_execution_thread(thread);
  }
  const Instruction& root = *computation.root();
  if (result.valid() && !Compatible(result, root.shape())) {
    Diagnostic e = MakeError(
        "parse-result-shape", result_loc,
        "shape of computation {0}, {1}, is not compatible with that of its root instruction {2}, {3}",
        computation.name(), result, root.name(), root.shape());
    e.Note(root.loc(), "the root is defined here");
    return c_.Report(std::move(e));
  }
  scope_.Complete(computation);
  return true;
}

bool ModuleParser::ParseSingle() {
  entry_ = scope_.Begin("_", c_.Here());
  entry_->set_name(module_.UniqueComputationName("_"));
  module_.set_name("_");
  module_.config.is_scheduled = single_ = true;
  if (!BodyParser(scope_, *entry_).ParseSingle()) return false;
  scope_.MakeInstructionNamesUnique(*entry_);
  return FinishModule();
}

bool ModuleParser::FinishModule() {
  module_.set_entry(entry_);
  AssignThreads(scope_);
  if (!CheckAliasing()) return false;
  ModuleConfig& config = module_.config;
  if (!config.entry_layout) {
    config.entry_layout = EntryLayout{entry_->ParameterShapes(), entry_->root()->shape()};
    if (single_ || HasConfiguration(config, propagation_written_)) {
      for (Shape& shape : config.entry_layout->parameters) shape = InDescendingOrder(shape);
      config.entry_layout->result = InDescendingOrder(config.entry_layout->result);
    }
  }
  if (config.is_scheduled) {
    for (const auto& computation : module_.computations()) {
      if (computation->IsFusion()) continue;
      std::vector<Instruction*> order;
      order.reserve(static_cast<size_t>(computation->instruction_count()));
      for (Instruction* i : computation->instructions()) order.push_back(i);
      computation->set_schedule(std::move(order));
    }
  }
  RebuildTables();
  return true;
}

}  // namespace hlo

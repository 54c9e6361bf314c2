// The right-hand side of an instruction: shape, opcode, operands.
#include "ir/infer/infer.h"
#include "parser/body.h"
#include "parser/values.h"

namespace hlo {
namespace {

using llvm::StringRef;

constexpr int64_t kMaxParameters = 1 << 20;
// Shapes that are inferred, not written, could grow without bound: tuples of tuples of tuples.
constexpr int64_t kMaxInferredLeaves = 1 << 17;
constexpr int kMaxInferredDepth = 4096;

/// What a walk over an inferred shape finds.
struct ShapeWalk {
  int64_t leaves_left = kMaxInferredLeaves;
  bool lacks_layout = false;
};
/// False if the shape has too many leaves or is nested too deeply.
bool Walk(const Shape& shape, ShapeWalk& walk, int depth) {
  if (--walk.leaves_left < 0 || depth > kMaxInferredDepth) return false;
  walk.lacks_layout |= shape.IsArray() && !shape.has_layout();
  if (!shape.IsTuple()) return true;
  return llvm::all_of(shape.tuple_shapes(), [&](const Shape& s) { return Walk(s, walk, depth + 1); });
}

/// What a constant keeps of its written shape: no dynamic sizes, no element size in the layout.
Shape ConstantShape(const Shape& shape) {
  if (shape.IsTuple()) {
    llvm::SmallVector<Shape, 4> elements;
    for (const Shape& s : shape.tuple_shapes()) elements.push_back(ConstantShape(s));
    return Shape::MakeTuple(elements);
  }
  if (!shape.IsArray()) return shape;
  Shape result =
      shape.dynamic_flags().empty() || shape.HasUnboundedDimension() ? shape : shape.WithoutDynamic();
  if (!result.has_layout() || result.layout().element_size_bits == 0) return result;
  Layout layout = result.layout();
  layout.element_size_bits = 0;
  return result.WithLayout(std::move(layout));
}

/// errata-2 12: an element taken out of a tuple has the origin of what was put in.
void PropagateOrigin(Instruction& element) {
  const auto* attrs = element.attrs().GetIf<GetTupleElementAttrs>();
  if (!attrs || (element.has_extras() && element.extras().origin)) return;
  const Instruction& tuple = *element.operand(0);
  if (tuple.kind() != OpKind::Tuple || attrs->index < 0 || attrs->index >= tuple.operand_count()) return;
  const Instruction& put_in = *tuple.operand(attrs->index);
  if (put_in.has_extras() && put_in.extras().origin) element.MutableExtras().origin = put_in.extras().origin;
}

}  // namespace

/// rhs = [shape] opcode arguments {',' attr} .
bool BodyParser::ParseRhs(Draft& d) {
  d.begin = c_.begin();
  if (AtShape(c_)) {
    if (!ParseShape(c_, d.shape)) {
      d.shape = Shape();
      return false;
    }
    d.shape_loc = c_.From(d.begin);
  }
  return ParseOpcode(d) && ParseArguments(d) && ParseAttributes(*this, d) && CheckOperandCount(d) &&
         CheckRequiredAttributes(c_, d) && (d.incomplete || ApplyOpRules(*this, d));
}

/// opcode = Ident .
bool BodyParser::ParseOpcode(Draft& d) {
  if (!c_.Is(TokenKind::Ident)) return c_.Unexpected(d.shape.valid() ? "an opcode" : "a shape or an opcode");
  d.opcode = c_.token();
  if (const auto kind = ParseOpKind(d.opcode.text)) {
    d.kind = *kind;
  } else if (const auto async = SplitAsyncOpcode(d.opcode.text)) {
    d.kind = async->first;
    d.wrapped = async->second;
  } else {
    llvm::SmallVector<StringRef, 160> opcodes;
    for (const OpInfo& info : AllOps()) opcodes.push_back(info.text);
    return c_.UnknownWord("parse-unknown-opcode", "opcode", opcodes);
  }
  c_.Advance();
  return true;
}

/// arguments = '(' [operand {',' operand}] ')' | '(' Int ')' | '(' literal ')' .
bool BodyParser::ParseArguments(Draft& d) {
  switch (d.kind) {
    case OpKind::Parameter: return ParseParameterNumber(d);
    case OpKind::Constant: return ParseConstant(d);
    default: return ParseOperands(d);
  }
}

bool BodyParser::ParseParameterNumber(Draft& d) {
  if (!c_.Expect(TokenKind::LParen)) return false;
  const Loc loc = c_.Here();
  ParameterAttrs attrs;
  if (!c_.ParseInt(attrs.number)) return false;
  if (attrs.number < 0)
    return c_.Fail("parse-parameter", loc, "found parameter number {0}, parameter number must be >= 0",
                   attrs.number);
  const auto taken = computation_.parameters();
  if (attrs.number < static_cast<int64_t>(taken.size()) && taken[static_cast<size_t>(attrs.number)]) {
    Diagnostic e = MakeError("parse-parameter", loc, "duplicate parameter number {0}", attrs.number);
    e.Note(taken[static_cast<size_t>(attrs.number)]->loc(), "first defined here");
    return c_.Report(std::move(e));
  }
  // Numbers without gaps: more than the text has room for cannot be right.
  const auto room = static_cast<int64_t>(taken.size() + c_.RestOfText().size());
  if (attrs.number >= std::min(kMaxParameters, room))
    return c_.Fail("parse-parameter", loc,
                   "found parameter number {0}, expected numbers from 0 on without gaps", attrs.number);
  d.attrs = std::move(attrs);
  return c_.Expect(TokenKind::RParen);
}

bool BodyParser::ParseConstant(Draft& d) {
  if (!d.shape.valid())
    return c_.Fail("parse-shape-missing", c_.LocOf(d.opcode), "cannot infer shape for opcode: constant");
  if (!c_.Expect(TokenKind::LParen)) return false;
  if (d.shape.has_layout() && !IsPermutation(d.shape.layout().minor_to_major))
    return c_.Fail("parse-layout", d.shape_loc,
                   "minor to major of a constant is no permutation of the dimensions");
  d.shape = ConstantShape(d.shape);
  ConstantAttrs attrs;
  if (!ParseLiteralValue(c_, d.shape, attrs.literal)) return false;
  if (attrs.literal->HasElided()) {
    if (d.shape.IsTuple()) attrs.partial = attrs.literal;
    attrs.literal = nullptr;
  }
  d.attrs = std::move(attrs);
  return c_.Expect(TokenKind::RParen);
}

/// '(' [operand {',' operand}] ')' where operands may be missing between the commas
bool BodyParser::ParseOperands(Draft& d) {
  if (!c_.Expect(TokenKind::LParen)) return false;
  if (c_.Consume(TokenKind::RParen)) return true;
  do {
    if (c_.Is(TokenKind::Comma) || c_.Is(TokenKind::RParen)) continue;
    const bool plain = c_.Is(TokenKind::Name) && !single_;
    if (!(plain ? ParseOperandName(d, Shape(), c_.begin()) : ParseOperand(d))) return false;
  } while (c_.Consume(TokenKind::Comma));
  if (!c_.Is(TokenKind::RParen)) return c_.Unexpected("',' or ')' after an operand");
  c_.Advance();
  return true;
}

/// operand = [shape] name {'#' Int} | [shape] opcode arguments .
bool BodyParser::ParseOperand(Draft& d) {
  const uint32_t begin = c_.begin();
  Shape shape;
  if (AtShape(c_) && !ParseShape(c_, shape)) return false;
  if (single_) {
    if (!shape.valid()) return c_.Unexpected("the shape of an operand");
    if (c_.Is(TokenKind::Comma) || c_.Is(TokenKind::RParen)) {
      const std::string name = "_" + std::to_string(implicit_parameters_);
      d.operands.push_back(AddImplicitParameter(c_.Save(name), shape, c_.From(begin)));
      d.operand_locs.push_back(c_.From(begin));
      return true;
    }
  }
  // errata-2 6: a shape alone is an operand that is missing.
  if (shape.valid() && (c_.Is(TokenKind::Comma) || c_.Is(TokenKind::RParen))) return true;
  if (c_.Is(TokenKind::Ident) && c_.NextByte() == '(') return ParseNestedOperand(d, std::move(shape), begin);
  if (!c_.Is(TokenKind::Name) && !c_.Is(TokenKind::Ident)) return c_.Unexpected("an operand");
  if (c_.Is(TokenKind::Ident) && c_.PeekToken().kind == TokenKind::LParen)
    return ParseNestedOperand(d, std::move(shape), begin);
  return ParseOperandName(d, shape, begin);
}

bool BodyParser::ParseNestedOperand(Draft& outer, Shape shape, uint32_t begin) {
  Nesting nesting(c_);
  if (!nesting) return false;
  auto inner = std::make_unique<Draft>();
  inner->begin = begin;
  inner->shape = std::move(shape);
  // In a single instruction the word is tried as a name first, and names make parameters.
  if (single_ && !names_.Find(c_.token().text))
    AddImplicitParameter(c_.token().text, inner->shape, c_.Here());
  if (!ParseOpcode(*inner) || !ParseArguments(*inner)) return false;
  if (inner->incomplete) {
    outer.incomplete = true;
    return true;
  }
  if (!CheckOperandCount(*inner) || !CheckRequiredAttributes(c_, *inner) || !ApplyOpRules(*this, *inner))
    return false;
  const int64_t n = scope_.anonymous[static_cast<size_t>(inner->kind)]++;
  std::string name = (Info(inner->kind).text + ".anon").str();
  if (n > 0) name += "." + std::to_string(n);
  Instruction* created = Create(*inner, c_.Save(name), c_.From(begin));
  if (!created) return false;
  outer.operands.push_back(created);
  outer.operand_locs.push_back(c_.From(begin));
  return true;
}

bool BodyParser::ParseOperandName(Draft& d, const Shape& shape, uint32_t begin) {
  Instruction* operand = nullptr;
  if (single_ && !names_.Find(c_.token().text)) {
    const Token name = c_.token();
    c_.Advance();
    operand = AddImplicitParameter(name.text, shape, c_.LocOf(name));
  } else {
    bool failed = false;
    operand = ParseReference(failed);
    if (!operand) {
      d.incomplete = true;
      return failed;
    }
  }
  if (c_.Is(TokenKind::Hash)) operand = ParseTuplePath(operand, begin);
  if (!operand) return false;
  const Loc loc = c_.From(begin);
  if (shape.valid() && operand->shape().valid() && !Compatible(shape, operand->shape()))
    return OtherShapeDeclared(shape, *operand, loc);
  d.operands.push_back(operand);
  d.operand_locs.push_back(loc);
  return true;
}

bool BodyParser::OtherShapeDeclared(const Shape& shape, const Instruction& operand, Loc loc) {
  Diagnostic e = MakeError(
      "parse-operand-shape", loc,
      "the declared operand shape {0} is not compatible with the shape of the operand instruction {1}", shape,
      operand.shape());
  e.Note(operand.loc(), "the operand is defined here");
  return c_.Report(std::move(e));
}

/// {'#' Int}: an implicit get-tuple-element, made once per path.
Instruction* BodyParser::ParseTuplePath(Instruction* tuple, uint32_t begin) {
  std::string path = tuple->name().str();
  while (c_.Consume(TokenKind::Hash)) {
    const Loc loc = c_.Here();
    int64_t index = 0;
    if (!c_.ParseInt(index)) return nullptr;
    if (!tuple->shape().IsTuple()) {
      c_.Fail("parse-tuple-index", c_.From(begin), "GTE operand must be tuple, but has shape {0}",
              tuple->shape());
      return nullptr;
    }
    if (index < 0 || index >= tuple->shape().tuple_size()) {
      c_.Fail("parse-tuple-index", loc, "GTE index {0} out of bounds of shape {1}", index, tuple->shape());
      return nullptr;
    }
    path += "#" + std::to_string(index);
    if (const NamedInstruction* known = names_.Find(path)) {
      tuple = known->instruction;
      continue;
    }
    const StringRef key = c_.Save(path);
    std::string name = path;
    std::replace(name.begin(), name.end(), '#', '_');
    Instruction* element = computation_.Add(OpKind::GetTupleElement, tuple->shape().tuple_shape(index),
                                            c_.Save(name), {tuple}, GetTupleElementAttrs{index});
    element->set_loc(c_.From(begin));
    Define(key, c_.From(begin), element);
    tuple = element;
  }
  return tuple;
}

Instruction* BodyParser::AddImplicitParameter(StringRef name, Shape shape, Loc loc) {
  const int64_t number = static_cast<int64_t>(computation_.parameters().size());
  ++implicit_parameters_;
  Instruction* parameter =
      computation_.Add(OpKind::Parameter, std::move(shape), name, {}, ParameterAttrs{number, {}});
  parameter->set_loc(loc);
  Define(name, loc, parameter);
  return parameter;
}

Instruction* BodyParser::ParseReference(bool& failed) {
  if (!c_.Is(TokenKind::Name) && !c_.Is(TokenKind::Ident)) {
    c_.Unexpected("the name of an instruction");
    return nullptr;
  }
  const NamedInstruction* known = names_.Find(c_.token().text);
  if (LLVM_LIKELY(known && known->complete)) {
    Instruction* instruction = known->instruction;
    failed = !instruction;
    c_.Advance();
    return instruction;
  }
  const Token name = c_.token();
  c_.Advance();
  UndefinedName(name);
  if (!known) Define(name.text, {}, nullptr);  // said once
  return nullptr;
}

bool BodyParser::UndefinedName(const Token& name) {
  Diagnostic e =
      MakeError("parse-undefined-name", c_.LocOf(name), "instruction does not exist: {0}", name.text);
  llvm::SmallVector<StringRef, 0> names;
  for (const auto& entry : names_.entries())
    if (entry.value.instruction) names.push_back(entry.name);
  if (std::string hint = DidYouMeanText(name.text, names); !hint.empty())
    e.Note(c_.LocOf(name), std::move(hint));
  return c_.Report(std::move(e));
}

bool BodyParser::CheckOperandCount(Draft& d) {
  if (d.incomplete) return true;
  const OpInfo& info = Info(d.kind);
  const auto count = static_cast<int64_t>(d.operands.size());
  if (d.kind == OpKind::Dot && count > info.max_operands) {
    c_.Warn("parse-surplus-operands", d.operand_locs[2], "operands of dot after the second are ignored");
    d.operands.truncate(2);
    d.operand_locs.truncate(2);
    return true;
  }
  if (count >= info.min_operands && (info.max_operands == OpInfo::kVariadic || count <= info.max_operands))
    return true;
  return c_.Fail("parse-operand-count", c_.LocOf(d.opcode),
                 info.HasFixedArity() ? "expects {0} operands, but has {1} operands"
                                      : "expects at least {0} operands, but has {1} operands",
                 info.min_operands, count);
}

/// Adds the instruction to the computation; null if its shape cannot be inferred, which is reported.
Instruction* BodyParser::Create(Draft& d, StringRef name, Loc loc) {
  if (d.kind == OpKind::AsyncStart || d.kind == OpKind::AsyncUpdate || d.kind == OpKind::AsyncDone)
    if (!FinishAsync(*this, d)) return nullptr;
  const bool infer = !d.shape.valid();
  Instruction* i =
      computation_.Add(d.kind, std::move(d.shape), name, d.operands, std::move(d.attrs), d.callees);
  last_ = i;
  i->set_loc(loc);
  i->set_metadata(d.metadata);
  if (d.rare && !d.rare->unknown_attributes.empty())
    d.Extras().unknown_attributes = c_.Save(d.rare->unknown_attributes);
  if (d.extras) i->MutableExtras() = std::move(*d.extras);
  if (d.rare)
    for (Instruction* before : d.rare->control_predecessors) i->AddControlPredecessor(before);
  PropagateOrigin(*i);
  if (infer && !InferMissingShape(*i, d)) return nullptr;
  if (i->has_extras() && i->extras().sharding && i->shape().IsTuple() &&
      i->extras().sharding->kind != ShardingKind::Tuple) {
    auto tuple = std::make_shared<Sharding>();
    tuple->kind = ShardingKind::Tuple;
    tuple->elements.assign(static_cast<size_t>(std::max<int64_t>(1, i->shape().LeafCount())),
                           *i->extras().sharding);
    i->MutableExtras().sharding = std::move(tuple);
  }
  if (d.kind == OpKind::AsyncStart) RegisterAsync(*this, *i);
  return i;
}

bool BodyParser::InferMissingShape(Instruction& i, const Draft& d) {
  if (i.info().Is(kDeclared))
    return c_.Fail("parse-shape-missing", c_.LocOf(d.opcode), "cannot infer shape for opcode: {0}",
                   i.info().text);
  InferOptions options;
  options.allow_mixed_precision = true;  // judged when the module is verified
  Result<Shape> shape = InferShape(i, options);
  if (!shape)
    return c_.Fail("parse-infer", c_.LocOf(d.opcode), "failed to infer shape for opcode: {0}, error: {1}",
                   i.info().text, shape.error().message);
  ShapeWalk walk;
  if (!Walk(*shape, walk, 0))
    return c_.Fail("limit-nesting", c_.LocOf(d.opcode), "the inferred tuple shape is too large");
  i.set_shape(walk.lacks_layout && c_.options().fill_missing_layouts ? shape->WithDefaultLayouts()
                                                                     : std::move(*shape));
  return true;
}

}  // namespace hlo

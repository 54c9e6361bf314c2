#include "tools/library/builder_state.h"

#include "ir/verify.h"
#include "parser/lexer.h"

namespace hlo_toolkit::internal {
namespace {

/// Bits of a handle below its generation.
constexpr int kIndexBits = 40;

}  // namespace

std::string CleanName(std::string_view written) {
  std::string clean(written);
  for (char& c : clean)
    if (!llvm::isAlnum(c) && c != '_' && c != '.' && c != '-') c = '_';
  if (clean.empty()) return clean;
  if (!llvm::isAlpha(clean[0]) && clean[0] != '_') clean.insert(clean.begin(), '_');
  const llvm::StringRef name = clean;
  if (name.starts_with("__") && !name.starts_with("__xla_")) clean[0] = 'a';
  hlo::Lexer lexer(clean, 0, clean.size());
  hlo::Token token;
  lexer.Lex(token);
  if (token.kind != hlo::TokenKind::Ident) clean += '_';
  return clean;
}

void BuilderState::Start(std::string_view name) {
  const std::string clean = CleanName(name.empty() ? "computation" : name);
  module_ = std::make_unique<hlo::Module>(clean);
  computation_ = module_->AddComputation(module_->UniqueComputationName(module_->Save(clean)));
  module_->set_entry(computation_);
  ops_.clear();
  places_.clear();
  imported_.clear();
  ids_.clear();
  reducers_.clear();
  Own(computation_);
  last_ = return_value_ = host_token_ = nullptr;
  saved_metadata_ = nullptr;
}

XlaOp BuilderState::Fail(const Status& status, const Location& location) {
  if (error_.ok()) {
    error_ = Status(status.code(), std::string(location.file) + ":" + std::to_string(location.line) + ": " +
                                       status.message());
    if (die_) Die(error_);
  }
  return {builder_, -1};
}

hlo::Result<hlo::Instruction*> BuilderState::Find(XlaOp op, llvm::StringRef what) const {
  if (!op.builder()) return Wrong("{0} is a null handle", what);
  if (op.builder() != builder_)
    return Wrong("{0} is of builder '{1}', not of '{2}'", what, op.builder()->name(), builder_->name());
  if (!op.valid()) return Wrong("{0} comes from a call that failed", what);
  const auto index = static_cast<size_t>(op.handle() & ((int64_t{1} << kIndexBits) - 1));
  if (op.handle() >> kIndexBits != generation_ || index >= ops_.size())
    return Wrong("{0} is from before the last Build()", what);
  return ops_[index];
}

XlaOp BuilderState::Enqueue(hlo::Instruction* instruction) {
  last_ = instruction;
  ops_.push_back(instruction);
  return {builder_, generation_ << kIndexBits | static_cast<int64_t>(ops_.size() - 1)};
}

void BuilderState::set_place(const Location& place) {
  // Calls of one file follow each other; the name is the caller's, who may forget it.
  if (llvm::StringRef(place.file) != place_.file) place_.file = files_.emplace(place.file).first->c_str();
  place_.line = place.line;
}

Location BuilderState::PlaceOf(const hlo::Diagnostic& error, const Location& otherwise) const {
  for (const auto& [instruction, place] : places_)
    if (error.context == hlo::ContextOf(*instruction)) return place;
  return otherwise;
}

hlo::Result<hlo::Computation*> BuilderState::Import(const XlaComputation& computation) {
  const hlo::Module* from = ComputationAccess::Module(computation);
  if (!from) return Wrong("the computation is null");
  const llvm::ArrayRef<uint64_t> ids = ComputationAccess::Ids(computation);
  // The entry is the last one of what was built.
  for (size_t i = ids.size(); i-- > 0;)
    if (from->computations()[i].get() == from->entry()) {
      if (hlo::Computation* there = imported_.lookup(ids[i])) return there;
      break;
    }
  llvm::DenseMap<const hlo::Computation*, uint64_t> id_of;
  for (size_t i = 0; i < ids.size(); ++i) id_of[from->computations()[i].get()] = ids[i];
  for (const hlo::Computation* callee : from->PostOrder()) {
    hlo::Computation*& copy = imported_[id_of[callee]];
    if (copy) continue;
    copy = module_->AddComputation(module_->UniqueComputationName(module_->Save(callee->name())));
    ids_[copy] = id_of[callee];
    hlo::CloneInto(*callee, *copy, [&](hlo::Computation* c) { return imported_.lookup(id_of[c]); });
    for (hlo::Instruction* i : copy->instructions()) i->set_name(module_->UniqueInstructionName(i->name()));
  }
  return imported_.lookup(id_of[from->entry()]);
}

hlo::Result<hlo::Computation*> BuilderState::Reducer(hlo::OpKind kind, hlo::ElementType type) {
  const auto key = std::pair(static_cast<unsigned>(kind), static_cast<unsigned>(type));
  if (hlo::Computation* there = reducers_.lookup(key)) return there;
  const llvm::StringRef name = module_->UniqueComputationName(module_->Save(hlo::ToString(kind)));
  hlo::Computation* made = module_->AddComputation(name);
  hlo::Builder builder(*made);
  const hlo::Shape scalar = hlo::Shape::ArrayWithDefaultLayout(type, {});
  hlo::Instruction* x = builder.Parameter(0, scalar, "x");
  hlo::Instruction* y = builder.Parameter(1, scalar, "y");
  auto root = builder.Add(kind, {x, y});
  if (!root) {
    module_->RemoveLastComputation();
    return tl::unexpected(std::move(root.error()));
  }
  made->set_root(*root);
  Own(made);
  return reducers_[key] = made;
}

void BuilderState::SetFrontendAttribute(hlo::Instruction& instruction, const std::string& key,
                                        const std::string& value) {
  std::vector<hlo::FrontendAttribute>& attributes = instruction.MutableExtras().frontend_attributes;
  auto at = llvm::lower_bound(attributes, key, [](const auto& a, const std::string& k) { return a.key < k; });
  if (at == attributes.end() || at->key != key) at = attributes.insert(at, {module_->Save(key), {}});
  at->value = module_->Save(value);
}

hlo::Status BuilderState::CheckParameters() const {
  const auto parameters = computation_->parameters();
  for (size_t i = 0; i < parameters.size(); ++i)
    if (!parameters[i])
      return Wrong("there is a parameter {0}, but no parameter {1}", parameters.size() - 1, i);
  return {};
}

void BuilderState::Complete(hlo::Instruction* root) {
  computation_->set_root(root);
  hlo::EntryLayout layout;
  for (const hlo::Instruction* parameter : computation_->parameters())
    layout.parameters.push_back(parameter->shape().WithDefaultLayouts());
  layout.result = root->shape().WithDefaultLayouts();
  module_->config.entry_layout = std::move(layout);
}

const hlo::Module* BuilderState::Current() {
  if (!root() || !CheckParameters()) return nullptr;
  Complete(root());
  return module_.get();
}

hlo::Result<XlaComputation> BuilderState::Finish(hlo::Instruction* root) {
  HLO_CHECK_OK(CheckParameters());
  Complete(root);
  module_->MoveToEnd(computation_);
  std::vector<hlo::Diagnostic> errors = hlo::Verify(*module_);
  if (!errors.empty()) return hlo::Error(std::move(errors.front()));
  std::vector<uint64_t> ids;
  for (const auto& c : module_->computations()) ids.push_back(ids_.lookup(c.get()));
  XlaComputation made = ComputationAccess::Make(std::move(module_), std::move(ids));
  ++generation_;
  Start(builder_->name());
  return made;
}

hlo::Result<const hlo::Shape*> Emission::Array(size_t i) const {
  if (shape(i).IsArray()) return &shape(i);
  return Wrong("operand {0} is {1}, which is no array", i, shape(i));
}

hlo::Status Emission::ScalarOf(size_t i, hlo::ElementType type, llvm::StringRef what) const {
  if (shape(i).IsScalarOf(type)) return {};
  return Wrong("{0} is {1}, expected {2}[]", what, shape(i), hlo::ToString(type));
}

hlo::Result<hlo::Instruction*> Emission::Add(hlo::OpKind kind, llvm::ArrayRef<hlo::Instruction*> operands,
                                             hlo::Attrs attrs, llvm::ArrayRef<hlo::Computation*> callees) {
  return AddWithShape(kind, hlo::Shape(), operands, std::move(attrs), callees);
}

hlo::Result<hlo::Instruction*> Emission::AddWithShape(hlo::OpKind kind, hlo::Shape shape,
                                                      llvm::ArrayRef<hlo::Instruction*> operands,
                                                      hlo::Attrs attrs,
                                                      llvm::ArrayRef<hlo::Computation*> callees,
                                                      llvm::StringRef name) {
  hlo::Builder builder(state_.computation());
  HLO_TRY(hlo::Instruction * added, builder.AddWithShape(kind, std::move(shape), operands, std::move(attrs),
                                                         callees, CleanName(name.str())));
  if (added->shape().IsArray() && hlo::ByteSize(added->shape()) < 0)
    return Wrong("{0} of {1} has more bytes than 64 bits can count", hlo::ToString(kind), added->shape());
  state_.Decorate(*added);
  return added;
}

hlo::Instruction* Emission::Constant(const hlo::Literal& literal) {
  hlo::Builder builder(state_.computation());
  hlo::Instruction* added = builder.Constant(literal);
  state_.Decorate(*added);
  return added;
}

hlo::Result<hlo::Instruction*> Emission::Number(hlo::ElementType type, double value) {
  if (!hlo::IsArrayType(type)) return Wrong("{0} has no numbers", hlo::ToString(type));
  return Constant(ScalarLiteral(type, value));
}

XlaOp Emit(XlaBuilder* builder, Span<const XlaOp> operands, const Location& location, EmitFunction make) {
  for (const XlaOp& operand : operands)
    if (!builder) builder = operand.builder();
  if (!builder) return {};
  BuilderState& state = BuilderState::Of(*builder);
  if (!state.error().ok()) return state.Fail({}, location);
  llvm::SmallVector<hlo::Instruction*, 4> instructions;
  for (size_t i = 0; i < operands.size(); ++i) {
    auto found = state.Find(operands[i], ("operand " + llvm::Twine(i)).str());
    if (!found) return state.Fail(ToStatus(found.error()), location);
    instructions.push_back(*found);
  }
  state.set_place(location);
  Emission emission(state, instructions);
  auto made = make(emission);
  if (!made) return state.Fail(ToStatus(made.error()), location);
  // Some calls give an operand as it is.
  if (!llvm::is_contained(instructions, *made)) state.DecorateResult(**made);
  return state.Enqueue(*made);
}

}  // namespace hlo_toolkit::internal

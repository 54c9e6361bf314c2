// Text of computations and instructions (hlo-text §7).
#include "ir/print.h"

#include "ir/numeric/narrow_float.h"
#include "ir/print_internal.h"

namespace hlo {
namespace print_internal {
namespace {

constexpr int64_t kCompactOperands = 4;
constexpr int64_t kEssentialElements = 500'000;
constexpr int64_t kNamedBraceInstructions = 5;

/// The word that async sugar appends to the root's opcode.
llvm::StringRef SugarSuffix(OpKind kind) {
  return kind == OpKind::AsyncStart ? "-start" : kind == OpKind::AsyncUpdate ? "-update" : "-done";
}

bool IsAsync(OpKind kind) {
  return kind == OpKind::AsyncStart || kind == OpKind::AsyncUpdate || kind == OpKind::AsyncDone;
}

/// True if every element equals `value`, which is 0 or 1.
bool IsAll(const Literal& literal, int value) {
  const ElementType type = literal.shape().element_type();
  if (IsComplex(type)) {
    if (value != 0) return false;
    return llvm::all_of(llvm::ArrayRef(literal.data(), literal.byte_size()),
                        [](uint8_t b) { return b == 0; });
  }
  uint64_t wanted = static_cast<uint64_t>(value);
  if (IsFloat(type)) {
    if (type == ElementType::F8E8M0FNU && value == 0) return false;
    wanted = value == 0 ? 0 : static_cast<uint64_t>(ExponentBias(type)) << Info(type).mantissa_bits;
  }
  const uint64_t mask = Info(type).bits == 64 ? ~uint64_t{0} : (uint64_t{1} << Info(type).bits) - 1;
  for (int64_t i = 0, n = literal.shape().ElementCount(); i < n; ++i)
    if (((literal.Bits(i) ^ wanted) & mask) != 0) return false;
  return true;
}

void PrintEssential(llvm::raw_ostream& os, const Literal* literal) {
  if (!literal || !literal->shape().IsArray())
    os << "{...}";
  else if (IsAll(*literal, 0))
    os << '0';
  else if (IsAll(*literal, 1))
    os << '1';
  else if (IsIntegral(literal->shape().element_type()) &&
           literal->shape().ElementCount() <= kEssentialElements)
    PrintLiteral(os, *literal);
  else
    os << "{...}";
}

}  // namespace

bool HasAsyncSugar(const Computation& computation) {
  const Instruction* root = computation.root();
  return root && llvm::all_of(computation.instructions(), [&](const Instruction* i) {
           return i == root || i->kind() == OpKind::Parameter;
         });
}

// --- Computations ---

void TextPrinter::PrintHeader(const Computation& computation) {
  if (nested_) {
    os_ << "{\n";
    return;
  }
  if (computation.module() && computation.module()->entry() == &computation) os_ << "ENTRY ";
  if (options_.percent) os_ << '%';
  if (options_.ids) os_ << computation.name() << ' ';
  if (options_.program_shape) {
    os_ << '(';
    bool first = true;
    for (const Instruction* parameter : computation.parameters()) {
      if (!std::exchange(first, false)) os_ << ", ";
      os_ << (options_.ids ? parameter->name()
                           : parameter->name().take_until([](char c) { return c == '.'; }))
          << ": ";
      Print(os_, parameter->shape(), /*with_layout=*/false);
    }
    os_ << ") -> ";
    if (computation.root()) Print(os_, computation.root()->shape(), /*with_layout=*/false);
    os_ << ' ';
  }
  os_ << "{\n";
}

bool TextPrinter::IsOmitted(const Instruction& instruction) const {
  return options_.compact_gte && instruction.kind() == OpKind::GetTupleElement && !instruction.IsRoot() &&
         instruction.extras().control_predecessors.empty() && instruction.extras().control_successors.empty();
}

void TextPrinter::PrintInstructionList(const Computation& computation) {
  // Inline bodies are in post-order even where there is a schedule.
  const bool scheduled = computation.has_schedule() && !computation.IsFusion() && !nested_;
  const std::vector<Instruction*> order = scheduled ? computation.schedule() : computation.PostOrder();
  for (const Instruction* instruction : order) {
    if (IsOmitted(*instruction)) continue;
    Spaces(indent_ + 1);
    if (instruction == computation.root()) os_ << "ROOT ";
    PrintInstruction(*instruction);
    os_ << '\n';
  }
}

void TextPrinter::PrintComputation(const Computation& computation) {
  Spaces(indent_);
  PrintHeader(computation);
  // Each computation numbers its own canonical names.
  llvm::DenseMap<const Instruction*, unsigned> outer;
  std::swap(outer, canonical_ids_);
  const bool was_in_computation = std::exchange(in_computation_, true);
  PrintInstructionList(computation);
  in_computation_ = was_in_computation;
  std::swap(outer, canonical_ids_);
  Spaces(indent_);
  os_ << '}';
  if (options_.ids && !nested_ && computation.execution_thread() != "main")
    os_ << ", execution_thread=\"" << computation.execution_thread() << '"';
  if (options_.closing_names && computation.instruction_count() > kNamedBraceInstructions)
    os_ << " // " << computation.name();
}

// --- Instructions ---

void TextPrinter::PrintValue(const Instruction& value) {
  if (options_.canonical_names) {
    if (in_computation_)
      os_ << "tmp_"
          << canonical_ids_.try_emplace(&value, static_cast<unsigned>(canonical_ids_.size())).first->second;
    return;
  }
  if (IsOmitted(value) && value.operand_count() == 1) {
    PrintValue(*value.operand(0));
    os_ << '#' << value.attr<GetTupleElementAttrs>().index;
    return;
  }
  PrintName(os_, value.name(), options_);
}

void TextPrinter::PrintOperand(const Instruction& operand) {
  const bool names = options_.operand_names && (in_computation_ || !options_.canonical_names);
  if (options_.operand_shapes) {
    Print(os_, operand.shape(), options_.layouts);
    if (names) os_ << ' ';
  }
  if (names) PrintValue(operand);
}

void TextPrinter::PrintOperands(const Instruction& instruction) {
  const int64_t count = instruction.operand_count();
  const int64_t shown = options_.compact_operands ? std::min(count, kCompactOperands) : count;
  for (int64_t i = 0; i < shown; ++i) {
    if (i > 0) os_ << ", ";
    if (i > 0 && i % 5 == 0 && options_.operand_index_comments) os_ << "/*index=" << i << "*/";
    PrintOperand(*instruction.operand(i));
  }
  if (shown < count) os_ << ", ...(+" << count - shown << ')';
}

void TextPrinter::PrintConstant(const Instruction& instruction) {
  const auto& attrs = instruction.attr<ConstantAttrs>();
  if (options_.only_essential_constants) {
    PrintEssential(os_, attrs.literal.get());
    return;
  }
  const Literal* literal = (attrs.literal ? attrs.literal : attrs.partial).get();
  const bool whole =
      literal &&
      (options_.max_constant_elements < 0 ||
       (literal->shape().IsArray() && literal->shape().ElementCount() <= options_.max_constant_elements));
  if (whole)
    PrintLiteral(os_, *literal);
  else
    os_ << "{...}";
}

void TextPrinter::PrintCallee(const Instruction& instruction, const FieldInfo& field, bool sugared) {
  const auto mode = options_.subcomputations;
  const bool bodies =
      mode == SubcomputationMode::FullBodies || mode == SubcomputationMode::NonSequentialBodies;
  const bool list = field.kind == FieldKind::Callees;
  const auto callees = instruction.callees();
  if (mode == SubcomputationMode::Off || callees.empty() || (sugared && !bodies)) return;
  if (!list && static_cast<size_t>(field.callee) >= callees.size()) return;
  if (mode == SubcomputationMode::NonSequentialBodies && (field.flags & kSequential) != 0) return;
  if (!bodies) {
    os_ << ", " << field.name << '=';
    PrintField(os_, instruction, field, options_);
    return;
  }
  os_ << ", " << ((field.flags & kInlineCalls) != 0 ? llvm::StringRef("calls") : field.name)
      << (list ? "={\n" : "=\n");
  const bool was_nested = std::exchange(nested_, true);
  ++indent_;
  for (size_t i = 0; i < callees.size(); ++i) {
    if (!list && static_cast<int>(i) != field.callee) continue;
    if (list && i > 0) os_ << ",\n";
    PrintComputation(*callees[i]);
  }
  --indent_;
  nested_ = was_nested;
  if (list) os_ << "\n}";
}

void TextPrinter::PrintOpAttributes(const Instruction& instruction, const Computation* sugared) {
  const Attrs& attrs = instruction.attrs();
  const bool is_start = instruction.kind() == OpKind::AsyncStart;
  // A conditional names its branches one by one under a pred selector, as a list otherwise.
  const bool is_conditional = instruction.kind() == OpKind::Conditional;
  const bool one_by_one = is_conditional && instruction.callees().size() == 2 &&
                          instruction.operand_count() > 0 && instruction.operand(0)->shape().IsArray() &&
                          IsPred(instruction.operand(0)->shape().element_type());
  bool first = true;
  for (const FieldInfo& field : attrs.info().fields) {
    const bool callee = field.kind == FieldKind::Callee || field.kind == FieldKind::Callees;
    if (callee) {
      if (is_conditional && (field.kind == FieldKind::Callee) != one_by_one) continue;
      PrintCallee(instruction, field, sugared != nullptr);
    } else if (IsFieldShown(instruction, field, options_)) {
      os_ << ", " << field.name << '=';
      PrintField(os_, instruction, field, options_);
    }
    // The wrapped op's attributes follow the thread.
    if (is_start && sugared && std::exchange(first, false)) PrintWrapped(instruction, *sugared->root());
  }
}

void TextPrinter::PrintWrapped(const Instruction& start, const Instruction& root) {
  PrintOpAttributes(root, nullptr);
  PrintFirstOfFrame(root, options_.frontend_attributes && start.extras().frontend_attributes.empty());
}

const Computation* TextPrinter::Sugared(const Instruction& instruction) {
  if (!options_.async_sugar || !IsAsync(instruction.kind())) return nullptr;
  const Instruction* at = &instruction;
  while (at->kind() != OpKind::AsyncStart && IsAsync(at->kind()) && at->operand_count() > 0) {
    at = at->operand(0);
    const auto known = sugared_.find(at);
    if (known != sugared_.end()) return sugared_[&instruction] = known->second;
  }
  const Computation* wrapped =
      at->kind() == OpKind::AsyncStart && !at->callees().empty() ? at->callee() : nullptr;
  return sugared_[&instruction] = wrapped && HasAsyncSugar(*wrapped) ? wrapped : nullptr;
}

void TextPrinter::PrintInstruction(const Instruction& instruction) {
  const Computation* sugared = Sugared(instruction);
  if (!options_.canonical_names || in_computation_) {
    PrintValue(instruction);
    os_ << " = ";
  }
  if (options_.result_shapes) {
    Print(os_, instruction.shape(), options_.layouts);
    os_ << ' ';
  }
  if (sugared)
    os_ << sugared->root()->info().text << SugarSuffix(instruction.kind());
  else
    os_ << instruction.info().text;
  os_ << '(';
  if (instruction.kind() == OpKind::Constant)
    PrintConstant(instruction);
  else if (instruction.kind() != OpKind::Parameter)
    PrintOperands(instruction);
  else if (options_.parameter_numbers)
    os_ << instruction.attr<ParameterAttrs>().number;
  os_ << ')';
  PrintOpAttributes(instruction, sugared);
  PrintFrame(instruction);
}

}  // namespace print_internal

using print_internal::TextPrinter;

PrintOptions PrintOptions::ShortParsable() {
  PrintOptions o;
  o.percent = o.program_shape = o.metadata = o.operand_index_comments = o.control_predecessors = false;
  o.max_constant_elements = -1;
  return o;
}

PrintOptions PrintOptions::Canonical() {
  PrintOptions o;
  o.percent = o.program_shape = o.metadata = o.operand_index_comments = o.control_predecessors = false;
  o.backend_config = false;
  o.operand_shapes = true;
  o.subcomputations = SubcomputationMode::FullBodies;
  o.canonical_names = true;
  return o;
}

PrintOptions PrintOptions::Fingerprint() {
  PrintOptions o = Canonical();
  o.infeed_outfeed_config = false;
  o.only_essential_constants = true;
  o.ids = false;
  o.sort_computations = true;
  o.full_replica_groups = true;
  return o;
}

PrintOptions PrintOptions::ModuleFingerprint() {
  PrintOptions o = Fingerprint();
  o.operand_shapes = false;
  return o;
}

PrintOptions PrintOptions::ModuleDump() {
  PrintOptions o;
  o.async_sugar = false;
  return o;
}

void Print(llvm::raw_ostream& os, const Module& module, const PrintOptions& options) {
  TextPrinter(os, options).PrintModule(module);
}
void Print(llvm::raw_ostream& os, const Computation& computation, const PrintOptions& options) {
  TextPrinter(os, options).PrintComputation(computation);
}
void Print(llvm::raw_ostream& os, const Instruction& instruction, const PrintOptions& options) {
  TextPrinter(os, options).PrintInstruction(instruction);
}

namespace {
template <class T>
std::string ToText(const T& value, const PrintOptions& options) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os.SetBufferSize(size_t{1} << 16);
  Print(os, value, options);
  os.flush();
  return text;
}
}  // namespace

std::string ToString(const Module& module, const PrintOptions& options) { return ToText(module, options); }
std::string ToString(const Computation& computation, const PrintOptions& options) {
  return ToText(computation, options);
}
std::string ToString(const Instruction& instruction, const PrintOptions& options) {
  return ToText(instruction, options);
}

}  // namespace hlo

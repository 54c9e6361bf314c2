#include "tools/viz/drawing/label.h"

#include "ir/print.h"
#include "ir/source_frames.h"
#include "tools/viz/drawing/quote.h"

namespace hlo {
namespace {

constexpr size_t kLongestShape = 64, kLongestAttribute = 128, kLongestLiteral = 64;
constexpr int64_t kMostLiteralElements = 8, kMostWrittenOperands = 32;
constexpr int kMostFrames = 32;

/// Appends the text of a shape and stops soon after the limit.
void AppendShape(std::string& out, const Shape& shape, bool layout) {
  if (out.size() > kLongestShape) return;
  if (!shape.IsTuple()) {
    out += ToString(shape, layout && shape.IsArray() && shape.rank() > 1);
    return;
  }
  out += '(';
  bool first = true;
  for (const Shape& element : shape.tuple_shapes()) {
    if (!std::exchange(first, false)) out += ", ";
    if (out.size() > kLongestShape) break;
    AppendShape(out, element, layout);
  }
  out += ')';
}

/// `{1, 2}` if short, else nothing.
std::string LiteralLabel(const Instruction& constant) {
  const LiteralPtr& literal = constant.attr<ConstantAttrs>().literal;
  if (!literal || !literal->shape().IsArray() || literal->shape().ElementCount() > kMostLiteralElements)
    return "";
  std::string text;
  llvm::raw_string_ostream os(text);
  PrintLiteral(os, *literal);
  llvm::erase(text, '\n');
  return text.size() <= kLongestLiteral ? text : "";
}

/// `%while.3 element 1`, `{1, 2}`, `%constant.5`.
std::string WrittenValue(const Instruction& inst) {
  if (inst.kind() == OpKind::Constant) {
    const std::string literal = LiteralLabel(inst);
    return literal.empty() ? ("%" + inst.name()).str() : literal;
  }
  if (inst.kind() != OpKind::GetTupleElement) return ("%" + inst.name()).str();
  std::string path;
  const Instruction* at = &inst;
  while (at->kind() == OpKind::GetTupleElement && at->operand_count() == 1) {
    path.insert(0, "." + std::to_string(at->attr<GetTupleElementAttrs>().index));
    at = at->operand(0);
    if (path.size() > kLongestAttribute) break;
  }
  return ("element " + llvm::StringRef(path).drop_front() + " of %" + at->name()).str();
}

void AppendAttributes(std::string& label, const Instruction& inst,
                      llvm::function_ref<bool(const Computation&)> drawn) {
  PrintOptions options;
  for (const FieldInfo& field : inst.attrs().info().fields) {
    if (field.kind == FieldKind::Literal || (field.flags & kPositional) != 0) continue;
    if (!field.access) continue;
    const bool always = (field.flags & kAlwaysPrint) != 0;
    if (!always && FieldIsDefault(inst.attrs().info(), field, inst.attrs().data())) continue;
    std::string text = field.name.str() + "=";
    llvm::raw_string_ostream os(text);
    PrintField(os, inst, field, options);
    label += "\n" + PrintableText(text, kLongestAttribute);
  }
  for (const FieldInfo& field : inst.attrs().info().fields) {
    if (field.kind != FieldKind::Callee || static_cast<size_t>(field.callee) >= inst.callees().size())
      continue;
    const Computation& callee = *inst.callee(field.callee);
    const llvm::StringRef reducer = NamedReducer(callee);
    if (!reducer.empty())
      label += ("\n" + field.name + "=" + reducer).str();
    else if (!drawn(callee))
      label += ("\n" + field.name + "=%" + callee.name()).str();
  }
  for (const FieldInfo& field : inst.attrs().info().fields)
    if (field.kind == FieldKind::Callees)
      for (const Computation* callee : inst.callees())
        if (!drawn(*callee)) label += ("\n" + field.name + ": %" + callee->name()).str();
}

void AppendExtras(std::string& label, const Instruction& inst, const LabelOptions& options) {
  const InstructionExtras& extras = inst.extras();
  if (options.sharding && extras.sharding) {
    std::string text = "sharding=";
    llvm::raw_string_ostream os(text);
    PrintSharding(os, *extras.sharding, /*with_metadata=*/false);
    label += "\n" + PrintableText(text, kLongestAttribute);
  }
  if (options.backend_config && !extras.backend_config.empty())
    label += "\nbackend_config=" + PrintableText(extras.backend_config, kLongestAttribute);
  if (options.metadata && inst.metadata() && !inst.metadata()->op_name.empty())
    label += "\nop_name=" + PrintableText(inst.metadata()->op_name, kLongestAttribute);
}

void AppendOperands(std::string& label, const Instruction& inst, bool layout,
                    llvm::function_ref<bool(const Instruction&)> is_written) {
  int64_t written = 0;
  for (int64_t i = 0; i < inst.operand_count(); ++i) {
    const Instruction& operand = *inst.operand(i);
    if (!is_written(operand)) continue;
    if (written++ == kMostWrittenOperands) {
      label += "\n...";
      return;
    }
    label += llvm::formatv("\noperand {0} = {1} {2}", i, ShapeLabel(operand.shape(), layout),
                           WrittenValue(operand))
                 .str();
  }
}

}  // namespace

bool IsWrittenIntoUsers(const Instruction& inst) {
  return (inst.kind() == OpKind::Constant || inst.kind() == OpKind::GetTupleElement) && !inst.IsRoot() &&
         !inst.users().empty() && inst.extras().control_predecessors.empty() &&
         inst.extras().control_successors.empty();
}

llvm::StringRef NamedReducer(const Computation& computation) {
  const Instruction* root = computation.root();
  if (!root || computation.parameters().size() != 2 || computation.instruction_count() != 3 ||
      root->operand_count() != 2 || !root->callees().empty())
    return "";
  for (const Instruction* p : computation.parameters())
    if (!p || !p->shape().IsScalar() || !llvm::is_contained(root->operands(), p)) return "";
  return root->info().text;
}

std::string ShapeLabel(const Shape& shape, bool layout) {
  std::string text;
  AppendShape(text, shape, layout);
  return PrintableText(text, kLongestShape);
}

std::string NodeLabel(const Instruction& inst, const LabelOptions& options,
                      llvm::function_ref<bool(const Computation&)> drawn,
                      llvm::function_ref<bool(const Instruction&)> written) {
  std::string label = inst.name().starts_with(inst.info().text)
                          ? inst.name().str()
                          : (inst.info().text + " " + inst.name()).str();
  if (const auto* parameter = inst.attrs().GetIf<ParameterAttrs>())
    label += " (" + std::to_string(parameter->number) + ")";
  if (inst.kind() == OpKind::Constant) label += "\n" + WrittenValue(inst);
  if (inst.kind() == OpKind::GetTupleElement)
    label += "\nindex=" + std::to_string(inst.attr<GetTupleElementAttrs>().index);
  AppendAttributes(label, inst, drawn);
  AppendExtras(label, inst, options);
  if (options.shape) label += "\n" + ShapeLabel(inst.shape(), options.layout);
  if (options.constants) AppendOperands(label, inst, options.layout, written);
  return label;
}

std::string NodeTooltip(const Instruction& inst) {
  std::string text;
  const OpMetadata* metadata = inst.metadata();
  if (!metadata) return text;
  auto line = [&](llvm::StringRef what, const llvm::Twine& value) {
    text += (text.empty() ? "" : "\n") + what.str() + value.str();
  };
  if (!metadata->op_type.empty()) line("op_type: ", metadata->op_type);
  if (!metadata->op_name.empty()) line("op_name: ", metadata->op_name);
  if (!metadata->source_file.empty())
    line("source: ", metadata->source_file + ":" + llvm::Twine(metadata->source_line));
  for (const SourceFrame& frame : StackFrames(inst, kMostFrames))
    line("at ", frame.file + ":" + llvm::Twine(frame.line) + " " + frame.function);
  return text;
}

}  // namespace hlo

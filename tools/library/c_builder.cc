// hlo/hlo_c.h: building modules. Instructions are kept as HLO text, which is what callers know.
#include "ir/print.h"
#include "ir/verify.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringSet.h"
#include "parser/parser.h"
#include "tools/library/builder_state.h"
#include "tools/library/c_api.h"

using namespace hlo_toolkit;            // NOLINT(google-build-using-namespace): functions of C
using namespace hlo_toolkit::internal;  // NOLINT(google-build-using-namespace): functions of C

struct HloBuilder {
  struct Value {
    std::string name, shape;
    std::string text;  // the instruction behind `name = `
    Literal constant;  // of a constant, whose text leaves the elements out
  };
  std::string name;
  std::string computations;  // as text
  llvm::StringSet<> computation_names;
  std::vector<Value> values;
  llvm::StringSet<> names;  // of values
};

namespace {

using ModuleOr = hlo::Result<std::unique_ptr<hlo::Module>>;

ModuleOr Parse(const std::string& text) {
  hlo::ParseResult parsed = hlo::ParseModule(llvm::StringRef(text), "<builder>");
  if (!parsed.module) {
    hlo::Diagnostic error = parsed.diagnostics.front();
    error.loc = {};  // in a text that nobody has seen
    return tl::unexpected(std::move(error));
  }
  return std::move(parsed.module);
}

/// Gives the constants of the entry their elements. Instructions lie as they were written; their names may
/// have become others.
void FillConstants(const HloBuilder& builder, hlo::Module& module) {
  size_t next = 0;
  for (hlo::Instruction* inst : module.entry()->instructions()) {
    const Literal& constant = builder.values[next++].constant;
    if (!constant.valid() || inst->kind() != hlo::OpKind::Constant) continue;
    inst->mutable_attrs().Mutable<hlo::ConstantAttrs>().literal =
        std::make_shared<hlo::Literal>(LiteralAccess::Get(constant)->WithShape(inst->shape()).Pack());
  }
}

/// Takes a value, whose name nobody else has.
HloError* Append(HloBuilder& builder, HloBuilder::Value value, HloValue* number) {
  if (!builder.names.insert(value.name).second) return BadCall("the name '{0}' is taken", value.name);
  *number = static_cast<HloValue>(builder.values.size());
  builder.values.push_back(std::move(value));
  return nullptr;
}

HloError* CheckValue(const HloBuilder* builder, HloValue value) {
  if (builder == nullptr) return BadCall("the builder is null");
  if (value >= 0 && value < static_cast<int64_t>(builder->values.size())) return nullptr;
  return BadCall("there is no value {0}", value);
}

/// Adds `%name = text` after checking it, with operands as parameters of a module of its own.
HloError* AddInstruction(HloBuilder& builder, std::string name, const std::string& shape,
                         const std::string& operation, Span<const HloValue> operands, HloValue* value) {
  if (value == nullptr) return BadCall("there is no place for the value");
  const std::string text = (shape.empty() ? "" : shape + " ") + operation;
  std::string module = "ENTRY e {\n";
  llvm::SmallDenseSet<HloValue, 4> parameters;
  for (const HloValue number : operands) {
    const HloBuilder::Value& operand = builder.values[static_cast<size_t>(number)];
    const size_t next = parameters.size();
    if (parameters.insert(number).second)
      module += "  %" + operand.name + " = " + operand.shape + " parameter(" + std::to_string(next) + ")\n";
  }
  module += "  ROOT %" + name + " = " + text + "\n}\n";
  ModuleOr parsed = Parse(module);
  if (!parsed && !builder.computations.empty())
    parsed = Parse("HloModule m\n" + builder.computations + module);
  if (!parsed) return ToError(ToStatus(parsed.error()));
  const hlo::Instruction& root = *(*parsed)->entry()->root();
  if (root.name() != name ||
      (*parsed)->entry()->instruction_count() != static_cast<int64_t>(parameters.size()) + 1)
    return BadCall("'{0}' is more than one instruction", operation);
  return Append(builder,
                {std::move(name), hlo::ToString(root.shape()), hlo::ToString(root.shape()) + " " + operation,
                 Literal()},
                value);
}

std::string NextName(const HloBuilder& builder) {
  std::string name = "v" + std::to_string(builder.values.size());
  while (builder.names.contains(name)) name += "_";
  return name;
}

}  // namespace

extern "C" {

HloError* hlo_builder_create(const char* name, HloBuilder** builder) {
  if (builder != nullptr) *builder = nullptr;
  return Guarded([&]() -> HloError* {
    if (name == nullptr || builder == nullptr) return BadCall("the name or the builder is null");
    const std::string clean = CleanName(name);
    *builder = new HloBuilder{clean.empty() ? "computation" : clean, "", {}, {}, {}};
    return nullptr;
  });
}

HloError* hlo_builder_parameter(HloBuilder* builder, int64_t number, const char* shape, const char* name,
                                HloValue* value) {
  return Guarded([&]() -> HloError* {
    if (builder == nullptr || shape == nullptr || value == nullptr)
      return BadCall("the builder, the shape or the value is null");
    const StatusOr<Shape> made = ParseShape(shape);
    if (!made.ok()) return ToError(made.status());
    if (number < 0) return BadCall("parameter number {0} is negative", number);
    HloBuilder::Value next{name == nullptr ? NextName(*builder) : CleanName(name), made->ToString(true), "",
                           Literal()};
    next.text = next.shape + " parameter(" + std::to_string(number) + ")";
    const ModuleOr parsed =
        Parse("ENTRY e {\n  ROOT %" + next.name + " = " + next.shape + " parameter(0)\n}\n");
    if (!parsed) return ToError(ToStatus(parsed.error()));
    return Append(*builder, std::move(next), value);
  });
}

HloError* hlo_builder_constant(HloBuilder* builder, const HloArray* array, HloValue* value) {
  return Guarded([&]() -> HloError* {
    if (builder == nullptr || value == nullptr) return BadCall("the builder or the value is null");
    Literal borrowed;
    if (HloError* error = LiteralOf(array, "the array", borrowed)) return error;
    const Literal own = LiteralAccess::Make(LiteralAccess::Get(borrowed)->Copy());
    const std::string shape = hlo::ToString(LiteralAccess::Get(own)->shape());
    // Elements are filled in when the module is built; text only stands in for many.
    constexpr int64_t kWritten = 16;
    std::string elements = "{...}";
    if (own.element_count() <= kWritten) {
      elements.clear();
      llvm::raw_string_ostream os(elements);
      hlo::PrintLiteral(os, *LiteralAccess::Get(own));
    }
    return Append(*builder, {NextName(*builder), shape, shape + " constant(" + elements + ")", own}, value);
  });
}

HloError* hlo_builder_computation(HloBuilder* builder, const char* name, const HloModule* module) {
  return Guarded([&]() -> HloError* {
    if (builder == nullptr || name == nullptr || module == nullptr)
      return BadCall("the builder, the name or the module is null");
    std::unique_ptr<hlo::Module> copy = ComputationAccess::Module(module->computation)->Clone();
    const std::string clean = CleanName(name);
    std::vector<std::string> names;
    for (const auto& computation : copy->computations()) {
      const bool is_entry = computation.get() == copy->entry();
      names.push_back(is_entry ? clean : clean + "." + computation->name().str());
      if (builder->computation_names.contains(names.back()))
        return BadCall("the name '{0}' is taken", names.back());
      computation->set_name(copy->Save(names.back()));
    }
    std::string text;
    hlo::PrintOptions whole_constants;
    whole_constants.max_constant_elements = -1;
    for (const hlo::Computation* computation : copy->PostOrder()) {
      const std::string whole = hlo::ToString(*computation, whole_constants);
      llvm::StringRef rest = whole;
      rest.consume_front("ENTRY ");
      text += rest.str() + "\n";
    }
    const ModuleOr parsed = Parse("HloModule m\n" + text + "ENTRY e {\n  ROOT %x = f32[] parameter(0)\n}\n");
    if (!parsed) return ToError(ToStatus(parsed.error()));
    for (const std::string& made : names) builder->computation_names.insert(made);
    builder->computations += text;
    return nullptr;
  });
}

HloError* hlo_builder_add(HloBuilder* builder, const char* opcode, const HloValue* operands, size_t count,
                          const char* shape, const char* attributes, HloValue* value) {
  return Guarded([&]() -> HloError* {
    if (builder == nullptr || opcode == nullptr || (operands == nullptr && count != 0))
      return BadCall("the builder, the opcode or the operands are null");
    std::string operation = std::string(opcode) + "(";
    for (size_t i = 0; i < count; ++i) {
      if (HloError* error = CheckValue(builder, operands[i])) return error;
      operation += (i == 0 ? "%" : ", %") + builder->values[static_cast<size_t>(operands[i])].name;
    }
    operation += ")";
    if (attributes != nullptr && *attributes != '\0') operation += ", " + std::string(attributes);
    return AddInstruction(*builder, NextName(*builder), shape == nullptr ? "" : shape, operation,
                          {operands, count}, value);
  });
}

HloError* hlo_builder_shape(const HloBuilder* builder, HloValue value, HloText** shape) {
  if (shape != nullptr) *shape = nullptr;
  return Guarded([&]() -> HloError* {
    if (HloError* error = CheckValue(builder, value)) return error;
    return NewText(builder->values[static_cast<size_t>(value)].shape, shape);
  });
}

HloError* hlo_builder_build(const HloBuilder* builder, HloValue root, HloModule** module) {
  if (module != nullptr) *module = nullptr;
  return Guarded([&]() -> HloError* {
    if (HloError* error = CheckValue(builder, root)) return error;
    std::string text = "HloModule " + builder->name + "\n\n" + builder->computations + "ENTRY %" +
                       builder->name + ".entry {\n";
    for (size_t i = 0; i < builder->values.size(); ++i) {
      const HloBuilder::Value& value = builder->values[i];
      text +=
          (static_cast<HloValue>(i) == root ? "  ROOT %" : "  %") + value.name + " = " + value.text + "\n";
    }
    ModuleOr parsed = Parse(text + "}\n");
    if (!parsed) return ToError(ToStatus(parsed.error()));
    FillConstants(*builder, **parsed);
    if (std::vector<hlo::Diagnostic> errors = hlo::Verify(**parsed); !errors.empty()) {
      errors.front().loc = {};
      return ToError(ToStatus(errors.front()));
    }
    std::vector<uint64_t> ids;
    for (size_t i = 0; i < (*parsed)->computations().size(); ++i) ids.push_back(NextComputationId());
    return NewModule(ComputationAccess::Make(std::move(*parsed), std::move(ids)), module);
  });
}

void hlo_builder_free(HloBuilder* builder) { delete builder; }

}  // extern "C"

// hlo/hlo_c.h: building modules. Instructions are kept as HLO text, which is what callers know.
#include "ir/print.h"
#include "ir/verify.h"
#include "parser/parser.h"
#include "tools/library/c_api.h"
#include "tools/library/convert.h"

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
  std::vector<Value> values;
  llvm::StringMap<size_t> numbers;  // of values, by name
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

/// Gives the constants of the entry their elements.
void FillConstants(const HloBuilder& builder, hlo::Module& module) {
  for (hlo::Instruction* inst : module.entry()->InstructionsOf(hlo::OpKind::Constant)) {
    const auto found = builder.numbers.find(inst->name());
    if (found == builder.numbers.end()) continue;
    const Literal& constant = builder.values[found->second].constant;
    inst->mutable_attrs().Mutable<hlo::ConstantAttrs>().literal =
        std::make_shared<hlo::Literal>(LiteralAccess::Get(constant)->WithShape(inst->shape()).Pack());
  }
}

/// Takes a value, whose name nobody else has.
HloError* Append(HloBuilder& builder, HloBuilder::Value value, HloValue* number) {
  if (!builder.numbers.try_emplace(value.name, builder.values.size()).second)
    return BadCall("the name '{0}' is taken", value.name);
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
  // Of a parameter the number is what is checked; it has no operands.
  std::string module = "ENTRY e {\n";
  size_t parameters = 0;
  for (size_t i = 0; i < operands.size(); ++i) {
    const HloBuilder::Value& operand = builder.values[static_cast<size_t>(operands[i])];
    const auto* const first = std::find(operands.begin(), operands.begin() + i, operands[i]);
    if (first == operands.begin() + i && ++parameters != 0)
      module += "  %" + operand.name + " = " + operand.shape + " parameter(" + std::to_string(i) + ")\n";
  }
  module += "  ROOT %" + name + " = " + text + "\n}\n";
  ModuleOr parsed = Parse(module);
  if (!parsed && !builder.computations.empty())
    parsed = Parse("HloModule m\n" + builder.computations + module);
  if (!parsed) return ToError(ToStatus(parsed.error()));
  const hlo::Instruction& root = *(*parsed)->entry()->root();
  if (root.name() != name || (*parsed)->entry()->instruction_count() != static_cast<int64_t>(parameters) + 1)
    return BadCall("'{0}' is more than one instruction", operation);
  return Append(builder,
                {std::move(name), hlo::ToString(root.shape()), hlo::ToString(root.shape()) + " " + operation,
                 Literal()},
                value);
}

std::string NextName(const HloBuilder& builder) {
  std::string name = "v" + std::to_string(builder.values.size());
  while (builder.numbers.contains(name)) name += "_";
  return name;
}

}  // namespace

extern "C" {

HloError* hlo_builder_create(const char* name, HloBuilder** builder) {
  if (builder != nullptr) *builder = nullptr;
  return Guarded([&]() -> HloError* {
    if (name == nullptr || builder == nullptr) return BadCall("the name or the builder is null");
    // What HLO text cannot have as a name becomes one that it can.
    *builder = new HloBuilder{XlaBuilder(name).name(), "", {}, {}};
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
    HloBuilder::Value next{name == nullptr ? NextName(*builder) : std::string(name), made->ToString(true), "",
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
    std::string text;
    for (const auto& computation : copy->computations()) {
      const bool is_entry = computation.get() == copy->entry();
      const std::string whole =
          is_entry ? std::string(name) : std::string(name) + "." + computation->name().str();
      computation->set_name(copy->Save(whole));
    }
    for (const hlo::Computation* computation : copy->PostOrder()) {
      const std::string whole = hlo::ToString(*computation);
      llvm::StringRef rest = whole;
      rest.consume_front("ENTRY ");
      text += rest.str() + "\n";
    }
    const ModuleOr parsed = Parse("HloModule m\n" + builder->computations + text +
                                  "ENTRY e {\n  ROOT %x = f32[] parameter(0)\n}\n");
    if (!parsed) return ToError(ToStatus(parsed.error()));
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

// hlo/hlo_c.h: building modules. Instructions come as HLO text, which is what callers know; each is parsed
// alone, and what was built stays.
#include "ir/builder.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "parser/parser.h"
#include "tools/library/builder_state.h"
#include "tools/library/c_api.h"

using namespace hlo_toolkit;            // NOLINT(google-build-using-namespace): functions of C
using namespace hlo_toolkit::internal;  // NOLINT(google-build-using-namespace): functions of C

namespace hlo_toolkit::internal {

struct CBuilder {
  std::unique_ptr<hlo::Module> module;          // with the entry
  std::vector<hlo::Instruction*> values;        // of the entry, by number
  llvm::StringSet<> names;                      // that they were asked for with
  std::vector<hlo::Computation*> computations;  // that attributes can name
  std::unique_ptr<std::atomic<bool>> busy = std::make_unique<std::atomic<bool>>(false);
};

}  // namespace hlo_toolkit::internal

struct HloBuilder : Handle<CBuilder, HandleKind::Builder> {};

namespace {

/// A call that uses a builder, alone.
class Turn {
 public:
  explicit Turn(const HloBuilder* builder) : error_(CheckHandles(builder)) {
    if (error_ != nullptr) return;
    busy_ = builder->get().busy.get();
    if (!busy_->exchange(true)) return;
    busy_ = nullptr;
    error_ = NewError({StatusCode::kFailedPrecondition, "another thread uses the builder"});
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  ~Turn() {
    if (busy_ != nullptr) *busy_ = false;
  }
  [[nodiscard]] HloError* error() const { return error_; }

 private:
  HloError* error_;
  std::atomic<bool>* busy_ = nullptr;
};

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

HloError* CheckName(const CBuilder& builder, const std::string& name) {
  return builder.names.contains(name) ? BadCall("the name '{0}' is taken", name) : nullptr;
}

/// Takes an instruction of the entry.
void Append(CBuilder& builder, const std::string& name, hlo::Instruction* value, HloValue* number) {
  value->set_loc({});
  builder.names.insert(name);
  *number = static_cast<HloValue>(builder.values.size());
  builder.values.push_back(value);
}

HloError* CheckValue(const CBuilder& builder, HloValue value) {
  if (value >= 0 && value < static_cast<int64_t>(builder.values.size())) return nullptr;
  return BadCall("there is no value {0}", value);
}

std::string NextName(const CBuilder& builder) {
  std::string name = "v" + std::to_string(builder.values.size());
  while (builder.names.contains(name)) name += "_";
  return name;
}

/// What stands for a computation while an instruction that calls it is parsed: it has its parameters and
/// result, and nothing else.
std::string StandIn(const hlo::Computation& computation) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "%" << computation.name() << " {\n";
  for (const hlo::Instruction* parameter : computation.parameters()) {
    const int64_t number = parameter->attr<hlo::ParameterAttrs>().number;
    os << "  %p" << number << " = " << hlo::ToString(parameter->shape()) << " parameter(" << number << ")\n";
  }
  os << "  ROOT %r = " << hlo::ToString(computation.root()->shape())
     << " custom-call(), custom_call_target=\"result\"\n}\n\n";
  return text;
}

/// Adds `%name = text` after checking it, with operands as parameters of a module of its own.
HloError* AddInstruction(CBuilder& builder, const std::string& shape, const std::string& operation,
                         Span<const HloValue> operands, HloValue* value) {
  if (value == nullptr) return BadCall("there is no place for the value");
  const std::string name = NextName(builder);
  std::string entry = "ENTRY %" + name + ".entry {\n";
  llvm::StringMap<hlo::Instruction*> given;
  for (const HloValue number : operands) {
    hlo::Instruction* operand = builder.values[static_cast<size_t>(number)];
    const std::string next = std::to_string(given.size());
    if (given.try_emplace(operand->name(), operand).second)
      entry += "  %" + operand->name().str() + " = " + hlo::ToString(operand->shape()) + " parameter(" +
               next + ")\n";
  }
  entry += "  ROOT %" + name + " = " + shape + (shape.empty() ? "" : " ") + operation + "\n}\n";
  std::string callees;
  for (const hlo::Computation* computation : builder.computations)
    if (llvm::StringRef(operation).contains(computation->name())) callees += StandIn(*computation);
  const ModuleOr parsed = Parse("HloModule m\n\n" + callees + entry);
  if (!parsed) return ToError(ToStatus(parsed.error()));
  const hlo::Instruction& root = *(*parsed)->entry()->root();
  if (root.name() != name ||
      (*parsed)->entry()->instruction_count() != static_cast<int64_t>(given.size()) + 1)
    return BadCall("'{0}' is more than one instruction", operation);
  std::vector<hlo::Instruction*> mine;
  for (const hlo::Instruction* operand : root.operands()) mine.push_back(given.lookup(operand->name()));
  std::vector<hlo::Computation*> called;
  for (const hlo::Computation* callee : root.callees()) {
    called.push_back(builder.module->FindComputation(callee->name()));
    if (called.back() == nullptr) return BadCall("'{0}' holds a computation of its own", operation);
  }
  Append(builder, name,
         hlo::CloneInstruction(root, *builder.module->entry(), mine, called,
                               builder.module->UniqueInstructionName(builder.module->Save(name))),
         value);
  return nullptr;
}

/// The values as a module of their own, in the form that `hlo::Verify` and others expect.
std::unique_ptr<hlo::Module> Finished(const CBuilder& builder, HloValue root) {
  builder.module->entry()->set_root(builder.values[static_cast<size_t>(root)]);
  std::unique_ptr<hlo::Module> made = builder.module->Clone();
  made->MoveToEnd(made->entry());
  hlo::EntryLayout layout;
  for (const hlo::Instruction* parameter : made->entry()->parameters())
    layout.parameters.push_back(parameter->shape().WithDefaultLayouts());
  layout.result = made->entry()->root()->shape().WithDefaultLayouts();
  made->config.entry_layout = std::move(layout);
  return made;
}

}  // namespace

extern "C" {

HloError* hlo_builder_create(const char* name, HloBuilder** builder) {
  return GuardedMaking(builder, [&]() -> HloError* {
    if (name == nullptr) return BadCall("the name is null");
    std::string clean = CleanName(name);
    if (clean.empty()) clean = "computation";
    CBuilder made;
    made.module = std::make_unique<hlo::Module>(clean);
    made.module->set_entry(
        made.module->AddComputation(made.module->UniqueComputationName(made.module->Save(clean + ".entry"))));
    return Give(std::move(made), builder);
  });
}

HloError* hlo_builder_parameter(HloBuilder* builder, int64_t number, const char* shape, const char* name,
                                HloValue* value) {
  return Guarded([&]() -> HloError* {
    const Turn turn(builder);
    if (turn.error() != nullptr) return turn.error();
    if (shape == nullptr || value == nullptr) return BadCall("the shape or the value is null");
    CBuilder& mine = builder->get();
    const StatusOr<Shape> parsed = ParseShape(shape);
    if (!parsed.ok()) return ToError(parsed.status());
    auto made = ToShape(*parsed);
    if (!made) return ToError(ToStatus(made.error()));
    constexpr int64_t kMost = int64_t{1} << 20;
    if (number < 0) return BadCall("parameter number {0} is negative", number);
    if (number >= kMost) return BadCall("parameter number {0} is beyond {1}", number, kMost - 1);
    std::string clean = name == nullptr ? NextName(mine) : CleanName(name);
    if (clean.empty()) clean = NextName(mine);
    if (HloError* error = CheckName(mine, clean)) return error;
    const auto taken = mine.module->entry()->parameters();
    if (static_cast<size_t>(number) < taken.size() && taken[static_cast<size_t>(number)] != nullptr)
      return BadCall("there is a parameter {0} already", number);
    hlo::Builder adder(*mine.module->entry());
    Append(mine, clean, adder.Parameter(number, std::move(*made), clean), value);
    return nullptr;
  });
}

HloError* hlo_builder_constant(HloBuilder* builder, const HloArray* array, HloValue* value) {
  return Guarded([&]() -> HloError* {
    const Turn turn(builder);
    if (turn.error() != nullptr) return turn.error();
    if (value == nullptr) return BadCall("the value is null");
    Literal borrowed;
    if (HloError* error = LiteralOf(array, "the array", borrowed)) return error;
    CBuilder& mine = builder->get();
    const hlo::Literal own = LiteralAccess::Get(borrowed)->Copy();
    hlo::Builder adder(*mine.module->entry());
    const std::string name = NextName(mine);
    Append(mine, name, adder.Constant(own.WithShape(own.shape().WithDefaultLayouts()).Pack(), name), value);
    return nullptr;
  });
}

HloError* hlo_builder_computation(HloBuilder* builder, const char* name, const HloModule* module) {
  return Guarded([&]() -> HloError* {
    const Turn turn(builder);
    if (turn.error() != nullptr) return turn.error();
    if (HloError* error = CheckHandles(module)) return error;
    if (name == nullptr) return BadCall("the name is null");
    CBuilder& mine = builder->get();
    const hlo::Module& from = *ComputationAccess::Module(module->get().computation);
    const std::string clean = CleanName(name);
    if (clean.empty()) return BadCall("the name is empty");
    const auto name_of = [&](const hlo::Computation* computation) {
      return computation == from.entry() ? clean : clean + "." + computation->name().str();
    };
    for (const hlo::Computation* computation : from.PostOrder())
      if (mine.module->FindComputation(name_of(computation)) != nullptr)
        return BadCall("the name '{0}' is taken", name_of(computation));
    for (const hlo::SourcePtr& source : from.sources()) mine.module->KeepSource(source);
    llvm::DenseMap<const hlo::Computation*, hlo::Computation*> copies;
    for (const hlo::Computation* computation : from.PostOrder()) {
      hlo::Computation*& copy = copies[computation];
      copy = mine.module->AddComputation(
          mine.module->UniqueComputationName(mine.module->Save(name_of(computation))));
      hlo::CloneInto(*computation, *copy, [&](hlo::Computation* callee) { return copies.lookup(callee); });
      for (hlo::Instruction* inst : copy->instructions())
        inst->set_name(mine.module->UniqueInstructionName(inst->name()));
      mine.computations.push_back(copy);
    }
    return nullptr;
  });
}

HloError* hlo_builder_add(HloBuilder* builder, const char* opcode, const HloValue* operands, size_t count,
                          const char* shape, const char* attributes, HloValue* value) {
  return Guarded([&]() -> HloError* {
    const Turn turn(builder);
    if (turn.error() != nullptr) return turn.error();
    if (opcode == nullptr || (operands == nullptr && count != 0))
      return BadCall("the opcode or the operands are null");
    // More than a word could be another instruction.
    if (*opcode == '\0' || !llvm::all_of(llvm::StringRef(opcode), [](char c) {
          return llvm::isLower(c) || llvm::isDigit(c) || c == '-';
        }))
      return BadCall("'{0}' is no opcode", opcode);
    CBuilder& mine = builder->get();
    if (shape != nullptr && *shape != '\0') {
      const StatusOr<Shape> parsed = ParseShape(shape);
      if (!parsed.ok()) return ToError(parsed.status());
    }
    std::string operation = std::string(opcode) + "(";
    for (size_t i = 0; i < count; ++i) {
      if (HloError* error = CheckValue(mine, operands[i])) return error;
      operation += (i == 0 ? "%" : ", %") + mine.values[static_cast<size_t>(operands[i])]->name().str();
    }
    operation += ")";
    if (attributes != nullptr && *attributes != '\0') operation += ", " + std::string(attributes);
    return AddInstruction(mine, shape == nullptr ? "" : shape, operation, {operands, count}, value);
  });
}

HloError* hlo_builder_shape(const HloBuilder* builder, HloValue value, HloText** shape) {
  return GuardedMaking(shape, [&]() -> HloError* {
    const Turn turn(builder);
    if (turn.error() != nullptr) return turn.error();
    if (HloError* error = CheckValue(builder->get(), value)) return error;
    return Give(hlo::ToString(builder->get().values[static_cast<size_t>(value)]->shape()), shape);
  });
}

HloError* hlo_builder_build(const HloBuilder* builder, HloValue root, HloModule** module) {
  return GuardedMaking(module, [&]() -> HloError* {
    const Turn turn(builder);
    if (turn.error() != nullptr) return turn.error();
    const CBuilder& mine = builder->get();
    if (HloError* error = CheckValue(mine, root)) return error;
    const auto parameters = mine.module->entry()->parameters();
    for (size_t i = 0; i < parameters.size(); ++i)
      if (parameters[i] == nullptr)
        return BadCall("there is a parameter {0}, but no parameter {1}", parameters.size() - 1, i);
    std::unique_ptr<hlo::Module> made = Finished(mine, root);
    if (std::vector<hlo::Diagnostic> errors = hlo::Verify(*made); !errors.empty()) {
      errors.front().loc = {};
      return ToError(ToStatus(errors.front()));
    }
    std::vector<uint64_t> ids;
    for (size_t i = 0; i < made->computations().size(); ++i) ids.push_back(NextComputationId());
    return NewModule(ComputationAccess::Make(std::move(made), std::move(ids)), module);
  });
}

void hlo_builder_free(HloBuilder* builder) { Handles<HloBuilder>::Free(builder); }

}  // extern "C"

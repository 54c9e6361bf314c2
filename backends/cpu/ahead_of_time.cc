#include "backends/cpu/ahead_of_time.h"

#include "backends/cpu/build.h"
#include "backends/cpu/host_steps.h"
#include "backends/cpu/machine.h"
#include "backends/cpu/prepare.h"
#include "backends/cpu/product_step.h"
#include "backends/cpu/routine_step.h"
#include "backends/run_devices.h"
#include "ir/print.h"
#include "ir/support/json.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/TargetParser/Host.h"

namespace hlo {
namespace {

using codegen::EntryPoint;
using cpu::Buffer;
using cpu::BufferKind;
using cpu::Leaf;
using cpu::Program;
using cpu::Slice;
using Base = EntryPoint::Base;

/// An array that the function takes or gives.
struct Array {
  std::string name;  // of the parameter
  int64_t parameter = -1;
  ShapeIndex index;
  Shape shape;
  Slice slice;
  int64_t argument = -1;  // results: the argument that is written over with it

  [[nodiscard]] int64_t bytes() const { return std::max<int64_t>(slice.size, 0); }
};

/// Arrays of a value, without tokens.
void AppendArrays(const cpu::Value& value, const Array& like, std::vector<Array>& to) {
  const Leaf* leaf = value.leaves.begin();
  ForEachLeaf(value.shape, [&](const ShapeIndex& index, const Shape& shape) {
    const Slice slice = leaf++->slice;
    if (!shape.IsArray()) return;
    Array& array = to.emplace_back(like);
    array.index = index;
    array.shape = shape;
    array.slice = slice;
  });
}

/// Lays a program's buffers into what the caller of a function of C hands over.
class Interface {
 public:
  explicit Interface(const Program& program) : program_(program), temp_bytes_(program.arena_bytes) {
    const auto& parameters = program.module->entry()->parameters();
    for (size_t i = 0; i < parameters.size(); ++i) {
      Array like;
      like.name = parameters[i]->name().str();
      like.parameter = static_cast<int64_t>(i);
      AppendArrays(program.parameters[i], like, arguments_);
    }
    AppendArrays(program.result, {}, results_);
    PlaceBuffers();
  }

  [[nodiscard]] llvm::ArrayRef<Array> arguments() const { return arguments_; }
  [[nodiscard]] llvm::ArrayRef<Array> results() const { return results_; }
  [[nodiscard]] int64_t temp_bytes() const { return temp_bytes_; }
  [[nodiscard]] std::vector<Slice> ResultSlices() const {
    std::vector<Slice> slices;
    for (const Array& result : results_) slices.push_back(result.slice);
    return slices;
  }

  EntryPoint EntryFor(llvm::ArrayRef<std::vector<Slice>> slots) {
    for (const Array& argument : arguments_) entry_.arguments.push_back(argument.bytes() > 0);
    for (const Array& result : results_) entry_.results.push_back(result.bytes() > 0);
    entry_.temporary = temp_bytes_ > 0;
    entry_.alignment = cpu::kAlignment;
    for (const std::vector<Slice>& of_routine : slots) {
      std::vector<EntryPoint::Place>& places = entry_.slots.emplace_back();
      for (const Slice& slot : of_routine) places.push_back(PlaceOf(slot));
    }
    for (size_t i = 0; i < results_.size(); ++i) {
      const EntryPoint::Place from = PlaceOf(results_[i].slice), to{Base::Result, i, 0};
      if (results_[i].bytes() > 0 && (from.base != to.base || from.number != i || from.offset != 0))
        entry_.copies.push_back({from, to, results_[i].bytes()});
    }
    return std::move(entry_);
  }

 private:
  /// By buffer: the numbers of the arrays that lie there.
  [[nodiscard]] std::vector<llvm::SmallVector<size_t, 1>> ByBuffer(llvm::ArrayRef<Array> arrays) const {
    std::vector<llvm::SmallVector<size_t, 1>> numbers(program_.buffers.size());
    for (size_t i = 0; i < arrays.size(); ++i)
      if (arrays[i].slice.buffer >= 0) numbers[static_cast<size_t>(arrays[i].slice.buffer)].push_back(i);
    return numbers;
  }

  /// Buffers of results lie in the caller's memory where they are one result and nothing else.
  void PlaceBuffers() {
    const auto arguments_in = ByBuffer(arguments_), results_in = ByBuffer(results_);
    for (size_t number = 0; number < program_.buffers.size(); ++number) {
      const Buffer& buffer = program_.buffers[number];
      EntryPoint::Place place;
      switch (buffer.kind) {
        case BufferKind::Parameter: {
          if (arguments_in[number].empty()) break;  // a token
          place = {Base::Argument, arguments_in[number].front(), 0};
          if (!buffer.written) break;
          for (const size_t i : results_in[number]) results_[i].argument = static_cast<int64_t>(place.number);
          break;
        }
        case BufferKind::Constant:
          place = {Base::Constant, entry_.constants.size(), 0};
          entry_.constants.emplace_back(buffer.constant.data(), static_cast<size_t>(buffer.size));
          break;
        case BufferKind::Output: {
          const Array* result = results_in[number].empty() ? nullptr : &results_[results_in[number].front()];
          const bool whole =
              result != nullptr && result->slice.offset == 0 && result->slice.size == buffer.size;
          place = whole ? EntryPoint::Place{Base::Result, results_in[number].front(), 0}
                        : EntryPoint::Place{Base::Temporary, 0, Reserve(buffer.size)};
          break;
        }
        case BufferKind::Temporary: place = {Base::Temporary, 0, buffer.offset}; break;
      }
      places_.push_back(place);
    }
  }

  int64_t Reserve(int64_t bytes) {
    const int64_t offset = temp_bytes_;
    temp_bytes_ += (bytes + cpu::kAlignment - 1) / cpu::kAlignment * cpu::kAlignment;
    return offset;
  }

  [[nodiscard]] EntryPoint::Place PlaceOf(const Slice& slice) const {
    if (slice.buffer < 0) return {};
    EntryPoint::Place place = places_[static_cast<size_t>(slice.buffer)];
    place.offset += slice.offset;
    return place;
  }

  const Program& program_;
  std::vector<Array> arguments_, results_;
  std::vector<EntryPoint::Place> places_;  // by buffer
  int64_t temp_bytes_;
  EntryPoint entry_;
};

/// What is to be said about the function in words.
struct Facts {
  const Interface& interface;
  const Program& program;
  std::string symbol, target;
  bool has_archive;  // it calls the archive of loops
  [[nodiscard]] std::string ModuleName() const { return program.module->name().str(); }
};

/// What functions return, by number: those of code alone, then those of the archive.
constexpr struct {
  const char *name, *meaning;
} kCodes[] = {{"DONE", "done"},
              {"NULL_POINTER", "a pointer is null"},
              {"MISALIGNED", "a result or temp is not aligned"},
              {"NOT_STARTED", "the function has not been started"},
              {"OTHER_ARCHIVE", "the archive is of another version"},
              {"OUT_OF_MEMORY", "an operation needs more temporary memory than was foreseen"},
              {"FAILED", "an operation cannot be computed"}};
constexpr size_t kCodesOfCode = EntryPoint::kMisaligned;

std::string Identifier(llvm::StringRef name) {
  std::string identifier;
  for (const char c : name) identifier += llvm::isAlnum(c) ? c : '_';
  if (identifier.empty() || llvm::isDigit(identifier.front())) identifier.insert(0, "_");
  return identifier;
}

bool IsIdentifier(llvm::StringRef name) { return !name.empty() && Identifier(name) == name; }

std::string List(llvm::ArrayRef<Array> arrays) {
  std::string list;
  for (const Array& array : arrays) {
    if (!list.empty()) list += ", ";
    list += ToString(array.shape);
    if (array.parameter >= 0) {
      list += " " + array.name;
      for (const int64_t i : array.index) list += "." + std::to_string(i);
    }
    if (array.argument >= 0) list += " (over argument " + std::to_string(array.argument) + ")";
  }
  return list.empty() ? "none" : list;
}

/// Parameters of C have at least one element.
std::string Parameter(const char* name, size_t count) {
  return "void *const " + std::string(name) + "[" + std::to_string(std::max<size_t>(count, 1)) + "]";
}

/// Of a function that calls the archive of loops; {0}: its name.
constexpr const char* kArchiveFunctions =
    "/* Links with libhlo-rt.a. {0}_start comes before all else, once: `run` does task(what, i) for each i\n"
    "   below count, on as many threads as it likes, and returns when all are done; threads below 2, or "
    "null:\n"
    "   the caller alone. Nothing is allocated after it. {0}_end, when nobody calls any more. */\n"
    "int {0}_start(int threads,\n"
    "    void (*run)(void *context, int count, void (*task)(void *what, int i), void *what), void "
    "*context);\n"
    "size_t {0}_temp_bytes(void);\n"
    "void {0}_end(void);\n";

/// Macros for what callers have to know.
std::string DefinitionsOf(const Facts& facts, llvm::StringRef macro) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (facts.has_archive)
    os << llvm::formatv("#define {0}_TEMP_BYTES {1}_temp_bytes()\n", macro, facts.symbol);
  else
    os << llvm::formatv("#define {0}_TEMP_BYTES {1}u\n", macro, facts.interface.temp_bytes());
  os << llvm::formatv("#define {0}_ALIGN {1}u\n", macro, cpu::kAlignment);
  for (size_t i = 1; i < std::size(kCodes) && (i <= kCodesOfCode || facts.has_archive); ++i)
    os << llvm::formatv("#define {0}_{1} {2}\n", macro, kCodes[i].name, i);
  return text;
}

std::string HeaderOf(const Facts& facts) {
  const Interface& interface = facts.interface;
  std::string macro;
  for (const char c : facts.symbol) macro += llvm::toUpper(c);
  std::string text;
  llvm::raw_string_ostream os(text);
  os << llvm::formatv("/* module {0}, target {1}; args {2}; result {3} */\n", Identifier(facts.ModuleName()),
                      facts.target, List(interface.arguments()), List(interface.results()));
  os << llvm::formatv("#ifndef {0}_H\n#define {0}_H\n#include <stddef.h>\n", macro)
     << "/* Arrays are row-major; elements narrower than a byte lie in one each, integers with a sign "
        "extended.\n"
        "   Results and temp begin at multiples of the alignment, and share bytes with no argument unless a\n"
        "   result is said to be written over it. Nothing is allocated; threads call with memory of their "
        "own. */\n"
     << DefinitionsOf(facts, macro) << "#ifdef __cplusplus\nextern \"C\" {\n#endif\n"
     << llvm::formatv("int {0}({1}, {2}, void *temp);\n", facts.symbol,
                      Parameter("args", interface.arguments().size()),
                      Parameter("results", interface.results().size()));
  if (facts.has_archive) os << llvm::formatv(kArchiveFunctions, facts.symbol);
  os << "#ifdef __cplusplus\n}\n#endif\n#endif\n";
  return text;
}

void Write(JsonWriter& json, llvm::StringRef key, llvm::ArrayRef<Array> arrays) {
  json.Array(key, [&] {
    for (const Array& array : arrays)
      json.Object([&] {
        if (array.argument >= 0) json.Member("argument", array.argument);
        json.Member("bytes", array.bytes());
        json.List("index", array.index);
        json.List("layout", array.shape.layout().minor_to_major);
        if (array.parameter >= 0) json.Member("name", array.name);
        if (array.parameter >= 0) json.Member("parameter", array.parameter);
        json.Member("shape", ToString(array.shape, /*with_layout=*/false));
      });
  });
}

/// Functions of other libraries that the object calls.
Result<std::vector<std::string>> SymbolsNeeded(const std::string& object) {
  const auto failed = [](llvm::Error error) {
    return Error("compile-kernels", {}, "LLVM: {0}", llvm::toString(std::move(error)));
  };
  auto file = llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(object, "object"));
  if (!file) return failed(file.takeError());
  std::vector<std::string> needed;
  for (const llvm::object::SymbolRef& symbol : (*file)->symbols()) {
    auto flags = symbol.getFlags();
    if (!flags) return failed(flags.takeError());
    auto name = symbol.getName();
    if (!name) return failed(name.takeError());
    if ((*flags & llvm::object::SymbolRef::SF_Undefined) != 0 && !name->empty())
      needed.push_back(name->str());
  }
  return needed;
}

std::string DescriptionOf(const Facts& facts, const cpu::Machine& machine,
                          llvm::ArrayRef<std::string> needed) {
  std::string text;
  llvm::raw_string_ostream os(text);
  JsonWriter json(os, /*indent=*/2);
  json.Object([&] {
    json.Member("alignment", cpu::kAlignment);
    Write(json, "arguments", facts.interface.arguments());
    json.Object("codes", [&] {
      for (size_t i = 0; i < std::size(kCodes) && (i <= kCodesOfCode || facts.has_archive); ++i)
        json.Member(std::to_string(i), kCodes[i].meaning);
    });
    json.Array("libraries", [&] {
      if (facts.has_archive) json.Value("hlo-rt");
      if (!needed.empty()) json.Value("c");
    });
    json.Member("module", facts.ModuleName());
    Write(json, "results", facts.interface.results());
    json.Member("schema", "hlo.aot/1");
    json.Member("symbol", facts.symbol);
    json.List("symbols_needed", needed);
    json.Object("target", [&] {
      json.Member("cpu", machine.cpu);
      json.Member("features", machine.features);
      json.Member("triple", llvm::sys::getProcessTriple());
    });
    json.Member("temp_bytes", facts.interface.temp_bytes());
  });
  os << '\n';
  return text;
}

/// The triple, the CPU, and the widest vectors among its features.
std::string TargetOf(const cpu::Machine& machine) {
  std::string target = llvm::sys::getProcessTriple() + " " + machine.cpu;
  for (const char* feature : {"+amx-bf16", "+avx512bf16", "+avx512f", "+avx2"})
    if (cpu::HasFeatures(machine, feature)) return target + " " + feature;
  return target;
}

Diagnostic Refusal(const cpu::Step& step, const ModuleConfig& config, CodeHost host) {
  const Instruction& inst = *step.instruction;
  if (host == CodeHost::Archive)
    return MakeError("unsupported-ahead-of-time", inst.loc(), "%{0}: {1} is not computed ahead of time: {2}",
                     inst.name(), inst.info().text, cpu::ObstacleToHostStep(step, config));
  return MakeError("unsupported-ahead-of-time", inst.loc(), "%{0}: {1} is not computed by code alone ({2})",
                   inst.name(), inst.info().text, cpu::RunnerOf(step).Explain());
}

Status CheckSizes(const Instruction& boundary) {
  Status status;
  ForEachLeaf(boundary.shape(), [&](const ShapeIndex&, const Shape& shape) {
    if (status && shape.IsArray() && shape.HasDynamicDimension())
      status = Error("unsupported-ahead-of-time", boundary.loc(),
                     "%{0}: arrays of dynamic size do not pass the boundary of a function of C: {1}",
                     boundary.name(), ToString(shape));
  });
  return status;
}

/// What LLVM does to loops within loops of one function grows with the cube of their levels: 256 take half a
/// second, 2000 minutes.
constexpr int64_t kMostLoopLevels = 256;

Status CheckLoops(const Module& module) {
  llvm::DenseMap<const Computation*, int64_t> levels;
  for (const Computation* c : module.PostOrder()) {
    int64_t here = 0;
    for (const Instruction* inst : c->instructions()) {
      const int64_t within = inst->kind() == OpKind::While ? 1 : 0;
      for (const Computation* callee : inst->callees()) here = std::max(here, levels.lookup(callee) + within);
      if (here > kMostLoopLevels)
        return Error("limit-nesting", inst->loc(),
                     "%{0}: loops within loops of one function may have {1} levels", inst->name(),
                     kMostLoopLevels);
    }
    levels[c] = here;
  }
  return {};
}

Result<std::unique_ptr<Program>> Build(const Module& module, const CpuOptions& options,
                                       const cpu::Machine& machine) {
  HLO_CHECK_OK(CheckSupported(module, {}));
  std::unique_ptr<Module> copy = module.Clone();
  HLO_CHECK_OK(cpu::Prepare(*copy, options));
  HLO_CHECK_OK(CheckLoops(*copy));
  auto jit = std::make_unique<cpu::Jit>(machine);
  jit->KeepTogether();
  return cpu::BuildProgram(std::move(copy), std::move(jit), options, /*compile=*/false);
}

/// Steps of a routine, where there are too many for one.
constexpr size_t kStepsOfPart = 256;

/// Functions that do all steps, one after the other, the slices of their slots, and the steps that they leave
/// to their host.
struct Routines {
  std::vector<int32_t> numbers;
  std::vector<std::vector<Slice>> slots;
  std::vector<const cpu::Step*> host_steps;
};

Result<Routines> MakeRoutines(const Program& program, const Interface& interface, CodeHost host) {
  Routines routines;
  llvm::ArrayRef<std::unique_ptr<cpu::Step>> rest = program.entry;
  const bool in_parts = rest.size() > kernel::kMostSteps;
  std::vector<Slice> read_later = interface.ResultSlices();
  if (in_parts) {
    read_later.clear();
    for (size_t i = 0; i < program.buffers.size(); ++i)
      read_later.push_back({.buffer = static_cast<int32_t>(i), .size = program.buffers[i].size});
  }
  do {
    const auto steps = in_parts ? rest.take_front(kStepsOfPart) : rest;
    rest = rest.drop_front(steps.size());
    cpu::RoutineBuilder builder(read_later);
    if (host == CodeHost::Archive)
      builder.HaveHost(routines.host_steps.size(), [&](const cpu::Step& step) {
        return cpu::ObstacleToHostStep(step, program.module->config);
      });
    if (const cpu::Step* refused = builder.AddAll(steps))
      return Error(Refusal(*refused, program.module->config, host));
    llvm::append_range(routines.host_steps, builder.host_steps());
    auto [routine, slots] = std::move(builder).Finish(program.buffers);
    routines.numbers.push_back(program.jit->AddRoutine(routine));
    routines.slots.push_back(std::move(slots));
  } while (!rest.empty());
  return routines;
}

}  // namespace

Result<AheadOfTime> CompileAheadOfTime(const Module& module, const CpuOptions& options,
                                       llvm::StringRef symbol) {
  if (!symbol.empty() && !IsIdentifier(symbol))
    return Error("usage-option", {}, "option '--entry-name': '{0}' is no identifier of C", symbol);
  for (const Instruction* parameter : module.entry()->parameters()) HLO_CHECK_OK(CheckSizes(*parameter));
  HLO_CHECK_OK(CheckSizes(*module.entry()->root()));
  CpuOptions mine = options;
  mine.tier = Tier::Compile;
  HLO_TRY(const cpu::Machine machine, cpu::MachineFor(options.cpu, options.features, /*runs_here=*/false));
  HLO_TRY(const auto program, Build(module, mine, machine));
  Interface interface(*program);
  HLO_TRY(const Routines routines, MakeRoutines(*program, interface, options.host));
  EntryPoint entry = interface.EntryFor(routines.slots);
  entry.symbol = symbol.empty() ? Identifier(module.name()) : symbol.str();
  std::string steps;
  if (!routines.host_steps.empty()) {
    steps = cpu::WriteHostSteps(*program->module, program->buffers, routines.host_steps,
                                cpu::ProductTarget(machine).rates);
    entry.archive = {llvm::arrayRefFromStringRef(steps), interface.temp_bytes()};
  }
  const Facts facts{interface, *program, entry.symbol, TargetOf(machine), entry.archive.has_value()};
  AheadOfTime result;
  HLO_TRY(result.object, program->jit->MakeObject(entry, routines.numbers));
  HLO_TRY(const std::vector<std::string> needed, SymbolsNeeded(result.object));
  result.header = HeaderOf(facts);
  result.description = DescriptionOf(facts, machine, needed);
  return result;
}

}  // namespace hlo

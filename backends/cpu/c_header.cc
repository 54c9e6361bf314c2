#include "backends/cpu/c_header.h"

#include <climits>

#include "backends/cpu/c_names.h"
#include "ir/print.h"
#include "ir/support/json.h"
#include "llvm/ADT/StringExtras.h"

namespace hlo::cpu {
namespace {

using codegen::EntryPoint;

/// Which functions return a code.
enum class Of : uint8_t { All, Archive, Weights, Machines };
/// What functions return, by number.
constexpr struct {
  const char *name, *meaning;
  Of of;
} kCodes[] = {{"DONE", "done", Of::All},
              {"NULL_POINTER", "a pointer is null", Of::All},
              {"MISALIGNED", "a result or temp is not aligned", Of::All},
              {"NOT_STARTED", "the function has not been started", Of::Archive},
              {"OTHER_ARCHIVE", "the archive is of another version", Of::Archive},
              {"OUT_OF_MEMORY", "an operation needs more temporary memory than was foreseen", Of::Archive},
              {"FAILED", "an operation cannot be computed", Of::Archive},
              {"OTHER_WEIGHTS", "the file cannot be read, or is not the one that was written with the object",
               Of::Weights},
              {"OTHER_MACHINE", "the processor lacks what the object was compiled for", Of::Machines}};
static_assert(std::size(kCodes) == EntryPoint::kOtherMachine + 1);

/// The numbers of those that a function returns.
std::vector<size_t> CodesOf(const CObject& object, const CFunction& function) {
  std::vector<size_t> codes;
  for (size_t i = 0; i < std::size(kCodes); ++i) {
    const Of of = kCodes[i].of;
    if (of == Of::All || (of == Of::Archive && function.has_archive) ||
        (of == Of::Weights && function.has_weights) || (of == Of::Machines && object.asks))
      codes.push_back(i);
  }
  return codes;
}

std::string List(llvm::ArrayRef<CArray> arrays) {
  std::string list;
  for (const CArray& array : arrays) {
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
    "/* Links with libhlo-rt.a. {0}_start comes before all calls, once: `run` does task(what, i) for each i\n"
    "   below count, on as many threads as it likes, and returns when all are done; threads below 2, or "
    "null:\n"
    "   the caller alone; 1024 count at most. Nothing is allocated after it. {0}_end, when nobody calls any "
    "more. */\n"
    "int {0}_start(int threads,\n"
    "    void (*run)(void *context, int count, void (*task)(void *what, int i), void *what), void "
    "*context);\n"
    "size_t {0}_temp_bytes(void);\n"
    "void {0}_end(void);\n";
constexpr const char* kWeightsFunction =
    "/* Maps the file of constants that was written with the object; before the first call, once.\n"
    "   It looks at the head of the file alone; {0}_verify_weights then reads all of it, for bytes\n"
    "   that have changed. */\n"
    "int {0}_map_weights(const char *path);\n"
    "int {0}_verify_weights(void);\n";

/// An element as C has it, and how many of them one of ours is.
struct CElement {
  std::string type;
  int count = 1;
};
CElement ElementOf(ElementType type) {
  if (type == ElementType::Pred) return {"bool"};
  if (IsComplex(type)) return {ElementOf(RealPartType(type)).type, 2};
  if (type == ElementType::F32) return {"float"};
  if (type == ElementType::F64) return {"double"};
  const TypeInfo& info = Info(type);
  const bool has_sign = info.type_class == TypeClass::Signed;
  return {(has_sign ? "int" : "uint") + std::to_string(CHAR_BIT * info.host_bytes()) + "_t"};
}

/// `typedef float f_arg0[2][3];`
std::string TypeOf(const std::string& name, const CArray& array) {
  const CElement element = ElementOf(array.shape.element_type());
  std::string text = "typedef " + element.type + " " + name;
  // C has no arrays without elements: nothing is behind the pointer.
  if (array.bytes() > 0)
    for (const int64_t d : array.shape.dims()) text += "[" + std::to_string(d) + "]";
  if (element.count > 1) text += "[" + std::to_string(element.count) + "]";
  text += ";  /* " + ToString(array.shape, /*with_layout=*/false);
  if (array.parameter >= 0) text += " " + CIdentifier(array.name);
  for (const int64_t i : array.index) text += "." + std::to_string(i);
  return text + " */\n";
}

/// Types of arrays, and a function that takes these.
std::string TypedFunction(const CFunction& function) {
  const CInterface& interface = *function.interface;
  /// Pointers, as each language casts to them without a warning.
  struct Pointers {
    std::string c, cpp;
  } args, results;
  std::string types, of_c, of_cpp;
  const auto add = [&](const char* kind, llvm::ArrayRef<CArray> arrays, Pointers& list) {
    for (size_t i = 0; i < arrays.size(); ++i) {
      const std::string name = kind + std::to_string(i), type = function.symbol + "_" + name;
      const char* separator = i > 0 ? ", " : "";
      const bool written = &list == &results || llvm::any_of(interface.results(), [&](const CArray& r) {
        return r.argument == static_cast<int64_t>(i);
      });
      types += TypeOf(type, arrays[i]);
      of_c += llvm::formatv("{0} *{1}, ", type, name);
      of_cpp += llvm::formatv("{0}{1} &{2}, ", written ? "" : "const ", type, name);
      list.c += llvm::formatv("{0}(void *){1}", separator, name);
      list.cpp += llvm::formatv("{0}const_cast<void *>(static_cast<const void *>(&{1}))", separator, name);
    }
    if (arrays.empty()) list = {"0", "nullptr"};
  };
  add("arg", interface.arguments(), args);
  add("result", interface.results(), results);
  const auto define = [&](const char* head, llvm::StringRef parameters, llvm::StringRef from,
                          llvm::StringRef to) {
    return llvm::formatv(
               "{0} {1}_typed({2}void *temp) {{\n  void *const args[] = {{{3}};\n"
               "  void *const results[] = {{{4}};\n  return {1}(args, results, temp);\n}\n",
               head, function.symbol, parameters, from, to)
        .str();
  };
  return types + "#ifdef __cplusplus\n}\n" + define("inline int", of_cpp, args.cpp, results.cpp) +
         "extern \"C\" {\n#else\n" + define("static inline int", of_c, args.c, results.c) + "#endif\n";
}

/// Macros for what callers have to know, then the functions.
void WriteFunction(llvm::raw_ostream& os, const CObject& object, const CFunction& function) {
  const CInterface& interface = *function.interface;
  const auto macro = [&](const char* what) { return MacroName(function.symbol, what); };
  if (function.has_archive)
    os << llvm::formatv("#define {0} {1}_temp_bytes()\n", macro("TEMP_BYTES"), function.symbol);
  else
    os << llvm::formatv("#define {0} {1}u\n", macro("TEMP_BYTES"), function.temp_bytes);
  os << llvm::formatv("#define {0} {1}u\n", macro("ALIGN"), kAlignment);
  for (const size_t i : CodesOf(object, function))
    if (i != EntryPoint::kDone) os << llvm::formatv("#define {0} {1}\n", macro(kCodes[i].name), i);
  os << "#ifdef __cplusplus\nextern \"C\" {\n#endif\n"
     << llvm::formatv("int {0}({1}, {2}, void *temp);\n", function.symbol,
                      Parameter("args", interface.arguments().size()),
                      Parameter("results", interface.results().size()));
  if (function.has_archive) os << llvm::formatv(kArchiveFunctions, function.symbol);
  if (function.has_weights) os << llvm::formatv(kWeightsFunction, function.symbol);
  os << TypedFunction(function) << "#ifdef __cplusplus\n}\n#endif\n";
}

void Write(JsonWriter& json, llvm::StringRef key, llvm::ArrayRef<CArray> arrays) {
  json.Array(key, [&] {
    for (const CArray& array : arrays)
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

void WriteMembers(JsonWriter& json, const CObject& object, const CFunction& function) {
  json.Member("alignment", kAlignment);
  Write(json, "arguments", function.interface->arguments());
  json.Object("codes", [&] {
    for (const size_t i : CodesOf(object, function)) json.Member(std::to_string(i), kCodes[i].meaning);
  });
  json.Member("module", function.module);
  Write(json, "results", function.interface->results());
  json.Member("symbol", function.symbol);
  json.Member("temp_bytes", function.temp_bytes);
}

/// The triple, and CPUs, each with the widest vectors among its features.
std::string TargetOf(const CObject& object) {
  std::string target = object.machines.front()->Triple();
  for (const Machine* machine : object.machines) {
    target += (machine == object.machines.front() ? " " : ", ") + machine->cpu;
    for (const char* feature : {"+amx-bf16", "+avx512bf16", "+avx512f", "+avx2"}) {
      if (!HasFeatures(*machine, feature)) continue;
      target += std::string(" ") + feature;
      break;
    }
  }
  return target;
}

void WriteMachine(JsonWriter& json, const Machine& machine) {
  json.Member("cpu", machine.cpu);
  json.Member("features", machine.features);
}

}  // namespace

std::string HeaderOf(const CObject& object) {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (const CFunction& function : object.functions)
    os << llvm::formatv("/* module {0}, target {1}; args {2}; result {3} */\n", CIdentifier(function.module),
                        TargetOf(object), List(function.interface->arguments()),
                        List(function.interface->results()));
  os << llvm::formatv("#ifndef {0}\n#define {0}\n", MacroName(object.functions.front().symbol, "H"))
     << "#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n"
        "/* Arrays are row-major; elements narrower than a byte lie in one each, integers with a sign "
        "extended,\n"
        "   small floats are the integers of their bits, complex numbers two.\n"
        "   Results and temp begin at multiples of the alignment, and share bytes with no argument unless a\n"
        "   result is said to be written over it. Nothing is allocated; threads call with memory of their "
        "own. */\n";
  for (const CFunction& function : object.functions) WriteFunction(os, object, function);
  os << "#endif\n";
  return text;
}

std::string DescriptionOf(const CObject& object) {
  std::string text;
  llvm::raw_string_ostream os(text);
  JsonWriter json(os, /*indent=*/2);
  json.Object([&] {
    if (object.functions.size() == 1)
      WriteMembers(json, object, object.functions.front());
    else
      json.Array("functions", [&] {
        for (const CFunction& function : object.functions)
          json.Object([&] { WriteMembers(json, object, function); });
      });
    json.Array("libraries", [&] {
      if (llvm::any_of(object.functions, [](const CFunction& f) { return f.has_archive; }))
        json.Value("hlo-rt");
      if (!object.symbols_needed.empty()) json.Value("c");
    });
    json.Member("schema", "hlo.aot/1");
    json.List("symbols_needed", object.symbols_needed);
    json.Object("target", [&] {
      // What is needed at least; what there is more of is used where the processor has it.
      WriteMachine(json, *object.machines.back());
      json.Member("triple", object.machines.back()->Triple());
      if (object.machines.size() == 1) return;
      json.Array("versions", [&] {
        for (const Machine* machine : object.machines) json.Object([&] { WriteMachine(json, *machine); });
      });
    });
  });
  os << '\n';
  return text;
}

}  // namespace hlo::cpu

// A PTX module: what a text says after names have been resolved.
#pragma once
#include <deque>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "backends/gpu/ptx/opcodes.h"
#include "ir/support/source.h"

namespace hlo::ptx {

enum class Space : uint8_t { Generic, Global, Shared, Local, Const, Param };
llvm::StringRef ToString(Space space);

enum class Special : uint8_t {
#define PTX_SPECIAL3(Kind, text, sm)      Kind##X, Kind##Y, Kind##Z, Kind##W,
#define PTX_SPECIAL(Kind, text, type, sm) Kind,
#include "backends/gpu/ptx/special_registers.def"
};
struct SpecialInfo {
  std::string text;
  Type type;
  unsigned sm;
};
const SpecialInfo& InfoOf(Special special);
std::optional<Special> FindSpecial(llvm::StringRef text);

struct Register {
  std::string name;
  Type type;
  uint32_t number;  // within its function
};

struct Function;

/// Memory with a name. Parameters are variables of Space::Param.
struct Variable {
  /// Bytes of an initialiser that are an address.
  struct Pointer {
    uint64_t at;
    unsigned bytes;  // how many are stored …
    unsigned shift;  // … from this bit on
    const Variable* variable;
    const Function* function;
    int64_t addend;
    bool generic;
  };
  std::string name;
  Space space = Space::Global;
  Type type = Type::B8;
  unsigned vector = 1;
  std::vector<uint64_t> dims;  // 0: unknown
  uint64_t align = 1;
  uint64_t size = 0;
  bool external = false;  // .extern: its size is the launch's, or another module's
  bool visible = false, weak = false;
  bool is_pointer = false;    // .ptr
  bool read_only = false;     // a parameter of an entry
  bool of_function = false;   // declared in a body
  std::vector<uint8_t> init;  // the first bytes; others are zero
  std::vector<Pointer> pointers;
  uint64_t offset = 0;      // of parameters, and of shared, local and constant memory within its space
  Register* reg = nullptr;  // of a parameter of a .func that is a register
  Loc loc;
};

struct Operand {
  enum class Kind : uint8_t {
    None,
    Register,  // reg, perhaps negated; `second` of p|q
    Integer,   // integer
    Float,     // `integer` has the bits of f64
    Special,
    Symbol,   // variable or function, and an offset
    Address,  // [reg, variable or nothing, and an offset]
    Vector,   // elements
    Sink,     // _
    Target    // label: `target` is the number of an instruction
  };
  Kind kind = Kind::None;
  bool negated = false;
  bool single = false;  // Float: written as 0f…, whose bits `raw` has
  uint32_t raw = 0;
  const Register* reg = nullptr;
  const Register* second = nullptr;
  bool second_is_sink = false;
  const Variable* variable = nullptr;
  const Function* function = nullptr;
  Special special = Special::TidX;
  int64_t integer = 0;
  uint32_t target = 0;
  std::vector<Operand> elements;
  Loc loc;
};

struct CallInfo {
  const Function* callee = nullptr;  // or a prototype of what a register holds
  std::vector<Operand> results, arguments;
};

struct Instruction {
  const Form* form = nullptr;
  ModSet mods;
  std::vector<Type> types;
  const Register* guard = nullptr;
  bool guard_negated = false;
  std::vector<Operand> operands;  // one per place of the form; None where an optional one is missing
  std::vector<uint32_t> targets;  // of brx.idx
  std::unique_ptr<CallInfo> call;
  uint32_t line = 0;
  Loc loc;
  [[nodiscard]] Kind kind() const { return form->kind; }
  [[nodiscard]] bool Has(Mod mod) const { return mods.test(static_cast<size_t>(mod)); }
  [[nodiscard]] Type type(size_t i = 0) const { return i < types.size() ? types[i] : Type::None; }
  /// Of .v2 .v4 .v8; 1 if there is none.
  [[nodiscard]] unsigned vector() const;
  /// The space that loads, stores and the like name.
  [[nodiscard]] Space space() const;
};

struct Function {
  std::string name;
  bool entry = false, visible = false, weak = false, external = false, defined = false, noreturn = false;
  bool prototype = false;  // of .callprototype
  std::vector<Variable*> params, results;
  uint64_t param_bytes = 0;
  std::deque<Register> registers;  // those that are used
  std::deque<Variable> variables;  // parameters and what the body declares
  std::vector<Instruction> code;
  std::vector<std::pair<std::string, uint32_t>> labels;  // in order of their instructions
  std::vector<std::string> pragmas;
  // Performance directives; 0: none.
  unsigned reqntid[3] = {0, 0, 0}, maxntid[3] = {0, 0, 0};
  unsigned minnctapersm = 0, maxnreg = 0;
  uint64_t shared_bytes = 0, local_bytes = 0;
  Loc loc;
};

struct Module {
  SourcePtr source;
  unsigned version = 0;  // 8.5: 85
  unsigned sm = 0;
  bool arch_specific = false;  // sm_90a
  bool debug = false;
  std::deque<Variable> variables;
  std::deque<Function> functions;
  uint64_t shared_bytes = 0;  // static, of the module
  uint64_t const_bytes = 0;
  [[nodiscard]] const Function* FindEntry(llvm::StringRef name) const;
};

}  // namespace hlo::ptx

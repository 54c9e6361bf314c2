// The table of instructions: which words and operands each takes (opcodes.def).
#pragma once
#include <bitset>
#include <string>
#include <vector>

#include "backends/gpu/ptx/types.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace hlo::ptx {

enum class Kind : uint8_t {
#define PTX_KIND(Kind) Kind,
#include "backends/gpu/ptx/kinds.def"
};
inline constexpr size_t kNumKinds = 0
#define PTX_KIND(Kind) +1
#include "backends/gpu/ptx/kinds.def"
    ;
enum class Mod : uint8_t {
#define PTX_MOD(Kind, text) Kind,
#include "backends/gpu/ptx/modifiers.def"
};
inline constexpr size_t kNumMods = 0
#define PTX_MOD(Kind, text) +1
#include "backends/gpu/ptx/modifiers.def"
    ;
using ModSet = std::bitset<kNumMods>;
llvm::StringRef ToString(Mod mod);
llvm::StringRef ToString(Kind kind);
std::optional<Mod> FindMod(llvm::StringRef text);

/// What stands in one place of an instruction.
struct OperandSpec {
  enum class Role : uint8_t { Destination, Source, MovSource, Integer, Address, Label };
  Role role = Role::Source;
  int type_index = -1;     // of the instruction's types
  Type type = Type::None;  // where it is no type of the instruction
  bool wide = false;       // of twice the width of the first type
  bool may_be_wider = false;
  bool may_be_sink = false;
  bool pair = false;     // `p|q`, the second a predicate
  bool counted = false;  // as many as .v2 .v4 .v8 say
  unsigned vector = 0;   // exactly so many in braces
  bool optional = false;
};

/// One row of the table.
struct Form {
  Kind kind;
  llvm::StringRef opcode;
  struct Slot {
    ModSet any_of;
    bool optional = false;
  };
  std::vector<Slot> slots;
  ModSet mods;                  // all that any slot has
  std::vector<uint32_t> types;  // sets of types, by bit
  std::vector<OperandSpec> operands;
  unsigned sm = 0, version = 0;
};

/// The forms of an opcode; none: there is no such opcode.
llvm::ArrayRef<Form> FormsOf(llvm::StringRef opcode);
/// All opcodes, for suggestions.
llvm::ArrayRef<llvm::StringRef> AllOpcodes();

/// The words of an instruction as the parser found them.
struct Words {
  ModSet mods;
  std::vector<Type> types;
};
/// Why a form does not have these words: the empty string if it does. `rank`: how well it fits.
std::string Mismatch(const Form& form, const Words& words, unsigned& rank);

}  // namespace hlo::ptx

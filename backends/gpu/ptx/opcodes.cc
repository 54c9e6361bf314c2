#include "backends/gpu/ptx/opcodes.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/ErrorHandling.h"

namespace hlo::ptx {
namespace {

constexpr llvm::StringRef kMods[] = {
#define PTX_MOD(Kind, text) text,
#include "backends/gpu/ptx/modifiers.def"
};
constexpr llvm::StringRef kKinds[] = {
#define PTX_KIND(Kind) #Kind,
#include "backends/gpu/ptx/kinds.def"
};

struct Row {
  llvm::StringRef opcode;
  Kind kind;
  llvm::StringRef mods, types, operands;
  unsigned sm, version;
};
constexpr Row kRows[] = {
#define PTX_OP(opcode, kind, mods, types, operands, sm, version) \
  {opcode, Kind::kind, mods, types, operands, sm, version},
#include "backends/gpu/ptx/opcodes.def"
};

[[noreturn]] void BadRow(llvm::StringRef word) {
  llvm::report_fatal_error(llvm::Twine("opcodes.def: unknown word ") + word);
}

Type TypeNamed(llvm::StringRef text) {
  const auto type = FindType(text);
  if (!type) BadRow(text);
  return *type;
}

llvm::SmallVector<llvm::StringRef> Split(llvm::StringRef text, char at) {
  llvm::SmallVector<llvm::StringRef> parts;
  text.split(parts, at, -1, /*KeepEmpty=*/false);
  return parts;
}

Form::Slot MakeSlot(llvm::StringRef text) {
  Form::Slot slot;
  slot.optional = text.consume_back("?");
  for (const llvm::StringRef word : Split(text, '|')) {
    const auto mod = FindMod(word);
    if (!mod) BadRow(word);
    slot.any_of.set(static_cast<size_t>(*mod));
  }
  return slot;
}

OperandSpec::Role RoleOf(char c) {
  static constexpr std::pair<char, OperandSpec::Role> kRoles[] = {
      {'d', OperandSpec::Role::Destination}, {'D', OperandSpec::Role::Destination},
      {'s', OperandSpec::Role::Source},      {'m', OperandSpec::Role::MovSource},
      {'i', OperandSpec::Role::Integer},     {'a', OperandSpec::Role::Address},
      {'l', OperandSpec::Role::Label}};
  for (const auto& [letter, role] : kRoles)
    if (letter == c) return role;
  BadRow(llvm::StringRef(&c, 1));
}

OperandSpec MakeOperand(llvm::StringRef text) {
  OperandSpec spec;
  spec.role = RoleOf(text.front());
  spec.may_be_sink = text.front() == 'D';
  text = text.drop_front();
  spec.optional = text.consume_back("?");
  spec.pair = text.consume_back("|p");
  spec.counted = text.consume_back("*");
  if (const size_t x = text.rfind('x'); x != llvm::StringRef::npos && x + 2 == text.size() && x >= 2) {
    spec.vector = static_cast<unsigned>(text.back() - '0');
    text = text.take_front(x);
  }
  spec.may_be_wider = text.consume_front("~");
  if (text.consume_front("=")) {
    spec.type = TypeNamed(text);
  } else if (text == "p") {
    spec.type = Type::Pred;
  } else if (text == "w") {
    spec.wide = true;
    spec.type_index = 0;
  } else if (!text.empty()) {
    spec.type_index = text.front() - '0';
  }
  return spec;
}

Form MakeForm(const Row& row) {
  Form form;
  form.kind = row.kind;
  form.opcode = row.opcode;
  for (const llvm::StringRef text : Split(row.mods, ' ')) {
    form.slots.push_back(MakeSlot(text));
    form.mods |= form.slots.back().any_of;
  }
  for (const llvm::StringRef set : Split(row.types, '.')) {
    uint32_t types = 0;
    for (const llvm::StringRef type : Split(set, '|')) types |= 1U << static_cast<unsigned>(TypeNamed(type));
    form.types.push_back(types);
  }
  for (const llvm::StringRef text : Split(row.operands, ' ')) form.operands.push_back(MakeOperand(text));
  form.sm = row.sm;
  form.version = row.version;
  return form;
}

struct Table {
  llvm::StringMap<std::vector<Form>> forms;
  std::vector<llvm::StringRef> opcodes;
  Table() {
    for (const Row& row : kRows) {
      std::vector<Form>& of_opcode = forms[row.opcode];
      if (of_opcode.empty()) opcodes.push_back(row.opcode);
      of_opcode.push_back(MakeForm(row));
    }
  }
};
const Table& TheTable() {
  static const Table table;
  return table;
}

std::string Listed(const ModSet& mods) {
  std::string text;
  for (size_t i = 0; i < kNumMods; ++i)
    if (mods.test(i)) text += (text.empty() ? "." : ", .") + kMods[i].str();
  return text;
}

std::string Listed(uint32_t types) {
  std::string text;
  for (unsigned i = 0; i < 32; ++i)
    if ((types >> i & 1) != 0) text += (text.empty() ? "." : ", .") + InfoOf(static_cast<Type>(i)).text.str();
  return text;
}

}  // namespace

llvm::StringRef ToString(Mod mod) { return kMods[static_cast<size_t>(mod)]; }
llvm::StringRef ToString(Kind kind) { return kKinds[static_cast<size_t>(kind)]; }

std::optional<Mod> FindMod(llvm::StringRef text) {
  static const llvm::StringMap<Mod> by_text = [] {
    llvm::StringMap<Mod> map;
    for (size_t i = 0; i < kNumMods; ++i) map[kMods[i]] = static_cast<Mod>(i);
    return map;
  }();
  const auto it = by_text.find(text);
  if (it == by_text.end()) return std::nullopt;
  return it->second;
}

llvm::ArrayRef<Form> FormsOf(llvm::StringRef opcode) {
  const auto it = TheTable().forms.find(opcode);
  if (it == TheTable().forms.end()) return {};
  return it->second;
}

llvm::ArrayRef<llvm::StringRef> AllOpcodes() { return TheTable().opcodes; }

std::string Mismatch(const Form& form, const Words& words, unsigned& rank) {
  rank = 0;
  // Types first: forms are told apart by them.
  for (size_t i = 0; i < std::min(form.types.size(), words.types.size()); ++i) {
    if ((form.types[i] >> static_cast<unsigned>(words.types[i]) & 1) == 0)
      return "type ." + InfoOf(words.types[i]).text.str() + ", expected " + Listed(form.types[i]);
    rank += 100;
  }
  if (words.types.size() != form.types.size())
    return std::to_string(words.types.size()) + " types, expected " + std::to_string(form.types.size());
  if (const ModSet unknown = words.mods & ~form.mods; unknown.any())
    return "modifier " + Listed(unknown) + " here";
  rank += 50;
  for (const Form::Slot& slot : form.slots) {
    const size_t given = (slot.any_of & words.mods).count();
    if (given > 1) return "modifiers " + Listed(slot.any_of & words.mods) + " together";
    if (given == 0 && !slot.optional) return "none of " + Listed(slot.any_of);
    ++rank;
  }
  return {};
}

}  // namespace hlo::ptx

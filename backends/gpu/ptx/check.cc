#include "backends/gpu/ptx/check.h"

#include "llvm/ADT/StringExtras.h"

namespace hlo::ptx {
namespace {

using OK = Operand::Kind;
using Role = OperandSpec::Role;

/// One place of an instruction.
struct Place {
  const OperandSpec& spec;
  const Form& form;
  Type type;
  unsigned count;  // of elements; 0: no braces
};

tl::unexpected<Diagnostic> WrongType(const Operand& operand, const Register& reg, Type wanted) {
  return Error("verify-operand-type", operand.loc, "'{0}' is .{1}, which does not hold .{2}", reg.name,
               InfoOf(reg.type).text, InfoOf(wanted).text);
}

Status CheckRegister(const Place& place, const Operand& operand) {
  if (operand.negated && place.type != Type::Pred)
    return Error("verify-operand-type", operand.loc, "only predicates are negated");
  if (!RegisterFits(place.type, operand.reg->type, place.spec.may_be_wider))
    return WrongType(operand, *operand.reg, place.type);
  if (operand.second != nullptr && !place.spec.pair)
    return Error("verify-operand-type", operand.loc, "a second predicate has no place here");
  return {};
}

Status CheckImmediate(const Place& place, const Operand& operand) {
  const TypeInfo& info = InfoOf(place.type);
  const bool integer = operand.kind == OK::Integer;
  const bool narrow = info.kind == TypeClass::Float && (info.bits == 16 || info.lanes == 2);
  bool fits = info.kind == TypeClass::Bits ||
              (integer ? info.kind != TypeClass::Float : info.kind == TypeClass::Float);
  if (narrow || (info.kind == TypeClass::Predicate && !integer)) fits = false;
  if (fits) return {};
  return Error("verify-operand-type", operand.loc, "{0} stands where .{1} is wanted",
               integer ? "an integer" : "a floating-point number", info.text);
}

Status CheckScalar(const Place& place, const Operand& operand) {
  const bool destination = place.spec.role == Role::Destination;
  switch (operand.kind) {
    case OK::Register: return CheckRegister(place, operand);
    case OK::Sink:
      if (destination && (place.spec.may_be_sink || place.count != 0)) return {};
      break;
    case OK::Integer:
    case OK::Float:
      if (!destination) return CheckImmediate(place, operand);
      break;
    case OK::Special: {
      const Type has = InfoOf(operand.special).type;
      if (!destination && place.form.kind == Kind::Cvt && RegisterFits(place.type, has, true)) return {};
      return Error("verify-operand-type", operand.loc, "special registers are {0}",
                   destination ? "not written" : "read by mov and cvt only");
    }
    default: break;
  }
  return Error("verify-operand-type", operand.loc, "found another operand than .{0} {1}",
               InfoOf(place.type).text, destination ? "destination" : "source");
}

/// mov and cvta take names, special registers and vectors, too.
Status CheckMovSource(const Place& place, const Operand& operand) {
  if (operand.kind == OK::Symbol) {
    if (BitsOf(place.type) < 32)
      return Error("verify-operand-type", operand.loc, "an address has 32 or 64 bits");
    return {};
  }
  if (operand.kind == OK::Special) {
    const Type has = InfoOf(operand.special).type;
    if (place.form.kind == Kind::Mov && !IsFloat(place.type) &&
        (BitsOf(has) == BitsOf(place.type) || BitsOf(place.type) == 16))
      return {};
    return Error("verify-operand-type", operand.loc, "special register of .{0} stands where .{1} is wanted",
                 InfoOf(has).text, InfoOf(place.type).text);
  }
  if (operand.kind == OK::Vector) return {};  // CheckMov() counts its bits
  return CheckScalar(place, operand);
}

Status CheckAddress(const Operand& operand) {
  if (operand.kind != OK::Address)
    return Error("verify-operand-type", operand.loc, "expected an address in brackets");
  if (operand.reg == nullptr) return {};
  const TypeInfo& info = InfoOf(operand.reg->type);
  if (info.bits < 32 || info.kind == TypeClass::Float || info.kind == TypeClass::Predicate)
    return Error("verify-operand-type", operand.loc, "'{0}' is .{1}, expected an address", operand.reg->name,
                 info.text);
  return {};
}

Status CheckVector(const Place& place, const Operand& operand) {
  if (operand.kind != OK::Vector)
    return Error("verify-operand-type", operand.loc, "expected {0} elements in braces", place.count);
  if (operand.elements.size() != place.count)
    return Error("verify-operand-count", operand.loc, "found {0} elements, expected {1}",
                 operand.elements.size(), place.count);
  const Register* first = nullptr;
  for (const Operand& element : operand.elements) {
    HLO_CHECK_OK(CheckScalar(place, element));
    if (element.kind != OK::Register) continue;
    if (first != nullptr && BitsOf(first->type) != BitsOf(element.reg->type))
      return Error("verify-operand-type", element.loc, "elements in braces have different widths");
    first = element.reg;
  }
  return {};
}

Status CheckPlace(const Place& place, const Operand& operand) {
  switch (place.spec.role) {
    case Role::Address: return CheckAddress(operand);
    case Role::Integer:
      if (operand.kind != OK::Integer)
        return Error("verify-operand-type", operand.loc, "expected an integer constant");
      return {};
    case Role::Label:
      if (operand.kind != OK::Target) return Error("verify-operand-type", operand.loc, "expected a label");
      return {};
    default: break;
  }
  if (place.count != 0) return CheckVector(place, operand);
  // Only mov unpacks.
  if (operand.kind == OK::Vector && place.form.kind == Kind::Mov) return {};
  if (place.spec.role == Role::MovSource) return CheckMovSource(place, operand);
  return CheckScalar(place, operand);
}

Type TypeOfPlace(const OperandSpec& spec, llvm::ArrayRef<Type> types) {
  if (spec.type_index < 0) return spec.type;
  const Type type = types[static_cast<size_t>(spec.type_index)];
  return spec.wide ? Widened(type) : type;
}

/// Bits of all elements; 0 if they are of no one width.
unsigned BitsOfVector(const Operand& operand) {
  unsigned bits = 0;
  for (const Operand& element : operand.elements)
    if (element.kind == OK::Register) bits = BitsOf(element.reg->type);
  return bits * static_cast<unsigned>(operand.elements.size());
}

Status CheckMov(const Instruction& inst) {
  const Operand& to = inst.operands[0];
  const Operand& from = inst.operands[1];
  for (const Operand* operand : {&to, &from}) {
    if (operand->kind != OK::Vector) continue;
    if (InfoOf(inst.type()).kind != TypeClass::Bits)
      return Error("verify-operand-type", operand->loc, "only types of bits are taken apart");
    bool found = false;
    for (const Operand& element : operand->elements) {
      const bool is_register = element.kind == OK::Register && element.reg->type != Type::Pred;
      found |= is_register;
      if (!is_register && !(operand == &to && element.kind == OK::Sink) &&
          !(operand == &from && element.kind == OK::Integer))
        return Error("verify-operand-type", element.loc, "this is no element of a vector of mov");
      if (is_register && BitsOf(element.reg->type) * operand->elements.size() != BitsOf(inst.type()))
        return Error("verify-operand-type", element.loc, "{0} elements of .{1} are not .{2}",
                     operand->elements.size(), InfoOf(element.reg->type).text, InfoOf(inst.type()).text);
    }
    if (!found || BitsOfVector(*operand) != BitsOf(inst.type()))
      return Error("verify-operand-type", operand->loc, "these elements are not .{0}",
                   InfoOf(inst.type()).text);
  }
  if (to.kind == OK::Vector && from.kind == OK::Vector)
    return Error("verify-operand-type", from.loc, "mov takes apart or puts together, not both");
  return {};
}

/// The space of an address that an instruction names.
Status CheckSpace(const Instruction& inst, const Operand& address, Space space) {
  if (address.variable != nullptr) {
    const Space has = address.variable->space;
    const bool no_generic = space == Space::Generic && (has == Space::Param || has == Space::Const);
    if ((has != space && space != Space::Generic) || no_generic)
      return Error("verify-operand-type", address.loc, "'{0}' lies in .{1}, the instruction takes .{2}",
                   address.variable->name, ToString(has), ToString(space));
    return {};
  }
  if (space == Space::Param && address.reg == nullptr)
    return Error("verify-operand-type", address.loc, "expected the name of a parameter");
  if (address.reg == nullptr && space != Space::Local && inst.kind() != Kind::Nothing)
    return Error("verify-operand-type", address.loc, "only local memory has constant addresses");
  const bool narrow = address.reg != nullptr && BitsOf(address.reg->type) == 32;
  if (narrow && (space == Space::Global || space == Space::Generic || space == Space::Param))
    return Error("verify-operand-type", address.loc, "'{0}' has 32 bits, addresses in {1} memory 64",
                 address.reg->name, ToString(space));
  return {};
}

Status CheckMemory(const Instruction& inst) {
  const unsigned vector = inst.vector();
  if (vector > 1 && inst.kind() != Kind::Red && inst.kind() != Kind::Atom &&
      vector * BitsOf(inst.type()) > 128)
    return Error("verify-attribute", inst.loc, "{0} elements of .{1} are more than 16 bytes", vector,
                 InfoOf(inst.type()).text);
  Space space = inst.space();
  size_t number = 0;
  for (const Operand& operand : inst.operands) {
    if (operand.kind != OK::Address) continue;
    if (inst.kind() == Kind::CpAsync) space = number++ == 0 ? Space::Shared : Space::Global;
    HLO_CHECK_OK(CheckSpace(inst, operand, space));
    if (inst.kind() == Kind::St && operand.variable != nullptr && operand.variable->read_only)
      return Error("verify-operand-type", operand.loc, "parameters of entries are not written");
  }
  return {};
}

Status CheckBarrier(const Module& module, const Instruction& inst) {
  if (inst.Has(Mod::Cta) && module.version < 78)
    return Error("verify-attribute", inst.loc, ".cta needs PTX 7.8, the module is of {0}.{1}",
                 module.version / 10, module.version % 10);
  const size_t first = inst.kind() == Kind::BarRed ? 1 : 0;
  const Operand& barrier = inst.operands[first];
  if (barrier.kind == OK::Integer && (barrier.integer < 0 || barrier.integer > 15))
    return Error("parse-range", barrier.loc, "barrier {0}: there are 0 to 15", barrier.integer);
  if (inst.operands.size() <= first + 1) return {};
  const Operand& threads = inst.operands[first + 1];
  if (threads.kind == OK::Integer && threads.integer % 32 != 0 &&
      inst.form->operands[first + 1].type != Type::Pred)
    return Error("parse-range", threads.loc, "{0} threads are not whole warps", threads.integer);
  return {};
}

Status CheckCpAsync(const Instruction& inst) {
  const int64_t size = inst.operands[2].integer;
  if (size != 16 && (inst.Has(Mod::Cg) || (size != 4 && size != 8)))
    return Error("parse-range", inst.operands[2].loc, "copies of {0} bytes: expected {1}", size,
                 inst.Has(Mod::Cg) ? "16" : "4, 8 or 16");
  const Operand& source = inst.operands[3];
  if (source.kind == OK::Integer && !inst.Has(Mod::L2CacheHint) &&
      (source.integer < 0 || source.integer > size))
    return Error("parse-range", source.loc, "{0} bytes of the source: expected at most {1}", source.integer,
                 size);
  return {};
}

Status CheckCvt(const Instruction& inst) {
  const TypeInfo& to = InfoOf(inst.type(0));
  const TypeInfo& from = InfoOf(inst.type(1));
  if (!inst.Has(Mod::Sat) || !IsInteger(inst.type(0)) || !IsInteger(inst.type(1))) return {};
  const bool holds_all =
      to.kind == from.kind ? to.bits >= from.bits : to.kind == TypeClass::Signed && to.bits > from.bits;
  if (holds_all)
    return Error("verify-attribute", inst.loc, ".sat: .{0} holds every .{1} anyway", to.text, from.text);
  return {};
}

Status CheckBitField(const Instruction& inst) {
  const size_t first = inst.kind() == Kind::Bfi ? 3 : 2;
  for (size_t i = first; i < first + 2; ++i)
    if (const Operand& operand = inst.operands[i];
        operand.kind == OK::Integer && (operand.integer < 0 || operand.integer > 255))
      return Error("parse-range", operand.loc, "found {0}, expected 0 to 255", operand.integer);
  return {};
}

/// A and B lie in registers of bits, but for f64.
Status CheckMma(const Instruction& inst) {
  for (size_t i = 1; i < 3 && inst.type(1) != Type::F64; ++i)
    for (const Operand& element : inst.operands[i].elements)
      if (element.kind == OK::Register && IsFloat(element.reg->type))
        return Error("verify-operand-type", element.loc, "'{0}' is .{1}, fragments lie in .b32",
                     element.reg->name, InfoOf(element.reg->type).text);
  return {};
}

using Check = Status (*)(const Instruction&);
constexpr std::pair<Kind, Check> kChecks[] = {{Kind::Mov, CheckMov},
                                              {Kind::Ld, CheckMemory},
                                              {Kind::St, CheckMemory},
                                              {Kind::Atom, CheckMemory},
                                              {Kind::Red, CheckMemory},
                                              {Kind::Ldmatrix, CheckMemory},
                                              {Kind::Stmatrix, CheckMemory},
                                              {Kind::CpAsync, CheckMemory},
                                              {Kind::CpAsync, CheckCpAsync},
                                              {Kind::Cvt, CheckCvt},
                                              {Kind::Bfe, CheckBitField},
                                              {Kind::Bfi, CheckBitField},
                                              {Kind::MbarrierInit, CheckMemory},
                                              {Kind::MbarrierArrive, CheckMemory},
                                              {Kind::MbarrierTest, CheckMemory},
                                              {Kind::Mma, CheckMma}};

}  // namespace

Type TypeOfOperand(const Instruction& inst, size_t i) {
  return TypeOfPlace(inst.form->operands[i], inst.types);
}

Status PlaceOperands(const Form& form, const Words& words, std::vector<Operand>& operands, Loc loc) {
  const size_t most = form.operands.size();
  const size_t least =
      static_cast<size_t>(llvm::count_if(form.operands, [](const OperandSpec& s) { return !s.optional; }));
  if (operands.size() < least || operands.size() > most)
    return Error("verify-operand-count", loc, "instruction '{0}' has {1} operands, expected {2}", form.opcode,
                 operands.size(),
                 least == most ? std::to_string(most) : llvm::formatv("{0} to {1}", least, most).str());
  const bool v2 = words.mods.test(static_cast<size_t>(Mod::V2)),
             v4 = words.mods.test(static_cast<size_t>(Mod::V4));
  const unsigned counted = v2 ? 2 : v4 ? 4 : words.mods.test(static_cast<size_t>(Mod::V8)) ? 8 : 0;
  for (size_t i = 0; i < operands.size(); ++i) {
    const OperandSpec& spec = form.operands[i];
    const Place place{spec, form, TypeOfPlace(spec, words.types), spec.counted ? counted : spec.vector};
    HLO_CHECK_OK(CheckPlace(place, operands[i]));
  }
  operands.resize(most);
  return {};
}

Status CheckInstruction(const Module& module, const Instruction& inst) {
  const Form& form = *inst.form;
  if (form.sm > module.sm)
    return Error("verify-attribute", inst.loc, "this form of '{0}' needs sm_{1}, the module is for sm_{2}",
                 form.opcode, form.sm, module.sm);
  if (form.version > module.version)
    return Error("verify-attribute", inst.loc,
                 "this form of '{0}' needs PTX {1}.{2}, the module is of {3}.{4}", form.opcode,
                 form.version / 10, form.version % 10, module.version / 10, module.version % 10);
  static constexpr Mod kOfSm90[] = {Mod::Cluster, Mod::SharedCluster};
  for (const Mod mod : kOfSm90)
    if (inst.Has(mod) && module.sm < 90)
      return Error("verify-attribute", inst.loc, ".{0} needs sm_90, the module is for sm_{1}", ToString(mod),
                   module.sm);
  if (module.version < 74)
    for (auto mod = static_cast<size_t>(Mod::L1EvictNormal); mod <= static_cast<size_t>(Mod::L2B256); ++mod)
      if (inst.mods.test(mod) && inst.kind() != Kind::CpAsync)
        return Error("verify-attribute", inst.loc, ".{0} needs PTX 7.4, the module is of {1}.{2}",
                     ToString(static_cast<Mod>(mod)), module.version / 10, module.version % 10);
  if (inst.kind() == Kind::Bar || inst.kind() == Kind::BarRed) return CheckBarrier(module, inst);
  for (const auto& [kind, check] : kChecks)
    if (kind == inst.kind()) HLO_CHECK_OK(check(inst));
  return {};
}

Status CheckCall(const CallInfo& call, Loc loc) {
  const Function& callee = *call.callee;
  if (callee.entry) return Error("verify-callee", loc, "'{0}' is an entry, which is not called", callee.name);
  const auto compare = [&](llvm::ArrayRef<Operand> given, llvm::ArrayRef<Variable*> wanted,
                           llvm::StringRef what) -> Status {
    if (given.size() != wanted.size())
      return Error("verify-callee", loc, "'{0}' has {1} {2}, found {3}", callee.name, wanted.size(), what,
                   given.size());
    for (size_t i = 0; i < given.size(); ++i) {
      const Operand& operand = given[i];
      const bool variable = operand.kind == OK::Symbol && operand.variable != nullptr &&
                            operand.variable->space == Space::Param;
      const bool immediate = operand.kind == OK::Integer || operand.kind == OK::Float;
      if (!variable && operand.kind != OK::Register && !(immediate && what == "parameters") &&
          operand.kind != OK::Sink)
        return Error("verify-callee", operand.loc, "expected a parameter or register");
      if (variable && operand.variable->size != wanted[i]->size)
        return Error("verify-callee", operand.loc, "'{0}' has {1} bytes, '{2}' takes {3}",
                     operand.variable->name, operand.variable->size, callee.name, wanted[i]->size);
      if (operand.kind == OK::Register && InfoOf(operand.reg->type).bytes() != wanted[i]->size)
        return Error("verify-callee", operand.loc, "'{0}' is .{1}, '{2}' takes {3} bytes", operand.reg->name,
                     InfoOf(operand.reg->type).text, callee.name, wanted[i]->size);
    }
    return {};
  };
  HLO_CHECK_OK(compare(call.arguments, callee.params, "parameters"));
  return compare(call.results, callee.results, "results");
}

}  // namespace hlo::ptx

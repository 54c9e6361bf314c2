#include "backends/gpu/ptx/print.h"

#include <set>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

namespace hlo::ptx {
namespace {

class Printer {
 public:
  explicit Printer(llvm::raw_ostream& os) : os_(os) {}

  void PrintModule(const Module& module) {
    os_ << llvm::formatv(".version {0}.{1}\n.target sm_{2}{3}{4}\n.address_size 64\n", module.version / 10,
                         module.version % 10, module.sm, module.arch_specific ? "a" : "",
                         module.debug ? ", debug" : "");
    for (const Variable& variable : module.variables) PrintVariable(variable);
    for (const Function& function : module.functions)
      if (!function.prototype) PrintFunction(function);
  }

  void PrintInstruction(const Instruction& inst) {
    os_ << inst.form->opcode;
    // Modifiers in the order of the table, types last.
    for (const Form::Slot& slot : inst.form->slots)
      for (size_t i = 0; i < kNumMods; ++i)
        if (slot.any_of.test(i) && inst.mods.test(i)) os_ << '.' << ToString(static_cast<Mod>(i));
    for (const Type type : inst.types) os_ << '.' << InfoOf(type).text;
    if (inst.call) return PrintCall(*inst.call);
    bool first = true;
    for (const Operand& operand : inst.operands) {
      if (operand.kind == Operand::Kind::None) continue;
      os_ << (first ? " " : ", ");
      first = false;
      if (operand.kind == Operand::Kind::Target && !inst.targets.empty())
        os_ << "T" << &inst - code_;
      else
        PrintOperand(operand);
    }
    os_ << ";\n";
  }

 private:
  /// Names of other scopes may be the same.
  std::string NameOf(const void* what, llvm::StringRef name) {
    std::string& known = names_[what];
    if (!known.empty()) return known;
    known = name.str();
    for (char& c : known)
      if (c == '.') c = '$';
    for (unsigned i = 1; !taken_.insert(known).second; ++i)
      known = (name.take_front(200) + "$" + llvm::Twine(i)).str();
    for (char& c : known)
      if (c == '.') c = '$';
    return known;
  }
  std::string NameOf(const Register& reg) { return NameOf(&reg, reg.name); }
  std::string NameOf(const Variable& variable) { return NameOf(&variable, variable.name); }

  void PrintOperand(const Operand& operand) {
    if (operand.negated) os_ << '!';
    switch (operand.kind) {
      case Operand::Kind::Register: os_ << NameOf(*operand.reg); break;
      case Operand::Kind::Integer: os_ << operand.integer; break;
      case Operand::Kind::Float:
        os_ << (operand.single ? llvm::formatv("0f{0:X-8}", operand.raw).str()
                               : llvm::formatv("0d{0:X-16}", static_cast<uint64_t>(operand.integer)).str());
        break;
      case Operand::Kind::Special: os_ << InfoOf(operand.special).text; break;
      case Operand::Kind::Symbol:
        os_ << (operand.variable != nullptr ? NameOf(*operand.variable) : operand.function->name);
        if (operand.integer != 0) os_ << "+" << operand.integer;
        break;
      case Operand::Kind::Address: PrintAddress(operand); break;
      case Operand::Kind::Vector: {
        os_ << '{';
        for (size_t i = 0; i < operand.elements.size(); ++i) {
          if (i != 0) os_ << ", ";
          PrintOperand(operand.elements[i]);
        }
        os_ << '}';
        break;
      }
      case Operand::Kind::Sink: os_ << '_'; break;
      case Operand::Kind::Target: os_ << "$L" << operand.target; break;
      case Operand::Kind::None: break;
    }
    if (operand.second != nullptr) os_ << '|' << NameOf(*operand.second);
    if (operand.second_is_sink) os_ << "|_";
  }

  void PrintAddress(const Operand& operand) {
    os_ << '[';
    if (operand.reg != nullptr) os_ << NameOf(*operand.reg);
    if (operand.variable != nullptr) os_ << NameOf(*operand.variable);
    const bool named = operand.reg != nullptr || operand.variable != nullptr;
    if (named && operand.integer != 0) os_ << '+';
    if (!named || operand.integer != 0) os_ << operand.integer;
    os_ << ']';
  }

  void PrintCall(const CallInfo& call) {
    const auto list = [&](llvm::ArrayRef<Operand> operands) {
      os_ << '(';
      for (size_t i = 0; i < operands.size(); ++i) {
        if (i != 0) os_ << ", ";
        PrintOperand(operands[i]);
      }
      os_ << ')';
    };
    os_ << ' ';
    if (!call.results.empty()) {
      list(call.results);
      os_ << ", ";
    }
    os_ << call.callee->name;
    if (!call.arguments.empty()) {
      os_ << ", ";
      list(call.arguments);
    }
    os_ << ";\n";
  }

  void PrintType(const Variable& variable) {
    os_ << " .align " << variable.align;
    if (variable.vector > 1) os_ << " .v" << variable.vector;
    os_ << " ." << InfoOf(variable.type).text << ' ' << NameOf(variable);
    for (const uint64_t dim : variable.dims) {
      os_ << '[';
      if (dim != 0) os_ << dim;
      os_ << ']';
    }
  }

  void PrintVariable(const Variable& variable) {
    os_ << (variable.external ? ".extern " : variable.visible ? ".visible " : variable.weak ? ".weak " : "");
    os_ << '.' << ToString(variable.space);
    PrintType(variable);
    if (!variable.init.empty()) PrintInitializer(variable);
    os_ << ";\n";
  }

  void PrintInitializer(const Variable& variable) {
    const unsigned bytes = InfoOf(variable.type).bytes();
    const bool list = !variable.dims.empty() || variable.vector > 1;
    os_ << " = " << (list ? "{" : "");
    size_t next = 0;
    // Braces of inner dimensions are not needed.
    for (uint64_t at = 0; at < variable.init.size(); at += bytes) {
      if (at != 0) os_ << ", ";
      if (next < variable.pointers.size() && variable.pointers[next].at == at) {
        PrintPointer(variable.pointers[next++]);
        continue;
      }
      uint64_t value = 0;
      for (unsigned i = 0; i < bytes && at + i < variable.init.size(); ++i)
        value |= uint64_t{variable.init[at + i]} << (8 * i);
      if (IsFloat(variable.type))
        os_ << (bytes == 4 ? llvm::formatv("0f{0:X-8}", value).str()
                           : llvm::formatv("0d{0:X-16}", value).str());
      else
        os_ << value;
    }
    os_ << (list ? "}" : "");
  }

  void PrintPointer(const Variable::Pointer& pointer) {
    const bool masked = pointer.bytes == 1;
    if (masked) os_ << llvm::formatv("0x{0:x-}(", uint64_t{0xff} << pointer.shift);
    if (pointer.generic) os_ << "generic(";
    os_ << (pointer.variable != nullptr ? NameOf(*pointer.variable) : pointer.function->name);
    if (pointer.generic) os_ << ')';
    if (pointer.addend != 0) os_ << '+' << pointer.addend;
    if (masked) os_ << ')';
  }

  void PrintParams(llvm::ArrayRef<Variable*> params) {
    os_ << '(';
    for (size_t i = 0; i < params.size(); ++i) {
      if (i != 0) os_ << ", ";
      if (params[i]->reg != nullptr) {
        os_ << ".reg ." << InfoOf(params[i]->type).text << ' ' << NameOf(*params[i]->reg);
        continue;
      }
      os_ << ".param";
      PrintType(*params[i]);
    }
    os_ << ')';
  }

  void PrintFunction(const Function& function) {
    os_ << (function.external ? ".extern " : function.visible ? ".visible " : function.weak ? ".weak " : "");
    os_ << (function.entry ? ".entry " : ".func ");
    if (!function.results.empty()) {
      PrintParams(function.results);
      os_ << ' ';
    }
    os_ << function.name;
    if (!function.params.empty()) PrintParams(function.params);
    PrintDirectives(function);
    if (!function.defined) {
      os_ << ";\n";
      return;
    }
    os_ << "\n{\n";
    PrintBody(function);
    os_ << "}\n";
  }

  void PrintDirectives(const Function& function) {
    const auto threads = [&](const char* name, const unsigned(&n)[3]) {
      if (n[0] != 0) os_ << llvm::formatv("\n.{0} {1}, {2}, {3}", name, n[0], n[1], n[2]);
    };
    threads("reqntid", function.reqntid);
    threads("maxntid", function.maxntid);
    if (function.minnctapersm != 0) os_ << "\n.minnctapersm " << function.minnctapersm;
    if (function.maxnreg != 0) os_ << "\n.maxnreg " << function.maxnreg;
    if (function.noreturn) os_ << "\n.noreturn";
  }

  void PrintBody(const Function& function) {
    code_ = function.code.data();
    for (const Register& reg : function.registers) {
      const bool param = llvm::any_of(function.variables, [&](const Variable& v) { return v.reg == &reg; });
      if (!param) os_ << "  .reg ." << InfoOf(reg.type).text << ' ' << NameOf(reg) << ";\n";
    }
    for (const Variable& variable : function.variables)
      if (!llvm::is_contained(function.params, &variable) &&
          !llvm::is_contained(function.results, &variable)) {
        os_ << "  ";
        PrintVariable(variable);
      }
    std::set<uint32_t> targets;
    for (const Instruction& inst : function.code) {
      for (const Operand& operand : inst.operands)
        if (operand.kind == Operand::Kind::Target && inst.targets.empty()) targets.insert(operand.target);
      targets.insert(inst.targets.begin(), inst.targets.end());
      if (inst.targets.empty()) continue;
      os_ << "T" << &inst - code_ << ": .branchtargets ";
      for (size_t i = 0; i < inst.targets.size(); ++i) os_ << (i == 0 ? "$L" : ", $L") << inst.targets[i];
      os_ << ";\n";
    }
    for (uint32_t i = 0; i <= function.code.size(); ++i) {
      if (targets.count(i) != 0) os_ << "$L" << i << ":\n";
      if (i == function.code.size()) break;
      const Instruction& inst = function.code[i];
      os_ << "  ";
      if (inst.guard != nullptr) os_ << '@' << (inst.guard_negated ? "!" : "") << NameOf(*inst.guard) << ' ';
      PrintInstruction(inst);
    }
  }

  llvm::raw_ostream& os_;
  const Instruction* code_ = nullptr;
  llvm::DenseMap<const void*, std::string> names_;
  std::set<std::string> taken_;
};

}  // namespace

std::string ToString(const Module& module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  Printer(os).PrintModule(module);
  return text;
}

std::string ToString(const Instruction& inst) {
  std::string text;
  llvm::raw_string_ostream os(text);
  Printer(os).PrintInstruction(inst);
  return text;
}

}  // namespace hlo::ptx

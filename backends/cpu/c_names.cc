#include "backends/cpu/c_names.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Analysis/TargetLibraryInfo.h"

namespace hlo::cpu {
namespace {

/// Keywords of C23 and C++20, and what the headers that ours includes define.
constexpr llvm::StringLiteral kWords[] = {"NULL",
                                          "_Alignas",
                                          "_Alignof",
                                          "_Atomic",
                                          "_BitInt",
                                          "_Bool",
                                          "_Complex",
                                          "_Decimal128",
                                          "_Decimal32",
                                          "_Decimal64",
                                          "_Generic",
                                          "_Imaginary",
                                          "_Noreturn",
                                          "_Static_assert",
                                          "_Thread_local",
                                          "alignas",
                                          "alignof",
                                          "and",
                                          "and_eq",
                                          "asm",
                                          "auto",
                                          "bitand",
                                          "bitor",
                                          "bool",
                                          "break",
                                          "case",
                                          "catch",
                                          "char",
                                          "char16_t",
                                          "char32_t",
                                          "char8_t",
                                          "class",
                                          "co_await",
                                          "co_return",
                                          "co_yield",
                                          "compl",
                                          "concept",
                                          "const",
                                          "const_cast",
                                          "consteval",
                                          "constexpr",
                                          "constinit",
                                          "continue",
                                          "decltype",
                                          "default",
                                          "delete",
                                          "do",
                                          "double",
                                          "dynamic_cast",
                                          "else",
                                          "enum",
                                          "explicit",
                                          "export",
                                          "extern",
                                          "false",
                                          "float",
                                          "for",
                                          "friend",
                                          "goto",
                                          "if",
                                          "inline",
                                          "int",
                                          "int16_t",
                                          "int32_t",
                                          "int64_t",
                                          "int8_t",
                                          "intmax_t",
                                          "intptr_t",
                                          "linux",
                                          "long",
                                          "main",
                                          "max_align_t",
                                          "mutable",
                                          "namespace",
                                          "new",
                                          "noexcept",
                                          "not",
                                          "not_eq",
                                          "nullptr",
                                          "nullptr_t",
                                          "offsetof",
                                          "operator",
                                          "or",
                                          "or_eq",
                                          "private",
                                          "protected",
                                          "ptrdiff_t",
                                          "public",
                                          "register",
                                          "reinterpret_cast",
                                          "requires",
                                          "restrict",
                                          "return",
                                          "short",
                                          "signed",
                                          "size_t",
                                          "sizeof",
                                          "static",
                                          "static_assert",
                                          "static_cast",
                                          "std",
                                          "struct",
                                          "switch",
                                          "template",
                                          "this",
                                          "thread_local",
                                          "throw",
                                          "true",
                                          "try",
                                          "typedef",
                                          "typeid",
                                          "typename",
                                          "typeof",
                                          "typeof_unqual",
                                          "uint16_t",
                                          "uint32_t",
                                          "uint64_t",
                                          "uint8_t",
                                          "uintmax_t",
                                          "uintptr_t",
                                          "union",
                                          "unix",
                                          "unsigned",
                                          "using",
                                          "virtual",
                                          "void",
                                          "volatile",
                                          "wchar_t",
                                          "while",
                                          "xor",
                                          "xor_eq"};

/// Parameters of the functions that the header defines.
bool IsParameter(llvm::StringRef name) {
  if (name == "args" || name == "results" || name == "temp") return true;
  return (name.consume_front("arg") || name.consume_front("result")) && llvm::all_of(name, llvm::isDigit) &&
         !name.empty();
}

}  // namespace

std::string CIdentifier(llvm::StringRef name) {
  std::string identifier;
  for (const char c : name) identifier += llvm::isAlnum(c) ? c : '_';
  if (identifier.empty() || llvm::isDigit(identifier.front())) identifier.insert(0, "_");
  return identifier;
}

std::string ObstacleToName(llvm::StringRef name) {
  if (CIdentifier(name) != name) return "is no identifier of C";
  if (llvm::is_contained(kWords, name)) return "has a meaning of its own in C or C++";
  if (IsParameter(name)) return "is a parameter of functions in the header";
  if (name.starts_with("hlo_rt_")) return "begins like the functions of the archive";
  // A program, and what it is linked with, would call ours in its place.
  llvm::LibFunc function{};
  if (llvm::TargetLibraryInfoImpl().getLibFunc(name, function)) return "is a function of the C library";
  return "";
}

std::string FunctionName(llvm::StringRef module) {
  std::string name = CIdentifier(module);
  if (!ObstacleToName(name).empty()) name += '_';
  return name;
}

std::string MacroName(llvm::StringRef symbol, llvm::StringRef what) {
  return llvm::StringRef(symbol.str() + "_" + what.str()).upper();
}

std::vector<std::string> NamesOf(llvm::StringRef symbol, size_t arguments, size_t results) {
  std::vector<std::string> names = {symbol.str()};
  for (const char* of_c : {"typed", "start", "temp_bytes", "end", "map_weights", "verify_weights"})
    names.push_back(symbol.str() + "_" + of_c);
  for (size_t i = 0; i < arguments; ++i) names.push_back(symbol.str() + "_arg" + std::to_string(i));
  for (size_t i = 0; i < results; ++i) names.push_back(symbol.str() + "_result" + std::to_string(i));
  // Who has one of the macros has them all.
  names.push_back(MacroName(symbol, "ALIGN"));
  return names;
}

}  // namespace hlo::cpu

// Options of passes as tables over plain structs.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "ir/support/result.h"
#include "llvm/ADT/ArrayRef.h"

namespace hlo {

/// Types of option values: `true`/`false`/`1`/`0`, integers, decimals, words, words joined by `|`.
enum class PassOptionKind : uint8_t { Bool, Int, Float, String, List };

/// One option of a pass, written `pass{name=value}`. Rows are constants, made with
/// PassOption<&Struct::member>(name, summary).
struct PassOptionRow {
  llvm::StringRef name;
  llvm::StringRef summary;
  PassOptionKind kind;
  void* (*access)(void* options);
};

template <class T>
inline constexpr PassOptionKind kPassOptionKind = PassOptionKind::String;
template <>
inline constexpr PassOptionKind kPassOptionKind<bool> = PassOptionKind::Bool;
template <>
inline constexpr PassOptionKind kPassOptionKind<int64_t> = PassOptionKind::Int;
template <>
inline constexpr PassOptionKind kPassOptionKind<double> = PassOptionKind::Float;
template <>
inline constexpr PassOptionKind kPassOptionKind<std::vector<std::string>> = PassOptionKind::List;

template <class>
struct MemberOf;
template <class C, class T>
struct MemberOf<T C::*> {
  using Class = C;
  using Type = T;
};

template <auto Member>
constexpr PassOptionRow PassOption(llvm::StringRef name, llvm::StringRef summary) {
  using M = MemberOf<decltype(Member)>;
  return {name, summary, kPassOptionKind<typename M::Type>,
          [](void* options) -> void* { return &(static_cast<typename M::Class*>(options)->*Member); }};
}

/// Options of a pass that has none.
struct NoPassOptions {
  static llvm::ArrayRef<PassOptionRow> Rows() { return {}; }
};

/// Names of passes, pipelines and options, in which `-` and `_` are one.
bool SameName(llvm::StringRef a, llvm::StringRef b);
/// Sets one option from text; errors (usage-pass-option) name pass and option.
Status SetPassOption(llvm::StringRef pass, llvm::ArrayRef<PassOptionRow> rows, void* options,
                     llvm::StringRef name, llvm::StringRef value);
/// The value as it is written.
std::string PassOptionText(const PassOptionRow& row, const void* options);

}  // namespace hlo

// Ids of diagnostics: the rows of diagnostics.def, looked up while compiling.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace hlo {

enum class Severity : uint8_t { Error, Warning, Note, Remark };
llvm::StringRef ToString(Severity severity);

/// Exit codes of the tools (tools.md §1.6), as integers.
struct ExitCode {
  enum Value : int {
    Success = 0,
    Negative = 1,
    Usage = 2,
    Input = 3,
    Verification = 4,
    Compilation = 5,
    RunTime = 6,
    Unavailable = 7,
    Limit = 8,
    Internal = 70,
    Skipped = 77,
    Interrupted = 130
  };
};

namespace internal {
inline constexpr std::string_view kDiagnosticIds[] = {
#define HLO_DIAGNOSTIC(id, severity, exit, explanation) id,
#include "ir/support/diagnostics.def"
};
/// Not constant: calling it while compiling is the error that names what is wrong.
void ThereIsNoSuchDiagnosticInDiagnosticsDef();
}  // namespace internal

/// A row of diagnostics.def, or none. Made of string literals, which do not compile unless they are the id of
/// a row.
class DiagnosticId {
 public:
  constexpr DiagnosticId() = default;
  template <size_t N>
  consteval DiagnosticId(const char (&id)[N])  // NOLINT(google-explicit-constructor)
      : number_(NumberOf(std::string_view(id, N - 1))) {
    if (number_ == 0) internal::ThereIsNoSuchDiagnosticInDiagnosticsDef();
  }
  /// For names made at run time.
  static std::optional<DiagnosticId> Find(llvm::StringRef id);

  [[nodiscard]] constexpr bool empty() const { return number_ == 0; }
  [[nodiscard]] llvm::StringRef text() const {
    return empty() ? llvm::StringRef() : llvm::StringRef(internal::kDiagnosticIds[number_ - 1]);
  }
  [[nodiscard]] std::string str() const { return text().str(); }
  /// Which errors have a word in common: `limit-`, say.
  [[nodiscard]] bool starts_with(llvm::StringRef prefix) const { return text().starts_with(prefix); }

  friend constexpr bool operator==(DiagnosticId, DiagnosticId) = default;

 private:
  friend struct DiagnosticInfo;
  /// The number of a row from 1 on; 0 if there is none.
  static constexpr uint16_t NumberOf(std::string_view id) {
    uint16_t number = 0;
    for (const std::string_view known : internal::kDiagnosticIds) {
      ++number;
      if (known == id) return number;
    }
    return 0;
  }

  uint16_t number_ = 0;
};

/// The columns of a row of diagnostics.def.
struct DiagnosticInfo {
  llvm::StringRef name;
  Severity severity;
  /// Of an error with this id, or of a warning made one.
  ExitCode::Value exit;
  llvm::StringRef explanation;

  /// Of an id that is not empty.
  static const DiagnosticInfo& Of(DiagnosticId id);
};
llvm::ArrayRef<DiagnosticInfo> AllDiagnostics();

}  // namespace hlo

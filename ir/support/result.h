// Result<T>: a value or the diagnostic that says why there is none.
#pragma once
#include <utility>

#include "ir/support/diagnostic.h"
#include "tl/expected.hpp"

namespace hlo {

template <class T>
struct [[nodiscard]] Result : tl::expected<T, Diagnostic> {
  using tl::expected<T, Diagnostic>::expected;
};
using Status = Result<void>;

/// A failed Result from an id, a place and a formatv message.
template <class... Args>
tl::unexpected<Diagnostic> Error(DiagnosticId id, Loc loc, const char* format, Args&&... args) {
  return tl::unexpected<Diagnostic>(MakeError(id, loc, format, std::forward<Args>(args)...));
}
inline tl::unexpected<Diagnostic> Error(Diagnostic d) { return tl::unexpected<Diagnostic>(std::move(d)); }

/// No error: why there is no way to do something here, for callers that then take another one. It has no id
/// and is never shown as a diagnostic.
template <class... Args>
tl::unexpected<Diagnostic> Decline(Loc loc, const char* format, Args&&... args) {
  return tl::unexpected<Diagnostic>(MakeError({}, loc, format, std::forward<Args>(args)...));
}
/// Whether the Result of something that may decline did, rather than fail.
inline bool IsDeclined(const Diagnostic& why) { return why.id.empty(); }

}  // namespace hlo

#define HLO_CONCAT_(a, b) a##b
#define HLO_CONCAT(a, b)  HLO_CONCAT_(a, b)
/// HLO_TRY(auto x, Expr()): x is the value, or the enclosing function returns the diagnostic.
#define HLO_TRY(decl, ...) HLO_TRY_(HLO_CONCAT(hlo_try_, __LINE__), decl, __VA_ARGS__)
#define HLO_TRY_(tmp, decl, ...)                                              \
  auto tmp = (__VA_ARGS__);                                                   \
  if (!tmp) return tl::unexpected<::hlo::Diagnostic>(std::move(tmp).error()); \
  decl = std::move(*tmp)
/// HLO_CHECK_OK(Expr()): the enclosing function returns the diagnostic if Expr() failed.
#define HLO_CHECK_OK(...)                                                      \
  do {                                                                         \
    if (auto hlo_status = (__VA_ARGS__); !hlo_status)                          \
      return tl::unexpected<::hlo::Diagnostic>(std::move(hlo_status).error()); \
  } while (false)

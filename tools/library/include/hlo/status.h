// Whether something worked, and what it gave.
#pragma once
#if __cplusplus < 202002L
#error "hlo: these headers are C++20 (-std=c++20); hlo/hlo_c.h is C"
#endif
#include <optional>
#include <source_location>
#include <string>
#include <utility>

namespace hlo_toolkit {

#ifdef __cpp_lib_source_location
using SourceLocation = std::source_location;
#else
/// The same for compilers without, such as Clang 14.
class SourceLocation {
 public:
  static constexpr SourceLocation current(const char* file = __builtin_FILE(),
                                          unsigned line = __builtin_LINE()) {
    SourceLocation made;
    made.file_ = file;
    made.line_ = line;
    return made;
  }
  [[nodiscard]] constexpr const char* file_name() const { return file_; }
  [[nodiscard]] constexpr unsigned line() const { return line_; }

 private:
  const char* file_ = "";
  unsigned line_ = 0;
};
#endif

/// Where a call stands in the program: the last parameter of all that can fail, with the call itself as
/// default. It has no value by default, so `{}` is never taken for a place.
struct Location {
  // NOLINTNEXTLINE(google-explicit-constructor): written as SourceLocation::current()
  constexpr Location(SourceLocation where) : file(where.file_name()), line(where.line()) {}
  /// A place that no compiler knows: in a program of another language. `file` lives as long as it is used.
  static constexpr Location At(const char* file, unsigned line) {
    Location made{SourceLocation()};
    made.file = file;
    made.line = line;
    return made;
  }
  const char* file;
  unsigned line;
};

// NOLINTBEGIN(readability-identifier-naming): names of the documents
enum class StatusCode : int {
  kOk,
  kInvalidArgument,     // no computation: shapes, sizes, handles
  kUnimplemented,       // described by the documents, not here
  kFailedPrecondition,  // not now: before Build(), after it; of a buffer that is gone
  kInternal,
  kCancelled,          // somebody asked for it
  kDeadlineExceeded,   // a time limit
  kResourceExhausted,  // limits of memory and size
  kAborted,            // went wrong while a program ran
  kUnavailable,        // no GPU, no library
};
// NOLINTEND(readability-identifier-naming)

/// Success, or an error: what is wrong and, for calls of a builder, `file.cc:12: ` in front of it.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(StatusCode code, std::string message) : code_(code), message_(std::move(message)) {}
  static Status OK() { return {}; }

  [[nodiscard]] bool ok() const { return code_ == StatusCode::kOk; }
  [[nodiscard]] StatusCode code() const { return code_; }
  [[nodiscard]] const std::string& message() const { return message_; }
  [[nodiscard]] const std::string& error_message() const { return message_; }
  /// `INVALID_ARGUMENT: message`, or `OK`.
  [[nodiscard]] std::string ToString() const;
  void IgnoreError() const {}

  bool operator==(const Status&) const = default;

 private:
  StatusCode code_ = StatusCode::kOk;
  std::string message_;
};

namespace internal {
/// Prints the status and ends the program.
[[noreturn]] void Die(const Status& status);
}  // namespace internal

/// A value or the status that says why there is none.
template <class T>
class [[nodiscard]] StatusOr {
 public:
  // NOLINTBEGIN(google-explicit-constructor): returned from functions as either
  StatusOr(T value) : value_(std::move(value)) {}
  StatusOr(Status status) : status_(std::move(status)) {
    if (status_.ok()) status_ = Status(StatusCode::kInternal, "success without a value");
  }
  // NOLINTEND(google-explicit-constructor)

  [[nodiscard]] bool ok() const { return value_.has_value(); }
  [[nodiscard]] const Status& status() const { return status_; }

  // The value. Where there is none the error is printed and the program ends.
  [[nodiscard]] const T& value() const& { return Checked(), *value_; }
  [[nodiscard]] T& value() & { return Checked(), *value_; }
  [[nodiscard]] T value() && { return Checked(), std::move(*value_); }
  [[nodiscard]] const T& ValueOrDie() const { return value(); }
  [[nodiscard]] T ConsumeValueOrDie() { return Checked(), std::move(*value_); }
  const T& operator*() const& { return value(); }
  T& operator*() & { return value(); }
  T operator*() && { return ConsumeValueOrDie(); }
  const T* operator->() const { return &value(); }
  T* operator->() { return &value(); }
  [[nodiscard]] T value_or(T otherwise) const { return ok() ? *value_ : std::move(otherwise); }

 private:
  void Checked() const {
    if (!value_) internal::Die(status_);
  }
  Status status_;
  std::optional<T> value_;
};

}  // namespace hlo_toolkit

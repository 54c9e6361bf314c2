// What is behind the handles of hlo/hlo_c.h.
#pragma once
#include <cstring>
#include <new>

#include "hlo/hlo_c.h"
#include "hlo/xla.h"

struct HloError {
  hlo_toolkit::Status status;
};
struct HloText {
  std::string text;
};
struct HloModule {
  hlo_toolkit::XlaComputation computation;
  std::string name;
};

namespace hlo_toolkit::internal {

/// An error of a call's own.
template <class... Args>
HloError* BadCall(const char* format, Args&&... args) {
  return new HloError{
      {StatusCode::kInvalidArgument, llvm::formatv(format, std::forward<Args>(args)...).str()}};
}
inline HloError* ToError(const Status& status) { return status.ok() ? nullptr : new HloError{status}; }

/// Runs `body`, which returns an error or null: nothing is thrown across the interface.
template <class Body>
HloError* Guarded(Body body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    // What says so has to be small.
    return new (std::nothrow) HloError{{StatusCode::kResourceExhausted, "out of memory"}};
  } catch (...) {
    return new (std::nothrow) HloError{{StatusCode::kInternal, "an exception"}};
  }
}

/// A struct that a caller gave (`what`, in plural), who may know fewer fields, or more: these must be 0.
/// Null: defaults.
template <class T>
HloError* ReadStruct(const T* given, const char* what, T& read) {
  read = T{};
  read.struct_size = sizeof(T);
  if (given == nullptr) return nullptr;
  const size_t size = given->struct_size;
  constexpr size_t kMost = size_t{1} << 16;
  if (size < sizeof(size_t) || size > kMost) return BadCall("{0} are a struct of {1} bytes", what, size);
  std::memcpy(static_cast<void*>(&read), given, std::min(size, sizeof(T)));
  read.struct_size = sizeof(T);
  const char* bytes = reinterpret_cast<const char*>(given);
  for (size_t at = sizeof(T); at < size; ++at)
    if (bytes[at] != 0) return BadCall("{0} have fields of a later version", what);
  return nullptr;
}

/// Fills a struct of the caller's, who may know fewer fields.
template <class T>
HloError* WriteStruct(const T& made, const char* what, T* to) {
  if (to == nullptr) return BadCall("there is no place for {0}", what);
  const size_t size = to->struct_size;
  if (size < sizeof(size_t)) return BadCall("{0} are a struct of {1} bytes", what, size);
  std::memcpy(reinterpret_cast<char*>(to) + sizeof(size_t),
              reinterpret_cast<const char*>(&made) + sizeof(size_t),
              std::min(size, sizeof(T)) - sizeof(size_t));
  return nullptr;
}

HloError* NewText(std::string text, HloText** made);
HloError* NewModule(XlaComputation computation, HloModule** made);

/// The shape of an array that a caller describes, with what is wrong with it.
HloError* ShapeOf(const HloArray& array, const char* what, Shape& shape);
/// The array of a shape, without memory.
HloArray ToArray(const Shape& shape);
/// The value of an array in the caller's memory, which it borrows.
HloError* LiteralOf(const HloArray* array, const char* what, Literal& literal);

}  // namespace hlo_toolkit::internal

// What is behind the handles of hlo/hlo_c.h.
#pragma once
#include <cstring>
#include <new>

#include "hlo/hlo_c.h"
#include "hlo/xla.h"
#include "tools/library/c_handle.h"

namespace hlo_toolkit::internal {

struct NamedModule {
  XlaComputation computation;
  std::string name;
};

}  // namespace hlo_toolkit::internal

struct HloError
    : hlo_toolkit::internal::Handle<hlo_toolkit::Status, hlo_toolkit::internal::HandleKind::Error> {};
struct HloText : hlo_toolkit::internal::Handle<std::string, hlo_toolkit::internal::HandleKind::Text> {};
struct HloModule : hlo_toolkit::internal::Handle<hlo_toolkit::internal::NamedModule,
                                                 hlo_toolkit::internal::HandleKind::Module> {};

namespace hlo_toolkit::internal {

/// Without memory for it: one that is always there.
HloError* NewError(Status status) noexcept;
inline HloError* ToError(const Status& status) { return status.ok() ? nullptr : NewError(status); }

/// An error of a call's own.
template <class... Args>
HloError* BadCall(const char* format, Args&&... args) {
  return NewError({StatusCode::kInvalidArgument, llvm::formatv(format, std::forward<Args>(args)...).str()});
}

/// A handle that is null, was freed, or is of another kind: what is wrong with it.
HloError* WrongHandle(HandleKind kind, bool null, bool freed);
/// There is no place for the handle that a call makes.
HloError* NoPlace(HandleKind kind);
/// The error of the first of them that cannot be used.
inline HloError* CheckHandles() { return nullptr; }
template <class H, class... Rest>
HloError* CheckHandles(const H* handle, const Rest*... rest) {
  if (handle == nullptr || !handle->IsOpen())
    return WrongHandle(H::kThisKind, handle == nullptr, handle != nullptr && handle->IsFreed());
  return CheckHandles(rest...);
}

/// Gives the caller a handle of a value.
template <class H>
HloError* Give(typename H::Value value, H** made) {
  if (made == nullptr) return NoPlace(H::kThisKind);
  *made = Handles<H>::New(std::move(value));
  if (*made != nullptr) return nullptr;
  return NewError({StatusCode::kResourceExhausted, "out of memory"});
}

HloError* NewModule(XlaComputation computation, HloModule** made);

/// Runs `body`, which returns an error or null: nothing is thrown across the interface.
template <class Body>
HloError* Guarded(Body body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return NewError({StatusCode::kResourceExhausted, "out of memory"});
  } catch (...) {
    return NewError({StatusCode::kInternal, "an exception"});
  }
}
/// The same with a handle that is null where there is an error.
template <class H, class Body>
HloError* GuardedMaking(H** made, Body body) noexcept {
  if (made != nullptr) *made = nullptr;
  return Guarded(std::move(body));
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

/// A number that is 0 or 1.
inline HloError* ReadFlag(int64_t value, const char* what, bool& to) {
  if (value != 0 && value != 1) return BadCall("{0} is {1}; 0 and 1 are possible", what, value);
  to = value == 1;
  return nullptr;
}

/// The shape of an array that a caller describes, with what is wrong with it.
HloError* ShapeOf(const HloArray& array, const char* what, Shape& shape);
/// The array of a shape, without memory.
HloArray ToArray(const Shape& shape);
/// The value of an array in the caller's memory, which it borrows where elements lie row by row.
HloError* LiteralOf(const HloArray* array, const char* what, Literal& literal);

}  // namespace hlo_toolkit::internal

// What clients, programs, buffers and runs are behind their handles, and how arrays of the caller's become
// values and the other way.
#pragma once
#include "tools/library/c_api.h"
#include "tools/library/client_state.h"

namespace hlo_toolkit::internal {

struct CClient {
  std::unique_ptr<Client> client;
  CompileOptions compile;
};

/// Where an array of the result is: in which of its parts, and which elements of tuples lead to it there.
struct ArrayPlace {
  size_t part = 0;
  std::vector<size_t> path;
};

/// What a program takes and gives on each device, tuples taken apart, as the backends have the shapes.
struct CArrays {
  std::vector<hlo::Shape> arguments, results;
  std::vector<ArrayPlace> places;  // of results
};

struct CExecutable {
  Executable executable;
  std::shared_ptr<const CArrays> arrays;
  [[nodiscard]] const ExecutableState& state() const { return *ExecutableState::Get(executable); }
};

struct CRun {
  Execution execution;
  std::shared_ptr<const CArrays> arrays;
};

}  // namespace hlo_toolkit::internal

struct HloClient : hlo_toolkit::internal::Handle<hlo_toolkit::internal::CClient,
                                                 hlo_toolkit::internal::HandleKind::Client> {};
struct HloExecutable : hlo_toolkit::internal::Handle<hlo_toolkit::internal::CExecutable,
                                                     hlo_toolkit::internal::HandleKind::Executable> {};
struct HloBuffer
    : hlo_toolkit::internal::Handle<hlo_toolkit::Buffer, hlo_toolkit::internal::HandleKind::Buffer> {};
struct HloRun
    : hlo_toolkit::internal::Handle<hlo_toolkit::internal::CRun, hlo_toolkit::internal::HandleKind::Run> {};

namespace hlo_toolkit::internal {

/// One of an array of structs, whose size callers know.
template <class T>
T* At(T* first, size_t i) {
  using Byte = std::conditional_t<std::is_const_v<T>, const char, char>;
  return reinterpret_cast<T*>(reinterpret_cast<Byte*>(first) + i * first->struct_size);
}

/// A number of a device; -1, which none has, of one that no client can have.
inline int DeviceOf(int64_t device) {
  return device < 0 || device > INT32_MAX ? -1 : static_cast<int>(device);
}

/// A number of an optimization level; nothing of null.
HloError* ReadLevel(const char* text, int& level);

/// Lets other processes know of what keeps this one from a run; the error itself.
HloError* Refused(const ExecutableState& state, HloError* error);

/// Appends the arrays of a value, with tokens left out.
void AddArrays(const hlo::Shape& shape, std::vector<hlo::Shape>& arrays);

/// Whether so many structs of arrays are there.
HloError* CheckCount(const char* what, const HloArray* given, size_t count, size_t wanted, const char* wants);
/// Whether arrays can be written to where they are to go, before anything runs. `next`: of `results` the
/// first one; behind the last.
HloError* CheckResults(const std::vector<hlo::Shape>& shapes, const HloArray* results, size_t& next);
/// Appends the next arguments as a value of the shape, in the caller's memory.
HloError* TakeValue(const HloArray* arguments, size_t& next, const hlo::Shape& shape,
                    std::vector<hlo::Literal>& values);
/// Writes the arrays of a value to where the caller wants them, which was checked.
void GiveValue(const hlo::Literal& value, HloArray* results, size_t& next);

}  // namespace hlo_toolkit::internal

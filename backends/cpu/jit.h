// Kernels to machine code of this process.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "backends/cpu/inspect.h"
#include "backends/cpu/machine.h"
#include "backends/cpu/object_cache.h"
#include "backends/kernel/routine.h"

namespace hlo::cpu {

/// What a compiled kernel is; see codegen::EmitKernel.
class KernelFn {
 public:
  using Code = void(void* const* buffers, int64_t begin, int64_t end);
  KernelFn() = default;
  explicit KernelFn(Code* code) : code_(code) {}
  /// Generated code does not carry the type hash that a sanitizer looks for.
#if defined(__clang__)
  [[clang::no_sanitize("function")]]
#endif
  void operator()(void* const* buffers, int64_t begin, int64_t end) const {
    code_(buffers, begin, end);
  }
  explicit operator bool() const { return code_ != nullptr; }

 private:
  Code* code_ = nullptr;
};

/// Compiles kernels and routines together. Equal ones are compiled once.
class Jit {
 public:
  /// Asked for a key before the first kernel; with an empty one there is no cache.
  using CacheKey = std::function<std::string()>;
  /// With a key, code comes from `cache` if it has an entry for the key that was made of the same kernels,
  /// and goes there otherwise.
  explicit Jit(Machine machine, CacheKey cache_key = nullptr, ObjectCache cache = ObjectCache());
  ~Jit();
  /// Adds a kernel, whatever its name; its number for Function(). Errors: kernel-unsupported.
  Result<int32_t> Add(kernel::Kernel kernel);
  /// Adds a routine over kernels that were added; each of its calls takes the place of one Add(): kernels
  /// that nobody else calls get no function of their own.
  int32_t AddRoutine(const kernel::Routine& routine);
  /// Makes code of all that was added. Errors: compile-kernels (LLVM's message).
  Status Compile();
  /// Before the first Add(): all code comes in one piece, for Print().
  void KeepTogether();
  /// Instead of Compile(), without cache: the kernels that `headings` has by number, in one form, each headed
  /// by a comment. A routine is printed under the number that it got here.
  Result<std::string> Print(CodeForm form, const std::map<int32_t, std::string>& headings);
  /// After Compile().
  [[nodiscard]] KernelFn Function(int32_t kernel) const { return *FunctionPlace(kernel); }
  /// Where the function will stand after Compile().
  [[nodiscard]] const KernelFn* FunctionPlace(int32_t kernel) const;
  [[nodiscard]] size_t kernel_count() const;
  [[nodiscard]] const Machine& machine() const;
  /// After Compile(): nothing was compiled, the cache had it.
  [[nodiscard]] bool from_cache() const;
  /// Why an entry of the cache was not used; empty if there was none or it was used.
  [[nodiscard]] const std::string& cache_remark() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace hlo::cpu

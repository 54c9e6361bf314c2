// Kernels to machine code of this process.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "backends/cpu/code_notes.h"
#include "backends/cpu/inspect.h"
#include "backends/cpu/machine.h"
#include "backends/kernel/routine.h"
#include "backends/llvm/code_image.h"
#include "backends/llvm/emit_entry.h"
#include "backends/llvm/emit_front.h"

namespace hlo::cpu {

using codegen::CodeImage;
using codegen::LinkObjects;
using codegen::LoadedCode;

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

/// What a Jit compiled.
struct CompiledCode {
  static constexpr uint64_t kNoCode = ~uint64_t{0};
  std::vector<uint64_t> places;   // by number: where the function begins in the image, if anybody calls it
  std::vector<int32_t> routines;  // the number that each AddRoutine() gave
  CodeImage image;
};

/// Compiles kernels and routines together. Equal ones are compiled once.
class Jit {
 public:
  explicit Jit(Machine machine);
  ~Jit();
  /// Adds a kernel, whatever its name; its number for Function(). Declines operations without code.
  Result<int32_t> Add(kernel::Kernel kernel);
  /// Adds a routine over kernels that were added; each of its calls takes the place of one Add(): kernels
  /// that nobody else calls get no function of their own.
  int32_t AddRoutine(const kernel::Routine& routine);
  /// Makes code of all that was added. Errors: compile-kernels (LLVM's message).
  Status Compile();
  /// After Compile(): what Restore() takes, once.
  CompiledCode TakeCode();
  /// Instead of Add() and Compile(): takes what another Jit compiled. Routines are added as they were there.
  /// Errors: compile-kernels.
  Status Restore(CompiledCode code);
  /// Before the first Add(): all code comes in one piece, for Print() and MakeObject(). `with`: that holds
  /// what becomes one object with it.
  void KeepTogether(const Jit* with = nullptr);
  /// Instead of Compile(), without cache: the kernels that `shown` has by number, in one form, each headed
  /// by a comment; with debug information if `lines`. A routine is printed under the number that it got here.
  Result<std::string> Print(CodeForm form, const std::map<int32_t, CodeNote>& shown, bool lines);
  /// A function of C that calls routines, by their numbers.
  struct Entry {
    const codegen::EntryPoint* point;
    llvm::ArrayRef<int32_t> routines;
  };
  /// What an object has for one machine: the functions of `front`, in their order.
  struct Version {
    Jit* code;
    std::vector<Entry> entries;
  };
  /// Instead of Compile(), after KeepTogether(): an object file of such functions. Errors: compile-kernels.
  static Result<std::string> MakeObject(llvm::ArrayRef<Version> versions, const codegen::Front& front);
  /// After Compile() or Restore().
  [[nodiscard]] KernelFn Function(int32_t kernel) const { return *FunctionPlace(kernel); }
  /// Where the function will stand after Compile().
  [[nodiscard]] const KernelFn* FunctionPlace(int32_t kernel) const;
  [[nodiscard]] const Machine& machine() const;
  /// Another one, empty, for the same machine and in the same pieces.
  [[nodiscard]] std::unique_ptr<Jit> Fresh() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace hlo::cpu

// Machine code as it lies in memory: what becomes of object files, without a linker at run time.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "ir/support/result.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"

namespace hlo::codegen {

/// Code and its constants in one piece that works at any address, but for a few words that are filled in when
/// it is loaded.
struct CodeImage {
  /// Eight bytes at `at` are the address of a function of this process.
  struct Import {
    uint64_t at;
    std::string function;
  };
  /// Eight bytes at `at` are the address of byte `target` of the image.
  struct Pointer {
    uint64_t at, target;
  };
  std::string bytes;
  std::vector<Import> imports;
  std::vector<Pointer> pointers;
};

/// Objects of ELF for x86-64, linked: `functions` gets where the global ones begin. Errors: compile-kernels,
/// for what is not known here.
Result<CodeImage> LinkObjects(llvm::ArrayRef<std::string> objects, llvm::StringMap<uint64_t>& functions);

/// An image in memory that may be executed.
class LoadedCode {
 public:
  /// Errors: compile-kernels, if the process lacks a function or may not have such memory.
  static Result<LoadedCode> Load(const CodeImage& image);
  LoadedCode() = default;
  [[nodiscard]] uint8_t* begin() const { return memory_.get(); }

 private:
  struct Unmap {
    size_t size;
    void operator()(uint8_t* memory) const;
  };
  std::unique_ptr<uint8_t, Unmap> memory_;
};

}  // namespace hlo::codegen

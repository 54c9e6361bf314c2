// A module's code on the host.
#pragma once
#include <chrono>
#include <deque>

#include "backends/gpu/emulator/block.h"
#include "backends/llvm/code_image.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

namespace hlo::gpu {

/// Code of functions of a module.
struct HostCode {
  codegen::LoadedCode image;
  llvm::StringMap<uint64_t> functions;  // offsets
  [[nodiscard]] KernelCode* Of(llvm::StringRef name) const {
    return reinterpret_cast<KernelCode*>(image.begin() + functions.lookup(name));
  }
};

struct LoadedModule::State {
  std::shared_ptr<const ptx::Module> module;
  Device* device = nullptr;
  std::deque<Site> sites;
  HostCode code;  // quickly made, of all functions
  /// A kernel that takes long is compiled once more.
  struct Hot {
    std::chrono::steady_clock::duration spent{};
    HostCode code;
    KernelCode* kernel = nullptr;  // of that
  };
  llvm::DenseMap<const ptx::Function*, Hot> hot;
  llvm::DenseMap<const ptx::Variable*, uint64_t> global;
  uint64_t const_base = 0;
  std::vector<uint64_t> allocations;
};

/// Where .extern .shared variables begin.
uint64_t DynamicSharedOffset(const ptx::Module& module, const ptx::Function& function);

/// Generated code does not carry the type hash that a sanitizer looks for.
void RunKernel(KernelCode* code, Thread* thread);

}  // namespace hlo::gpu

// A module's code on the host.
#pragma once
#include <deque>

#include "backends/gpu/emulator/block.h"
#include "backends/llvm/code_image.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

namespace hlo::gpu {

struct LoadedModule::State {
  std::shared_ptr<const ptx::Module> module;
  Device* device = nullptr;
  std::deque<Site> sites;
  codegen::LoadedCode code;
  llvm::StringMap<uint64_t> functions;
  llvm::DenseMap<const ptx::Variable*, uint64_t> global;
  uint64_t const_base = 0;
  std::vector<uint64_t> allocations;
};

/// Where .extern .shared variables begin.
uint64_t DynamicSharedOffset(const ptx::Module& module, const ptx::Function& function);

/// Generated code does not carry the type hash that a sanitizer looks for.
void RunKernel(KernelCode* code, Thread* thread);

}  // namespace hlo::gpu

// The platforms that programs run on, and what compiling for each of them looks at.
#pragma once
#include "backends/cpu/compile.h"
#include "backends/gpu/runtime/compile.h"

namespace hlo {

enum class Platform : uint8_t {
#define HLO_PLATFORM(kind, name, compile, takes) kind,
#include "backends/client/platforms.def"
#undef HLO_PLATFORM
};

/// When a module is looked at for what no platform can run (CheckSupported). Passes may replace it.
enum class SupportCheck : uint8_t { BeforePasses, AfterPasses, Never };

/// What compiling for any platform is told; each looks at what it takes.
struct CompileOptions {
  SupportCheck support = SupportCheck::BeforePasses;
  compile::PassPlan passes;
  compile::ProgramStore store;  // of what was compiled; without folder: that of the client
  /// Takes remarks and warnings: why something was not done as it could have been; also while programs run,
  /// from any thread.
  std::function<void(Diagnostic)> report;
  CpuOptions cpu;     // but for what is said above
  GpuRunOptions gpu;  // but for what is said above, and whether the GPU is emulated
};

struct PlatformInfo {
  enum Takes : uint8_t { Nothing = 0, Passes = 1, CpuCode = 2, GpuCode = 4 };
  using Compiler = Result<std::unique_ptr<Executable>>(const Module& module, const CompileOptions& options);

  Platform platform;
  llvm::StringLiteral name;
  Compiler* compile;
  unsigned takes;
};

llvm::ArrayRef<PlatformInfo> Platforms();
const PlatformInfo& Info(Platform platform);

/// Modules are compiled for it, by passes.
inline bool Compiles(Platform platform) { return (Info(platform).takes & PlatformInfo::Passes) != 0; }
inline bool IsGpu(Platform platform) { return (Info(platform).takes & PlatformInfo::GpuCode) != 0; }

}  // namespace hlo

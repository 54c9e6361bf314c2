// For tests: modules of a text as programs for a GPU.
#pragma once
#include "backends/gpu/passes/passes.h"
#include "backends/gpu/runtime/compile.h"
#include "gtest/gtest.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "parser/parser.h"
#include "passes/pass_manager.h"

namespace hlo::gpu {

/// The pipeline of level 2. `machine` outlives what is returned.
inline std::function<Status(Module&)> PassesFor(const compile::Machine& machine) {
  return [&machine](Module& module) -> Status {
    RewriteControls controls;
    controls.machine = &machine;
    PassManager manager(controls, {});
    HLO_TRY(const auto pipeline, ParsePipeline(PipelineFor(2)));
    HLO_TRY([[maybe_unused]] const bool changed, manager.Run(module, pipeline));
    return {};
  };
}

inline const Target& TestTarget() {
  static const Target target = *FindTarget("h100");
  return target;
}
inline const compile::Machine& TestMachine() {
  static const compile::Machine machine = MachineOf(TestTarget());
  return machine;
}

/// An emulated GPU with little memory.
inline Platform SmallEmulatedGpu(uint64_t seed = 0) {
  Platform platform;
  platform.emulated = true;
  platform.emulation.device.memory = uint64_t{1} << 26;
  platform.emulation.device.seed = seed;
  return platform;
}

inline std::unique_ptr<Module> Parsed(const char* text) {
  ParseResult parsed = ParseModule(std::make_shared<SourceBuffer>("m.hlo", text));
  if (parsed.module == nullptr) ADD_FAILURE() << Render(parsed.diagnostics.front());
  return std::move(parsed.module);
}

/// For an h100, on what `options` name.
inline std::unique_ptr<Executable> Compile(const char* text, GpuRunOptions options = {}) {
  options.target = TestTarget();
  options.machine = &TestMachine();
  if (!options.run_passes) options.run_passes = PassesFor(TestMachine());
  auto program = CompileForGpu(*Parsed(text), options);
  EXPECT_TRUE(program) << Render(program.error());
  return program ? std::move(*program) : nullptr;
}

}  // namespace hlo::gpu

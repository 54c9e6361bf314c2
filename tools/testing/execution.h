// Executing modules before and after pipelines: the results must agree as far as the rules that fired
// promise (rule.h, Licence).
#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "backends/client/client.h"
#include "passes/pass_manager.h"
#include "tools/arrays/fake_values.h"
#include "tools/opt/options.h"

namespace hlo::testing {

/// A pipeline as a command line of hlo-opt asks for it.
struct PassRun {
  OptOptions options;
  std::vector<PipelineItem> pipeline;
};
/// Reads the arguments of an hlo-opt command.
Result<PassRun> ParsePassRun(llvm::ArrayRef<std::string> arguments);

/// What a pipeline did.
struct Transformation {
  std::map<std::string, int64_t> rules;  // how often each fired
  uint8_t changes = 0;                   // FloatChanges of the rules that fired
};
/// Runs the pipeline on the module. With `only`, rules that do not satisfy it stay disabled.
Result<Transformation> Transform(Module& module, const PassRun& run, const RewritePolicy& policy,
                                 llvm::function_ref<bool(llvm::StringRef)> only = nullptr);
RewritePolicy PolicyOf(const OptOptions& options);

/// The bits of an element of an unpacked array; of its real (0) or imaginary part (1) if it is complex.
uint64_t PartBits(const Literal& literal, int64_t i, int64_t part);
/// A value of a type that is not complex: `-0 (0x80000000)`, `-7`.
std::string PartText(ElementType type, uint64_t bits);

/// How results differ. Any NaN equals any other: payloads carry no meaning.
struct Differences {
  int64_t values = 0;      // parts of elements compared
  int64_t mismatches = 0;  // with other bits
  int64_t beyond = 0;      // of them those that `changes` does not explain
  std::string first;       // the first one of `beyond`, or else of all
};
/// Adds the differences between two values of the same structure. `bounded`: rounding may change a value by a
/// few units in the last place of the largest one, else by anything; `floats`: integers were computed from
/// floats and may differ with them.
void Compare(const Literal& before, const Literal& after, uint8_t changes, bool bounded, bool floats,
             Differences& differences);

/// Arguments for all devices of the module that respect its constraints.
std::vector<std::vector<Literal>> MakeArguments(const Module& module, const ValueRule& rule, uint64_t seed);
/// Runs on as many simulated devices as the module's configuration says.
Result<ExecutionResult> Execute(const Module& module, std::vector<std::vector<Literal>> arguments);

/// Floats or complex numbers occur in it.
bool ConcernsFloats(const Module& module);

/// Executes the module before and after the pipeline on random and special inputs. What is wrong, or nothing.
/// `inexact`: passes other than rules may round differently.
std::string CheckExecution(llvm::StringRef text, const PassRun& run, bool inexact);

}  // namespace hlo::testing

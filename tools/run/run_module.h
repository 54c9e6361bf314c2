// Running one module: arguments, iterations, comparison, output files.
#pragma once
#include <optional>

#include "backends/client/client.h"
#include "llvm/ADT/StringSet.h"
#include "tools/modules/inputs.h"
#include "tools/opt/passes.h"
#include "tools/run/chain.h"
#include "tools/run/devices.h"
#include "tools/run/profile.h"
#include "tools/run/result.h"
#include "tools/run/rounding_bounds.h"
#include "tools/run/spread.h"
#include "tools/run/trace.h"

namespace hlo {

/// What the modules of one run share.
struct RunShared {
  PassRunner* passes = nullptr;
  RunTrace* trace = nullptr;  // of --trace
  std::shared_ptr<const CustomCallLibraries> libraries;
  Processes* processes = nullptr;        // that share the devices; null: this one has them all
  bool several = false;                  // there is more than one module
  llvm::StringMap<std::string> written;  // files, by the module they were written for
};

class ModuleRunner {
 public:
  /// Passes change the module of `input`.
  ModuleRunner(const RunOptions& options, const Tolerances& tolerances, const InputModule& input,
               RunShared& shared, DiagnosticSink& sink, llvm::raw_ostream& out,
               llvm::ArrayRef<std::string> module_files);

  /// Everything the options ask for; errors have been turned into status and exit code of the result,
  /// and reported. `heading`: the name is printed before results.
  ModuleResult Run(bool heading);

 private:
  Status Prepare();
  Status RunIteration(int64_t iteration, bool heading);
  /// The executions of an iteration, with the devices of all processes; the result of the last one, of which
  /// processes that do not lead have a part.
  Result<ExecutionResult> ExecuteIteration(const Arguments& arguments);
  /// Whether iterations end before their number is reached: the first process says so.
  Result<bool> EndEarly(bool failed);
  Status Transform();
  Status CheckFiles();
  Status CheckToleranceNames();
  Result<ExecutionResult> Execute(const Executable& program, Arguments arguments,
                                  std::vector<int64_t>* times);
  Result<ExecutionResult> Repeat(const Executable& program, const Arguments& arguments,
                                 std::vector<int64_t>* times);
  [[nodiscard]] Result<ArrayFormat> FormatOf(llvm::StringRef option, llvm::StringRef path) const;
  Status SaveInputs(const Arguments& arguments);
  Status WriteArguments(llvm::StringRef path, ArrayFormat format, const Arguments& arguments);
  Status CountArgumentBytes();
  Status CompilePrograms();
  [[nodiscard]] Status CheckProgramOptions() const;
  Result<std::unique_ptr<Executable>> MakeProgram();
  Result<std::unique_ptr<Executable>> MakeReference();
  Result<CompileOptions> CompileOptionsFor(Platform platform);
  Status CheckProgramMemory();
  Status ReportProfile();
  void FindOutputForm();
  [[nodiscard]] std::vector<Literal> GlobalResults(std::vector<Literal> results);
  void WarnThatDevicesDiffer(std::string what);
  Status ReadInfeed();
  Status WriteOutfeed(const ExecutionResult& result);
  Status WriteOutputs(llvm::ArrayRef<Literal> results);
  void Print(llvm::ArrayRef<Literal> results, bool heading);
  Status CompareWith(llvm::StringRef name, llvm::ArrayRef<Literal> results,
                     llvm::function_ref<Result<std::optional<Literal>>(size_t leaf, int64_t device)> expected,
                     RoundingMeter* meter, std::vector<OutputComparison>& all);
  Result<OutputComparison> PairOf(llvm::ArrayRef<Literal> results, size_t leaf, int64_t device,
                                  Literal expected) const;
  [[nodiscard]] std::optional<Tolerance> GivenBounds(const Literal& expected, size_t leaf, bool typed) const;
  void ReportVacuous();
  void PrintMatch();
  /// Whether an output is what other arguments give, too: nothing that is compared shows in it.
  bool IsUnchanged(size_t leaf, llvm::ArrayRef<Literal> results);
  Status FindUnchanged(llvm::ArrayRef<Literal> results);
  Status CompareResults(llvm::ArrayRef<Literal> results, const Arguments& arguments);
  Status SaveMismatch(const Arguments& arguments);
  /// The devices whose outputs are shown and written.
  [[nodiscard]] std::vector<int64_t> ShownDevices(llvm::ArrayRef<Literal> results) const;
  [[nodiscard]] bool PerDevice(llvm::ArrayRef<Literal> results) const;
  [[nodiscard]] bool comparing() const {
    return !options_.expected.empty() || options_.reference != Reference::None;
  }
  /// The module before passes.
  [[nodiscard]] const Module& Original() const { return original_ ? *original_ : module_; }
  [[nodiscard]] std::string FillName(llvm::StringRef pattern) const;

  const RunOptions& options_;
  const Tolerances& tolerances_;
  const InputModule& input_;
  const Module& module_;
  std::unique_ptr<Module> original_;  // where passes ran
  RunShared& shared_;
  DiagnosticSink& sink_;
  llvm::raw_ostream& out_;                // data
  llvm::raw_ostream& text_;               // reports
  std::vector<std::string> input_files_;  // never overwritten
  DeviceCount devices_, output_devices_;  // output_devices_: after partitions were put together
  GlobalForm output_form_;
  ExecutionOptions run_;
  std::unique_ptr<Executable> program_, reference_;
  std::optional<ArgumentSource> source_;
  std::vector<OutputLeaf> leaves_;
  ExpectedSource expected_;
  std::vector<ChainLink> chain_;
  std::vector<bool> donated_;
  std::vector<std::unique_ptr<Profile>> profiles_;  // of timed executions
  std::optional<MemoryPlan> memory_;                // where a report or a limit asks for it
  int64_t iteration_ = 0;
  bool executed_ = false;                       // this iteration, in all processes
  std::optional<std::vector<bool>> unchanged_;  // by output
  std::vector<std::string> vacuous_;  // outputs about which comparing proves nothing, each with the reason
  llvm::StringSet<> vacuous_seen_;
  double worst_abs_ = 0, worst_rel_ = 0;  // errors in all iterations
  ModuleResult result_;
};

}  // namespace hlo

// Running one module: arguments, iterations, comparison, output files.
#pragma once
#include <optional>

#include "backends/interpreter/interpreter.h"
#include "tools/inputs.h"
#include "tools/run_devices.h"
#include "tools/run_result.h"

namespace hlo {

class ModuleRunner {
 public:
  ModuleRunner(const RunOptions& options, const Tolerances& tolerances, const InputModule& input,
               DiagnosticSink& sink, llvm::raw_ostream& out, llvm::ArrayRef<std::string> module_files);

  /// Everything the options ask for; errors have been turned into status and exit code of the result,
  /// and reported. `heading`: the name is printed before results.
  ModuleResult Run(bool heading);

 private:
  Status Prepare();
  Status RunIteration(int64_t iteration, bool heading);
  Result<InterpreterResult> Execute(int64_t iteration, Arguments* kept);
  Status SaveInputs(const Arguments& arguments);
  Status WriteArguments(llvm::StringRef path, ArrayFormat format, const Arguments& arguments);
  void FindOutputForm();
  [[nodiscard]] std::vector<Literal> GlobalResults(std::vector<Literal> results);
  void WarnThatDevicesDiffer(std::string what);
  Status ReadInfeed();
  Status WriteOutfeed(const InterpreterResult& result);
  Status WriteOutputs(llvm::ArrayRef<Literal> results);
  void Print(llvm::ArrayRef<Literal> results, bool heading);
  Status CompareResults(llvm::ArrayRef<Literal> results, const Arguments& arguments);
  Status SaveMismatch(const Arguments& arguments);
  /// The devices whose outputs are shown and written.
  [[nodiscard]] std::vector<int64_t> ShownDevices(llvm::ArrayRef<Literal> results) const;
  [[nodiscard]] bool PerDevice(llvm::ArrayRef<Literal> results) const;
  [[nodiscard]] std::string FillName(llvm::StringRef pattern) const;

  const RunOptions& options_;
  const Tolerances& tolerances_;
  const InputModule& input_;
  const Module& module_;
  DiagnosticSink& sink_;
  llvm::raw_ostream& out_;
  std::vector<std::string> input_files_;  // never overwritten
  DeviceCount devices_, output_devices_;  // output_devices_: after partitions were put together
  GlobalForm output_form_;
  InterpreterOptions run_;
  std::optional<ArgumentSource> source_;
  std::vector<OutputLeaf> leaves_;
  ExpectedSource expected_;
  std::vector<bool> donated_;
  int64_t iteration_ = 0;
  ModuleResult result_;
};

}  // namespace hlo

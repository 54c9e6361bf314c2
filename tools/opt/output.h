// Where hlo-opt writes to: one stream of modules, files of a folder, rewritten inputs.
#pragma once
#include <map>
#include <optional>

#include "backends/compile/machine.h"
#include "backends/cpu/ahead_of_time.h"
#include "tools/common/output_file.h"
#include "tools/modules/inputs.h"
#include "tools/opt/options.h"

namespace hlo {

/// The main output: opened when the first module is printed, split markers between modules. With
/// --output-dir every module has a file of its own.
class OptOutput {
 public:
  OptOutput(const OptOptions& options, llvm::ArrayRef<std::string> arguments, llvm::raw_ostream& out)
      : options_(options), arguments_(arguments), out_(out) {}
  /// The stream for the next module, behind a marker if need be.
  Result<llvm::raw_ostream*> Begin(const Module& module, OptStage stage, llvm::ArrayRef<std::string> inputs);
  /// The module could not be written: a file that holds nothing yet is not made for it.
  void Drop();
  /// Text that is no module.
  Status Write(llvm::StringRef text, llvm::ArrayRef<std::string> inputs);
  /// Renames what has been written to its final name.
  Status Finish();

 private:
  Status Open(llvm::StringRef path, llvm::ArrayRef<std::string> inputs);

  const OptOptions& options_;
  llvm::ArrayRef<std::string> arguments_;
  llvm::raw_ostream& out_;
  std::optional<OutputFile> file_;
  int64_t modules_ = 0;
  std::map<std::string, int> names_;  // of files in --output-dir
};

/// Regenerates the CHECK blocks behind the banner of each module of a file (--update-checks).
class CheckUpdater {
 public:
  /// Replaces the block of one module by checks of `output`. Error usage-update if it has checks without
  /// banner.
  Status Add(const InputModule& input, llvm::StringRef output);
  /// Writes the files back, or their texts to `output`.
  Status Write(bool in_place, OptOutput& output);

 private:
  struct File {
    SourcePtr source;
    std::shared_ptr<const std::string> original;  // the source with its log prefixes
    std::string text;
    [[nodiscard]] llvm::StringRef Text() const {
      return original ? llvm::StringRef(*original) : source->text();
    }
    size_t copied = 0;  // bytes of the source
  };
  std::map<std::string, File> files_;
};

/// Cost of each instruction of the entry and in all, as an aligned table or CSV.
void PrintCost(llvm::raw_ostream& os, const Module& module, bool csv);

/// The kernels that the platform makes of the module, or which way it computes what. `cpu`: also how passes
/// are run for platform gpu.
Status PrintCode(llvm::raw_ostream& os, const Module& module, CpuOptions cpu, const OptOptions& options);

/// The files of --aot, whole or not at all. Errors of AheadOfTimeCompiler::Finish() and OutputFile.
Status WriteAheadOfTime(AheadOfTimeCompiler& compiler, const OptOptions& options,
                        llvm::ArrayRef<std::string> inputs);

/// Where every value lies in memory, for platform gpu on the `machine`; null: elsewhere. `json`: as an
/// object. Errors of BufferAssignment::Compute.
Status PrintBuffers(llvm::raw_ostream& os, const Module& module, const compile::Machine* machine, bool json,
                    unsigned indent);

}  // namespace hlo

// Dump directories: what XLA's and our own dumps are called, and which of them belong together (tools.md
// §1.2).
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "ir/support/result.h"
#include "llvm/ADT/ArrayRef.h"

namespace hlo {

/// Where in a compilation a module was dumped; in the order of time.
enum class DumpStage : uint8_t { Before, Pass, After };

/// One module dump, `[TIMESTAMP.]module_NNNN.NAME.SUFFIX.txt`, its name taken apart.
struct DumpFile {
  std::string path;
  std::string module;  // NAME
  int64_t number = 0;  // NNNN
  DumpStage stage = DumpStage::Before;
  std::string target;  // After: `cpu`, `sm_8.0_gpu`; may be empty
  // Of a dump between two passes, SSSS.PIPELINE.after_PASS.before_NEXT; `next` is empty where a pass dumps a
  // step of its own:
  std::string order, pipeline, pass, next;
};

/// Takes a file name apart; nothing for files that are no module dumps.
std::optional<DumpFile> ParseDumpName(llvm::StringRef path);
/// The module dumps of a directory, by module name, number and order of time. Error input-open.
Result<std::vector<DumpFile>> ReadDumpDirectory(llvm::StringRef directory);

/// The dumps of one compilation in the order of time.
struct DumpSeries {
  std::string module;
  size_t occurrence = 0;  // among the compilations of modules of that name, from 0
  std::vector<DumpFile> steps;
};
/// Finds out which dumps show the same compilation: those of one module name and number, and, as numbers may
/// differ between stages, the n-th of one stage with the n-th of another. `files` as ReadDumpDirectory() has
/// them.
std::vector<DumpSeries> GroupDumps(llvm::ArrayRef<DumpFile> files);
/// The compilations that --module selects: by a regular expression for names, or by an index among all; all
/// of them if it is empty. Error usage-option for a bad expression.
Result<std::vector<DumpSeries>> SelectDumps(std::vector<DumpSeries> all, llvm::StringRef module);
/// The error input-empty: of `found` dumps in the directory none is wanted. `stage`: of --stage-in, or empty.
Diagnostic NoDumps(llvm::StringRef directory, size_t found, llvm::StringRef stage);
/// The error usage-name, with suggestions, that --module selects none of these.
Diagnostic NoSuchDump(llvm::StringRef module, llvm::ArrayRef<DumpSeries> all);

}  // namespace hlo

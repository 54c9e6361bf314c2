// The two sides of a comparison: reading and pairing modules.
#pragma once
#include "tools/common/sink.h"
#include "tools/diff/options.h"

namespace hlo {

/// A side without counterpart has an empty module opposite.
struct DiffModulePair {
  std::unique_ptr<Module> left, right;
  bool only_left = false, only_right = false;
};

struct DiffSides {
  std::string left_file, right_file;  // as reports name them
  std::vector<std::string> inputs;    // all files that were read
  std::vector<DiffModulePair> pairs;
};

/// Reads OLD and NEW: two files, the options of XLA's tool, or one file with exactly two modules. Several
/// modules of one side are paired by name, those of one name in order; if as many are left over on both
/// sides, these in order. Nothing after errors that have been reported.
Result<std::optional<DiffSides>> ReadSides(const HloDiffOptions& options, llvm::ArrayRef<std::string> files,
                                           llvm::StringRef stdin_text, DiagnosticSink& sink);

}  // namespace hlo

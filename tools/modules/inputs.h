// Module inputs of the tools: files, standard input, dump directories; one module after another (tools.md
// §1.2).
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backends/compile/program_source.h"
#include "ir/module.h"
#include "tools/common/common_options.h"
#include "tools/common/sink.h"

namespace hlo {

/// One module of the inputs, or the place where one should have been.
struct InputModule {
  std::string file;                // as diagnostics show it
  int64_t index = 0;               // among all modules of the inputs, from 0, before --module selects
  std::string name;                // empty if it could not be read
  SourcePtr source;                // null if the file could not be read
  size_t begin = 0, end = 0;       // its text within the source
  compile::ProgramSource program;  // the steps of the module, if its text begins with some
  std::shared_ptr<const std::string> original;  // the source with its log prefixes, if these are kept
  std::unique_ptr<Module> module;               // null: failed, and reported
  int64_t parse_ns = 0;                         // from text or message to module, verified
  std::vector<Literal> arguments;               // that a snapshot stores; empty for other inputs
  Literal result;                               // that a snapshot stores; null for other inputs
  std::vector<Diagnostic> diagnostics;          // of reading, parsing, verifying; in this order
};

/// Opens, splits, parses and verifies as the options say. Elided constants are filled by their policy.
class InputReader {
 public:
  /// `files` empty means standard input (or a usage error if that is a terminal). Nothing is read yet.
  InputReader(const CommonOptions& options, llvm::ArrayRef<std::string> files, llvm::StringRef stdin_text,
              DiagnosticSink& sink);
  /// Diagnostics go to the sink as they come (default), or only into InputModule::diagnostics.
  void set_report(bool report) { report_ = report; }
  /// Keeps texts as they were, for those who write them again.
  void KeepOriginals() { keep_originals_ = true; }
  /// The next module that --module selects; nothing at the end. The sink's module is begun. Files that
  /// cannot be read and modules that fail come out with a null module. With --fail-fast the first such
  /// one is the last.
  std::optional<InputModule> Next();
  /// True if Next() has nothing more to give.
  [[nodiscard]] bool at_end() const {
    return done_ || (next_chunk_ == chunks_.size() && next_file_ == files_.size() &&
                     next_argument_ == arguments_.size());
  }
  /// The files read so far and to come, directories expanded; "-" for standard input.
  [[nodiscard]] llvm::ArrayRef<std::string> files() const { return files_; }
  /// True if there is certainly no second module; known only after Next().
  [[nodiscard]] bool single() const {
    return arguments_.size() <= 1 && files_.size() <= 1 && chunks_.size() <= 1;
  }

 private:
  Status ReadArguments();
  Result<std::optional<std::string>> NextPath();
  Status ReadChunks(const std::string& path);
  bool OpenNextFile(InputModule& failed);
  bool Selected(llvm::StringRef name, int64_t index) const;
  void Fail(InputModule& module, Diagnostic error);
  void Load(InputModule& module);
  void Parse(InputModule& module);
  void ReadProto(InputModule& module);
  void Check(InputModule& module);
  void Deliver(InputModule& module, size_t from);

  const CommonOptions& options_;
  std::vector<std::string> arguments_, files_;
  llvm::StringRef stdin_text_;
  DiagnosticSink& sink_;
  bool report_ = true, done_ = false, expanded_ = false;
  size_t next_argument_ = 0, next_file_ = 0, next_chunk_ = 0;
  std::vector<Chunk> chunks_;
  std::vector<Diagnostic> file_warnings_;
  SourcePtr source_;
  std::shared_ptr<const std::string> original_;
  bool keep_originals_ = false;
  bool proto_ = false;  // source_ holds a message
  int64_t index_ = 0;
  std::optional<int64_t> wanted_index_;
  Regex wanted_name_;
};

/// The text of a whole file, or standard input (`stdin_text` if it has data); id input-open.
Result<std::string> ReadInputText(llvm::StringRef path, llvm::StringRef stdin_text);
enum class ProtoForm : uint8_t { None, Binary, Text };
/// In which form `file` holds a protocol buffer: what `wanted` says, or how the bytes begin.
ProtoForm FindProtoForm(llvm::StringRef file, llvm::StringRef text, InputFormat wanted);
/// Checks that the text of `file` is HLO text: not empty, no other format. A warning may be appended.
Status CheckFormat(llvm::StringRef file, llvm::StringRef text, InputFormat wanted,
                   std::vector<Diagnostic>& warnings);
/// The module dumps of an XLA dump directory that `stage` selects (before, after, pass:RE, all), by
/// module name and order of appearance; id input-empty if there are none.
Result<std::vector<std::string>> ListDumps(llvm::StringRef directory, llvm::StringRef stage);
/// Fills elided constants; returns the warning to show, if any were filled. Errors: elided-constant for
/// the policy `error`, runtime-memory.
Result<std::optional<Diagnostic>> FillElidedConstants(Module& module, ElidedPolicy policy,
                                                      llvm::StringRef file);

}  // namespace hlo

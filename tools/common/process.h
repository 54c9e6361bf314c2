// What only the process of a tool does: signals, limits, standard streams, reports of internal errors.
#pragma once
#include <functional>
#include <string>

#include "ir/module.h"
#include "tools/common/common_options.h"
#include "tools/common/options.h"
#include "tools/common/sink.h"
#include "tools/common/tool_main.h"

namespace hlo {

/// The body of main(): runs `tool` with the process's streams; `command` is what it is called by. Ctrl-C,
/// SIGTERM and SIGHUP ask the tool to stop (then 128+n is returned); a fatal signal writes `hlo-crash-PID/`
/// (tools.md §1.7), or says why not; data that cannot be written to standard output is an error.
int RunToolProcess(ToolMain& tool, llvm::ArrayRef<const char*> command, llvm::ArrayRef<const char*> args);

/// Limits the address space of the process: going beyond ends it with exit code 8. Only within
/// RunToolProcess, where the process is the tool's; elsewhere no effect.
void LimitProcessMemory(int64_t bytes);

/// Runs what a tool is for under what the common options say: threads, time and memory limits, where crash
/// reports go. Reports an error of `work`; returns the exit code.
int RunUnderLimits(const CommonOptions& options, const CommandLine& command_line, DiagnosticSink& sink,
                   llvm::function_ref<Status()> work);

/// Prepares the heap for about so many more bytes, so that growing costs few page faults. Only within
/// RunToolProcess.
void ExpectAllocations(size_t bytes);

/// Leaves the module to the end of the process, which frees faster. Outside RunToolProcess it is deleted.
void LeaveToProcessEnd(std::unique_ptr<Module> module);

/// Writes the arguments of the run that failed to a file.
using WriteCrashArguments = std::function<void(llvm::StringRef path)>;

/// Tells crash reports what the tool is doing. Texts must stay alive until the scope's end. One at a time
/// per process.
class CrashScope {
 public:
  /// `phase` as in "parsing"; `module` the module's text, may be empty. `write_arguments`, if any, is called
  /// in a child of the crashed process, with one thread, for a few seconds at most and within the time limit.
  CrashScope(const char* phase, llvm::StringRef module, WriteCrashArguments write_arguments = {});
  ~CrashScope();
  CrashScope(const CrashScope&) = delete;
  CrashScope& operator=(const CrashScope&) = delete;
};
/// Names what is being done within the present scope; the text must stay alive like the scope's.
void SetCrashPhase(const char* phase);
/// Lines that are printed, from the next one on, should memory end: about what needs most of it.
void SetMemoryNotes(std::string notes);
/// Where a reproducer of this process goes: `hlo-crash-PID` under the folder for crash reports.
std::string ReproducerFolder();
/// Where crash reports go; empty: $TMPDIR, else /tmp.
void SetReproducerDirectory(llvm::StringRef directory);
/// The command line that run.sh repeats: with the module and the arguments of the report for its own.
void SetCrashCommand(const CommandLine& command_line);

}  // namespace hlo

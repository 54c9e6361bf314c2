#include "tools/testing/runner.h"

#include "ir/support/cpu_features.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Regex.h"
#include "tools/testing/execution.h"
#include "tools/testing/file_check.h"

namespace hlo::testing {
namespace {

constexpr size_t kShownBytes = 4000;  // of each stream in the log of a failure

/// A diagnostic as a tool printed it.
struct Printed {
  Severity severity = Severity::Error;
  unsigned line = 0;  // 0: without position in the chunk
  llvm::StringRef text;
  bool expected = false;
};

/// Parses `FILE:LINE:COLUMN: SEVERITY: TEXT`, `FILE: SEVERITY: TEXT` and `SEVERITY: TEXT`.
std::optional<Printed> ParsePrinted(llvm::StringRef line, llvm::StringRef path) {
  Printed printed;
  if (line.consume_front(path) || line.consume_front("<stdin>")) {
    unsigned column = 0;
    if (!line.consume_front(":")) return std::nullopt;
    if (!line.starts_with(" ") && (line.consumeInteger(10, printed.line) || !line.consume_front(":") ||
                                   line.consumeInteger(10, column) || !line.consume_front(":")))
      return std::nullopt;
    if (!line.consume_front(" ")) return std::nullopt;
  }
  for (const Severity severity : {Severity::Error, Severity::Warning, Severity::Note, Severity::Remark}) {
    llvm::StringRef rest = line;
    if (!rest.consume_front(ToString(severity)) || !rest.consume_front(": ")) continue;
    printed.severity = severity;
    printed.text = rest;
    return printed;
  }
  return std::nullopt;
}

/// True if `text` contains the annotation, whose `{{...}}` are regular expressions.
bool Contains(llvm::StringRef text, llvm::StringRef annotation) {
  if (!annotation.contains("{{")) return text.contains(annotation);
  std::string pattern;
  while (!annotation.empty()) {
    const auto [literal, rest] = annotation.split("{{");
    const auto [regex, remainder] = rest.split("}}");
    pattern += llvm::Regex::escape(literal);
    if (!regex.empty()) pattern += "(" + regex.str() + ")";
    annotation = remainder;
  }
  return llvm::Regex(pattern).match(text);
}

/// Compares printed diagnostics with the annotations: errors one to one, warnings too as soon as one is
/// annotated, notes and remarks only as far as they are annotated.
std::string CompareDiagnostics(const TestCase& test, llvm::StringRef err, llvm::StringRef path) {
  std::vector<Printed> printed;
  llvm::SmallVector<llvm::StringRef> lines;
  err.split(lines, '\n');
  for (const llvm::StringRef line : lines)
    if (auto p = ParsePrinted(line, path)) printed.push_back(*p);
  std::string log;
  bool warnings_matter = false;
  for (const Annotation& a : test.annotations) {
    warnings_matter |= a.severity == Severity::Warning;
    auto it = llvm::find_if(printed, [&](const Printed& p) {
      return !p.expected && p.severity == a.severity && p.line == a.line && Contains(p.text, a.text);
    });
    if (it != printed.end())
      it->expected = true;
    else
      log += llvm::formatv("{0}:{1}: no {2} at line {3} contains '{4}'\n", test.path, a.annotated_line,
                           ToString(a.severity), a.line, a.text);
  }
  for (const Printed& p : printed) {
    const bool matters =
        p.severity == Severity::Error || (p.severity == Severity::Warning && warnings_matter);
    if (!p.expected && matters)
      log += llvm::formatv("{0}:{1}: unexpected {2}: {3}\n", test.path, p.line, ToString(p.severity), p.text);
  }
  return log;
}

bool ExpectsErrors(const TestCase& test) {
  return llvm::any_of(test.annotations, [](const Annotation& a) { return a.severity == Severity::Error; });
}

void WriteFile(const std::string& path, llvm::StringRef text) {
  std::error_code error;
  llvm::raw_fd_ostream os(path, error);
  if (!error) os << text;
}

std::optional<std::string> ReadFile(const std::string& path) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer) return std::nullopt;
  return (*buffer)->getBuffer().str();
}

/// Reads the arguments of a FileCheck stage; nothing if one is not understood.
std::optional<FileCheckOptions> ParseFileCheckOptions(llvm::ArrayRef<std::string> words,
                                                      std::string& check_path) {
  FileCheckOptions options;
  for (const llvm::StringRef word : words) {
    llvm::StringRef value = word;
    if (value.consume_front("--check-prefix=") || value.consume_front("--check-prefixes=") ||
        value.consume_front("-check-prefix=")) {
      options.prefixes.clear();
      for (const llvm::StringRef prefix : llvm::split(value, ',')) options.prefixes.push_back(prefix.str());
    } else if (value.consume_front("--implicit-check-not=")) {
      options.implicit_check_not.push_back(value.str());
    } else if (!word.starts_with("-") && check_path.empty()) {
      check_path = word.str();
    } else {
      return std::nullopt;
    }
  }
  return options;
}

std::string Shown(llvm::StringRef title, llvm::StringRef text) {
  if (text.empty()) return "";
  std::string result = ("--- " + title + "\n" + text.take_front(kShownBytes)).str();
  if (text.size() > kShownBytes) result += llvm::formatv("\n... ({0} bytes)", text.size());
  if (!llvm::StringRef(result).ends_with("\n")) result += '\n';
  return result;
}

}  // namespace

std::string Runner::Readable(const TestCase& test, llvm::StringRef text) const {
  std::string result;
  for (size_t at = 0; (at = text.find(module_path_)) != llvm::StringRef::npos;) {
    result += text.take_front(at);
    result += test.path;
    text = text.drop_front(at + module_path_.size());
  }
  return result + text.str();
}

void Runner::AddCaseArguments(const TestCase& test, std::vector<std::string>& words) const {
  if (words.front() != "hlo-run") return;
  auto mentions = [&](llvm::StringRef option) {
    return llvm::any_of(words, [&](llvm::StringRef word) { return word.contains(option); });
  };
  // Equal values, any NaN for any NaN, unless the command says otherwise.
  const bool bounded = mentions("-error") || mentions("--tolerance");
  for (const std::string& input : test.inputs) words.push_back("--input=" + input);
  for (const std::string& expected : test.expected) words.push_back("--expected=" + expected);
  if (!test.expected.empty() && !bounded) words.insert(words.end(), {"--abs-error=0", "--rel-error=0"});
  // What the rounding of the module itself allows in each element, else the same bits; bounds of the command
  // are for the types that it names.
  const bool all = mentions("-error") || mentions("=exact") || mentions("=arrays") || mentions("=elements");
  if (test.expected.empty() && !all && mentions("--reference-platform"))
    words.emplace_back("--tolerance=elements");
}

bool Runner::RunStage(const TestCase& test, const Stage& stage, llvm::StringRef input, Streams& streams,
                      Outcome& outcome) {
  const std::string& program = stage.words.front();
  const auto arguments = llvm::ArrayRef(stage.words).drop_front();
  if (program == "FileCheck") {
    std::string check_path;
    const auto options = ParseFileCheckOptions(arguments, check_path);
    const auto checks = options ? ReadFile(check_path) : std::nullopt;
    if (!checks) {
      outcome.log += "FileCheck: malformed arguments or unreadable check file\n";
      return false;
    }
    const std::string why = RunFileCheck(*checks, test.path, input, *options);
    outcome.log += why;
    return why.empty() != stage.negated;
  }
  if (program == "cat") {
    for (const std::string& path : arguments)
      streams.out += ReadFile(path).value_or("cat: cannot read " + path + "\n");
    return true;
  }
  const auto tool = tools_.find(program);
  if (tool == tools_.end()) {
    outcome.log += "unknown program '" + program + "'\n";
    return false;
  }
  std::vector<std::string> words = stage.words;
  AddCaseArguments(test, words);
  std::vector<const char*> args;
  for (const std::string& word : llvm::drop_begin(words)) args.push_back(word.c_str());
  llvm::raw_string_ostream out(streams.out), err(stage.merge_stderr ? streams.out : streams.err);
  streams.exit_code = tool->second(args, input, out, err);
  return true;
}

void Runner::CheckPasses(const TestCase& test, const Stage& stage, Outcome& outcome) {
  const bool has_passes =
      stage.words.front() == "hlo-opt" && llvm::any_of(stage.words, [](llvm::StringRef word) {
        return word.starts_with("--passes=") || word.starts_with("-O");
      });
  if (!has_passes || stage.negated || ExpectsErrors(test) || test.exit_code.value_or(0) != 0) return;
  if (!test.no_execution.empty()) {
    ++outcome.not_executed;
    return;
  }
  const auto run = ParsePassRun(llvm::ArrayRef(stage.words).drop_front());
  if (!run) return;  // the command itself has failed
  outcome.log += CheckExecution(test.text, *run, !test.inexact.empty());
  ++outcome.executed;
}

void Runner::RunCommand(const TestCase& test, const RunLine& run, Outcome& outcome) {
  llvm::StringMap<std::string> substitutions;
  substitutions["s"] = module_path_;
  substitutions["t"] = folder_ + "/tmp";
  substitutions["calls"] = HLO_CUSTOM_CALL_TARGETS;
  substitutions["libraries"] = HLO_STAND_INS;
  substitutions["S"] = llvm::sys::path::parent_path(test.path).str();
  auto stages = ParseCommand(run.command, substitutions);
  if (!stages) {
    outcome.log += stages.error().message + "\n";
    return;
  }
  const bool names_file_check = llvm::any_of(
      test.runs, [](const RunLine& r) { return llvm::StringRef(r.command).contains("FileCheck"); });
  if (test.has_checks && !names_file_check) {
    Stage check;
    check.words = {"FileCheck", module_path_};
    stages->push_back(std::move(check));
  }
  std::string input, err;
  int exit_code = 0;
  bool ok = true, negated = false;
  for (const Stage& stage : *stages) {
    Streams streams;
    if (!stage.stdin_path.empty()) input = ReadFile(stage.stdin_path).value_or("");
    ok = RunStage(test, stage, input, streams, outcome);
    if (!ok) break;
    if (stage.words.front() == "FileCheck") continue;
    negated |= stage.negated;
    err += streams.err;
    if (exit_code == 0) exit_code = streams.exit_code;
    if (!stage.stdout_path.empty()) {
      WriteFile(stage.stdout_path, streams.out);
      streams.out.clear();
    }
    input = std::move(streams.out);
  }
  if (outcome.output.empty()) outcome.output = input;
  // Commands that only move text around prepare the case and expect nothing.
  const bool runs_tool =
      llvm::any_of(*stages, [&](const Stage& s) { return tools_.contains(s.words.front()); });
  if (ok && outcome.log.empty() && !runs_tool) return;

  const bool may_fail = negated || ExpectsErrors(test);
  const bool code_ok = test.exit_code ? exit_code == *test.exit_code : may_fail == (exit_code != 0);
  if (!code_ok) {
    const std::string wanted = test.exit_code ? std::to_string(*test.exit_code) : may_fail ? "not 0" : "0";
    outcome.log += llvm::formatv("exit code {0}, expected {1}\n", exit_code, wanted);
  }
  if (!test.annotations.empty()) outcome.log += CompareDiagnostics(test, Readable(test, err), test.path);
  for (const std::string& text : test.stderr_texts)
    if (!Contains(Readable(test, err), text))
      outcome.log += "the error output does not contain '" + text + "'\n";
  if (ok && outcome.log.empty()) CheckPasses(test, stages->front(), outcome);
  if (!ok || !outcome.log.empty())
    outcome.log += Shown("output", Readable(test, input)) + Shown("error output", Readable(test, err));
}

Runner::Outcome Runner::Run(const TestCase& test) {
  Outcome outcome;
  module_path_ = folder_ + "/" + llvm::sys::path::filename(test.path).str();
  WriteFile(module_path_, test.PaddedText());
  for (const RunLine& run : test.runs) {
    if (!llvm::all_of(run.features, [](llvm::StringRef feature) { return HasCpuFeatures({feature}); })) {
      ++outcome.left_out;
      continue;
    }
    RunCommand(test, run, outcome);
    if (outcome.log.empty()) continue;
    outcome.passed = false;
    outcome.log = llvm::formatv("FAIL {0}\n{1}:{2}: RUN: {3}\n{4}", test.name(), test.path, run.line,
                                run.command, outcome.log);
    break;
  }
  return outcome;
}

}  // namespace hlo::testing

#include "tools/modules/inputs.h"

#include <unistd.h>

#include <chrono>

#include "ir/support/input_file.h"
#include "ir/support/interrupt.h"
#include "ir/verify.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "tools/common/gzip.h"
#include "tools/common/process.h"
#include "tools/modules/graph_input.h"
#include "tools/proto/read_module.h"
#include "tools/proto/text_form.h"

namespace hlo {
namespace {

std::string DisplayName(llvm::StringRef path) { return path == "-" ? "<stdin>" : path.str(); }

Diagnostic FileError(DiagnosticId id, llvm::StringRef path, std::string message) {
  Diagnostic error;
  error.id = id;
  error.message = std::move(message);
  error.file = DisplayName(path);
  return error;
}

/// Prepares for a text of that size and the module it describes.
void ExpectModule(size_t text_bytes) {
  constexpr size_t kBytesPerByteOfText = 6;  // of a module and its text, in the mean
  ExpectAllocations(text_bytes * kBytesPerByteOfText);
}

/// The text of a regular file, read to where it stays: mapping it would cost a fault per page. Nothing if the
/// path names something else, or on any error.
std::optional<std::string> ReadRegularFile(llvm::StringRef path) {
  namespace fs = llvm::sys::fs;
  auto file = fs::openNativeFileForRead(path);
  if (!file) {
    llvm::consumeError(file.takeError());
    return std::nullopt;
  }
  std::optional<std::string> text;
  fs::file_status status;
  if (!fs::status(*file, status) && fs::is_regular_file(status) && status.getSize() <= UINT32_MAX) {
    ExpectModule(status.getSize());
    text.emplace(status.getSize(), '\0');
    size_t done = 0;
    while (text && done < text->size()) {
      auto count = fs::readNativeFile(*file, {text->data() + done, text->size() - done});
      if (!count) {
        llvm::consumeError(count.takeError());
        text.reset();
      } else if (*count == 0) {
        text->resize(done);
      } else {
        done += *count;
      }
    }
  }
  [[maybe_unused]] const std::error_code closed = fs::closeFile(*file);  // was only read
  return text;
}

/// The module's name if the text says it at its start, so that others need not be parsed.
std::optional<llvm::StringRef> PeekName(llvm::StringRef text) {
  const size_t at = text.find("HloModule");
  if (at == llvm::StringRef::npos) return std::nullopt;
  for (const llvm::StringRef line : llvm::split(text.take_front(at), '\n')) {
    const llvm::StringRef trimmed = line.trim();
    if (!trimmed.empty() && !trimmed.starts_with("//")) return std::nullopt;
  }
  const llvm::StringRef rest = text.drop_front(at + 9).ltrim(" \t");
  llvm::StringRef name = rest.take_until([](char c) { return llvm::isSpace(c) || c == ','; });
  name.consume_front("%");
  return name;
}

}  // namespace

Result<std::string> ReadInputText(llvm::StringRef path, llvm::StringRef stdin_text) {
  if (path == "-" && stdin_text.data() != nullptr) return stdin_text.str();
  if (auto text = path == "-" ? std::nullopt : ReadRegularFile(path)) return std::move(*text);
  auto buffer = ReadInputFile(path, UINT32_MAX);
  if (!buffer && Interrupted()) return Error(InterruptedError());
  if (!buffer) return Error(FileError("input-open", path, "cannot open: " + buffer.getError().message()));
  if ((*buffer)->getBufferSize() > UINT32_MAX)
    return Error(FileError("input-open", path, "file has more than 4 GB of text"));
  ExpectModule((*buffer)->getBufferSize());
  return (*buffer)->getBuffer().str();
}

InputReader::InputReader(const CommonOptions& options, llvm::ArrayRef<std::string> files,
                         llvm::StringRef stdin_text, DiagnosticSink& sink)
    : options_(options), arguments_(files.begin(), files.end()), stdin_text_(stdin_text), sink_(sink) {
  int64_t index = 0;
  if (!options.module.empty() && !llvm::StringRef(options.module).getAsInteger(10, index))
    wanted_index_ = index;
}

bool InputReader::Selected(llvm::StringRef name, int64_t index) const {
  if (wanted_index_) return *wanted_index_ == index;
  return wanted_name_.Matches(name);
}

void InputReader::Fail(InputModule& module, Diagnostic error) {
  module.module = nullptr;
  module.diagnostics.push_back(std::move(error));
}

/// Reports the diagnostics from number `from` on.
void InputReader::Deliver(InputModule& module, size_t from) {
  if (!report_) return;
  for (size_t i = from; i < module.diagnostics.size(); ++i) sink_.Report(module.diagnostics[i]);
}

/// Standard input if there are no arguments, and what --module looks for; once.
Status InputReader::ReadArguments() {
  if (std::exchange(expanded_, true)) return {};
  if (arguments_.empty()) {
    if (stdin_text_.data() == nullptr && isatty(STDIN_FILENO) != 0)
      return Error("usage-input", {}, "no input: name a file, '-' for standard input, or a dump directory");
    arguments_.emplace_back("-");
  }
  if (wanted_index_ || options_.module.empty()) return {};
  auto regex = Regex::Compile(options_.module);
  if (!regex) {
    arguments_.clear();
    return Error(std::move(regex).error());
  }
  wanted_name_ = std::move(*regex);
  return {};
}

/// The next file, of directories their dumps; nothing at the end of the inputs.
Result<std::optional<std::string>> InputReader::NextPath() {
  HLO_CHECK_OK(ReadArguments());
  while (next_file_ == files_.size()) {
    if (next_argument_ == arguments_.size()) return std::nullopt;
    const std::string& argument = arguments_[next_argument_++];
    if (argument == "-" || !llvm::sys::fs::is_directory(argument)) {
      files_.push_back(argument);
      break;
    }
    HLO_TRY(const std::vector<std::string> dumps, ListDumps(argument, options_.stage_in));
    llvm::append_range(files_, dumps);
  }
  return files_[next_file_++];
}

/// Makes source_ and chunks_ those of a file.
Status InputReader::ReadChunks(const std::string& path) {
  HLO_TRY(std::string text, ReadInputText(path, stdin_text_));
  if (LooksLikeGzip(text)) {
    HLO_TRY(text, Gunzip(text));
  }
  const bool json = options_.input_format == InputFormat::Json ||
                    (options_.input_format == InputFormat::Auto && LooksLikeJson(text));
  const ProtoForm form = json ? ProtoForm::None : FindProtoForm(path, text, options_.input_format);
  proto_ = form != ProtoForm::None;
  if (json) {
    HLO_TRY(text, GraphJsonToHlo(std::make_shared<SourceBuffer>(DisplayName(path), std::move(text))));
  } else if (proto_) {
    if (form == ProtoForm::Text) {
      source_ = std::make_shared<SourceBuffer>(DisplayName(path), std::move(text));  // errors point there
      HLO_TRY(text, ProtoTextToBytes(source_));
    }
    source_ = std::make_shared<SourceBuffer>(DisplayName(path), std::move(text));
    original_ = nullptr;
    chunks_ = {{0, source_->text().size()}};
    return {};
  } else {
    HLO_CHECK_OK(CheckFormat(path, text, options_.input_format, file_warnings_));
  }
  original_ = keep_originals_ && !json ? std::make_shared<const std::string>(text) : nullptr;
  source_ = std::make_shared<SourceBuffer>(DisplayName(path), BlankLogPrefixes(std::move(text)));
  chunks_ = options_.split_input_file ? SplitChunks(*source_, file_warnings_)
                                      : std::vector<Chunk>{{0, source_->text().size()}};
  return {};
}

/// Makes chunks_ those of the next file. False at the end of the inputs; a file that fails leaves no
/// chunks and its error in `failed`.
bool InputReader::OpenNextFile(InputModule& failed) {
  auto path = NextPath();
  if (!path) {
    failed.file = path.error().file;
    Fail(failed, std::move(path).error());
    return true;
  }
  if (!*path) return false;
  failed.file = DisplayName(**path);
  if (auto status = ReadChunks(**path); !status) {
    Diagnostic error = std::move(status).error();
    if (error.file.empty()) error.file = failed.file;
    if (error.loc.valid()) failed.source = source_;
    Fail(failed, std::move(error));
  } else if (chunks_.empty()) {
    // Nothing but comments: a module was expected where they end.
    Diagnostic error = FileError("input-empty", **path, "no HLO module in input");
    const auto end = static_cast<uint32_t>(source_->text().size());
    error.loc = {source_.get(), end, end};
    failed.source = source_;
    Fail(failed, std::move(error));
  }
  return true;
}

/// Parses the text of `module`.
void InputReader::Parse(InputModule& module) {
  if (module.program.exists() && module.begin == module.end) {
    const auto end = static_cast<uint32_t>(module.end);
    return Fail(module, MakeError("program-text", {module.source.get(), end, end},
                                  "found the end of a program, expected its module, 'HloModule ...'"));
  }
  ParseOptions parse;
  parse.max_errors = static_cast<unsigned>(std::max<int64_t>(options_.max_errors, 0));
  parse.unknown_attributes = options_.unknown_attributes;
  ParseResult parsed = ParseModule(module.source, parse, module.begin, module.end);
  llvm::append_range(module.diagnostics, parsed.diagnostics);
  module.module = std::move(parsed.module);
}

/// Reads the message of `module`.
void InputReader::ReadProto(InputModule& module) {
  auto read = ReadModuleProto(module.source);
  if (!read) return Fail(module, std::move(read).error());
  llvm::append_range(module.diagnostics, read->remarks);
  module.module = std::move(read->module);
  module.arguments = std::move(read->arguments);
  module.result = std::move(read->result);
}

/// Reads and verifies `module`. What the parser checks of text, the verifier does of messages: always.
void InputReader::Load(InputModule& module) {
  const CrashScope crash("reading a module", module.source->text().slice(module.begin, module.end));
  const size_t from = module.diagnostics.size();
  proto_ ? ReadProto(module) : Parse(module);
  if (module.module) Check(module);
  if (!proto_) return;
  for (Diagnostic& d : llvm::MutableArrayRef(module.diagnostics).drop_front(from))
    if (d.file.empty()) d.file = module.file;
}

void InputReader::Check(InputModule& module) {
  module.name = module.module->name().str();
  if (!Selected(module.name, module.index)) return;
  if (proto_ || options_.verify == VerifyMode::Input || options_.verify == VerifyMode::Each) {
    std::vector<Diagnostic> violations = Verify(*module.module);
    if (llvm::any_of(violations, [](const Diagnostic& d) { return d.severity == Severity::Error; }))
      module.module = nullptr;
    llvm::append_range(module.diagnostics, violations);
    if (!module.module) return;
  }
  if (Interrupted()) return Fail(module, InterruptedError());
  auto filled = FillElidedConstants(*module.module, options_.elided_constants, module.file);
  if (!filled)
    Fail(module, std::move(filled).error());
  else if (*filled)
    module.diagnostics.push_back(std::move(**filled));
}

std::optional<InputModule> InputReader::Next() {
  while (!done_) {
    InputModule result;
    if (next_chunk_ == chunks_.size()) {
      chunks_.clear();
      next_chunk_ = 0;
      if (!OpenNextFile(result)) {
        done_ = true;
        break;
      }
      if (!result.diagnostics.empty()) {
        chunks_.clear();
        file_warnings_.clear();
        result.index = index_++;
        sink_.BeginModule("");
        Deliver(result, 0);
        done_ = options_.fail_fast;
        return result;
      }
    }
    const Chunk chunk = chunks_[next_chunk_++];
    result.file = source_->name().str();
    result.source = source_;
    result.original = original_;
    result.begin = chunk.begin;
    result.end = chunk.end;
    if (!proto_)
      if (const auto module = compile::FindModuleOfProgram(source_->text().slice(chunk.begin, chunk.end))) {
        result.program = {source_, chunk.begin, chunk.begin + *module};
        result.begin += *module;
      }
    result.index = index_++;
    const auto peeked = proto_ ? std::nullopt : PeekName(source_->text().slice(result.begin, result.end));
    if (peeked) result.name = peeked->str();
    if ((peeked || wanted_index_) && !Selected(result.name, result.index)) {
      if (!Interrupted()) continue;
      Fail(result, InterruptedError());
      Deliver(result, 0);
      done_ = true;
      return result;
    }
    result.diagnostics = std::exchange(file_warnings_, {});
    const auto start = std::chrono::steady_clock::now();
    Load(result);
    const auto loaded = std::chrono::steady_clock::now() - start;
    result.parse_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(loaded).count();
    if (result.module && !Selected(result.name, result.index)) continue;
    sink_.BeginModule(result.name);
    Deliver(result, 0);
    if (sink_.stopped() || (!result.module && options_.fail_fast)) done_ = true;
    return result;
  }
  return std::nullopt;
}

}  // namespace hlo

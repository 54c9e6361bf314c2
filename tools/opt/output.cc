#include "tools/opt/output.h"

#include "llvm/Support/Path.h"
#include "tools/opt/check_block.h"

namespace hlo {
namespace {

/// A file name from a module's name: what file systems may not like becomes `_`.
std::string FileStem(llvm::StringRef name) {
  std::string stem = name.take_front(100).str();
  for (char& c : stem)
    if (!llvm::isAlnum(c) && c != '.' && c != '-' && c != '_') c = '_';
  if (stem.empty() || stem.front() == '.') stem.insert(0, "_");
  return stem;
}

}  // namespace

Status OptOutput::Open(llvm::StringRef path, llvm::ArrayRef<std::string> inputs) {
  std::vector<std::string> all(arguments_.begin(), arguments_.end());
  all.insert(all.end(), inputs.begin(), inputs.end());
  HLO_TRY(file_, OutputFile::Open(path, out_, all));
  return {};
}

Result<llvm::raw_ostream*> OptOutput::Begin(const Module& module, OptStage stage,
                                            llvm::ArrayRef<std::string> inputs) {
  if (!options_.output_directory.empty()) {
    HLO_CHECK_OK(Finish());
    std::string stem = FileStem(module.name());
    if (const int seen = names_[stem]++; seen > 0) stem += "." + std::to_string(seen);
    llvm::SmallString<128> path(options_.output_directory);
    llvm::sys::path::append(path, stem + Info(stage).extension);
    HLO_CHECK_OK(Open(path, inputs));
    return &file_->stream();
  }
  if (!file_) HLO_CHECK_OK(Open(options_.common.output, inputs));
  const bool whole = !options_.print_fingerprint;
  const bool object = stage == OptStage::Code && options_.code == CodeForm::Object;
  if (modules_ > 0 && whole && (Info(stage).single || object))
    return Error("usage-option", {}, "a file of this form holds one module; --module chooses one");
  if (modules_ == 0 && whole && Info(Info(stage).form).binary && file_->stream().is_displayed())
    return Error("usage-option", {}, "binary output is not written to a terminal; -o names a file");
  if (modules_++ > 0 && Info(stage).hlo && !options_.print_fingerprint)
    file_->stream() << options_.split_marker << '\n';
  return &file_->stream();
}

void OptOutput::Drop() {
  if (!file_ || file_->stream().tell() > 0) return;
  file_.reset();
  modules_ = 0;
}

Status OptOutput::Write(llvm::StringRef text, llvm::ArrayRef<std::string> inputs) {
  if (!file_) HLO_CHECK_OK(Open(options_.common.output, inputs));
  file_->stream() << text;
  return {};
}

Status OptOutput::Finish() {
  if (!file_) return {};
  Status status = file_->Commit();
  file_.reset();
  return status;
}

Status CheckUpdater::Add(const InputModule& input, llvm::StringRef output) {
  File& file = files_[input.file];
  if (!file.source) file.source = input.source, file.original = input.original;
  const llvm::StringRef all = file.Text();
  file.text += all.slice(file.copied, input.begin);
  const llvm::StringRef chunk = all.slice(input.begin, input.end);
  file.copied = input.end;
  if (auto updated = ReplaceCheckBlock(chunk, output)) {
    file.text += *updated;
    return {};
  }
  const auto lines = llvm::split(chunk, '\n');
  if (llvm::any_of(lines, IsCheckLine)) {
    file.text += chunk;
    const auto at = static_cast<uint32_t>(input.begin + (chunk.size() - chunk.ltrim().size()));
    return Error("usage-update", Loc{input.source.get(), at, at},
                 "the CHECK lines of this module have no banner '{0}', so they are not generated ones",
                 kCheckBanner);
  }
  // Above the module, below the marker and the comments that head the chunk.
  size_t head = 0;
  for (llvm::StringRef rest = chunk; rest.ltrim().starts_with("//") || rest.starts_with("\n");) {
    const size_t end = rest.find('\n');
    if (end == llvm::StringRef::npos) break;
    head += end + 1;
    rest = rest.drop_front(end + 1);
  }
  file.text += chunk.take_front(head);
  file.text += (kCheckBanner + "\n").str() + GenerateChecks(output);
  file.text += chunk.drop_front(head);
  return {};
}

Status CheckUpdater::Write(bool in_place, OptOutput& output) {
  for (auto& [name, file] : files_) {
    file.text += file.Text().drop_front(file.copied);
    if (!in_place) {
      HLO_CHECK_OK(output.Write(file.text, {}));
    } else if (name == "<stdin>") {
      return Error("usage-update", {}, "option '--in-place': standard input cannot be rewritten");
    } else {
      HLO_CHECK_OK(WriteFile(name, file.text, llvm::nulls()));
    }
  }
  return {};
}

}  // namespace hlo

#include "backends/gpu/runtime/tuning_results.h"

#include <array>

#include "ir/support/input_file.h"
#include "ir/support/temporary_files.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/xxhash.h"

namespace hlo::gpu {
namespace {

constexpr llvm::StringLiteral kHeading =
    "# Schedules of kernels by hlo-run --autotune: TARGET DEVICE KERNEL NANOSECONDS SCHEDULE\n";

tl::unexpected<Diagnostic> Refuse(const std::string& file, size_t line, llvm::StringRef text) {
  constexpr size_t kShown = 60;
  Diagnostic error = MakeError(
      "input-format", {},
      "line {0} of results of tuning: found '{1}', expected TARGET DEVICE KERNEL NANOSECONDS SCHEDULE", line,
      text.take_front(kShown));
  error.file = file;
  return Error(std::move(error));
}

}  // namespace

std::string TuningResults::HashOf(llvm::StringRef target, llvm::StringRef kernel) {
  constexpr unsigned kDigits = 2 * sizeof(uint64_t);
  const std::string both = (target + "\n" + kernel).str();
  const llvm::XXH128_hash_t hash = llvm::xxh3_128bits(llvm::arrayRefFromStringRef(both));
  return llvm::utohexstr(hash.high64, /*LowerCase=*/true, kDigits) +
         llvm::utohexstr(hash.low64, true, kDigits);
}

Result<TuningResults> TuningResults::Read(const std::string& file) {
  TuningResults results;
  const auto buffer = ReadInputFile(file, kMostBytes);
  if (!buffer && buffer.getError() == std::errc::no_such_file_or_directory) return results;
  if (!buffer) {
    Diagnostic error = MakeError("input-open", {}, "cannot open: {0}", buffer.getError().message());
    error.file = file;
    return Error(std::move(error));
  }
  size_t number = 0;
  for (llvm::StringRef rest = (*buffer)->getBuffer(); !rest.empty();) {
    llvm::StringRef line;
    std::tie(line, rest) = rest.split('\n');
    ++number;
    line = line.trim();
    if (line.empty() || line.starts_with("#")) continue;
    std::array<llvm::StringRef, 4> words;
    llvm::StringRef schedule = line;
    for (llvm::StringRef& word : words) std::tie(word, schedule) = schedule.ltrim().split(' ');
    Entry entry{0, schedule.trim().str()};
    if (words[3].getAsDouble(entry.nanoseconds) || entry.schedule.empty()) return Refuse(file, number, line);
    results.Add({words[0].str(), words[1].str(), words[2].str()}, std::move(entry));
  }
  return results;
}

const TuningResults::Entry* TuningResults::Find(const Key& key) const {
  const auto it = entries_.find(key);
  return it == entries_.end() ? nullptr : &it->second;
}

Status TuningResults::Write(const std::string& file) const {
  HLO_TRY(TuningResults all, Read(file));
  for (const auto& [key, entry] : entries_) all.Add(key, entry);
  std::string text = kHeading.str();
  for (const auto& [key, entry] : all.entries_)
    text += llvm::formatv("{0} {1} {2} {3:F3} {4}\n", key.target, key.device, key.kernel, entry.nanoseconds,
                          entry.schedule)
                .str();
  std::error_code error = llvm::sys::fs::create_directories(llvm::sys::path::parent_path(file));
  if (!error) error = WriteWholeFile(file, text);
  if (!error) return {};
  Diagnostic told = MakeError("output-write", {}, "cannot write results of tuning: {0}", error.message());
  told.file = file;
  return Error(std::move(told));
}

}  // namespace hlo::gpu

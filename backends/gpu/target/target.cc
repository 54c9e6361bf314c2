#include "backends/gpu/target/target.h"

#include <optional>

#include "backends/kernel/threads.h"
#include "ir/support/input_file.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"

namespace hlo::gpu {
namespace {

using MatrixUnit = compile::Machine::MatrixUnit;

/// A key of a description whose value is a number.
struct NumberRow {
  llvm::StringLiteral key;
  int64_t Target::* member;
  int64_t least, most;
};
constexpr int64_t kMega = int64_t{1} << 20, kTera = int64_t{1} << 40;
constexpr NumberRow kNumbers[] = {
    {"multiprocessors", &Target::multiprocessors, 1, 4096},
    {"threads_per_multiprocessor", &Target::threads_per_multiprocessor, 32, 65536},
    {"blocks_per_multiprocessor", &Target::blocks_per_multiprocessor, 1, 4096},
    {"threads_per_block", &Target::threads_per_block, 32, kernel::kMaxThreads},
    {"warp", &Target::warp, 32, 32},  // masks of lanes have 32 bits
    {"registers_per_multiprocessor", &Target::registers_per_multiprocessor, 1024, kMega},
    {"registers_per_thread", &Target::registers_per_thread, 16, 1024},
    {"shared_memory_per_multiprocessor", &Target::shared_memory_per_multiprocessor, 1024, 64 * kMega},
    {"shared_memory_per_block", &Target::shared_memory_per_block, 1024, 64 * kMega},
    {"static_shared_memory", &Target::static_shared_memory, 1024, 64 * kMega},
    {"l2_bytes", &Target::l2_bytes, 1024, kTera},
    {"memory_bytes", &Target::memory_bytes, kMega, 1024 * kTera},
    {"memory_bandwidth", &Target::memory_bandwidth, kMega, 1024 * kTera},
    {"clock_hz", &Target::clock_hz, kMega, kTera},
    {"sector_bytes", &Target::sector_bytes, 4, 4096},
    {"access_bytes", &Target::access_bytes, 4, 32},
    {"f32_per_clock", &Target::f32_per_clock, 1, 65536},
    {"f64_per_clock", &Target::f64_per_clock, 1, 65536},
    {"special_per_clock", &Target::special_per_clock, 1, 65536},
};
struct WordRow {
  llvm::StringLiteral key;
  std::string Target::* member;
  llvm::ArrayRef<llvm::StringLiteral> words;  // empty: any
};
constexpr llvm::StringLiteral kArchs[] = {"sm_80", "sm_86", "sm_87", "sm_89", "sm_90", "sm_90a"};
constexpr llvm::StringLiteral kVersions[] = {"7.4", "7.5", "7.6", "7.7", "7.8", "8.0",
                                             "8.1", "8.2", "8.3", "8.4", "8.5"};
constexpr WordRow kWords[] = {
    {"name", &Target::name, {}}, {"arch", &Target::arch, kArchs}, {"ptx", &Target::ptx, kVersions}};
constexpr llvm::StringLiteral kMatrix = "matrix";

class Parser {
 public:
  explicit Parser(const SourceBuffer& source) : source_(source) {}

  Result<Target> Run() {
    llvm::StringRef rest = source_.text();
    while (!rest.empty()) {
      const auto [line, after] = rest.split('\n');
      HLO_CHECK_OK(ParseLine(line.split('#').first.trim()));
      rest = after;
    }
    HLO_CHECK_OK(CheckComplete());
    HLO_CHECK_OK(CheckTogether());
    return std::move(target_);
  }

 private:
  [[nodiscard]] Loc At(llvm::StringRef part) const {
    const auto begin = static_cast<uint32_t>(part.data() - source_.text().data());
    return {&source_, begin, begin + static_cast<uint32_t>(part.size())};
  }
  [[nodiscard]] Loc End() const {
    const auto end = static_cast<uint32_t>(source_.text().size());
    return {&source_, end, end};
  }

  Status ParseLine(llvm::StringRef line) {
    if (line.empty()) return {};
    const size_t equals = line.find('=');
    if (equals == llvm::StringRef::npos)
      return Error("parse-unexpected-token", At(line), "found '{0}', expected KEY = VALUE", line);
    const llvm::StringRef key = line.take_front(equals).trim(), value = line.drop_front(equals + 1).trim();
    if (key == kMatrix) return ParseMatrix(value);
    if (llvm::is_contained(seen_, key))
      return Error("parse-duplicate-attribute", At(key), "'{0}' is given twice", key);
    seen_.push_back(key);
    for (const NumberRow& row : kNumbers)
      if (row.key == key) return ParseNumber(value, row.least, row.most, target_.*row.member);
    for (const WordRow& row : kWords)
      if (row.key == key) return ParseWord(value, row);
    std::vector<llvm::StringRef> known = {kMatrix};
    for (const NumberRow& row : kNumbers) known.push_back(row.key);
    for (const WordRow& row : kWords) known.push_back(row.key);
    const std::string hint = DidYouMeanText(key, known);
    return Error("parse-unknown-word", At(key), "a GPU target has no '{0}'{1}{2}", key,
                 hint.empty() ? "" : "; ", hint);
  }

  Status ParseNumber(llvm::StringRef text, int64_t least, int64_t most, int64_t& number) {
    if (text.getAsInteger(10, number))
      return Error("parse-number", At(text), "found '{0}', expected a whole number", text);
    if (number < least || number > most)
      return Error("parse-range", At(text), "found {0}, expected {1} to {2}", number, least, most);
    return {};
  }

  Status ParseWord(llvm::StringRef text, const WordRow& row) {
    if (text.empty() || (!row.words.empty() && !llvm::is_contained(row.words, text))) {
      const std::string expected = row.words.empty() ? "a name" : llvm::join(row.words, ", ");
      return Error("parse-unknown-word", At(text), "'{0}': found '{1}', expected {2}", row.key, text,
                   expected);
    }
    target_.*row.member = text.str();
    return {};
  }

  Status ParseMatrix(llvm::StringRef text) {
    llvm::SmallVector<llvm::StringRef, 4> words;
    llvm::SplitString(text, words);
    if (words.size() != 4 && words.size() != 5)
      return Error("parse-unexpected-token", At(text),
                   "found '{0}', expected TYPE ROWS COLUMNS DEPTH and multiply-adds per clock", text);
    const std::optional<ElementType> type = ParseElementType(words[0]);
    if (!type) return Error("parse-unknown-type", At(words[0]), "'{0}' is no element type", words[0]);
    MatrixUnit unit{.type = *type};
    int64_t* const sizes[] = {&unit.rows, &unit.columns, &unit.depth};
    for (size_t i = 0; i < std::size(sizes); ++i) HLO_CHECK_OK(ParseNumber(words[i + 1], 1, 4096, *sizes[i]));
    int64_t rate = 0;
    if (words.size() == 5) HLO_CHECK_OK(ParseNumber(words[4], 1, 1 << 20, rate));
    target_.matrix_units.push_back(unit);
    target_.matrix_per_clock.push_back(rate);
    return {};
  }

  Status CheckComplete() const {
    const auto missing = [&](llvm::StringRef key) { return !llvm::is_contained(seen_, key); };
    for (const WordRow& row : kWords)
      if (missing(row.key))
        return Error("parse-missing-attribute", End(), "the GPU target has no '{0}'", row.key);
    for (const NumberRow& row : kNumbers)
      if (missing(row.key))
        return Error("parse-missing-attribute", End(), "the GPU target has no '{0}'", row.key);
    return {};
  }

  /// What has to fit into what.
  Status CheckTogether() const {
    constexpr std::pair<llvm::StringLiteral, llvm::StringLiteral> kFits[] = {
        {"shared_memory_per_block", "shared_memory_per_multiprocessor"},
        {"static_shared_memory", "shared_memory_per_block"},
        {"threads_per_block", "threads_per_multiprocessor"},
        {"access_bytes", "sector_bytes"}};
    const auto value = [&](llvm::StringRef key) {
      return target_.*llvm::find_if(kNumbers, [&](const NumberRow& row) { return row.key == key; })->member;
    };
    for (const auto& [less, more] : kFits)
      if (value(less) > value(more))
        return Error("parse-range", At(*llvm::find(seen_, less)), "{0} is {1}, more than {2}, which is {3}",
                     less, value(less), more, value(more));
    for (const llvm::StringRef key : {"access_bytes", "sector_bytes"})
      if (!llvm::isPowerOf2_64(static_cast<uint64_t>(value(key))))
        return Error("parse-range", At(*llvm::find(seen_, key)), "{0} is {1}, expected a power of two", key,
                     value(key));
    return {};
  }

  const SourceBuffer& source_;
  llvm::SmallVector<llvm::StringRef, 32> seen_;
  Target target_;
};

}  // namespace

double Target::MatrixRate(ElementType type) const {
  for (const auto& [unit, rate] : llvm::zip(matrix_units, matrix_per_clock))
    if (unit.type == type)
      return static_cast<double>(rate) * static_cast<double>(multiprocessors) * static_cast<double>(clock_hz);
  return 0;
}

Result<Target> ParseTarget(const SourceBuffer& source) { return Parser(source).Run(); }

std::string ToString(const Target& target) {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (const WordRow& row : kWords) os << row.key << " = " << target.*row.member << '\n';
  for (const NumberRow& row : kNumbers) os << row.key << " = " << target.*row.member << '\n';
  for (const auto& [unit, rate] : llvm::zip(target.matrix_units, target.matrix_per_clock)) {
    os << kMatrix << " = " << ToString(unit.type) << ' ' << unit.rows << ' ' << unit.columns << ' '
       << unit.depth;
    if (rate > 0) os << ' ' << rate;
    os << '\n';
  }
  return text;
}

namespace {

Target BuiltIn(llvm::StringRef text) {
  auto target = ParseTarget(SourceBuffer("built-in GPU target", text.str()));
  if (!target) llvm::report_fatal_error(llvm::StringRef(Render(target.error())));
  return std::move(*target);
}

}  // namespace

std::vector<std::string> TargetNames() {
  std::vector<std::string> names;
  for (const llvm::StringRef text : GpuTargetTexts()) names.push_back(BuiltIn(text).name);
  return names;
}

Result<Target> FindTarget(llvm::StringRef name_or_file) {
  const llvm::StringRef wanted = name_or_file.empty() ? llvm::StringRef("h100") : name_or_file;
  std::string names;
  for (const llvm::StringRef text : GpuTargetTexts()) {
    Target target = BuiltIn(text);
    if (target.name == wanted) return target;
    names += (names.empty() ? "" : ", ") + target.name;
  }
  if (!wanted.contains('/') && !wanted.contains('.'))
    return Error("usage-option", {}, "option '--gpu-target': found '{0}', expected a file or one of {1}",
                 wanted, names);
  constexpr uint64_t kMost = uint64_t{1} << 20;
  auto file = ReadInputFile(wanted, kMost);
  if (!file) return Error("input-open", {}, "{0}: {1}", wanted, file.getError().message());
  // Diagnostics point into it for as long as they are kept.
  static std::vector<SourcePtr> kept;
  kept.push_back(std::make_shared<SourceBuffer>(wanted.str(), (*file)->getBuffer().str()));
  return ParseTarget(*kept.back());
}

}  // namespace hlo::gpu

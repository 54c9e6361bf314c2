// Values of options from text.
#include <charconv>

#include "re2/re2.h"
#include "tools/common/options.h"

namespace hlo {
namespace {

tl::unexpected<Diagnostic> BadValue(const OptionUse& use, llvm::StringRef expected) {
  return Error("usage-option", {}, "option '{0}': found '{1}', expected {2}", use.option, use.value,
               expected);
}

struct Unit {
  llvm::StringRef suffix;
  double factor;
};
constexpr Unit kSizeUnits[] = {{"", 1}, {"k", 0x1p10}, {"m", 0x1p20}, {"g", 0x1p30}, {"t", 0x1p40}};
constexpr Unit kTimeUnits[] = {{"ms", 1}, {"s", 1e3}, {"m", 60e3}, {"h", 3600e3}, {"", 1e3}};

/// A number followed by one of the units; nothing if malformed, negative or beyond 2^62.
std::optional<int64_t> ParseWithUnit(llvm::StringRef text, llvm::ArrayRef<Unit> units) {
  const size_t digits = text.find_first_not_of("0123456789.");
  const llvm::StringRef number = text.take_front(digits);
  const llvm::StringRef suffix = digits == llvm::StringRef::npos ? "" : text.drop_front(digits);
  double value = 0;
  if (number.empty() || number.getAsDouble(value)) return std::nullopt;
  for (const Unit& unit : units) {
    if (!suffix.equals_insensitive(unit.suffix)) continue;
    value *= unit.factor;
    if (value > 0x1p62) return std::nullopt;
    return static_cast<int64_t>(value);
  }
  return std::nullopt;
}

}  // namespace

std::optional<int64_t> ParseByteCount(llvm::StringRef text) {
  // `64K`, `64KB` and `64KiB` are the same.
  if (text.size() > 1 && !llvm::isDigit(text.back())) {
    if (text.ends_with_insensitive("ib"))
      text = text.drop_back(2);
    else if (text.ends_with_insensitive("b"))
      text = text.drop_back(1);
  }
  return ParseWithUnit(text, kSizeUnits);
}

std::optional<std::chrono::milliseconds> ParseDuration(llvm::StringRef text) {
  const auto value = ParseWithUnit(text, kTimeUnits);
  if (!value) return std::nullopt;
  return std::chrono::milliseconds(*value);
}

std::string FormatTime(double ns) {
  constexpr std::pair<double, const char*> kUnits[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}};
  for (const auto& [scale, unit] : kUnits)
    if (ns >= scale) return llvm::formatv("{0:F3} {1}", ns / scale, unit).str();
  return llvm::formatv("{0:F0} ns", ns).str();
}

std::string FormatScaled(double value, llvm::StringRef unit) {
  constexpr std::pair<double, const char*> kUnits[] = {{1e12, "T"}, {1e9, "G"}, {1e6, "M"}};
  for (const auto& [scale, prefix] : kUnits)
    if (value >= scale) return llvm::formatv("{0:F2} {1}{2}", value / scale, prefix, unit).str();
  return llvm::formatv("{0:F0} {1}", value, unit).str();
}

Result<Regex> Regex::Compile(llvm::StringRef pattern) {
  re2::RE2::Options options;
  options.set_log_errors(false);
  auto compiled = std::make_shared<const re2::RE2>(re2::StringPiece(pattern.data(), pattern.size()), options);
  if (!compiled->ok())
    return Error("usage-option", {}, "malformed regular expression '{0}': {1}", pattern, compiled->error());
  Regex regex;
  regex.pattern_ = pattern.str();
  regex.compiled_ = std::move(compiled);
  return regex;
}

bool Regex::Matches(llvm::StringRef text) const {
  return !compiled_ || re2::RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), *compiled_);
}

Status ParseOption(const OptionUse& use, bool& value) {
  for (const llvm::StringRef word : {"on", "true", "1", "yes"})
    if (use.value.equals_insensitive(word)) return value = true, Status{};
  for (const llvm::StringRef word : {"off", "false", "0", "no"})
    if (use.value.equals_insensitive(word)) return value = false, Status{};
  return BadValue(use, "on, off, true, false, 1 or 0");
}

Status ParseOption(const OptionUse& use, int64_t& value) {
  if (use.value.getAsInteger(10, value)) return BadValue(use, "an integer");
  return {};
}

Status ParseOption(const OptionUse& use, uint64_t& value) {
  if (use.value.getAsInteger(0, value)) return BadValue(use, "a non-negative integer");
  return {};
}

Status ParseOption(const OptionUse& use, double& value) {
  if (use.value.empty() || use.value.getAsDouble(value)) return BadValue(use, "a number");
  return {};
}

Status ParseOption(const OptionUse& use, std::string& value) {
  value = use.value.str();
  return {};
}

Status ParseOption(const OptionUse& use, std::vector<std::string>& value) {
  if (use.replaces) value.clear();
  value.push_back(use.value.str());
  return {};
}

Status ParseOption(const OptionUse& use, NameList& value) {
  value.items.clear();
  for (const llvm::StringRef item : llvm::split(use.value, ','))
    if (!item.trim().empty()) value.items.push_back(item.trim().str());
  return {};
}

Status ParseOption(const OptionUse& use, ByteCount& value) {
  const auto bytes = ParseByteCount(use.value);
  if (!bytes) return BadValue(use, "a size such as 64K, 2M or 1.5G");
  value.bytes = *bytes;
  return {};
}

Status ParseOption(const OptionUse& use, Count& value) {
  if (use.replaces) value.value = 0;
  if (use.value != "on") {
    if (use.value.getAsInteger(10, value.value)) return BadValue(use, "a number");
    return {};
  }
  ++value.value;
  return {};
}

Status ParseOption(const OptionUse& use, Regex& value) {
  auto compiled = Regex::Compile(use.value);
  if (!compiled) {
    Diagnostic error = std::move(compiled).error();
    error.message = llvm::formatv("option '{0}': {1}", use.option, error.message).str();
    return Error(std::move(error));
  }
  value = std::move(*compiled);
  return {};
}

Status ParseOption(const OptionUse& use, std::chrono::milliseconds& value) {
  const auto duration = ParseDuration(use.value);
  if (!duration) return BadValue(use, "a duration such as 500ms, 10s or 5m");
  value = *duration;
  return {};
}

tl::unexpected<Diagnostic> UnknownWord(const OptionUse& use, llvm::ArrayRef<llvm::StringRef> words) {
  const std::string hint = DidYouMeanText(use.value, words);
  const std::string list = llvm::join(words, ", ");
  return Error("usage-option", {}, "option '{0}': found '{1}', expected one of {2}{3}{4}", use.option,
               use.value, list, hint.empty() ? "" : "; ", hint);
}

}  // namespace hlo

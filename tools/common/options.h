// Command-line options as tables: each row names an option and the struct member it sets (tools.md §1.1).
#pragma once
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "ir/support/byte_text.h"
#include "ir/support/result.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

namespace re2 {
class RE2;
}

namespace hlo {

/// One use of an option, as the functions that set members see it.
struct OptionUse {
  llvm::StringRef option;  // as written, with its dashes; for messages
  llvm::StringRef value;   // `on` or `off` for booleans; the bare value where none was given
  bool replaces = false;   // lists: forget what a source of lower precedence has set
};

// Types of values besides bool, int64_t, double, std::string, enumerations and std::vector<std::string>
// (a repeatable option).

/// `64K`, `2M`, `1.5G`: powers of 1024.
struct ByteCount {
  int64_t bytes = 0;
};
/// How often an option without value was given.
struct Count {
  int value = 0;
};
/// `a,b,c`.
struct NameList {
  std::vector<std::string> items;
};
/// An unanchored regular expression in RE2's syntax; matches everything if empty.
class Regex {
 public:
  Regex() = default;
  static Result<Regex> Compile(llvm::StringRef pattern);
  [[nodiscard]] bool empty() const { return pattern_.empty(); }
  [[nodiscard]] const std::string& pattern() const { return pattern_; }
  [[nodiscard]] bool Matches(llvm::StringRef text) const;

 private:
  std::string pattern_;
  std::shared_ptr<const re2::RE2> compiled_;
};

/// One word of an enumerated option; later rows with the same value are synonyms.
template <class E>
struct OptionWord {
  llvm::StringRef text;
  E value;
};
/// Specialised, as an array of OptionWord<E>, for every enumeration that is an option's type.
template <class E>
inline constexpr int kOptionWords = 0;
/// The first word of an enumerator.
template <class E>
llvm::StringRef WordOf(E value) {
  for (const auto& word : kOptionWords<E>)
    if (word.value == value) return word.text;
  return "";
}

// Values of options from text; errors have id usage-option and name the option.
Status ParseOption(const OptionUse& use, bool& value);
Status ParseOption(const OptionUse& use, int64_t& value);
Status ParseOption(const OptionUse& use, uint64_t& value);
Status ParseOption(const OptionUse& use, double& value);
Status ParseOption(const OptionUse& use, std::string& value);
Status ParseOption(const OptionUse& use, std::vector<std::string>& value);
Status ParseOption(const OptionUse& use, NameList& value);
Status ParseOption(const OptionUse& use, ByteCount& value);
Status ParseOption(const OptionUse& use, Count& value);
Status ParseOption(const OptionUse& use, Regex& value);
Status ParseOption(const OptionUse& use, std::chrono::milliseconds& value);

/// The error for a word that is none of `words`.
tl::unexpected<Diagnostic> UnknownWord(const OptionUse& use, llvm::ArrayRef<llvm::StringRef> words);

/// Words are compared without case.
template <class E>
  requires std::is_enum_v<E>
Status ParseOption(const OptionUse& use, E& value) {
  std::vector<llvm::StringRef> words;
  for (const auto& word : kOptionWords<E>) {
    if (use.value.equals_insensitive(word.text)) {
      value = word.value;
      return {};
    }
    words.push_back(word.text);
  }
  return UnknownWord(use, words);
}

template <class T>
Status ParseOption(const OptionUse& use, std::optional<T>& value) {
  T parsed{};
  HLO_CHECK_OK(ParseOption(use, parsed));
  value = std::move(parsed);
  return {};
}

enum class OptionArity : uint8_t { Flag, Value, OptionalValue, Count };

/// One option. Rows are constants: made with Option<&Struct::member>(…) and its modifiers.
struct OptionRow {
  llvm::StringRef name;          // with dashes between words, without leading ones
  llvm::StringRef argument;      // placeholder or words, for the help
  llvm::StringRef default_text;  // for the help; empty: none
  llvm::StringRef help;
  Status (*set)(void* object, const OptionUse& use);
  OptionArity arity;
  char letter = 0;
  bool advanced = false;                              // only in --help-all
  llvm::StringRef bare{};                             // value of an option given without one
  bool wants_text = false;                            // any but none
  std::vector<llvm::StringRef> (*words)() = nullptr;  // the values that there are, for completion
  bool list = false;                                  // of such, with commas

  [[nodiscard]] constexpr OptionRow Letter(char l) const {
    OptionRow row = *this;
    row.letter = l;
    return row;
  }
  [[nodiscard]] constexpr OptionRow Advanced() const {
    OptionRow row = *this;
    row.advanced = true;
    return row;
  }
  /// Has these values, for completion.
  [[nodiscard]] constexpr OptionRow Words(std::vector<llvm::StringRef> (*known)()) const {
    OptionRow row = *this;
    row.words = known;
    return row;
  }
  /// The same of a list.
  [[nodiscard]] constexpr OptionRow ListOf(std::vector<llvm::StringRef> (*known)()) const {
    OptionRow row = Words(known);
    row.list = true;
    return row;
  }
  /// No text is a value, too.
  [[nodiscard]] constexpr OptionRow MayBeEmpty() const {
    OptionRow row = *this;
    row.wants_text = false;
    return row;
  }
  /// The value is optional (only with `=`) and `text` stands for a missing one.
  [[nodiscard]] constexpr OptionRow Bare(llvm::StringRef text) const {
    OptionRow row = *this;
    row.bare = text;
    row.arity = OptionArity::OptionalValue;
    return row;
  }
};

namespace internal {
template <class T>
struct MemberPointer;
template <class O, class M>
struct MemberPointer<M O::*> {
  using Object = O;
  using Member = M;
};
template <auto kMember>
Status SetMember(void* object, const OptionUse& use) {
  using Object = typename MemberPointer<decltype(kMember)>::Object;
  return ParseOption(use, static_cast<Object*>(object)->*kMember);
}
template <class M>
struct Plain {
  using Type = M;
};
template <class M>
struct Plain<std::optional<M>> {
  using Type = M;
};
/// The words of an enumeration, without synonyms.
template <class E>
std::vector<llvm::StringRef> EnumerationWords() {
  std::vector<llvm::StringRef> words;
  for (const auto& word : kOptionWords<E>)
    if (WordOf(word.value) == word.text) words.push_back(word.text);
  return words;
}
template <class M>
constexpr OptionArity ArityOf() {
  if constexpr (std::is_same_v<M, bool> || std::is_same_v<M, std::optional<bool>>) return OptionArity::Flag;
  if constexpr (std::is_same_v<M, Count>) return OptionArity::Count;
  return OptionArity::Value;
}
}  // namespace internal

template <auto kMember>
constexpr OptionRow Option(llvm::StringRef name, llvm::StringRef argument, llvm::StringRef default_text,
                           llvm::StringRef help) {
  using Member = typename internal::MemberPointer<decltype(kMember)>::Member;
  OptionRow row = {
      name, argument, default_text, help, &internal::SetMember<kMember>, internal::ArityOf<Member>()};
  row.wants_text = std::is_same_v<Member, std::string>;
  using Value = typename internal::Plain<Member>::Type;
  if constexpr (std::is_enum_v<Value>) row.words = &internal::EnumerationWords<Value>;
  return row;
}

/// Options shown under one heading; `object` is the struct the rows' members belong to.
struct OptionGroup {
  llvm::StringRef title;
  llvm::ArrayRef<OptionRow> rows;
  void* object;
  bool advanced = false;  // all of it only in --help-all
};

/// Another spelling of an option.
struct OptionAlias {
  llvm::StringRef alias;
  llvm::StringRef name;
  llvm::StringRef value{};  // not empty: the alias, given as a bare or true flag, means name=value
  bool negated = false;     // a boolean with the opposite meaning
};

/// An option of the documented command line that this version cannot serve yet.
struct UnavailableOption {
  llvm::StringRef name;
  llvm::StringRef feature;  // in the message: "profiling"
  bool flag = false;        // a boolean: switched off it is served
};

/// Options that mean something only beside some others, or never do. Both are lists of names or of
/// NAME=VALUE, with `|` between, and hold for what the command line says: flags of XLA's (`--xla-…`) are
/// taken as XLA takes them.
struct OptionRelation {
  llvm::StringRef options, others;
};

/// What the help and the option parser need to know about a tool.
struct ToolInfo {
  llvm::StringRef name;
  llvm::StringRef purpose;   // one sentence or two
  llvm::StringRef synopsis;  // after the tool's name
  llvm::ArrayRef<OptionAlias> aliases;
  llvm::ArrayRef<UnavailableOption> unavailable;
  llvm::ArrayRef<llvm::StringRef> examples;
  llvm::ArrayRef<OptionRelation> needs{};  // options, and others of which one has to be given, or a default
  llvm::ArrayRef<OptionRelation> excludes{};  // options that would make the tool ignore others
};

/// Positional arguments, and warnings about ignored options.
struct CommandLine {
  std::vector<std::string> positional;
  std::vector<std::pair<llvm::StringRef, std::string>> options;  // of the command line: names without dashes
  std::vector<Diagnostic> warnings;
};

/// Where options come from besides the command line, lowest precedence first.
struct OptionSources {
  std::string config_text;  // lines `name=value` or `name: value`
  std::string config_name;
  std::string xla_flags;  // XLA_FLAGS, or the contents of the file it names
  bool strict_xla_flags = false;
  bool warn_xla_flags_variable = false;
};

/// Sets the members behind `groups`. Errors: usage-option (exit 2), unavailable-feature (exit 7).
Result<CommandLine> ParseCommandLine(const ToolInfo& tool, llvm::ArrayRef<OptionGroup> groups,
                                     llvm::ArrayRef<const char*> args, const OptionSources& sources);

/// What exit codes mean, in lines.
llvm::StringRef ExitCodesText();
/// `--help` (under 100 lines), or with `all` also advanced and unavailable options and aliases.
void PrintHelp(const ToolInfo& tool, llvm::ArrayRef<OptionGroup> groups, bool all, llvm::raw_ostream& out);

/// Sizes and durations as options take them, for other texts.
std::optional<int64_t> ParseByteCount(llvm::StringRef text);
std::optional<std::chrono::milliseconds> ParseDuration(llvm::StringRef text);
/// `1.904 ms`, from nanoseconds.
std::string FormatTime(double ns);
/// `1.31 TFLOP/s`: a number in powers of 1000 and its unit.
std::string FormatScaled(double value, llvm::StringRef unit);

}  // namespace hlo

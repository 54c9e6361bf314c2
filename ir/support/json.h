// JSON: values that know their place in the text they were read from, a reader, and a writer that streams.
// Only json_reader.cc and json_writer.cc include nlohmann/json, which takes a second to compile.
#pragma once
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "ir/support/result.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

namespace hlo {

class JsonValue;
struct JsonMember;
using JsonArray = std::vector<JsonValue>;
/// Members in the order of the text; each key stands there once.
using JsonObject = std::vector<JsonMember>;

/// JSON nested deeper is an error: what holds, writes and removes values goes down with them.
inline constexpr size_t kMostJsonLevels = 1024;

/// A value of RFC 8259. Integers that 64 bits hold stay exact, other numbers are doubles.
class JsonValue {
 public:
  JsonValue();  // null
  explicit JsonValue(bool value);
  explicit JsonValue(int64_t value);
  explicit JsonValue(uint64_t value);
  explicit JsonValue(double value);
  explicit JsonValue(std::string value);
  explicit JsonValue(JsonArray value);
  explicit JsonValue(JsonObject value);
  JsonValue(const JsonValue& other);
  JsonValue(JsonValue&& other) noexcept;
  JsonValue& operator=(const JsonValue& other);
  JsonValue& operator=(JsonValue&& other) noexcept;
  ~JsonValue();

  [[nodiscard]] bool IsNull() const { return std::holds_alternative<std::monostate>(data_); }
  // The value as that kind; nothing if it is of another.
  [[nodiscard]] std::optional<bool> AsBool() const;
  /// Doubles without a fraction are integers, too.
  [[nodiscard]] std::optional<int64_t> AsInteger() const;
  [[nodiscard]] std::optional<double> AsNumber() const;
  [[nodiscard]] std::optional<llvm::StringRef> AsString() const;
  [[nodiscard]] const JsonArray* AsArray() const { return std::get_if<JsonArray>(&data_); }
  [[nodiscard]] const JsonObject* AsObject() const { return std::get_if<JsonObject>(&data_); }

  /// The member of an object; null if there is none, or this is none.
  [[nodiscard]] const JsonValue* Find(llvm::StringRef key) const;
  // The member as that kind; nothing if it is of another, or there is none.
  [[nodiscard]] std::optional<bool> Bool(llvm::StringRef key) const;
  [[nodiscard]] std::optional<int64_t> Integer(llvm::StringRef key) const;
  [[nodiscard]] std::optional<double> Number(llvm::StringRef key) const;
  [[nodiscard]] std::optional<llvm::StringRef> String(llvm::StringRef key) const;
  [[nodiscard]] const JsonArray* Array(llvm::StringRef key) const;
  /// Null if the member is no object.
  [[nodiscard]] const JsonValue* Object(llvm::StringRef key) const;

  /// Gives an object a member, in the place of one with that key, else as the last. What is no object becomes
  /// one.
  void Set(llvm::StringRef key, JsonValue value);
  void Erase(llvm::StringRef key);
  /// Orders the members of all objects by key.
  void Sort();

  /// Bytes [begin, end) of the text that it was read from; both 0 if it was not read.
  [[nodiscard]] uint32_t begin() const { return begin_; }
  [[nodiscard]] uint32_t end() const { return end_; }

 private:
  friend class JsonBuilder;
  friend class JsonWriter;
  std::variant<std::monostate, bool, int64_t, uint64_t, double, std::string, JsonArray, JsonObject> data_;
  uint32_t begin_ = 0, end_ = 0;
};

struct JsonMember {
  std::string key;
  JsonValue value;
  uint32_t key_begin = 0;
};

/// Diagnostics do not own the text that they point into, and outlive who reads a file: texts with errors stay
/// until the program ends.
void KeepForErrors(SourcePtr source);

/// A text and the value it holds.
struct JsonDocument {
  SourcePtr source;
  JsonValue root;

  [[nodiscard]] Loc LocOf(const JsonValue& value) const { return {source.get(), value.begin(), value.end()}; }
  /// An error of meaning (input-format) that points to a value.
  template <class... Args>
  [[nodiscard]] tl::unexpected<Diagnostic> Wrong(const JsonValue& value, const char* format,
                                                 Args&&... args) const {
    KeepForErrors(source);
    return hlo::Error("input-format", LocOf(value), format, std::forward<Args>(args)...);
  }
};

/// Reads a text that is one value. Errors point to where it stops being JSON: input-format for syntax, bytes
/// that are no UTF-8, numbers beyond double and keys that an object has twice; limit-nesting.
Result<JsonDocument> ReadJson(const SourcePtr& source);
/// Reads the value that begins at byte `at`, or behind blanks there, of a text that may hold more; `at`
/// becomes its end.
Result<JsonDocument> ReadJsonAt(const SourcePtr& source, size_t& at);
/// The value of a text that may also be something else, as backend configs are: nothing if it is no JSON.
/// Values know no place.
std::optional<JsonValue> ParseJson(llvm::StringRef text);

/// A value without parts, for as long as the expression that it is made in; what JsonWriter takes.
class JsonScalar {
 public:
  JsonScalar(std::nullptr_t) {}  // NOLINT(google-explicit-constructor): here and below, for its users
  template <std::integral T>
  JsonScalar(T value) {  // NOLINT
    if constexpr (std::same_as<T, bool>)
      data_ = value;
    else if constexpr (std::signed_integral<T>)
      data_ = static_cast<int64_t>(value);
    else
      data_ = static_cast<uint64_t>(value);
  }
  JsonScalar(double value) : data_(value) {}                               // NOLINT
  JsonScalar(llvm::StringRef value) : data_(value) {}                      // NOLINT
  JsonScalar(const std::string& value) : data_(llvm::StringRef(value)) {}  // NOLINT
  JsonScalar(const char* value) : data_(llvm::StringRef(value)) {}         // NOLINT

 private:
  friend class JsonWriter;
  std::variant<std::monostate, bool, int64_t, uint64_t, double, llvm::StringRef> data_;
};

/// Writes one value piece by piece, as it is told: nothing is kept. Strings may hold any bytes; what is no
/// UTF-8 becomes U+FFFD. Doubles are written with as many digits as give them back; NaN and infinities, which
/// JSON lacks, as the strings "nan", "inf" and "-inf".
class JsonWriter {
 public:
  using Block = llvm::function_ref<void()>;
  enum class Place : uint8_t {
    Anywhere,
    Script,  // of an HTML page: nothing in strings can end a script element or break its lines
  };
  /// With `indent` > 0, so many blanks before each member and element, one per line.
  explicit JsonWriter(llvm::raw_ostream& os, unsigned indent = 0, Place place = Place::Anywhere)
      : os_(os), indent_(indent), place_(place) {}
  ~JsonWriter();
  JsonWriter(const JsonWriter&) = delete;
  JsonWriter& operator=(const JsonWriter&) = delete;

  // The value itself, or an element of the array that is open.
  void Object(Block members) { Nested('{', '}', members); }
  void Array(Block elements) { Nested('[', ']', elements); }
  void Value(const JsonScalar& value);
  void Value(const JsonValue& value);
  void List(std::initializer_list<JsonScalar> elements);
  /// A value's text as it is.
  void Raw(llvm::StringRef json);

  // A member of the object that is open.
  void Object(llvm::StringRef key, Block members) { Key(key), Object(members); }
  void Array(llvm::StringRef key, Block elements) { Key(key), Array(elements); }
  void Member(llvm::StringRef key, const JsonScalar& value) { Key(key), Value(value); }
  void Member(llvm::StringRef key, const JsonValue& value) { Key(key), Value(value); }
  void List(llvm::StringRef key, std::initializer_list<JsonScalar> elements) { Key(key), List(elements); }
  /// A member whose value follows.
  void Key(llvm::StringRef key);
  /// An array of the elements of a range.
  template <class Range>
  void List(llvm::StringRef key, const Range& range) {
    Array(key, [&] {
      for (const auto& element : range) Value(element);
    });
  }

  /// Begins a line before the next value, for people who look at long texts.
  void BreakLine() { break_line_ = true; }

 private:
  struct Level {
    char close;
    bool empty = true;
#ifndef NDEBUG
    std::set<std::string> keys = {};  // none may stand twice
#endif
  };
  void BeginValue();
  void Nested(char open, char close, Block parts);
  void NewLine();
  void WriteText(llvm::StringRef text);
  void WriteNumber(double number);

  llvm::raw_ostream& os_;
  unsigned indent_;
  Place place_;
  llvm::SmallVector<Level, 16> open_;
  bool has_key_ = false;  // of the member whose value comes next
  bool done_ = false;     // the value is complete
  bool break_line_ = false;
};

/// A value as text, on one line unless there is an indent.
std::string ToString(const JsonValue& value, unsigned indent = 0);

}  // namespace hlo

// Reading JSON: nlohmann/json finds the tokens and what is wrong with them, the values and their places are
// made here.
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>

#include "ir/support/json.h"
#include "llvm/ADT/STLExtras.h"

namespace hlo {
namespace {

using llvm::StringRef;

constexpr StringRef kBlanks = " \t\r\n";

/// Bytes of a text, for nlohmann's lexer; says how far it has come.
class TextIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  TextIterator(const char* at, const char** reached) : at_(at), reached_(reached) {}
  reference operator*() const { return *at_; }
  TextIterator& operator++() {
    *reached_ = ++at_;
    return *this;
  }
  TextIterator operator++(int) {
    const TextIterator before = *this;
    ++*this;
    return before;
  }
  bool operator==(const TextIterator& other) const { return at_ == other.at_; }
  bool operator!=(const TextIterator& other) const { return at_ != other.at_; }

 private:
  const char* at_;
  const char** reached_;
};

/// nlohmann's message without its number, its place and the text that was read: the excerpt shows that.
std::string MessageOf(StringRef what) {
  what = what.split("] ").second;
  if (what.starts_with("parse error")) what = what.split(": ").second;
  const auto [before, read] = what.split("; last read: '");
  const size_t expected = read.rfind("'; expected ");
  return ("JSON: " + before + (expected == StringRef::npos ? "" : read.drop_front(expected + 1))).str();
}

/// Bytes of a token that nlohmann's message is about; 0 for others.
size_t TokenLength(StringRef what, StringRef last_token) {
  const StringRef found = what.split("- unexpected ").second;
  if (found.starts_with("true") || found.starts_with("null")) return 4;
  if (found.starts_with("false")) return 5;
  const bool spelled =
      found.starts_with("number") || found.starts_with("string") || what.contains("number overflow");
  return spelled && !last_token.contains("<U+") ? last_token.size() : 0;  // `<U+` is how it shows one byte
}

}  // namespace

/// Makes a value of the tokens.
class JsonBuilder final : public nlohmann::json_sax<nlohmann::json> {
 public:
  /// The value begins at byte `begin` of `text`.
  JsonBuilder(StringRef text, size_t begin)
      : text_(text), begin_(begin), done_(begin), reached_(text.data() + begin) {
    if (text.drop_front(begin).starts_with("\xef\xbb\xbf")) done_ += 3;  // a byte order mark
  }

  /// False if there is an error.
  bool Read() {
    const TextIterator end(text_.data() + text_.size(), &reached_);
    return nlohmann::json::sax_parse(TextIterator(reached_, &reached_), end, this,
                                     nlohmann::json::input_format_t::json, /*strict=*/false);
  }

  JsonValue root;
  /// What is wrong, and where.
  DiagnosticId id;
  std::string message;
  size_t error_begin = 0, error_end = 0;
  /// Behind the value.
  [[nodiscard]] size_t done() const { return done_; }

  bool null() override { return Add(JsonValue()); }
  bool boolean(bool value) override { return Add(JsonValue(value)); }
  bool number_integer(int64_t value) override { return AddNumber(JsonValue(value)); }
  bool number_unsigned(uint64_t value) override { return AddNumber(JsonValue(value)); }
  bool number_float(double value, const std::string& /*text*/) override {
    return AddNumber(JsonValue(value));
  }
  bool string(std::string& value) override { return Add(JsonValue(std::move(value))); }
  bool binary(binary_t& /*value*/) override { return false; }  // JSON has none
  bool start_object(size_t /*size*/) override { return Open(JsonValue(JsonObject())); }
  bool start_array(size_t /*size*/) override { return Open(JsonValue(JsonArray())); }
  bool end_array() override { return Close(); }

  bool key(std::string& value) override {
    key_begin_ = NextBegin();
    key_ = std::move(value);
    done_ = Reached();
    return true;
  }
  bool end_object() override {
    const JsonMember* repeated = Repeated(*open_.back()->AsObject());
    if (!repeated) return Close();
    return Fail("input-format", repeated->key_begin, repeated->key_begin + 1,
                "JSON: key '" + repeated->key + "' stands twice in one object");
  }

  bool parse_error(size_t position, const std::string& last_token,
                   const nlohmann::json::exception& error) override {
    // `position` counts what was read: the token that should not be there, or up to the byte that makes it
    // none.
    const StringRef what = error.what();
    const size_t end = std::min(begin_ + position, text_.size());
    const size_t length = std::max<size_t>(TokenLength(what, last_token), 1);
    const size_t begin = begin_ + (position < length ? 0 : position - length);
    return Fail("input-format", std::min(begin, text_.size()), end, MessageOf(what));
  }

 private:
  [[nodiscard]] size_t Reached() const { return static_cast<size_t>(reached_ - text_.data()); }

  /// Where the token begins that has just been read: nothing but these lies between it and the one before.
  [[nodiscard]] size_t NextBegin() const {
    return std::min(text_.find_first_not_of(" \t\r\n,:", done_), text_.size());
  }

  bool Fail(DiagnosticId which, size_t begin, size_t end, std::string text) {
    id = which;
    error_begin = begin;
    error_end = std::max(begin, end);
    message = std::move(text);
    return false;
  }

  JsonValue& Put(JsonValue value) {
    value.begin_ = static_cast<uint32_t>(NextBegin());
    done_ = Reached();
    value.end_ = static_cast<uint32_t>(done_);
    if (open_.empty()) return root = std::move(value);
    auto& data = open_.back()->data_;
    if (auto* array = std::get_if<JsonArray>(&data)) return array->emplace_back(std::move(value));
    return std::get<JsonObject>(data)
        .emplace_back(std::move(key_), std::move(value), static_cast<uint32_t>(key_begin_))
        .value;
  }

  bool Add(JsonValue value) {
    Put(std::move(value));
    return true;
  }

  /// The end of a number is found by the byte behind it, unless the text ends there.
  bool AddNumber(JsonValue value) {
    JsonValue& number = Put(std::move(value));
    const size_t end = text_.find_first_not_of("+-.0123456789Ee", number.begin_);
    done_ = std::min(end, text_.size());
    number.end_ = static_cast<uint32_t>(done_);
    return true;
  }

  bool Open(JsonValue value) {
    if (open_.size() == kMostJsonLevels) {
      const size_t at = NextBegin();
      return Fail(
          "limit-nesting", at, at + 1,
          "JSON: values within each other are more than " + std::to_string(kMostJsonLevels) + " levels deep");
    }
    // Parents get no further parts before this value is complete: it stays where it is.
    open_.push_back(&Put(std::move(value)));
    return true;
  }

  bool Close() {
    done_ = Reached();
    open_.pop_back_val()->end_ = static_cast<uint32_t>(done_);
    return true;
  }

  /// A member whose key an earlier one has.
  static const JsonMember* Repeated(const JsonObject& object) {
    constexpr size_t kFew = 8;  // of which looking at all pairs costs less than a list
    for (size_t i = 1; i < object.size() && object.size() <= kFew; ++i)
      for (size_t k = 0; k < i; ++k)
        if (object[i].key == object[k].key) return &object[i];
    if (object.size() <= kFew) return nullptr;
    std::vector<const JsonMember*> members;
    for (const JsonMember& member : object) members.push_back(&member);
    llvm::sort(members, [](const JsonMember* a, const JsonMember* b) {
      return std::tie(a->key, a->key_begin) < std::tie(b->key, b->key_begin);
    });
    const auto twice = std::adjacent_find(members.begin(), members.end(),
                                          [](const auto* a, const auto* b) { return a->key == b->key; });
    return twice == members.end() ? nullptr : *(twice + 1);
  }

  StringRef text_;
  size_t begin_, done_;
  const char* reached_;
  llvm::SmallVector<JsonValue*, 16> open_;
  std::string key_;
  size_t key_begin_ = 0;
};

namespace {

tl::unexpected<Diagnostic> JsonError(const SourcePtr& source, DiagnosticId id, size_t begin, size_t end,
                                     const std::string& message) {
  KeepForErrors(source);
  return Error(id, {source.get(), static_cast<uint32_t>(begin), static_cast<uint32_t>(end)}, "{0}", message);
}

}  // namespace

void KeepForErrors(SourcePtr source) {
  static std::mutex mutex;
  static auto& kept = *new std::set<SourcePtr>;  // never destroyed: errors are reported up to the end
  const std::lock_guard lock(mutex);
  kept.insert(std::move(source));
}

Result<JsonDocument> ReadJsonAt(const SourcePtr& source, size_t& at) {
  const StringRef text = source->text();
  if (text.size() > UINT32_MAX) {
    Diagnostic error =
        MakeError("input-format", {}, "JSON: the text has {0} bytes, expected less than 4 GiB", text.size());
    error.file = source->name();
    return Error(std::move(error));
  }
  JsonBuilder builder(text, at);
  if (!builder.Read())
    return JsonError(source, builder.id, builder.error_begin, builder.error_end, builder.message);
  at = builder.done();
  return JsonDocument{source, std::move(builder.root)};
}

Result<JsonDocument> ReadJson(const SourcePtr& source) {
  size_t at = 0;
  HLO_TRY(JsonDocument document, ReadJsonAt(source, at));
  const size_t rest = source->text().find_first_not_of(kBlanks, at);
  if (rest != StringRef::npos)
    return JsonError(source, "input-format", rest, rest + 1, "JSON: found more after the value");
  return document;
}

std::optional<JsonValue> ParseJson(StringRef text) {
  if (text.size() > UINT32_MAX) return std::nullopt;
  JsonBuilder builder(text, 0);
  if (!builder.Read() || text.find_first_not_of(kBlanks, builder.done()) != StringRef::npos)
    return std::nullopt;
  return std::move(builder.root);
}

}  // namespace hlo

// Writing JSON. nlohmann/json makes the text of strings and doubles; brackets and commas are put here,
// because it writes whole documents only, and results of gigabytes would lie in memory twice.
#include <cmath>
#include <nlohmann/json.hpp>

#include "ir/support/json.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"

namespace hlo {
namespace {

using llvm::StringRef;

/// Whether a string's text is the string between quotes. So it is of most, and asking the library about each
/// takes as long as all else that writes a module does.
bool IsPlain(StringRef text) {
  return llvm::all_of(text,
                      [](char c) { return c >= 0x20 && c < 0x7f && c != '"' && c != '\\' && c != '<'; });
}

/// What must not stand in a script element: `<`, which can end it, and the separators that JavaScript takes
/// for ends of lines. Nothing but strings has them.
void WriteForScript(llvm::raw_ostream& os, StringRef json) {
  while (!json.empty()) {
    const size_t plain = std::min(json.find_first_of("<\xe2"), json.size());
    os << json.take_front(plain);
    json = json.drop_front(plain);
    if (json.consume_front("<"))
      os << "\\u003c";
    else if (json.consume_front("\xe2\x80\xa8"))
      os << "\\u2028";
    else if (json.consume_front("\xe2\x80\xa9"))
      os << "\\u2029";
    else if (!json.empty()) {
      os << json.front();
      json = json.drop_front();
    }
  }
}

}  // namespace

JsonWriter::~JsonWriter() {
  if (!done_ || !open_.empty()) llvm::report_fatal_error("JSON ends before its value");
}

void JsonWriter::NewLine() {
  os_ << '\n';
  os_.indent(static_cast<unsigned>(open_.size()) * indent_);
}

void JsonWriter::Key(StringRef key) {
  if (open_.empty() || open_.back().close != '}' || has_key_)
    llvm::report_fatal_error("JSON has a member outside of an object");
#ifndef NDEBUG
  if (!open_.back().keys.insert(key.str()).second)
    llvm::report_fatal_error("JSON has a key twice in one object");
#endif
  if (!std::exchange(open_.back().empty, false)) os_ << ',';
  if (indent_ > 0) NewLine();
  WriteText(key);
  os_ << (indent_ > 0 ? ": " : ":");
  has_key_ = true;
}

void JsonWriter::BeginValue() {
  if (!std::exchange(has_key_, false)) {
    if (open_.empty() ? done_ : open_.back().close == '}')
      llvm::report_fatal_error("JSON has a value where none can be");
    if (!open_.empty()) {
      if (!std::exchange(open_.back().empty, false)) os_ << ',';
      if (indent_ > 0) NewLine();
    }
  }
  if (std::exchange(break_line_, false)) os_ << '\n';
  done_ = true;
}

void JsonWriter::Nested(char open, char close, Block parts) {
  BeginValue();
  os_ << open;
  open_.push_back(Level{close});
  parts();
  const bool empty = open_.pop_back_val().empty;
  if (has_key_) llvm::report_fatal_error("JSON has a key without a value");
  if (indent_ > 0 && !empty) NewLine();
  if (std::exchange(break_line_, false)) os_ << '\n';
  os_ << close;
}

void JsonWriter::Value(const JsonScalar& value) {
  BeginValue();
  struct Visitor {
    JsonWriter& writer;
    void operator()(std::monostate /*null*/) const { writer.os_ << "null"; }
    void operator()(bool v) const { writer.os_ << (v ? "true" : "false"); }
    void operator()(int64_t v) const { writer.os_ << v; }
    void operator()(uint64_t v) const { writer.os_ << v; }
    void operator()(double v) const { writer.WriteNumber(v); }
    void operator()(StringRef v) const { writer.WriteText(v); }
  };
  std::visit(Visitor{*this}, value.data_);
}

void JsonWriter::Value(const JsonValue& value) {
  if (const JsonArray* array = value.AsArray()) {
    Array([&] {
      for (const JsonValue& element : *array) Value(element);
    });
  } else if (const JsonObject* object = value.AsObject()) {
    Object([&] {
      for (const JsonMember& member : *object) Member(member.key, member.value);
    });
  } else {
    std::visit(
        [&](const auto& v) {
          using T = std::decay_t<decltype(v)>;
          if constexpr (std::same_as<T, std::monostate>)
            Value(JsonScalar(nullptr));
          else if constexpr (!std::same_as<T, JsonArray> && !std::same_as<T, JsonObject>)
            Value(JsonScalar(v));
        },
        value.data_);
  }
}

void JsonWriter::List(std::initializer_list<JsonScalar> elements) {
  Array([&] {
    for (const JsonScalar& element : elements) Value(element);
  });
}

void JsonWriter::Raw(StringRef json) {
  BeginValue();
  os_ << json;
}

void JsonWriter::WriteText(StringRef text) {
  if (IsPlain(text)) {
    os_ << '"' << text << '"';
    return;
  }
  const std::string json = nlohmann::json(text.str())
                               .dump(/*indent=*/-1, /*indent_char=*/' ', /*ensure_ascii=*/false,
                                     nlohmann::json::error_handler_t::replace);
  if (place_ == Place::Script)
    WriteForScript(os_, json);
  else
    os_ << json;
}

void JsonWriter::WriteNumber(double number) {
  constexpr double kExact = 0x1p53;
  if (std::isnan(number))
    WriteText("nan");
  else if (std::isinf(number))
    WriteText(number > 0 ? "inf" : "-inf");
  else if (std::trunc(number) == number && std::fabs(number) < kExact &&
           !(number == 0 && std::signbit(number)))
    os_ << static_cast<int64_t>(number);  // without `.0`: most are counts
  else
    os_ << nlohmann::json(number).dump();
}

std::string ToString(const JsonValue& value, unsigned indent) {
  std::string text;
  llvm::raw_string_ostream os(text);
  JsonWriter(os, indent).Value(value);
  return text;
}

}  // namespace hlo

// Values of JSON.
#include "ir/support/json.h"

#include <cmath>

#include "llvm/ADT/STLExtras.h"

namespace hlo {
namespace {

/// A member as a kind, which a function of values gives.
template <class F>
auto Of(const JsonValue* value, F as) -> decltype((value->*as)()) {
  if (value == nullptr) return {};
  return (value->*as)();
}

}  // namespace

JsonValue::JsonValue() = default;
JsonValue::JsonValue(bool value) : data_(value) {}
JsonValue::JsonValue(int64_t value) : data_(value) {}
JsonValue::JsonValue(double value) : data_(value) {}
JsonValue::JsonValue(std::string value) : data_(std::move(value)) {}
JsonValue::JsonValue(JsonArray value) : data_(std::move(value)) {}
JsonValue::JsonValue(JsonObject value) : data_(std::move(value)) {}
JsonValue::JsonValue(const JsonValue& other) = default;
JsonValue::JsonValue(JsonValue&& other) noexcept = default;
JsonValue& JsonValue::operator=(const JsonValue& other) = default;
JsonValue& JsonValue::operator=(JsonValue&& other) noexcept = default;
JsonValue::~JsonValue() = default;
JsonValue::JsonValue(uint64_t value) {
  // Integers that both kinds hold are of one.
  if (value <= INT64_MAX)
    data_ = static_cast<int64_t>(value);
  else
    data_ = value;
}

std::optional<bool> JsonValue::AsBool() const {
  const bool* value = std::get_if<bool>(&data_);
  return value ? std::optional(*value) : std::nullopt;
}

std::optional<int64_t> JsonValue::AsInteger() const {
  if (const int64_t* value = std::get_if<int64_t>(&data_)) return *value;
  const double* value = std::get_if<double>(&data_);
  if (!value || std::trunc(*value) != *value || !(*value >= -0x1p63 && *value < 0x1p63)) return std::nullopt;
  return static_cast<int64_t>(*value);
}

std::optional<double> JsonValue::AsNumber() const {
  if (const double* value = std::get_if<double>(&data_)) return *value;
  if (const int64_t* value = std::get_if<int64_t>(&data_)) return static_cast<double>(*value);
  if (const uint64_t* value = std::get_if<uint64_t>(&data_)) return static_cast<double>(*value);
  return std::nullopt;
}

std::optional<llvm::StringRef> JsonValue::AsString() const {
  const std::string* value = std::get_if<std::string>(&data_);
  return value ? std::optional<llvm::StringRef>(*value) : std::nullopt;
}

const JsonValue* JsonValue::Find(llvm::StringRef key) const {
  const JsonObject* object = AsObject();
  if (!object) return nullptr;
  const auto found = llvm::find_if(*object, [&](const JsonMember& m) { return m.key == key; });
  return found == object->end() ? nullptr : &found->value;
}

std::optional<bool> JsonValue::Bool(llvm::StringRef key) const { return Of(Find(key), &JsonValue::AsBool); }
std::optional<int64_t> JsonValue::Integer(llvm::StringRef key) const {
  return Of(Find(key), &JsonValue::AsInteger);
}
std::optional<double> JsonValue::Number(llvm::StringRef key) const {
  return Of(Find(key), &JsonValue::AsNumber);
}
std::optional<llvm::StringRef> JsonValue::String(llvm::StringRef key) const {
  return Of(Find(key), &JsonValue::AsString);
}
const JsonArray* JsonValue::Array(llvm::StringRef key) const { return Of(Find(key), &JsonValue::AsArray); }
const JsonValue* JsonValue::Object(llvm::StringRef key) const {
  const JsonValue* value = Find(key);
  return value && value->AsObject() ? value : nullptr;
}

void JsonValue::Set(llvm::StringRef key, JsonValue value) {
  if (!AsObject()) data_ = JsonObject();
  auto& object = std::get<JsonObject>(data_);
  const auto found = llvm::find_if(object, [&](const JsonMember& m) { return m.key == key; });
  if (found != object.end())
    found->value = std::move(value);
  else
    object.push_back({key.str(), std::move(value)});
}

void JsonValue::Erase(llvm::StringRef key) {
  if (auto* object = std::get_if<JsonObject>(&data_))
    llvm::erase_if(*object, [&](const JsonMember& m) { return m.key == key; });
}

void JsonValue::Sort() {
  if (auto* array = std::get_if<JsonArray>(&data_))
    for (JsonValue& element : *array) element.Sort();
  auto* object = std::get_if<JsonObject>(&data_);
  if (!object) return;
  llvm::sort(*object, [](const JsonMember& a, const JsonMember& b) { return a.key < b.key; });
  for (JsonMember& member : *object) member.value.Sort();
}

}  // namespace hlo

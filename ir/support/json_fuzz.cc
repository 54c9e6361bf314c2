// libFuzzer target: any bytes go through the reader of JSON without harm, and what is JSON is written to text
// that reads back as the same value, in all forms.
#include <cstdlib>

#include "ir/support/json.h"
#include "llvm/Support/raw_ostream.h"

namespace {

std::string Written(const hlo::JsonValue& value, unsigned indent, hlo::JsonWriter::Place place) {
  std::string text;
  llvm::raw_string_ostream os(text);
  hlo::JsonWriter(os, indent, place).Value(value);
  return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  const auto value = hlo::ParseJson(bytes);
  if (!value) return 0;
  const std::string text = ToString(*value);
  for (const unsigned indent : {0U, 2U})
    for (const auto place : {hlo::JsonWriter::Place::Anywhere, hlo::JsonWriter::Place::Script}) {
      const std::string written = Written(*value, indent, place);
      const auto again = hlo::ParseJson(written);
      if (again && ToString(*again) == text) continue;
      llvm::errs() << "what was written reads as another value\n" << written << '\n';
      std::abort();
    }
  return 0;
}

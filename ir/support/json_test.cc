#include "ir/support/json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace hlo {
namespace {

SourcePtr Source(std::string text) { return std::make_shared<SourceBuffer>("x.json", std::move(text)); }

/// The error's first line.
std::string ErrorOf(std::string text) {
  const auto document = ReadJson(Source(std::move(text)));
  if (document) return "no error";
  return llvm::StringRef(Render(document.error())).split('\n').first.str();
}

JsonValue Parsed(llvm::StringRef text) {
  auto value = ParseJson(text);
  EXPECT_TRUE(value) << text.str();
  return value ? std::move(*value) : JsonValue();
}

std::string Again(llvm::StringRef text) { return ToString(Parsed(text)); }

/// What `write` writes.
std::string Written(llvm::function_ref<void(JsonWriter&)> write, unsigned indent = 0,
                    JsonWriter::Place place = JsonWriter::Place::Anywhere) {
  std::string text;
  llvm::raw_string_ostream os(text);
  JsonWriter json(os, indent, place);
  write(json);
  return text;
}

/// `begin:end` of a value and of all its parts, in the order of the text.
void Places(const JsonValue& value, llvm::StringRef text, std::vector<std::string>& places) {
  places.push_back(text.slice(value.begin(), value.end()).str());
  if (value.AsArray())
    for (const JsonValue& v : *value.AsArray()) Places(v, text, places);
  if (value.AsObject())
    for (const JsonMember& m : *value.AsObject()) {
      EXPECT_EQ(text[m.key_begin], '"');
      Places(m.value, text, places);
    }
}

TEST(JsonReader, ValuesKnowTheirPlaces) {
  const std::string text = " { \"a\" :\n[1 , -2.5e1,\"s\\n\" ,true],\"b\":{ } , \"c\":null,\"d\":[[],7]}\n";
  const auto document = ReadJson(Source(text));
  ASSERT_TRUE(document);
  std::vector<std::string> places;
  Places(document->root, text, places);
  EXPECT_EQ(places,
            (std::vector<std::string>{llvm::StringRef(text).trim().str(), "[1 , -2.5e1,\"s\\n\" ,true]", "1",
                                      "-2.5e1", "\"s\\n\"", "true", "{ }", "null", "[[],7]", "[]", "7"}));
  const auto wrong = document->Wrong((*document->root.Array("a"))[1], "{0} is bad", "it");
  EXPECT_EQ(llvm::StringRef(Render(wrong.value())).split('\n').first,
            "x.json:2:6: error: it is bad [input-format]");
}

TEST(JsonReader, NumbersAloneKnowTheirPlaces) {
  for (const char* text : {"12", " 12", "12 ",
                           "\xef\xbb\xbf"
                           "12\n"}) {
    const auto document = ReadJson(Source(text));
    ASSERT_TRUE(document) << text;
    EXPECT_EQ(llvm::StringRef(text).slice(document->root.begin(), document->root.end()), "12");
  }
}

TEST(JsonReader, ErrorsOutliveTheText) {
  auto error = ReadJson(Source("[1,\n 2,, 3]")).error();
  EXPECT_EQ(
      Render(error),
      "x.json:2:4: error: JSON: syntax error while parsing value - unexpected ','; expected '[', '{', or a "
      "literal [input-format]\n    2 |  2,, 3]\n      |    ^\n");
}

TEST(JsonReader, ErrorsPointToWhatIsWrong) {
  const auto begins = [](std::string text, const std::string& with) {
    const std::string error = ErrorOf(std::move(text));
    EXPECT_EQ(error.substr(0, with.size()), with);
  };
  begins("", "x.json:1:1: error: JSON: ");
  begins("{\"a\" 1}",
         "x.json:1:6: error: JSON: syntax error while parsing object separator - unexpected number");
  begins("{\"a\":\n\ntru}", "x.json:3:4: error: JSON: syntax error while parsing value - invalid literal [");
  begins("[1, 2", "x.json:1:6: error: JSON: syntax error while parsing array - unexpected end of input");
  begins("[1] 2", "x.json:1:5: error: JSON: found more after the value");
  begins(std::string("[1]\0", 4), "x.json:1:4: error: JSON: found more after the value");
  begins("[\"a\tb\"]",
         "x.json:1:4: error: JSON: syntax error while parsing value - invalid string: control character");
  begins("[\"ab\xff\"]",
         "x.json:1:5: error: JSON: syntax error while parsing value - invalid string: ill-formed UTF-8");
  begins("[\"\xed\xa0\x80\"]", "x.json:1:");
  begins("[\"\\ud800\"]",
         "x.json:1:9: error: JSON: syntax error while parsing value - invalid string: surrogate");
  begins("[12, 1e999]", "x.json:1:6: error: JSON: number overflow parsing '1e999'");
  begins("{\"a\":1,\n\"b\":2,\n \"a\":3}",
         "x.json:3:2: error: JSON: key 'a' stands twice in one object [input-format]");
  begins("[01]", "x.json:1:3: error: JSON: syntax error while parsing array - unexpected number");
  begins("[nan]", "x.json:1:3: error: JSON: ");
  begins("[1,]", "x.json:1:4: error: JSON: syntax error while parsing value - unexpected ']'");
}

TEST(JsonReader, RepeatedKeysOfLargeObjectsAreFoundInTime) {
  std::string text = "{";
  for (int i = 0; i < 200000; ++i) text += "\"k" + std::to_string(i) + "\":0,";
  EXPECT_TRUE(ReadJson(Source(text + "\"k\":1}")));
  EXPECT_NE(ErrorOf(text + "\"k77\":1}").find("key 'k77' stands twice"), std::string::npos);
  // Keys of different objects may be the same.
  EXPECT_TRUE(ParseJson(R"({"a":{"a":1},"b":[{"a":1},{"a":1}]})"));
}

TEST(JsonReader, DepthIsBounded) {
  for (const auto& [open, close] : {std::pair("[", "]"), {"{\"a\":", "}"}}) {
    const auto nested = [&, first = open, last = close](size_t levels) {
      std::string text;
      for (size_t i = 0; i < levels; ++i) text += first;
      text += '0';
      for (size_t i = 0; i < levels; ++i) text += last;
      return text;
    };
    const std::string most = nested(kMostJsonLevels);
    EXPECT_EQ(Again(most), most);
    const auto error = ReadJson(Source(nested(kMostJsonLevels + 1))).error();
    EXPECT_EQ(error.id.text(), "limit-nesting");
    EXPECT_EQ(error.loc.begin, llvm::StringRef(open).size() * kMostJsonLevels);
    EXPECT_EQ(ReadJson(Source(nested(100000))).error().id.text(), "limit-nesting");
    EXPECT_FALSE(ParseJson(nested(100000)));
  }
}

TEST(JsonReader, NumbersAtTheLimits) {
  EXPECT_EQ(Parsed("9223372036854775807").AsInteger(), INT64_MAX);
  EXPECT_EQ(Parsed("-9223372036854775808").AsInteger(), INT64_MIN);
  EXPECT_EQ(Parsed("9223372036854775808").AsInteger(), std::nullopt);
  EXPECT_EQ(Parsed("9223372036854775808").AsNumber(), 0x1p63);
  EXPECT_EQ(Again("18446744073709551615"), "18446744073709551615");
  EXPECT_EQ(Parsed("18446744073709551616").AsNumber(), 0x1p64);
  EXPECT_EQ(Parsed("-9223372036854775809").AsNumber(), -0x1p63);
  EXPECT_EQ(Parsed("1e3").AsInteger(), 1000);
  EXPECT_EQ(Parsed("1.5").AsInteger(), std::nullopt);
  EXPECT_EQ(Parsed("1e300").AsInteger(), std::nullopt);
  EXPECT_EQ(Parsed("1.7976931348623157e308").AsNumber(), std::numeric_limits<double>::max());
  EXPECT_EQ(Parsed("5e-324").AsNumber(), std::numeric_limits<double>::denorm_min());
  EXPECT_TRUE(std::signbit(*Parsed("-0.0").AsNumber()));
}

TEST(JsonReader, ValuesOfOtherKindsAreNothing) {
  const JsonValue value = Parsed(R"({"s":"x","n":1,"b":true,"a":[1],"o":{"k":2},"z":null})");
  EXPECT_EQ(value.String("s"), "x");
  EXPECT_EQ(value.String("n"), std::nullopt);
  EXPECT_EQ(value.Integer("n"), 1);
  EXPECT_EQ(value.Integer("b"), std::nullopt);
  EXPECT_EQ(value.Bool("b"), true);
  EXPECT_EQ(value.Bool("n"), std::nullopt);
  EXPECT_EQ(value.Number("n"), 1.0);
  EXPECT_EQ(value.Number("s"), std::nullopt);
  EXPECT_EQ(value.Array("a")->size(), 1U);
  EXPECT_EQ(value.Array("o"), nullptr);
  EXPECT_EQ(value.Object("o")->Integer("k"), 2);
  EXPECT_EQ(value.Object("a"), nullptr);
  EXPECT_EQ(value.Find("none"), nullptr);
  EXPECT_TRUE(value.Find("z")->IsNull());
  EXPECT_EQ(Parsed("[1]").Find("a"), nullptr);
}

TEST(JsonReader, ManyValuesInOneText) {
  const SourcePtr source = Source("{\"a\":1}{\"a\":\n2} \n {\"a\":}");
  size_t at = 0;
  auto first = ReadJsonAt(source, at), second = ReadJsonAt(source, at);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->root.Integer("a"), 1);
  EXPECT_EQ(second->root.Integer("a"), 2);
  EXPECT_EQ(FindLineColumn(*source, second->root.Find("a")->begin()).line, 2U);
  EXPECT_EQ(at, 15U);
  const auto third = ReadJsonAt(source, at);
  ASSERT_FALSE(third);
  EXPECT_EQ(third.error().loc.begin, source->text().size() - 1);
}

constexpr llvm::StringLiteral kDocument =
    "{\"a\":[1,-2.5,1e10,true,false,null,\"x\\u00e9\\n\xc3\xa9\\ud83d\\ude00\"],\"b\":{\"c\":{},\"d\":[[],[{}"
    "]]}}";

TEST(JsonReader, DamagedTextsAreErrors) {
  ASSERT_TRUE(ParseJson(kDocument));
  for (size_t end = 0; end < kDocument.size(); ++end) {
    const auto document = ReadJson(Source(kDocument.take_front(end).str()));
    ASSERT_FALSE(document) << end;
    EXPECT_FALSE(Render(document.error()).empty());
  }
}

TEST(JsonReader, ChangedBytesNeverCrash) {
  // Every byte becomes every other: whatever reads as JSON can be written and read again.
  for (size_t i = 0; i < kDocument.size(); ++i)
    for (int byte = 0; byte < 256; ++byte) {
      std::string text = kDocument.str();
      text[i] = static_cast<char>(byte);
      const auto document = ReadJson(Source(text));
      if (document) {
        const std::string again = ToString(document->root);
        EXPECT_EQ(Again(again), again);
      } else {
        EXPECT_FALSE(Render(document.error()).empty());
      }
    }
}

TEST(JsonValue, MembersAreSetErasedAndSorted) {
  JsonValue value = Parsed(R"({"b":1,"c":[{"z":0,"y":0}],"a":2})");
  value.Set("b", JsonValue(std::string("x")));
  value.Set("0", JsonValue(true));
  EXPECT_EQ(ToString(value), R"({"b":"x","c":[{"z":0,"y":0}],"a":2,"0":true})");
  value.Erase("a");
  value.Erase("none");
  value.Sort();
  EXPECT_EQ(ToString(value), R"({"0":true,"b":"x","c":[{"y":0,"z":0}]})");
  JsonValue none;
  none.Set("a", JsonValue(uint64_t{1}));
  EXPECT_EQ(ToString(none), R"({"a":1})");
}

TEST(JsonWriter, KeepsTheOrderOfMembers) {
  const auto write = [](JsonWriter& json) {
    json.Object([&] {
      json.Member("z", 1);
      json.Member("a", nullptr);
      json.Array("list", [&] {
        json.Value("x");
        json.List({1, "y", true});
        json.Object([] {});
      });
      json.List("numbers", llvm::ArrayRef<int64_t>{1, -2});
      json.List("none", llvm::ArrayRef<int64_t>{});
      json.Object("o", [&] { json.Member("u", UINT64_MAX); });
      json.Array("lines", [&] {
        json.BreakLine();
        json.Value(1);
        json.BreakLine();
        json.Raw("2");
        json.BreakLine();
      });
    });
  };
  EXPECT_EQ(Written(write),
            "{\"z\":1,\"a\":null,\"list\":[\"x\",[1,\"y\",true],{}],\"numbers\":[1,-2],\"none\":[],"
            "\"o\":{\"u\":18446744073709551615},\"lines\":[\n1,\n2\n]}");
  EXPECT_EQ(Written(
                [](JsonWriter& json) {
                  json.Object([&] {
                    json.Array("a", [&] { json.List({1, 2}); });
                    json.Object("o", [] {});
                  });
                },
                2),
            "{\n  \"a\": [\n    [\n      1,\n      2\n    ]\n  ],\n  \"o\": {}\n}");
}

TEST(JsonWriter, StringsOfAnyBytesAreJson) {
  EXPECT_EQ(Written([](JsonWriter& json) { json.Value("\"\\\n\t\x01\x7f/\xc3\xa9"); }),
            "\"\\\"\\\\\\n\\t\\u0001\x7f/\xc3\xa9\"");
  EXPECT_EQ(Written([](JsonWriter& json) {
              json.Value(
                  "a\xff"
                  "b\xe2\x82");
            }),
            "\"a\xef\xbf\xbd"
            "b\xef\xbf\xbd\"");
  for (int byte = 0; byte < 256; ++byte)
    for (const char* before : {"", "\xe2", "\xe2\x80", "\xf0\x9f"}) {
      const std::string text = before + std::string(1, static_cast<char>(byte)) + "<";
      for (const auto place : {JsonWriter::Place::Anywhere, JsonWriter::Place::Script}) {
        const std::string json =
            Written([&](JsonWriter& w) { w.Object([&] { w.Member(text, text); }); }, 0, place);
        const JsonValue value = Parsed(json);
        ASSERT_EQ(value.AsObject()->size(), 1U);
        EXPECT_EQ(value.AsObject()->front().key, value.AsObject()->front().value.AsString());
      }
    }
}

TEST(JsonWriter, ScriptsAreNotEnded) {
  const std::string text = "</script> \xe2\x80\xa8 \xe2\x80\xa9 \xe2\x80\xaa \xe2";
  const std::string json = Written([&](JsonWriter& w) { w.Value(text); }, 0, JsonWriter::Place::Script);
  EXPECT_EQ(json, "\"\\u003c/script> \\u2028 \\u2029 \xe2\x80\xaa \xef\xbf\xbd\"");
}

TEST(JsonWriter, DoublesComeBack) {
  const auto text = [](double value) { return Written([&](JsonWriter& json) { json.Value(value); }); };
  EXPECT_EQ(text(0.1), "0.1");
  EXPECT_EQ(text(250.0), "250");
  EXPECT_EQ(text(-0.0), "-0.0");
  EXPECT_EQ(text(1e300), "1e+300");
  EXPECT_EQ(text(NAN), "\"nan\"");
  EXPECT_EQ(text(INFINITY), "\"inf\"");
  EXPECT_EQ(text(-INFINITY), "\"-inf\"");
  for (const double value : {0.1, 1.0 / 3, 0x1p53, 0x1p53 - 1, -0x1p53, 0x1p63, 0x1p64, 1e22, 123456789.125,
                             5e-324, 1.7976931348623157e308, 2.2250738585072014e-308})
    EXPECT_EQ(Parsed(text(value)).AsNumber(), value) << text(value);
}

TEST(JsonWriterDeathTest, MisuseEndsTheProgram) {
  const auto write = [](llvm::function_ref<void(JsonWriter&)> w) { Written(w); };
  EXPECT_DEATH(write([](JsonWriter&) {}), "ends before its value");
  EXPECT_DEATH(write([](JsonWriter& json) { json.Member("a", 1); }), "outside of an object");
  EXPECT_DEATH(write([](JsonWriter& json) { json.Object([&] { json.Value(1); }); }), "where none can be");
  EXPECT_DEATH(write([](JsonWriter& json) {
                 json.Value(1);
                 json.Value(2);
               }),
               "where none can be");
}

}  // namespace
}  // namespace hlo

#include "tools/proto/text_form.h"

#include <gtest/gtest.h>

#include "parser/parser.h"
#include "tools/proto/module_proto.h"
#include "tools/proto/read_module.h"

namespace hlo {
namespace {

Result<std::string> ToBytes(std::string text) {
  return ProtoTextToBytes(std::make_shared<SourceBuffer>("test.pbtxt", std::move(text)));
}

std::string Error(std::string text) {
  const auto bytes = ToBytes(std::move(text));
  return bytes ? "" : bytes.error().message;
}

std::string Program() {
  const ParseResult parsed = ParseModule(R"(HloModule m
ENTRY e {
  p = f32[2] parameter(0), metadata={op_name="a\"b\n\303"}
  c = f32[2] constant({-inf, 1e-45})
  d = f64[1] constant({0.1})
  u = u64[1] constant({18446744073709551615})
  i = s8[2] constant({-128, 34})
  z = c64[1] constant({(-0, 3)})
  q = pred[2] compare(p, c), direction=LT
  ROOT t = (pred[2], f64[1], u64[1], s8[2], c64[1]) tuple(q, d, u, i, z)
})",
                                         "test.hlo");
  return *HloProtoBytes(*parsed.module);
}

TEST(ProtoText, ReadsBackAsTheSameBytes) {
  const std::string bytes = Program();
  const std::string text = ProtoBytesToText(bytes, "HloProto");
  const auto again = ToBytes(text);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*again, bytes);
}

TEST(ProtoText, TakesOtherSpellings) {
  const auto bytes =
      ToBytes("# proto-file: hlo.proto\nname: 'a' \"b\\x63\\144\"; computations <id: 0x10, name: \"\">");
  ASSERT_TRUE(bytes);
  EXPECT_EQ(*bytes, std::string("\x0a\x04"
                                "abcd\x1a\x04\x28\x10\x0a\x00",
                                12));
}

TEST(ProtoText, NamesWhatIsWrong) {
  EXPECT_EQ(Error("name \"x\""), "expected ':' after 'name'");
  EXPECT_EQ(Error("nam: 1"), "found 'nam', which is no field of HloModuleProto");
  EXPECT_EQ(Error("name: x"), "expected a text in quotes");
  EXPECT_EQ(Error("name: \"x"), "expected \" at the end of a text");
  EXPECT_EQ(Error("name: \"\\q\""), "found a malformed escape sequence");
  EXPECT_EQ(Error("id: x"), "found 'x' as id, expected an integer");
  EXPECT_EQ(Error("computations { is_fusion_computation: 2"),
            "found '2' as is_fusion_computation, expected true or false");
  EXPECT_EQ(Error("host_program_shape { result { element_type: F31 } }"),
            "found 'F31' as element_type, expected a word of the enumeration");
  EXPECT_EQ(Error("computations {"), "found the end of the text, expected '}'");
  EXPECT_EQ(Error("host_program_shape { result { dimensions: [1 2] } }"),
            "expected ',' or ']' in the list of 'dimensions'");
  std::string deep = "host_program_shape { result {";
  for (int i = 0; i < 300; ++i) deep += " tuple_shapes {";
  EXPECT_EQ(Error(deep), "messages within each other are more than 256 levels deep");
}

TEST(ProtoText, PointsToWhatIsWrong) {
  const auto source = std::make_shared<SourceBuffer>("test.pbtxt", "name: 'm'\n computations { opcod: 1 }");
  const auto bytes = ProtoTextToBytes(source);
  ASSERT_FALSE(bytes);
  EXPECT_EQ(bytes.error().loc.source, source.get());
  EXPECT_EQ(bytes.error().loc.begin, 26U);
}

TEST(ProtoText, SurvivesWhateverTheTextIs) {
  const std::string text = ProtoBytesToText(Program(), "HloProto");
  size_t read = 0;
  for (size_t at = 0; at < text.size(); at += 3) {
    (void)ToBytes(text.substr(0, at)).has_value();
    for (const char by : {'{', '}', '"', ':', '-', '7', '\0', '\\'}) {
      std::string changed = text;
      changed[at] = by;
      const auto bytes = ToBytes(changed);
      if (bytes) read += ReadModuleProto(std::make_shared<SourceBuffer>("test.pb", *bytes)).has_value();
    }
  }
  EXPECT_GT(read, 0U);
}

}  // namespace
}  // namespace hlo

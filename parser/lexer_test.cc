#include "parser/lexer.h"

#include <cmath>

#include "gtest/gtest.h"

namespace hlo {
namespace {

/// The tokens of a text, each as `Kind:spelling`, separated by blanks.
std::string Tokens(llvm::StringRef text) {
  static constexpr llvm::StringRef kNames[] = {
#define HLO_TOKEN(Kind, description) #Kind,
#include "parser/tokens.def"
  };
  Lexer lexer(text, 0, text.size());
  std::string result;
  for (Token t;;) {
    lexer.Lex(t);
    if (t.kind == TokenKind::Eof) return result;
    if (!result.empty()) result += ' ';
    result += (kNames[static_cast<size_t>(t.kind)] + ":" + text.slice(t.begin, t.end)).str();
    if (t.kind == TokenKind::Error) return result;
  }
}

TEST(Lexer, ClassifiesWordsInOrder) {
  EXPECT_EQ(Tokens("%true f32: dims= f32 nan true b01f_01io->b01f x.1-"),
            "Name:%true Name:f32: AttrName:dims= Type:f32 Decimal:nan True:true DimLabels:b01f_01io->b01f "
            "Ident:x.1-");
  EXPECT_EQ(Tokens("a->b"), "Ident:a- Error:>");
  EXPECT_EQ(Tokens("%p: %x=1"), "Name:%p Colon:: Name:%x Equal:= Int:1");
}

TEST(Lexer, TriesNumberFormsInOrder) {
  EXPECT_EQ(Tokens("1 -1 1.5 1. -.5 1e5 1E-2 -2.5e+3"),
            "Int:1 Int:-1 Decimal:1.5 Decimal:1. Decimal:-.5 Decimal:1e5 Decimal:1E-2 Decimal:-2.5e+3");
  EXPECT_EQ(Tokens("3x3x1 0_0x-1_2_1 01bf_01io->01bf ??_io->bf"),
            "DxD:3x3x1 Pad:0_0x-1_2_1 DimLabels:01bf_01io->01bf DimLabels:??_io->bf");
  EXPECT_EQ(Tokens("-inf -nan ? -> <= ..."),
            "NegInf:-inf Decimal:-nan Question:? Arrow:-> LessEqual:<= Ellipsis:...");
  EXPECT_EQ(Tokens("2x 1e"), "Int:2 Ident:x Int:1 Ident:e");
  EXPECT_EQ(Tokens(".5"), "Error:.");
  EXPECT_EQ(Tokens("- 5"), "Error:-");
}

TEST(Lexer, KeepsNanPayloads) {
  EXPECT_EQ(Tokens("nan(0x5) -nan(0xfffffffffffff)"), "Decimal:nan(0x5) Decimal:-nan(0xfffffffffffff)");
  EXPECT_EQ(Tokens("nan(0x0)"), "Error:nan(");
  EXPECT_EQ(Tokens("nan(0x10000000000000)"), "Error:nan(");
  EXPECT_EQ(NanPayload("-nan(0x1f)"), 0x1fu);
}

TEST(Lexer, ChecksTheRangeOfIntegers) {
  EXPECT_EQ(Tokens("18446744073709551615 -9223372036854775808"),
            "Int:18446744073709551615 Int:-9223372036854775808");
  EXPECT_EQ(Tokens("18446744073709551616").substr(0, 5), "Error");
  EXPECT_EQ(Tokens("-9223372036854775809").substr(0, 5), "Error");
}

TEST(Lexer, SkipsComments) {
  EXPECT_EQ(Tokens("a/*x*/b//c\nd"), "Ident:a Ident:b Ident:d");
  EXPECT_EQ(Tokens("a /* b"), "Ident:a Error:/*");
  EXPECT_EQ(Tokens(llvm::StringRef("/*\0*/", 5)), std::string("Error:") + '\0');
}

TEST(Lexer, ChecksStrings) {
  EXPECT_EQ(Tokens("\"a\\\"b\" 'c\nd'"), "String:\"a\\\"b\" String:'c\nd'");
  EXPECT_EQ(Tokens("\"\xff\"").substr(0, 5), "Error");
  EXPECT_EQ(Tokens("\"\xed\xa0\x80\""), "String:\"\xed\xa0\x80\"");
  EXPECT_EQ(Tokens("\xc3\xa4").substr(0, 5), "Error");
}

TEST(Lexer, FindsTheEndOfJson) {
  const llvm::StringRef text = "{\"a\":\"}\\\"}\",'}";
  EXPECT_EQ(Lexer(text, 0, text.size()).FindJsonEnd(0), text.size());
  EXPECT_EQ(Lexer("{{}", 0, 3).FindJsonEnd(0), 0u);
}

TEST(Lexer, ResolvesEscapes) {
  std::string out;
  size_t bad = 0;
  EXPECT_TRUE(Unescape("\\n\\101\\x41\\u00e4\\U0001F600\\\\", out, bad));
  EXPECT_EQ(out, "\nAA\xc3\xa4\xf0\x9f\x98\x80\\");
  EXPECT_FALSE(Unescape("ab\\q", out, bad));
  EXPECT_EQ(bad, 2u);
  EXPECT_FALSE(Unescape("\\400", out, bad));
  EXPECT_FALSE(Unescape("\\ud800", out, bad));
}

TEST(Lexer, ConvertsDecimals) {
  EXPECT_EQ(DecimalValue("-.5"), -0.5);
  EXPECT_EQ(DecimalValue("1.e2"), 100);
  EXPECT_TRUE(std::isinf(DecimalValue("1e400")));
  EXPECT_EQ(DecimalValue("1e-400"), 0);
}

}  // namespace
}  // namespace hlo

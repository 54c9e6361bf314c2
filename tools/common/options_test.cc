// Option syntax.
#include "tools/common/help_forms.h"

#include <gtest/gtest.h>

namespace hlo {
namespace {

enum class Fruit : uint8_t { Apple, Pear };

struct Sample {
  bool flag = false, on = true;
  int64_t number = 0;
  std::string text, maybe;
  std::vector<std::string> items;
  ByteCount size;
  std::chrono::milliseconds time{0};
  Fruit fruit = Fruit::Apple;
  Count loud;
};

}  // namespace
template <>
inline constexpr OptionWord<Fruit> kOptionWords<Fruit>[] = {{"apple", Fruit::Apple}, {"pear", Fruit::Pear}};
namespace {

constexpr OptionRow kRows[] = {
    Option<&Sample::flag>("some-flag", "", "", "a flag").Letter('f'),
    Option<&Sample::on>("on", "", "on", "a flag"),
    Option<&Sample::number>("number", "N", "0", "a number").Letter('n'),
    Option<&Sample::text>("text", "T", "", "a text"),
    Option<&Sample::maybe>("maybe", "M", "", "an optional value").Bare("bare"),
    Option<&Sample::items>("item", "I", "", "a list"),
    Option<&Sample::size>("size", "S", "", "a size"),
    Option<&Sample::time>("time", "D", "", "a duration"),
    Option<&Sample::fruit>("fruit", "F", "", "a word"),
    Option<&Sample::loud>("loud", "", "", "a count").Letter('l'),
};
constexpr OptionAlias kAliases[] = {
    {"xla_words", "text"}, {"off", "on", "", true}, {"pear", "fruit", "pear"}};
constexpr UnavailableOption kLater[] = {{"later", "the future"}};
constexpr ToolInfo kTool = {"sample", "samples.", "", kAliases, kLater, {}};

struct Parsed {
  Sample sample;
  Result<CommandLine> result;
};

Parsed Parse(const std::vector<const char*>& args, const OptionSources& sources = {}) {
  Parsed parsed{{}, CommandLine{}};
  const OptionGroup group = {"Sample", kRows, &parsed.sample};
  parsed.result = ParseCommandLine(kTool, group, args, sources);
  return parsed;
}

std::string ErrorOf(const std::vector<const char*>& args) {
  const Parsed parsed = Parse(args);
  return parsed.result ? "" : parsed.result.error().message;
}

std::string HelpAs(llvm::StringRef form) {
  Sample sample;
  std::string text;
  llvm::raw_string_ostream os(text);
  const Status printed = PrintHelpAs(form, kTool, OptionGroup{"Sample", kRows, &sample}, os);
  return printed ? text : printed.error().message;
}

TEST(Options, HelpHasForms) {
  const std::string man = HelpAs("man");
  EXPECT_NE(man.find(".TH SAMPLE 1 "), std::string::npos);
  EXPECT_NE(man.find(".B \\-f, \\-\\-some\\-flag\na flag\n"), std::string::npos);
  EXPECT_NE(man.find(".B \\-\\-[no\\-]on\n"), std::string::npos);
  EXPECT_NE(man.find("\\-\\-maybe[=M]\n"), std::string::npos);
  const std::string bash = HelpAs("bash");
  EXPECT_NE(bash.find(" --on --no-on --off --number= --text= --xla_words= --maybe --item="),
            std::string::npos);
  EXPECT_NE(bash.find(" --fruit= --pear --loud\"\n"), std::string::npos);
  EXPECT_NE(HelpAs("zsh").find("'*--number=[a number \\[0\\]]:N: ' \\\n"), std::string::npos);
  EXPECT_NE(HelpAs("fish").find("complete -c sample -s f -l some-flag -d 'a flag'\n"), std::string::npos);
  EXPECT_NE(HelpAs("fish").find("complete -c sample -s n -l number -r -f -d 'a number [0]'\n"),
            std::string::npos);
  EXPECT_NE(bash.find("    --fruit) words='apple pear' ;;\n"), std::string::npos);
  EXPECT_NE(HelpAs("zsh").find("'*--fruit=[a word]:F:(apple pear)' \\\n"), std::string::npos);
  EXPECT_NE(HelpAs("fish").find("-l fruit -r -f -a 'apple pear' -d 'a word'\n"), std::string::npos);
  EXPECT_EQ(HelpAs("html"), "option '--help-as': found 'html', expected one of man, bash, zsh, fish");
}

TEST(Options, EverySpelling) {
  const Parsed p =
      Parse({"--some_flag", "--no-on", "--number", "3", "-n4", "--maybe", "a", "--item=x", "--item", "y",
             "-ll", "-", "--size=1.5K", "--time=2s", "--fruit=PEAR", "--", "--text"});
  ASSERT_TRUE(p.result);
  EXPECT_TRUE(p.sample.flag);
  EXPECT_FALSE(p.sample.on);
  EXPECT_EQ(p.sample.number, 4);
  EXPECT_EQ(p.sample.maybe, "bare");
  EXPECT_EQ(p.sample.items, (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(p.sample.loud.value, 2);
  EXPECT_EQ(p.sample.size.bytes, 1536);
  EXPECT_EQ(p.sample.time.count(), 2000);
  EXPECT_EQ(p.sample.fruit, Fruit::Pear);
  EXPECT_EQ(p.result->positional, (std::vector<std::string>{"a", "-", "--text"}));
}

TEST(Options, BooleansAndAliases) {
  EXPECT_FALSE(Parse({"--on=off"}).sample.on);
  EXPECT_FALSE(Parse({"--on=0"}).sample.on);
  EXPECT_FALSE(Parse({"--off"}).sample.on);
  EXPECT_TRUE(Parse({"--no-off"}).sample.on);
  EXPECT_TRUE(Parse({"--no-on", "--on"}).sample.on);
  EXPECT_EQ(Parse({"--xla_words=z"}).sample.text, "z");
  EXPECT_EQ(Parse({"--pear"}).sample.fruit, Fruit::Pear);
  EXPECT_EQ(Parse({"--pear=false"}).sample.fruit, Fruit::Apple);
}

TEST(Options, Errors) {
  EXPECT_EQ(ErrorOf({"--numbre=3"}), "unknown option '--numbre'; did you mean '--number'?");
  EXPECT_EQ(ErrorOf({"-q"}), "unknown option '-q'");
  EXPECT_EQ(ErrorOf({"--number=many"}), "option '--number': found 'many', expected an integer");
  EXPECT_EQ(ErrorOf({"--number"}), "option '--number' needs a value N");
  EXPECT_EQ(ErrorOf({"--text", "--number=3"}), "option '--text' needs a value T");
  EXPECT_EQ(ErrorOf({"--some-flag=perhaps"}),
            "option '--some-flag': found 'perhaps', expected on, off, true, false, 1 or 0");
  EXPECT_EQ(ErrorOf({"--fruit=peer"}),
            "option '--fruit': found 'peer', expected one of apple, pear; did you mean 'pear'?");
  EXPECT_EQ(ErrorOf({"--size=big"}), "option '--size': found 'big', expected a size such as 64K, 2M or 1.5G");
  EXPECT_EQ(ErrorOf({"--later"}), "option '--later': the future is not available yet");
}

// What CLI11 would take for something else by itself.
TEST(Options, WordsThatLookLikeOthers) {
  EXPECT_EQ(Parse({"--number", "-1"}).sample.number, -1);
  EXPECT_EQ(Parse({"--text", "-x"}).sample.text, "-x");
  EXPECT_EQ(Parse({"--text", "--neither_known"}).sample.text, "--neither_known");
  EXPECT_EQ(Parse({"--text=--number=3"}).sample.text, "--number=3");
  const Parsed empty = Parse({"--item=", "a"});
  EXPECT_EQ(empty.sample.items, (std::vector<std::string>{""}));
  EXPECT_EQ(empty.result->positional, (std::vector<std::string>{"a"}));
  const Parsed brackets = Parse({"[a,b]", "--item=[c,d]", "--item", "{e}", "++", "/windows:style", "@"});
  EXPECT_EQ(brackets.result->positional, (std::vector<std::string>{"[a,b]", "++", "/windows:style", "@"}));
  EXPECT_EQ(brackets.sample.items, (std::vector<std::string>{"[c,d]", "{e}"}));
  EXPECT_EQ(Parse({"--maybe", "bare=no"}).sample.maybe, "bare");
  EXPECT_EQ(Parse({"--maybe=a,b{c}!"}).sample.maybe, "a,b{c}!");
  EXPECT_EQ(Parse({"-n=5"}).sample.number, 5);
  EXPECT_EQ(Parse({"-lfln", "6"}).sample.number, 6);
  EXPECT_EQ(ErrorOf({"-n"}), "option '-n' needs a value N");
  EXPECT_EQ(ErrorOf({"-n", "--text=a"}), "option '-n' needs a value N");
  EXPECT_EQ(ErrorOf({"--text=", "a"}), "option '--text' needs a value T");
  EXPECT_EQ(ErrorOf({"-lq"}), "unknown option '-q'");
  EXPECT_EQ(ErrorOf({"--some-flag="}),
            "option '--some-flag': found '', expected on, off, true, false, 1 or 0");
  EXPECT_EQ(ErrorOf({"--", "--numbre"}), "");
}

// How errors are shown is among what is understood.
TEST(Options, WhatIsUnderstoodIsSetBesideErrors) {
  for (const std::vector<const char*>& wrong : {std::vector<const char*>{"--text"},
                                                {"-ln"},
                                                {"--some-flag=perhaps"},
                                                {"--unheard-of"},
                                                {"--number=x"}}) {
    std::vector<const char*> args = wrong;
    args.insert(args.end(), {"--fruit=pear", "a"});
    args.insert(args.begin(), "--no-on");
    const Parsed p = Parse(args);
    EXPECT_FALSE(p.result) << wrong.front();
    EXPECT_EQ(p.sample.fruit, Fruit::Pear) << wrong.front();
    EXPECT_FALSE(p.sample.on) << wrong.front();
  }
  EXPECT_EQ(Parse({"-ln", "--on"}).sample.loud.value, 1);
  // The error in a configuration file names its line.
  OptionSources sources;
  sources.config_name = "c";
  sources.config_text = "fruit=pear\nnumber=1\nunheard-of=1\n";
  const Parsed p = Parse({}, sources);
  ASSERT_FALSE(p.result);
  EXPECT_EQ(p.result.error().file, "c:3");
  EXPECT_EQ(p.sample.fruit, Fruit::Pear);
}

// The last of several counts, whatever they are called.
TEST(Options, SpellingsOfOneOptionKeepTheirOrder) {
  EXPECT_EQ(Parse({"--text=a", "--xla_words=b"}).sample.text, "b");
  EXPECT_EQ(Parse({"--xla_words=a", "--text=b"}).sample.text, "b");
  EXPECT_EQ(Parse({"--text=a", "--xla_words=b", "--text=c"}).sample.text, "c");
  EXPECT_EQ(Parse({"-n1", "--number=2", "-n", "3"}).sample.number, 3);
}

TEST(Options, SourcesByPrecedence) {
  OptionSources sources;
  sources.config_text = "# comment\nnumber=1\ntext: from config\nitem=c1\nitem=c2\n";
  sources.xla_flags = "--number=2 --item=x '--text=two words' --xla_unknown=1";
  Parsed p = Parse({}, sources);
  ASSERT_TRUE(p.result);
  EXPECT_EQ(p.sample.number, 2);
  EXPECT_EQ(p.sample.text, "two words");
  EXPECT_EQ(p.sample.items, (std::vector<std::string>{"x"}));
  EXPECT_TRUE(p.result->warnings.empty());
  p = Parse({"--number=3", "--xla_unknown"}, sources);
  EXPECT_EQ(p.sample.number, 3);
  ASSERT_EQ(p.result->warnings.size(), 1u);
  EXPECT_EQ(p.result->warnings.front().id.text(), "xla-flag-ignored");
  sources.strict_xla_flags = true;
  EXPECT_FALSE(Parse({}, sources).result);
}

TEST(Options, SizesAndDurations) {
  EXPECT_EQ(ParseByteCount("2M"), 2 << 20);
  EXPECT_EQ(ParseByteCount("2MiB"), 2 << 20);
  EXPECT_EQ(ParseByteCount("7"), 7);
  EXPECT_FALSE(ParseByteCount("-1"));
  EXPECT_FALSE(ParseByteCount("99999999999G"));
  EXPECT_EQ(ParseDuration("500ms")->count(), 500);
  EXPECT_EQ(ParseDuration("5m")->count(), 300000);
  EXPECT_EQ(ParseDuration("1.5")->count(), 1500);
  EXPECT_EQ(FormatBytes(1023), "1023 B");
  EXPECT_EQ(FormatBytes(96 << 20), "96.0 MiB");
}

}  // namespace
}  // namespace hlo

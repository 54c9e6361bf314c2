#include "tools/testing/runner.h"

#include "gtest/gtest.h"
#include "llvm/Support/FileSystem.h"
#include "tools/opt/check_block.h"

namespace hlo::testing {
namespace {

/// Prints its arguments one per line, then its input; exits 3 with a diagnostic if told to.
int Echo(llvm::ArrayRef<const char*> args, llvm::StringRef input, llvm::raw_ostream& out,
         llvm::raw_ostream& err) {
  std::string file;
  for (const llvm::StringRef arg : args) {
    if (arg.ends_with(".hlo")) file = arg.str();
    if (arg == "--fail") {
      err << file << ":5:3: error: unknown opcode 'x' [parse-x]\n    5 | foo\n";
      return 3;
    }
    if (arg == "--fail-usage") {
      err << "error: unknown option [usage-option]\n";
      return 2;
    }
    out << arg << '\n';
  }
  out << input;
  return 0;
}

/// The log of running the only case of `text`; empty if it passes.
std::string LogOf(llvm::StringRef text) {
  ToolTable tools;
  tools["echo"] = Echo;
  tools["hlo-run"] = Echo;
  llvm::SmallString<128> folder;
  EXPECT_FALSE(llvm::sys::fs::createUniqueDirectory("runner_test", folder));
  Runner runner(tools, folder.str().str());
  const auto cases = ParseTestFile("dir/a_test.hlo", text);
  if (!cases) return cases.error().message;
  std::string log;
  for (const TestCase& test : *cases) log += runner.Run(test).log;
  llvm::sys::fs::remove_directories(folder);
  return log;
}

TEST(Runner, PipesAndChecks) {
  EXPECT_EQ(LogOf("// RUN: echo a 'b c' | echo - | FileCheck %s\n// CHECK: -\n// CHECK-NEXT: a\n// "
                  "CHECK-NEXT: b c\n"),
            "");
  EXPECT_EQ(LogOf("// RUN: echo a\n// CHECK: {{^}}a\n"), "");  // FileCheck is implied
  const std::string log = LogOf("\n// RUN: echo a\n// CHECK: b\n");
  EXPECT_NE(log.find("dir/a_test.hlo:3:11: error: CHECK: expected string not found"), std::string::npos)
      << log;
  EXPECT_NE(log.find("FAIL dir/a_test.hlo:1"), std::string::npos) << log;
}

TEST(Runner, RedirectionsAndSubstitutions) {
  EXPECT_EQ(LogOf("// RUN: echo x > %t.txt\n// RUN: cat %t.txt | FileCheck %s\n// CHECK: x\n"), "");
  EXPECT_EQ(
      LogOf(
          "// RUN: echo %S %% < %s | FileCheck %s\n// CHECK: dir\n// CHECK-NEXT: %\n// CHECK-NEXT: RUN\nm\n"),
      "");
  EXPECT_NE(LogOf("// RUN: echo 'a\nm").find("unclosed quote"), std::string::npos);
  EXPECT_NE(LogOf("// RUN: nothing %s\nm").find("unknown program 'nothing'"), std::string::npos);
}

TEST(Runner, ErrorsCorrespondToAnnotations) {
  const char* module = "// RUN: echo %s --fail\n\n\n\nfoo  // ERROR: opcode 'x' [parse-x]\n";
  EXPECT_EQ(LogOf(module), "");
  EXPECT_EQ(LogOf("// RUN: echo %s --fail\n\n\n// ERROR@+1: unknown {{op[a-z]+}} 'x'\nfoo\n"), "");
  EXPECT_EQ(LogOf("// RUN: echo --fail-usage\n// ERROR@0: unknown option\n"), "");
  const std::string wrong_line = LogOf("// RUN: echo %s --fail\n\n\nfoo  // ERROR: opcode\n\n");
  EXPECT_NE(wrong_line.find("no error at line 4 contains 'opcode'"), std::string::npos) << wrong_line;
  EXPECT_NE(wrong_line.find(":5: unexpected error: unknown opcode"), std::string::npos) << wrong_line;
  EXPECT_NE(LogOf("// RUN: echo\nfoo  // ERROR: opcode\n").find("exit code 0, expected not 0"),
            std::string::npos);
}

TEST(Runner, ExitCodes) {
  EXPECT_EQ(LogOf("// RUN: echo --fail-usage\n// EXIT: 2\n// STDERR: unknown option\nm\n"), "");
  EXPECT_NE(LogOf("// RUN: echo --fail-usage\n// EXIT: 3\nm\n").find("exit code 2, expected 3"),
            std::string::npos);
  EXPECT_NE(LogOf("// RUN: echo --fail-usage\nm\n").find("exit code 2, expected 0"), std::string::npos);
  EXPECT_EQ(LogOf("// RUN: not echo --fail-usage\nm\n"), "");
}

TEST(Runner, InputAndExpectBecomeOptions) {
  EXPECT_EQ(
      LogOf(
          "// RUN: hlo-run m\n// INPUT: {1, 2}\n// EXPECT: f32[] 3\n// CHECK: --input={1, 2}\n"
          "// CHECK-NEXT: --expected=f32[] 3\n// CHECK-NEXT: --abs-error=0\n// CHECK-NEXT: --rel-error=0\n"),
      "");
  EXPECT_NE(LogOf("// RUN: hlo-run m --tolerance=exact\n// EXPECT: 3\n// CHECK: --abs-error\n"), "");
}

TEST(TestFile, ChunksInheritCommands) {
  const auto cases =
      ParseTestFile("f", "// header\n// RUN: a \\\n// RUN: b\n// -----\nx\n// -----\n// RUN: c\ny\n");
  ASSERT_TRUE(cases);
  ASSERT_EQ(cases->size(), 2U);
  EXPECT_EQ((*cases)[0].first_line, 5U);
  EXPECT_EQ((*cases)[0].runs[0].command, "a b");
  EXPECT_EQ((*cases)[1].runs[0].command, "c");
  EXPECT_EQ((*cases)[1].PaddedText(), "\n\n\n\n\n\n// RUN: c\ny\n");
  EXPECT_FALSE(ParseTestFile("f", "x\n"));
  EXPECT_FALSE(ParseTestFile("f", "// RUN: a\n// EXIT: x\n"));
}

TEST(TestFile, CommandsMayNeedInstructions) {
  const auto cases = ParseTestFile("f", "// RUN: a\n// RUN[avx2,avx512f]: b \\\n// RUN: c\nx\n");
  ASSERT_TRUE(cases);
  EXPECT_EQ((*cases)[0].runs[0].features, std::vector<std::string>());
  EXPECT_EQ((*cases)[0].runs[1].features, (std::vector<std::string>{"avx2", "avx512f"}));
  EXPECT_EQ((*cases)[0].runs[1].command, "b c");
  EXPECT_FALSE(ParseTestFile("f", "// RUN[avx3]: a\nx\n"));
}

TEST(CheckBlock, NamesBecomeVariables) {
  EXPECT_EQ(GenerateChecks("%a.1 = f32[] add(%b, %b)\n\nROOT %a_1 = {{1,2}}, x=\"%q\"\n"),
            "// CHECK: %[[A_1:[A-Za-z0-9_.-]+]] = f32[] add(%[[B:[A-Za-z0-9_.-]+]], %[[B]])\n"
            "// CHECK: ROOT %[[A_1_1:[A-Za-z0-9_.-]+]] = {{\\{\\{}}1,2}}, x=\"%q\"\n");
}

TEST(CheckBlock, OnlyTheBlockBehindTheBannerIsReplaced) {
  const std::string banner = kCheckBanner.str() + "\n";
  EXPECT_EQ(ReplaceCheckBlock("// RUN: x\n" + banner + "// CHECK: old\n// CHECK-NEXT: old\nm // CHECK: y\n",
                              "new\n"),
            "// RUN: x\n" + banner + "// CHECK: new\nm // CHECK: y\n");
  EXPECT_EQ(ReplaceCheckBlock("// CHECK: old\n", "new\n"), std::nullopt);
}

}  // namespace
}  // namespace hlo::testing

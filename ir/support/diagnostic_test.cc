#include "ir/support/diagnostic.h"

#include <set>

#include "gtest/gtest.h"
#include "ir/support/result.h"
#include "llvm/ADT/StringExtras.h"

namespace hlo {
namespace {

/// The range of `word` in `source`.
Loc Find(const SourceBuffer& source, llvm::StringRef word) {
  const size_t at = source.text().find(word);
  EXPECT_NE(at, llvm::StringRef::npos) << word.str();
  return {&source, static_cast<uint32_t>(at), static_cast<uint32_t>(at + word.size())};
}

TEST(DiagnosticTable, IdsAreUniqueAndKebabCase) {
  std::set<llvm::StringRef> seen;
  for (const DiagnosticInfo& info : AllDiagnostics()) {
    EXPECT_TRUE(seen.insert(info.name).second) << info.name.str() << " stands twice in diagnostics.def";
    EXPECT_TRUE(llvm::all_of(info.name, [](char c) {
      return llvm::isLower(c) || llvm::isDigit(c) || c == '-';
    })) << info.name.str();
    EXPECT_TRUE(info.explanation.ends_with(".")) << info.name.str();
    // Remarks never become errors.
    EXPECT_EQ(info.exit == ExitCode::Success, info.severity == Severity::Remark) << info.name.str();
  }
}

TEST(DiagnosticTable, NamesAtRunTimeFindRows) {
  for (const DiagnosticInfo& info : AllDiagnostics()) {
    const std::optional<DiagnosticId> id = DiagnosticId::Find(info.name);
    ASSERT_TRUE(id) << info.name.str();
    EXPECT_EQ(id->text(), info.name);
    EXPECT_EQ(&DiagnosticInfo::Of(*id), &info);
  }
  EXPECT_EQ(DiagnosticId::Find("verify-shap"), std::nullopt);
  EXPECT_EQ(DiagnosticId::Find(""), std::nullopt);
  EXPECT_TRUE(DiagnosticId().empty());
  static_assert(DiagnosticId("verify-shape") != DiagnosticId("verify-name"));
}

TEST(Render, PlaceExcerptCaretAndNote) {
  const SourceBuffer source("mlp.hlo", "\n\n\n\n\n\n  %m = f32[4,8]{1,0} mutliply(%x, %w)\n");
  Diagnostic d =
      MakeError("parse-unknown-opcode", Find(source, "mutliply"), "unknown opcode '{0}'", "mutliply");
  d.Note("did you mean 'multiply'?");
  EXPECT_EQ(Render(d),
            "mlp.hlo:7:22: error: unknown opcode 'mutliply' [parse-unknown-opcode]\n"
            "    7 |   %m = f32[4,8]{1,0} mutliply(%x, %w)\n"
            "      |                      ^~~~~~~~\n"
            "mlp.hlo:7:22: note: did you mean 'multiply'?\n");
}

TEST(Render, NoteElsewhereShowsItsOwnLine) {
  const SourceBuffer source("d.hlo", "%b = s32[]\n%d = f32[]\n");
  Diagnostic d = MakeError("verify-shape", Find(source, "%d"), "wrong");
  d.Note(Find(source, "%b"), "operand 1 is defined here");
  EXPECT_EQ(Render(d),
            "d.hlo:2:1: error: wrong [verify-shape]\n"
            "    2 | %d = f32[]\n"
            "      | ^~\n"
            "d.hlo:1:1: note: operand 1 is defined here\n"
            "    1 | %b = s32[]\n"
            "      | ^~\n");
}

TEST(Render, WithoutTextPosition) {
  Diagnostic d = MakeError("input-open", {}, "cannot open: {0}", "No such file or directory");
  d.file = "missing.hlo";
  EXPECT_EQ(Render(d), "missing.hlo: error: cannot open: No such file or directory [input-open]\n");
  d.file.clear();
  d.context = "in %a of computation %c";
  EXPECT_EQ(Render(d),
            "error: cannot open: No such file or directory in %a of computation %c [input-open]\n");
}

TEST(Render, CountsManyLines) {
  const SourceBuffer source("u", std::string(700, '\n') + "x\n");
  const LineColumn at = FindLineColumn(source, 700);
  EXPECT_EQ(at.line, 701U);
  EXPECT_EQ(at.column, 1U);
}

TEST(Render, ColumnsCountCharacters) {
  const SourceBuffer source("u", "/* äöü€ */ x\n\ty\n");
  EXPECT_EQ(FindLineColumn(source, Find(source, "x").begin).column, 12U);
  const Loc y = Find(source, "y");
  EXPECT_EQ(FindLineColumn(source, y.begin).line, 2U);
  EXPECT_EQ(FindLineColumn(source, y.begin).column, 2U);
  EXPECT_EQ(Render(MakeError({}, y, "m")), "u:2:2: error: m\n    2 |         y\n      |         ^\n");
  EXPECT_EQ(Render(MakeError({}, Find(source, "x"), "m")),
            "u:1:12: error: m\n    1 | /* äöü€ */ x\n      |            ^\n");
}

TEST(Render, EndOfInputAndOfLine) {
  const SourceBuffer source("e", "ab\r\n");
  EXPECT_EQ(Render(MakeError({}, {&source, 2, 3}, "m")), "e:1:3: error: m\n    1 | ab\n      |   ^\n");
  EXPECT_EQ(Render(MakeError({}, {&source, 4, 4}, "m")), "e:2:1: error: m\n    2 | \n      | ^\n");
  const SourceBuffer empty("e", "");
  EXPECT_EQ(Render(MakeError({}, {&empty, 0, 0}, "m")), "e:1:1: error: m\n    1 | \n      | ^\n");
}

TEST(Render, ControlCharactersAreEscaped) {
  const SourceBuffer source("c", std::string("a\0\x1b\xff z", 6));
  EXPECT_EQ(Render(MakeError({}, Find(source, "z"), "found '{0}'", "\x1b")),
            "c:1:6: error: found '\\x1b'\n    1 | a\\x00\\x1b\\xff z\n      |               ^\n");
}

/// Lines of the excerpt of a mark at `offset` in a line of `size` letters.
llvm::SmallVector<llvm::StringRef> LongLine(size_t size, uint32_t offset, uint32_t length,
                                            std::string& storage) {
  std::string text;
  for (size_t i = 0; i < size; ++i) text += static_cast<char>('a' + i % 26);
  const SourceBuffer source("l", text + "\n");
  storage = Render(MakeError({}, {&source, offset, offset + length}, "m"));
  llvm::SmallVector<llvm::StringRef> lines;
  llvm::StringRef(storage).split(lines, '\n');
  return lines;
}

TEST(Render, LongLinesAreCutAroundTheCaret) {
  std::string storage;
  for (const uint32_t offset : {0U, 10U, 91U, 92U, 100U, 5000U, 99'950U, 99'999U}) {
    const auto lines = LongLine(100'000, offset, 5, storage);
    ASSERT_GE(lines.size(), 3U);
    EXPECT_EQ(lines[1].size(), 100U) << offset;
    const size_t caret = lines[2].find('^');
    ASSERT_LT(caret, lines[1].size());
    EXPECT_EQ(lines[1][caret], static_cast<char>('a' + offset % 26)) << offset;
    EXPECT_EQ(lines[1].drop_front(8).starts_with("..."), offset > 60) << offset;
    EXPECT_EQ(lines[1].ends_with("..."), offset < 99'940) << offset;
  }
  const auto lines = LongLine(92, 91, 1, storage);  // just fits
  EXPECT_EQ(lines[1].count("..."), 0U);
  EXPECT_LE(LongLine(1000, 300, 600, storage)[2].size(), 100U);  // a mark wider than the window
}

TEST(Render, Colors) {
  const SourceBuffer source("f", "x\n");
  RenderOptions options;
  options.color = true;
  EXPECT_EQ(Render(MakeError({}, {&source, 0, 1}, "m"), options),
            "f:1:1: \x1b[0;1;31merror: \x1b[0mm\n    1 | x\n      | \x1b[0;1;32m^\x1b[0m\n");
}

TEST(RenderJson, OneObjectWithAllFields) {
  const SourceBuffer source("j.hlo", "  mutliply\n");
  Diagnostic d = MakeError("parse-shape", Find(source, "mutliply"), "found '\"'");
  d.Note("hint");
  d.fixits.push_back({d.loc, "multiply"});
  EXPECT_EQ(
      RenderJson(d, "mod"),
      R"({"file":"j.hlo","line":1,"column":3,"end_column":11,"severity":"error","id":"parse-shape",)"
      R"("message":"found '\"'","module":"mod","instruction":null,)"
      R"("notes":[{"file":"j.hlo","line":1,"column":3,"end_column":11,"severity":"note","message":"hint"}],)"
      R"("fixits":[{"line":1,"column":3,"length":8,"text":"multiply"}]})");
}

TEST(RenderJson, InstructionComesFromTheContext) {
  Diagnostic d = MakeError("verify-shape", {}, "m");
  d.context = "in %a of computation %c";
  EXPECT_NE(RenderJson(d).find(R"("file":null,"line":null)"), std::string::npos);
  EXPECT_NE(RenderJson(d).find(R"("instruction":"%a")"), std::string::npos);
}

TEST(DidYouMean, NearWordsBestFirstAtMostThree) {
  EXPECT_EQ(DidYouMeanText("mutliply", {"add", "multiply", "maximum"}), "did you mean 'multiply'?");
  EXPECT_EQ(DidYouMeanText("dse", {"dce", "cse", "algsimp"}), "did you mean 'cse' or 'dce'?");
  EXPECT_EQ(DidYouMeanText("ab", {"ac", "ad", "ae", "af", "ac"}), "did you mean 'ac', 'ad' or 'ae'?");
  EXPECT_EQ(DidYouMeanText("ADD", {"add"}), "did you mean 'add'?");
  EXPECT_EQ(DidYouMeanText("xyz", {"add", "xyz"}), "");
  EXPECT_EQ(DidYouMeanText("", {}), "");
}

}  // namespace
}  // namespace hlo

#include "hlo/transform.h"

#include <gtest/gtest.h>

#include "hlo/xla.h"
#include "tools/library/test_computation.h"

namespace hlo_toolkit {
namespace {

/// (x + 0) * 1, with something nobody uses.
XlaComputation Wasteful() {
  XlaBuilder builder("wasteful");
  const XlaOp x = builder.Parameter(0, ShapeUtil::MakeShape(S32, {}), "x");
  Neg(x);
  const XlaOp result = Mul(Add(x, ConstantR0<int>(&builder, 0)), ConstantR0<int>(&builder, 1));
  return builder.Build(result).value();
}

TEST(LibraryTransform, PassesRunAndAreToldOf) {
  const XlaComputation before = Wasteful();
  std::vector<PassEvent> events;
  PassOptions options;
  options.verify_each = true;
  options.after_pass = [&](const PassEvent& event) {
    events.push_back(event);
    EXPECT_NE(event.text().find("HloModule wasteful"), std::string::npos);
    return true;
  };
  const XlaComputation after = RunPasses(before, "dce,fix(algsimp)", options).value();
  EXPECT_EQ(Text(after), "ROOT x = s32[] parameter(0)\n");
  EXPECT_NE(Text(before).find("negate"), std::string::npos);
  ASSERT_GE(events.size(), 2U);
  EXPECT_EQ(events[0].pass, "dce");
  EXPECT_TRUE(events[0].changed);
  EXPECT_EQ(events[0].instructions_before, 6);
  EXPECT_EQ(events[0].instructions_after, 5);
  EXPECT_EQ(events[1].pipeline, "fix");
  options.after_pass = [](const PassEvent&) { return false; };
  const Status stopped = RunPasses(before, "dce,algsimp", options).status();
  EXPECT_EQ(stopped.code(), StatusCode::kCancelled);
  EXPECT_EQ(stopped.message(), "stopped after pass 'dce'");
  EXPECT_EQ(RunPasses(before, "no-such-pass").status().code(), StatusCode::kInvalidArgument);
  EXPECT_FALSE(RunPasses(before, "dce,(").ok());
  EXPECT_FALSE(RunPasses(XlaComputation(), "dce").ok());
  const std::vector<std::string> names = PassNames();
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
  EXPECT_TRUE(std::binary_search(names.begin(), names.end(), "dce"));
  EXPECT_TRUE(std::binary_search(names.begin(), names.end(), "@cpu-O2"));
}

TEST(LibraryTransform, PicturesHaveForms) {
  EXPECT_NE(Draw(Wasteful())->find("digraph"), std::string::npos);
  EXPECT_NE(Draw(Wasteful(), "html")->find("<html"), std::string::npos);
  const StatusOr<std::string> svg = Draw(Wasteful(), "svg");
  if (svg.ok())
    EXPECT_NE(svg->find("<svg"), std::string::npos);
  else
    EXPECT_EQ(svg.status().code(), StatusCode::kUnavailable);
  EXPECT_EQ(Draw(Wasteful(), "gif").status().message(),
            "there is no form 'gif' of pictures; there are dot, html, svg, png, pdf");
  EXPECT_FALSE(Draw(XlaComputation()).ok());
}

TEST(LibraryTransform, ComputationsAreCompared) {
  const XlaComputation before = Wasteful(), after = RunPasses(before, "dce").value();
  EXPECT_TRUE(Diff(before, before)->equal);
  const DiffResult result = Diff(before, after).value();
  EXPECT_FALSE(result.equal);
  EXPECT_EQ(result.removed, 1);
  EXPECT_EQ(result.unchanged, 5);
  EXPECT_NE(result.report.find("negate"), std::string::npos);
  for (const char* format : {"summary", "json", "side-by-side", "dot", "html"})
    EXPECT_FALSE(Diff(before, after, format)->report.empty()) << format;
  EXPECT_EQ(Diff(before, after, "prose").status().code(), StatusCode::kInvalidArgument);
  EXPECT_FALSE(Diff(before, XlaComputation()).ok());
}

TEST(LibraryTransform, ModulesAreReadInEveryForm) {
  const std::string text = "HloModule m\nENTRY e {\n  ROOT x = f32[3] parameter(0)\n}\n";
  const XlaComputation made = XlaComputation::FromText(text).value();
  const std::string bytes = made.ToProto().value();
  EXPECT_EQ(XlaComputation::FromBytes(text)->ToString(), made.ToString());
  EXPECT_EQ(XlaComputation::FromBytes(bytes)->ToString(), made.ToString());
  // Cut off, spoilt, of another kind: errors.
  for (size_t size = 0; size < bytes.size(); ++size) {
    const StatusOr<XlaComputation> part = XlaComputation::FromBytes(std::string_view(bytes).substr(0, size));
    EXPECT_TRUE(part.ok() || part.status().code() == StatusCode::kInvalidArgument) << size;
  }
  EXPECT_EQ(XlaComputation::FromBytes("\x1f\x8b\x08 no gzip").status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(XlaComputation::FromBytes("{\"no\": \"graph\"}").status().code(), StatusCode::kInvalidArgument);
  EXPECT_FALSE(XlaComputation().ToProto().ok());
}

TEST(LibraryTransform, LongConstantsAreLeftOut) {
  const XlaComputation made =
      XlaComputation::FromText("HloModule m\nENTRY e {\n  ROOT c = s32[3] constant({1, 2, 3})\n}\n").value();
  EXPECT_NE(made.ToShortString().find("{1, 2, 3}"), std::string::npos);
  EXPECT_NE(made.ToShortString(2).find("constant({...})"), std::string::npos);
}

TEST(LibraryTransform, LiteralsAreCompared) {
  const Literal x = LiteralUtil::CreateR1<float>({1, 2, NAN}),
                y = LiteralUtil::CreateR1<float>({1, 2.5, NAN});
  EXPECT_TRUE(Compare(x, x)->matched);
  const CompareResult result = Compare(x, y).value();
  EXPECT_FALSE(result.matched);
  EXPECT_EQ(result.elements, 3);
  EXPECT_EQ(result.mismatches, 1);
  EXPECT_EQ(result.max_abs, 0.5);
  EXPECT_EQ(result.max_rel, 0.2);
  EXPECT_TRUE(Compare(x, y, {.abs = 0.5})->matched);
  EXPECT_TRUE(Compare(x, y, {.rel = 0.25})->matched);
  EXPECT_EQ(Compare(LiteralUtil::MakeTuple({x, x}), LiteralUtil::MakeTuple({x, y}))->mismatches, 1);
  EXPECT_EQ(Compare(x, LiteralUtil::CreateR0<float>(1)).status().message(), "f32[3] is compared with f32[]");
  EXPECT_FALSE(Compare(x, Literal()).ok());
}

}  // namespace
}  // namespace hlo_toolkit

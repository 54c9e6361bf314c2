// Names of dump files and which files belong together (tools.md §1.2).
#include "tools/common/dump_directory.h"
#include "gtest/gtest.h"

namespace hlo {
namespace {

std::string Parts(llvm::StringRef path) {
  const auto dump = ParseDumpName(path);
  if (!dump) return "none";
  static constexpr llvm::StringLiteral kStages[] = {"before", "pass", "after"};
  return llvm::formatv("{0} {1} {2} [{3}] [{4}|{5}|{6}|{7}]", dump->module, dump->number,
                       kStages[static_cast<size_t>(dump->stage)], dump->target, dump->order, dump->pipeline,
                       dump->pass, dump->next)
      .str();
}

TEST(DumpDirectory, NamesAreTakenApart) {
  EXPECT_EQ(Parts("d/module_0003.jit_f.before_optimizations.txt"), "jit_f 3 before [] [|||]");
  EXPECT_EQ(Parts("171.module_0003.jit_f.before_optimizations.txt"), "jit_f 3 before [] [|||]");
  EXPECT_EQ(Parts("module_0003.a.b.cpu_after_optimizations.txt"), "a.b 3 after [cpu] [|||]");
  EXPECT_EQ(Parts("module_0003.f.sm_8.0_gpu_after_optimizations.txt"), "f 3 after [sm_8.0_gpu] [|||]");
  EXPECT_EQ(Parts("module_0003.f.after_optimizations.txt"), "f 3 after [] [|||]");
  EXPECT_EQ(Parts("module_10000.f.0012.simplify.after_algsimp.before_dce.txt"),
            "f 10000 pass [] [0012|simplify|algsimp|dce]");
  EXPECT_EQ(Parts("module_0003.f.0012.a.after_pipeline-start.before_x.before_y.txt"),
            "f 3 pass [] [0012|a|pipeline-start.before_x|y]");
}

TEST(DumpDirectory, PassesHaveStepsOfTheirOwn) {
  EXPECT_EQ(Parts("module_0003.f.0013.copy-insertion.after_removing_unnecessary_copies.txt"),
            "f 3 pass [] [0013|copy-insertion|removing_unnecessary_copies|]");
  EXPECT_EQ(Parts("module_0003.f.copy-insertion.after_removing_unnecessary_copies.txt"), "none");
}

TEST(DumpDirectory, OtherFilesAreNone) {
  for (const llvm::StringRef name :
       {"", "module_", "module_.f.before_optimizations.txt", "module_x.f.before_optimizations.txt",
        "xmodule_0001.f.before_optimizations.txt", "module_0001.f.before_optimizations.html",
        "module_0001.f.cpu_after_optimizations-buffer-assignment.txt", "module_0001.f.ir-no-opt.ll",
        "module_0001.f.x.simplify.after_a.before_b.txt",
        "module_99999999999999999999.f.before_optimizations.txt"})
    EXPECT_EQ(Parts(name), "none") << name.str();
}

/// `f0: b1 p1 a2; ...`: the series of files of these names.
std::string Grouped(llvm::ArrayRef<llvm::StringRef> names) {
  std::vector<DumpFile> files;
  for (const llvm::StringRef name : names) files.push_back(*ParseDumpName(name));
  std::string out;
  for (const DumpSeries& series : GroupDumps(files)) {
    out += llvm::formatv("{0}{1}:", series.module, series.occurrence).str();
    for (const DumpFile& step : series.steps)
      out +=
          llvm::formatv(" {0}{1}{2}", "bpa"[static_cast<size_t>(step.stage)], step.number, step.order).str();
    out += "; ";
  }
  return out;
}

TEST(DumpDirectory, StagesOfOneNumberAreOneCompilation) {
  EXPECT_EQ(Grouped({"module_1.f.before_optimizations.txt", "module_1.f.10.p.after_a.before_b.txt",
                     "module_1.f.9.p.after_a.before_b.txt", "module_1.f.after_optimizations.txt",
                     "module_3.f.before_optimizations.txt", "module_3.f.after_optimizations.txt",
                     "module_2.g.before_optimizations.txt"}),
            "f0: b1 p19 p110 a1; f1: b3 a3; g0: b2; ");
}

TEST(DumpDirectory, OtherNumbersAreTakenInTheirOrder) {
  EXPECT_EQ(Grouped({"module_1.f.before_optimizations.txt", "module_2.f.before_optimizations.txt",
                     "module_7.f.cpu_after_optimizations.txt", "module_9.f.cpu_after_optimizations.txt"}),
            "f0: b1 a7; f1: b2 a9; ");
  // Only one of the compilations was dumped after a pass.
  EXPECT_EQ(Grouped({"module_1.f.before_optimizations.txt", "module_2.f.before_optimizations.txt",
                     "module_2.f.1.p.after_a.before_b.txt"}),
            "f0: b1; f1: b2 p21; ");
}

}  // namespace
}  // namespace hlo

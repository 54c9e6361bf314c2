// Products cut as for tile registers, whose rows stay while all columns pass by, with the instructions there
// are.
#include "backends/products/dot/packed_gemm_vnni.h"

#include <gtest/gtest.h>

#include <vector>

#include "backends/products/common/kernels.h"
#include "ir/support/parallel.h"
#include "llvm/Support/FormatVariadic.h"

namespace hlo::gemm {
namespace {

/// The rows that the thread has been made ready for.
thread_local int64_t prepared = 0;

struct RowsThatStay : GroupKernels {
  /// With the blocks of tile registers, but work for as many threads as there are.
  RowsThatStay(int64_t row_block, int64_t column_block) {
    name = "rows that stay";
    multiply = [](GroupKind kind, int64_t rows, const GroupArgs& args) {
      EXPECT_EQ(rows, prepared);
      FourKernels()->multiply(kind, rows, args);
    };
    prepare = [](int64_t rows) { prepared = rows; };
    release = [] { prepared = 0; };
    row_piece = column_piece = 512;
    work_per_task = 1e4;
    long_row_piece = row_block;
    long_column_piece = column_block;
    rows_stay = true;
    moves_left = FourKernels()->moves_left;
  }
};

/// lhs[rows, depth] times rhs[depth, columns] or, with `turned`, rhs[columns, depth].
Problem MakeProblem(int64_t rows, int64_t columns, int64_t depth, bool turned) {
  Problem problem;
  problem.lhs.type = problem.rhs.type = ElementType::S8;
  problem.lhs.rows = Index({Axis{rows, depth}});
  problem.rhs.rows = Index({Axis{columns, turned ? depth : 1}});
  problem.rhs.channel_stride = turned ? 1 : columns;
  problem.channels = depth;
  problem.out_rows = Index({Axis{rows, columns}});
  problem.out_columns = Index({Axis{columns, 1}});
  problem.type = ElementType::S32;
  problem.compute = ComputeType::U32;
  return problem;
}

std::vector<int8_t> Numbers(int64_t count, uint32_t seed) {
  std::vector<int8_t> numbers(static_cast<size_t>(count));
  for (int8_t& x : numbers) {
    seed = seed * 1664525 + 1013904223;
    x = static_cast<int8_t>(seed >> 24);
  }
  return numbers;
}

TEST(GroupRun, RowsThatStayMeetAllColumns) {
  if (FourKernels() == nullptr) GTEST_SKIP() << "no instructions for bytes";
  const int threads = ThreadCount();
  SetThreadCount(3);
  // Wide ones whose left factor is used where it lies, with one block of steps and several, and such that are
  // copied.
  for (const auto& [rows, columns, depth] :
       {std::array<int64_t, 3>{300, 700, 64}, {170, 260, 1100}, {600, 300, 70}, {70, 100, 40}, {9, 513, 128}})
    for (const bool turned : {false, true}) {
      const auto lhs = Numbers(rows * depth, 1), rhs = Numbers(depth * columns, 2);
      const Problem problem = MakeProblem(rows, columns, depth, turned);
      std::vector<int32_t> sums(static_cast<size_t>(rows * columns), -1), expected(sums.size());
      RunGroups(problem, GroupKind::SS, RowsThatStay(256, 256), CutSteps(problem, kGroupDepthBytes, 64),
                KernelsFor(HostIsa()), lhs.data(), rhs.data(), sums.data());
      for (int64_t r = 0; r < rows; ++r)
        for (int64_t c = 0; c < columns; ++c)
          for (int64_t k = 0; k < depth; ++k)
            expected[static_cast<size_t>(r * columns + c)] +=
                lhs[static_cast<size_t>(r * depth + k)] *
                rhs[static_cast<size_t>(turned ? c * depth + k : k * columns + c)];
      const std::string what = llvm::formatv("{0} x {1} x {2}, turned {3}", rows, columns, depth, turned);
      EXPECT_EQ(sums, expected) << what;
      // By one thread, which gives back what it made ready.
      std::fill(sums.begin(), sums.end(), -1);
      for (const auto& [begin, end] : {std::pair<int64_t, int64_t>{0, rows / 3}, {rows / 3, rows}})
        RunGroupRows(problem, GroupKind::SS, RowsThatStay(256, 256), CutSteps(problem, kGroupDepthBytes, 64),
                     KernelsFor(HostIsa()), {0, begin, end}, lhs.data(), rhs.data(), sums.data());
      EXPECT_EQ(sums, expected) << what;
      EXPECT_EQ(prepared, 0);
    }
  SetThreadCount(threads);
}

}  // namespace
}  // namespace hlo::gemm

// For tests: kernels of blocks and threads, written by hand.
#pragma once
#include "llvm/ADT/StringRef.h"

namespace hlo::kernel {

// A row of 1000 elements for each of 3 blocks: threads add up every 128th, lanes theirs by shuffles, and
// those of the four groups go through shared memory.
inline constexpr llvm::StringLiteral kRowSums =
    R"(kernel row_sums(b0: f32[3000], out b1: f32[3], shared b2: f32[4]) {
  %0 = constant f32 0x0
  %1 = constant s64 0x3e8
  %2 = constant s64 0x0
  %3 = constant s64 0x4
  for i0 in 3 block.x {
    for i1 in 4 thread.x {
      for i2 in 32 lane {
        %4 = reduce i3 in 8 init %0 {
          %5 = index i1*32 + i2 + i3*128
          %6 = compare LT pred %5, %1
          %7 = load b0[i0*1000 + i1*32 + i2 + i3*128] if %6 else %0
          yield %7
        } by (%8, %9) {
          %10 = add f32 %8, %9
          yield %10
        }
        %11 = shuffle down %4 by 16
        %12 = add f32 %4, %11
        %13 = shuffle down %12 by 8
        %14 = add f32 %12, %13
        %15 = shuffle xor %14 by 4
        %16 = add f32 %14, %15
        %17 = shuffle xor %16 by 2
        %18 = add f32 %16, %17
        %19 = shuffle xor %18 by 1
        %20 = add f32 %18, %19
        %21 = index i2
        %22 = compare EQ pred %21, %2
        store b2[i1], %20 if %22
        barrier
        %23 = compare LT pred %21, %3
        %24 = load b2[i2] if %23 else %0
        %25 = lane-reduce add %24
        %26 = index i1*32 + i2
        %27 = compare EQ pred %26, %2
        store b1[i0], %25 if %27
      }
    }
  }
}
)";

// Tiles of 8 x 8, a column apart in shared memory; two nests of threads with a barrier between.
inline constexpr llvm::StringLiteral kTranspose =
    R"(kernel transpose(b0: u16[560], out b1: u16[560], shared b2: u16[72]) {
  %0 = constant s64 0x14
  %1 = constant s64 0x1c
  for i0 in 3 block.y {
    for i1 in 4 block.x {
      for i2 in 8 thread.y {
        for i3 in 8 thread.x {
          %2 = index i0*8 + i2
          %3 = compare LT pred %2, %0
          %4 = index i1*8 + i3
          %5 = compare LT pred %4, %1
          %6 = and pred %3, %5
          %7 = constant u16 0x0
          %8 = load b0[i0*224 + i1*8 + i2*28 + i3] if %6 else %7
          store b2[i2*9 + i3], %8
        }
      }
      barrier
      for i4 in 8 thread.y {
        for i5 in 8 thread.x {
          %9 = index i0*8 + i5
          %10 = compare LT pred %9, %0
          %11 = index i1*8 + i4
          %12 = compare LT pred %11, %1
          %13 = and pred %10, %12
          %14 = load b2[i4 + i5*9]
          store b1[i0*8 + i1*160 + i4*20 + i5], %14 if %13
        }
      }
    }
  }
}
)";

// Several updates of one element, some of them beyond the array; what it was before is counted too.
inline constexpr llvm::StringLiteral kScatter =
    R"(kernel scatter(b0: s32[100], b1: f32[100], out b2: f32[10], out b3: s32[3]) {
  %0 = constant s64 0x0
  %1 = constant s64 0xa
  %2 = constant s32 0x1
  %3 = constant s32 0x0
  for i0 in 4 block.x {
    for i1 in 32 of i0 below 100 thread.x {
      %4 = load b0[i0*32 + i1]
      %5 = convert s64 %4
      %6 = compare GE pred %5, %0
      %7 = compare LT pred %5, %1
      %8 = and pred %6, %7
      %9 = load b1[i0*32 + i1]
      atomic add b2[%5], %9 if %8
      %10 = atomic add b3[0], %2 if %8 else %3
      atomic maximum b3[1], %10
      %11 = atomic compare-exchange b3[2], %3, %4
    }
  }
}
)";

}  // namespace hlo::kernel

// A program that is loaded: its steps made ready to run.
#pragma once
#include "backends/cpu/frame.h"
#include "backends/cpu/kernel_table.h"

namespace hlo::cpu {

/// A program that is loaded.
struct Program : compile::Program, PointerList {
  KernelTable kernels;
  std::unique_ptr<Jit> jit;
  mutable ExecutionPlans plans;  // of called computations that the evaluator runs
};

}  // namespace hlo::cpu

// Turns a scheduled module into the steps and buffers of a program.
#pragma once
#include "backends/compile/program.h"
#include "passes/analysis/buffer_assignment.h"

namespace hlo::compile {

/// Decides how a step is computed whose instruction, values and parts are known: its kind and what that
/// needs.
using ChooseStep = llvm::function_ref<Status(Step& step)>;

/// Constants up to this size may become part of code. Bytes.
inline constexpr int64_t kMaxConstant = 8;

/// Fills in `program`, of which the module is there, by `assignment` of it. Calls are steps with parts where
/// `keeps_calls`, and otherwise the steps of what they call. Errors: those of `choose`.
Status BuildSteps(Program& program, const BufferAssignment& assignment, ChooseStep choose,
                  bool keeps_calls = false);

}  // namespace hlo::compile

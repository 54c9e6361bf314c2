// Gradients of attention where queries look at no key.
#pragma once
#include "backends/gpu/libraries/attention_gradient.h"

namespace hlo::gpu {

/// Such queries weigh all values alike, and have no other gradients than those of values.
struct EmptyRowsApart {
  Instruction* result = nullptr;  // the gradient of the result without theirs
  Instruction* values =
      nullptr;  // theirs of values, the same for all keys: f32, in the order of `rows.values`
};
/// Of the array of the bias and of the gradient of the result, next to that.
EmptyRowsApart PutApart(const EmptyRows& rows, Instruction* bias, Instruction* result);
/// The gradient of values with theirs.
Instruction* AddApart(const EmptyRows& rows, Instruction* values, Instruction* apart);

}  // namespace hlo::gpu

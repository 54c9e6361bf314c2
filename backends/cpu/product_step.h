// Steps that compute dots and convolutions as sums of products.
#pragma once
#include "backends/cpu/frame.h"
#include "backends/cpu/machine.h"
#include "backends/products/ways.h"

namespace hlo::cpu {

/// How products are computed on a machine, and what came of a way that was to be forced.
struct ProductChoice {
  gemm::Target target;
  const gemm::Way* forced = nullptr;
  int64_t applied = 0;  // products and convolutions computed by it
  std::string refusal;  // which was the first that is not, and why
  Loc refused;          // where that is
};

/// What the kernels of products may use on `machine`, which this process runs on.
gemm::Target ProductTarget(const Machine& machine);

/// Makes a step for a dot or a convolution ready; null: there is no faster way than the general loops of the
/// evaluator, for which `why` has the types or attributes.
std::unique_ptr<StepRunner> LoadProduct(const Step& step, PointerList& pointers, ProductChoice& choice,
                                        std::string& why);

}  // namespace hlo::cpu

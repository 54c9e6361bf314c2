// What runs dots and convolutions as sums of products, wherever code is made or only run.
#pragma once
#include "backends/cpu/frame.h"
#include "backends/cpu/product_ways.h"
#include "backends/products/product.h"

namespace hlo::cpu {

/// For which machine, and whether by a way that an option forces.
struct ProductTerms {
  gemm::Target target;
  bool forced = false;
};

/// The problems of a dot or a convolution made ready, each by its way of `ways`.
std::vector<gemm::Product> MakeProducts(const Instruction& inst, const gemm::Target& target,
                                        const WaysOfParts& ways);

/// Runs them. `step` and what it names outlive the runner.
std::unique_ptr<StepRunner> MakeProductRunner(const Step& step, PointerList& pointers,
                                              const ProductTerms& terms, std::vector<gemm::Product> products);

}  // namespace hlo::cpu

// Dots and convolutions as problems of backends/products.
#pragma once
#include "backends/products/common/problem.h"
#include "ir/instruction.h"
#include "ir/support/result.h"

namespace hlo::cpu {

/// The problem of a dot with static shapes in row-major storage.
gemm::Problem DotProblem(const Instruction& dot);

/// How many problems ConvolutionProblems() makes.
double CountConvolutionProblems(const Instruction& convolution);
/// The problems of a convolution; each computes some elements of the result, all of them every one. With a
/// dilated input there is one for every residue class of positions, so that no zeros between elements are
/// multiplied.
std::vector<gemm::Problem> ConvolutionProblems(const Instruction& convolution);
/// The same where no window reaches beyond the input: one for each set of taps that lie inside. None if there
/// would be more than `most`.
std::vector<gemm::Problem> UnpaddedConvolutionProblems(const Instruction& convolution, size_t most);

}  // namespace hlo::cpu

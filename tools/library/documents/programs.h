// The documents' programs as functions that tests call.
#pragma once
#include "hlo/xla.h"

namespace documents {

std::unique_ptr<xla::Literal> ComputeAxpyParameters(const xla::Literal& alpha, const xla::Literal& x,
                                                    const xla::Literal& y);
std::unique_ptr<xla::Literal> ComputeAxpyConstants(float alpha, gtl::ArraySlice<float> x,
                                                   gtl::ArraySlice<float> y);
/// The examples of ReduceWindow.
xla::Computation ReduceWindow2017();
xla::XlaComputation ReduceWindow2022();

}  // namespace documents

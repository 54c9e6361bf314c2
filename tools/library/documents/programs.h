// The documents' programs as functions that tests call.
#pragma once
#include "hlo/xla.h"

namespace documents {

xla::Computation Axpy2016(const xla::Literal& alpha, const xla::Literal& x, const xla::Literal& y);
xla::Computation AxpyConstants2016(float alpha, gtl::ArraySlice<float> x, gtl::ArraySlice<float> y);
/// The examples of ReduceWindow.
xla::Computation ReduceWindow2017();
xla::XlaComputation ReduceWindow2022();

}  // namespace documents

// "XLA: The TensorFlow compiler framework" (2016), "Getting started": what builds the computations, as
// printed.
#include "programs.h"

namespace documents {

xla::Computation Axpy2016(const xla::Literal& alpha, const xla::Literal& x, const xla::Literal& y) {
  xla::Client* client(nullptr);
  // clang-format off
  xla::ComputationBuilder builder(client, "axpy");

  // Build the actual XLA computation graph. It's a function taking
  // three parameters and computing a single output.
  auto param_alpha = builder.Parameter(0, alpha.shape(), "alpha");
  auto param_x = builder.Parameter(1, x.shape(), "x");
  auto param_y = builder.Parameter(2, y.shape(), "y");
  auto axpy = builder.Add(builder.Mul(param_alpha, param_x), param_y);
  // clang-format on
  (void)axpy;
  // clang-format off
  // We're done building the graph. Create a computation on the server.
  util::StatusOr<std::unique_ptr<xla::Computation>> computation_status =
      builder.Build();
  std::unique_ptr<xla::Computation> computation =
      computation_status.ConsumeValueOrDie();
  // clang-format on
  return *computation;
}

xla::Computation AxpyConstants2016(float alpha, gtl::ArraySlice<float> x, gtl::ArraySlice<float> y) {
  xla::Client* client(nullptr);
  // clang-format off
  xla::ComputationBuilder builder(client, "axpy");

  auto constant_alpha = builder.ConstantR0<float>(alpha);
  auto constant_x = builder.ConstantR1<float>(x);
  auto constant_y = builder.ConstantR1<float>(y);
  auto axpy = builder.Add(builder.Mul(constant_alpha, constant_x), constant_y);
  // clang-format on
  (void)axpy;
  // clang-format off
  util::StatusOr<std::unique_ptr<xla::Computation>> computation_status =
      builder.Build();
  std::unique_ptr<xla::Computation> computation =
      computation_status.ConsumeValueOrDie();
  // clang-format on
  return *computation;
}

}  // namespace documents

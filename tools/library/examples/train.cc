// A training loop: the line through some points, by steps against the gradient. What is trained stays on the
// device and in its memory: each step gives its arguments away for its results.
#include <hlo/xla.h>

#include <cstdio>

namespace {

constexpr int64_t kPoints = 64;

/// (slope, offset, x, y) -> (slope, offset, loss): one step.
xla::XlaComputation Step() {
  xla::XlaBuilder sum("sum");
  const xla::Shape scalar = xla::ShapeUtil::MakeShape(xla::F32, {});
  Add(Parameter(&sum, 0, scalar, "a"), Parameter(&sum, 1, scalar, "b"));
  const xla::XlaComputation add = sum.Build().value();

  xla::XlaBuilder builder("step");
  const xla::Shape points = xla::ShapeUtil::MakeShape(xla::F32, {kPoints});
  const xla::XlaOp slope = Parameter(&builder, 0, scalar, "slope");
  const xla::XlaOp offset = Parameter(&builder, 1, scalar, "offset");
  const xla::XlaOp x = Parameter(&builder, 2, points, "x"), y = Parameter(&builder, 3, points, "y");
  const xla::XlaOp zero = xla::ConstantR0<float>(&builder, 0);
  const auto mean = [&](xla::XlaOp values) {
    return Div(Reduce(values, zero, add, {0}), xla::ConstantR0<float>(&builder, kPoints));
  };
  const xla::XlaOp error = Sub(Add(Mul(slope, x), offset), y);
  const xla::XlaOp rate = xla::ConstantR0<float>(&builder, 0.5F);
  Tuple(&builder, {Sub(slope, Mul(rate, mean(Mul(error, x)))), Sub(offset, Mul(rate, mean(error))),
                   mean(Mul(error, error))});
  return builder.Build().value();
}

}  // namespace

int main() {
  const auto client = xla::Client::Create().value();
  const xla::Executable step = client->Compile(Step()).value();
  std::vector<float> x(kPoints), y(kPoints);
  for (size_t i = 0; i < x.size(); ++i) {
    x[i] = 2 * static_cast<float>(i) / kPoints - 1;
    y[i] = 2 * x[i] + 1;
  }
  const auto to_device = [&](const xla::Literal& value) { return client->ToDevice(value).value(); };
  const xla::Buffer xs = to_device(xla::LiteralUtil::CreateR1<float>(xla::Span<const float>(x)));
  const xla::Buffer ys = to_device(xla::LiteralUtil::CreateR1<float>(xla::Span<const float>(y)));
  const xla::Buffer zero = to_device(xla::LiteralUtil::CreateR0<float>(0));
  xla::ExecuteOptions options;
  std::vector<xla::Buffer> state = step.Execute({zero, zero, xs, ys}, options).value();
  options.donated = {0, 1};
  for (int i = 0; i < 100; ++i) state = step.Execute({state[0], state[1], xs, ys}, options).value();
  const auto number = [&](size_t i) { return state[i].ToLiteral().value().Get<float>({}); };
  std::printf("y = %.3f x + %.3f, loss %.6f\n", number(0), number(1), number(2));
  return 0;
}

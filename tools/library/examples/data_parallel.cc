// Data-parallel training: four devices have a quarter of the points each and the same weights; after each
// step against the gradient of their own points they take the mean of it. `mpirun -np 2` or 4 spreads the
// devices over so many processes, with the same weights to the bit.
#include <hlo/xla.h>

#include <cstdio>

namespace {

constexpr int kDevices = 4;
constexpr int64_t kPoints = 4096, kFeatures = 64;  // of a device

/// (weights, x, y) -> (weights, loss): one step of a logistic regression.
xla::XlaComputation Step() {
  xla::XlaBuilder sum("sum");
  const xla::Shape scalar = xla::ShapeUtil::MakeShape(xla::F32, {});
  Add(Parameter(&sum, 0, scalar, "a"), Parameter(&sum, 1, scalar, "b"));
  const xla::XlaComputation add = sum.Build().value();

  xla::XlaBuilder builder("step");
  const xla::XlaOp weights =
      Parameter(&builder, 0, xla::ShapeUtil::MakeShape(xla::F32, {kFeatures}), "weights");
  const xla::XlaOp x = Parameter(&builder, 1, xla::ShapeUtil::MakeShape(xla::F32, {kPoints, kFeatures}), "x");
  const xla::XlaOp y = Parameter(&builder, 2, xla::ShapeUtil::MakeShape(xla::F32, {kPoints}), "y");
  const auto number = [&](float value) { return xla::ConstantR0<float>(&builder, value); };
  const xla::XlaOp error = Sub(Logistic(Dot(x, weights)), y);
  const xla::XlaOp gradient = Dot(error, x);
  const xla::XlaOp loss = Reduce(Mul(error, error), number(0), add, {0});
  const xla::XlaOp all = number(static_cast<float>(kPoints * kDevices));
  // Where the devices meet, over the processes that there are.
  const xla::XlaOp mean = Div(CrossReplicaSum(gradient), all);
  Tuple(&builder, {Sub(weights, Mul(number(4), mean)), Div(CrossReplicaSum(loss), all)});
  return builder.Build().value();
}

/// The points of a device, from numbers that look random: y is on which side of a plane x is.
void MakePoints(int device, std::vector<float>& x, std::vector<float>& y) {
  uint32_t state = 1 + static_cast<uint32_t>(device);
  for (size_t i = 0; i < y.size(); ++i) {
    float side = 0;
    for (size_t f = 0; f < kFeatures; ++f) {
      state = state * 1664525 + 1013904223;
      const float value = static_cast<float>(state >> 8) / (1 << 23) - 1;
      x[i * kFeatures + f] = value;
      side += f % 3 == 0 ? value : f % 3 == 1 ? -value : 0;
    }
    y[i] = side > 0 ? 1 : 0;
  }
}

}  // namespace

int main() {
  xla::ClientOptions options;
  options.device_count = kDevices;
  options.launcher = "auto";
  const auto created = xla::Client::Create(options);
  if (!created.ok()) {
    std::fprintf(stderr, "%s\n", created.status().ToString().c_str());
    return 1;
  }
  const auto& client = created.value();
  xla::CompileOptions how;
  how.replica_count = kDevices;
  const xla::Executable step = client->Compile(Step(), how).value();

  // Arguments of the devices of this process; of the others there are none here.
  std::vector<std::vector<xla::Buffer>> arguments(kDevices);
  std::vector<float> x(kPoints * kFeatures), y(kPoints);
  for (const int d : client->addressable_devices()) {
    MakePoints(d, x, y);
    for (const xla::Literal& value : {xla::LiteralUtil::CreateR1<float>(std::vector<float>(kFeatures)),
                                      xla::LiteralUtil::FromData<float>({kPoints, kFeatures}, x.data()),
                                      xla::LiteralUtil::FromData<float>({kPoints}, y.data())})
      arguments[static_cast<size_t>(d)].push_back(client->ToDevice(value, d).value());
  }
  const auto mine = static_cast<size_t>(client->addressable_devices().front());
  xla::ExecuteOptions donate;
  donate.donated = {0};
  for (int i = 0; i <= 50; ++i) {
    const xla::Execution run = step.ExecuteAsyncOnDevices(arguments, donate).value();
    if (const xla::Status done = run.Await(); !done.ok()) {
      std::fprintf(stderr, "%s\n", done.ToString().c_str());
      return 1;
    }
    for (const int d : client->addressable_devices())
      arguments[static_cast<size_t>(d)][0] = run.results(d)[0];
    const float loss = run.results(static_cast<int64_t>(mine))[1].ToLiteral().value().Get<float>({});
    if (client->process_index() == 0 && i % 10 == 0) std::printf("step %2d: loss %a, %.6f\n", i, loss, loss);
  }
  const xla::Literal weights = arguments[mine][0].ToLiteral().value();
  if (client->process_index() != 0) return 0;
  for (int64_t f = 0; f < 8; ++f) std::printf("%a%s", weights.Get<float>({f}), f < 7 ? " " : "\n");
  return 0;
}

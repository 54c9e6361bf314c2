// A model in stages: each device has one layer of it, in a program of its own, which takes what the device
// before has made and sends its own on. `mpirun -np 2` or 4 spreads the devices over so many processes, which
// then work on different inputs at a time, with the same results to the bit.
#include <hlo/xla.h>

#include <cstdio>

namespace {

constexpr int kDevices = 4, kInputs = 6;
constexpr int64_t kRows = 8, kFeatures = 64;

/// weights, and of the first device x: what its layer makes of it.
xla::XlaComputation Stage(int device, const std::vector<xla::ChannelHandle>& channels) {
  const xla::Shape rows = xla::ShapeUtil::MakeShape(xla::F32, {kRows, kFeatures});
  const auto d = static_cast<size_t>(device);
  xla::XlaBuilder builder("stage");
  const xla::XlaOp weights =
      Parameter(&builder, 0, xla::ShapeUtil::MakeShape(xla::F32, {kFeatures, kFeatures}), "weights");
  const xla::XlaOp x =
      device == 0 ? Parameter(&builder, 1, rows, "x") : Recv(&builder, rows, channels[d - 1]);
  const xla::XlaOp y = Tanh(Dot(x, weights));
  if (device < kDevices - 1) Send(y, channels[d]);
  return builder.Build(y).value();
}

/// Numbers that look random, between -0.25 and 0.25.
xla::Literal Numbers(int64_t rows, uint32_t state) {
  std::vector<float> values(static_cast<size_t>(rows * kFeatures));
  for (float& value : values) {
    state = state * 1664525 + 1013904223;
    value = static_cast<float>(state >> 8) / (1 << 25) - 0.25F;
  }
  return xla::LiteralUtil::FromData<float>({rows, kFeatures}, values.data());
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
  // All processes ask for the same channels: one from each device to the next.
  std::vector<xla::ChannelHandle> channels;
  for (int d = 1; d < kDevices; ++d) channels.push_back(client->CreateChannelHandle());
  // Each compiles the programs of its own devices.
  std::vector<xla::Executable> stages(kDevices);
  for (const int d : client->addressable_devices()) {
    xla::CompileOptions how;
    how.device_assignment = {d};
    stages[static_cast<size_t>(d)] = client->Compile(Stage(d, channels), how).value();
  }
  for (int i = 0; i < kInputs; ++i)
    for (const int d : client->addressable_devices()) {
      std::vector<xla::Literal> arguments = {Numbers(kFeatures, static_cast<uint32_t>(d))};
      if (d == 0) arguments.push_back(Numbers(kRows, static_cast<uint32_t>(100 + i)));
      // Waits for the device before, wherever it is.
      const xla::StatusOr<xla::Literal> y = stages[static_cast<size_t>(d)].Run(arguments);
      if (!y.ok()) {
        std::fprintf(stderr, "%s\n", y.status().ToString().c_str());
        return 1;
      }
      if (d == kDevices - 1)
        std::printf("input %d: %a, %.6f\n", i, y->Get<float>({0, 0}), y->Get<float>({0, 0}));
    }
  return 0;
}

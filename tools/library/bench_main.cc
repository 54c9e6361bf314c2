// bench_library [INSTRUCTIONS] [RUNS]: the time that XlaBuilder takes for a computation, verified, and what
// calls of a client cost; scripts/bench_library.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "hlo/client.h"
#include "hlo/ops.h"

namespace {

using namespace hlo_toolkit;  // NOLINT(google-build-using-namespace): a program of its own

/// What a model's forward pass is made of: products, bias, activation, reshapes.
XlaComputation Build(int64_t instructions) {
  XlaBuilder builder("bench");
  const XlaOp weights = Parameter(&builder, 0, Shape(F32, {64, 64}), "weights");
  const XlaOp bias = Parameter(&builder, 1, Shape(F32, {64}), "bias");
  XlaOp x = Parameter(&builder, 2, Shape(F32, {32, 64}), "x");
  // A dot, two broadcasts, an addition, a constant, a maximum, two reshapes, a hyperbolic tangent a round.
  constexpr int64_t kPerRound = 9;
  for (int64_t i = 0; i < instructions / kPerRound; ++i) {
    x = Add(Dot(x, weights), bias, {1});
    x = Max(x, ConstantR0<float>(&builder, 0));
    x = Tanh(Reshape(Reshape(x, {2048}), {32, 64}));
  }
  return builder.Build().value();
}

/// Prints the least nanoseconds that one of some calls takes.
template <class F>
void PrintCalls(const char* what, F call) {
  constexpr int kCalls = 1000, kRounds = 200;
  double best = 1e30;
  for (int round = 0; round < kRounds; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < kCalls; ++i) call();
    const auto time = std::chrono::steady_clock::now() - begin;
    best = std::min(best, std::chrono::duration<double, std::nano>(time).count() / kCalls);
  }
  std::printf("%s of a scalar program: %.0f ns\n", what, best);
}

/// What a call costs besides its work.
void PrintCalls() {
  XlaBuilder builder("scalar");
  const XlaOp x = Parameter(&builder, 0, Shape(F32, {}), "x");
  Add(x, x);
  const auto client = Client::Create().value();
  const Executable scalar = client->Compile(builder.Build().value()).value();
  const Literal one = LiteralUtil::CreateR0<float>(1);
  PrintCalls("Executable::Run on literals", [&] { (void)scalar.Run({one}).value(); });
  const Buffer buffer = client->ToDevice(one).value();
  PrintCalls("Executable::Execute on buffers", [&] { (void)scalar.Execute({buffer}).value(); });
}

}  // namespace

int main(int argc, char** argv) {
  constexpr int64_t kInstructions = 10000;
  constexpr int kRuns = 20;
  const int64_t instructions = argc > 1 ? std::atoll(argv[1]) : kInstructions;
  const int runs = argc > 2 ? std::atoi(argv[2]) : kRuns;
  std::vector<double> times;
  for (int i = 0; i < runs; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    const XlaComputation made = Build(instructions);
    times.push_back(
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
  }
  std::sort(times.begin(), times.end());
  std::printf("%lld instructions built and verified in %.2f ms (least of %d; median %.2f ms)\n",
              static_cast<long long>(instructions), times.front(), runs, times[times.size() / 2]);
  PrintCalls();
  return 0;
}

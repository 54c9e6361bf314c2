// bench_calls: what a call of a compiled program costs besides its work, on the cpu platform.
//
//   bench_calls [--seconds=S]
//
// Runs a program of one scalar instruction on literals and on buffers, waiting for each call, and with many
// calls under way, by the client within and by the interfaces for programs; prints nanoseconds per call, the
// best of repeated measurements (for S seconds each, default 1).
#include <chrono>

#include "backends/client/client.h"
#include "hlo/client.h"
#include "hlo/hlo_c.h"
#include "llvm/Support/Format.h"
#include "parser/parser.h"

namespace hlo {
namespace {

using Clock = std::chrono::steady_clock;

constexpr llvm::StringLiteral kScalar = R"(HloModule scalar
ENTRY e { x = f32[] parameter(0)  ROOT r = f32[] add(x, x) }
)";
constexpr int kCalls = 1000;  // of one measurement

double Seconds(Clock::duration d) { return std::chrono::duration<double>(d).count(); }

/// The least nanoseconds of one of `kCalls` calls that `body` makes.
template <class F>
double Best(double seconds, F body) {
  double best = 1e30;
  for (const Clock::time_point start = Clock::now(); Seconds(Clock::now() - start) < seconds;) {
    const Clock::time_point begin = Clock::now();
    body();
    best = std::min(best, Seconds(Clock::now() - begin) * 1e9 / kCalls);
  }
  return best;
}

void Print(llvm::StringRef what, double nanoseconds) {
  llvm::outs() << llvm::format("%-36s %8.0f ns\n", what.str().c_str(), nanoseconds);
}

/// The headers of C++ for programs.
bool BenchCpp(double seconds) {
  const auto client = hlo_toolkit::Client::Create().value();
  const auto program = client->Compile(hlo_toolkit::XlaComputation::FromText(kScalar.str()).value()).value();
  const hlo_toolkit::Literal one = hlo_toolkit::LiteralUtil::CreateR0<float>(1);
  bool good = true;
  Print("C++, literals", Best(seconds, [&] {
          for (int i = 0; i < kCalls; ++i) good &= program.Run({one}).ok();
        }));
  const hlo_toolkit::Buffer buffer = client->ToDevice(one).value();
  Print("C++, buffers", Best(seconds, [&] {
          for (int i = 0; i < kCalls; ++i) good &= program.Execute({buffer}).ok();
        }));
  return good;
}

/// The interface of C, on memory of the caller's and on buffers.
bool BenchC(double seconds) {
  HloModule* module = nullptr;
  HloClient* client = nullptr;
  HloExecutable* program = nullptr;
  bool good = hlo_module_parse(kScalar.data(), kScalar.size(), nullptr, &module) == nullptr &&
              hlo_client_create(nullptr, &client) == nullptr &&
              hlo_client_compile(client, module, &program) == nullptr;
  float x = 1, y = 0;
  auto argument = HLO_INIT(HloArray), result = HLO_INIT(HloArray);
  good = good && hlo_executable_argument(program, 0, &argument) == nullptr &&
         hlo_executable_result(program, 0, &result) == nullptr;
  argument.data = &x;
  result.data = &y;
  Print("C, arrays of the caller's", Best(seconds, [&] {
          for (int i = 0; i < kCalls; ++i)
            good &= hlo_executable_execute(program, &argument, 1, &result, 1) == nullptr;
        }));
  HloBuffer* buffer = nullptr;
  good = good && hlo_client_buffer(client, &argument, 0, &buffer) == nullptr;
  Print("C, buffers", Best(seconds, [&] {
          for (int i = 0; i < kCalls; ++i) {
            HloBuffer* sum = nullptr;
            good &= hlo_executable_run(program, &buffer, 1, nullptr, &sum, 1) == nullptr;
            hlo_buffer_free(sum);
          }
        }));
  hlo_buffer_free(buffer);
  hlo_executable_free(program);
  hlo_client_free(client);
  hlo_module_free(module);
  return good && y == 2;
}

Status Bench(double seconds) {
  const ParseResult parsed = ParseModule(std::make_shared<SourceBuffer>("scalar.hlo", kScalar.str()));
  const Client client(Platform::Cpu);
  HLO_TRY(const auto program, client.Compile(*parsed.module));
  const Literal one = Literal::Scalar(ElementType::F32, 1.0F);
  const ExecutionOptions options;
  Status failed;
  Print("literals, one call after the other", Best(seconds, [&] {
          for (int i = 0; i < kCalls; ++i)
            if (auto result = program->Run({{one}}, options); !result) failed = Error(result.error());
        }));
  const DeviceBuffer buffer = Client::Transfer(one);
  Print("buffers, one call after the other", Best(seconds, [&] {
          for (int i = 0; i < kCalls; ++i)
            if (auto run = program->Begin({{{buffer}}}, options); !run || !run->Wait())
              failed = run ? run->Wait() : Status(Error(run.error()));
        }));
  Print("buffers, all calls under way", Best(seconds, [&] {
          std::vector<Execution> runs;
          for (int i = 0; i < kCalls; ++i)
            if (auto run = program->Begin({{{buffer}}}, options)) runs.push_back(std::move(*run));
          for (const Execution& run : runs)
            if (Status status = run.Wait(); !status) failed = std::move(status);
        }));
  return failed;
}

}  // namespace
}  // namespace hlo

int main(int argc, char** argv) {
  double seconds = 1;
  for (llvm::StringRef arg : llvm::ArrayRef(argv + 1, argv + argc))
    if (!arg.consume_front("--seconds=") || arg.getAsDouble(seconds)) {
      llvm::errs() << "usage: bench_calls [--seconds=S]\n";
      return 2;
    }
  if (const hlo::Status status = hlo::Bench(seconds); !status) {
    llvm::errs() << hlo::Render(status.error());
    return 1;
  }
  return hlo::BenchCpp(seconds) && hlo::BenchC(seconds) ? 0 : 1;
}

// client_soak [CALLS]: 16 threads share a client and make so many calls together (default 1000000): on
// literals, on buffers, with buffers given away, with calls under way. Prints wrong results and by how much
// the memory of the process grew from a tenth of the calls on; 1, if there is any of the one, or more than 4
// MiB of the other, but for the thread sanitizer, whose own memory grows.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "hlo/xla.h"

namespace {

constexpr int kThreads = 16;

/// Bytes of the process in memory.
int64_t Resident() {
  std::ifstream statm("/proc/self/statm");
  int64_t size = 0, resident = 0;
  statm >> size >> resident;
  constexpr int64_t kPage = 4096;
  return resident * kPage;
}

class Soak {
 public:
  Soak() {
    xla::XlaBuilder builder("double");
    const xla::XlaOp x = Parameter(&builder, 0, xla::ShapeUtil::MakeShape(xla::F32, {4}), "x");
    Add(x, x);
    computation_ = builder.Build().value();
    twice_ = client_->Compile(computation_).value();
  }

  /// `calls` of each thread. The number of wrong results.
  int64_t Run(int64_t calls) {
    std::atomic<int64_t> wrong{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t)
      threads.emplace_back([&, t] {
        for (int64_t i = 0; i < calls; ++i)
          if (!Call(i, static_cast<float>(t))) ++wrong;
      });
    for (std::thread& thread : threads) thread.join();
    return wrong;
  }

 private:
  /// One call, of another kind each time.
  bool Call(int64_t number, float value) {
    const xla::Literal x = xla::LiteralUtil::CreateR1<float>({value, 1, 2, 3});
    const auto right = [&](const xla::StatusOr<xla::Literal>& result) {
      return result.ok() && result->data<float>()[0] == 2 * value && result->data<float>()[3] == 6;
    };
    constexpr int kKinds = 32;  // few of those that wake other threads
    const int64_t kind = number % kKinds;
    if (kind % 2 == 0) return right(twice_.Run({x}));
    const xla::Buffer buffer = client_->ToDevice(x).value();
    if (kind == 1) return right(twice_.ExecuteAsync({buffer}).value().result().ToLiteral());
    if (kind == 3) {
      xla::ExecuteOptions options;
      options.donated = {0};
      return right(twice_.Execute({buffer}, options).value().front().ToLiteral());
    }
    if (kind == 5) {
      xla::Buffer argument = buffer;
      return right(client_->Execute(computation_, {&argument}).value()->ToLiteral());
    }
    return right(twice_.Execute({buffer}).value().front().ToLiteral());
  }

  std::unique_ptr<xla::Client> client_ = xla::Client::Create().value();
  xla::XlaComputation computation_;
  xla::Executable twice_;
};

}  // namespace

int main(int argc, char** argv) {
  constexpr int kParts = 10;
  const int64_t per_part = (argc > 1 ? std::atoll(argv[1]) : 1'000'000) / kThreads / kParts;
  if (per_part < 1) {
    std::fprintf(stderr, "usage: client_soak [CALLS], at least %d\n", kThreads * kParts);
    return 2;
  }
  Soak soak;
  int64_t wrong = soak.Run(per_part);
  const int64_t before = Resident();
  for (int part = 1; part < kParts; ++part) wrong += soak.Run(per_part);
  const int64_t calls = per_part * kThreads * kParts;
  const int64_t grown = Resident() - before;
  std::printf("%lld calls from %d threads: %lld wrong, %lld KiB grown\n", static_cast<long long>(calls),
              kThreads, static_cast<long long>(wrong), static_cast<long long>(grown / 1024));
#ifdef HLO_WATCHED
  return wrong == 0 ? 0 : 1;
#else
  constexpr int64_t kMost = int64_t{4} << 20;
  return wrong == 0 && grown <= kMost ? 0 : 1;
#endif
}

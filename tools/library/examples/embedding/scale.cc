// A program that has arrays of its own: a module from text, on the program's memory.
#include <cstdio>
#include <vector>

#include "hlo/client.h"
#include "hlo/computation.h"

int main() {
  constexpr const char* kModule = R"(HloModule scale
ENTRY main {
  x = f32[4] parameter(0)
  two = f32[] constant(2)
  twos = f32[4] broadcast(two), dimensions={}
  ROOT y = f32[4] multiply(x, twos)
})";
  const auto module = hlo_toolkit::XlaComputation::FromText(kModule, "scale.hlo");
  const auto client = hlo_toolkit::Client::Create();
  if (!module.ok() || !client.ok()) return 1;
  const auto program = (*client)->Compile(*module);
  if (!program.ok()) {
    std::fprintf(stderr, "%s\n", program.status().ToString().c_str());
    return 1;
  }
  const std::vector<float> mine = {1, 2, 3, 4};
  // Borrowed: `mine` lives longer than the call.
  const auto x =
      hlo_toolkit::Literal::Borrow(hlo_toolkit::Shape(hlo_toolkit::F32, {4}), mine.data(), nullptr);
  const auto y = program->Run({x});
  if (!y.ok()) return 1;
  for (const float value : y->data<float>()) std::printf("%g ", static_cast<double>(value));
  std::printf("\n");
}

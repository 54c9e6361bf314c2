// Runs that the machine has no memory for.
#include <gtest/gtest.h>

#include "backends/memory_plan.h"
#include "hlo/client.h"
#include "hlo/xla.h"

namespace hlo_toolkit {
namespace {

TEST(LibraryMemory, RunsAreRefusedThatTheMachineHasNoneFor) {
  XlaBuilder builder("b");
  const XlaOp x = builder.Parameter(0, ShapeUtil::MakeShape(U8, {2}), "x");
  const int64_t size = hlo::MachineMemory() / 5 * 2;  // each would fit
  std::vector<XlaOp> parts;
  for (int i = 0; i < 3; ++i)
    parts.push_back(Broadcast(Reshape(Slice(Add(x, ConstantR0<uint8_t>(&builder, static_cast<uint8_t>(i))),
                                            {i % 2}, {i % 2 + 1}, {1}),
                                      {}),
                              {size}));
  Tuple(&builder, parts);
  ClientOptions options;
  options.cache = false;
  const auto client = Client::Create(options).ConsumeValueOrDie();
  const Executable program = client->Compile(builder.Build().value()).ConsumeValueOrDie();
  const Status status = program.Run({LiteralUtil::CreateR1<uint8_t>({1, 2})}).status();
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
  EXPECT_NE(status.message().find("out of memory: the program would take "), std::string::npos)
      << status.message();
  EXPECT_NE(status.message().find(", the machine has "), std::string::npos) << status.message();
}

}  // namespace
}  // namespace hlo_toolkit

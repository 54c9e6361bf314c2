// alpha * x + y: built, compiled and run.
#include <hlo/xla.h>

#include <cstdio>

int main() {
  xla::XlaBuilder builder("axpy");
  const xla::XlaOp alpha = Parameter(&builder, 0, xla::ShapeUtil::MakeShape(xla::F32, {}), "alpha");
  const xla::XlaOp x = Parameter(&builder, 1, xla::ShapeUtil::MakeShape(xla::F32, {3}), "x");
  const xla::XlaOp y = Parameter(&builder, 2, xla::ShapeUtil::MakeShape(xla::F32, {3}), "y");
  Add(Mul(alpha, x), y);

  const auto client = xla::Client::Create().value();
  const xla::Executable axpy = client->Compile(builder.Build().value()).value();
  const xla::Literal result =
      axpy.Run({xla::LiteralUtil::CreateR0<float>(3), xla::LiteralUtil::CreateR1<float>({1, 2, 4}),
                xla::LiteralUtil::CreateR1<float>({10, 20, 30})})
          .value();
  std::printf("%s\n", result.ToString().c_str());
  return 0;
}

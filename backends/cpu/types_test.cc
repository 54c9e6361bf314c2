// Compiled conversions between element types, bit for bit those of the evaluator.
#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <random>

#include "backends/cpu/compiled_function.h"
#include "ir/eval/kernel.h"
#include "ir/numeric/narrow_float.h"

namespace hlo::cpu {
namespace {

constexpr auto kCount = static_cast<size_t>(CompiledFunction::kBatch);

constexpr ElementType kNarrow[] = {
    ElementType::F16,       ElementType::BF16,          ElementType::F8E5M2,   ElementType::F8E4M3,
    ElementType::F8E4M3FN,  ElementType::F8E4M3FNUZ,    ElementType::F8E3M4,   ElementType::F8E5M2FNUZ,
    ElementType::F8E8M0FNU, ElementType::F8E4M3B11FNUZ, ElementType::F4E2M1FN, ElementType::F6E2M3FN,
    ElementType::F6E3M2FN};
constexpr ElementType kOthers[] = {ElementType::S1,  ElementType::U4,  ElementType::S32, ElementType::U64,
                                   ElementType::F32, ElementType::F64, ElementType::Pred};

/// Elements of the type that matter: all of the narrow ones; else those near the values of narrow types.
std::vector<uint8_t> Elements(ElementType type) {
  const auto bytes = static_cast<size_t>(Info(type).host_bytes());
  std::vector<uint8_t> data(kCount * bytes);
  std::mt19937_64 random(3);
  for (size_t i = 0; i < kCount; ++i) {
    uint64_t bits = i;
    const double tie = ToDouble(ElementType::F16, i / 2) * (i % 2 == 0 ? 1 : 1.0 + 0x1p-30) / (1 + i % 3);
    const int scale = static_cast<int>(random() % 300) - 150;
    if (type == ElementType::F32)
      bits = std::bit_cast<uint32_t>(i % 4 == 0 ? std::ldexp(static_cast<float>(tie), scale)
                                                : static_cast<float>(tie));
    else if (type == ElementType::F64)
      bits = std::bit_cast<uint64_t>(i % 4 == 0 ? std::ldexp(tie, scale) : tie);
    else if (type == ElementType::Pred)
      bits = i & 1;
    else if (IsIntegral(type) && Info(type).bits < 8)
      bits = IsSigned(type) ? static_cast<uint64_t>(static_cast<int64_t>(i << (64 - Info(type).bits)) >>
                                                    (64 - Info(type).bits))
                            : i & ((uint64_t{1} << Info(type).bits) - 1);
    else if (IsFloat(type))
      bits = i & ((uint64_t{1} << Info(type).bits) - 1);
    else if (Info(type).bits > 16)
      bits = i % 2 == 0 ? random() >> (random() % 64)
                        : static_cast<uint64_t>(static_cast<int64_t>(random()) >> (random() % 64));
    std::memcpy(&data[i * bytes], &bits, bytes);
  }
  return data;
}

bool IsNan(ElementType type, uint64_t code) { return IsFloat(type) && IsNanCode(type, code); }

void ExpectAsEvaluated(OpKind kind, llvm::ArrayRef<ElementType> operands, ElementType result,
                       const Attrs& attrs) {
  SCOPED_TRACE(Info(kind).text.str() + " of " + ToString(operands[0]).str() + " to " +
               ToString(result).str());
  const auto reference = FindKernel(kind, operands, result, attrs);
  ASSERT_TRUE(reference);
  const CompiledFunction f(kind, operands, result, attrs);
  ASSERT_TRUE(f);
  std::vector<uint8_t> x = Elements(operands[0]), y;
  if (operands.size() > 1) {
    y = Elements(operands[1]);
    const auto step = static_cast<int64_t>(Info(operands[1]).host_bytes());
    std::rotate(y.begin(), y.begin() + 4099 * step, y.end());
    if (Info(operands[1]).host_bytes() == 1)
      for (size_t i = 0; i < kCount; ++i) y[i] = y[(i >> 8) % 256];
  }
  const auto bytes = static_cast<size_t>(Info(result).host_bytes());
  std::vector<uint8_t> got(kCount * bytes), want(kCount * bytes);
  if (operands.size() == 1)
    f({x.data(), got.data()});
  else
    f({x.data(), y.data(), got.data()});
  const void* in[] = {x.data(), y.data()};
  reference->Run(want.data(), in, static_cast<int64_t>(kCount));
  int wrong = 0;
  for (size_t i = 0; i < kCount && wrong < 3; ++i) {
    uint64_t a = 0, b = 0, source = 0;
    std::memcpy(&a, &got[i * bytes], bytes);
    std::memcpy(&b, &want[i * bytes], bytes);
    const auto width = static_cast<size_t>(Info(operands[0]).host_bytes());
    std::memcpy(&source, &x[i * width], width);
    if (a == b || (IsNan(result, a) && IsNan(result, b))) continue;
    ++wrong;
    ADD_FAILURE() << std::hex << "of " << source << (y.empty() ? 0 : y[i]) << ": " << a << ", not " << b;
  }
}

TEST(Types, Conversions) {
  for (const ElementType narrow : kNarrow)
    for (const ElementType other : kOthers) {
      ExpectAsEvaluated(OpKind::Convert, {other}, narrow, {});
      ExpectAsEvaluated(OpKind::Convert, {narrow}, other, {});
    }
}

TEST(Types, SmallIntegers) {
  constexpr OpKind kKinds[] = {
      OpKind::Add,       OpKind::Subtract, OpKind::Multiply,          OpKind::Divide,
      OpKind::Remainder, OpKind::Maximum,  OpKind::Minimum,           OpKind::ShiftLeft,
      OpKind::And,       OpKind::Or,       OpKind::ShiftRightLogical, OpKind::ShiftRightArithmetic,
      OpKind::Xor,       OpKind::MulHi};
  for (const ElementType type : {ElementType::S1, ElementType::U2, ElementType::S4}) {
    for (const OpKind kind : kKinds) ExpectAsEvaluated(kind, {type, type}, type, {});
    for (const OpKind kind : {OpKind::Not, OpKind::Clz, OpKind::PopulationCount})
      ExpectAsEvaluated(kind, {type}, type, {});
    if (IsSigned(type))
      for (const OpKind kind : {OpKind::Negate, OpKind::Abs, OpKind::Sign})
        ExpectAsEvaluated(kind, {type}, type, {});
  }
}

TEST(Types, NarrowFloats) {
  constexpr OpKind kKinds[] = {OpKind::Add,    OpKind::Subtract, OpKind::Multiply,
                               OpKind::Divide, OpKind::Maximum,  OpKind::Minimum};
  for (const ElementType type : kNarrow) {
    for (const Direction direction : {Direction::LT})
      for (const CompareType compare : {CompareType::Float, CompareType::TotalOrder}) {
        CompareAttrs attrs;
        attrs.direction = direction;
        attrs.type = compare;
        ExpectAsEvaluated(OpKind::Compare, {type, type}, ElementType::Pred, attrs);
      }
    if (type == ElementType::F8E8M0FNU) continue;
    for (const OpKind kind : kKinds) ExpectAsEvaluated(kind, {type, type}, type, {});
    for (const OpKind kind :
         {OpKind::Sqrt, OpKind::Floor, OpKind::Negate, OpKind::Exp, OpKind::Tanh, OpKind::Logistic})
      if (Info(type).bits <= 8) ExpectAsEvaluated(kind, {type}, type, {});
    ReducePrecisionAttrs attrs;
    attrs.exponent_bits = 3;
    attrs.mantissa_bits = 1;
    ExpectAsEvaluated(OpKind::ReducePrecision, {type}, type, attrs);
  }
}

TEST(Types, FunctionsOfHalves) {
  for (const OpKind kind :
       {OpKind::Exp, OpKind::Expm1, OpKind::Logistic, OpKind::Tanh, OpKind::Log, OpKind::Log1p, OpKind::Sin,
        OpKind::Cos, OpKind::Tan, OpKind::Erf, OpKind::Cbrt, OpKind::Rsqrt, OpKind::Sqrt})
    for (const ElementType type : {ElementType::F16, ElementType::BF16})
      ExpectAsEvaluated(kind, {type}, type, {});
}

}  // namespace
}  // namespace hlo::cpu

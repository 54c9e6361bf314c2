#include "ir/eval/kernel.h"

#include <random>

#include "gtest/gtest.h"
#include "ir/eval/scalar_function.h"
#include "ir/eval/strided_copy.h"
#include "ir/numeric/math.h"
#include "ir/numeric/narrow_float.h"
#include "parser/parser.h"

namespace hlo {
namespace {

std::vector<ElementType> ArrayTypes() {
  std::vector<ElementType> types;
  for (const TypeInfo& info : kTypeTable)
    if (IsArrayType(info.type)) types.push_back(info.type);
  return types;
}

/// Random elements in unpacked storage, among them many small integers and extreme codes.
std::vector<uint8_t> RandomElements(ElementType type, int64_t n, std::mt19937_64& random) {
  Literal l = Literal::Make(Shape::ArrayWithDefaultLayout(IsComplex(type) ? RealPartType(type) : type,
                                                          IsComplex(type) ? 2 * n : n));
  for (int64_t i = 0; i < l.shape().ElementCount(); ++i)
    l.SetBits(i, type == ElementType::Pred ? random() & 1 : random() >> (random() % 64));
  return {l.data(), l.data() + l.byte_size()};
}

/// Equal but for the payloads of NaNs, which no rule fixes.
bool SameElement(ElementType type, const uint8_t* a, const uint8_t* b) {
  const ElementType part = RealPartType(type);
  const auto width = static_cast<size_t>(Info(part).host_bytes());
  for (size_t at = 0; at < static_cast<size_t>(Info(type).host_bytes()); at += width) {
    uint64_t x = 0, y = 0;
    std::memcpy(&x, a + at, width);
    std::memcpy(&y, b + at, width);
    if (x != y && !(IsFloat(part) && IsNanCode(part, x) && IsNanCode(part, y))) return false;
  }
  return true;
}

// Vector bodies, their scalar tails and the block boundaries of narrow types must agree bit for bit.
TEST(Kernel, OneByOneGivesTheSameBits) {
  std::mt19937_64 random(1);
  constexpr int64_t kCount = Kernel::kBlock + 37;
  for (const OpInfo& op : AllOps()) {
    if (!op.Is(kElementwise) || op.max_operands > 3) continue;
    for (const ElementType type : ArrayTypes()) {
      std::vector<ElementType> operands(static_cast<size_t>(op.max_operands), type);
      if (op.kind == OpKind::Select) operands[0] = ElementType::Pred;
      ElementType result =
          op.kind == OpKind::Compare || op.kind == OpKind::IsFinite ? ElementType::Pred : type;
      if (IsComplex(type) && (op.kind == OpKind::Abs || op.kind == OpKind::Real || op.kind == OpKind::Imag))
        result = RealPartType(type);
      if (op.kind == OpKind::Complex) result = ComplexType(type).value_or(ElementType::C64);
      const Attrs attrs =
          op.kind == OpKind::ReducePrecision ? Attrs(ReducePrecisionAttrs{4, 2}) : Attrs::Default(*op.attrs);
      const std::optional<Kernel> kernel = FindKernel(op.kind, operands, result, attrs);
      if (!kernel || op.kind == OpKind::StochasticConvert) continue;
      std::vector<std::vector<uint8_t>> in;
      for (const ElementType t : operands) in.push_back(RandomElements(t, kCount, random));
      const auto out_width = static_cast<size_t>(Info(result).host_bytes());
      std::vector<uint8_t> all(out_width * kCount), single(out_width * kCount);
      std::array<const void*, 3> source{};
      for (size_t k = 0; k < in.size(); ++k) source[k] = in[k].data();
      kernel->Run(all.data(), source.data(), kCount);
      for (int64_t i = 0; i < kCount; ++i) {
        for (size_t k = 0; k < in.size(); ++k) source[k] = in[k].data() + i * Info(operands[k]).host_bytes();
        kernel->Run(single.data() + static_cast<size_t>(i) * out_width, source.data(), 1);
      }
      for (size_t i = 0; i < static_cast<size_t>(kCount); ++i)
        ASSERT_TRUE(SameElement(result, all.data() + i * out_width, single.data() + i * out_width))
            << op.text.str() << " of " << ToString(type).str() << ", element " << i;
    }
  }
}

TEST(Kernel, FloatFunctionsMatchTheCLibrary) {
  std::mt19937 random(2);
  const std::pair<OpKind, float (*)(float)> functions[] = {
      {OpKind::Exp, math::Exp},     {OpKind::Expm1, math::Expm1}, {OpKind::Log, math::Log},
      {OpKind::Log1p, math::Log1p}, {OpKind::Tanh, math::Tanh},   {OpKind::Logistic, math::Logistic}};
  std::vector<float> x = {0.0F, -0.0F, INFINITY, -INFINITY, NAN, 1, -1, 88.8F, -104, 0x1p-149F, 0x1p-126F};
  for (int i = 0; i < 20000; ++i) x.push_back(std::bit_cast<float>(static_cast<uint32_t>(random())));
  for (const auto& [kind, function] : functions) {
    std::vector<float> y(x.size());
    const void* in[] = {x.data()};
    FindKernel(kind, ElementType::F32, ElementType::F32)->Run(y.data(), in, static_cast<int64_t>(x.size()));
    for (size_t i = 0; i < x.size(); ++i) {
      const float want = function(x[i]);
      if (std::isnan(want))
        EXPECT_TRUE(std::isnan(y[i])) << x[i];
      else
        EXPECT_TRUE(y[i] == want || std::nextafter(y[i], want) == want)
            << ToString(kind).str() << ' ' << x[i];
      if (want == 0) EXPECT_EQ(std::signbit(y[i]), std::signbit(want)) << x[i];
    }
  }
}

TEST(StridedCopy, AnyStridesOnAnyNumberOfThreads) {
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    // A random permutation of random dimensions, some reversed, some repeated.
    const size_t rank = 1 + random() % 4;
    std::vector<int64_t> sizes;
    for (size_t d = 0; d < rank; ++d)
      sizes.push_back(1 + static_cast<int64_t>(random() % (rank == 2 ? 70 : 9)));
    std::vector<size_t> order(rank);
    for (size_t d = 0; d < rank; ++d) order[d] = d;
    std::shuffle(order.begin(), order.end(), random);
    std::vector<CopyDim> dims(rank);
    int64_t to_stride = 1 + static_cast<int64_t>(random() % 2), from_stride = 1, from_start = 0, count = 1;
    for (size_t d = rank; d-- > 0;) {
      dims[d].size = sizes[d];
      dims[d].to_stride = to_stride;
      to_stride *= sizes[d];
      count *= sizes[d];
    }
    for (const size_t d : order) {
      const auto kind = random() % 5;
      dims[d].from_stride = kind == 0 ? 0 : kind == 1 ? -from_stride : from_stride;
      if (kind == 1) from_start += (sizes[d] - 1) * from_stride;
      if (kind != 0) from_stride *= sizes[d];
    }
    std::vector<int32_t> from(static_cast<size_t>(from_stride)), want(static_cast<size_t>(2 * to_stride), -1),
        got = want;
    for (auto& v : from) v = static_cast<int32_t>(random());
    for (int64_t i = 0; i < count; ++i) {
      int64_t rest = i, to = 0, at = from_start;
      for (const CopyDim& d : dims) {
        to += rest % d.size * d.to_stride;
        at += rest % d.size * d.from_stride;
        rest /= d.size;
      }
      want[static_cast<size_t>(to)] = from[static_cast<size_t>(at)];
    }
    StridedCopy(got.data(), from.data() + from_start, 4, dims);
    EXPECT_EQ(got, want) << round;
  }
}

std::shared_ptr<const ScalarFunction> CompileEntry(llvm::StringRef text) {
  const ParseResult parsed = ParseModule(text);
  if (parsed.module == nullptr) return nullptr;
  return ScalarFunction::Compile(*parsed.module->entry());
}

TEST(ScalarFunction, RecognisesReducers) {
  const auto add =
      CompileEntry("ENTRY e { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT r = f32[] add(b, a) }");
  ASSERT_NE(add, nullptr);
  ASSERT_TRUE(add->AsBinaryOp().has_value());
  EXPECT_EQ(add->AsBinaryOp()->kind, OpKind::Add);
  const auto narrow = CompileEntry(
      "ENTRY e { a = bf16[] parameter(0)\n b = bf16[] parameter(1)\n c = f32[] convert(a)\n d = f32[] "
      "convert(b)\n"
      " m = f32[] subtract(d, c)\n ROOT r = bf16[] convert(m) }");
  ASSERT_NE(narrow, nullptr);
  ASSERT_TRUE(narrow->AsBinaryOp().has_value());
  EXPECT_TRUE(narrow->AsBinaryOp()->swapped);
}

TEST(ScalarFunction, RefusesWhatIsNotScalar) {
  EXPECT_EQ(CompileEntry("ENTRY e { a = f32[4] parameter(0)\n ROOT r = f32[4] negate(a) }"), nullptr);
  EXPECT_EQ(CompileEntry(
                "ENTRY e { a = u64[2] parameter(0)\n ROOT r = u64[2] rng-get-and-update-state(), delta=1 }"),
            nullptr);
}

TEST(ScalarFunction, ResultsMayBeTheArgumentsExchanged) {
  const auto swap = CompileEntry(
      "ENTRY e { a = s32[] parameter(0)\n b = s32[] parameter(1)\n c = s32[] constant(1)\n d = s32[] add(a, "
      "c)\n"
      " ROOT r = (s32[], s32[]) tuple(b, d) }");
  ASSERT_NE(swap, nullptr);
  EXPECT_EQ(swap->ResultParameter(0), 1);
  EXPECT_FALSE(swap->ResultParameter(1).has_value());
  constexpr int kCount = 2 * Kernel::kBlock + 5;
  std::vector<int32_t> a(kCount), b(kCount);
  for (int i = 0; i < kCount; ++i) a[static_cast<size_t>(i)] = i, b[static_cast<size_t>(i)] = -i;
  ScalarRunner runner(*swap);
  const void* arguments[] = {a.data(), b.data()};
  void* results[] = {a.data(), b.data()};
  runner.Run(llvm::ArrayRef(arguments), results, kCount);
  for (int i = 0; i < kCount; ++i) {
    EXPECT_EQ(a[static_cast<size_t>(i)], -i);
    EXPECT_EQ(b[static_cast<size_t>(i)], i + 1);
  }
  const int32_t seven = 7;
  runner.Run({{b.data(), false}, {&seven, true}}, results, kCount);
  EXPECT_EQ(a[kCount - 1], 7);
  EXPECT_EQ(b[kCount - 1], kCount + 1);
}

}  // namespace
}  // namespace hlo

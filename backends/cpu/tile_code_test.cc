// Interpreted operations against compiled ones: the same bits, for every operation of every type.
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "backends/cpu/jit.h"
#include "backends/kernel/builder.h"
#include "backends/kernel/parse.h"
#include "backends/kernel/schedule.h"
#include "backends/llvm/emit_kernel.h"
#include "backends/llvm/emit_ops.h"
#include "backends/tile/program.h"
#include "ir/numeric/narrow_float.h"
#include "llvm/Support/FormatVariadic.h"

namespace hlo::cpu {
namespace {

using Bytes = std::vector<std::vector<uint8_t>>;

constexpr int64_t kCount = 1237;  // some tiles and a rest

constexpr ElementType kTypes[] = {
#define HLO_TYPE(Name, ...) ElementType::Name,
#include "ir/types.def"
};

/// Zeros, ones, infinities, NaNs, subnormals, and any others.
uint64_t RandomBits(ElementType type, std::mt19937_64& random) {
  const auto bits = static_cast<unsigned>(Info(type).bits);
  const uint64_t all = bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
  const uint64_t any = random();
  if (IsPred(type)) return any & 1;
  if (IsFloat(type)) {
    const double magnitude =
        std::ldexp(1 + static_cast<double>(any >> 40) * 0x1p-24, static_cast<int>(any % 23) - 15);
    if (any % 8 < 5) return FromDouble(type, (any & 64) != 0 ? -magnitude : magnitude);
    return any % 8 == 5 ? FromDouble(type, static_cast<double>(any >> 8 & 3) - 1) : any >> 3 & all;
  }
  const uint64_t value = any % 4 == 0 ? any >> 3 : any % 4 == 1 ? any >> 8 & 7 : ~(any >> 8 & 7);
  if (!IsSigned(type)) return value & all;
  return static_cast<uint64_t>(static_cast<int64_t>(value << (64 - bits)) >> (64 - bits));
}

Bytes MakeBuffers(const kernel::Kernel& kernel) {
  std::mt19937_64 random(11);
  Bytes buffers;
  for (const kernel::Buffer& b : kernel.buffers) {
    const ElementType type = RealPartType(b.type);  // other types are their own
    const auto width = static_cast<size_t>(Info(type).host_bytes());
    buffers.emplace_back(static_cast<size_t>(b.count * Info(b.type).host_bytes()));
    for (size_t i = 0; i * width < buffers.back().size() && !b.written; ++i) {
      const uint64_t bits = RandomBits(type, random);
      std::memcpy(buffers.back().data() + i * width, &bits, width);
    }
  }
  return buffers;
}

/// NaNs of one sort: which of two operands' payloads is handed on is for processors to say.
void Canonicalize(ElementType element, std::vector<uint8_t>& bytes) {
  const ElementType type = RealPartType(element);
  if (!IsFloat(type)) return;
  const auto width = static_cast<size_t>(Info(type).host_bytes());
  for (size_t i = 0; i < bytes.size(); i += width) {
    uint64_t code = 0;
    std::memcpy(&code, &bytes[i], width);
    if (!IsNanCode(type, code)) continue;
    code = NanCode(type);
    std::memcpy(&bytes[i], &code, width);
  }
}

void ExpectSameBits(kernel::Kernel kernel) {
  const auto program = tile::Program::Make(kernel);
  ASSERT_TRUE(program) << program.error().message << '\n' << kernel::ToString(kernel);
  const int64_t extent = kernel::ParallelExtent(kernel), middle = extent / 3 / 64 * 64;
  const std::string text = kernel::ToString(kernel);
  const std::vector<kernel::Buffer> types = kernel.buffers;
  Bytes tiled = MakeBuffers(kernel), compiled = MakeBuffers(kernel);
  const auto run = [&](Bytes& bytes, const auto& function) {
    llvm::SmallVector<void*> pointers;
    for (auto& b : bytes) pointers.push_back(b.data());
    if (middle > 0) function(pointers.data(), int64_t{0}, middle);
    function(pointers.data(), middle, extent);
    for (size_t i = 0; i < bytes.size(); ++i) Canonicalize(types[i].type, bytes[i]);
  };
  run(tiled, [&](void* const* p, int64_t begin, int64_t end) { program->Run(p, begin, end); });
  Jit jit(HostMachine());
  const auto number = jit.Add(std::move(kernel));
  ASSERT_TRUE(number) << number.error().message;
  ASSERT_TRUE(jit.Compile());
  run(compiled, jit.Function(*number));
  for (size_t i = 0; i < types.size(); ++i) EXPECT_EQ(tiled[i], compiled[i]) << "b" << i << " of " << text;
}

/// out_k[i] = op_k(in0[i], in1[i], …) for many operations at once: a module of its own for each takes long.
class OpsKernel {
 public:
  OpsKernel() { kernel_.name = "ops"; }

  void Add(OpKind kind, llvm::ArrayRef<ElementType> operands, ElementType result, const Attrs& attrs = {}) {
    if (!codegen::HasCode(kind, operands, result)) return;
    kernel::LoopStmt loop;
    loop.loop = {builder_.NewLoop(kCount), kCount, 16, 2, true};
    loop.body = std::make_unique<kernel::Region>();
    builder_.Open(*loop.body, {loop.loop.id});
    kernel::Address at;
    at.AddLoop(loop.loop.id, 1);
    llvm::SmallVector<kernel::ValueId, 3> values;
    for (const ElementType type : operands) values.push_back(builder_.Load(Buffer(type, false), at));
    builder_.Store(Buffer(result, true), at, builder_.Op(kind, result, values, attrs));
    builder_.Close();
    builder_.Append(std::move(loop));
    ++count_;
  }
  void Check() {
    ASSERT_GT(count_, 0);
    ExpectSameBits(std::move(kernel_));
  }

 private:
  kernel::BufferId Buffer(ElementType type, bool written) {
    kernel_.buffers.push_back({type, kCount, written});
    return static_cast<kernel::BufferId>(kernel_.buffers.size()) - 1;
  }

  kernel::Kernel kernel_;
  kernel::KernelBuilder builder_{kernel_};
  int count_ = 0;
};

ElementType ResultType(OpKind kind, ElementType type) {
  if (kind == OpKind::IsFinite) return ElementType::Pred;
  if (kind == OpKind::Abs || kind == OpKind::Real || kind == OpKind::Imag) return RealPartType(type);
  return kind == OpKind::Complex ? ComplexType(type).value_or(type) : type;
}

class TileOps : public testing::TestWithParam<ElementType> {};

TEST_P(TileOps, GiveTheBitsOfCompiledCode) {
  const ElementType type = GetParam();
  OpsKernel ops;
  for (size_t i = 0; i < AllOps().size(); ++i) {
    const auto kind = static_cast<OpKind>(i);
    const OpInfo& info = Info(kind);
    if (!info.Is(kElementwise) || kind == OpKind::Convert || kind == OpKind::BitcastConvert ||
        kind == OpKind::Compare || kind == OpKind::Select || kind == OpKind::ReducePrecision)
      continue;
    const llvm::SmallVector<ElementType, 3> types(static_cast<size_t>(info.min_operands), type);
    if (info.min_operands > 3 || types.empty() || !info.AllowsOperandType(type)) continue;
    ops.Add(kind, types, ResultType(kind, type));
  }
  ops.Add(OpKind::Select, {ElementType::Pred, type, type}, type);
  for (const Direction direction :
       {Direction::EQ, Direction::NE, Direction::GE, Direction::GT, Direction::LE, Direction::LT})
    for (const CompareType compare : {CompareType::Float, CompareType::TotalOrder}) {
      if (compare == CompareType::TotalOrder && !IsFloat(type)) continue;
      if (IsComplex(type) && direction != Direction::EQ && direction != Direction::NE) continue;
      CompareAttrs attrs;
      attrs.direction = direction;
      attrs.type = compare;
      ops.Add(OpKind::Compare, {type, type}, ElementType::Pred, attrs);
    }
  if (IsFloat(type)) {
    ReducePrecisionAttrs attrs;
    attrs.exponent_bits = 3;
    attrs.mantissa_bits = 1;
    ops.Add(OpKind::ReducePrecision, {type}, type, attrs);
  }
  for (const ElementType to : kTypes) {
    if (!codegen::IsSupported(to)) continue;
    ops.Add(OpKind::Convert, {type}, to);
    if (Info(to).bits == Info(type).bits) ops.Add(OpKind::BitcastConvert, {type}, to);
    for (const ElementType random : kTypes)
      if (codegen::IsSupported(random) && Info(random).bits == Info(type).bits)
        ops.Add(OpKind::StochasticConvert, {type, random}, to);
  }
  ops.Check();
}

std::vector<ElementType> ComputedTypes() {
  std::vector<ElementType> types;
  for (const ElementType type : kTypes)
    if (codegen::IsSupported(type)) types.push_back(type);
  return types;
}
INSTANTIATE_TEST_SUITE_P(, TileOps, testing::ValuesIn(ComputedTypes()),
                         [](const auto& info) { return ToString(info.param).str(); });

/// Sums of rows and the like, with partial results where `extent` is long enough.
kernel::Kernel RowFold(OpKind fold, ElementType type, int64_t extent) {
  const auto ceil = static_cast<int64_t>(llvm::PowerOf2Ceil(static_cast<uint64_t>(extent)));
  const int64_t width = std::min<int64_t>(16, ceil), unroll = extent >= 64 ? 4 : 1;
  const std::string wide = extent < 2   ? ""
                           : extent < 8 ? llvm::formatv(" unroll({0})", extent).str()
                                        : llvm::formatv(" vector({0}, {1})", width, unroll).str();
  const std::string text = llvm::formatv(R"(kernel rows(b0: {0}[{1}], b1: {0}[1], out b2: {0}[5]) {{
  %0 = load b1[0]
  for i0 in 5 {{
    %1 = reduce i1 in {2}{3} init %0 {{
      %2 = load b0[i0*{2} + i1]
      yield %2
    } by (%3, %4) {{
      %5 = {4} {0} %3, %4
      yield %5
    }
    store b2[i0], %1
  }
})",
                                         ToString(type), 5 * extent, extent, wide, Info(fold).text);
  auto kernel = kernel::ParseKernel(text);
  EXPECT_TRUE(kernel) << kernel.error().message << text;
  return std::move(*kernel);
}

constexpr OpKind kFolds[] = {OpKind::Add, OpKind::Multiply, OpKind::Maximum, OpKind::Minimum,
                             OpKind::And, OpKind::Or,       OpKind::Xor};

TEST(TileReductions, OfAnyExtent) {
  for (const int64_t extent : {1, 2, 3, 7, 8, 15, 16, 17, 63, 64, 65, 129, 511, 512, 513, 1237})
    ExpectSameBits(RowFold(OpKind::Add, ElementType::F32, extent));
}

TEST(TileReductions, OfFewElementsInLanes) {
  for (const int64_t extent : {2, 5, 7, 8}) {
    const std::string text =
        llvm::formatv(R"(kernel columns(b0: f32[{0}], b1: f32[1], out b2: f32[70], out b3: f32[70]) {{
  %0 = load b1[0]
  for i0 in 70 vector(16, 1) {{
    %1 = reduce i1 in {1} unroll({1}) init %0 {{
      %2 = load b0[i0 + i1*70]
      yield %2
    } by (%3, %4) {{
      %5 = add f32 %3, %4
      yield %5
    }
    store b2[i0], %1
    %6 = reduce i2 in {1} unroll({1}) init %1 {{
      %7 = load b0[i2*70]
      yield %7
    } by (%8, %9) {{
      %10 = multiply f32 %8, %9
      yield %10
    }
    store b3[i0], %6
  }
})",
                      70 * extent, extent);
    auto kernel = kernel::ParseKernel(text);
    ASSERT_TRUE(kernel) << kernel.error().message << text;
    ExpectSameBits(std::move(*kernel));
  }
}

TEST(TileReductions, OfManyTypes) {
  for (const ElementType type : {ElementType::F32, ElementType::BF16, ElementType::F64, ElementType::S16,
                                 ElementType::U4, ElementType::Pred, ElementType::F8E4M3FN})
    for (const OpKind fold : kFolds)
      if (codegen::HasCode(fold, {type, type}, type)) ExpectSameBits(RowFold(fold, type, 147));
}

}  // namespace
}  // namespace hlo::cpu

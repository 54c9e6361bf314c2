#include "backends/llvm/x86_target.h"

#include <numeric>

#include "backends/llvm/floats.h"
#include "backends/llvm/types.h"
#include "llvm/IR/IntrinsicsX86.h"
#include "llvm/MC/MCSubtargetInfo.h"

namespace hlo::codegen {
namespace {

using llvm::IRBuilderBase;
using llvm::Type;
using llvm::Value;

constexpr unsigned kLanes = 16, kLanes64 = kLanes / 2;  // of a whole register of f32 and of f64
constexpr unsigned kAvx2Lanes = 8;                      // of f32
constexpr uint64_t kCurrentRounding = 4;

unsigned LanesOf(const Value* value) {
  const auto* type = llvm::dyn_cast<llvm::FixedVectorType>(value->getType());
  return type == nullptr ? 1 : type->getNumElements();
}

/// Lanes [from, from + count); those beyond the vector are undefined.
Value* Lanes(IRBuilderBase& b, Value* vector, unsigned from, unsigned count) {
  const unsigned all = LanesOf(vector);
  llvm::SmallVector<int, 16> lanes;
  for (unsigned i = from; i < from + count; ++i) lanes.push_back(i < all ? static_cast<int>(i) : -1);
  return b.CreateShuffleVector(vector, lanes);
}

Value* Join(IRBuilderBase& b, Value* low, Value* high) {
  const unsigned half = LanesOf(low);
  llvm::SmallVector<int, 16> lanes;
  for (unsigned i = 0; i < 2 * half; ++i) lanes.push_back(static_cast<int>(i));
  return b.CreateShuffleVector(low, high, lanes);
}

/// `instruction` takes vectors of `width` lanes: of others in parts, or with lanes that nobody asks for.
Value* InRegisters(IRBuilderBase& b, unsigned width, llvm::ArrayRef<Value*> operands,
                   llvm::function_ref<Value*(llvm::ArrayRef<Value*>)> instruction) {
  const unsigned all = LanesOf(operands[0]);
  if (all == width) return instruction(operands);
  auto part = [&](unsigned from, unsigned count) {
    llvm::SmallVector<Value*, 3> parts;
    for (Value* operand : operands) parts.push_back(Lanes(b, operand, from, count));
    return parts;
  };
  if (all < width) return Lanes(b, instruction(part(0, width)), 0, all);
  Value* low = InRegisters(b, width, part(0, all / 2), instruction);
  return Join(b, low, InRegisters(b, width, part(all / 2, all / 2), instruction));
}

/// The registers of a vector that the instructions for bf16 take: a whole one, or two side by side.
bool FillsRegisters(const Value* f32) { return LanesOf(f32) == kLanes || LanesOf(f32) == 2 * kLanes; }
llvm::SmallVector<Value*, 2> Registers(IRBuilderBase& b, Value* x) {
  if (LanesOf(x) == kLanes) return {x};
  llvm::SmallVector<int, 16> low(kLanes), high(kLanes);
  std::iota(low.begin(), low.end(), 0);
  std::iota(high.begin(), high.end(), kLanes);
  return {b.CreateShuffleVector(x, low), b.CreateShuffleVector(x, high)};
}

/// The vector of these registers.
Value* SideBySideRegisters(IRBuilderBase& b, llvm::ArrayRef<Value*> registers) {
  if (registers.size() == 1) return registers[0];
  llvm::SmallVector<int, 32> all(size_t{2} * kLanes);
  std::iota(all.begin(), all.end(), 0);
  return b.CreateShuffleVector(registers[0], registers[1], all);
}

/// Each has what those before have.
enum class Unit : uint8_t { Common, Avx2, Avx512, Avx512Bf16 };

class X86Target final : public CodeTarget {
 public:
  X86Target(llvm::StringRef name, Unit unit)
      : CodeTarget({.name = name,
                    .lanes = kLanes,
                    .scalar_bits = 128,
                    .exponents = unit >= Unit::Avx512,
                    .halves = unit >= Unit::Avx512,
                    .compares = unit >= Unit::Avx512,
                    .memory = {.line = 64,
                               .fetched = 1 << 20,  // the second cache
                               .rows_ahead = 8,
                               .row_lines = 8,
                               .window_step = 1024,
                               .windows_ahead = 2048,
                               .longest_row = 64 << 10}}),
        unit_(unit) {}

  Value* ScaleOrZero(Builder& b, Value* keep, Value* x, Value* k) const override {
    if (unit_ < Unit::Avx512) return nullptr;
    const bool f64 = x->getType()->getScalarType()->isDoubleTy();
    const unsigned width = f64 ? kLanes64 : kLanes;
    const auto id =
        f64 ? llvm::Intrinsic::x86_avx512_mask_scalef_pd_512 : llvm::Intrinsic::x86_avx512_mask_scalef_ps_512;
    return InRegisters(b, width, {keep, x, k}, [&](llvm::ArrayRef<Value*> part) {
      Value* mask = b.CreateBitCast(part[0], b.getIntNTy(width));
      Value* zero = llvm::Constant::getNullValue(part[1]->getType());
      return b.CreateIntrinsic(id, {}, {part[1], part[2], zero, mask, b.getInt32(kCurrentRounding)});
    });
  }

  std::pair<Value*, Value*> Split(Builder& b, Value* x) const override {
    if (unit_ < Unit::Avx512) return {};
    Value* all = llvm::Constant::getAllOnesValue(b.getInt16Ty());
    auto instruction = [&](llvm::Intrinsic::ID id, Value* v, llvm::ArrayRef<Value*> how) {
      return InRegisters(b, kLanes, {v}, [&](llvm::ArrayRef<Value*> part) {
        llvm::SmallVector<Value*, 5> arguments = {part[0]};
        arguments.append(how.begin(), how.end());
        arguments.append({llvm::PoisonValue::get(part[0]->getType()), all, b.getInt32(kCurrentRounding)});
        return b.CreateIntrinsic(id, {}, arguments);
      });
    };
    constexpr uint32_t kFromThreeQuarters = 3, kNanIfNegative = 8;
    Value* mantissa = instruction(llvm::Intrinsic::x86_avx512_mask_getmant_ps_512, x,
                                  {b.getInt32(kFromThreeQuarters | kNanIfNegative)});
    const auto exponent = llvm::Intrinsic::x86_avx512_mask_getexp_ps_512;
    // 1 more where the mantissa was halved.
    Value* of_x = instruction(exponent, x, {});
    return {b.CreateFSub(of_x, instruction(exponent, mantissa, {})), mantissa};
  }

  Value* Lookup(Builder& b, llvm::ArrayRef<double> table, Value* index) const override {
    if (unit_ < Unit::Avx2) return nullptr;
    auto constants = [&](size_t from, size_t count) {
      const llvm::SmallVector<float, 16> values(table.slice(from, count));
      return llvm::ConstantDataVector::get(b.getContext(), llvm::ArrayRef<float>(values));
    };
    if (unit_ >= Unit::Avx512)
      return InRegisters(b, kLanes, {index}, [&](llvm::ArrayRef<Value*> part) {
        return b.CreateIntrinsic(llvm::Intrinsic::x86_avx512_permvar_sf_512, {},
                                 {constants(0, kLanes), part[0]});
      });
    auto half = [&](size_t from) {
      return InRegisters(b, kAvx2Lanes, {index}, [&](llvm::ArrayRef<Value*> part) {
        return b.CreateIntrinsic(llvm::Intrinsic::x86_avx2_permps, {},
                                 {constants(from, kAvx2Lanes), part[0]});
      });
    };
    const auto number = [&](uint64_t n) { return llvm::ConstantInt::get(index->getType(), n); };
    constexpr int kBitOfHalf = 3;  // the highest of an index
    Value* upper = b.CreateICmpSLT(b.CreateShl(index, number(kF32.bits - 1 - kBitOfHalf)), number(0));
    Value* high = half(kAvx2Lanes);
    return b.CreateSelect(upper, high, half(0));
  }

  Value* AndElseOr(Builder& b, Value* x, Value* y, Value* mask) const override {
    struct Ternary {
      unsigned bits, all;
      llvm::Intrinsic::ID id;
    };
    constexpr Ternary kTernary[] = {{32, 128, llvm::Intrinsic::x86_avx512_pternlog_d_128},
                                    {32, 256, llvm::Intrinsic::x86_avx512_pternlog_d_256},
                                    {32, 512, llvm::Intrinsic::x86_avx512_pternlog_d_512},
                                    {64, 128, llvm::Intrinsic::x86_avx512_pternlog_q_128},
                                    {64, 256, llvm::Intrinsic::x86_avx512_pternlog_q_256},
                                    {64, 512, llvm::Intrinsic::x86_avx512_pternlog_q_512}};
    constexpr uint32_t kTable = 0xd4;  // by the bits of x, y and mask, those of x being the highest
    const unsigned bits = x->getType()->getScalarSizeInBits();
    const auto all = static_cast<unsigned>(x->getType()->getPrimitiveSizeInBits().getFixedValue());
    for (const auto& row : kTernary)
      if (unit_ >= Unit::Avx512 && row.bits == bits && row.all == all)
        return b.CreateIntrinsic(row.id, {}, {x, y, mask, b.getInt32(kTable)});
    return nullptr;
  }

  Value* RoundBitsToBf16(Builder& b, Value* bits, Value* last) const override {
    if (!HasBf16(bits)) return nullptr;
    constexpr uint64_t kLast = 0x10000, kBelow = 0x7fff;
    const auto number = [&](uint64_t n) { return llvm::ConstantInt::get(bits->getType(), n); };
    // bits + 1 * 0x7fff + (bit 16) * 1, in pairs of halves.
    auto sums = Registers(b, bits);
    const auto ones = Registers(b, b.CreateOr(last, number(1)));
    Value* by = Registers(b, number(kLast | kBelow))[0];
    for (size_t i = 0; i < sums.size(); ++i)
      sums[i] = b.CreateIntrinsic(llvm::Intrinsic::x86_avx512_vpdpwssd_512, {}, {sums[i], ones[i], by});
    return SideBySideRegisters(b, sums);
  }

  Value* NormalToBf16(Builder& b, Value* f32) const override {
    if (!HasBf16(f32)) return nullptr;
    const auto x = Registers(b, f32);
    Value* rounded =
        x.size() == 1
            ? b.CreateIntrinsic(llvm::Intrinsic::x86_avx512bf16_cvtneps2bf16_512, {}, {x[0]})
            : b.CreateIntrinsic(llvm::Intrinsic::x86_avx512bf16_cvtne2ps2bf16_512, {}, {x[1], x[0]});
    return b.CreateBitCast(rounded, SameWidth(b.getInt16Ty(), f32->getType()));
  }

  Value* AnySubnormal(Builder& b, Value* f32, bool or_nan) const override {
    if (!HasBf16(f32)) return nullptr;
    constexpr uint32_t kNan = 0x81, kSubnormal = 0x20;
    Value* lanes = nullptr;
    for (Value* x : Registers(b, f32)) {
      Value* of_one = b.CreateIntrinsic(llvm::Intrinsic::x86_avx512_fpclass_ps_512, {},
                                        {x, b.getInt32(or_nan ? kNan | kSubnormal : kSubnormal)});
      lanes = lanes == nullptr ? of_one : b.CreateOr(lanes, of_one);
    }
    return b.CreateOrReduce(lanes);
  }

  [[nodiscard]] bool HasFma(const llvm::MCSubtargetInfo& has) const override {
    return has.checkFeatures("+fma");
  }
  [[nodiscard]] bool HasRounding(const llvm::MCSubtargetInfo& has) const override {
    return has.checkFeatures("+sse4.1");
  }

 private:
  [[nodiscard]] bool HasBf16(const Value* vector) const {
    return unit_ >= Unit::Avx512Bf16 && FillsRegisters(vector);
  }

  Unit unit_;
};

struct Row {
  const char* features;
  X86Target target;
};
/// The best first.
llvm::ArrayRef<Row> Rows() {
  static const Row rows[] = {
      {"+avx512bf16,+avx512vnni,+avx512dq", {"x86-avx512-bf16", Unit::Avx512Bf16}},
      {"+avx512f", {"x86-avx512", Unit::Avx512}},
      {"+avx2", {"x86-avx2", Unit::Avx2}},
      {"", {"x86", Unit::Common}},
  };
  return rows;
}

}  // namespace

const CodeTarget& X86TargetFor(const llvm::MCSubtargetInfo& has) {
  const auto suits = [&](const Row& row) { return *row.features == '\0' || has.checkFeatures(row.features); };
  return llvm::find_if(Rows(), suits)->target;
}

const CodeTarget* FindX86Target(llvm::StringRef name) {
  for (const Row& row : Rows())
    if (row.target.facts().name == name) return &row.target;
  return nullptr;
}

}  // namespace hlo::codegen

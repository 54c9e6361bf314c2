#include "backends/gpu/emulator/atomics.h"

#include <bit>

#include "backends/gpu/emulator/soft_float.h"
#include "llvm/Support/MathExtras.h"

namespace hlo::gpu {
namespace {

using ptx::Instruction;
using ptx::Mod;
using ptx::Type;

uint32_t FlushSingle(uint32_t bits) { return (bits & 0x7fffffff) < 0x00800000 ? bits & 0x80000000 : bits; }

uint64_t AddFloats(Type type, uint64_t old, uint64_t x, bool global) {
  if (type == Type::F64)
    return std::bit_cast<uint64_t>(std::bit_cast<double>(old) + std::bit_cast<double>(x));
  if (type == Type::F32) {
    auto a = static_cast<uint32_t>(old), b = static_cast<uint32_t>(x);
    if (global) a = FlushSingle(a), b = FlushSingle(b);
    const float sum = std::bit_cast<float>(a) + std::bit_cast<float>(b);
    if (std::isnan(sum)) return CanonicalNan(Type::F32);
    const auto bits = std::bit_cast<uint32_t>(sum);
    return global ? FlushSingle(bits) : bits;
  }
  // What f64 adds of narrow numbers rounds to them as if once.
  return FromDouble(type, ToDouble(type, old) + ToDouble(type, x));
}

uint64_t Add(const Instruction& inst, uint64_t old, uint64_t x, bool global) {
  const Type type = inst.type();
  if (!ptx::IsFloat(type)) return old + x;
  if (ptx::InfoOf(type).lanes == 1) return AddFloats(type, old, x, global);
  const Type half = type == Type::F16x2 ? Type::F16 : Type::BF16;
  return AddFloats(half, old & 0xffff, x & 0xffff, global) | AddFloats(half, old >> 16, x >> 16, global)
                                                                 << 16;
}

bool IsLess(Type type, uint64_t x, uint64_t y) {
  if (!ptx::IsSigned(type)) return x < y;
  const unsigned bits = ptx::BitsOf(type);
  return llvm::SignExtend64(x, bits) < llvm::SignExtend64(y, bits);
}

uint64_t ResultOf(const Instruction& inst, uint64_t old, uint64_t x, uint64_t y, bool global) {
  if (inst.Has(Mod::Add)) return Add(inst, old, x, global);
  if (inst.Has(Mod::Min)) return IsLess(inst.type(), x, old) ? x : old;
  if (inst.Has(Mod::Max)) return IsLess(inst.type(), old, x) ? x : old;
  if (inst.Has(Mod::Inc)) return old >= x ? 0 : old + 1;
  if (inst.Has(Mod::Dec)) return old == 0 || old > x ? x : old - 1;
  if (inst.Has(Mod::And)) return old & x;
  if (inst.Has(Mod::Or)) return old | x;
  if (inst.Has(Mod::Xor)) return old ^ x;
  if (inst.Has(Mod::Exch)) return x;
  return old == x ? y : old;  // cas
}

}  // namespace

uint64_t PerformAtomic(const Instruction& inst, uint8_t* memory, unsigned bytes, uint64_t x, uint64_t y,
                       bool global) {
  uint64_t old = 0;
  std::memcpy(&old, memory, bytes);
  const uint64_t result = ResultOf(inst, old, x, y, global);
  std::memcpy(memory, &result, bytes);
  return old;
}

}  // namespace hlo::gpu

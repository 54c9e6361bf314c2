#include "passes/rewrite/bits.h"

namespace hlo {
namespace {

constexpr ElementType kU32 = ElementType::U32, kU64 = ElementType::U64;

Expr Low(const Expr& x) { return x.To(kU32); }
Expr High(const Expr& x) { return (x >> 32).To(kU32); }
Expr Wide(const Expr& low, const Expr& high) { return low.To(kU64) | (high.To(kU64) << 32); }

std::optional<ElementType> IntegerOfWidth(TypeClass type_class, int bits) {
  for (const TypeInfo& info : kTypeTable)
    if (info.type_class == type_class && info.bits == bits) return info.type;
  return std::nullopt;
}

Expr RotateLeft(const Expr& x, int by) { return (x << by) | (x >> (32 - by)); }

std::optional<ElementType> SignedOfWidth(int bits) { return IntegerOfWidth(TypeClass::Signed, bits); }

}  // namespace

std::optional<ElementType> UnsignedOfWidth(int bits) { return IntegerOfWidth(TypeClass::Unsigned, bits); }

Expr TotalOrderKey(const Expr& x) {
  const TypeInfo& info = Info(x.type());
  if (info.special == FloatSpecial::E8M0) return x.As(ElementType::U8);
  const auto integer = SignedOfWidth(info.bits);
  if (!integer) return TotalOrderKey(x.To(ElementType::F32));  // 6 bits: no NaN, nothing is lost
  const Expr bits = x.As(*integer);
  const auto min = static_cast<int64_t>(~uint64_t{0} << (info.bits - 1));
  if (info.special != FloatSpecial::Fnuz) return Select(Lt(bits, 0), bits ^ ~min, bits);
  // No negative zero: its code is the NaN, which stands before everything.
  return Select(Eq(bits, min) | Ge(bits, 0), bits, min - bits);
}

std::array<Expr, 2> TotalOrderKeys(const Expr& x, const Expr& y) {
  const TypeInfo& info = Info(x.type());
  const auto integer = SignedOfWidth(info.bits);
  if (!integer && info.special != FloatSpecial::E8M0)
    return TotalOrderKeys(x.To(ElementType::F32), y.To(ElementType::F32));
  if (info.special == FloatSpecial::E8M0 || info.special == FloatSpecial::Fnuz)
    return {TotalOrderKey(x), TotalOrderKey(y)};
  const Expr a = x.As(*integer), b = y.As(*integer);
  const Expr zero = Expr(0).Like(a);
  const Expr digits = Expr(static_cast<int64_t>(~(~uint64_t{0} << (info.bits - 1)))).Like(a);
  return {Select(Lt(a, zero), a ^ digits, a), Select(Lt(b, zero), b ^ digits, b)};
}

std::array<Expr, 2> ThreeFryBlocks(const Expr& key, const Expr& first, int64_t count) {
  constexpr int kRotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  const Expr k[3] = {Low(key), High(key), (Low(key) ^ High(key)) ^ 0x1BD11BDA};
  const Expr counter = IotaOf(key.make(), kU64, {count}, 0) + first;
  Expr x0 = Low(counter) + k[0], x1 = High(counter) + k[1];
  for (int group = 1; group <= 5; ++group) {
    for (const int r : kRotations[(group - 1) % 2]) {
      x0 = x0 + x1;
      x1 = RotateLeft(x1, r) ^ x0;
    }
    x0 = x0 + k[group % 3];
    x1 = x1 + (k[(group + 1) % 3] + group);
  }
  return {x0, x1};
}

std::array<Expr, 2> AddToCounter(const Expr& low, const Expr& high, int64_t delta) {
  const Expr sum = low + delta;
  return {sum, high + Lt(sum, low).To(kU64)};
}

std::array<Expr, 4> PhiloxBlocks(const Expr& key, const Expr& low, const Expr& high, int64_t count) {
  const Expr lows = IotaOf(key.make(), kU64, {count}, 0) + low;
  const Expr highs = Lt(lows, low.Like(lows)).To(kU64) + high;
  std::array<Expr, 4> c = {Low(lows), High(lows), Low(highs), High(highs)};
  Expr k0 = Low(key), k1 = High(key);
  for (int round = 0; round < 10; ++round) {
    const Expr p0 = c[0].To(kU64) * 0xD2511F53, p1 = c[2].To(kU64) * 0xCD9E8D57;
    c = {High(p1) ^ c[1] ^ k0, Low(p1), High(p0) ^ c[3] ^ k1, Low(p0)};
    k0 = k0 + 0x9E3779B9;
    k1 = k1 + 0xBB67AE85;
  }
  return c;
}

Expr PhiloxWords32(const std::array<Expr, 4>& blocks, int64_t n) {
  const int64_t count = blocks[0].dim(0);
  llvm::SmallVector<Expr, 4> columns;
  for (const Expr& word : blocks) columns.push_back(word.Reshape({count, 1}));
  return Concat(columns, 1).Reshape({4 * count}).Slice(0, 0, n);
}

Expr PhiloxWords64(const std::array<Expr, 4>& blocks, int64_t n) {
  const int64_t count = blocks[0].dim(0);
  const Expr columns[] = {Wide(blocks[0], blocks[1]).Reshape({count, 1}),
                          Wide(blocks[2], blocks[3]).Reshape({count, 1})};
  return Concat(columns, 1).Reshape({2 * count}).Slice(0, 0, n);
}

}  // namespace hlo

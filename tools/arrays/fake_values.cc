#include "tools/arrays/fake_values.h"

#include <bit>
#include <limits>

#include "ir/numeric/narrow_float.h"
#include "ir/support/parallel.h"

namespace hlo {
namespace {

constexpr int64_t kGrain = 1 << 14;

uint64_t Mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

/// Random bits by position.
class Bits {
 public:
  explicit Bits(const ValueSeed& s)
      : key_(Mix(Mix(Mix(s.seed + 0x9e3779b97f4a7c15) ^ static_cast<uint64_t>(s.parameter)) +
                 static_cast<uint64_t>(s.leaf))) {}
  [[nodiscard]] uint64_t At(int64_t i) const {
    return Mix(key_ + (static_cast<uint64_t>(i) + 1) * 0x9e3779b97f4a7c15);
  }
  /// [0, 1), 53 bits.
  [[nodiscard]] double Unit(int64_t i) const { return static_cast<double>(At(i) >> 11) * 0x1p-53; }
  /// [0, n); the slight bias of a 64-bit product does not matter here.
  [[nodiscard]] int64_t Below(int64_t i, int64_t n) const {
    return static_cast<int64_t>((static_cast<unsigned __int128>(At(i)) * static_cast<uint64_t>(n)) >> 64);
  }
  [[nodiscard]] uint64_t key() const { return key_; }

 private:
  uint64_t key_;
};

/// The place of i in a random permutation of 0…n-1: a Feistel network over the next power of 4, walked
/// until it hits the range.
int64_t Permute(const Bits& bits, int64_t i, int64_t n) {
  if (n < 2) return 0;
  const int half = std::max(1, (static_cast<int>(std::bit_width(static_cast<uint64_t>(n - 1))) + 1) / 2);
  const uint64_t mask = (uint64_t{1} << half) - 1;
  auto x = static_cast<uint64_t>(i);
  do {
    uint64_t left = x >> half, right = x & mask;
    for (uint64_t round = 0; round < 4; ++round) {
      const uint64_t mixed = left ^ (Mix(bits.key() + right * 4 + round) & mask);
      left = right;
      right = mixed;
    }
    x = left << half | right;
  } while (x >= static_cast<uint64_t>(n));
  return static_cast<int64_t>(x);
}

int64_t MinInteger(ElementType type) { return IsSigned(type) ? INT64_MIN >> (64 - Info(type).bits) : 0; }
/// As unsigned, so that u64 fits.
uint64_t MaxInteger(ElementType type) {
  const uint64_t all = ~uint64_t{0} >> (64 - Info(type).bits);
  return IsSigned(type) ? all >> 1 : all;
}

/// Calls set(i) for all elements, in parallel.
template <class F>
void ForAll(int64_t count, F&& set) {
  ParallelFor(0, count, kGrain, [&](int64_t b, int64_t e) {
    for (int64_t i = b; i < e; ++i) set(i);
  });
}

template <class T>
void StoreAll(Literal& l, llvm::function_ref<uint64_t(int64_t)> code) {
  T* data = l.MutableSpan<T>().data();
  ForAll(l.shape().ElementCount(), [&](int64_t i) { data[i] = static_cast<T>(code(i)); });
}

/// Stores codes (bit patterns, sign-extended for signed types) of a type of at most 64 bits.
void StoreCodes(Literal& l, llvm::function_ref<uint64_t(int64_t)> code) {
  switch (Info(l.shape().element_type()).host_bytes()) {
    case 1: return StoreAll<uint8_t>(l, code);
    case 2: return StoreAll<uint16_t>(l, code);
    case 4: return StoreAll<uint32_t>(l, code);
    default: return StoreAll<uint64_t>(l, code);
  }
}

/// Stores real numbers: into floats, both parts of complex types (numbers 2i and 2i+1), or rounded and
/// saturated into integers; pred: not 0.
void StoreReals(Literal& l, llvm::function_ref<double(int64_t)> value) {
  const ElementType type = l.shape().element_type();
  if (type == ElementType::C64) {
    float* data = reinterpret_cast<float*>(l.MutableData());
    return ForAll(2 * l.shape().ElementCount(), [&](int64_t i) { data[i] = static_cast<float>(value(i)); });
  }
  if (type == ElementType::C128) {
    double* data = reinterpret_cast<double*>(l.MutableData());
    return ForAll(2 * l.shape().ElementCount(), [&](int64_t i) { data[i] = value(i); });
  }
  StoreCodes(l, [&](int64_t i) -> uint64_t {
    const double v = value(i);
    if (IsFloat(type)) return FromDouble(type, v);
    if (IsPred(type)) return v != 0 ? 1 : 0;
    if (IsSigned(type))
      return static_cast<uint64_t>(
          SaturateToSigned(v, MinInteger(type), static_cast<int64_t>(MaxInteger(type))));
    return SaturateToUnsigned(v, MaxInteger(type));
  });
}

/// Stores integers, wrapped into the type; floats take their value.
void StoreIntegers(Literal& l, llvm::function_ref<int64_t(int64_t)> value) {
  const ElementType type = l.shape().element_type();
  if (IsFloat(type) || IsComplex(type)) {
    const bool parts = IsComplex(type);
    return StoreReals(l, [&](int64_t i) {
      return parts ? (i % 2 == 0 ? static_cast<double>(value(i / 2)) : 0.0) : static_cast<double>(value(i));
    });
  }
  const int unused = 64 - Info(type).bits;
  StoreCodes(l, [&](int64_t i) -> uint64_t {
    const int64_t v = value(i);
    if (IsPred(type)) return static_cast<uint64_t>(v & 1);
    const uint64_t shifted = static_cast<uint64_t>(v) << unused;
    return IsSigned(type) ? static_cast<uint64_t>(static_cast<int64_t>(shifted) >> unused)
                          : shifted >> unused;
  });
}

/// sign·2^u over the exponents of the type, with special values now and then.
double LargeRange(ElementType type, const Bits& bits, int64_t i) {
  const double top = std::log2(MaxFinite(type)), bottom = std::log2(MinNormal(type));
  const uint64_t special = Mix(bits.At(i)) % 1'000'000;
  constexpr double kSpecials[] = {0.0, -0.0, 1.0, -1.0, HUGE_VAL, -HUGE_VAL};
  if (special < std::size(kSpecials)) return kSpecials[special];
  const double magnitude = std::exp2(bottom + bits.Unit(i) * (top - bottom));
  return (bits.At(i) & 1) != 0 ? -magnitude : magnitude;
}

void StoreRandom(Literal& l, const ValueRule& rule, const Bits& bits) {
  const ElementType type = l.shape().element_type();
  const ElementType real = RealPartType(type);
  if (IsFloat(real) && Info(real).bits <= 4)
    return StoreCodes(l, [&](int64_t i) { return bits.At(i) & 0xf; });
  if (IsFloat(real)) {
    if (rule.large_float_range) return StoreReals(l, [&](int64_t i) { return LargeRange(real, bits, i); });
    return StoreReals(l, [&](int64_t i) { return -0.1 + 0.3 * bits.Unit(i); });
  }
  StoreIntegers(l, [&](int64_t i) { return static_cast<int64_t>(bits.At(i)); });
}

/// The special values of a type that `edge` cycles through.
std::vector<double> EdgeValues(ElementType real) {
  const double normal = MinNormal(real), top = MaxFinite(real), epsilon = Epsilon(real);
  const double subnormal = normal * epsilon;
  return {0.0,
          -0.0,
          HUGE_VAL,
          -HUGE_VAL,
          std::numeric_limits<double>::quiet_NaN(),
          subnormal,
          -subnormal,
          normal - subnormal,
          normal,
          -normal,
          top,
          -top,
          1.0,
          -1.0,
          1 + epsilon,
          1 - epsilon / 2,
          0.5,
          1.5,
          2.5,
          -2.5,
          3.5};
}

void StoreEdge(Literal& l) {
  const ElementType type = l.shape().element_type(), real = RealPartType(type);
  if (IsFloat(real)) {
    const std::vector<double> values = EdgeValues(real);
    return StoreReals(l, [&](int64_t i) { return values[static_cast<size_t>(i) % values.size()]; });
  }
  const auto top = static_cast<int64_t>(IsPred(type) ? 1 : MaxInteger(type));
  const int64_t bottom = IsPred(type) ? 0 : MinInteger(type);
  const int64_t values[] = {0, 1, -1, bottom, top, bottom + 1, top - 1, 2};
  StoreIntegers(l, [&](int64_t i) { return values[static_cast<size_t>(i) % std::size(values)]; });
}

/// Product of the sizes behind dimension d.
int64_t StrideOf(const Shape& shape, int64_t d) {
  int64_t stride = 1;
  for (int64_t k = d + 1; k < shape.rank(); ++k) stride *= shape.dim(k);
  return stride;
}

/// Rows of indices: row r gets a number in [0, product of extents), from its own stratum if sorted or
/// distinct, whose digits are the components.
void StoreIndexRows(Literal& l, const ValueRule& rule, const Bits& bits) {
  const Shape& shape = l.shape();
  const int64_t d = rule.component_dimension;
  const int64_t inner = d < 0 ? 1 : StrideOf(shape, d), components = d < 0 ? 1 : shape.dim(d);
  const int64_t rows = shape.ElementCount() / std::max<int64_t>(components, 1);
  unsigned __int128 space = 1;
  for (const int64_t extent : rule.extents) space *= static_cast<uint64_t>(std::max<int64_t>(extent, 1));
  auto stratum = [&](int64_t row) {
    return (static_cast<unsigned __int128>(row) * space + static_cast<uint64_t>(rows) - 1) /
           static_cast<uint64_t>(rows);
  };
  StoreIntegers(l, [&](int64_t i) {
    const int64_t row = d < 0 ? i : i / (inner * components) * inner + i % inner;
    const int64_t component = d < 0 ? 0 : i / inner % components;
    unsigned __int128 number = 0;
    if (rule.sorted || rule.distinct) {
      const int64_t place = rule.sorted ? row : Permute(bits, row, rows);
      const unsigned __int128 from = stratum(place), to = stratum(place + 1);
      number = from >= space ? space - 1 : from + (to > from ? bits.At(row) % (to - from) : 0);
    } else {
      const Bits own({bits.key(), row, 0, 0});
      const int64_t extent = rule.extents[static_cast<size_t>(component) % rule.extents.size()];
      return own.Below(component, std::max<int64_t>(extent, 1));
    }
    for (auto k = static_cast<int64_t>(rule.extents.size()) - 1; k > component; --k)
      number /= static_cast<uint64_t>(std::max<int64_t>(rule.extents[static_cast<size_t>(k)], 1));
    const int64_t extent =
        std::max<int64_t>(rule.extents[static_cast<size_t>(component) % rule.extents.size()], 1);
    return static_cast<int64_t>(number % static_cast<uint64_t>(extent));
  });
}

void StoreDistinct(Literal& l, const ValueRule& rule, const Bits& bits) {
  const ElementType type = l.shape().element_type();
  const int64_t count = l.shape().ElementCount();
  const bool fits = Info(type).bits >= 63 || count <= int64_t{1} << Info(type).bits;
  // Where the type has too few values for the whole array, distinct along the dimension must do.
  const bool along = !fits && rule.dimension >= 0;
  const int64_t n = along ? l.shape().dim(rule.dimension) : count;
  const int64_t stride = along ? StrideOf(l.shape(), rule.dimension) : 1;
  const int64_t shift = IsSigned(type) ? n / 2 : 0;
  StoreIntegers(l, [&](int64_t i) { return Permute(bits, i / stride % std::max<int64_t>(n, 1), n) - shift; });
}

double NormalValue(const ValueRule& rule, const Bits& bits, int64_t i) {
  const double u = 1 - bits.Unit(2 * i), v = bits.Unit(2 * i + 1);
  return rule.a + rule.b * std::sqrt(-2 * std::log(u)) * std::cos(2 * 3.14159265358979323846 * v);
}

void StoreLimit(Literal& l, bool highest) {
  const ElementType type = l.shape().element_type(), real = RealPartType(type);
  if (IsFloat(real)) return StoreReals(l, [&](int64_t) { return highest ? HUGE_VAL : -HUGE_VAL; });
  StoreIntegers(l, [&](int64_t) {
    return highest        ? (IsPred(type) ? 1 : static_cast<int64_t>(MaxInteger(type)))
           : IsPred(type) ? 0
                          : MinInteger(type);
  });
}

void StoreIota(Literal& l, const ValueRule& rule) {
  if (rule.dimension < 0 || rule.dimension >= l.shape().rank())
    return StoreIntegers(l, [](int64_t i) { return i; });
  const int64_t stride = StrideOf(l.shape(), rule.dimension), size = l.shape().dim(rule.dimension);
  StoreIntegers(l, [&](int64_t i) { return i / stride % std::max<int64_t>(size, 1); });
}

void StoreUniform(Literal& l, const ValueRule& rule, const Bits& bits) {
  const ElementType type = l.shape().element_type();
  if (IsFloat(type) || IsComplex(type))
    return StoreReals(l, [&](int64_t i) { return rule.a + (rule.b - rule.a) * bits.Unit(i); });
  const auto low = static_cast<int64_t>(std::ceil(rule.a)), high = static_cast<int64_t>(std::floor(rule.b));
  StoreIntegers(l, [&](int64_t i) { return low + bits.Below(i, std::max<int64_t>(high - low + 1, 1)); });
}

void Store(Literal& l, const ValueRule& rule, const ValueSeed& seed) {
  const Bits bits(seed);
  switch (rule.kind) {
    case ValueKind::Random: return StoreRandom(l, rule, bits);
    case ValueKind::Edge: return StoreEdge(l);
    case ValueKind::Zeros: return StoreIntegers(l, [](int64_t) { return 0; });
    case ValueKind::Ones: return StoreIntegers(l, [](int64_t) { return 1; });
    case ValueKind::Constant:
      return StoreReals(
          l, [&](int64_t i) { return IsComplex(l.shape().element_type()) && i % 2 == 1 ? 0 : rule.a; });
    case ValueKind::Iota: return StoreIota(l, rule);
    case ValueKind::Uniform: return StoreUniform(l, rule, bits);
    case ValueKind::LogUniform:
      return StoreReals(l, [&](int64_t i) { return rule.a * std::pow(rule.b / rule.a, bits.Unit(i)); });
    case ValueKind::Normal: return StoreReals(l, [&](int64_t i) { return NormalValue(rule, bits, i); });
    case ValueKind::DeviceId: return StoreIntegers(l, [&](int64_t) { return seed.device; });
    case ValueKind::Uninit:
      std::memset(l.MutableData(), IsPred(l.shape().element_type()) ? 1 : 0xa5, l.byte_size());
      return;
    case ValueKind::Lowest: return StoreLimit(l, false);
    case ValueKind::Highest: return StoreLimit(l, true);
    case ValueKind::AllOnes: return StoreIntegers(l, [](int64_t) { return -1; });
    case ValueKind::InRange:
      return StoreIntegers(l, [&](int64_t i) {
        return rule.low + bits.Below(i, std::max<int64_t>(rule.high - rule.low + 1, 1));
      });
    case ValueKind::IndexRows: return StoreIndexRows(l, rule, bits);
    case ValueKind::Distinct: return StoreDistinct(l, rule, bits);
  }
}

Literal MakeLeaves(const Shape& shape, const ValueRule& rule, ValueSeed& seed) {
  if (shape.IsTuple()) {
    std::vector<Literal> elements;
    for (const Shape& element : shape.tuple_shapes()) elements.push_back(MakeLeaves(element, rule, seed));
    return Literal::MakeTuple(std::move(elements));
  }
  const ValueSeed own = seed;
  ++seed.leaf;
  const Shape& array = shape.IsBuffer() ? shape.buffer_shape() : shape;
  Literal l = Literal::Make(array);
  if (array.IsArray() && l.byte_size() > 0) Store(l, rule, own);
  return l;
}

}  // namespace

Literal MakeValue(const Shape& shape, const ValueRule& rule, ValueSeed seed) {
  return MakeLeaves(shape, rule, seed);
}

}  // namespace hlo

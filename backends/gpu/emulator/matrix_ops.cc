#include "backends/gpu/emulator/matrix_ops.h"

#include <bit>

#include "backends/gpu/emulator/soft_float.h"

namespace hlo::gpu {
namespace {

using ptx::Mod;
using ptx::Type;

unsigned CountOf(const ptx::Instruction& inst) { return inst.Has(Mod::X4) ? 4 : inst.Has(Mod::X2) ? 2 : 1; }

/// The rows of an 8x8 matrix of 16 bits, each 16 bytes that a lane names.
using Rows = std::array<uint8_t*, 8>;

bool FindRows(Meeting& meeting, unsigned matrix, Rows& rows) {
  for (unsigned row = 0; row < 8; ++row) {
    const unsigned lane = 8 * matrix + row;
    Thread& thread = meeting.block.ThreadOf(meeting, lane);
    rows[row] = meeting.block.Access(thread, meeting.values[lane][0], meeting.site, 16);
    if (rows[row] == nullptr) return false;
  }
  return true;
}

uint16_t& Element(const Rows& rows, unsigned row, unsigned column) {
  return reinterpret_cast<uint16_t*>(rows[row])[column];
}

/// Half `h` of a lane's register: its element of the matrix.
std::pair<unsigned, unsigned> PlaceOf(unsigned lane, unsigned h, bool transposed) {
  const unsigned g = lane / 4, k = 2 * (lane % 4) + h;
  return transposed ? std::pair(k, g) : std::pair(g, k);
}

struct Shape {
  unsigned m, n, k;
};
Shape ShapeOf(const ptx::Instruction& inst) {
  static constexpr std::pair<Mod, Shape> kShapes[] = {
      {Mod::M8n8k4, {8, 8, 4}},     {Mod::M8n8k16, {8, 8, 16}},  {Mod::M8n8k32, {8, 8, 32}},
      {Mod::M16n8k4, {16, 8, 4}},   {Mod::M16n8k8, {16, 8, 8}},  {Mod::M16n8k16, {16, 8, 16}},
      {Mod::M16n8k32, {16, 8, 32}}, {Mod::M16n8k64, {16, 8, 64}}};
  for (const auto& [mod, shape] : kShapes)
    if (inst.Has(mod)) return shape;
  llvm_unreachable("no shape of mma");
}

/// How the elements of a product lie in registers (ptx.md §6.2).
struct Fragments {
  Shape shape;
  unsigned bits;     // of an element of A and B
  unsigned each;     // of them in a register
  unsigned a, b, c;  // registers of a lane
};
Fragments FragmentsOf(const ptx::Instruction& inst) {
  Fragments f{ShapeOf(inst), ptx::BitsOf(inst.type(1)), 0, 0, 0, 0};
  f.each = f.bits == 64 ? 1 : 32 / f.bits;
  f.a = f.shape.m * f.shape.k / 32 / f.each;
  f.b = f.shape.n * f.shape.k / 32 / f.each;
  f.c = f.shape.m * 8 / 32 / (inst.type(3) == Type::F16 ? 2 : 1);
  return f;
}

/// Raw elements: A [m][k], B [n][k], C [m][n].
struct Operands {
  std::vector<uint64_t> a, b, c;
};

uint64_t Part(uint64_t reg, size_t element, unsigned bits) {
  return bits == 64 ? reg : reg >> (element * bits) & ((uint64_t{1} << bits) - 1);
}

Operands Gather(const Meeting& meeting, const Fragments& f) {
  const auto [m, n, k] = f.shape;
  Operands x{std::vector<uint64_t>(size_t{m} * k), std::vector<uint64_t>(size_t{n} * k),
             std::vector<uint64_t>(size_t{m} * n)};
  for (size_t lane = 0; lane < 32; ++lane) {
    const uint64_t* values = meeting.values[lane];
    const size_t g = lane / 4, t = lane % 4;
    for (size_t r = 0; r < f.a; ++r)
      for (size_t e = 0; e < f.each; ++e) {
        const size_t row = m == 8 ? g : g + 8 * (r & 1);
        const size_t column = t * f.each + e + (m == 8 ? 0 : 4 * (r >> 1) * f.each);
        x.a[row * k + column] = Part(values[r], e, f.bits);
      }
    for (size_t r = 0; r < f.b; ++r)
      for (size_t e = 0; e < f.each; ++e)
        x.b[g * k + t * f.each + e + 4 * r * f.each] = Part(values[f.a + r], e, f.bits);
    const bool packed = f.c * 32 < m * n;
    for (size_t i = 0; i < size_t{f.c} * (packed ? 2 : 1); ++i) {
      const uint64_t reg = values[f.a + f.b + (packed ? i / 2 : i)];
      x.c[(g + 8 * (i >> 1)) * n + 2 * t + (i & 1)] = packed ? Part(reg, i & 1, 16) : reg;
    }
  }
  return x;
}

void Scatter(Meeting& meeting, const Fragments& f, llvm::ArrayRef<uint64_t> d) {
  const unsigned n = f.shape.n;
  const bool packed = f.c * 32 < f.shape.m * n;
  for (size_t lane = 0; lane < 32; ++lane) {
    const size_t g = lane / 4, t = lane % 4;
    for (size_t r = 0; r < f.c; ++r) {
      const auto at = [&](size_t i) { return d[(g + 8 * (i >> 1)) * n + 2 * t + (i & 1)]; };
      meeting.values[lane][r] = packed ? at(2 * r) | at(2 * r + 1) << 16 : at(r);
    }
  }
}

/// How a machine adds products (ptx.md §6.5): so many at once, with so many fraction bits.
struct Adder {
  int fraction_bits;
  unsigned block;
};
Adder AdderOf(unsigned sm, Type type) {
  const bool hopper = sm >= 90;
  if (type == Type::TF32) return {hopper ? 25 : 24, hopper ? 8U : 4U};
  if (type == Type::E4M3 || type == Type::E5M2) return sm == 89 ? Adder{13, 16} : Adder{25, 32};
  return {hopper ? 25 : 24, hopper ? 16U : 8U};
}

/// A finite float as significand * 2^exponent with the leading digit at 2^exponent; subnormals have the
/// exponent of the smallest normal number.
struct Parts {
  double significand;
  int exponent;
};
Parts PartsOf(double x, int least) {
  if (x == 0) return {0, -126};
  const int exponent = std::max(std::ilogb(x), least);
  return {std::scalbn(x, -exponent), exponent};
}
int LeastExponent(Type type) {
  static constexpr std::pair<Type, int> kLeast[] = {{Type::F16, -14},  {Type::BF16, -126}, {Type::TF32, -126},
                                                    {Type::F32, -126}, {Type::E4M3, -6},   {Type::E5M2, -14}};
  for (const auto& [of, least] : kLeast)
    if (of == type) return least;
  return -126;
}

/// c + the products of one block of k: exact products, aligned to the largest exponent and cut, added
/// exactly.
double AddBlock(double c, llvm::ArrayRef<double> a, llvm::ArrayRef<double> b, Type type, int fraction_bits) {
  bool special = !std::isfinite(c);
  for (size_t i = 0; i < a.size(); ++i) special |= !std::isfinite(a[i]) || !std::isfinite(b[i]);
  if (special) {
    double sum = c;
    for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return std::isfinite(sum) ? NAN : sum;
  }
  const int least = LeastExponent(type);
  llvm::SmallVector<Parts, 33> terms;
  const Parts start = PartsOf(c, -126);
  terms.push_back(start);
  for (size_t i = 0; i < a.size(); ++i) {
    const Parts x = PartsOf(a[i], least), y = PartsOf(b[i], least);
    const double product = x.significand * y.significand;
    terms.push_back({product, product == 0 ? -126 : x.exponent + y.exponent});
  }
  int most = INT_MIN;
  for (const Parts& term : terms) most = std::max(most, term.exponent);
  int64_t sum = 0;
  for (const Parts& term : terms)
    sum +=
        static_cast<int64_t>(std::trunc(std::scalbn(term.significand, term.exponent - most + fraction_bits)));
  return std::scalbn(static_cast<double>(sum), most - fraction_bits);  // exact: less than 2^53
}

/// To f32, cut.
double Truncated(double x) {
  if (!std::isfinite(x)) return x;
  auto f = static_cast<float>(x);
  if (std::isinf(f)) return std::abs(x) >= 0x1p128 ? x * INFINITY : std::copysign(0x1.fffffep127, x);
  if (std::abs(static_cast<double>(f)) > std::abs(x)) f = std::nextafter(f, 0.0F);
  return f;
}

double ElementOf(Type type, uint64_t bits) {
  // The upper 19 bits count.
  if (type == Type::TF32) return ToDouble(Type::F32, bits & 0xffffe000);
  return ToDouble(type, bits);
}

uint64_t FloatElement(unsigned sm, const ptx::Instruction& inst, const double* a, const double* b, double c,
                      unsigned k) {
  const Adder adder = AdderOf(sm, inst.type(1));
  const bool f16 = inst.type(0) == Type::F16;
  double sum = c;
  for (unsigned first = 0; first < k; first += adder.block) {
    const unsigned count = std::min(adder.block, k - first);
    sum = AddBlock(sum, {a + first, count}, {b + first, count}, inst.type(1), adder.fraction_bits);
    sum = f16 ? ToDouble(Type::F16, FromDouble(Type::F16, sum)) : Truncated(sum);
  }
  if (sum == 0) sum = 0;
  return FromDouble(inst.type(0), sum);
}

int64_t SignedOf(Type type, uint64_t bits) {
  const unsigned width = ptx::BitsOf(type);
  return ptx::IsSigned(type) ? llvm::SignExtend64(bits, width) : static_cast<int64_t>(bits);
}

}  // namespace

void LoadMatrices(Meeting& meeting) {
  const ptx::Instruction& inst = *meeting.site.inst;
  const unsigned count = CountOf(inst);
  std::array<Rows, 4> rows{};
  for (unsigned i = 0; i < count; ++i)
    if (!FindRows(meeting, i, rows[i])) return;
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned i = 0; i < count; ++i) {
      uint64_t reg = 0;
      for (unsigned h = 0; h < 2; ++h) {
        const auto [row, column] = PlaceOf(lane, h, inst.Has(Mod::Trans));
        reg |= uint64_t{Element(rows[i], row, column)} << (16 * h);
      }
      meeting.values[lane][i] = reg;
    }
}

void StoreMatrices(Meeting& meeting) {
  const ptx::Instruction& inst = *meeting.site.inst;
  for (unsigned i = 0; i < CountOf(inst); ++i) {
    Rows rows{};
    if (!FindRows(meeting, i, rows)) return;
    for (unsigned lane = 0; lane < 32; ++lane)
      for (unsigned h = 0; h < 2; ++h) {
        const auto [row, column] = PlaceOf(lane, h, inst.Has(Mod::Trans));
        Element(rows, row, column) = static_cast<uint16_t>(meeting.values[lane][1 + i] >> (16 * h));
      }
  }
}

void MoveMatrix(Meeting& meeting) {
  uint16_t matrix[8][8];
  for (size_t lane = 0; lane < 32; ++lane)
    for (size_t h = 0; h < 2; ++h)
      matrix[lane / 4][2 * (lane % 4) + h] = static_cast<uint16_t>(meeting.values[lane][0] >> (16 * h));
  for (size_t lane = 0; lane < 32; ++lane)
    meeting.values[lane][0] =
        matrix[2 * (lane % 4)][lane / 4] | uint64_t{matrix[2 * (lane % 4) + 1][lane / 4]} << 16;
}

void MultiplyMatrices(Meeting& meeting) {
  const ptx::Instruction& inst = *meeting.site.inst;
  const Fragments f = FragmentsOf(inst);
  const auto [m, n, k] = f.shape;
  const Operands x = Gather(meeting, f);
  const Type a_type = inst.type(1), b_type = inst.type(2), c_type = inst.type(3);
  std::vector<uint64_t> d(size_t{m} * n);
  if (ptx::IsInteger(a_type)) {
    for (size_t i = 0; i < m; ++i)
      for (size_t j = 0; j < n; ++j) {
        int64_t sum = static_cast<int32_t>(x.c[i * n + j]);
        for (size_t l = 0; l < k; ++l)
          sum += SignedOf(a_type, x.a[i * k + l]) * SignedOf(b_type, x.b[j * k + l]);
        if (inst.Has(Mod::Satfinite)) sum = std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX);
        d[i * n + j] = static_cast<uint32_t>(sum);
      }
    return Scatter(meeting, f, d);
  }
  std::vector<double> a(x.a.size()), b(x.b.size());
  for (size_t i = 0; i < a.size(); ++i) a[i] = ElementOf(a_type, x.a[i]);
  for (size_t i = 0; i < b.size(); ++i) b[i] = ElementOf(b_type, x.b[i]);
  for (size_t i = 0; i < m; ++i)
    for (size_t j = 0; j < n; ++j) {
      const double c = ToDouble(c_type, x.c[i * n + j]);
      if (a_type == Type::F64) {
        double sum = c;
        for (size_t l = 0; l < k; ++l) sum = std::fma(a[i * k + l], b[j * k + l], sum);
        d[i * n + j] = std::bit_cast<uint64_t>(sum);
      } else {
        d[i * n + j] = FloatElement(meeting.block.device().options().sm, inst, &a[i * k], &b[j * k], c, k);
      }
    }
  Scatter(meeting, f, d);
}

}  // namespace hlo::gpu

// Integer and PRED kernels. Types narrower than a byte compute in 8 bits; their caller wraps results.
#include <bit>
#include <limits>
#include <type_traits>

#include "ir/eval/kernel_loops.h"

namespace hlo::kernels {
namespace {

// `using` cannot be marked as an extension.
__extension__ typedef __int128 Int128;            // NOLINT(modernize-use-using)
__extension__ typedef unsigned __int128 UInt128;  // NOLINT(modernize-use-using)

template <class T>
using Unsigned = std::make_unsigned_t<T>;
/// Unsigned arithmetic that does not promote to int.
template <class T>
using Wide = std::conditional_t<(sizeof(T) < 4), uint32_t, Unsigned<T>>;
template <class T>
using Double = std::conditional_t<(sizeof(T) < 8), std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>,
                                  std::conditional_t<std::is_signed_v<T>, Int128, UInt128>>;

/// The low `bits` bits.
template <class T>
Unsigned<T> Field(T x, int bits) {
  using U = Unsigned<T>;
  const int unused = static_cast<int>(sizeof(T)) * 8 - bits;
  return static_cast<U>(static_cast<U>(static_cast<U>(x) << unused) >> unused);
}

struct Add {
  template <class T>
  static T Apply(T a, T b) {
    return static_cast<T>(static_cast<Wide<T>>(a) + static_cast<Wide<T>>(b));
  }
};
struct Subtract {
  template <class T>
  static T Apply(T a, T b) {
    return static_cast<T>(static_cast<Wide<T>>(a) - static_cast<Wide<T>>(b));
  }
};
struct Multiply {
  template <class T>
  static T Apply(T a, T b) {
    return static_cast<T>(static_cast<Wide<T>>(a) * static_cast<Wide<T>>(b));
  }
};
struct Divide {  // ops-elementwise §7.1
  template <class T>
  static T Apply(T a, T b) {
    if (b == 0) return static_cast<T>(-1);
    if constexpr (std::is_signed_v<T>)
      if (b == -1) return static_cast<T>(Wide<T>{0} - static_cast<Wide<T>>(a));
    return static_cast<T>(a / b);
  }
};
struct Remainder {
  template <class T>
  static T Apply(T a, T b) {
    if (b == 0) return a;
    if constexpr (std::is_signed_v<T>)
      if (b == -1) return 0;
    return static_cast<T>(a % b);
  }
};
struct Power {
  template <class T>
  static T Apply(T base, T exponent) {
    if constexpr (std::is_signed_v<T>) {
      if (exponent < 0) {
        if (base == 1) return 1;
        return base == -1 ? static_cast<T>((exponent & 1) != 0 ? -1 : 1) : T{0};
      }
    }
    auto square = static_cast<Wide<T>>(base);  // NOLINT(bugprone-signed-char-misuse): the sign extends
    Wide<T> result = 1;
    for (auto e = static_cast<Unsigned<T>>(exponent); e != 0; e = static_cast<Unsigned<T>>(e >> 1)) {
      if ((e & 1) != 0) result *= square;
      square *= square;
    }
    return static_cast<T>(result);
  }
};
struct Maximum {
  template <class T>
  static T Apply(T a, T b) {
    return a > b ? a : b;
  }
};
struct Minimum {
  template <class T>
  static T Apply(T a, T b) {
    return a < b ? a : b;
  }
};
struct MulHi {
  template <class T>
  static T Apply(T a, T b, const KernelParam& param) {
    return static_cast<T>((static_cast<Double<T>>(a) * static_cast<Double<T>>(b)) >> param.bits);
  }
};
struct And {
  template <class T>
  static T Apply(T a, T b) {
    return static_cast<T>(a & b);
  }
};
struct Or {
  template <class T>
  static T Apply(T a, T b) {
    return static_cast<T>(a | b);
  }
};
struct Xor {
  template <class T>
  static T Apply(T a, T b) {
    return static_cast<T>(a ^ b);
  }
};
struct ShiftLeft {
  template <class T>
  static T Apply(T a, T amount, const KernelParam& param) {
    const auto by = Field(amount, param.bits);
    const auto limit = static_cast<Unsigned<T>>(param.bits);
    return by < limit ? static_cast<T>(static_cast<Wide<T>>(a) << by) : T{0};
  }
};
struct ShiftRightLogical {
  template <class T>
  static T Apply(T a, T amount, const KernelParam& param) {
    const auto by = Field(amount, param.bits);
    const auto limit = static_cast<Unsigned<T>>(param.bits);
    return by < limit ? static_cast<T>(Field(a, param.bits) >> by) : T{0};
  }
};
struct ShiftRightArithmetic {
  template <class T>
  static T Apply(T a, T amount, const KernelParam& param) {
    using S = std::make_signed_t<T>;
    const int unused = static_cast<int>(sizeof(T)) * 8 - param.bits;
    const auto value = static_cast<S>(static_cast<S>(static_cast<Unsigned<T>>(a) << unused) >> unused);
    const auto by = Field(amount, param.bits);
    const auto last = static_cast<Unsigned<T>>(param.bits - 1);
    return static_cast<T>(value >> (by < last ? by : last));
  }
};
struct Negate {
  template <class T>
  static T Apply(T a) {
    return static_cast<T>(Wide<T>{0} - static_cast<Wide<T>>(a));
  }
};
struct Abs {
  template <class T>
  static T Apply(T a) {
    return a < 0 ? Negate::Apply(a) : a;
  }
};
struct Sign {
  template <class T>
  static T Apply(T a) {
    return static_cast<T>((a > 0) - (a < 0));
  }
};
struct Not {
  template <class T>
  static T Apply(T a) {
    return static_cast<T>(~a);
  }
};
struct LogicalNot {
  static uint8_t Apply(uint8_t a) { return a == 0; }
};
struct Clz {
  template <class T>
  static T Apply(T a, const KernelParam& param) {
    const int unused = static_cast<int>(sizeof(T)) * 8 - param.bits;
    return static_cast<T>(std::countl_zero(Field(a, param.bits)) - unused);
  }
};
struct PopulationCount {
  template <class T>
  static T Apply(T a, const KernelParam& param) {
    return static_cast<T>(std::popcount(Field(a, param.bits)));
  }
};

template <class Op, class T>
constexpr Loops Unary() {
  return Vector<Op, T, T>();
}
template <class Op, class T>
constexpr Loops Binary() {
  return Vector<Op, T, T, T>();
}

/// Ops that do not care about the sign share the code of the unsigned type.
template <class T>
llvm::ArrayRef<Row> Rows() {
  using U = Unsigned<T>;
  static constexpr Row kRows[] = {
      {OpKind::Add, Binary<Add, U>()},
      {OpKind::Subtract, Binary<Subtract, U>()},
      {OpKind::Multiply, Binary<Multiply, U>()},
      {OpKind::Divide, Scalar<Divide, T, T, T>()},
      {OpKind::Remainder, Scalar<Remainder, T, T, T>()},
      {OpKind::Power, Scalar<Power, T, T, T>()},
      {OpKind::Maximum, Binary<Maximum, T>()},
      {OpKind::Minimum, Binary<Minimum, T>()},
      {OpKind::MulHi, Scalar<MulHi, T, T, T>()},
      {OpKind::And, Binary<And, U>()},
      {OpKind::Or, Binary<Or, U>()},
      {OpKind::Xor, Binary<Xor, U>()},
      {OpKind::ShiftLeft, Binary<ShiftLeft, U>()},
      {OpKind::ShiftRightLogical, Binary<ShiftRightLogical, U>()},
      {OpKind::ShiftRightArithmetic, Binary<ShiftRightArithmetic, U>()},
      {OpKind::Negate, Unary<Negate, U>()},
      {OpKind::Not, Unary<Not, U>()},
      {OpKind::Clz, Scalar<Clz, U, U>()},
      {OpKind::PopulationCount, Scalar<PopulationCount, U, U>()},
  };
  return kRows;
}
template <class T>
llvm::ArrayRef<Row> SignedRows() {
  static constexpr Row kRows[] = {
      {OpKind::Abs, Unary<Abs, T>()},
      {OpKind::Sign, Unary<Sign, T>()},
  };
  return kRows;
}

constexpr Row kPredRows[] = {
    {OpKind::Add, Binary<Or, uint8_t>()},      {OpKind::Maximum, Binary<Or, uint8_t>()},
    {OpKind::Or, Binary<Or, uint8_t>()},       {OpKind::Multiply, Binary<And, uint8_t>()},
    {OpKind::Minimum, Binary<And, uint8_t>()}, {OpKind::And, Binary<And, uint8_t>()},
    {OpKind::Xor, Binary<Xor, uint8_t>()},     {OpKind::Not, Unary<LogicalNot, uint8_t>()},
};

template <class S, class U>
KernelFn FindInteger(OpKind kind, bool is_signed) {
  if (!is_signed) return Find(Rows<U>(), kind);
  const KernelFn fn = Find(SignedRows<S>(), kind);
  return fn != nullptr ? fn : Find(Rows<S>(), kind);
}

template <class T>
void Wrap(T* data, int64_t n, int bits) {
  const int unused = 8 - bits;
  for (int64_t i = 0; i < n; ++i)
    data[i] = static_cast<T>(static_cast<T>(static_cast<uint8_t>(data[i]) << unused) >> unused);
}

}  // namespace

KernelFn IntegerKernel(OpKind kind, ElementType type) {
  const TypeInfo& info = Info(type);
  if (info.type_class == TypeClass::Pred) return Find(kPredRows, kind);
  const bool is_signed = info.type_class == TypeClass::Signed;
  if (info.bits <= 8) return FindInteger<int8_t, uint8_t>(kind, is_signed);
  if (info.bits == 16) return FindInteger<int16_t, uint16_t>(kind, is_signed);
  if (info.bits == 32) return FindInteger<int32_t, uint32_t>(kind, is_signed);
  return FindInteger<int64_t, uint64_t>(kind, is_signed);
}

void WrapSigned(int8_t* data, int64_t n, int bits) { Wrap(data, n, bits); }
void WrapUnsigned(uint8_t* data, int64_t n, int bits) { Wrap(data, n, bits); }

}  // namespace hlo::kernels

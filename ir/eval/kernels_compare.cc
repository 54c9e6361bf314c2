// Kernels of compare, select, clamp and plain copies.
#include <bit>
#include <cmath>
#include <limits>

#include "ir/eval/kernel_loops.h"
#include "ir/numeric/math.h"

namespace hlo::kernels {
namespace {

struct Eq {
  template <class T>
  static bool Test(T a, T b) {
    return a == b;
  }
};
struct Ne {
  template <class T>
  static bool Test(T a, T b) {
    return a != b;
  }
};
struct Lt {
  template <class T>
  static bool Test(T a, T b) {
    return a < b;
  }
};
struct Le {
  template <class T>
  static bool Test(T a, T b) {
    return a <= b;
  }
};

/// Floating comparisons and clamp count subnormals as zeros, as XLA's CPU code does; maximum, minimum and
/// the total order keep them.
template <class T>
T Flushed(T x) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::fabs(x) < std::numeric_limits<T>::min() ? std::copysign(T{0}, x) : x;
  } else {
    return x;
  }
}

template <class Relation>
struct Plain {
  template <class T>
  static uint8_t Apply(T a, T b) {
    return Relation::Test(Flushed(a), Flushed(b));
  }
};

/// Keys whose signed order is the total order (ops-elementwise §8).
template <class Key, class T>
Key TotalOrderKey(T x) {
  const auto bits = std::bit_cast<Key>(x);
  return bits < 0 ? bits ^ std::numeric_limits<Key>::max() : bits;
}
template <class Relation>
struct TotalOrder {
  static uint8_t Apply(float a, float b) {
    return Relation::Test(TotalOrderKey<int32_t>(a), TotalOrderKey<int32_t>(b));
  }
  static uint8_t Apply(double a, double b) {
    return Relation::Test(TotalOrderKey<int64_t>(a), TotalOrderKey<int64_t>(b));
  }
};

int NarrowKey(uint32_t code, const KernelParam& param) {
  const FloatSpecial special = Info(param.from).special;
  const int half = 1 << (param.bits - 1);
  const int masked = static_cast<int>(code & static_cast<uint32_t>(2 * half - 1));
  if (special == FloatSpecial::E8M0 || masked < half) return masked;
  const int negative = masked - 2 * half;  // the code read as a signed number
  if (special != FloatSpecial::Fnuz) return negative ^ (half - 1);
  return negative == -half ? -half : -half - negative;
}
template <class Relation>
struct NarrowTotalOrder {
  template <class T>
  static uint8_t Apply(T a, T b, const KernelParam& param) {
    return Relation::Test(NarrowKey(a, param), NarrowKey(b, param));
  }
};

/// One entry for each of EQ, NE, LT, LE.
struct Relations {
  Loops eq, ne, lt, le;
};
KernelFn PickRelation(const Relations& r, Direction direction) {
  const Loops& loops = direction == Direction::EQ   ? r.eq
                       : direction == Direction::NE ? r.ne
                       : direction == Direction::LT ? r.lt
                                                    : r.le;
  return loops.base == nullptr ? nullptr : Pick(loops);
}
template <template <class> class Op, class T>
constexpr Relations MakeRelations() {
  return {Vector<Op<Eq>, uint8_t, T, T>(), Vector<Op<Ne>, uint8_t, T, T>(), Vector<Op<Lt>, uint8_t, T, T>(),
          Vector<Op<Le>, uint8_t, T, T>()};
}
template <class C>
constexpr Relations ComplexRelations() {
  return {Scalar<Plain<Eq>, uint8_t, C, C>(), Scalar<Plain<Ne>, uint8_t, C, C>(), {}, {}};
}

struct Select {
  template <class T>
  static T Apply(uint8_t p, T t, T f) {
    return p != 0 ? t : f;
  }
};
struct Wide128 {
  uint64_t low, high;
};

struct Clamp {
  template <class T>
  static T Apply(T low, T x, T high) {
    if constexpr (std::is_floating_point_v<T>) {
      return math::Clamp(Flushed(low), Flushed(x), Flushed(high));
    } else {
      const T raised = x > low ? x : low;
      return raised < high ? raised : high;
    }
  }
};

template <class T>
void Copy(void* out, const void* const* in, int64_t n, const KernelParam&) {
  if (out != in[0]) std::memcpy(out, in[0], static_cast<size_t>(n) * sizeof(T));
}

template <class T>
constexpr Loops SelectLoops() {
  return Vector<Select, T, uint8_t, T, T>();
}
template <class T>
constexpr Loops ClampLoops() {
  return Vector<Clamp, T, T, T, T>();
}

/// Applies `f.template operator()<T>()` for the native type of `type`; narrow types have none.
template <class F>
auto Visit(ElementType type, F f) {
  const TypeInfo& info = Info(type);
  if (info.type_class == TypeClass::Float)
    return type == ElementType::F64 ? f.template operator()<double>() : f.template operator()<float>();
  const bool is_signed = info.type_class == TypeClass::Signed;
  if (info.bits <= 8) return is_signed ? f.template operator()<int8_t>() : f.template operator()<uint8_t>();
  if (info.bits == 16)
    return is_signed ? f.template operator()<int16_t>() : f.template operator()<uint16_t>();
  if (info.bits == 32)
    return is_signed ? f.template operator()<int32_t>() : f.template operator()<uint32_t>();
  return is_signed ? f.template operator()<int64_t>() : f.template operator()<uint64_t>();
}

}  // namespace

KernelFn CompareKernel(ElementType type, Direction direction) {
  if (type == ElementType::C64) return PickRelation(ComplexRelations<std::complex<float>>(), direction);
  if (type == ElementType::C128) return PickRelation(ComplexRelations<std::complex<double>>(), direction);
  return PickRelation(Visit(type, []<class T>() { return MakeRelations<Plain, T>(); }), direction);
}

KernelFn TotalOrderKernel(ElementType type, Direction direction) {
  if (type == ElementType::F32) return PickRelation(MakeRelations<TotalOrder, float>(), direction);
  if (type == ElementType::F64) return PickRelation(MakeRelations<TotalOrder, double>(), direction);
  return PickRelation(Info(type).bits == 16 ? MakeRelations<NarrowTotalOrder, uint16_t>()
                                            : MakeRelations<NarrowTotalOrder, uint8_t>(),
                      direction);
}

KernelFn SelectKernel(int width) {
  return Pick(width == 1   ? SelectLoops<uint8_t>()
              : width == 2 ? SelectLoops<uint16_t>()
              : width == 4 ? SelectLoops<uint32_t>()
              : width == 8 ? SelectLoops<uint64_t>()
                           : Scalar<Select, Wide128, uint8_t, Wide128, Wide128>());
}

KernelFn ClampKernel(ElementType type) {
  return Pick(Visit(type, []<class T>() { return ClampLoops<T>(); }));
}

KernelFn CopyKernel(int width) {
  return width == 1   ? &Copy<uint8_t>
         : width == 2 ? &Copy<uint16_t>
         : width == 4 ? &Copy<uint32_t>
         : width == 8 ? &Copy<uint64_t>
                      : &Copy<Wide128>;
}

}  // namespace hlo::kernels
